#include "symbolic/relative_memory.hpp"

#include <algorithm>

namespace circoll::symbolic {
namespace {

void append(std::vector<Piece>& pieces, std::int64_t count, const RelativeValue& value) {
  if (!pieces.empty() && pieces.back().value == value) {
    pieces.back().count += count;
  } else {
    pieces.push_back({count, value});
  }
}

}  // namespace

RelativeMemory::RelativeMemory(const Schedule& schedule, const Turn& turn, bool by_rank)
    : schedule_(&schedule),
      blocks_per_rank_(turn.is_exchange() ? 0 : turn.blocks_per_rank()),
      by_rank_(by_rank),
      runs_(schedule.buffers.size()),
      live_(schedule.buffers.size(), -1) {
  const CollectiveContract contract = contract_of(schedule.collective, schedule.shape, schedule.segments);
  if (contract.input_buffer == send_buffer || contract.input_count == 0) return;
  const Slot first = contract.input_first;
  put(contract.input_buffer,
      {first, first + contract.input_count, contribution(), schedule.block_of(contract.input_buffer, first)});
}

void RelativeMemory::load(std::span<const Range> ranges, std::vector<Piece>& pieces) const {
  for (Walker w(*schedule_, ranges); !w.done(); w.advance(w.left())) load(w, pieces);
}

void RelativeMemory::load(const Walker& w, std::vector<Piece>& pieces) const {
  if (w.buffer() == send_buffer) return append(pieces, w.left(), contribution());
  const std::size_t storage = storage_of(w.buffer());
  if (live_[storage] >= 0 && live_[storage] != w.buffer()) return append(pieces, w.left(), {});
  const std::vector<Run>& all = runs_[storage];
  Slot slot = w.slot();
  const Slot end = slot + w.left();
  auto run = std::lower_bound(all.begin(), all.end(), slot, [](const Run& r, Slot s) { return r.end <= s; });
  while (slot < end) {
    if (run == all.end() || run->first >= end) return append(pieces, end - slot, {});
    if (run->first > slot) append(pieces, run->first - slot, {});
    slot = std::max(slot, run->first);
    const Slot until = std::min(end, run->end);
    append(pieces, until - slot, run->value);
    slot = until;
    ++run;
  }
}

void RelativeMemory::store(std::span<const Range> ranges, const std::vector<Piece>& pieces) {
  for (const Range& range : ranges) {
    std::int32_t& live = live_[storage_of(range.buffer)];
    if (live == range.buffer) continue;
    if (live >= 0) runs_[storage_of(range.buffer)].clear();
    live = range.buffer;
  }
  auto piece = pieces.begin();
  std::int64_t taken = 0;
  for (Walker w(*schedule_, ranges); !w.done();) {
    const std::int64_t n = std::min(w.left(), piece->count - taken);
    put(w.buffer(), {w.slot(), w.slot() + n, piece->value, w.block()});
    w.advance(n);
    taken += n;
    if (taken < piece->count) continue;
    ++piece;
    taken = 0;
  }
}

RelativeValue RelativeMemory::from_rank(const RelativeValue& value, Block block) const {
  if (!value.of_block || blocks_per_rank_ == 0) return value;
  const Rank p = schedule_->shape.size;
  return {.form = value.form, .turn = (value.turn + block / blocks_per_rank_) % p, .of_block = false};
}

RelativeValue RelativeMemory::from_block(const RelativeValue& value, Block block) const {
  if (value.of_block || blocks_per_rank_ == 0) return value;
  const Rank p = schedule_->shape.size;
  return {.form = value.form, .turn = (value.turn + p - block / blocks_per_rank_ % p) % p, .of_block = true};
}

bool RelativeMemory::of_one_rank(std::int32_t buffer, Slot slot, std::int64_t count) const {
  if (count == 1) return true;
  const Buffer& b = schedule_->buffers[static_cast<std::size_t>(buffer)];
  return blocks_per_rank_ > 0 && b.list.empty() && b.stride == 1 &&
         schedule_->block_of(buffer, slot) % blocks_per_rank_ + count <= blocks_per_rank_;
}

bool RelativeMemory::merged(std::int32_t buffer, Run& run, const Run& next) const {
  if (run.end != next.first || run.value.form != next.value.form) return false;
  if (run.value != next.value) {
    // The value of one rank's blocks may be counted either way.
    const auto counted = [&](const Run& r) {
      return of_one_rank(buffer, r.first, r.end - r.first) ? from_block(r.value, r.block) : r.value;
    };
    const RelativeValue both = counted(run);
    if (!both.of_block || both != counted(next)) return false;
    run.value = both;
  }
  run.end = next.end;
  return true;
}

void RelativeMemory::put(std::int32_t buffer, const Run& run) {
  std::vector<Run>& all = runs_[storage_of(buffer)];
  auto from = std::lower_bound(all.begin(), all.end(), run.first, [](const Run& r, Slot s) { return r.end <= s; });
  auto to = from;
  while (to != all.end() && to->first < run.end) ++to;
  // What is left of the runs that it covers in part.
  Run parts[3];
  std::size_t count = 0;
  if (from != to && from->first < run.first) {
    parts[count] = *from;
    parts[count++].end = run.first;
  } else if (from != all.begin()) {
    --from;
    parts[count++] = *from;
  }
  if (count == 0 || !merged(buffer, parts[count - 1], run)) parts[count++] = run;
  std::optional<Run> rest;
  if (to != all.begin() && to != from && std::prev(to)->end > run.end) {
    rest = *std::prev(to);
    rest->block = schedule_->block_of(buffer, run.end);
    rest->first = run.end;
  } else if (to != all.end()) {
    rest = *to++;
  }
  if (rest && !merged(buffer, parts[count - 1], *rest)) parts[count++] = *rest;
  const auto old = static_cast<std::size_t>(to - from);
  if (old >= count) {
    all.erase(std::copy_n(parts, count, from), to);
  } else {
    std::copy_n(parts, old, from);
    all.insert(to, parts + old, parts + count);
  }
}

}  // namespace circoll::symbolic
