// Algorithms of a collective, ranked by what they lose when a rank fails.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/faults/failures.hpp"
#include "commands.hpp"

namespace circoll::cli {
namespace {

using nlohmann::ordered_json;

double& share_of(LossSummary& summary, FailureClass what) {
  switch (what) {
    case FailureClass::full:
    case FailureClass::both:
      return summary.full;
    case FailureClass::surv:
      return summary.surv;
    case FailureClass::mix:
      return summary.mix;
    case FailureClass::none:
      return summary.none;
    case FailureClass::unknown:
      break;
  }
  return summary.unknown;
}

LossSummary summarize(const FailureRequest& request) {
  const Failures failures = find_failures(request);
  LossSummary summary{.selection = request.selection, .rounds = failures.rounds};
  std::int64_t number = 0;
  std::int64_t contributing = 0;
  for (const Failure& f : failures.all) {
    if (!is_full(f.outcome.what)) summary.full_from = f.k + 1;
    if (f.k == failures.rounds && f.k > 0) continue;
    ++number;
    share_of(summary, f.outcome.what) += 1;
    if (f.outcome.contributed == 0) continue;
    ++contributing;
    summary.lost += static_cast<double>(f.outcome.lost) / static_cast<double>(f.outcome.contributed);
  }
  summary.full_from = std::max<std::int64_t>(summary.full_from, 0);
  if (summary.full_from > failures.rounds) summary.full_from = -1;
  for (double* share : {&summary.full, &summary.surv, &summary.mix, &summary.none, &summary.unknown})
    *share /= static_cast<double>(number);
  if (contributing > 0) summary.lost /= static_cast<double>(contributing);
  return summary;
}

std::string percent(double share) { return share == 0 ? "-" : fmt::format("{:.0f} %", 100 * share); }

}  // namespace

std::vector<LossSummary> rank_by_losses(Collective collective, const FailureRequest& request) {
  std::vector<LossSummary> ranking;
  for (const Algorithm* algorithm : algorithms_of(collective)) {
    FailureRequest own = request;
    own.selection = {algorithm, collective, {}};
    const std::string unmet = unmet_need(*algorithm, request.size, {.commutative = true, .idempotent = true});
    ranking.push_back(unmet.empty() ? summarize(own) : LossSummary{.selection = own.selection, .ruled_out = unmet});
  }
  std::stable_sort(ranking.begin(), ranking.end(), [](const LossSummary& a, const LossSummary& b) {
    if (a.ruled_out.empty() != b.ruled_out.empty()) return a.ruled_out.empty();
    if (a.full != b.full) return a.full > b.full;
    return a.full + a.surv != b.full + b.surv ? a.full + a.surv > b.full + b.surv : a.lost < b.lost;
  });
  return ranking;
}

std::string losses_table(Collective collective, const FailureRequest& request,
                         const std::vector<LossSummary>& ranking) {
  std::string text = fmt::format(
      "{}, p = {}, one rank fails after 0 .. rounds - 1 rounds, keep = "
      "{}\n{:<36}{:>8}{:>8}{:>8}{:>8}{:>8}{:>9}{:>14}\n",
      to_string(collective), request.size, to_string(request.keep), "", "rounds", "FULL", "SURV", "MIX", "NONE", "lost",
      "FULL from k");
  for (const LossSummary& s : ranking) {
    if (!s.ruled_out.empty()) {
      text += fmt::format("{:<36}{}\n", s.selection.id(), s.ruled_out);
      continue;
    }
    text += fmt::format("{:<36}{:>8}{:>8}{:>8}{:>8}{:>8}{:>9}{:>14}\n", with_params(s.selection), s.rounds,
                        percent(s.full), percent(s.surv), percent(s.mix), percent(s.none), percent(s.lost),
                        s.full_from < 0 ? "never" : fmt::format("{}", s.full_from));
    if (s.selection.algorithm->needs.idempotent) text += fmt::format("{:<36}for idempotent operators only\n", "");
    if (s.unknown > 0) text += fmt::format("{:<36}{} of the failures not found out\n", "", percent(s.unknown));
  }
  return text;
}

std::string losses_json(Collective collective, const FailureRequest& request, const std::vector<LossSummary>& ranking) {
  ordered_json json{{"collective", to_string(collective)},
                    {"p", request.size},
                    {"root", request.root},
                    {"in_place", request.in_place},
                    {"keep", to_string(request.keep)}};
  json["ranking"] = ordered_json::array();
  json["ruled_out"] = ordered_json::array();
  for (const LossSummary& s : ranking) {
    if (!s.ruled_out.empty()) {
      json["ruled_out"].push_back({{"id", s.selection.id()}, {"reason", s.ruled_out}});
      continue;
    }
    ordered_json entry{{"id", s.selection.id()}, {"rounds", s.rounds}, {"full", s.full},
                       {"surv", s.surv},         {"mix", s.mix},       {"none", s.none},
                       {"unknown", s.unknown},   {"lost", s.lost},     {"full_from", nullptr}};
    if (s.full_from >= 0) entry["full_from"] = s.full_from;
    json["ranking"].push_back(std::move(entry));
  }
  return json.dump(2) + "\n";
}

}  // namespace circoll::cli
