// The failures that circoll faults is asked about, the ways on after them, and the page of all failures.
//
// Each section names its source.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/model.hpp"
#include "faults/faults.hpp"

namespace circoll::cli {

// failures.cpp

/// The call, and the failures in it.
struct FailureRequest {
  Selection selection{};
  std::vector<Schedule> schedules{};  ///< of all ranks, in place of the selection's
  bool idempotent = false;            ///< the schedules are for idempotent operators only
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

[[nodiscard]] Failures find_failures(const FailureRequest& request);

/// A table over rounds. The first line says what it is about.
[[nodiscard]] std::string failures_table(const FailureRequest& request, const Failures& failures);
[[nodiscard]] std::string failures_json(const FailureRequest& request, const Failures& failures);

// losses.cpp

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

// repairs.cpp

/// The way on after a failure.
struct WayOn {
  std::vector<Rank> failed{};
  std::uint32_t k = 0;
  Repair repair{};
  double repair_s = 0;
  /// A call of the same collective by the survivors, by the algorithm of least time. Its result is the survivors' own.
  std::string restart{};  ///< the algorithm; empty if there is no restart
  double restart_s = 0;
  std::string no_restart{};  ///< the reason if there is none
  /// "nothing", "repair" or "restart": the cheaper of those that there are; "lost" if there are none.
  std::string advice{};
};

/// The ways on after the failures of a request, priced for a vector of so many bytes.
[[nodiscard]] std::vector<WayOn> find_ways_on(const FailureRequest& request, Count bytes, const Machine& machine);

[[nodiscard]] std::string ways_on_table(const FailureRequest& request, Count bytes, const Machine& machine,
                                        const std::vector<WayOn>& ways);
[[nodiscard]] std::string ways_on_json(const FailureRequest& request, Count bytes, const Machine& machine,
                                       const std::vector<WayOn>& ways);

// faults_page.cpp

/// The page of all failures, which the site has as docs/faults.md.
[[nodiscard]] std::string faults_page();

// faults_text.cpp

/// A sentence about failures that is handed on, with a meaning that can be computed.
struct Saying {
  std::string_view said;
  std::string_view meant;
  std::string_view algorithm;  ///< that it is about
  bool (*is_true)(const FaultAnalysis& analysis);

  [[nodiscard]] bool holds(Rank p) const;
};

[[nodiscard]] std::span<const Saying> all_sayings();

}  // namespace circoll::cli
