#include "schedule/matching.hpp"

#include <algorithm>

#include "schedule/walker.hpp"

namespace circoll {

Matching::Matching(std::span<const Schedule> ranks) : ranks_(ranks) {
  partners_.resize(ranks_.size());
  std::vector<std::vector<StepIndex>> sends(ranks_.size());  // of each rank, by peer, then in program order
  std::vector<std::vector<StepIndex>> recvs(ranks_.size());
  for (Rank r = 0; r < size(); ++r) {
    const Schedule& s = of(r);
    partners_[static_cast<std::size_t>(r)].resize(s.steps.size());
    for (StepIndex i = 0; i < s.steps.size(); ++i) {
      if (is_message(s.steps[i]))
        (s.steps[i].kind == StepKind::send ? sends : recvs)[static_cast<std::size_t>(r)].push_back(i);
    }
    const auto by_peer = [&](StepIndex a, StepIndex b) { return s.steps[a].peer < s.steps[b].peer; };
    std::stable_sort(sends[static_cast<std::size_t>(r)].begin(), sends[static_cast<std::size_t>(r)].end(), by_peer);
    std::stable_sort(recvs[static_cast<std::size_t>(r)].begin(), recvs[static_cast<std::size_t>(r)].end(), by_peer);
  }
  for (Rank r = 0; r < size(); ++r) {
    const Schedule& s = of(r);
    const auto& own = sends[static_cast<std::size_t>(r)];
    for (std::size_t i = 0; i < own.size();) {
      const Rank peer = s.steps[own[i]].peer;
      const Schedule& t = of(peer);
      const auto& theirs = recvs[static_cast<std::size_t>(peer)];
      auto next = std::lower_bound(theirs.begin(), theirs.end(), r,
                                   [&](StepIndex step, Rank rank) { return t.steps[step].peer < rank; });
      for (; i < own.size() && s.steps[own[i]].peer == peer; ++i, ++next) {
        if (next == theirs.end() || t.steps[*next].peer != r) {
          throw Unmatched{r, own[i], first_block(s, own[i]),
                          "no receive at rank " + std::to_string(peer) + " meets this send"};
        }
        pair(r, own[i], peer, *next);
      }
    }
  }
  for (Rank r = 0; r < size(); ++r) {
    for (const StepIndex i : recvs[static_cast<std::size_t>(r)]) {
      if (partners_[static_cast<std::size_t>(r)][i].rank >= 0) continue;
      throw Unmatched{r, i, first_block(of(r), i),
                      "no send of rank " + std::to_string(of(r).steps[i].peer) + " meets this receive"};
    }
  }
}

void Matching::pair(Rank from, StepIndex send, Rank to, StepIndex recv) {
  partners_[static_cast<std::size_t>(from)][send] = {to, recv};
  partners_[static_cast<std::size_t>(to)][recv] = {from, send};
  const Schedule& s = of(from);
  const Schedule& t = of(to);
  const auto refute = [&](Block block, const std::string& what) {
    throw Unmatched{to, recv, block,
                    "the send of rank " + std::to_string(from) + ", step " + std::to_string(send) + what};
  };
  if (s.steps[send].round != t.steps[recv].round) refute(first_block(t, recv), ", is in another round");
  Walker a(s, s.steps[send].left);
  Walker b(t, message_operand(t.steps[recv]));
  while (!a.done() && !b.done()) {
    const std::int64_t n = std::min(a.left(), b.left());
    const std::int64_t wrong = a.mismatch(b, n);
    if (wrong >= 0) refute(b.block(wrong), ", carries block " + std::to_string(a.block(wrong)) + " in its place");
    a.advance(n);
    b.advance(n);
  }
  if (!a.done() || !b.done()) refute(first_block(t, recv), ", has another number of blocks");
}

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
