// Schedules that come as text, and the forms in which those of a session leave the page.
#include <utility>

#include "answers.hpp"
#include "circoll/error.hpp"
#include "circoll/text.hpp"
#include "formats/formats.hpp"
#include "msccl/msccl.hpp"
#include "show/picture.hpp"
#include "verify/given.hpp"

namespace circoll::explorer {
namespace {

struct Read {
  std::vector<Schedule> ranks{};
  std::optional<Refutation> race{};
};

Read read(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) throw Error(ErrorCode::parse, "there is no text");
  switch (text[first]) {
    case '[':
      return {.ranks = schedules_from_json(text)};
    case '{':
      return {.ranks = {schedule_from_json(text)}};
    case '<': {
      MscclSchedules of_msccl = schedules_from_msccl(text);
      return {.ranks = std::move(of_msccl.ranks), .race = std::move(of_msccl.race)};
    }
    default:
      return {.ranks = schedules_from_text(text)};
  }
}

}  // namespace

std::string ask_open_text(Sessions& sessions, const json& question) {
  Read given = read(question.at("text").get<std::string>());
  check_one_call(given.ranks);
  GivenProof proof = prove_given(given.ranks);
  if (given.race) proof.verdict.refutation = given.race;
  auto session = std::make_unique<Session>(std::move(given.ranks), Origin{.claims = proof.claims});
  std::string text = described(sessions.put(question, std::move(session)));
  text.pop_back();
  return text + ",\"verdict\":" + as_json(proof.verdict).dump(-1, ' ', false, json::error_handler_t::replace) + "}";
}

std::string ask_form(Sessions& sessions, const json& question) {
  const Session& session = sessions.of(question);
  const auto form = question.at("form").get<std::string>();
  std::string text;
  if (form == "svg") {
    text = to_svg(session.ranks());
  } else if (form == "dot") {
    text = to_dot(session.ranks());
  } else if (form == "msccl") {
    text = to_msccl(session.ranks());
  } else if (form == "goal") {
    text = goal_head(session.size());
    for (const Schedule& s : session.ranks())
      text += to_goal(s, question.at("bytes").get<Count>(), question.value("gamma_ns_per_byte", 0.0));
  } else if (form == "json") {
    const char* between = "[\n";
    for (const Schedule& s : session.ranks()) text += std::exchange(between, ",\n") + to_json(s);
    text += "]\n";
  } else if (form == "text") {
    const char* between = "";
    for (const Schedule& s : session.ranks()) text += std::exchange(between, "\n") + to_text(s);
  } else {
    throw Error(ErrorCode::unknown_name, "there is no form '" + form + "'");
  }
  return json{{"text", text}}.dump();
}

}  // namespace circoll::explorer
