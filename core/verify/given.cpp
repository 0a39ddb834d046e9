#include "verify/given.hpp"

#include <string>
#include <utility>

#include "circoll/error.hpp"

namespace circoll {

void check_one_call(std::span<const Schedule> ranks) {
  const auto refuse = [](std::size_t rank, const std::string& what) {
    throw Error(ErrorCode::invalid_argument,
                "the schedule where rank " + std::to_string(rank) + " is expected: " + what);
  };
  if (ranks.empty()) throw Error(ErrorCode::invalid_argument, "there is no schedule in it");
  const Schedule& first = ranks.front();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const Schedule& s = ranks[r];
    if (s.shape.rank != static_cast<Rank>(r) || s.shape.size != static_cast<Rank>(ranks.size()))
      refuse(r, "it is of rank " + std::to_string(s.shape.rank) + " of " + std::to_string(s.shape.size) +
                    ", where rank " + std::to_string(r) + " of " + std::to_string(ranks.size()) +
                    " is expected: a file has all ranks in order");
    if (s.collective != first.collective || s.shape.root != first.shape.root || s.segments != first.segments ||
        s.user_blocks != first.user_blocks || s.rounds != first.rounds)
      refuse(r, "it is of another call than the first one: collective, root, blocks and rounds are those of all ranks");
    const CollectiveContract contract = contract_of(s.collective, s.shape, s.segments);
    if (contract.user_blocks != s.user_blocks)
      refuse(r, std::string(to_string(s.collective)) + " has " + std::to_string(contract.user_blocks) +
                    " blocks here, not " + std::to_string(s.user_blocks));
    if (s.buffers[send_buffer] != contract.send || s.buffers[recv_buffer] != contract.recv)
      refuse(r, "its buffers send and recv are not those that the collective has at this rank");
  }
}

GivenProof prove_given(std::span<const Schedule> ranks, const ProofWatch& watch) {
  GivenProof proof{.claims = {.needs = {.commutative = true}}};
  proof.verdict = verify_schedules(ranks, proof.claims, {}, watch);
  if (!proof.verdict.proven() && proof.verdict.refutation->claim == Claim::exactly_once) {
    Claims idempotent = proof.claims;
    idempotent.needs.idempotent = true;
    if (Verdict again = verify_schedules(ranks, idempotent, {}, watch); again.proven())
      proof = {idempotent, std::move(again)};
  }
  return proof;
}

}  // namespace circoll
