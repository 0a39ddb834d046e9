// The verifier is tested by mutation: a correct set of schedules is damaged in one place, and must be
// refuted.
#include "circoll/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include "circoll/error.hpp"

namespace circoll {
namespace {

struct Subject {
  const char* id;
  Params params{};
};

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all{
      {"allreduce/circulant"},
      {"allreduce/circulant_idempotent"},
      {"allreduce/circulant_optimal"},
      {"allreduce/allgather_reduce"},
      {"reduce/circulant_tree"},
      {"reduce/circulant_pipelined", {{"segments", 3}}},
      {"reduce_scatter/circulant"},
      {"reduce_scatter/circulant_optimal"},
      {"reduce_scatter/circulant_ordered"},
      {"allgather/circulant"},
      {"allgather/circulant_optimal"},
      {"gather/circulant"},
      {"scatter/circulant"},
      {"bcast/circulant_pipelined", {{"segments", 4}}},
      {"reduce/binomial"},                     // a tree
      {"allreduce/ring"},                      // a ring
      {"allreduce/rabenseifner"},              // a butterfly
      {"reduce/pipeline", {{"segments", 3}}},  // a pipeline
      {"reduce/split_binary", {{"segments", 2}}},
      {"alltoall/circulant"},
      {"alltoall/linear"},
      {"scan/recursive_doubling"},
      {"exscan/doubling_123"},
  };
  return all;
}

/// Everything that is verified: schedules, dependencies, claims. A mutation changes it and says if it could.
struct Case {
  std::vector<Schedule> ranks;
  std::vector<Dependencies> dependencies;  // empty: derived
  Claims claims;

  [[nodiscard]] Verdict verify() const { return verify_schedules(ranks, claims, dependencies); }
};

Case make_case(const Subject& subject, Rank p, Rank root) {
  const Selection s = parse_selection(subject.id);
  const Shape shape{.size = p, .root = is_rooted(s.collective) ? root : 0, .params = subject.params};
  return {build_all_ranks(*s.algorithm, s.collective, shape),
          {},
          {s.algorithm->needs, s.algorithm->guarantees, s.algorithm->cost(shape),
           critical_path(*s.algorithm, s.collective, shape)}};
}

using Mutation = std::function<bool(Case&, std::mt19937&)>;

std::size_t pick(std::mt19937& random, std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

/// A random step of a kind at a random rank, or nothing.
struct Place {
  std::size_t rank;
  std::size_t step;
};
std::optional<Place> find(const Case& c, std::mt19937& random,
                          const std::function<bool(const Schedule&, const Step&)>& fits) {
  std::vector<Place> places;
  for (std::size_t r = 0; r < c.ranks.size(); ++r) {
    for (std::size_t i = 0; i < c.ranks[r].steps.size(); ++i) {
      if (fits(c.ranks[r], c.ranks[r].steps[i])) places.push_back({r, i});
    }
  }
  if (places.empty()) return std::nullopt;
  return places[pick(random, places.size())];
}
std::optional<Place> find(const Case& c, std::mt19937& random, StepKind kind) {
  return find(c, random, [kind](const Schedule&, const Step& s) { return s.kind == kind; });
}
void erase(Case& c, Place at) {
  auto& steps = c.ranks[at.rank].steps;
  steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at.step));
}
Step& step_at(Case& c, Place at) { return c.ranks[at.rank].steps[at.step]; }

/// Replaces an operand by one range.
void set_operand(Schedule& s, Operand& o, Range range) {
  o = {static_cast<std::uint32_t>(s.ranges.size()), 1};
  s.ranges.push_back(range);
}

bool drop_send(Case& c, std::mt19937& random) {
  const auto at = find(c, random, StepKind::send);
  if (at) erase(c, *at);
  return at.has_value();
}
bool drop_recv(Case& c, std::mt19937& random) {
  const auto at = find(c, random, StepKind::recv);
  if (at) erase(c, *at);
  return at.has_value();
}
bool drop_message(Case& c, std::mt19937& random) {
  // Both ends: the messages still match, but something is missing. Only where a rank has one message from
  // this peer.
  const auto at = find(c, random, [](const Schedule& s, const Step& step) {
    return step.kind == StepKind::recv && std::count_if(s.steps.begin(), s.steps.end(), [&](const Step& other) {
                                            return other.kind == StepKind::recv && other.peer == step.peer;
                                          }) == 1;
  });
  if (!at) return false;
  const auto peer = static_cast<std::size_t>(step_at(c, *at).peer);
  erase(c, *at);
  auto& steps = c.ranks[peer].steps;
  std::erase_if(steps,
                [&](const Step& s) { return s.kind == StepKind::send && s.peer == static_cast<Rank>(at->rank); });
  return true;
}
bool wrong_peer(Case& c, std::mt19937& random) {
  const auto at = find(c, random, StepKind::send);
  if (!at || c.ranks.size() < 3) return false;
  Step& step = step_at(c, *at);
  const auto p = static_cast<Rank>(c.ranks.size());
  do {
    step.peer = (step.peer + 1) % p;
  } while (step.peer == static_cast<Rank>(at->rank));
  return true;
}
bool peer_outside(Case& c, std::mt19937& random) {
  const auto at = find(c, random, StepKind::recv);
  if (at) step_at(c, *at).peer = static_cast<Rank>(c.ranks.size());
  return at.has_value();
}
bool swap_operands(Case& c, std::mt19937& random) {
  // A fault only where order is promised.
  if (!c.claims.guarantees.rank_order) return false;
  const auto at = find(c, random, StepKind::reduce);
  if (at) std::swap(step_at(c, *at).left, step_at(c, *at).right);
  return at.has_value();
}
bool count_twice(Case& c, std::mt19937& random) {
  if (c.claims.needs.idempotent) return false;  // no fault there
  const auto at = find(c, random, StepKind::reduce);
  if (!at) return false;
  Schedule& s = c.ranks[at->rank];
  Step again = s.steps[at->step];
  again.left = again.dst;
  s.steps.insert(s.steps.begin() + static_cast<std::ptrdiff_t>(at->step) + 1, again);
  return true;
}
bool forget_reduction(Case& c, std::mt19937& random) {
  const auto at = find(c, random, StepKind::reduce);
  if (at) erase(c, *at);
  return at.has_value();
}
bool copy_instead_of_reduction(Case& c, std::mt19937& random) {
  const auto at = find(c, random, StepKind::reduce);
  if (!at) return false;
  step_at(c, *at).kind = StepKind::copy;
  step_at(c, *at).right = {};
  return true;
}
bool write_send_buffer(Case& c, std::mt19937& random) {
  const auto at = find(c, random, [](const Schedule& s, const Step& step) {
    return step.kind == StepKind::recv && s.count(step.dst) <= s.buffers[send_buffer].slots;
  });
  if (!at) return false;
  Step& step = step_at(c, *at);
  Schedule& s = c.ranks[at->rank];
  set_operand(s, step.dst, {send_buffer, 0, s.count(step.dst)});
  return true;
}
bool shift_blocks(Case& c, std::mt19937& random) {
  // A receive into the neighbouring slots: the right number of blocks, the wrong ones.
  const auto at = find(c, random, [](const Schedule& s, const Step& step) {
    if (step.kind != StepKind::recv || step.dst.length != 1) return false;
    const Range range = s.operand(step.dst)[0];
    const Slot slots = s.buffers[static_cast<std::size_t>(range.buffer)].slots;
    return range.count < slots &&
           s.block_of(range.buffer, range.first) != s.block_of(range.buffer, (range.first + 1) % slots);
  });
  if (!at) return false;
  Schedule& s = c.ranks[at->rank];
  Range range = s.operand(step_at(c, *at).dst)[0];
  range.first = (range.first + 1) % s.buffers[static_cast<std::size_t>(range.buffer)].slots;
  set_operand(s, step_at(c, *at).dst, range);
  return true;
}
bool shorten_message(Case& c, std::mt19937& random) {
  const auto at = find(c, random, [](const Schedule& s, const Step& step) {
    return step.kind == StepKind::send && s.count(step.left) > 1;
  });
  if (!at) return false;
  Schedule& s = c.ranks[at->rank];
  Step& step = step_at(c, *at);
  const Range first = s.operand(step.left)[0];
  set_operand(s, step.left, {first.buffer, first.first, 1});
  return true;
}
bool too_small_scratch(Case& c, std::mt19937& random) {
  std::vector<Place> used;  // rank and buffer
  for (std::size_t r = 0; r < c.ranks.size(); ++r) {
    for (const Range& range : c.ranks[r].ranges) {
      const Buffer& b = c.ranks[r].buffers[static_cast<std::size_t>(range.buffer)];
      if (range.buffer >= first_scratch_buffer && range.first + range.count == b.slots)
        used.push_back({r, static_cast<std::size_t>(range.buffer)});
    }
  }
  if (used.empty()) return false;
  const Place at = used[pick(random, used.size())];
  Buffer& b = c.ranks[at.rank].buffers[at.step];
  --b.slots;
  if (!b.list.empty()) b.list.pop_back();
  return true;
}
bool bigger_user_buffer(Case& c, std::mt19937& random) {
  Schedule& s = c.ranks[pick(random, c.ranks.size())];
  ++s.buffers[recv_buffer].slots;
  return true;
}
bool cyclic_wait(Case& c, std::mt19937& random) {
  // Two ranks that exchange in one round: each sends only after it has received.
  const auto at = find(c, random, [](const Schedule& s, const Step& step) {
    return step.kind == StepKind::send && std::any_of(s.steps.begin(), s.steps.end(), [&](const Step& other) {
             return other.kind == StepKind::recv && other.round == step.round;
           });
  });
  if (!at) return false;
  const std::uint32_t round = step_at(c, *at).round;
  for (Schedule& s : c.ranks) {
    const auto in_round = [&](StepKind kind) {
      return std::find_if(s.steps.begin(), s.steps.end(),
                          [&](const Step& x) { return x.kind == kind && x.round == round; });
    };
    const auto send = in_round(StepKind::send);
    const auto recv = in_round(StepKind::recv);
    if (send == s.steps.end() || recv == s.steps.end()) return false;
    if (send < recv) std::iter_swap(send, recv);
    const auto first = static_cast<StepIndex>(std::min(send, recv) - s.steps.begin());
    s.edges.emplace_back(first, static_cast<StepIndex>(std::max(send, recv) - s.steps.begin()));
  }
  return true;
}
bool forget_dependency(Case& c, std::mt19937& random) {
  // A reduction or send that does not wait for the receive it reads from.
  for (const Schedule& s : c.ranks) c.dependencies.push_back(derive_dependencies(s));
  std::vector<Place> places;
  for (std::size_t r = 0; r < c.ranks.size(); ++r) {
    for (StepIndex i = 0; i < c.ranks[r].steps.size(); ++i) {
      if (c.ranks[r].steps[i].kind == StepKind::recv && !c.dependencies[r].successors(i).empty())
        places.push_back({r, i});
    }
  }
  if (places.empty()) return false;
  const Place at = places[pick(random, places.size())];
  Dependencies& d = c.dependencies[at.rank];
  const std::uint32_t gone = d.offsets[at.step];
  --d.in_degree[d.targets[gone]];
  d.targets.erase(d.targets.begin() + gone);
  for (std::size_t i = at.step + 1; i < d.offsets.size(); ++i) --d.offsets[i];
  return true;
}
bool other_round(Case& c, std::mt19937& random) {
  const auto at = find(c, random, [](const Schedule& s, const Step& step) {
    return step.kind == StepKind::send && step.round + 1 < s.rounds;
  });
  if (!at) return false;
  Schedule& s = c.ranks[at->rank];
  for (std::size_t i = at->step; i < s.steps.size(); ++i)
    s.steps[i].round = std::max(s.steps[i].round, s.steps[at->step].round + 1);
  return true;
}
bool hidden_round(Case& c, std::mt19937& /*random*/) {
  // All messages of rounds 0 and 1 claim to be in round 0.
  if (c.ranks[0].rounds < 2) return false;
  for (Schedule& s : c.ranks) {
    for (Step& step : s.steps) step.round -= step.round > 0 ? 1 : 0;
    --s.rounds;
  }
  return true;
}
bool fewer_rounds_declared(Case& c, std::mt19937& /*random*/) {
  --c.claims.cost->rounds;
  return true;
}
bool wrong_volume_declared(Case& c, std::mt19937& /*random*/) {
  ++c.claims.cost->sent;
  return true;
}
bool wrong_reductions_declared(Case& c, std::mt19937& /*random*/) {
  ++c.claims.cost->reduced;
  return true;
}
bool other_blocks_declared(Case& c, std::mt19937& /*random*/) {
  ++c.claims.path->blocks;
  return true;
}
bool one_way_round_declared(Case& c, std::mt19937& /*random*/) {
  ++c.claims.path->one_way;
  return true;
}
bool shorter_path_declared(Case& c, std::mt19937& /*random*/) {
  --c.claims.path->volume;
  return true;
}
bool longer_one_way_declared(Case& c, std::mt19937& /*random*/) {
  ++c.claims.path->one_way_volume;
  return true;
}
bool fewer_combined_declared(Case& c, std::mt19937& /*random*/) {
  --c.claims.path->combined;
  return true;
}
bool false_commutativity(Case& c, std::mt19937& /*random*/) {
  // "It needs no commutative operator."
  if (!c.claims.needs.commutative) return false;
  c.claims.needs.commutative = false;
  return true;
}
bool false_same_bits(Case& c, std::mt19937& /*random*/) {
  // Only allreduce/circulant lets ranks associate differently, and only where more than two terms are
  // combined.
  if (c.ranks[0].id != "allreduce/circulant" || c.ranks.size() < 3) return false;
  c.claims.guarantees.same_bits = true;
  return true;
}
bool never_written(Case& c, std::mt19937& random) {
  const auto at = find(c, random, StepKind::copy);
  if (at) erase(c, *at);
  return at.has_value();
}
bool reused_arrival_buffer(Case& c, std::mt19937& random) {
  // An arrival buffer becomes a view of another buffer that is still in use.
  Schedule& s = c.ranks[pick(random, c.ranks.size())];
  if (s.buffers.size() < 4) return false;
  const std::size_t later = s.buffers.size() - 1;
  if (s.buffers[later].storage != static_cast<std::int32_t>(later) || s.buffers[2].storage != 2) return false;
  // A fault only if something is read from buffer 2 after the other one has been written over it.
  const auto touches = [&](Operand o, std::size_t buffer) {
    const auto ranges = s.operand(o);
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const Range& r) { return static_cast<std::size_t>(r.buffer) == buffer; });
  };
  bool overwritten = false;
  bool fault = false;
  for (const Step& step : s.steps) {
    fault = fault || (overwritten && (touches(step.left, 2) || touches(step.right, 2)));
    if (touches(step.dst, later)) overwritten = true;
    if (touches(step.dst, 2)) overwritten = false;
  }
  if (!fault) return false;
  s.buffers[later].storage = 2;
  return true;
}

bool write_slot_twice(Case& c, std::mt19937& random) {
  // A receive of two blocks into the same slot; only where all slots hold the same block is that not a wrong block.
  const auto at = find(c, random, [](const Schedule& s, const Step& step) {
    if (step.kind != StepKind::recv || step.dst.length != 1 || s.count(step.dst) < 2) return false;
    const Range range = s.operand(step.dst)[0];
    return s.block_of(range.buffer, range.first) ==
           s.block_of(range.buffer, (range.first + 1) % s.buffers[static_cast<std::size_t>(range.buffer)].slots);
  });
  if (!at) return false;
  Schedule& s = c.ranks[at->rank];
  Step& step = step_at(c, *at);
  const Range range = s.operand(step.dst)[0];
  step.dst = {static_cast<std::uint32_t>(s.ranges.size()), 2};
  s.ranges.push_back({range.buffer, range.first, range.count - 1});
  s.ranges.push_back({range.buffer, range.first, 1});
  return true;
}
bool shifted_overlap(Case& c, std::mt19937& random) {
  // Before the last step, slots of one block move by one place within their buffer: dst and source overlap.
  Schedule& s = c.ranks[pick(random, c.ranks.size())];
  for (std::int32_t i = first_scratch_buffer; i < static_cast<std::int32_t>(s.buffers.size()); ++i) {
    const Buffer& b = s.buffers[static_cast<std::size_t>(i)];
    if (b.stride != 0 || !b.list.empty() || b.slots < 3) continue;
    Step copy{.kind = StepKind::copy, .round = s.steps.back().round};
    set_operand(s, copy.dst, {i, 1, 2});
    set_operand(s, copy.left, {i, 0, 2});
    s.steps.push_back(copy);
    return true;
  }
  return false;
}
bool copy_between_views(Case& c, std::mt19937& random) {
  Schedule& s = c.ranks[pick(random, c.ranks.size())];
  for (std::size_t i = first_scratch_buffer; i < s.buffers.size(); ++i) {
    Buffer view = s.buffers[i];
    s.buffers.push_back(view);
    Step copy{.kind = StepKind::copy, .round = s.steps.back().round};
    set_operand(s, copy.dst, {static_cast<std::int32_t>(s.buffers.size()) - 1, 0, 1});
    set_operand(s, copy.left, {static_cast<std::int32_t>(i), 0, 1});
    s.steps.push_back(copy);
    return true;
  }
  return false;
}
bool wait_in_a_circle(Case& c, std::mt19937& random) {
  // The dependencies of one rank gain an edge from a step back to one that it waits for.
  for (const Schedule& s : c.ranks) c.dependencies.push_back(derive_dependencies(s));
  std::vector<Place> places;
  for (std::size_t r = 0; r < c.ranks.size(); ++r) {
    for (StepIndex i = 0; i < c.ranks[r].steps.size(); ++i) {
      if (!c.dependencies[r].successors(i).empty()) places.push_back({r, i});
    }
  }
  if (places.empty()) return false;
  const Place at = places[pick(random, places.size())];
  Dependencies& d = c.dependencies[at.rank];
  const StepIndex later = d.successors(static_cast<StepIndex>(at.step))[0];
  d.targets.insert(d.targets.begin() + d.offsets[later + 1], static_cast<StepIndex>(at.step));
  for (std::size_t i = later + 1; i < d.offsets.size(); ++i) ++d.offsets[i];
  ++d.in_degree[at.step];
  return true;
}

bool false_directness(Case& c, std::mt19937&) {
  const bool was = c.claims.guarantees.direct;
  c.claims.guarantees.direct = true;
  return is_exchange(c.ranks[0].collective) && !was && c.ranks.size() > 3;  // three ranks need nobody between
}
bool one_rank_too_many(Case& c, std::mt19937&) {
  // The inclusive prefix where the exclusive one is wanted, and the other way round.
  for (Schedule& s : c.ranks) {
    if (!is_prefix(s.collective)) return false;
    const bool inclusive = s.collective == Collective::scan;
    if (!inclusive) return false;
    s.collective = Collective::exscan;
    // Rank 0 of an exscan has no receive buffer.
    if (s.shape.rank == 0) {
      std::erase_if(s.steps, [](const Step& step) { return step.kind == StepKind::copy; });
      s.buffers[recv_buffer] = Buffer{.storage = recv_buffer};
    }
  }
  return true;
}

struct Named {
  const char* name;
  Mutation mutate;
  int least_refuted;         // of all subjects and sizes: the mutation must apply somewhere
  std::set<Claim> expected;  // what may be refuted first
};

const std::vector<Named>& mutations() {
  static const std::vector<Named> all{
      {"drop_send", drop_send, 30, {Claim::matching}},
      {"drop_recv", drop_recv, 30, {Claim::matching}},
      {"drop_message", drop_message, 30, {Claim::defined, Claim::result, Claim::exactly_once, Claim::rounds}},
      {"wrong_peer", wrong_peer, 30, {Claim::matching}},
      {"peer_outside", peer_outside, 30, {Claim::structure}},
      {"swap_operands", swap_operands, 6, {Claim::rank_order}},
      {"count_twice", count_twice, 20, {Claim::exactly_once}},
      {"forget_reduction", forget_reduction, 20, {Claim::exactly_once, Claim::defined, Claim::result}},
      {"copy_instead_of_reduction", copy_instead_of_reduction, 20, {Claim::exactly_once}},
      {"write_send_buffer", write_send_buffer, 20, {Claim::send_untouched}},
      {"shift_blocks", shift_blocks, 15, {Claim::matching}},
      {"shorten_message", shorten_message, 15, {Claim::matching}},
      {"too_small_scratch", too_small_scratch, 20, {Claim::structure}},
      {"bigger_user_buffer", bigger_user_buffer, 30, {Claim::structure}},
      {"cyclic_wait", cyclic_wait, 10, {Claim::rounds}},
      {"forget_dependency", forget_dependency, 20, {Claim::no_race}},
      {"other_round", other_round, 20, {Claim::matching, Claim::rounds, Claim::structure}},
      {"hidden_round", hidden_round, 20, {Claim::rounds}},
      {"fewer_rounds_declared", fewer_rounds_declared, 30, {Claim::cost}},
      {"wrong_volume_declared", wrong_volume_declared, 30, {Claim::cost}},
      {"wrong_reductions_declared", wrong_reductions_declared, 30, {Claim::cost}},
      {"other_blocks_declared", other_blocks_declared, 30, {Claim::cost}},
      {"one_way_round_declared", one_way_round_declared, 30, {Claim::cost}},
      {"shorter_path_declared", shorter_path_declared, 30, {Claim::cost}},
      {"longer_one_way_declared", longer_one_way_declared, 30, {Claim::cost}},
      {"fewer_combined_declared", fewer_combined_declared, 30, {Claim::cost}},
      {"false_commutativity", false_commutativity, 15, {Claim::rank_order}},
      {"false_same_bits", false_same_bits, 3, {Claim::same_bits}},
      {"never_written", never_written, 10, {Claim::result, Claim::defined, Claim::exactly_once}},
      {"write_slot_twice", write_slot_twice, 3, {Claim::no_race}},
      {"shifted_overlap", shifted_overlap, 3, {Claim::no_race}},
      {"copy_between_views", copy_between_views, 20, {Claim::no_race, Claim::defined}},
      {"wait_in_a_circle", wait_in_a_circle, 30, {Claim::no_deadlock, Claim::rounds}},
      {"false_directness", false_directness, 7, {Claim::direct}},
      {"one_rank_too_many", one_rank_too_many, 8, {Claim::result}},
      {"reused_arrival_buffer", reused_arrival_buffer, 3, {Claim::defined, Claim::no_race, Claim::rounds}},
  };
  return all;
}

class Mutations : public testing::TestWithParam<Named> {};

TEST_P(Mutations, AreRefuted) {
  std::mt19937 random(20261121);
  int refuted = 0;
  for (const Subject& subject : subjects()) {
    for (const Rank p : {3, 4, 5, 7, 8, 9, 11, 16}) {
      Case c = make_case(subject, p, p / 2);
      const Verdict sound = c.verify();
      ASSERT_TRUE(sound.proven()) << sound.refutation->to_string();
      // Nearly every damage changes a count; the other claims must notice it by themselves.
      if (!GetParam().expected.contains(Claim::cost)) {
        c.claims.cost.reset();
        c.claims.path.reset();
      }
      if (!GetParam().mutate(c, random)) continue;
      const Verdict verdict = c.verify();
      EXPECT_FALSE(verdict.proven()) << GetParam().name << " goes unnoticed in " << subject.id << " p=" << p;
      if (!verdict.refutation) continue;
      ++refuted;
      EXPECT_EQ(verdict.refutation->id, parse_selection(subject.id).id());
      EXPECT_EQ(verdict.refutation->size, p);
      EXPECT_TRUE(GetParam().expected.contains(verdict.refutation->claim)) << verdict.refutation->to_string();
      EXPECT_FALSE(verdict.refutation->what.empty());
    }
  }
  EXPECT_GE(refuted, GetParam().least_refuted);
}

INSTANTIATE_TEST_SUITE_P(All, Mutations, testing::ValuesIn(mutations()),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(Refutations, ExscanLeavesTheReceiveBufferOfRankZero) {
  const Selection s = parse_selection("exscan/doubling_123");
  const Shape shape{.size = 4, .in_place = true};
  Case c{build_all_ranks(*s.algorithm, s.collective, shape),
         {},
         {s.algorithm->needs, s.algorithm->guarantees, s.algorithm->cost(shape)}};
  ASSERT_TRUE(c.verify().proven());
  Step copy{.kind = StepKind::copy, .round = c.ranks[0].steps.back().round};
  set_operand(c.ranks[0], copy.dst, {recv_buffer, 0, 1});
  set_operand(c.ranks[0], copy.left, {recv_buffer, 0, 1});
  c.ranks[0].steps.push_back(copy);
  const Verdict verdict = c.verify();
  ASSERT_FALSE(verdict.proven());
  EXPECT_EQ(verdict.refutation->claim, Claim::send_untouched);
}

/// What a refutation says of a fault whose place is known.
TEST(Refutations, NameRankStepAndBlock) {
  Case c = make_case({"allgather/circulant_optimal"}, 5, 0);
  Schedule& s = c.ranks[3];
  const auto recv =
      std::find_if(s.steps.begin(), s.steps.end(), [](const Step& step) { return step.kind == StepKind::recv; });
  const auto index = static_cast<StepIndex>(recv - s.steps.begin());
  set_operand(s, recv->dst, {recv_buffer, 0, 1});
  const Verdict verdict = c.verify();
  ASSERT_FALSE(verdict.proven());
  EXPECT_EQ(verdict.refutation->claim, Claim::matching);
  EXPECT_EQ(verdict.refutation->rank, 3);
  EXPECT_EQ(verdict.refutation->step, index);
  EXPECT_EQ(verdict.refutation->block, 0);
  EXPECT_EQ(verdict.refutation->to_string(),
            "allgather/circulant_optimal p=5 root=0 rank=3 step=" + std::to_string(index) +
                " block=0: matching: the send of rank 4, step 1, carries block 4 in its place");
}

TEST(Refutations, AreOfTheSmallestSize) {
  // An allreduce that forgets rank 5 is right for p <= 5.
  static const Algorithm broken{
      .collectives = {Collective::bcast},
      .name = "broken",
      .cost =
          [](const Shape& shape) {
            return Cost{.rounds = shape.size - 1, .sent = shape.size - 1, .received = shape.size > 1 ? 1 : 0};
          },
      .path = [](const Shape& s) { return CriticalPath{.one_way = s.size - 1, .one_way_volume = s.size - 1}; },
      .build =
          [](Builder& b) {
            for (Rank r = 1; r < b.size(); ++r) {
              if (b.rank() == 0 && r != 5) b.send(r, b.output());
              if (b.rank() == r && r != 5) b.recv(0, b.output());
              b.next_round();
            }
          },
  };
  const auto verdicts =
      verify_range({{&broken, Collective::bcast, {}}}, {.first = 1, .last = 40, .roots = {0}, .jobs = 3});
  ASSERT_TRUE(verdicts[0].refutation.has_value());
  EXPECT_EQ(verdicts[0].refutation->size, 6);
  EXPECT_EQ(verdicts[0].refutation->rank, 5);
  EXPECT_EQ(verdicts[0].refutation->claim, Claim::result);
  EXPECT_EQ(verdicts[0].instances, 5);
}

// Sanitizers make every access dear: fewer p, not fewer algorithms.
#ifdef CIRCOLL_SANITIZED
constexpr Rank last_size = 12;
#else
constexpr Rank last_size = 24;
#endif

TEST(Family, IsProven) {
  std::vector<Selection> all;
  for (const Collective c : all_collectives) {
    for (const Algorithm* a : algorithms_of(c)) all.push_back({a, c, {}});
  }
  for (const RangeVerdict& v : verify_range(all, {.first = 1, .last = last_size, .all_roots = true, .jobs = 2})) {
    EXPECT_FALSE(v.refutation.has_value()) << v.refutation->to_string();
    std::int64_t sizes = 0;
    for (Rank p = 1; p <= last_size; ++p) {
      const OperatorTraits any{.commutative = true, .idempotent = true};
      sizes += unmet_need(*parse_selection(v.id).algorithm, p, any).empty() ? 1 : 0;
    }
    EXPECT_GE(sizes, 4) << v.id;
    EXPECT_GE(v.instances, sizes) << v.id;
  }
}

/// Nodes of so many ranks, trees of that radix, so many chains: all values together, of every algorithm. (Segments vary
/// in every family.)
TEST(Family, IsProvenWithOtherParameters) {
  std::vector<Selection> all;
  for (const Collective c : all_collectives) {
    for (const Algorithm* a : algorithms_of(c)) {
      std::vector<Selection> some{{a, c, {}}};
      for (const ParamDeclaration& param : a->params) {
        if (param.name == "segments") continue;
        std::vector<Selection> more;
        for (const Selection& selection : some) {
          for (const std::int64_t value : {1, 2, 3, 7}) {
            if (value < param.minimum) continue;
            more.push_back(selection);
            more.back().params.insert_or_assign(std::string(param.name), value);
          }
        }
        some = std::move(more);
      }
      if (!some.front().params.empty()) all.insert(all.end(), some.begin(), some.end());
    }
  }
  std::set<std::string> algorithms;
  for (const Selection& s : all) algorithms.insert(s.id());
  EXPECT_TRUE(algorithms.contains("gather/leaders") && algorithms.contains("bcast/knomial"));
  for (const RangeVerdict& v : verify_range(all, {.first = 1, .last = last_size, .all_roots = true, .jobs = 2})) {
    EXPECT_FALSE(v.refutation.has_value()) << v.refutation->to_string();
    EXPECT_GE(v.instances, last_size) << v.id;
  }
}

TEST(Family, CountsWhatThePapersSay) {
  for (Rank p = 2; p <= 70; ++p) {
    std::int64_t q = 0;
    while ((Rank{1} << q) < p) ++q;
    const auto counted = [&](const char* id, Params params = {}) {
      const Selection s = parse_selection(id);
      const Verdict v = verify_algorithm(*s.algorithm, s.collective, {.size = p, .params = std::move(params)});
      EXPECT_TRUE(v.proven()) << v.refutation->to_string();
      return v;
    };
    EXPECT_EQ(counted("reduce_scatter_block/circulant").counted.sent, (1 << q) - 1);
    EXPECT_EQ(counted("reduce_scatter_block/circulant").counted.reduced, p - 1);
    EXPECT_EQ(counted("reduce_scatter_block/circulant_optimal").counted.sent, p - 1);
    EXPECT_EQ(counted("reduce_scatter_block/circulant_optimal").counted.rounds, q);
    EXPECT_EQ(counted("allgather/circulant_optimal").messages, p * q);
    EXPECT_EQ(counted("allreduce/circulant_optimal").counted.sent, 2 * (p - 1));
    EXPECT_EQ(counted("reduce/circulant_tree").messages, p - 1);
    EXPECT_EQ(counted("gather/circulant").messages, p - 1);
    for (const std::int64_t n : {1, 5, 17}) {
      EXPECT_EQ(counted("bcast/circulant_pipelined", {{"segments", n}}).counted.rounds, n - 1 + q);
      EXPECT_EQ(counted("bcast/circulant_pipelined", {{"segments", n}}).messages, n * (p - 1));
      EXPECT_EQ(counted("reduce/circulant_pipelined", {{"segments", n}}).reductions, n * (p - 1));
    }
  }
}

}  // namespace
}  // namespace circoll
