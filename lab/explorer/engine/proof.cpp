// A proof for one p, in all ways in which the collective can be called.
#include "answers.hpp"
#include "circoll/error.hpp"
#include "opened.hpp"

namespace circoll::explorer {

std::string ask_proof(Sessions& /*sessions*/, const json& question) {
  const Selection selection = parse_selection(question.at("id").get<std::string>());
  const auto p = question.at("p").get<Rank>();
  VerifyRange range{.first = p, .last = p, .all_roots = question.value("all_roots", false)};
  if (question.value("all_ranks", false)) range.method = ProofMethod::all_ranks;
  const std::vector<RangeVerdict> verdicts = verify_range({selection}, range);
  check(verdicts.size() == 1, "one algorithm was verified");
  const RangeVerdict& verdict = verdicts.front();
  json all = {{"instances", verdict.instances}, {"by_rotation", verdict.by_rotation}};
  if (verdict.refutation) all["refutation"] = as_json(*verdict.refutation);
  return all.dump();
}

}  // namespace circoll::explorer
