#include "exec/local/plan_cache.hpp"

#include <algorithm>
#include <functional>

namespace circoll::local {
namespace {

bool same_choice(const Choice& a, const Choice& b) {
  if ((a.selection() == nullptr) != (b.selection() == nullptr) || a.policy() != b.policy()) return false;
  if (a.selection() == nullptr) return a.text() == b.text();
  return a.selection()->algorithm == b.selection()->algorithm &&
         a.selection()->collective == b.selection()->collective && a.selection()->params == b.selection()->params;
}

}  // namespace

std::size_t Signature::hash() const {
  std::uint64_t h = 0;
  const auto mix = [&h](auto value) {
    h = (h ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15U;
    h ^= h >> 32;
  };
  mix(collective);
  mix(prologue);
  mix(in_place);
  mix(root);
  mix(element_bytes);
  mix(count);
  for (const Count c : counts) mix(c);
  for (const Count d : displs) mix(d);
  for (const Count c : send_counts) mix(c);
  for (const Count d : send_displs) mix(d);
  mix(std::hash<std::string_view>{}(choice.text()));
  return static_cast<std::size_t>(h);
}

BoundCall::BoundCall(const Signature& signature)
    : signature_(signature),
      text_(signature.choice.text()),
      counts_(signature.counts.begin(), signature.counts.end()),
      displs_(signature.displs.begin(), signature.displs.end()),
      send_counts_(signature.send_counts.begin(), signature.send_counts.end()),
      send_displs_(signature.send_displs.begin(), signature.send_displs.end()) {
  if (signature.choice.selection() != nullptr) {
    selection_ = *signature.choice.selection();
    signature_.choice = Choice(selection_);
  } else if (signature.choice.policy() == nullptr) {
    signature_.choice = Choice(std::string_view(text_));
  }
  signature_.counts = counts_;
  signature_.displs = displs_;
  signature_.send_counts = send_counts_;
  signature_.send_displs = send_displs_;
}

bool BoundCall::matches(const Signature& s) const {
  const Signature& t = signature_;
  return t.collective == s.collective && t.prologue == s.prologue && t.in_place == s.in_place && t.root == s.root &&
         t.element_bytes == s.element_bytes && t.count == s.count && t.exact_op == s.exact_op &&
         t.predefined_op == s.predefined_op && t.op.commutative == s.op.commutative &&
         t.op.idempotent == s.op.idempotent && std::ranges::equal(t.counts, s.counts) &&
         std::ranges::equal(t.displs, s.displs) && std::ranges::equal(t.send_counts, s.send_counts) &&
         std::ranges::equal(t.send_displs, s.send_displs) && same_choice(t.choice, s.choice);
}

std::size_t BoundCall::memory_bytes() const {
  std::size_t bytes =
      sizeof(BoundCall) + (counts_.size() + displs_.size() + send_counts_.size() + send_displs_.size()) * sizeof(Count);
  bytes += schedule.steps.size() * sizeof(Step) + schedule.ranges.size() * sizeof(Range);
  for (const Buffer& buffer : schedule.buffers) bytes += sizeof(Buffer) + buffer.list.size() * sizeof(Block);
  if (execution) bytes += execution->memory_bytes();
  return bytes;
}

std::shared_ptr<BoundCall> PlanCache::find(const Signature& signature) {
  const auto [begin, end] = calls_.equal_range(signature.hash());
  for (auto at = begin; at != end; ++at) {
    if (!at->second->matches(signature)) continue;
    at->second->last_use = ++clock_;
    return at->second;
  }
  return nullptr;
}

void PlanCache::insert(const Signature& signature, std::shared_ptr<BoundCall> call) {
  const std::size_t bytes = call->memory_bytes();
  make_room(bytes);
  call->last_use = ++clock_;
  bytes_ += bytes;
  calls_.emplace(signature.hash(), std::move(call));
}

void PlanCache::make_room(std::size_t bytes) {
  while (!calls_.empty() && bytes_ + bytes > limit_bytes_) {
    const auto oldest = std::min_element(calls_.begin(), calls_.end(), [](const auto& a, const auto& b) {
      return a.second->last_use < b.second->last_use;
    });
    bytes_ -= oldest->second->memory_bytes();
    calls_.erase(oldest);
  }
}

}  // namespace circoll::local
