// The failures that circoll faults is asked about.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "faults/faults.hpp"

namespace circoll::cli {

/// The call, and the failures in it.
struct FailureRequest {
  Selection selection{};
  std::vector<Schedule> schedules{};  ///< of all ranks, in place of the selection's
  Rank size = 0;
  Rank root = 0;
  bool in_place = false;
  Keep keep = Keep::buf;
  std::vector<std::vector<Rank>> failures{};  ///< sets of ranks that fail together
  std::vector<std::uint32_t> rounds{};        ///< k; empty: all
  bool orders = false;                        ///< every order of delivery within a round, too
  bool ahead = false;                         ///< survivors go on until they have to wait
};

/// A failure after k rounds, and what it leaves.
struct Failure {
  std::vector<Rank> failed{};
  std::uint32_t k = 0;
  FailureOutcome outcome{};
  std::vector<Delivery> deliveries{};  ///< if they fail in round k, as far as asked for
};

/// The failures of a request, round by round.
struct Failures {
  std::uint32_t rounds = 0;
  Block blocks = 0;
  std::vector<Failure> all{};
};

/// The name of the subject: the selection, or that of the schedules.
[[nodiscard]] std::string subject_of(const FailureRequest& request);
[[nodiscard]] FaultAnalysis analysis_of(const FailureRequest& request, FailureBounds bounds = {});

/// The rounds that are asked for, or all.
[[nodiscard]] std::vector<std::uint32_t> rounds_of(const FailureRequest& request, const FaultAnalysis& analysis);
/// The call of a request: what every JSON about it begins with.
[[nodiscard]] nlohmann::ordered_json head_of(const FailureRequest& request);

/// Each rank by itself.
[[nodiscard]] std::vector<std::vector<Rank>> single_failures(Rank p);

[[nodiscard]] Failures find_failures(const FailureRequest& request);

/// A table over rounds. The first line says what it is about.
[[nodiscard]] std::string failures_table(const FailureRequest& request, const Failures& failures);
[[nodiscard]] std::string failures_json(const FailureRequest& request, const Failures& failures);
/// One algorithm's losses over all rounds and all single failures before its end.
struct LossSummary {
  Selection selection{};
  std::string ruled_out{};  ///< why it cannot serve the call; empty if it can
  std::uint32_t rounds = 0;
  double full = 0, surv = 0, mix = 0, none = 0, unknown = 0;  ///< shares of failures
  double lost = 0;              ///< the share of a failed rank's data that is lost, on average
  std::int64_t full_from = -1;  ///< the first k from which on no failure of one rank loses any data
};
/// The algorithms of a collective, those that lose least first.
[[nodiscard]] std::vector<LossSummary> rank_by_losses(Collective collective, const FailureRequest& request);
[[nodiscard]] std::string losses_table(Collective collective, const FailureRequest& request,
                                       const std::vector<LossSummary>& ranking);
[[nodiscard]] std::string losses_json(Collective collective, const FailureRequest& request,
                                      const std::vector<LossSummary>& ranking);

}  // namespace circoll::cli
