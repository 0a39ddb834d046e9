#include "exec/mpi/serve/operation_parts.hpp"

#include <algorithm>

namespace circoll::mpi {
namespace {

constexpr Count aligned_counts(std::size_t count) {
  return MemoryDivision::aligned(static_cast<Count>(count * sizeof(Count)));
}

std::span<Count> counts_at(std::byte* data, std::size_t count) { return {reinterpret_cast<Count*>(data), count}; }

}  // namespace

void CountExchange::bind(CallerBuffers& user, Rank size, Arena& memory, Binding& binding) {
  const CountPrologue& prologue = *plan_->prologue();
  const Count send = aligned_counts(prologue.send_counts());
  const Count recv = aligned_counts(prologue.recv_counts());
  const Count scratch = aligned_counts(prologue.scratch_counts());
  std::byte* const base = memory.acquire(static_cast<std::size_t>(send + recv + scratch + plan_->staging_bytes()));
  send_ = counts_at(base, prologue.send_counts());
  recv_ = counts_at(base + send, prologue.recv_counts());
  scratch_ = counts_at(base + send + recv, prologue.scratch_counts());
  counts_.resize(std::max(static_cast<std::size_t>(size), prologue.known_blocks().size()));
  const std::span<Count> own(counts_.data(), static_cast<std::size_t>(size));
  user.known_counts(own);
  const bool mark =
      !plan_->named() && is_exchange(user.call().collective) && user.longer_side_bytes() > most_forwarded_bytes;
  prologue.fill(user.own_bytes(), own, send_, recv_, scratch_, mark);
  binding.base = {reinterpret_cast<char*>(send_.data()), reinterpret_cast<char*>(recv_.data()),
                  reinterpret_cast<char*>(scratch_.data())};
  binding.staging = base + send + recv + scratch;
  binding.elements = {};
  binding.elements.extent_bytes = sizeof(Count);
}

void CountExchange::collect(CallerBuffers& user, Arena& memory) {
  const CountPrologue& prologue = *plan_->prologue();
  const std::vector<Block>& blocks = prologue.known_blocks();
  too_long_ = prologue.collect(send_, recv_, scratch_, counts_);
  memory.reset();
  if (forwards() && !user.admits(blocks, counts_)) user.discard(blocks, counts_);
}

void CountExchange::add_to(Signature& signature) const {
  signature.counts = {.values = CountArray::wide(counts_.data()), .size = static_cast<Rank>(counts_.size())};
  signature.send_counts = {};
  signature.blocks = plan_->prologue()->known_blocks();
}

void CountExchange::add_known(const CallerBuffers& user, Signature& signature) const {
  const prepare::SignatureHead& head = signature.head;
  counts_.assign(static_cast<std::size_t>(head.size), 0);
  if (head.rank != head.root) counts_[static_cast<std::size_t>(head.rank)] = user.own_bytes();
  user.known_counts(counts_);
  signature.counts = prepare::numbers_of(counts_);
}

}  // namespace circoll::mpi
