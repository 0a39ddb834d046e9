// Report and trace, written while MPI_Finalize begins; and the last word on those that are not written.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "exec/mpi/comm/node_peers.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/failures.hpp"
#include "facts/environment.hpp"
#include "facts/program_name.hpp"
#include "interpose/launch.hpp"
#include "interpose/report.hpp"
#include "interpose/setup.hpp"
#include "interpose/state.hpp"
#include "select/machine.hpp"

namespace circoll::interpose {
namespace {

int world_size() {
  int size = 1;
  PMPI_Comm_size(mpi::base_world(), &size);
  return size;
}

/// "Open MPI v4.1.4", "MPICH Version: 4.0.2"
std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  PMPI_Get_library_version(version.data(), &length);
  std::string text(version.data(), static_cast<std::size_t>(length));
  text.resize(std::min(text.find_first_of(",\n"), text.size()));
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text;
}

/// The ways of all ranks' messages inside nodes. Collective; significant at rank 0.
RunFacts::Node gather_node_use(MPI_Comm comm, int ranks) {
  const mpi::NodeUse mine = mpi::node_use();
  std::vector<mpi::NodeUse> all(static_cast<std::size_t>(ranks));
  PMPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, comm);
  RunFacts::Node node;
  node.all = std::all_of(all.begin(), all.end(), [&](const mpi::NodeUse& one) { return one.by_memory == ranks - 1; });
  for (const mpi::NodeUse& one : all) {
    node.crowded |= one.crowded != 0;
    if (one.others == 0) continue;
    ++node.ranks;
    if (one.by_memory == one.others) {
      ++node.by_memory;
    } else {
      node.reason = node::to_string(one.reason);
    }
    if (one.read_directly == one.others) {
      ++node.read_directly;
    } else if (one.read_directly < one.by_memory) {
      node.reading_reason = node::to_string(one.reading_reason);
    }
  }
  return node;
}

FileNameFacts file_name_facts() {
  std::array<char, 256> host{};
  (void)gethostname(host.data(), host.size() - 1);
  FileNameFacts facts{.host = host.data(), .process = std::to_string(getpid()), .ranks = world_size()};
  for (const char* const variable : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"}) {
    if (auto job = launch_text(variable)) {
      facts.job = std::move(*job);
      break;
    }
  }
  return facts;
}

}  // namespace

std::string State::place(const std::string& name, bool anew) {
  const FileNameFacts facts = file_name_facts();
  std::string path = filled_in(name, facts);
  // Spawned processes have a world of their own. Their files must not overwrite their parents'.
  MPI_Comm parent = MPI_COMM_NULL;
  if (anew && !mpi::base_is_made()) PMPI_Comm_get_parent(&parent);
  return parent == MPI_COMM_NULL ? path : path + "." + facts.process;
}

void State::report() {
  Serving* const wrapper = Serving::first();
  const bool keeps = wrapper != nullptr && wrapper->keeps_result();
  if (!recording_ && !keeps) return;
  const double program_s = PMPI_Wtime() - program_began_s_;
  if (!agreed_) {
    // Another rank may know of no report, and would not take part.
    recording_ = false;
    warn("nothing is reported: the program's MPI_Init did not go through the drop-in");
    return;
  }
  recording_ = false;
  // The program may have used up all communicators, which is no error of its own.
  MPI_Comm comm = collecting_communicator(mpi::UnsetHandlers::may_be_set);
  if (comm == MPI_COMM_NULL) {
    warn(mpi::library::failure_of(mpi::base_world()) == MPI_SUCCESS
             ? "nothing is reported: MPI has no communicator left"
             : "nothing is reported: MPI_COMM_WORLD is revoked, or a process of it has failed");
    return;
  }
  // The code below calls MPI, whose progress may end operations and record them. So it does not hold the mutex.
  std::unique_ptr<const Ledger> ledger;
  std::unique_ptr<const Trace> trace;
  std::unique_ptr<const CallTracer> calls;
  {
    const std::lock_guard lock(mutex_);
    ledger = std::move(ledger_);
    trace = std::move(trace_);
    calls = std::move(calls_);
  }
  std::optional<ReportSection> section;
  if (wrapper != nullptr) section = wrapper->result(comm);
  if (ledger != nullptr) write_report(comm, *ledger, program_s, std::move(section));
  if (trace != nullptr) write_trace(comm, *trace);
  if (calls != nullptr) write_calls(comm, *calls, program_s);
  PMPI_Comm_free(&comm);
}

void State::write_report(MPI_Comm comm, const Ledger& ledger, double program_s,
                         std::optional<ReportSection> section) const {
  std::vector<std::string> ledgers(static_cast<std::size_t>(world_size()));
  collect(
      comm, [&](const auto& sink) { sink(ledger.serialised()); },
      [&](int rank, std::string_view part) { ledgers[static_cast<std::size_t>(rank)] += part; });
  RunFacts::Node node = gather_node_use(comm, world_size());
  std::vector<double> program(ledgers.size());
  PMPI_Gather(&program_s, 1, MPI_DOUBLE, program.data(), 1, MPI_DOUBLE, 0, comm);
  if (world_rank_ != 0) return;
  Report report({.program = program_name(),
                 .ranks = world_size(),
                 .mpi = library_version(),
                 .library = mpi::library::implementation() == &openmpi_library ? Library::openmpi : Library::mpich,
                 .machine = options_.machine,
                 .profile = profile_,
                 .topology = mpi::shared_world() != nullptr ? mpi::shared_world()->topology() : "",
                 .network = network_,
                 .devices = devices_,
                 .node = std::move(node),
                 .program_s = std::move(program),
                 .learned = std::move(section)});
  for (const std::string& one : ledgers) report.add_rank(one);
  if (report_ == "1" || report_ == "short") {
    std::fputs((report_ == "1" ? report.text() : "circoll: " + report.one_line() + "\n").c_str(), stderr);
    return;
  }
  const bool appends = report_.ends_with(".jsonl");
  const std::string path = place(report_, !appends);
  bool written = false;
  if (appends) {
    written = append_line(path, report.json_line());
  } else {
    std::ofstream file(path);
    file << (report_.ends_with(".json") ? report.json() : report.text());
    written = !file.flush().fail();
  }
  if (!written) warn("CIRCOLL_REPORT: the file " + path + " could not be written");
}

State::CommonClock State::common_clock(MPI_Comm comm) const {
  const ClockReading now = read_clock(comm);
  const double elapsed_s = now.at_s - clock_.at_s;
  const double drift = elapsed_s > 0 ? (now.offset_s - clock_.offset_s) / elapsed_s : 0;
  return {.offset_s = clock_.offset_s,
          .at_s = clock_.at_s,
          .rate = 1 + drift,
          .error_s = std::max(clock_.error_s, now.error_s)};
}

void State::write_trace(MPI_Comm comm, const Trace& trace) const {
  const CommonClock common_s = common_clock(comm);
  // The greatest of these over all ranks. The first is a complement and gives the earliest call. The other says how
  // well the clocks are known.
  std::array<double, 2> worst{-common_s(trace.begin_s()), common_s.error_s};
  PMPI_Allreduce(MPI_IN_PLACE, worst.data(), static_cast<int>(worst.size()), MPI_DOUBLE, MPI_MAX, comm);
  const double start_s = -worst[0];
  std::int64_t dropped = trace.dropped();
  PMPI_Allreduce(MPI_IN_PLACE, &dropped, 1, MPI_INT64_T, MPI_SUM, comm);

  const std::string path = place(trace_file_);
  std::ofstream file;
  if (world_rank_ == 0) {
    file.open(path);
    const nlohmann::ordered_json about{{"circoll_trace", 1},
                                       {"mpi", library_version()},
                                       {"ranks", world_size()},
                                       {"clock_error_us", worst[1] * 1e6},
                                       {"events_per_rank_limit", Trace::most_events},
                                       {"dropped_calls", dropped}};
    file << "{\"displayTimeUnit\": \"ns\",\n\"otherData\": " << about.dump()
         << ",\n\"traceEvents\": [\n{\"ph\":\"M\",\"name\":\"trace\",\"pid\":0,\"tid\":0,\"args\":{}}";
  }
  collect(
      comm,
      [&](const auto& sink) {
        trace.write(
            world_rank_, [&](double time_s) { return (common_s(time_s) - start_s) * 1e6; }, sink);
      },
      [&](int /*rank*/, std::string_view part) { file << part; });
  if (world_rank_ != 0) return;
  file << "\n]}\n";
  if (!file.flush()) warn("CIRCOLL_TRACE: the file " + path + " could not be written");
}

void State::write_calls(MPI_Comm comm, const CallTracer& calls, double program_s) const {
  const CommonClock common_s = common_clock(comm);
  MPI_Comm node = MPI_COMM_NULL;
  PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, world_rank_, MPI_INFO_NULL, &node);
  int cores = 1;
  if (node != MPI_COMM_NULL) {
    PMPI_Comm_size(node, &cores);
    PMPI_Comm_free(&node);
  }
  // The greatest over all ranks. The first is a complement and gives the earliest begin.
  std::array<double, 3> most{-common_s(calls.begin_s()), common_s.error_s, static_cast<double>(cores)};
  PMPI_Allreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_DOUBLE, MPI_MAX, comm);
  std::int64_t dropped = calls.dropped();
  PMPI_Allreduce(MPI_IN_PLACE, &dropped, 1, MPI_INT64_T, MPI_SUM, comm);
  const auto nanoseconds = [](double time_s) { return std::llround(time_s * 1e9); };

  const std::string path = place(trace_file_);
  std::ofstream file;
  std::optional<trace::FileWriter> writer;
  if (world_rank_ == 0) {
    file.open(path, std::ios::binary);
    writer.emplace(trace::RunFacts{.ranks = world_size(),
                                   .cores = static_cast<Rank>(most[2]),
                                   .clock_error_ns = nanoseconds(most[1]),
                                   .program = program_name(),
                                   .mpi = library_version(),
                                   .machine = to_json(options_.machine)},
                   [&](std::string_view part) { file << part; });
  }
  const trace::RankFacts facts{.rank = world_rank_,
                               .begin_ns = nanoseconds(common_s(calls.begin_s()) + most[0]),
                               .end_ns = nanoseconds(program_s),
                               .clock_rate = common_s.rate};
  collect(
      comm, [&](const auto& sink) { calls.write(facts, sink); },
      [&](int /*rank*/, std::string_view part) { writer->part(part); });
  if (world_rank_ != 0) return;
  writer->finish();
  if (!file.flush()) return warn("CIRCOLL_TRACE: the file " + path + " could not be written");
  if (dropped == 0) return;
  warn("CIRCOLL_TRACE: " + std::to_string(dropped) + " calls are missing in " + path +
       ", since the disk was full where ranks kept them");
}

namespace {

/// The process that loaded the drop-in. A process that it forks does not load the drop-in again, and is no rank.
const pid_t loaded_in = getpid();

/// The reason why there is no report; nullptr if there is nothing to say. Programs that are no ranks of MPI say
/// nothing.
const char* reason() {
  if (getpid() != loaded_in) return nullptr;
  if (const State* const state = State::known()) {
    return state->speaks_of_reports() ? "the program ended without MPI_Finalize" : nullptr;
  }
  if (State::sessions_have_ended()) return nullptr;
  int initialized = 0;
  PMPI_Initialized(&initialized);
  const bool wanted = report_setting() != "0" || environment("CIRCOLL_TRACE");
  return initialized != 0 && wanted && launch_rank() == 0 ? "the program's MPI_Init did not go through the drop-in"
                                                          : nullptr;
}

/// Called when the process exits, before the libraries end that the drop-in needs.
__attribute__((destructor)) void warn_unreported() {
  try {
    if (const char* const why = reason()) std::fprintf(stderr, "circoll: nothing is reported: %s\n", why);
  } catch (...) {
    return;
  }
}

}  // namespace

}  // namespace circoll::interpose
