#include "circoll/builder.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "circoll/error.hpp"

namespace circoll {

void Region::append(Range range) {
  if (range.count == 0) return;
  if (size_ > 0) {
    Range& last = overflow_.empty() ? inline_[size_ - 1] : overflow_.back();
    if (last.buffer == range.buffer && last.first + last.count == range.first) {
      last.count += range.count;
      return;
    }
  }
  if (overflow_.empty() && size_ < std::size(inline_)) {
    inline_[size_++] = range;
    return;
  }
  if (overflow_.empty()) overflow_.assign(std::begin(inline_), std::end(inline_));
  overflow_.push_back(range);
  ++size_;
}

void Region::append(const Region& other) {
  for (const Range& range : other.ranges()) append(range);
}

std::int64_t Region::count() const {
  std::int64_t sum = 0;
  for (const Range& range : ranges()) sum += range.count;
  return sum;
}

Builder::Builder(std::string id, Collective collective, const Shape& shape) {
  schedule_.id = std::move(id);
  schedule_.collective = collective;
  schedule_.shape = shape;
  schedule_.shape.in_place = shape.in_place && has_in_place_schedule(collective, shape);
  schedule_.buffers.resize(first_scratch_buffer);
  cut(1);
}

void Builder::cut(std::int64_t segments) {
  require(schedule_.steps.empty() && schedule_.buffers.size() == first_scratch_buffer, "cut() comes first");
  contract_ = contract_of(schedule_.collective, schedule_.shape, segments);
  schedule_.segments = segments;
  schedule_.user_blocks = contract_.user_blocks;
  schedule_.buffers[send_buffer] = contract_.send;
  schedule_.buffers[recv_buffer] = contract_.recv;
}

std::int64_t Builder::param(std::string_view name, std::int64_t fallback) const {
  const auto found = schedule_.shape.params.find(name);
  return found == schedule_.shape.params.end() ? fallback : found->second;
}

namespace {

const Buffer& buffer_of(const Schedule& schedule, std::int32_t number) {
  require(number >= 0 && static_cast<std::size_t>(number) < schedule.buffers.size(), "no such buffer");
  return schedule.buffers[static_cast<std::size_t>(number)];
}
/// The buffer in which a range begins.
const Buffer& buffer_of(const Schedule& schedule, const Range& range) {
  const Buffer& buffer = buffer_of(schedule, range.buffer);
  require(range.first >= 0 && range.first < buffer.slots, "a range is outside its buffer");
  return buffer;
}

/// Slots [first, first + count) of a stretch of `length` slots from `offset` of a buffer, cyclic within the stretch.
Region stretch(std::int32_t buffer, Slot offset, Slot length, Slot first, Slot count, Slot slots) {
  if (count == 0) return {};
  require(first >= 0 && count >= 0 && count <= length && length > 0, "a range is outside the buffer");
  first %= length;
  if (length == slots) return Range{buffer, first, count};  // the whole buffer: ranges are cyclic by themselves
  const Slot before_end = std::min(count, length - first);
  Region region(Range{buffer, offset + first, before_end});
  region.append(Range{buffer, offset, count - before_end});
  return region;
}

}  // namespace

Region Builder::input(Slot first, Slot count) const {
  const auto& buffer = schedule_.buffers[static_cast<std::size_t>(contract_.input_buffer)];
  return stretch(contract_.input_buffer, contract_.input_first, contract_.input_count, first, count, buffer.slots);
}
Region Builder::input() const { return input(0, contract_.input_count); }
Region Builder::output(Slot first, Slot count) const {
  const auto& buffer = schedule_.buffers[static_cast<std::size_t>(contract_.output_buffer)];
  return stretch(contract_.output_buffer, contract_.output_first, contract_.output_count, first, count, buffer.slots);
}
Region Builder::output() const { return output(0, contract_.output_count); }

std::int32_t Builder::add_buffer(Buffer buffer) {
  const auto number = static_cast<std::int32_t>(schedule_.buffers.size());
  if (buffer.storage == 0) buffer.storage = number;
  const Block blocks = schedule_.blocks();
  if (blocks > 1) {
    buffer.first_block %= blocks;
    buffer.stride %= blocks;
  } else {  // every slot holds the one block
    buffer.first_block = 0;
    buffer.stride = std::min<std::int64_t>(buffer.stride, 1);
  }
  require(buffer.slots >= 0 && buffer.first_block >= 0 && buffer.stride >= 0,
          "slots, first block and stride of a buffer are not negative");
  require(std::ranges::all_of(buffer.list, [&](Block block) { return block >= 0 && block < blocks; }),
          "a buffer lists blocks that there are");
  schedule_.buffers.push_back(std::move(buffer));
  return number;
}

std::int32_t Builder::scratch(Slot slots, Block first_block, std::int64_t stride) {
  return add_buffer({.slots = slots, .first_block = first_block, .stride = stride});
}
std::int32_t Builder::scratch(std::vector<Block> blocks) {
  const auto slots = static_cast<Slot>(blocks.size());
  return add_buffer({.slots = slots, .list = std::move(blocks)});
}
std::int32_t Builder::view(std::int32_t of, Slot slots, Block first_block, std::int64_t stride) {
  require(of >= first_scratch_buffer, "only scratch buffers have views");
  const std::int32_t storage = buffer_of(schedule_, of).storage;
  return add_buffer({.slots = slots, .first_block = first_block, .stride = stride, .storage = storage});
}
std::int32_t Builder::view(std::int32_t of, std::vector<Block> blocks) {
  require(of >= first_scratch_buffer, "only scratch buffers have views");
  const auto slots = static_cast<Slot>(blocks.size());
  return add_buffer({.slots = slots, .list = std::move(blocks), .storage = buffer_of(schedule_, of).storage});
}

Buffer Builder::buffer_like(const Region& like) const {
  Buffer buffer{.slots = like.count()};
  const auto ranges = like.ranges();
  if (ranges.empty()) return buffer;
  // The buffer has a progression if every slot holds the block after the one before (modulo the number of blocks), or
  // all hold the same one. The check goes range by range, so that long cyclic ranges cost nothing.
  const Block blocks = schedule_.blocks();
  bool consecutive = true;
  bool constant = true;
  Block next = -1;
  Block first = -1;
  for (const Range& range : ranges) {
    const Buffer& b = buffer_of(schedule_, range);
    const bool wraps = range.first + range.count > b.slots;
    const bool steady = b.list.empty() && (!wraps || b.slots * b.stride == blocks || b.stride == 0);
    if (range.count > 1) {
      consecutive = consecutive && steady && b.stride == 1;
      constant = constant && steady && b.stride == 0;
    }
    const Block block = schedule_.block_of(range.buffer, range.first);
    if (first < 0) first = block;
    consecutive = consecutive && (next < 0 || next == block);
    constant = constant && block == first;
    next = block + range.count;
    if (blocks > 0) next %= blocks;
  }
  buffer.first_block = first;
  if (consecutive || constant) {
    buffer.stride = consecutive ? 1 : 0;
    return buffer;
  }
  buffer.first_block = 0;
  buffer.list.reserve(static_cast<std::size_t>(buffer.slots));
  for (const Range& range : ranges) {
    const Slot slots = schedule_.buffers[static_cast<std::size_t>(range.buffer)].slots;
    for (Slot i = 0; i < range.count; ++i) {
      buffer.list.push_back(schedule_.block_of(range.buffer, (range.first + i) % slots));
    }
  }
  return buffer;
}

std::int32_t Builder::scratch_like(const Region& like) { return add_buffer(buffer_like(like)); }
std::int32_t Builder::view_like(std::int32_t of, const Region& like) {
  require(of >= first_scratch_buffer, "only scratch buffers have views");
  Buffer buffer = buffer_like(like);
  buffer.storage = buffer_of(schedule_, of).storage;
  return add_buffer(std::move(buffer));
}

Region Builder::region(std::int32_t buffer) const { return region(buffer, 0, buffer_of(schedule_, buffer).slots); }
Region Builder::region(std::int32_t buffer, Slot first, Slot count) const {
  const Slot slots = buffer_of(schedule_, buffer).slots;
  return stretch(buffer, 0, slots, first, count, slots);
}

Region Builder::part(const Region& of, std::int64_t first, std::int64_t count) const {
  require(first >= 0 && count >= 0, "the beginning and the length of a part are not negative");
  Region result;
  for (const Range& range : of.ranges()) {
    if (count == 0) break;
    if (first >= range.count) {
      first -= range.count;
      continue;
    }
    const std::int64_t taken = std::min(count, range.count - first);
    const Slot slots = buffer_of(schedule_, range).slots;
    result.append(Range{range.buffer, (range.first + first) % slots, taken});
    count -= taken;
    first = 0;
  }
  require(count == 0, "a part reaches past the end of its region");
  return result;
}

Operand Builder::store(const Region& region) {
  const auto offset = static_cast<std::uint32_t>(schedule_.ranges.size());
  for (Range range : region.ranges()) {
    const Slot slots = buffer_of(schedule_, range).slots;
    // Adjacent ranges that were merged may go round the buffer more than once.
    for (; range.count > slots; range.count -= slots) schedule_.ranges.push_back({range.buffer, range.first, slots});
    schedule_.ranges.push_back(range);
  }
  return {offset, static_cast<std::uint32_t>(schedule_.ranges.size()) - offset};
}

void Builder::send(Rank to, const Region& from) {
  require(to >= 0 && to < size() && to != rank(), "a message needs a peer other than the rank itself");
  if (from.empty()) return;
  schedule_.steps.push_back({.kind = StepKind::send, .round = round(), .peer = to, .left = store(from)});
}

void Builder::recv(Rank from, const Region& to) {
  require(from >= 0 && from < size() && from != rank(), "a message needs a peer other than the rank itself");
  if (to.empty()) return;
  schedule_.steps.push_back({.kind = StepKind::recv, .round = round(), .peer = from, .dst = store(to)});
}

void Builder::recv_reduce(Rank from, const Region& dst, const Region& left, const Region& right, bool arrives_left) {
  require(from >= 0 && from < size() && from != rank(), "a message needs a peer other than the rank itself");
  require(dst.count() == left.count() && dst.count() == right.count(), "operands of a reduction have equal lengths");
  if (dst.empty()) return;
  const Operand to = store(dst);
  const Operand a = store(left);
  const Operand b = store(right);
  schedule_.steps.push_back({.kind = StepKind::recv_reduce,
                             .arrives_left = arrives_left,
                             .round = round(),
                             .peer = from,
                             .dst = to,
                             .left = a,
                             .right = b});
}

void Builder::reduce(const Region& dst, const Region& left, const Region& right) {
  require(dst.count() == left.count() && dst.count() == right.count(), "operands of a reduction have equal lengths");
  if (dst.empty()) return;
  const Operand to = store(dst);
  const Operand a = store(left);
  const Operand b = store(right);
  schedule_.steps.push_back({.kind = StepKind::reduce, .round = round(), .dst = to, .left = a, .right = b});
}

void Builder::copy(const Region& dst, const Region& src) {
  require(dst.count() == src.count(), "source and destination of a copy have equal lengths");
  if (dst.empty() || std::ranges::equal(dst.ranges(), src.ranges())) return;
  const Operand to = store(dst);
  const Operand from = store(src);
  schedule_.steps.push_back({.kind = StepKind::copy, .round = round(), .dst = to, .left = from});
}

void Builder::sendrecv(Rank to, const Region& out, Rank from, const Region& in) {
  send(to, out);
  recv(from, in);
}

void Builder::next_round() { next_round(1); }
void Builder::next_round(std::uint32_t rounds) { schedule_.rounds += rounds; }

void Builder::edge(StepIndex earlier, StepIndex later) {
  require(earlier < later, "an edge leads from a step to a later one");
  schedule_.edges.emplace_back(earlier, later);
}

void Builder::embed(const Schedule& part, const Embedding& where) {
  const Block outer_blocks = schedule_.blocks();
  const Block part_blocks = part.blocks();
  require(
      where.send.count() == part.buffers[send_buffer].slots && where.recv.count() == part.buffers[recv_buffer].slots,
      "an embedding gives a place to every slot of the part's buffers");
  require(where.ranks.empty() || where.ranks.size() == static_cast<std::size_t>(part.shape.size),
          "an embedding gives a rank to every rank of the part, or to none");
  const auto block_here = [&](Block block) { return (where.first_block + block * where.block_stride) % outer_blocks; };

  // Scratch buffers keep their numbers, shifted; a progression that the block map would bend becomes a list.
  const auto shift = static_cast<std::int32_t>(schedule_.buffers.size()) - first_scratch_buffer;
  for (std::size_t i = first_scratch_buffer; i < part.buffers.size(); ++i) {
    const Buffer& b = part.buffers[i];
    Buffer here{.slots = b.slots, .storage = b.storage + shift};
    const bool bends = b.list.empty() && where.block_stride != 0 && b.slots > 0 &&
                       b.first_block + (b.slots - 1) * b.stride >= part_blocks &&
                       !(part_blocks == outer_blocks && where.block_stride == 1);
    if (b.list.empty() && !bends) {
      here.first_block = block_here(b.first_block);
      here.stride = b.stride * where.block_stride;
    } else {
      for (Slot s = 0; s < b.slots; ++s)
        here.list.push_back(block_here(part.block_of(static_cast<std::int32_t>(i), s)));
    }
    add_buffer(std::move(here));
  }

  const auto place = [&](Operand o) {
    Region region;
    for (const Range& range : part.operand(o)) {
      if (range.buffer >= first_scratch_buffer) {
        region.append(Range{range.buffer + shift, range.first, range.count});
        continue;
      }
      const Region& home = range.buffer == send_buffer ? where.send : where.recv;
      const Slot slots = part.buffers[static_cast<std::size_t>(range.buffer)].slots;
      const Slot before_end = std::min(range.count, slots - range.first);
      region.append(this->part(home, range.first, before_end));
      region.append(this->part(home, 0, range.count - before_end));
    }
    return region;
  };
  const auto rank_here = [&](Rank rank) {
    return where.ranks.empty() ? rank : where.ranks[static_cast<std::size_t>(rank)];
  };

  const std::uint32_t base = schedule_.rounds;
  std::vector<StepIndex> number(part.steps.size());
  for (std::size_t i = 0; i < part.steps.size(); ++i) {
    const Step& step = part.steps[i];
    schedule_.rounds = base + step.round;
    switch (step.kind) {
      case StepKind::send:
        send(rank_here(step.peer), place(step.left));
        break;
      case StepKind::recv:
        recv(rank_here(step.peer), place(step.dst));
        break;
      case StepKind::reduce:
        reduce(place(step.dst), place(step.left), place(step.right));
        break;
      case StepKind::copy:
        copy(place(step.dst), place(step.left));
        break;
      case StepKind::recv_reduce:
        recv_reduce(rank_here(step.peer), place(step.dst), place(step.left), place(step.right), step.arrives_left);
        break;
    }
    number[i] = step_count() == 0 ? 0 : step_count() - 1;  // a copy onto itself has vanished: the step before stands in
  }
  for (const auto& [earlier, later] : part.edges) {
    if (number[earlier] < number[later]) edge(number[earlier], number[later]);
  }
  schedule_.rounds = base + part.rounds;
}

void Builder::take(Schedule finished) {
  const Shape& own = schedule_.shape;
  const Shape& given = finished.shape;
  require(finished.collective == schedule_.collective && given.size == own.size && given.rank == own.rank &&
              given.root == own.root && given.in_place == own.in_place,
          "a finished schedule is taken for its own collective, rank and root");
  finished.id = std::move(schedule_.id);
  finished.shape = std::move(schedule_.shape);
  contract_ = contract_of(finished.collective, finished.shape, finished.segments);
  schedule_ = std::move(finished);
}

Schedule Builder::finish() && { return std::move(schedule_); }

Shape part_shape(const Builder& outer) {
  Shape shape = outer.shape();
  shape.in_place = false;
  return shape;
}

}  // namespace circoll
