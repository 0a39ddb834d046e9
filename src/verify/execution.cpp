#include "verify/execution.hpp"

#include <algorithm>
#include <string>

#include "verify/aliasing.hpp"
#include "verify/races.hpp"
#include "verify/refuted.hpp"
#include "verify/structure.hpp"

namespace circoll::verify {
namespace {

/// Blocks stay themselves when they are copied or combined.
void check_blocks(Rank r, StepIndex i, const Walker& dst, const Walker& from, std::int64_t n) {
  const std::int64_t wrong = dst.mismatch(from, n);
  if (wrong < 0) return;
  throw Refuted{Claim::right_block, r, i, dst.block(wrong),
                "block " + std::to_string(from.block(wrong)) + " is used in its place"};
}

}  // namespace

Execution::Execution(const Subject& subject, const Matching& matching, std::span<const Dependencies> given)
    : subject_(subject),
      matching_(matching),
      expressions_(subject.by_rank() ? subject.size() : 1, subject.of(0).blocks()) {
  memories_.reserve(subject.ranks.size());
  dependencies_.reserve(subject.ranks.size());
  for (Rank r = 0; r < subject.size(); ++r) prepare(r, given);
}

void Execution::prepare(Rank r, std::span<const Dependencies> given) {
  const Schedule& s = subject_.of(r);
  memories_.emplace_back(s, subject_.by_rank());
  memories_.back().fill_input(expressions_, contract_of(s.collective, s.shape, s.segments));
  dependencies_.push_back(given.empty() ? derive_dependencies(s) : given[static_cast<std::size_t>(r)]);
  check_rounds(s, dependencies_.back());
  for (StepIndex i = 0; i < s.steps.size(); ++i) {
    if (const auto aliasing = find_aliasing(s, s.steps[i])) {
      throw Refuted{Claim::no_race, r, i, aliasing->block, aliasing->what};
    }
  }
  if (const auto race = find_race(s, dependencies_.back())) {
    throw Refuted{Claim::no_race, r, race->later, s.block_of(race->buffer, race->slot),
                  "it may run before step " + std::to_string(race->earlier) + " has ended, and they share slot " +
                      std::to_string(race->slot) + " of buffer " + std::to_string(race->buffer)};
  }
}

void Execution::run() {
  waiting_.reserve(subject_.ranks.size());
  posted_.resize(subject_.ranks.size());
  chain_.resize(subject_.ranks.size());
  std::int64_t remaining = 0;
  for (Rank r = 0; r < subject_.size(); ++r) {
    waiting_.push_back(dependencies_[static_cast<std::size_t>(r)].in_degree);
    posted_[static_cast<std::size_t>(r)].assign(subject_.of(r).steps.size(), false);
    chain_[static_cast<std::size_t>(r)].assign(subject_.of(r).steps.size(), 0);
    remaining += static_cast<std::int64_t>(subject_.of(r).steps.size());
  }
  for (Rank r = 0; r < subject_.size(); ++r) {
    for (StepIndex i = 0; i < subject_.of(r).steps.size(); ++i) {
      if (dependencies_[static_cast<std::size_t>(r)].in_degree[i] == 0) ready_.push_back({r, i});
    }
  }
  while (!ready_.empty()) {
    const StepOfRank now = ready_.back();
    ready_.pop_back();
    const Step& step = subject_.of(now.rank).steps[now.step];
    if (!is_message(step)) {
      local(now.rank, now.step);
      finish(now);
      --remaining;
      continue;
    }
    const StepOfRank other = matching_.of(now);
    if (!posted_[static_cast<std::size_t>(other.rank)][other.step]) {
      posted_[static_cast<std::size_t>(now.rank)][now.step] = true;
      continue;
    }
    step.kind == StepKind::send ? transfer(now, other) : transfer(other, now);
    finish(now);
    finish(other);
    remaining -= 2;
  }
  if (remaining > 0) report_deadlock();
}

void Execution::finish(StepOfRank done) {
  auto& waiting = waiting_[static_cast<std::size_t>(done.rank)];
  auto& chain = chain_[static_cast<std::size_t>(done.rank)];
  for (const StepIndex next : dependencies_[static_cast<std::size_t>(done.rank)].successors(done.step)) {
    chain[next] = std::max(chain[next], chain[done.step]);
    if (--waiting[next] == 0) ready_.push_back({done.rank, next});
  }
}

void Execution::report_deadlock() const {
  for (Rank r = 0; r < subject_.size(); ++r) {
    for (StepIndex i = 0; i < subject_.of(r).steps.size(); ++i) {
      const bool posted = posted_[static_cast<std::size_t>(r)][i];
      const StepOfRank other = matching_.of({r, i});
      if (posted && other.rank >= 0 && !posted_[static_cast<std::size_t>(other.rank)][other.step]) {
        throw Refuted{
            Claim::no_deadlock, r, i, first_block(subject_.of(r), i),
            "it waits forever for step " + std::to_string(other.step) + " of rank " + std::to_string(other.rank)};
      }
    }
  }
  throw Refuted{Claim::no_deadlock, -1, -1, -1, "the steps of a rank wait for one another in a cycle"};
}

std::span<const Value> Execution::load(Rank r, StepIndex i, const Walker& w, std::int64_t n,
                                       std::vector<Value>& buffer) {
  buffer.resize(static_cast<std::size_t>(n));
  memories_[static_cast<std::size_t>(r)].load(expressions_, w, buffer);
  const auto hole = std::find(buffer.begin(), buffer.end(), undefined);
  if (hole != buffer.end()) {
    const std::int64_t at = hole - buffer.begin();
    throw Refuted{Claim::defined, r, i, w.block(at),
                  "slot " + std::to_string(w.slot() + at) + " of buffer " + std::to_string(w.buffer()) +
                      " is read but holds nothing"};
  }
  return buffer;
}

void Execution::enter(Rank r, Operand o) {
  for (const Range& range : subject_.of(r).operand(o)) memories_[static_cast<std::size_t>(r)].enter(range.buffer);
}

void Execution::transfer(StepOfRank from, StepOfRank to) {
  std::int64_t& received = chain_[static_cast<std::size_t>(to.rank)][to.step];
  received = std::max(received, chain_[static_cast<std::size_t>(from.rank)][from.step] + 1);
  levels_ = std::max(levels_, received);
  const Step& receive = subject_.of(to.rank).steps[to.step];
  Walker a(subject_.of(from.rank), subject_.of(from.rank).steps[from.step].left);
  Walker b(subject_.of(to.rank), message_operand(receive));
  enter(to.rank, message_operand(receive));
  while (!a.done()) {
    const std::int64_t n = std::min(a.left(), b.left());
    memories_[static_cast<std::size_t>(to.rank)].store(b, load(from.rank, from.step, a, n, left_values_));
    a.advance(n);
    b.advance(n);
  }
  if (receive.kind != StepKind::recv_reduce) return;
  reduce(to.rank, to.step);
  const Schedule& s = subject_.of(to.rank);
  if (std::ranges::equal(s.operand(message_operand(receive)), s.operand(receive.dst))) return;
  // An executor need not have put the message anywhere.
  for (Walker w(s, message_operand(receive)); !w.done(); w.advance(w.left())) {
    left_values_.assign(static_cast<std::size_t>(w.left()), undefined);
    memories_[static_cast<std::size_t>(to.rank)].store(w, left_values_);
  }
}

void Execution::local(Rank r, StepIndex i) {
  subject_.of(r).steps[i].kind == StepKind::copy ? copy(r, i) : reduce(r, i);
}

void Execution::copy(Rank r, StepIndex i) {
  const Schedule& s = subject_.of(r);
  const Step& step = s.steps[i];
  Walker dst(s, step.dst);
  Walker left(s, step.left);
  std::vector<Value> moved;  // all of it before the first store: a copy may shift within a buffer
  while (!left.done()) {
    const std::int64_t n = std::min(left.left(), dst.left());
    check_blocks(r, i, dst, left, n);
    const auto values = load(r, i, left, n, left_values_);
    moved.insert(moved.end(), values.begin(), values.end());
    left.advance(n);
    dst.advance(n);
  }
  enter(r, step.dst);
  std::span<const Value> rest = moved;
  for (Walker to(s, step.dst); !to.done(); to.advance(to.left())) {
    memories_[static_cast<std::size_t>(r)].store(to, rest.first(static_cast<std::size_t>(to.left())));
    rest = rest.subspan(static_cast<std::size_t>(to.left()));
  }
}

void Execution::reduce(Rank r, StepIndex i) {
  const Schedule& s = subject_.of(r);
  const Step& step = s.steps[i];
  enter(r, step.dst);
  Walker dst(s, step.dst);
  Walker left(s, step.left);
  Walker right(s, step.right);
  while (!dst.done()) {
    const std::int64_t n = std::min({dst.left(), left.left(), right.left()});
    check_blocks(r, i, dst, left, n);
    check_blocks(r, i, dst, right, n);
    load(r, i, left, n, left_values_);
    load(r, i, right, n, right_values_);
    for (std::size_t j = 0; j < left_values_.size(); ++j) {
      left_values_[j] = expressions_.combine(left_values_[j], right_values_[j]);
      if (!subject_.at_least_once() &&
          expressions_.leaves_of(left_values_[j]) > static_cast<std::uint64_t>(subject_.size())) {
        throw Refuted{Claim::exactly_once, r, i, dst.block(static_cast<std::int64_t>(j)),
                      "more contributions than ranks are combined"};
      }
    }
    memories_[static_cast<std::size_t>(r)].store(dst, left_values_);
    dst.advance(n);
    left.advance(n);
    right.advance(n);
  }
}

}  // namespace circoll::verify
