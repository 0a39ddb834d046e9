#include "symbolic/relative_execution.hpp"

#include <algorithm>
#include <string>

#include "symbolic/execution.hpp"
#include "symbolic/expressions.hpp"

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
  // The rests of the runs that `run` covers in part.
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

namespace {

/// Blocks stay themselves when they are copied or combined.
void check_blocks(const Schedule& s, StepIndex step, Operand to, Operand from) {
  Walker b(s, from);
  for (Walker a(s, to); !a.done();) {
    const std::int64_t n = std::min(a.left(), b.left());
    if (const std::int64_t wrong = a.mismatch(b, n); wrong >= 0) {
      throw Refuted{Claim::right_block, 0, step, a.block(wrong),
                    "block " + std::to_string(b.block(wrong)) + " is used in its place"};
    }
    a.advance(n);
    b.advance(n);
  }
}

/// The place of the i-th block of an operand.
Walker at(const Schedule& s, Operand operand, std::int64_t i) {
  Walker w(s, operand);
  while (i >= w.left()) {
    i -= w.left();
    w.advance(w.left());
  }
  if (i > 0) w.advance(i);
  return w;
}

}  // namespace

RelativeExecution::RelativeExecution(const Schedule& schedule, Rotation rotation, const RelativeMatching& matching,
                                     const Dependencies& dependencies, bool at_least_once)
    : schedule_(schedule),
      matching_(matching),
      dependencies_(dependencies),
      at_least_once_(at_least_once),
      expressions_(schedule.shape.size),
      memory_(schedule, Turn(schedule, rotation, 0), contributes_to_all(schedule.collective)),
      waiting_(dependencies.in_degree),
      posted_(schedule.steps.size(), false),
      chain_(schedule.steps.size(), 0) {
  for (StepIndex i = 0; i < schedule.steps.size(); ++i) {
    if (waiting_[i] == 0) ready_.push_back(i);
  }
}

void RelativeExecution::run(const ProofWatch& watch) {
  const auto all = static_cast<double>(schedule_.steps.size());
  while (!ready_.empty()) {
    if (watch) watch(static_cast<double>(ended_) / all);
    const StepIndex now = ready_.back();
    ready_.pop_back();
    const StepKind kind = schedule_.steps[now].kind;
    if (!is_message(kind)) {
      kind == StepKind::copy ? copy(now) : reduce(now);
      finish(now);
      continue;
    }
    const StepIndex other = matching_.of(now);
    if (!posted_[other]) {
      posted_[now] = true;
      continue;
    }
    kind == StepKind::send ? transfer(now, other) : transfer(other, now);
    finish(now);
    finish(other);
  }
  if (ended_ < schedule_.steps.size()) report_deadlock();
}

void RelativeExecution::finish(StepIndex done) {
  ++ended_;
  for (const StepIndex next : dependencies_.successors(done)) {
    chain_[next] = std::max(chain_[next], chain_[done]);
    if (--waiting_[next] == 0) ready_.push_back(next);
  }
}

void RelativeExecution::report_deadlock() const {
  for (StepIndex i = 0; i < schedule_.steps.size(); ++i) {
    if (!posted_[i] || posted_[matching_.of(i)]) continue;
    throw Refuted{Claim::no_deadlock, 0, i, first_block(schedule_, i),
                  "it waits forever for step " + std::to_string(matching_.of(i)) + " of rank " +
                      std::to_string(schedule_.steps[i].peer)};
  }
  throw Refuted{Claim::no_deadlock, -1, -1, -1, "the steps of a rank wait for one another in a cycle"};
}

void RelativeExecution::load(StepIndex step, Operand operand, std::vector<Piece>& pieces) const {
  pieces.clear();
  memory_.load(schedule_.operand(operand), pieces);
  std::int64_t before = 0;
  for (const Piece& piece : pieces) {
    if (piece.value.form == nothing) {
      const Walker w = at(schedule_, operand, before);
      throw Refuted{Claim::defined, 0, step, w.block(),
                    "slot " + std::to_string(w.slot()) + " of buffer " + std::to_string(w.buffer()) +
                        " is read but holds nothing"};
    }
    before += piece.count;
  }
}

void RelativeExecution::transfer(StepIndex send, StepIndex recv) {
  const Step& receive = schedule_.steps[recv];
  chain_[recv] = std::max(chain_[recv], chain_[send] + 1);
  levels_ = std::max(levels_, chain_[recv]);
  load(send, schedule_.steps[send].left, result_);
  // The sender has the values of rank 0, counted from itself.
  for (Piece& piece : result_) {
    if (!piece.value.of_block) piece.value.turn = (piece.value.turn + receive.peer) % schedule_.shape.size;
  }
  memory_.store(schedule_.operand(message_operand(receive)), result_);
  if (receive.kind != StepKind::recv_reduce) return;
  reduce(recv);
  if (std::ranges::equal(schedule_.operand(message_operand(receive)), schedule_.operand(receive.dst))) return;
  // An executor need not have put the message anywhere.
  memory_.store(schedule_.operand(message_operand(receive)),
                {{.count = schedule_.count(message_operand(receive)), .value = {}}});
}

void RelativeExecution::copy(StepIndex step) {
  const Step& copied = schedule_.steps[step];
  check_blocks(schedule_, step, copied.dst, copied.left);
  load(step, copied.left, result_);
  memory_.store(schedule_.operand(copied.dst), result_);
}

void RelativeExecution::reduce(StepIndex step) {
  const Step& reduced = schedule_.steps[step];
  check_blocks(schedule_, step, reduced.dst, reduced.left);
  check_blocks(schedule_, step, reduced.dst, reduced.right);
  load(step, reduced.left, left_);
  load(step, reduced.right, right_);
  result_.clear();
  auto right = right_.begin();
  std::int64_t taken = 0;
  std::int64_t done = 0;
  for (const Piece& left : left_) {
    for (std::int64_t rest = left.count; rest > 0;) {
      const std::int64_t n = std::min(rest, right->count - taken);
      combine(step, left.value, right->value, done, n);
      done += n;
      rest -= n;
      taken += n;
      if (taken < right->count) continue;
      ++right;
      taken = 0;
    }
  }
  memory_.store(schedule_.operand(reduced.dst), result_);
}

void RelativeExecution::combine(StepIndex step, const RelativeValue& left, const RelativeValue& right,
                                std::int64_t before, std::int64_t count) {
  const Rank p = schedule_.shape.size;
  const auto add = [&](const RelativeValue& a, const RelativeValue& b, std::int64_t n) {
    const Form form = expressions_.combine(a.form, b.form, (b.turn - a.turn + p) % p);
    if (!at_least_once_ && expressions_.leaves(form) > p) {
      throw Refuted{Claim::exactly_once, 0, step, at(schedule_, schedule_.steps[step].dst, before).block(),
                    "more contributions than ranks are combined"};
    }
    result_.push_back({n, {.form = form, .turn = a.turn, .of_block = a.of_block}});
  };
  if (left.of_block == right.of_block) return add(left, right, count);
  // Counted from different ranks: block by block.
  Walker w = at(schedule_, schedule_.steps[step].dst, before);
  for (std::int64_t i = 0; i < count; ++i, w.advance()) {
    add(memory_.from_rank(left, w.block()), memory_.from_rank(right, w.block()), 1);
  }
}

}  // namespace circoll::symbolic
