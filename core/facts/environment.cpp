#include "facts/environment.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>

#include "circoll/error.hpp"

extern "C" char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves the declaration to the program

namespace circoll {
namespace {

constexpr std::string_view choice = "auto | native | ALGORITHM[:PARAM=VALUE,...] | file:PATH";

constexpr std::array variables{
    EnvironmentVariable{"CIRCOLL_ALLREDUCE", choice, "auto", "Drop-in: the algorithm of MPI_Allreduce."},
    EnvironmentVariable{"CIRCOLL_REDUCE", choice, "auto", "Drop-in: the algorithm of MPI_Reduce."},
    EnvironmentVariable{"CIRCOLL_REDUCE_SCATTER_BLOCK", choice, "auto",
                        "Drop-in: the algorithm of MPI_Reduce_scatter_block."},
    EnvironmentVariable{"CIRCOLL_REDUCE_SCATTER", choice, "auto", "Drop-in: the algorithm of MPI_Reduce_scatter."},
    EnvironmentVariable{"CIRCOLL_ALLGATHER", choice, "auto", "Drop-in: the algorithm of MPI_Allgather."},
    EnvironmentVariable{"CIRCOLL_ALLGATHERV", choice, "auto", "Drop-in: the algorithm of MPI_Allgatherv."},
    EnvironmentVariable{"CIRCOLL_GATHER", choice, "auto", "Drop-in: the algorithm of MPI_Gather."},
    EnvironmentVariable{"CIRCOLL_GATHERV", choice, "auto", "Drop-in: the algorithm of MPI_Gatherv."},
    EnvironmentVariable{"CIRCOLL_SCATTER", choice, "auto", "Drop-in: the algorithm of MPI_Scatter."},
    EnvironmentVariable{"CIRCOLL_SCATTERV", choice, "auto", "Drop-in: the algorithm of MPI_Scatterv."},
    EnvironmentVariable{"CIRCOLL_BCAST", choice, "auto", "Drop-in: the algorithm of MPI_Bcast."},
    EnvironmentVariable{"CIRCOLL_BARRIER", choice, "auto", "Drop-in: the algorithm of MPI_Barrier."},
    EnvironmentVariable{"CIRCOLL_ALLTOALL", choice, "auto", "Drop-in: the algorithm of MPI_Alltoall."},
    EnvironmentVariable{"CIRCOLL_ALLTOALLV", choice, "auto", "Drop-in: the algorithm of MPI_Alltoallv and _Alltoallw."},
    EnvironmentVariable{"CIRCOLL_SCAN", choice, "auto", "Drop-in: the algorithm of MPI_Scan."},
    EnvironmentVariable{"CIRCOLL_EXSCAN", choice, "auto", "Drop-in: the algorithm of MPI_Exscan."},
    EnvironmentVariable{"CIRCOLL_SUM", "plain | exact | ordered", "plain",
                        "Drop-in: MPI_SUM of float, double and their complex numbers. exact: the exact sum, rounded "
                        "once; ordered: from rank 0 to the last; both have the same bits with every algorithm, "
                        "placement and MPI."},
    EnvironmentVariable{"CIRCOLL_NEIGHBOR", "auto | direct | node_aware | native", "auto",
                        "Drop-in: the way of MPI_Neighbor_allgather and all other neighbourhood collectives. direct: "
                        "each rank sends straight to its neighbours; node_aware: messages between nodes are joined "
                        "where sizes stay the same; auto: the faster one, unless CIRCOLL_POLICY is native."},
    EnvironmentVariable{
        "CIRCOLL_POLICY", "auto | model | classic | openmpi_fixed | native | file:PATH | learn", "auto",
        "Drop-in: chooses for collectives whose own variable is unset or auto. Its default is learn with "
        "CIRCOLL_LEARN, and classic with CIRCOLL_FAULTS."},
    EnvironmentVariable{"CIRCOLL_PROFILE", "auto | off | FILE | DIRECTORY", "auto",
                        "Drop-in and circoll-bench: the profile for the policy auto, by circoll tune; auto: "
                        "that of this machine, if there is one."},
    EnvironmentVariable{
        "CIRCOLL_LEARN", "FILE | off", "nothing is kept",
        "Drop-in: keeps the results of CIRCOLL_POLICY=learn as rules for the next run, and implies that "
        "policy. off: nothing is learned across hosts either, as auto does."},
    EnvironmentVariable{"CIRCOLL_MACHINE", "FILE", "the measured network, or the default machine",
                        "Drop-in: the machine file of predicted times, as circoll calibrate writes it."},
    EnvironmentVariable{"CIRCOLL_MEASURE", "auto | off", "auto",
                        "Drop-in and circoll-bench: a job on several hosts measures their network when it "
                        "starts, or takes the numbers that an earlier job has kept; off: neither."},
    EnvironmentVariable{"CIRCOLL_PARTS", "auto | off | BYTES", "auto",
                        "Drop-in and circoll-bench: longer messages between hosts go in parts of so many bytes; auto: "
                        "of 15.9 KiB, where the network's numbers say that it is one of sockets."},
    EnvironmentVariable{"CIRCOLL_ALLOW_RANK_DIVERGENCE", "0 | 1", "0",
                        "Drop-in: 1 admits algorithms that may give ranks different bits of a floating-point sum."},
    EnvironmentVariable{"CIRCOLL_SERVE_AFTER", "NUMBER", "1024",
                        "Drop-in: so many calls of each collective on a communicator other than MPI_COMM_WORLD are "
                        "native, before its ranks prepare to serve them. 0: all are served, also on one rank."},
    EnvironmentVariable{"CIRCOLL_PROGRESS", "hook | thread | off", "hook",
                        "Drop-in: advances nonblocking and persistent operations; off leaves them to the MPI library."},
    EnvironmentVariable{"CIRCOLL_REPORT", "0 | 1 | short | FILE | FILE.json | FILE.jsonl", "0",
                        "Drop-in: at MPI_Finalize rank 0 writes what served which calls: as text to stderr (1), as one "
                        "line to stderr (short), as text to FILE, as JSON to FILE.json, or as one more line of JSON to "
                        "FILE.jsonl. In names %h is the host, %p the process id, %j the job and %n the number of "
                        "ranks."},
    EnvironmentVariable{"CIRCOLL_TRACE", "FILE | FILE.calls", "no trace",
                        "Drop-in: at MPI_Finalize rank 0 writes every call of every rank, to FILE for Perfetto or "
                        "Chrome, or to FILE.calls for circoll whatif. Names may have %h, %p, %j and %n, as in "
                        "CIRCOLL_REPORT."},
    EnvironmentVariable{"CIRCOLL_RECORD", "off | on | DIRECTORY", "off",
                        "Drop-in: each rank keeps its last 256 collective calls in a file, for circoll hang. on: in "
                        "memory of the node, below /dev/shm; DIRECTORY: there, which all nodes may share."},
    EnvironmentVariable{"CIRCOLL_HANG_AFTER", "SECONDS (60, 60s)", "nothing is watched",
                        "Drop-in: where a blocking collective lasts that long, a rank of each node prints once what "
                        "circoll hang says. It implies CIRCOLL_RECORD=on."},
    EnvironmentVariable{"CIRCOLL_BITS_RECORD", "DIRECTORY", "no record",
                        "Drop-in: each rank writes hashes of what it gives to each blocking collective and of what it "
                        "gets, for circoll bits-compare."},
    EnvironmentVariable{"CIRCOLL_MATCH", "0 | 1", "0",
                        "Drop-in: 1 compares, before each collective, what the ranks call, and says who calls what."},
    EnvironmentVariable{"CIRCOLL_CHECK", "0 | 1", "0", "Drop-in: the name of CIRCOLL_MATCH in 0.2, with a warning."},
    EnvironmentVariable{"CIRCOLL_PATIENCE", "SECONDS", "10",
                        "Drop-in: a rank that has waited in a collective for this time asks the others whether their "
                        "calls match its own. 0: it waits on, as the MPI library does."},
    EnvironmentVariable{"CIRCOLL_FAULTS", "off | report | finish", "off",
                        "Drop-in: blocking collectives survive the failure of ranks; the survivors get an error, or "
                        "the call is finished."},
    EnvironmentVariable{"CIRCOLL_DEVICE_MEMORY", "auto | on | off", "auto",
                        "Calls with memory of GPUs go to the MPI library. auto: if a runtime of GPUs is loaded "
                        "and usable when MPI_Init ends; on: if one is loaded at any time; off: there are no such "
                        "calls."},
    EnvironmentVariable{"CIRCOLL_CORES", "NUMBER", "as MPI_Get_processor_name says",
                        "Consecutive ranks of MPI_COMM_WORLD that make a node, for what auto knows of nodes"},
    EnvironmentVariable{"CIRCOLL_TOPOLOGY", "off | auto | FILE", "off",
                        "Nodes change places in the schedules that a policy chooses, so that fewer messages pass "
                        "between switches. auto: the switches that Slurm or a Cray names; FILE: topology.conf, or "
                        "hosts of all ranks."},
    EnvironmentVariable{"CIRCOLL_NODE", "auto | off", "auto",
                        "off: messages between processes of a node go through the MPI library, as all others."},
    EnvironmentVariable{"CIRCOLL_NODE_COPY", "auto | segment | direct", "auto",
                        "How longer messages go inside a node: through memory that is shared, or read directly out of "
                        "the sender's memory. auto: large ones directly, where the system permits it."},
    EnvironmentVariable{"CIRCOLL_CACHE_BYTES", "BYTES (64Mi, 64M, 64MB, 1e8)", "64Mi",
                        "Bound plans kept per process, in bytes; the least recently used go first."},
    EnvironmentVariable{"CIRCOLL_DROPIN_PATH", "FILE", "the installed drop-in",
                        "circoll run: the drop-in to preload, for the MPI that the program uses."},
};

/// Values of variables that this process was not given. They come from rank 0.
struct OfRankZero {
  std::mutex mutex;
  std::map<std::string_view, std::string> values;
};

OfRankZero& of_rank_zero() {
  static auto* const all = new OfRankZero;  // variables are read until the process ends
  return *all;
}

/// The registry's own name, which ends in NUL.
std::string_view registered(std::string_view name) {
  const auto variable = std::ranges::find(variables, name, &EnvironmentVariable::name);
  check(variable != variables.end(), "an environment variable is read that is not in the registry");
  return variable->name;
}

}  // namespace

std::span<const EnvironmentVariable> environment_variables() { return variables; }

std::optional<std::string> environment(std::string_view name) {
  const std::string_view known = registered(name);
  if (const char* const value = std::getenv(known.data()); value != nullptr && *value != '\0') return value;
  OfRankZero& others = of_rank_zero();
  const std::lock_guard lock(others.mutex);
  const auto found = others.values.find(known);
  return found == others.values.end() ? std::nullopt : std::optional(found->second);
}

void set_missing_environment(std::string_view name, std::string value) {
  const std::string_view known = registered(name);
  OfRankZero& others = of_rank_zero();
  const std::lock_guard lock(others.mutex);
  others.values.insert_or_assign(known, std::move(value));
}

std::vector<std::string> unknown_environment_variables() {
  std::vector<std::string> unknown;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with("CIRCOLL_")) continue;
    const std::string_view name = text.substr(0, text.find('='));
    if (std::ranges::find(variables, name, &EnvironmentVariable::name) == variables.end()) unknown.emplace_back(name);
  }
  return unknown;
}

}  // namespace circoll
