// The description of a session that has been opened, and of what a proof says about it.
#pragma once

#include "answers.hpp"

namespace circoll::explorer {

/// The collective, ranks, blocks, buffers and messages of a session.
[[nodiscard]] std::string described(const Session& session);

/// {"proven": ..., "refutation": {...}, "counted": {...}}.
[[nodiscard]] json as_json(const Verdict& verdict);
[[nodiscard]] json as_json(const Refutation& refutation);

/// The shape that a question names, of an algorithm's selection.
[[nodiscard]] Shape shape_of(const Selection& selection, const json& question);

}  // namespace circoll::explorer
