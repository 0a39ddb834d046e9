// The contents of every rank's memory between two rounds.
#include <fmt/format.h>

#include <iterator>

#include "answers.hpp"
#include "circoll/error.hpp"
#include "symbolic/expressions.hpp"

namespace circoll::explorer {
namespace {

using Out = std::back_insert_iterator<std::string>;

/// The contributions in a value: their number, and the ranks, in runs of [first, last].
void write_value(Out out, Session& session, symbolic::Value value, Block block) {
  symbolic::Expressions& expressions = session.execution()->expressions();
  if (!symbolic::contributes_to_all(session.first().collective)) {
    const Rank from = symbolic::contributor(session.first(), block);
    fmt::format_to(out, "[{},1,{},{}]", value, from, from);
    return;
  }
  std::vector<bool> found(static_cast<std::size_t>(session.size()));
  expressions.mark_sources(value, found);
  fmt::format_to(out, "[{},{}", value, expressions.leaves_of(value));
  for (std::size_t r = 0; r < found.size(); ++r) {
    if (!found[r]) continue;
    const std::size_t first = r;
    while (r + 1 < found.size() && found[r + 1]) ++r;
    fmt::format_to(out, ",{},{}", first, r);
  }
  fmt::format_to(out, "]");
}

}  // namespace

std::string ask_contents(Sessions& sessions, const json& question) {
  Session& session = sessions.of(question);
  session.play_to(question.at("k").get<std::uint32_t>());
  std::string text;
  std::string values;
  const Out out = std::back_inserter(text);
  const Out told = std::back_inserter(values);
  fmt::format_to(out, "{{\"ranks\":[");
  for (Rank r = 0; session.execution() != nullptr && r < session.size(); ++r) {
    fmt::format_to(out, "{}[", r > 0 ? "," : "");
    const char* between = "";
    session.execution()->memory(r).each_value([&](std::int32_t buffer, Slot slot, Block block, symbolic::Value value) {
      fmt::format_to(out, "{}{},{},{}", between, buffer, slot, value);
      between = ",";
      if (!session.is_new(value)) return;
      if (!values.empty()) values += ',';
      write_value(told, session, value, block);
    });
    fmt::format_to(out, "]");
  }
  fmt::format_to(out, "],\"values\":[{}]", values);
  if (const auto& stopped = session.stopped()) {
    const json where = {{"claim", to_string(stopped->claim)},
                        {"rank", stopped->rank},
                        {"step", stopped->step},
                        {"block", stopped->block},
                        {"what", stopped->what}};
    fmt::format_to(out, ",\"stopped\":{}", where.dump());
  }
  fmt::format_to(out, "}}");
  return text;
}

std::string ask_value(Sessions& sessions, const json& question) {
  Session& session = sessions.of(question);
  require(session.execution() != nullptr, "nothing was executed");
  const auto value = question.at("value").get<symbolic::Value>();
  const auto most = question.value("most", std::size_t{4000});
  // Only one rank contributes to a block that is passed on.
  if (!symbolic::contributes_to_all(session.first().collective)) return json{{"text", ""}}.dump();
  return json{{"text", session.execution()->expressions().text(value, most)}}.dump();
}

}  // namespace circoll::explorer
