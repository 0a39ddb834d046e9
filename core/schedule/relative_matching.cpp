#include "schedule/relative_matching.hpp"

#include <algorithm>

#include "schedule/walker.hpp"

namespace circoll {
namespace {

Unmatched unmatched(const Schedule& s, StepIndex step, const std::string& what) {
  return {.rank = 0, .step = step, .block = first_block(s, step), .what = what};
}

/// The first i < n at which the block of `here` is not that of `there`, turned; -1 if none.
std::int64_t mismatch(const Walker& there, const Walker& here, std::int64_t n, const Turn& turn) {
  // Where both go on alike, turned blocks do so too, up to the last block of all.
  const bool alike = !turn.is_exchange() && there.stride() && there.stride() == here.stride();
  const bool goes_around = turn.block(there.block()) > turn.block(there.block(n - 1));
  const std::int64_t looked_at = alike && !goes_around ? 1 : n;
  for (std::int64_t i = 0; i < looked_at; ++i) {
    if (turn.block(there.block(i)) != here.block(i)) return i;
  }
  return -1;
}

void check_blocks(const Schedule& s, Rotation rotation, StepIndex send, StepIndex recv) {
  const Turn turn(s, rotation, s.steps[recv].peer);
  const std::string sender = "the send of step " + std::to_string(send) + ", as its rank does it";
  if (s.steps[send].round != s.steps[recv].round) throw unmatched(s, recv, sender + ", is in another round");
  Walker a(s, s.steps[send].left);
  Walker b(s, message_operand(s.steps[recv]));
  while (!a.done() && !b.done()) {
    const std::int64_t n = std::min(a.left(), b.left());
    if (const std::int64_t wrong = mismatch(a, b, n, turn); wrong >= 0) {
      throw Unmatched{
          .rank = 0,
          .step = recv,
          .block = b.block(wrong),
          .what = sender + ", carries block " + std::to_string(turn.block(a.block(wrong))) + " in its place"};
    }
    a.advance(n);
    b.advance(n);
  }
  if (!a.done() || !b.done()) throw unmatched(s, recv, sender + ", has another number of blocks");
}

}  // namespace

RelativeMatching::RelativeMatching(const Schedule& s, Rotation rotation) : partners_(s.steps.size()) {
  const Rank p = s.shape.size;
  std::vector<StepIndex> sends;
  std::vector<StepIndex> recvs;
  for (StepIndex i = 0; i < s.steps.size(); ++i) {
    if (is_message(s.steps[i])) (s.steps[i].kind == StepKind::send ? sends : recvs).push_back(i);
  }
  // Ends that meet have the same distance from sender to receiver.
  const auto distance = [&](StepIndex i) {
    return s.steps[i].kind == StepKind::send ? s.steps[i].peer : (p - s.steps[i].peer) % p;
  };
  const auto by_distance = [&](StepIndex a, StepIndex b) { return distance(a) < distance(b); };
  std::ranges::stable_sort(sends, by_distance);
  std::ranges::stable_sort(recvs, by_distance);
  for (std::size_t i = 0; i < std::max(sends.size(), recvs.size()); ++i) {
    if (i >= recvs.size() || (i < sends.size() && by_distance(sends[i], recvs[i]))) {
      throw unmatched(s, sends[i], "no receive at rank " + std::to_string(s.steps[sends[i]].peer) + " meets this send");
    }
    if (i >= sends.size() || by_distance(recvs[i], sends[i])) {
      throw unmatched(s, recvs[i], "no send of rank " + std::to_string(s.steps[recvs[i]].peer) + " meets this receive");
    }
    check_blocks(s, rotation, sends[i], recvs[i]);
    partners_[sends[i]] = recvs[i];
    partners_[recvs[i]] = sends[i];
  }
}

}  // namespace circoll
