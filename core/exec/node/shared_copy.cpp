#include "exec/node/shared_copy.hpp"

#include <algorithm>

namespace circoll::node {
namespace {

/// Parts end where pages do, if the message begins so.
constexpr std::size_t page = 4096;

}  // namespace

CopyPart CopyPart::of(std::size_t at, std::size_t size, bool alone) {
  const std::size_t left = size - at;
  const std::size_t first = size <= 32 * least ? size / 2 : size / 5 * 2;
  const std::size_t share = alone ? std::max(least_alone, left / 4) : left >= size / 2 ? first : left / 2;
  const std::size_t bytes = std::max(least, share / page * page);
  return {.at = at, .bytes = left < bytes + least / 2 ? left : bytes};
}

std::optional<CopyPart> CopyPart::take(SharedProgress& progress, std::size_t size, std::size_t own) {
  std::uint64_t at = progress.taken.load(std::memory_order_relaxed);
  while (at < size) {
    const CopyPart part = of(at, size, at != 0 && at == own);
    if (progress.taken.compare_exchange_weak(at, at + part.bytes, std::memory_order_relaxed)) return part;
  }
  return std::nullopt;
}

std::size_t SharedWrite::go_on(const DirectCopy& copy) {
  const std::optional<CopyPart> part = CopyPart::take(*progress_, data_.size());
  if (!part) return 0;
  if (!copy.write(to_ + part->at, data_.data() + part->at, part->bytes)) {
    progress_->returned.store(part->at + 1, std::memory_order_release);
    return 0;
  }
  progress_->written.fetch_add(part->bytes, std::memory_order_release);
  return part->bytes;
}

/// A peer that errs lets parts be taken twice.
void SharedRead::account(std::size_t bytes) { own_ += std::min(bytes, into_.size() - own_); }

bool SharedRead::go_on(const DirectCopy& copy) {
  if (over()) return false;
  std::optional<CopyPart> part = failed_ ? std::nullopt : CopyPart::take(*progress_, into_.size(), own_);
  if (!part && !returned_) {
    const std::uint64_t returned = progress_->returned.load(std::memory_order_acquire);
    if (returned == 0 || returned > into_.size()) return false;
    returned_ = true;
    part = CopyPart::of(returned - 1, into_.size());
  }
  if (!part) return false;
  if (!failed_ && !copy.read(into_.data() + part->at, from_ + part->at, part->bytes)) stop();
  account(part->bytes);
  return true;
}

void SharedRead::stop() {
  failed_ = true;
  const std::uint64_t taken = progress_->taken.exchange(into_.size(), std::memory_order_relaxed);
  account(into_.size() - std::min<std::uint64_t>(taken, into_.size()));
}

}  // namespace circoll::node
