// Failures of ranks: what survivors hold, and the repair.
#include <utility>

#include "answers.hpp"
#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "faults/faults_json.hpp"

namespace circoll::explorer {
namespace {

Keep keep_of(const json& question) {
  const auto name = question.value("keep", std::string("keep"));
  for (const Keep keep : {Keep::live, Keep::buf, Keep::keep, Keep::log}) {
    if (name == to_string(keep)) return keep;
  }
  throw Error(ErrorCode::unknown_name, "survivors keep live, buf, keep or log, not " + name);
}

FaultAnalysis analysis_of(const Session& session, Keep keep) {
  return {session.ranks(), keep, session.origin().claims.needs.idempotent};
}

}  // namespace

std::string ask_failure(Sessions& sessions, const json& question) {
  Session& session = sessions.of(question);
  const auto k = question.at("k").get<std::uint32_t>();
  const auto failed = question.at("failed").get<std::vector<Rank>>();
  const FaultAnalysis analysis = analysis_of(session, keep_of(question));
  json all = {{"outcome", as_json(analysis.after(k, failed))}};
  if (!question.value("repair", false)) return all.dump();
  Repair repair = analysis.repair_after(k, failed);
  json plan = as_json(repair);
  plan["goal"] = to_string(repair.goal);
  if (repair.goal != FailureClass::none) {
    plan["time_s"] = seconds(terms_of(repair, question.value("bytes", Count{1} << 20)), machine_of(question));
    json messages = json::array();
    for (const Schedule& schedule : repair.ranks) {
      for (const Step& step : schedule.steps) {
        if (step.kind == StepKind::send)
          messages.push_back({schedule.shape.rank, step.peer, step.round, schedule.count(step.left)});
      }
    }
    plan["messages"] = std::move(messages);
  }
  all["repair"] = std::move(plan);
  return all.dump();
}

std::string ask_failures(Sessions& sessions, const json& question) {
  const Session& session = sessions.of(question);
  const FaultAnalysis analysis = analysis_of(session, keep_of(question));
  const auto k = question.at("k").get<std::uint32_t>();
  json classes = json::array();
  for (Rank r = 0; r < session.size(); ++r) {
    classes.push_back(to_string(analysis.after(k, std::vector<Rank>{r}).what));
  }
  return classes.dump();
}

}  // namespace circoll::explorer
