#include "whatif/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"

namespace circoll::whatif {
namespace {

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Of a call on all ranks, squared numbers of ranks included.
constexpr Count most_bytes = Count{1} << 60U;

/// True if a rank's own bytes have a block for each rank. So they grow with the number of ranks.
bool is_own_vector(Collective collective) { return is_exchange(collective) || is_reduce_scatter(collective); }

/// An operation while its members are being found.
struct Open {
  CalledCollective collective{};
  trace::OperatorFacts op{};
  Rank root = 0;
  std::string served{};
  Count most_bytes = 0;  ///< of a member's own
  Count sum_bytes = 0;
  Rank arrived = 0;
  Rank blocked = 0;  ///< members, so far
  double last_begin_s = -std::numeric_limits<double>::infinity();
  double last_end_s = -std::numeric_limits<double>::infinity();
};

/// A call that blocked, as it was recorded.
struct Blocked {
  std::uint32_t operation = 0;
  Rank rank = 0;
  double begin_s = 0;
  double end_s = 0;
};

class Maker {
 public:
  Maker(const trace::Trace& trace, Rank ranks, Rank cores)
      : trace_(trace),
        recorded_ranks_(trace.facts.ranks),
        ranks_(ranks),
        cores_(cores > 0 ? cores : trace.facts.cores) {
    made_.ranks = ranks;
    made_.name = trace.facts.program;
    made_.mpi = trace.facts.mpi;
    made_.programs.resize(static_cast<std::size_t>(ranks));
  }

  Program make() {
    begin_ns_ = std::numeric_limits<std::int64_t>::max();
    for (const trace::RankTrace& rank : trace_.ranks) begin_ns_ = std::min(begin_ns_, rank.facts.begin_ns);
    for (Rank rank = 0; rank < ranks_; ++rank) read_rank(rank);
    for (std::size_t i = 0; i < open_.size(); ++i) close(i);
    if (ranks_ == recorded_ranks_) count_recorded();
    return std::move(made_);
  }

 private:
  using GroupKey = std::tuple<trace::Communicator::Kind, std::uint32_t, std::vector<Rank>>;
  /// A group and 0: its calls that follow one another. Or a group and k: the starts of its k-th persistent request.
  using StreamKey = std::pair<std::uint32_t, std::uint64_t>;

  [[nodiscard]] bool grows() const { return ranks_ != recorded_ranks_; }

  /// The group of a communicator of `rank`; nothing for a foreign one.
  std::optional<std::uint32_t> group_of(const trace::Communicator& communicator, Rank rank) {
    using Kind = trace::Communicator::Kind;
    if (communicator.kind == Kind::foreign) return std::nullopt;
    std::vector<Rank> members = communicator.members;
    if (communicator.kind == Kind::some && grows()) {
      if (members.size() > 1) {
        throw Error(
            ErrorCode::invalid_argument,
            fmt::format("-p {}: the program has communicators of some ranks ({} of {}), and nothing tells their "
                        "members among {} ranks; only programs on MPI_COMM_WORLD can grow",
                        ranks_, members.size(), recorded_ranks_, ranks_));
      }
      members = {rank};
    }
    const auto [found, fresh] =
        groups_.try_emplace(GroupKey(communicator.kind, communicator.instance, members), made_.groups.size());
    if (!fresh) return found->second;
    if (communicator.kind == Kind::all) {
      members.resize(static_cast<std::size_t>(ranks_));
      std::iota(members.begin(), members.end(), Rank{0});
    }
    made_.groups.push_back(placed(std::move(members)));
    return found->second;
  }

  /// Ranks of the program lie node by node.
  [[nodiscard]] Group placed(std::vector<Rank> members) const {
    const Rank cores = cores_;
    Group group;
    std::map<Rank, Rank> on_node;
    bool in_order = true;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Rank node = members[i] / cores;
      ++on_node[node];
      if (i > 0 && members[i - 1] / cores > node) in_order = false;
    }
    group.nodes = static_cast<Rank>(on_node.size());
    for (const auto& [node, ranks] : on_node) group.cores = std::max(group.cores, ranks);
    for (const auto& [node, ranks] : on_node)
      in_order = in_order && (ranks == group.cores || node == on_node.rbegin()->first);
    group.node_by_node = in_order;
    if (!in_order) group.cores = 1;
    group.members = std::move(members);
    return group;
  }

  static std::uint32_t position_in(const Group& group, Rank rank) {
    return static_cast<std::uint32_t>(std::find(group.members.begin(), group.members.end(), rank) -
                                      group.members.begin());
  }

  static std::uint64_t stream_of(const trace::Shape& shape) {
    return shape.mode == CallMode::persistent ? std::uint64_t{shape.request} + 1 : 0;
  }

  static bool fits(const Open& open, const trace::Shape& shape) {
    // An alltoallw is an alltoallv here.
    return open.collective.collective == shape.collective.collective && open.root == shape.root;
  }

  std::uint32_t operation_of(std::uint32_t group, const trace::Shape& shape, std::size_t turn, Rank rank) {
    std::vector<std::uint32_t>& stream = streams_[{group, stream_of(shape)}];
    if (turn == stream.size()) {
      stream.push_back(static_cast<std::uint32_t>(open_.size()));
      made_.operations.push_back({.group = group});
      open_.push_back({.collective = shape.collective, .op = shape.op, .root = shape.root, .served = shape.served});
    }
    Open& open = open_[stream[turn]];
    if (!fits(open, shape)) {
      throw Error(ErrorCode::parse,
                  fmt::format("rank {} calls {} where another rank of its communicator calls {}; the program, or its "
                              "order of calls in threads, cannot be played",
                              rank, to_string(shape.collective), to_string(open.collective)));
    }
    ++open.arrived;
    Count bytes = shape.bytes();
    if (bytes > most_bytes / ranks_) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("a call of {} has {} bytes on {} ranks, which is beyond what can be counted",
                              to_string(shape.collective), bytes, ranks_));
    }
    if (grows() && is_own_vector(shape.collective.collective)) bytes = bytes * ranks_ / recorded_ranks_;
    open.most_bytes = std::max(open.most_bytes, bytes);
    open.sum_bytes += bytes;
    return stream[turn];
  }

  void read_rank(Rank rank) {
    const trace::RankTrace& from = trace_.ranks[static_cast<std::size_t>(rank % recorded_ranks_)];
    if (from.facts.dropped > 0) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("the trace lacks {} calls of rank {}, since there was no place for them; make room on the "
                      "disk of the trace, and record again",
                      from.facts.dropped, from.facts.rank));
    }
    RankProgram& to = made_.programs[static_cast<std::size_t>(rank)];
    to.begin_s = static_cast<double>(from.facts.begin_ns - begin_ns_) * 1e-9;
    std::vector<std::optional<std::uint32_t>> groups;
    std::vector<std::uint32_t> positions;
    for (const trace::Communicator& communicator : from.communicators) {
      groups.push_back(group_of(communicator, rank));
      positions.push_back(groups.back() ? position_in(made_.groups[*groups.back()], rank) : 0);
    }
    std::map<StreamKey, std::size_t> turns;
    std::int64_t now_ns = 0;
    for (const trace::Call& call : from.calls) {
      const trace::Shape& shape = from.shapes[call.shape];
      const auto group = groups[shape.communicator];
      if (shape.collective.neighbor) ++made_.neighbors;
      if (!group && !shape.collective.neighbor) ++made_.foreign;
      if (!group || shape.collective.neighbor) continue;  // a part of the time to the next call
      if (call.begin_ns < now_ns) ++made_.overlaps;
      const std::size_t turn = turns[{*group, stream_of(shape)}]++;
      Entry entry{.operation = operation_of(*group, shape, turn, rank),
                  .position = positions[shape.communicator],
                  .blocks = shape.mode == CallMode::blocking};
      // The time inside the start of a nonblocking call is the program's own: it does not wait.
      const std::int64_t until_ns = entry.blocks ? call.begin_ns : call.end_ns;
      entry.gap_s = static_cast<double>(std::max<std::int64_t>(until_ns - now_ns, 0)) * 1e-9;
      if (entry.blocks && !grows()) {
        const auto common_s = [&](std::int64_t ns) {
          return to.begin_s + static_cast<double>(ns) * 1e-9 * from.facts.clock_rate;
        };
        const Blocked blocked{.operation = entry.operation,
                              .rank = rank,
                              .begin_s = common_s(call.begin_ns),
                              .end_s = common_s(call.end_ns)};
        blocked_.push_back(blocked);
        Open& open = open_[entry.operation];
        ++open.blocked;
        open.last_begin_s = std::max(open.last_begin_s, blocked.begin_s);
        open.last_end_s = std::max(open.last_end_s, blocked.end_s);
      }
      to.entries.push_back(entry);
      ++made_.calls;
      now_ns = std::max(now_ns, call.end_ns);
    }
    to.tail_s = static_cast<double>(std::max<std::int64_t>(from.facts.end_ns - now_ns, 0)) * 1e-9;
  }

  /// All members are known.
  void close(std::size_t index) {
    const Open& open = open_[index];
    Operation& operation = made_.operations[index];
    const Group& group = made_.groups[operation.group];
    const auto p = static_cast<Rank>(group.members.size());
    const Collective collective = open.collective.collective;
    if (open.arrived != p) {
      throw Error(ErrorCode::parse,
                  fmt::format("{} of {} ranks made a call of {} on a communicator, and the others did not; the program "
                              "cannot be played",
                              open.arrived, p, to_string(open.collective)));
    }
    Count bytes = open.most_bytes;
    if (is_irregular(collective) && !is_reducing(collective)) bytes = (open.sum_bytes + p - 1) / p;
    if (is_irregular(collective) && traits_of(collective).blocks == Blocks::per_rank && !is_reducing(collective)) {
      bytes = open.sum_bytes;
    } else {
      bytes = Amounts::of_reported(collective, p, bytes).vector_bytes();
    }
    const auto key =
        std::make_tuple(collective, p, group.cores, group.nodes, group.node_by_node, open.root, bytes,
                        open.op.commutative, open.op.idempotent, open.op.exact, open.op.predefined, open.served);
    const auto [found, fresh] = kinds_.try_emplace(key, made_.kinds.size());
    if (fresh) {
      made_.kinds.push_back({.collective = collective,
                             .p = p,
                             .cores = group.cores,
                             .nodes = group.nodes,
                             .node_by_node = group.node_by_node,
                             .root = open.root,
                             .bytes = bytes,
                             .op = open.op,
                             .served = open.served});
    }
    operation.kind = found->second;
    if (open.blocked != p) return;
    Kind& kind = made_.kinds[operation.kind];
    ++kind.recorded_calls;
    kind.recorded_s += (std::max(open.last_end_s - open.last_begin_s, 0.0) - kind.recorded_s) /
                       static_cast<double>(kind.recorded_calls);
  }

  void count_recorded() {
    Times& times = made_.recorded;
    const auto p = static_cast<std::size_t>(ranks_);
    times.in_collectives_s.resize(p);
    times.waiting_s.resize(p);
    for (const Blocked& call : blocked_) {
      const auto rank = static_cast<std::size_t>(call.rank);
      times.in_collectives_s[rank] += call.end_s - call.begin_s;
      times.waiting_s[rank] += std::max(0.0, std::min(call.end_s, open_[call.operation].last_begin_s) - call.begin_s);
    }
    for (const trace::RankTrace& rank : trace_.ranks) {
      const double begin_s = made_.programs[static_cast<std::size_t>(rank.facts.rank)].begin_s;
      times.run_s =
          std::max(times.run_s, begin_s + static_cast<double>(rank.facts.end_ns) * 1e-9 * rank.facts.clock_rate);
    }
  }

  const trace::Trace& trace_;
  Rank recorded_ranks_;
  Rank ranks_;
  Rank cores_;
  std::int64_t begin_ns_ = 0;
  Program made_;
  std::map<GroupKey, std::uint32_t> groups_;
  std::map<StreamKey, std::vector<std::uint32_t>> streams_;  ///< operations in the order of their calls
  std::map<std::tuple<Collective, Rank, Rank, Rank, bool, Rank, Count, bool, bool, bool, bool, std::string>,
           std::uint32_t>
      kinds_;
  std::vector<Open> open_;  ///< by operation
  std::vector<Blocked> blocked_;
};

}  // namespace

CallFacts facts_of(const Kind& kind) {
  return {.collective = kind.collective,
          .p = kind.p,
          .bytes = Amounts::of_vector(kind.collective, kind.p, kind.bytes).deciding_bytes(),
          .op = {.commutative = kind.op.commutative, .idempotent = kind.op.idempotent},
          .exact_op = kind.op.exact,
          .predefined_op = kind.op.predefined,
          .cores = kind.cores,
          .node_by_node = kind.node_by_node,
          .nodes = kind.nodes};
}

double Times::mean_in_collectives_s() const { return mean_of(in_collectives_s); }
double Times::mean_waiting_s() const { return mean_of(waiting_s); }

Program program_of(const trace::Trace& trace, Rank ranks, Rank cores) {
  if (ranks < trace.facts.ranks) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("-p {}: the program was recorded on {} ranks, and can be played on as many or more", ranks,
                            trace.facts.ranks));
  }
  return Maker(trace, ranks, cores).make();
}

void balance(Program& program) {
  std::vector<double> sum(program.operations.size(), 0.0);
  for (const RankProgram& rank : program.programs) {
    for (const Entry& entry : rank.entries) sum[entry.operation] += entry.gap_s;
  }
  double tails = 0;
  for (const RankProgram& rank : program.programs) tails += rank.tail_s;
  for (RankProgram& rank : program.programs) {
    for (Entry& entry : rank.entries) {
      const Group& group = program.groups[program.operations[entry.operation].group];
      entry.gap_s = sum[entry.operation] / static_cast<double>(group.members.size());
    }
    rank.begin_s = 0;
    rank.tail_s = tails / static_cast<double>(program.ranks);
  }
}

}  // namespace circoll::whatif
