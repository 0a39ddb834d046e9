// The makers of wrappers. Each puts its wrapper in front of `next`, or returns `next` if the environment asks for none.
#pragma once

#include <memory>
#include <string>

#include "interpose/serving.hpp"

namespace circoll::interpose {

/// The value of CIRCOLL_MATCH, or of CIRCOLL_CHECK, which is its name in 0.2; "0" if both are unset.
[[nodiscard]] std::string match_setting();

[[nodiscard]] std::unique_ptr<Serving> wrap_in_bits_record(const Wish& wish, std::unique_ptr<Serving> next);
[[nodiscard]] std::unique_ptr<Serving> wrap_in_check(const Wish& wish, std::unique_ptr<Serving> next);
[[nodiscard]] std::unique_ptr<Serving> wrap_in_learning(const Wish& wish, std::unique_ptr<Serving> next);
[[nodiscard]] std::unique_ptr<Serving> wrap_in_survival(const Wish& wish, std::unique_ptr<Serving> next);

}  // namespace circoll::interpose
