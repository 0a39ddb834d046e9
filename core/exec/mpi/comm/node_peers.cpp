#include "exec/mpi/comm/node_peers.hpp"

#include <algorithm>
#include <mutex>
#include <string>

#include "exec/mpi/library/base.hpp"
#include "exec/node/limits.hpp"
#include "facts/environment.hpp"

namespace circoll::mpi {
namespace {

/// The process on its node. Part of the executor's global state (HACKING.md).
struct NodeState {
  std::mutex mutex;
  std::unique_ptr<node::Host> host;
  std::uint32_t carriers = 0;  ///< that have looked for node peers
  NodeUse use;
};

NodeState& node_state() {
  static auto* const instance = new NodeState;  // never destroyed: threads of the program may still run at exit
  return *instance;
}

/// The words of a process to those that may be its node peers.
struct Introduction {
  node::Address address{};
  std::uint64_t carrier = 0;
};

/// Switched off, a process says where it is nevertheless, so that its node peers can tell why it is none.
bool switched_off() { return environment("CIRCOLL_NODE").value_or("auto") == "off"; }

node::Ways ways() {
  node::Ways ways;
  const std::string copy = environment("CIRCOLL_NODE_COPY").value_or("auto");
  if (copy == "segment") ways.direct = false;
  if (copy == "direct") ways.direct_from = 0;
  return ways;
}

/// Exchanges one value with each of some ranks, in ascending order, which do the same. Returns an MPI error code. An
/// alltoallv would connect all ranks with one another, and libraries poll their connections whenever they look for
/// news.
template <typename T>
int exchange(MPI_Comm comm, const std::vector<int>& ranks, const std::vector<T>& mine, std::vector<T>* theirs) {
  theirs->resize(ranks.size());
  // No execution has it. Some libraries give a communicator the place of one before, on which messages were given up.
  const int tag = largest_tag();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int rc = PMPI_Sendrecv(&mine[i], sizeof(T), MPI_BYTE, ranks[i], tag, &(*theirs)[i], sizeof(T), MPI_BYTE,
                                 ranks[i], tag, comm, MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

// Threads look for the node peers of different communicators at the same time, and wait for different ranks. So the
// lock is held only for local work.

/// Makes the segment at the first call.
Introduction introduce(std::size_t processes) {
  NodeState& state = node_state();
  const std::lock_guard lock(state.mutex);
  Introduction mine{.carrier = ++state.carriers};
  if (switched_off()) {
    mine.address.reason = node::Reason::switched_off;
    return mine;
  }
  if (state.host == nullptr) state.host = std::make_unique<node::Host>(ways(), processes);
  mine.address = state.host->address();
  return mine;
}

/// A process that may be a node peer, as far as this one can tell.
struct Candidate {
  node::ConnectedPeer* peer = nullptr;
  node::Reason reason = node::Reason::none;  ///< why it is none
};

std::vector<Candidate> connect_all(const node::Address& own, const std::vector<Introduction>& theirs) {
  NodeState& state = node_state();
  const std::lock_guard lock(state.mutex);
  std::vector<Candidate> candidates;
  for (const Introduction& one : theirs) {
    Candidate candidate{.reason = node::obstacle_between(own, one.address)};
    if (candidate.reason == node::Reason::none) {
      candidate.peer = &state.host->connect(one.address);
      candidate.reason = candidate.peer->connection->reason();
    }
    candidates.push_back(candidate);
  }
  return candidates;
}

/// The first carrier has all ranks that others have.
void take_note(const std::vector<Candidate>& candidates, std::uint64_t carrier, bool crowded) {
  NodeState& state = node_state();
  const std::lock_guard lock(state.mutex);
  if (carrier != 1) return;
  state.use.others = static_cast<std::int32_t>(candidates.size());
  state.use.crowded = crowded ? 1 : 0;
  for (const Candidate& candidate : candidates) {
    if (candidate.reason != node::Reason::none) {
      state.use.reason = candidate.reason;
      continue;
    }
    ++state.use.by_memory;
    const node::Connection& connection = *candidate.peer->connection;
    const node::Reason reading = connection.ways().direct ? connection.reading() : node::Reason::not_wanted;
    if (reading == node::Reason::none) {
      ++state.use.read_directly;
      state.use.read_from = static_cast<std::int64_t>(connection.ways().direct_from);
    } else {
      state.use.reading_reason = reading;
    }
  }
}

}  // namespace

int NodePeers::find(MPI_Comm comm, int rank, std::span<const RankLocation> all, std::unique_ptr<NodePeers>* found) {
  const int size = static_cast<int>(all.size());
  const std::uint64_t here = all[static_cast<std::size_t>(rank)].memory;
  std::vector<int> others;
  for (int other = 0; here != 0 && other < size; ++other) {
    if (other != rank && all[static_cast<std::size_t>(other)].memory == here) others.push_back(other);
  }
  if (others.empty()) return MPI_SUCCESS;

  const Introduction mine = introduce(others.size() + 1);
  std::vector<Introduction> theirs;
  int rc = exchange(comm, others, std::vector<Introduction>(others.size(), mine), &theirs);
  if (rc != MPI_SUCCESS) return rc;
  // Each says whether it reaches the other, and why not.
  std::vector<Candidate> candidates = connect_all(mine.address, theirs);
  std::vector<node::Reason> said, heard;
  for (const Candidate& candidate : candidates) said.push_back(candidate.reason);
  rc = exchange(comm, others, said, &heard);
  if (rc != MPI_SUCCESS) return rc;

  std::vector<NodePeer> ranks(static_cast<std::size_t>(others.back() - others.front() + 1));
  std::vector<node::OwnProcessors> processors{all[static_cast<std::size_t>(rank)].processors};
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (candidates[i].reason == node::Reason::none) candidates[i].reason = heard[i];
    if (candidates[i].reason != node::Reason::none) continue;
    ranks[static_cast<std::size_t>(others[i] - others.front())] = {
        .peer = candidates[i].peer, .carrier = static_cast<std::uint32_t>(theirs[i].carrier)};
    processors.push_back(all[static_cast<std::size_t>(others[i])].processors);
  }
  const bool crowded = node::is_crowded(processors);
  take_note(candidates, mine.carrier, crowded);
  if (crowded) {
    for (const NodePeer& one : ranks) {
      if (one.peer == nullptr) continue;
      const std::lock_guard lock(one.peer->lock);
      one.peer->connection->set_crowded();
    }
  }
  if (processors.size() == 1) return MPI_SUCCESS;
  auto made = std::make_unique<NodePeers>(rank, others.front(), std::move(ranks));
  made->carrier_ = static_cast<std::uint32_t>(mine.carrier);
  made->crowded_ = crowded;
  *found = std::move(made);
  return MPI_SUCCESS;
}

NodeUse node_use() {
  NodeState& state = node_state();
  const std::lock_guard lock(state.mutex);
  return state.use;
}

}  // namespace circoll::mpi
