// Proofs about the form of schedules, before anything is executed.
#include "verify/proof.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "circoll/error.hpp"
#include "schedule/walker.hpp"

namespace circoll::verify {
namespace {

/// Every buffer holds only blocks that this rank has, or gets.
void check_direct(const Schedule& s) {
  const Rank p = s.shape.size, rank = s.shape.rank;
  const bool rooted = is_gather(s.collective) || is_scatter(s.collective);
  if (!rooted && !is_exchange(s.collective)) {
    throw Refuted{Claim::direct, rank, -1, -1, "the collective has no blocks between two ranks"};
  }
  const auto is_own = [&](Block user_block) {
    return rooted ? rank == s.shape.root || user_block == rank : user_block / p == rank || user_block % p == rank;
  };
  for (std::size_t buffer = first_scratch_buffer; buffer < s.buffers.size(); ++buffer) {
    for (Slot slot = 0; slot < s.buffers[buffer].slots; ++slot) {
      const Block block = s.block_of(static_cast<std::int32_t>(buffer), slot);
      if (!is_own(block / s.segments)) {
        throw Refuted{Claim::direct, rank, -1, block, "a block between two other ranks passes through"};
      }
    }
  }
}

}  // namespace

void check_structure_of(const Schedule& s, const Claims& claims) {
  const Rank r = s.shape.rank;
  try {
    check_structure(s);
  } catch (const StructureError& error) {
    throw Refuted{Claim::structure, r, error.step(), -1, error.problem()};
  }
  const CollectiveContract contract = contract_of(s.collective, s.shape, s.segments);
  if (s.user_blocks != contract.user_blocks || s.buffers[send_buffer] != contract.send ||
      s.buffers[recv_buffer] != contract.recv) {
    throw Refuted{Claim::structure, r, -1, -1, "the caller's buffers are not those that the collective defines"};
  }
  for (StepIndex i = 0; i < s.steps.size(); ++i) {
    for (const Range& range : s.operand(s.steps[i].dst)) {
      if (range.buffer == send_buffer) {
        throw Refuted{Claim::send_untouched, r, i, s.block_of(range.buffer, range.first), "the send buffer is written"};
      }
      // exscan leaves rank 0 without a result, and its buffer as it was.
      if (s.collective == Collective::exscan && r == 0 && range.buffer == recv_buffer) {
        throw Refuted{Claim::send_untouched, r, i, s.block_of(range.buffer, range.first),
                      "the receive buffer of rank 0 is written"};
      }
    }
  }
  if (claims.guarantees.direct) check_direct(s);
}

void check_structures(const Subject& subject) {
  const Schedule& first = subject.of(0);
  for (Rank r = 0; r < subject.size(); ++r) {
    const Schedule& s = subject.of(r);
    if (s.shape.rank != r || s.shape.size != subject.size() || s.shape.root != first.shape.root ||
        s.collective != first.collective || s.user_blocks != first.user_blocks || s.segments != first.segments) {
      throw Refuted{Claim::structure, r, -1, -1, "the ranks' schedules are not parts of one collective"};
    }
    if (s.rounds != first.rounds) throw Refuted{Claim::rounds, r, -1, -1, "the ranks disagree on the number of rounds"};
    check_structure_of(s, subject.claims);
    subject.done(0.1 * static_cast<double>(r) / static_cast<double>(subject.size()));
  }
}

std::vector<std::int64_t> latest_rounds(const Schedule& s, const Dependencies& d) {
  std::vector<std::int64_t> latest(s.steps.size(), -1);
  for (StepIndex i = 0; i < s.steps.size(); ++i) {
    const Step& step = s.steps[i];
    const std::int64_t passed_on = is_message(step) ? std::max(latest[i], std::int64_t{step.round}) : latest[i];
    for (const StepIndex next : d.successors(i)) latest[next] = std::max(latest[next], passed_on);
  }
  return latest;
}

void check_rounds(const Schedule& s, const Dependencies& d) {
  const Rank r = s.shape.rank;
  const std::vector<std::int64_t> latest = latest_rounds(s, d);
  std::array<std::int64_t, 2> last{-1, -1};
  for (StepIndex i = 0; i < s.steps.size(); ++i) {
    const Step& step = s.steps[i];
    if (!is_message(step)) continue;
    std::int64_t& busy = last[step.kind == StepKind::send ? 0 : 1];
    if (busy == step.round)
      throw Refuted{Claim::rounds, r, i, first_block(s, i),
                    "a second message in the same direction in round " + std::to_string(step.round)};
    busy = step.round;
    if (latest[i] >= step.round)
      throw Refuted{Claim::rounds, r, i, first_block(s, i),
                    "the message waits for another of its own round " + std::to_string(step.round)};
  }
}

}  // namespace circoll::verify
