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

/// Stretches of what a step writes, by their places. Finds a slot that it would write twice.
std::optional<Aliasing> find_twice(const Schedule& schedule, const std::vector<Stretch>& written) {
  for (std::size_t i = 1; i < written.size(); ++i) {
    const Stretch& a = written[i - 1];
    const Stretch& b = written[i];
    if (a.buffer == b.buffer && b.first < a.end) {
      return Aliasing{schedule.block_of(b.buffer, b.first), "a slot is written twice by one step"};
    }
    if (a.buffer != b.buffer && storage_of(schedule, a.buffer) == storage_of(schedule, b.buffer)) {
      return Aliasing{schedule.block_of(b.buffer, b.first), "two views of one storage are written by one step"};
    }
  }
  return std::nullopt;
}

/// Finds slots that are written and read for different blocks; `apart`: for any.
std::optional<Aliasing> find_shift(const Schedule& schedule, const std::vector<Stretch>& written, Operand read,
                                   bool apart) {
  const auto shares = [&](const Stretch& a, std::int32_t buffer) {
    return a.buffer != buffer && storage_of(schedule, a.buffer) == storage_of(schedule, buffer);
  };
  for (const Stretch& from : stretches(schedule, read)) {
    // Stretches of what is written are disjoint, so those that overlap follow the last one that begins before.
    auto at = std::upper_bound(written.begin(), written.end(), from, before);
    if (at != written.begin()) --at;
    for (; at != written.end() && !before({from.buffer, from.end, from.end, 0}, *at); ++at) {
      const Slot slot = std::max(at->first, from.first);
      if (at->buffer != from.buffer || slot >= std::min(at->end, from.end)) continue;
      if (apart || at->position - at->first != from.position - from.first) {
        return Aliasing{schedule.block_of(from.buffer, slot), "a slot that it reads for another block is written"};
      }
    }
    const auto view =
        std::find_if(written.begin(), written.end(), [&](const Stretch& s) { return shares(s, from.buffer); });
    if (from.buffer >= first_scratch_buffer && view != written.end()) {
      return Aliasing{schedule.block_of(from.buffer, from.first), "it reads one view of a storage and writes another"};
    }
  }
  return std::nullopt;
}

std::vector<Stretch> sorted_stretches(const Schedule& schedule, Operand o) {
  std::vector<Stretch> result = stretches(schedule, o);
  if (result.size() > 1) std::sort(result.begin(), result.end(), before);
  return result;
}

/// Finds what a message that is combined as it arrives shares with the result or the other operand.
std::optional<Aliasing> find_overlap_of_message(const Schedule& schedule, const Step& step) {
  const std::vector<Stretch> message = sorted_stretches(schedule, message_operand(step));
  if (auto twice = find_twice(schedule, message)) return twice;
  if (auto shared = find_shift(schedule, message, own_operand(step), true)) return shared;
  if (std::ranges::equal(schedule.operand(message_operand(step)), schedule.operand(step.dst))) return std::nullopt;
  return find_shift(schedule, message, step.dst, true);
}

}  // namespace

std::optional<Aliasing> find_aliasing(const Schedule& schedule, const Step& step) {
  const std::vector<Stretch> dst = sorted_stretches(schedule, step.dst);
  if (auto twice = find_twice(schedule, dst)) return twice;
  if (step.kind == StepKind::send || step.kind == StepKind::recv) return std::nullopt;
  for (const Operand o : operands_read(step)) {
    if (auto shift = find_shift(schedule, dst, o, false)) return shift;
  }
  return step.kind == StepKind::recv_reduce ? find_overlap_of_message(schedule, step) : std::nullopt;
}

}  // namespace circoll::verify
