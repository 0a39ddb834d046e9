#include "exec/mpi/serve/node_aware_neighbors.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <new>
#include <span>
#include <utility>

#include "facts/hash.hpp"
#include "facts/median.hpp"
#include "model/neighbor_price.hpp"
#include "schedule/node_aware_neighborhood.hpp"

namespace circoll::mpi {
namespace {

constexpr double unknown_s = std::numeric_limits<double>::infinity();

const Selection& selection() {
  static const Algorithm algorithm{.name = "node_aware", .summary = "joined messages between nodes"};
  static const Selection made{.algorithm = &algorithm, .collective = Collective::alltoall};
  return made;
}

/// Each rank of a node gives the others some words. They go as messages of blocking calls do, of which there is no
/// other one. `all` gets those of each member, in their order. Returns an MPI error code.
template <typename Word>
int exchange_on_node(const CommState& state, const std::vector<Rank>& members, const std::vector<Word>& mine,
                     std::vector<std::vector<Word>>* all) {
  const Route route = state.route(Collective::alltoall);
  const auto bytes_of = [](const auto& words) { return static_cast<int>(words.size() * sizeof words[0]); };
  // In ascending order of the other ranks, so that no circle of ranks waits.
  const auto exchange = [&](const auto& sent, auto& received) -> int {
    for (std::size_t m = 0; m < members.size(); ++m) {
      const Rank peer = members[m];
      if (peer == state.rank()) continue;
      const int rc = PMPI_Sendrecv(sent.data(), bytes_of(sent), MPI_BYTE, route.rank(peer), route.send_tag(peer, 0),
                                   received[m].data(), bytes_of(received[m]), MPI_BYTE, route.rank(peer),
                                   route.receive_tag(0), route.comm, MPI_STATUS_IGNORE);
      if (rc != MPI_SUCCESS) return rc;
    }
    return MPI_SUCCESS;
  };
  const std::vector<std::int64_t> length{static_cast<std::int64_t>(mine.size())};
  std::vector<std::vector<std::int64_t>> lengths(members.size(), length);
  if (const int rc = exchange(length, lengths); rc != MPI_SUCCESS) return rc;
  all->clear();
  for (std::size_t m = 0; m < members.size(); ++m)
    all->push_back(members[m] == state.rank() ? mine : std::vector<Word>(static_cast<std::size_t>(lengths[m].front())));
  return exchange(mine, *all);
}

/// The edges of the ranks of a node, and the sizes of their blocks.
struct Members {
  std::vector<Neighborhood> edges{};
  std::vector<NeighborSizes> sizes{};
  std::vector<Rank> ranks{};
  std::size_t own = 0;

  /// Each rank tells the others of its node. Returns an MPI error code.
  [[nodiscard]] int gather(const CommState& state, const Neighborhood& neighborhood, const NeighborSizes& mine);

 private:
  using Words = std::span<const std::int64_t>;
  static std::vector<std::int64_t> written(const Neighborhood& one, const NeighborSizes& sizes);
  void read(Words words, Rank p);
};

std::vector<std::int64_t> Members::written(const Neighborhood& one, const NeighborSizes& sizes) {
  std::vector<std::int64_t> words{one.rank, static_cast<std::int64_t>(one.out.size()),
                                  static_cast<std::int64_t>(one.in.size())};
  for (const NeighborEdge& edge : one.out) words.push_back(edge.peer);
  for (const NeighborEdge& edge : one.in) words.push_back(edge.peer);
  words.insert(words.end(), sizes.received.begin(), sizes.received.end());  // one for each edge
  words.insert(words.end(), sizes.sent.begin(), sizes.sent.end());
  return words;
}

void Members::read(Words words, Rank p) {
  const auto take = [&](std::size_t count) {
    const Words taken = words.first(count);
    words = words.subspan(count);
    return taken;
  };
  const Words head = take(3);
  Neighborhood& one = edges.emplace_back(Neighborhood{.size = p, .rank = head[0]});
  for (const std::int64_t peer : take(static_cast<std::size_t>(head[1])))
    one.out.push_back({.peer = peer, .place = one.out.size()});
  for (const std::int64_t peer : take(static_cast<std::size_t>(head[2])))
    one.in.push_back({.peer = peer, .place = one.in.size()});
  const Words received = take(one.in.size());
  sizes.push_back({.sent = {words.begin(), words.end()}, .received = {received.begin(), received.end()}});
}

int Members::gather(const CommState& state, const Neighborhood& neighborhood, const NeighborSizes& mine) {
  for (Rank r = 0; r < state.size(); ++r) {
    if (r == state.rank()) own = ranks.size();
    if (r == state.rank() || state.placement().together(r, state.rank())) ranks.push_back(r);
  }
  std::vector<std::vector<std::int64_t>> all;
  if (const int rc = exchange_on_node(state, ranks, written(neighborhood, mine), &all); rc != MPI_SUCCESS) return rc;
  for (const std::vector<std::int64_t>& words : all) read(words, neighborhood.size);
  return MPI_SUCCESS;
}

/// The sum over all ranks is 0 if both ends of each edge say the same size. Modulo 2^64.
std::uint64_t balance(const Neighborhood& neighborhood, const NeighborSizes& sizes, NeighborContract contract) {
  std::uint64_t sum = 0;
  std::map<Rank, std::uint64_t> out, in;  // edges to each peer, from each
  const auto edge = [](Rank from, Rank to, std::uint64_t nth, Count bytes) {
    // Mixed, since sums of plain hashes that differ in their last word cancel one another.
    return mixed_bits(Hash()
                          .add(static_cast<std::uint64_t>(from))
                          .add(static_cast<std::uint64_t>(to))
                          .add(nth)
                          .add(static_cast<std::uint64_t>(bytes))
                          .value());
  };
  const Rank own = neighborhood.rank;
  for (std::size_t e = 0; e < neighborhood.out.size(); ++e) {
    const Rank peer = neighborhood.out[e].peer;
    sum += edge(own, peer, out[peer]++, sizes.sent[contract == NeighborContract::allgather ? 0 : e]);
  }
  for (std::size_t e = 0; e < neighborhood.in.size(); ++e) {
    const Rank peer = neighborhood.in[e].peer;
    sum -= edge(peer, own, in[peer]++, sizes.received[e]);
  }
  return sum;
}

/// The node-aware schedule in names of this rank's own, one after another for the blocks of all members.
NodeAwareWay build(const Members& members, NeighborContract contract, std::span<const Rank> node_of) {
  NodeAwareWay made{.sizes = members.sizes[members.own]};
  std::vector<NeighborBlocks> names;
  for (const NeighborSizes& sizes : members.sizes) {
    NeighborBlocks& blocks = names.emplace_back();
    for (const std::vector<Count>* const side : {&sizes.sent, &sizes.received}) {
      for (const Count bytes : *side) {
        (side == &sizes.sent ? blocks.sent : blocks.received).push_back(static_cast<Block>(made.bytes.size()));
        made.bytes.push_back(bytes);
      }
    }
  }
  if (made.bytes.empty()) made.bytes.push_back(0);
  for (NeighborBlocks& blocks : names) blocks.blocks = static_cast<Block>(made.bytes.size());
  made.schedule = build_neighbor_node_aware(
      {.members = members.edges, .names = names, .own = members.own, .node_of = node_of}, contract);
  return made;
}

/// The predicted times of a node's ranks, straight and joined.
struct Times {
  double straight_s = 0;
  double joined_s = 0;
};

/// Each rank tells the others of its node what its messages cost. If some rank has no way, joined messages take
/// forever. Returns an MPI error code.
int predict(const CommState& state, const Members& members, NeighborContract contract, const NodeAwareWay* way,
            const Machine& machine, Times* times) {
  const std::vector<Rank>& node_of = *state.placement().node_of;
  const Neighborhood& own = members.edges[members.own];
  const Schedule schedule = build_neighbor_direct(own, contract, own_blocks(own, contract));
  const std::vector<Count> bytes = bytes_of(members.sizes[members.own], schedule.user_blocks);
  const NeighborWork straight = work_of(schedule, bytes, node_of, machine);
  const NeighborWork joined =
      way == nullptr ? NeighborWork{.all_s = unknown_s} : work_of(way->schedule, way->bytes, node_of, machine);
  std::vector<std::vector<double>> all;
  const int rc = exchange_on_node<double>(
      state, members.ranks, {straight.all_s, straight.bytes_between, joined.all_s, joined.bytes_between}, &all);
  if (rc != MPI_SUCCESS) return rc;
  NeighborWork node, joined_node;
  for (const std::vector<double>& one : all) {
    node.add({.most_s = one[0], .all_s = one[0], .bytes_between = one[1]});
    joined_node.add({.most_s = one[2], .all_s = one[2], .bytes_between = one[3]});
  }
  const bool crowded = state.placement().crowded;
  *times = {.straight_s = seconds(node, 0, machine, crowded), .joined_s = seconds(joined_node, 2, machine, crowded)};
  return MPI_SUCCESS;
}

}  // namespace

NeighborWay NodeAwareWay::way() const {
  return {.schedule = schedule,
          .bytes = bytes,
          .by = selection(),
          .why = "what the ranks of a node have for another node crosses in one message"};
}

bool admits_node_aware(const InternedChoice& choice, const CommState& state) {
  const Placement& placement = state.placement();
  if (placement.nodes < 2 || placement.nodes == state.size() || placement.node_of == nullptr) return false;
  return !is_named(choice) || choice.selection.algorithm->name == selection().algorithm->name;
}

int find_node_aware(const Neighborhood& neighborhood, NeighborContract contract, const NeighborSides& sides,
                    const CommState& state, const InternedChoice& choice, std::unique_ptr<const NodeAwareWay>* found) {
  found->reset();
  Members members;
  const NeighborSizes mine = sides.sizes();
  const auto refuse = [&](int error) {
    state.call_errhandler(error);  // messages on the carrier call none
    return error;
  };
  if (const int rc = members.gather(state, neighborhood, mine); rc != MPI_SUCCESS) return refuse(rc);
  std::unique_ptr<const NodeAwareWay> way;
  try {
    way = std::make_unique<NodeAwareWay>(build(members, contract, *state.placement().node_of));
  } catch (const std::bad_alloc&) {
    way.reset();  // all ranks learn that
  }
  const Machine& machine = (choice.policy != nullptr ? *choice.policy : default_policy()).machine();
  Times times;
  if (const int rc = predict(state, members, contract, way.get(), machine, &times); rc != MPI_SUCCESS)
    return refuse(rc);
  const std::array<double, 2> own{times.straight_s, times.joined_s};
  std::array<double, 2> longest{};
  const std::uint64_t difference = balance(neighborhood, mine, contract);
  std::uint64_t sum = 0;
  int rc = PMPI_Allreduce(own.data(), longest.data(), 2, MPI_DOUBLE, MPI_MAX, state.user_comm());
  if (rc == MPI_SUCCESS) rc = PMPI_Allreduce(&difference, &sum, 1, MPI_UINT64_T, MPI_SUM, state.user_comm());
  if (rc != MPI_SUCCESS) return rc;
  constexpr double doubt = 1.25;  // of the prediction
  const bool pays = is_named(choice) || longest[1] < doubt * longest[0];
  if (sum == 0 && longest[1] < unknown_s && pays) *found = std::move(way);
  return MPI_SUCCESS;
}

int NodeAwareCalls::begin(const Neighborhood& neighborhood, NeighborContract contract, const NeighborSides& sides,
                          const CommState& state, const InternedChoice& choice) {
  if (failed_) return MPI_SUCCESS;
  --left_;
  known_ = agreed_ && sides.have(*agreed_);
  if (agreed_ && !known_) ++strays_;
  if (!last_ || !sides.have(*last_)) {
    steady_ = steady_ && !last_;
    last_ = sides.sizes();
  }
  return left_ > 0 ? MPI_SUCCESS : agree(neighborhood, contract, sides, state, choice);
}

int NodeAwareCalls::agree(const Neighborhood& neighborhood, NeighborContract contract, const NeighborSides& sides,
                          const CommState& state, const InternedChoice& choice) {
  constexpr std::uint32_t share = 8;  // one of so many calls may have other sizes
  const Answer mine{.steady = steady_ ? 1 : 0,
                    .known = known_ ? 1 : 0,
                    .few_strays = share * strays_ <= calls_ ? 1 : 0,
                    .minus_ns = minus_ns()};
  Answer answer;
  failed_ = true;  // until it is known that all went well
  constexpr int words = sizeof mine / sizeof(std::int64_t);
  const int asked = PMPI_Allreduce(&mine, &answer, words, MPI_INT64_T, MPI_MIN, state.user_comm());
  if (asked != MPI_SUCCESS) return asked;
  if (answer.steady == 1 && answer.known == 0) {
    operations_.clear();
    joined_ = false;
    if (const int rc = find_node_aware(neighborhood, contract, sides, state, choice, &way_); rc != MPI_SUCCESS)
      return rc;
    agreed_ = sides.sizes();
    known_ = true;
    best_s_ = {unknown_s, unknown_s};
    answer.minus_ns = 0;  // of other sizes
    stretches_ = 0;
    wait_ = 1;
  }
  failed_ = false;
  conclude(answer, is_named(choice));
  return MPI_SUCCESS;
}

std::int64_t NodeAwareCalls::minus_ns() {
  const auto times = std::span(seconds_).first(std::min<std::size_t>(calls_, seconds_.size()));
  std::ranges::sort(times);
  return -static_cast<std::int64_t>(1e9 * median_of_sorted(times));
}

void NodeAwareCalls::conclude(const Answer& least, bool always) {
  // So many calls pass between two questions at most. Sizes that change cost time until the next one.
  constexpr std::uint32_t longest_wait = 1024, longest_wait_joined = 64;
  double& best_s = best_s_[joined_ ? 1 : 0];
  if (least.minus_ns < 0) best_s = std::min(best_s, static_cast<double>(-least.minus_ns) / 1e9);
  const bool stays = least.known == 1 ? least.few_strays == 1 : least.steady == 1;
  joined_ = way_ != nullptr && stays && is_to_join(always);
  wait_ = std::min(2 * wait_, joined_ ? longest_wait_joined : longest_wait);
  left_ = wait_;
  steady_ = true;
  strays_ = 0;
  calls_ = 0;
}

/// At first both ways take turns.
bool NodeAwareCalls::is_to_join(bool always) {
  constexpr int turns = 6;
  if (always) return true;
  if (stretches_ == turns) return best_s_[1] < best_s_[0];
  return stretches_++ % 2 == 0;
}

CallResult execute_changed(const NeighborCall& call, const Neighborhood& neighborhood, const NeighborSides& sides,
                           CommState& state, const NodeAwareWay& way) {
  CallResult result{.by = refer_to(selection()),
                    .reason = "blocks have other sizes than in the calls before",
                    .bytes = sides.send.total_bytes()};
  NeighborSides agreed = sides;
  agreed.send.stage_by(way.sizes.sent);
  agreed.recv.stage_by(way.sizes.received);
  NeighborOperation joined(call, state, way.way(), std::move(agreed));
  result.error = joined.run();
  if (result.error != MPI_SUCCESS) return result;
  const NeighborContract contract = contract_of(call.function);
  Neighborhood changed{.size = neighborhood.size, .rank = neighborhood.rank};
  for (std::size_t e = 0; e < neighborhood.out.size(); ++e) {
    const std::size_t block = contract == NeighborContract::allgather ? 0 : e;
    if (sides.send.bytes_of(block) != way.sizes.sent[block]) changed.out.push_back(neighborhood.out[e]);
  }
  for (std::size_t e = 0; e < neighborhood.in.size(); ++e) {
    if (sides.recv.bytes_of(e) != way.sizes.received[e]) changed.in.push_back(neighborhood.in[e]);
  }
  NeighborSides others;
  others.read(call, changed);
  const Schedule schedule = build_neighbor_direct(changed, contract, own_blocks(changed, contract));
  NeighborOperation straight(call, state, direct_way(schedule, others), others);
  result.error = straight.run();
  return result;
}

}  // namespace circoll::mpi
