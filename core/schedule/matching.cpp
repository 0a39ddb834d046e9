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

}  // namespace circoll
