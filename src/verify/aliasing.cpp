#include "verify/aliasing.hpp"

#include <algorithm>
#include <vector>

namespace circoll::verify {
namespace {

/// Adjacent slots, and which blocks of the operand they hold: the position-th and those after it.
struct Stretch {
  std::int32_t buffer;
  Slot first;
  Slot end;
  std::int64_t position;
};

bool before(const Stretch& a, const Stretch& b) {
  return a.buffer != b.buffer ? a.buffer < b.buffer : a.first < b.first;
}

std::vector<Stretch> stretches(const Schedule& schedule, Operand o) {
  std::vector<Stretch> result;
  result.reserve(o.length + 1);
  std::int64_t position = 0;
  for (const Range& range : schedule.operand(o)) {
    const Slot slots = schedule.buffers[static_cast<std::size_t>(range.buffer)].slots;
    const Slot end = range.first + range.count;
    result.push_back({range.buffer, range.first, std::min(end, slots), position});
    if (end > slots) result.push_back({range.buffer, 0, end - slots, position + slots - range.first});
    position += range.count;
  }
  return result;
}

std::int32_t storage_of(const Schedule& schedule, std::int32_t buffer) {
  return schedule.buffers[static_cast<std::size_t>(buffer)].storage;
}

}  // namespace

std::optional<Aliasing> find_aliasing(const Schedule& schedule, const Step& step) {
  std::vector<Stretch> dst = stretches(schedule, step.dst);
  if (dst.size() > 1) std::sort(dst.begin(), dst.end(), before);
  const auto shares = [&](const Stretch& a, std::int32_t buffer) {
    return a.buffer != buffer && storage_of(schedule, a.buffer) == storage_of(schedule, buffer);
  };
  for (std::size_t i = 1; i < dst.size(); ++i) {
    if (dst[i].buffer == dst[i - 1].buffer && dst[i].first < dst[i - 1].end) {
      return Aliasing{schedule.block_of(dst[i].buffer, dst[i].first), "a slot is written twice by one step"};
    }
    if (shares(dst[i - 1], dst[i].buffer)) {
      return Aliasing{schedule.block_of(dst[i].buffer, dst[i].first),
                      "two views of one storage are written by one step"};
    }
  }
  if (step.kind != StepKind::reduce && step.kind != StepKind::copy) return std::nullopt;
  for (const Operand o : {step.left, step.right}) {
    for (const Stretch& from : stretches(schedule, o)) {
      // Stretches of dst are disjoint, so those that overlap this one follow the last one that begins before it.
      auto at = std::upper_bound(dst.begin(), dst.end(), from, before);
      if (at != dst.begin()) --at;
      for (; at != dst.end() && !before({from.buffer, from.end, from.end, 0}, *at); ++at) {
        const Slot slot = std::max(at->first, from.first);
        if (at->buffer != from.buffer || slot >= std::min(at->end, from.end)) continue;
        if (at->position - at->first != from.position - from.first) {
          return Aliasing{schedule.block_of(from.buffer, slot), "a slot that it reads for another block is written"};
        }
      }
      const auto view = std::find_if(dst.begin(), dst.end(), [&](const Stretch& s) { return shares(s, from.buffer); });
      if (from.buffer >= first_scratch_buffer && view != dst.end()) {
        return Aliasing{schedule.block_of(from.buffer, from.first),
                        "it reads one view of a storage and writes another"};
      }
    }
  }
  return std::nullopt;
}

}  // namespace circoll::verify
