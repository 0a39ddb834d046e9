// The table of questions, and the one function that the page calls.
#include "answers.hpp"

#include <exception>
#include <utility>

#include "circoll/error.hpp"

namespace circoll::explorer {
namespace {

using Ask = std::string (*)(Sessions&, const json&);

constexpr std::pair<std::string_view, Ask> questions[] = {
    {"catalogue", ask_catalogue}, {"open", ask_open},       {"verdict", ask_verdict},
    {"contents", ask_contents},   {"value", ask_value},     {"step", ask_step},
    {"steps", ask_steps},         {"times", ask_times},     {"ranking", ask_ranking},
    {"chart", ask_chart},         {"failure", ask_failure}, {"failures", ask_failures},
    {"proof", ask_proof},         {"gallery", ask_gallery}, {"open_wrong", ask_open_wrong},
    {"open_text", ask_open_text}, {"form", ask_form},
};

std::string refused(int code, const std::string& what) {
  // The message may quote text that a user pasted, cut in the middle of a character.
  const json refusal = {{"error", {{"code", code}, {"what", what}}}};
  return refusal.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

Session& Sessions::of(const json& question) {
  const auto number = question.value("session", std::size_t{0});
  require(number < most && open_.at(number) != nullptr, "there is no such session");
  return *open_.at(number);
}

Session& Sessions::put(const json& question, std::unique_ptr<Session> session) {
  const auto number = question.value("session", std::size_t{0});
  require(number < most, "there is no such session");
  open_.at(number) = std::move(session);
  return *open_.at(number);
}

std::string answer(Sessions& sessions, std::string_view question) {
  try {
    const json read = json::parse(question);
    const auto ask = read.at("ask").get<std::string>();
    for (const auto& [name, function] : questions) {
      if (name == ask) return "{\"ok\":" + function(sessions, read) + "}";
    }
    throw Error(ErrorCode::unknown_name, "there is no question '" + ask + "'");
  } catch (const Error& error) {
    return refused(static_cast<int>(error.code()), error.what());
  } catch (const std::exception& error) {
    return refused(static_cast<int>(ErrorCode::internal), error.what());
  }
}

}  // namespace circoll::explorer

extern "C" const char* circoll_answer(const char* question);

/// Answers a question in JSON. The text lives until the next call.
extern "C" __attribute__((used)) const char* circoll_answer(const char* question) {
  static circoll::explorer::Sessions sessions;
  static std::string text;
  text = circoll::explorer::answer(sessions, question);
  return text.c_str();
}
