// Questions of the page, and their answers: JSON in, JSON out.
#pragma once

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/model.hpp"
#include "session.hpp"

namespace circoll::explorer {

using nlohmann::json;

/// The sessions that are open, by number: the one on show, the one beside it, and a repair.
class Sessions {
 public:
  static constexpr std::size_t most = 3;

  /// The session that a question is about. Throws Error(invalid_argument) if it is not open.
  [[nodiscard]] Session& of(const json& question);
  /// Puts a session in the place that a question names.
  Session& put(const json& question, std::unique_ptr<Session> session);

 private:
  std::array<std::unique_ptr<Session>, most> open_;
};

/// Answers a question, {"ask": ..., ...}. The answer is {"ok": ...} or {"error": {"code": ..., "what": ...}}.
[[nodiscard]] std::string answer(Sessions& sessions, std::string_view question);

// The questions, one file each or several that belong together. All throw Error as the library does.

// catalogue.cpp
[[nodiscard]] std::string ask_catalogue(Sessions& sessions, const json& question);
// open.cpp
[[nodiscard]] std::string ask_open(Sessions& sessions, const json& question);
[[nodiscard]] std::string ask_verdict(Sessions& sessions, const json& question);
[[nodiscard]] std::string ask_proof(Sessions& sessions, const json& question);
// contents.cpp
[[nodiscard]] std::string ask_contents(Sessions& sessions, const json& question);
[[nodiscard]] std::string ask_value(Sessions& sessions, const json& question);
// step.cpp
[[nodiscard]] std::string ask_step(Sessions& sessions, const json& question);
[[nodiscard]] std::string ask_steps(Sessions& sessions, const json& question);
// times.cpp
[[nodiscard]] std::string ask_times(Sessions& sessions, const json& question);
[[nodiscard]] std::string ask_ranking(Sessions& sessions, const json& question);
[[nodiscard]] std::string ask_chart(Sessions& sessions, const json& question);
// failure.cpp
[[nodiscard]] std::string ask_failure(Sessions& sessions, const json& question);
[[nodiscard]] std::string ask_failures(Sessions& sessions, const json& question);
// gallery.cpp
[[nodiscard]] std::string ask_gallery(Sessions& sessions, const json& question);
[[nodiscard]] std::string ask_open_wrong(Sessions& sessions, const json& question);
// text.cpp
[[nodiscard]] std::string ask_open_text(Sessions& sessions, const json& question);
[[nodiscard]] std::string ask_form(Sessions& sessions, const json& question);

// Parts of answers that several questions have.

/// The machine of a question. Parameters that the question leaves out have their defaults (times.cpp).
[[nodiscard]] Machine machine_of(const json& question);
/// The collective, ranks, blocks, buffers and messages of a session (open.cpp).
[[nodiscard]] std::string described(const Session& session);
/// {"proven": ..., "refutation": {...}, "counted": {...}} (open.cpp).
[[nodiscard]] json as_json(const Verdict& verdict);

// The gallery of wrong schedules that teach something: one damage each to a right one.

/// Schedules, what is claimed of them, and dependencies if they are not the derived ones.
struct Exhibit {
  std::vector<Schedule> ranks{};
  Claims claims{};
  std::vector<Dependencies> dependencies{};
};

/// A wrong schedule of the gallery.
struct Wrong {
  std::string_view name;
  std::string_view title;
  std::string_view lesson;
  Claim refuted;  ///< the claim that does not hold
  Exhibit (*make)();
};

/// All of them. A test proves that each claim is refuted.
[[nodiscard]] std::span<const Wrong> gallery();

}  // namespace circoll::explorer
