// The gallery of wrong schedules.
#include <algorithm>
#include <utility>

#include "answers.hpp"
#include "circoll/error.hpp"

namespace circoll::explorer {
namespace {

/// A right schedule with everything that its algorithm declares.
Exhibit right(std::string_view id, Rank p) {
  const Selection s = parse_selection(id);
  const Shape shape{.size = p, .params = s.params};
  return {.ranks = build_all_ranks(*s.algorithm, s.collective, shape),
          .claims = {.needs = s.algorithm->needs,
                     .guarantees = s.algorithm->guarantees,
                     .cost = s.algorithm->cost(shape),
                     .path = critical_path(*s.algorithm, s.collective, shape)}};
}

Schedule& rank(Exhibit& exhibit, Rank r) { return exhibit.ranks[static_cast<std::size_t>(r)]; }

/// The first step of a kind in a round or a later one. There is one in every exhibit that asks.
std::vector<Step>::iterator find(Schedule& s, StepKind kind, std::uint32_t round = 0) {
  const auto at = std::find_if(s.steps.begin(), s.steps.end(),
                               [&](const Step& step) { return step.kind == kind && step.round >= round; });
  check(at != s.steps.end(), "there is such a step");
  return at;
}

void set(Schedule& s, Operand& operand, Range range) {
  operand = {static_cast<std::uint32_t>(s.ranges.size()), 1};
  s.ranges.push_back(range);
}

Exhibit forgotten_message() {
  Exhibit e = right("allgather/ring", 6);
  Schedule& from = rank(e, 3);
  from.steps.erase(find(from, StepKind::send, 4));
  Schedule& to = rank(e, 4);
  to.steps.erase(find(to, StepKind::recv, 4));
  return e;
}

Exhibit unexpected_message() {
  Exhibit e = right("bcast/binomial", 8);
  Schedule& s = rank(e, 5);
  s.steps.erase(find(s, StepKind::recv));
  return e;
}

Exhibit all_receive_first() {
  Exhibit e = right("allgather/ring", 6);
  for (Schedule& s : e.ranks) {
    for (std::uint32_t round = 0; round < s.rounds; ++round) {
      auto send = find(s, StepKind::send, round);
      auto recv = find(s, StepKind::recv, round);
      if (send < recv) std::iter_swap(send, recv);
      s.edges.emplace_back(static_cast<StepIndex>(std::min(send, recv) - s.steps.begin()),
                           static_cast<StepIndex>(std::max(send, recv) - s.steps.begin()));
    }
  }
  return e;
}

Exhibit counted_twice() {
  Exhibit e = right("allreduce/circulant_idempotent", 6);
  e.claims.needs.idempotent = false;
  return e;
}

Exhibit forgotten_combination() {
  Exhibit e = right("allreduce/recursive_doubling", 8);
  Schedule& s = rank(e, 6);
  const auto at = find(s, StepKind::reduce, 1);
  at->kind = StepKind::copy;
  at->right = {};
  return e;
}

Exhibit not_in_order() {
  Exhibit e = right("allreduce/circulant", 6);
  e.claims.needs.commutative = false;
  return e;
}

Exhibit swapped_operands() {
  Exhibit e = right("scan/recursive_doubling", 7);
  const auto at = find(rank(e, 5), StepKind::reduce, 1);
  std::swap(at->left, at->right);
  return e;
}

Exhibit different_bits() {
  Exhibit e = right("allreduce/circulant", 7);
  e.claims.guarantees.same_bits = true;
  return e;
}

Exhibit sent_too_early() {
  Exhibit e = right("allgather/ring", 6);
  for (const Schedule& s : e.ranks) e.dependencies.push_back(derive_dependencies(s));
  Schedule& s = rank(e, 2);
  const auto recv = static_cast<StepIndex>(find(s, StepKind::recv, 1) - s.steps.begin());
  Dependencies& d = e.dependencies[2];
  const std::uint32_t gone = d.offsets[recv];
  check(gone < d.offsets[recv + 1], "something waits for it");
  --d.in_degree[d.targets[gone]];
  d.targets.erase(d.targets.begin() + gone);
  for (std::size_t i = recv + 1; i < d.offsets.size(); ++i) --d.offsets[i];
  return e;
}

Exhibit send_buffer_used() {
  Exhibit e = right("allreduce/recursive_doubling", 4);
  Schedule& s = rank(e, 1);
  const auto at = find(s, StepKind::reduce);
  set(s, at->dst, {send_buffer, 0, s.count(at->dst)});
  return e;
}

Exhibit one_slot_off() {
  Exhibit e = right("allgather/ring", 6);
  Schedule& s = rank(e, 4);
  const auto at = find(s, StepKind::copy);
  Range range = s.operand(at->dst)[0];
  range.first = (range.first + 1) % s.buffers[static_cast<std::size_t>(range.buffer)].slots;
  set(s, at->dst, range);
  return e;
}

Exhibit two_rounds_in_one() {
  Exhibit e = right("allgather/bruck", 6);
  for (Schedule& s : e.ranks) {
    for (Step& step : s.steps) step.round -= step.round > 0 ? 1 : 0;
    --s.rounds;
  }
  return e;
}

Exhibit promised_too_much() {
  Exhibit e = right("allreduce/ring", 6);
  e.claims.cost->sent -= 2;
  return e;
}

constexpr Wrong all[] = {
    {"forgotten_message", "A message is forgotten",
     "Allgather on a ring of 6. In the last round rank 3 does not send, and rank 4 does not wait for it: nothing "
     "hangs, "
     "and a test that looks at other ranks passes. One block of one result holds nothing.",
     Claim::result, forgotten_message},
    {"unexpected_message", "Nobody receives",
     "A binomial broadcast to 8 ranks, in which rank 5 does not receive. Every message must meet a receive of the same "
     "blocks in the same round.",
     Claim::matching, unexpected_message},
    {"all_receive_first", "Everybody receives before it sends",
     "Allgather on a ring of 6 with a blocking receive before the send. Every rank waits for the one before it, around "
     "the ring, and nothing moves. The proof need not run it: a message waits for another of its own round.",
     Claim::rounds, all_receive_first},
    {"counted_twice", "Right for max, wrong for sum",
     "An allreduce by doubling on 6 ranks, which are no power of two: the last exchange brings contributions that are "
     "there already. Maxima are right, sums are not.",
     Claim::exactly_once, counted_twice},
    {"forgotten_combination", "A result replaced, not combined",
     "Recursive doubling on 8 ranks, where rank 6 stores what arrives in round 1 in place of combining it.",
     Claim::exactly_once, forgotten_combination},
    {"not_in_order", "Right for sums, wrong for matrices",
     "The circulant allreduce, claimed to be right for operators that do not commute. Every contribution is there "
     "once, "
     "and not in the order of ranks.",
     Claim::rank_order, not_in_order},
    {"swapped_operands", "Left and right exchanged",
     "A scan by doubling on 7 ranks. Rank 5 combines its operands the other way round: right for sums of integers, and "
     "wrong for every operator that does not commute.",
     Claim::rank_order, swapped_operands},
    {"different_bits", "Every rank is right, and all differ",
     "The circulant allreduce on 7 ranks, claimed to give the same bits. Ranks combine the same contributions in other "
     "parentheses, and floating-point sums round otherwise.",
     Claim::same_bits, different_bits},
    {"sent_too_early", "A send that does not wait",
     "Allgather on a ring of 6. Rank 2 passes a block on without waiting until it has come. Most runs are right.",
     Claim::no_race, sent_too_early},
    {"send_buffer_used", "The caller's send buffer is written",
     "Recursive doubling on 4 ranks. Rank 1 combines into the send buffer, which MPI lets nobody write.",
     Claim::send_untouched, send_buffer_used},
    {"one_slot_off", "One slot too far",
     "Allgather on a ring of 6. Rank 4 puts its own block into its neighbour's place.", Claim::right_block,
     one_slot_off},
    {"two_rounds_in_one", "A round too few is claimed",
     "Bruck's allgather on 6 ranks, whose first two rounds are said to be one. A rank has one message each way in a "
     "round.",
     Claim::rounds, two_rounds_in_one},
    {"promised_too_much", "Cheaper than it is",
     "The ring allreduce on 6 ranks, declared to send two blocks less. Costs are counted, not believed.", Claim::cost,
     promised_too_much},
};

}  // namespace

std::span<const Wrong> gallery() { return all; }

std::string ask_gallery(Sessions& /*sessions*/, const json& /*question*/) {
  json list = json::array();
  for (const Wrong& wrong : gallery()) {
    list.push_back(
        {{"name", wrong.name}, {"title", wrong.title}, {"lesson", wrong.lesson}, {"claim", to_string(wrong.refuted)}});
  }
  return list.dump();
}

std::string ask_open_wrong(Sessions& sessions, const json& question) {
  const auto name = question.at("name").get<std::string>();
  const auto list = gallery();
  const auto wrong = std::find_if(list.begin(), list.end(), [&](const Wrong& w) { return w.name == name; });
  if (wrong == list.end()) throw Error(ErrorCode::unknown_name, "there is no wrong schedule '" + name + "'");
  Exhibit exhibit = wrong->make();
  auto session = std::make_unique<Session>(std::move(exhibit.ranks), Origin{.claims = exhibit.claims},
                                           std::move(exhibit.dependencies));
  return described(sessions.put(question, std::move(session)));
}

}  // namespace circoll::explorer
