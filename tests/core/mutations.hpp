// Mutations: each damages a case in one place, at random, and says if it could.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "circoll/collectives.hpp"
#include "circoll/verify.hpp"
#include "verified_case.hpp"

namespace circoll {

using Mutation = std::function<bool(Case&, std::mt19937&)>;

inline std::size_t pick(std::mt19937& random, std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

/// A random step of a kind at a random rank, or nothing.
struct Place {
  std::size_t rank;
  std::size_t step;
};
inline std::optional<Place> find(const Case& c, std::mt19937& random,
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
inline std::optional<Place> find(const Case& c, std::mt19937& random, StepKind kind) {
  return find(c, random, [kind](const Schedule&, const Step& s) { return s.kind == kind; });
}
inline void erase(Case& c, Place at) {
  auto& steps = c.ranks[at.rank].steps;
  steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at.step));
}
inline Step& step_at(Case& c, Place at) { return c.ranks[at.rank].steps[at.step]; }

inline bool drop_send(Case& c, std::mt19937& random) {
  const auto at = find(c, random, StepKind::send);
  if (at) erase(c, *at);
  return at.has_value();
}
inline bool drop_recv(Case& c, std::mt19937& random) {
  const auto at = find(c, random, StepKind::recv);
  if (at) erase(c, *at);
  return at.has_value();
}
inline bool drop_message(Case& c, std::mt19937& random) {
  // Drops both ends of a message. The messages still match, but something is missing. Only where a rank has one message
  // from this peer.
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
inline bool wrong_peer(Case& c, std::mt19937& random) {
  const auto at = find(c, random, StepKind::send);
  if (!at || c.ranks.size() < 3) return false;
  Step& step = step_at(c, *at);
  const auto p = static_cast<Rank>(c.ranks.size());
  do {
    step.peer = (step.peer + 1) % p;
  } while (step.peer == static_cast<Rank>(at->rank));
  return true;
}
inline bool peer_outside(Case& c, std::mt19937& random) {
  const auto at = find(c, random, StepKind::recv);
  if (at) step_at(c, *at).peer = static_cast<Rank>(c.ranks.size());
  return at.has_value();
}
inline bool swap_operands(Case& c, std::mt19937& random) {
  // This is a fault only where order is promised.
  if (!c.claims.guarantees.rank_order) return false;
  const auto at = find(c, random, StepKind::reduce);
  if (at) std::swap(step_at(c, *at).left, step_at(c, *at).right);
  return at.has_value();
}
inline bool count_twice(Case& c, std::mt19937& random) {
  if (c.claims.needs.idempotent) return false;  // no fault there
  const auto at = find(c, random, StepKind::reduce);
  if (!at) return false;
  Schedule& s = c.ranks[at->rank];
  Step again = s.steps[at->step];
  again.left = again.dst;
  s.steps.insert(s.steps.begin() + static_cast<std::ptrdiff_t>(at->step) + 1, again);
  return true;
}
inline bool forget_reduction(Case& c, std::mt19937& random) {
  const auto at = find(c, random, StepKind::reduce);
  if (at) erase(c, *at);
  return at.has_value();
}
inline bool copy_instead_of_reduction(Case& c, std::mt19937& random) {
  const auto at = find(c, random, StepKind::reduce);
  if (!at) return false;
  step_at(c, *at).kind = StepKind::copy;
  step_at(c, *at).right = {};
  return true;
}
inline bool write_send_buffer(Case& c, std::mt19937& random) {
  const auto at = find(c, random, [](const Schedule& s, const Step& step) {
    return step.kind == StepKind::recv && s.count(step.dst) <= s.buffers[send_buffer].slots;
  });
  if (!at) return false;
  Step& step = step_at(c, *at);
  Schedule& s = c.ranks[at->rank];
  set_operand(s, step.dst, {send_buffer, 0, s.count(step.dst)});
  return true;
}
inline bool shift_blocks(Case& c, std::mt19937& random) {
  // A receive into the neighbouring slots has the right number of blocks, but the wrong ones.
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
inline bool shorten_message(Case& c, std::mt19937& random) {
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
inline bool too_small_scratch(Case& c, std::mt19937& random) {
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
inline bool bigger_user_buffer(Case& c, std::mt19937& random) {
  Schedule& s = c.ranks[pick(random, c.ranks.size())];
  ++s.buffers[recv_buffer].slots;
  return true;
}
inline bool cyclic_wait(Case& c, std::mt19937& random) {
  // Two ranks exchange in one round, and each sends only after it has received.
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
inline bool forget_dependency(Case& c, std::mt19937& random) {
  // A reduction or send no longer waits for the receive that it reads from.
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
inline bool other_round(Case& c, std::mt19937& random) {
  const auto at = find(c, random, [](const Schedule& s, const Step& step) {
    return step.kind == StepKind::send && step.round + 1 < s.rounds;
  });
  if (!at) return false;
  Schedule& s = c.ranks[at->rank];
  for (std::size_t i = at->step; i < s.steps.size(); ++i)
    s.steps[i].round = std::max(s.steps[i].round, s.steps[at->step].round + 1);
  return true;
}
inline bool hidden_round(Case& c, std::mt19937& /*random*/) {
  // All messages of rounds 0 and 1 claim to be in round 0.
  if (c.ranks[0].rounds < 2) return false;
  for (Schedule& s : c.ranks) {
    for (Step& step : s.steps) step.round -= step.round > 0 ? 1 : 0;
    --s.rounds;
  }
  return true;
}
inline bool fewer_rounds_declared(Case& c, std::mt19937& /*random*/) {
  --c.claims.cost->rounds;
  return true;
}
inline bool wrong_volume_declared(Case& c, std::mt19937& /*random*/) {
  ++c.claims.cost->sent;
  return true;
}
inline bool wrong_reductions_declared(Case& c, std::mt19937& /*random*/) {
  ++c.claims.cost->reduced;
  return true;
}
inline bool other_blocks_declared(Case& c, std::mt19937& /*random*/) {
  ++c.claims.path->blocks;
  return true;
}
inline bool one_way_round_declared(Case& c, std::mt19937& /*random*/) {
  ++c.claims.path->one_way;
  return true;
}
inline bool shorter_path_declared(Case& c, std::mt19937& /*random*/) {
  --c.claims.path->volume;
  return true;
}
inline bool longer_one_way_declared(Case& c, std::mt19937& /*random*/) {
  ++c.claims.path->one_way_volume;
  return true;
}
inline bool more_levels_declared(Case& c, std::mt19937& /*random*/) {
  if (c.claims.path->levels == 0) return false;
  ++c.claims.path->levels;
  return true;
}
inline bool fewer_combined_declared(Case& c, std::mt19937& /*random*/) {
  --c.claims.path->combined;
  return true;
}
inline bool false_commutativity(Case& c, std::mt19937& /*random*/) {
  // "It needs no commutative operator."
  if (!c.claims.needs.commutative) return false;
  c.claims.needs.commutative = false;
  return true;
}
inline bool false_same_bits(Case& c, std::mt19937& /*random*/) {
  // Only allreduce/circulant lets ranks associate differently, and only where it combines more than two terms.
  if (c.ranks[0].id != "allreduce/circulant" || c.ranks.size() < 3) return false;
  c.claims.guarantees.same_bits = true;
  return true;
}
inline bool never_written(Case& c, std::mt19937& random) {
  const auto at = find(c, random, StepKind::copy);
  if (at) erase(c, *at);
  return at.has_value();
}
inline bool reused_arrival_buffer(Case& c, std::mt19937& random) {
  // An arrival buffer becomes a view of another buffer that is still in use.
  Schedule& s = c.ranks[pick(random, c.ranks.size())];
  if (s.buffers.size() < 4) return false;
  const std::size_t later = s.buffers.size() - 1;
  if (s.buffers[later].storage != static_cast<std::int32_t>(later) || s.buffers[2].storage != 2) return false;
  // It is a fault only if a step reads buffer 2 after the other buffer has been written over it.
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

inline bool write_slot_twice(Case& c, std::mt19937& random) {
  // A receive of two blocks writes both into the same slot. That is a fault unless all slots hold the same block.
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
inline bool shifted_overlap(Case& c, std::mt19937& random) {
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
inline bool copy_between_views(Case& c, std::mt19937& random) {
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
inline bool wait_in_a_circle(Case& c, std::mt19937& random) {
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

inline bool false_directness(Case& c, std::mt19937&) {
  const bool was = c.claims.guarantees.direct;
  c.claims.guarantees.direct = true;
  const Collective collective = c.ranks[0].collective;
  const bool to_one = is_exchange(collective) || is_gather(collective) || is_scatter(collective);
  return to_one && !was && c.ranks.size() > 3;  // three ranks need nobody between
}
inline bool one_rank_too_many(Case& c, std::mt19937&) {
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

}  // namespace circoll
