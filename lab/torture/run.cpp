// A case on all ranks: communicators, threads, and the judgement of all results.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <deque>
#include <thread>

#include "lane.hpp"
#include "watchdog.hpp"

namespace circoll::torture {
namespace {

/// All of the case's records in an order that is the same on all ranks: judging communicates.
std::vector<const Record*> in_order(const std::deque<Lane>& lanes) {
  std::vector<const Record*> records;
  for (const Lane& lane : lanes) {
    for (const Record& record : lane.records()) records.push_back(&record);
  }
  std::ranges::sort(records, [](const Record* a, const Record* b) {
    return std::pair(a->operation->id, a->execution) < std::pair(b->operation->id, b->execution);
  });
  return records;
}

}  // namespace

CaseResult run_case(const Case& c, bool serial) {
  std::vector<Communicator> comms(c.comms.size());
  comms[0] = make_communicator(c.comms[0], {});
  comms[1] = make_communicator(c.comms[1], {});
  if (c.lanes.size() > 1) {
    for (std::size_t i = 2; i < comms.size(); ++i) {
      if (c.comms[i].in_lane) continue;
      comms[i] = make_communicator(c.comms[i], comms[static_cast<std::size_t>(c.comms[i].parent)]);
    }
  }
  std::deque<Lane> lanes;
  for (int i = 0; i < static_cast<int>(c.lanes.size()); ++i) lanes.emplace_back(c, i, comms);
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < lanes.size(); ++i) threads.emplace_back(&Lane::run, &lanes[i]);
  lanes[0].run();
  for (std::thread& thread : threads) thread.join();

  CaseResult outcome;
  for (const Record* record : in_order(lanes)) {
    watch_judging(record->operation->id);
    const Judgement judgement = judge(*record, comms[static_cast<std::size_t>(record->operation->comm)], serial);
    ++outcome.operations;
    if (judgement.verdict == Outcome::wrong) {
      outcome.failures.push_back(fmt::format("{}{}: {}", describe(c, *record->operation),
                                             record->execution > 0 ? fmt::format(", start {}", record->execution) : "",
                                             judgement.text));
    } else if (judgement.verdict == Outcome::native_wrong) {
      outcome.native_wrong.push_back(describe(c, *record->operation));
    }
  }
  for (Lane& lane : lanes) {
    lane.check_leftovers();
    outcome.failures.insert(outcome.failures.end(), lane.failures().begin(), lane.failures().end());
    lane.free_instances();
  }
  for (std::size_t i = comms.size(); i-- > 0;) {
    if (i > 1 && comms[i].comm != MPI_COMM_NULL) MPI_Comm_free(&comms[i].comm);
    free_oracle(comms[i]);
  }
  static long misused = 0;
  if (misused_operators() != misused) {
    misused = misused_operators();
    outcome.failures.emplace_back("a user operator was called with another datatype than the reduction's");
  }
  static long stray = 0;
  if (stray_errors() != stray) {
    stray = stray_errors();
    outcome.failures.emplace_back(
        "error handlers of MPI_COMM_WORLD or MPI_COMM_SELF were called without an error, or not for one");
  }
  return outcome;
}

}  // namespace circoll::torture
