#include "symbolic/execution.hpp"

namespace circoll::symbolic {
namespace {

/// Blocks stay themselves when they are copied or combined.
void check_blocks(Rank r, StepIndex i, const Walker& dst, const Walker& from, std::int64_t n) {
  const std::int64_t wrong = dst.mismatch(from, n);
  if (wrong < 0) return;
  throw Refuted{Claim::right_block, r, i, dst.block(wrong),
                "block " + std::to_string(from.block(wrong)) + " is used in its place"};
}

}  // namespace

SymbolicExecution::SymbolicExecution(std::span<const Schedule> ranks, const Matching& matching,
                                     const std::vector<Dependencies>& dependencies, bool at_least_once)
    : ranks_(ranks),
      matching_(&matching),
      dependencies_(&dependencies),
      at_least_once_(at_least_once),
      expressions_(contributes_to_all(ranks[0].collective) ? static_cast<Rank>(ranks.size()) : 1, ranks[0].blocks()) {
  const bool by_rank = contributes_to_all(ranks[0].collective);
  memories_.reserve(ranks.size());
  waiting_.reserve(ranks.size());
  for (Rank r = 0; r < size(); ++r) {
    const Schedule& s = of(r);
    memories_.emplace_back(s, by_rank);
    memories_.back().fill_input(expressions_, contract_of(s.collective, s.shape, s.segments));
    waiting_.push_back(dependencies[static_cast<std::size_t>(r)].in_degree);
    posted_.emplace_back(s.steps.size(), false);
    ended_.emplace_back(s.steps.size(), false);
    chain_.emplace_back(s.steps.size(), 0);
    remaining_ += static_cast<std::int64_t>(s.steps.size());
  }
  for (Rank r = 0; r < size(); ++r) {
    for (StepIndex i = 0; i < of(r).steps.size(); ++i) {
      if (waiting_[static_cast<std::size_t>(r)][i] == 0) ready_.push_back({r, i});
    }
  }
}

SymbolicExecution::SymbolicExecution(std::span<const Schedule> ranks, const Matching& matching,
                                     const std::vector<Dependencies>& dependencies, const SymbolicExecution& before)
    : SymbolicExecution(ranks, matching, dependencies, before.at_least_once_) {
  // NOLINTNEXTLINE(cppcoreguidelines-prefer-member-initializer): a delegating constructor initialises no member
  expressions_ = before.expressions_;
  for (Rank r = 0; r < size(); ++r) memories_[static_cast<std::size_t>(r)].adopt(before.memory(r));
}

void SymbolicExecution::run(const ProofWatch& watch) {
  go(nullptr, {}, watch);
  if (remaining_ > 0) report_deadlock();
}

void SymbolicExecution::run_while(const Gate& gate, const std::vector<bool>& deaf) {
  ready_.insert(ready_.end(), parked_.begin(), parked_.end());
  parked_.clear();
  go(&gate, deaf, {});
}

void SymbolicExecution::lose(StepOfRank send) {
  std::erase_if(parked_, [&](StepOfRank s) { return s.rank == send.rank && s.step == send.step; });
  posted_[static_cast<std::size_t>(send.rank)][send.step] = false;
  finish(send);
}

void SymbolicExecution::tear(Rank rank, StepIndex step) {
  SymbolicMemory& memory = memories_[static_cast<std::size_t>(rank)];
  for (const Operand& written : operands_written(of(rank).steps[step])) {
    enter(rank, written);
    for (Walker w(of(rank), written); !w.done(); w.advance(w.left())) {
      right_values_.assign(static_cast<std::size_t>(w.left()), undefined);
      memory.store(w, right_values_);
    }
  }
}

void SymbolicExecution::go(const Gate* gate, const std::vector<bool>& deaf, const ProofWatch& watch) {
  const auto all = static_cast<double>(remaining_);
  while (!ready_.empty()) {
    if (watch) watch(1 - static_cast<double>(remaining_) / all);
    const StepOfRank now = ready_.back();
    ready_.pop_back();
    if (gate != nullptr && !(*gate)(now)) {
      parked_.push_back(now);
      continue;
    }
    const Step& step = of(now.rank).steps[now.step];
    if (!is_message(step)) {
      local(now.rank, now.step);
      finish(now);
      continue;
    }
    const StepOfRank other = matching_->of(now);
    if (step.kind == StepKind::send && !deaf.empty() && deaf[static_cast<std::size_t>(other.rank)]) {
      finish(now);
      continue;
    }
    if (!posted_[static_cast<std::size_t>(other.rank)][other.step]) {
      posted_[static_cast<std::size_t>(now.rank)][now.step] = true;
      continue;
    }
    step.kind == StepKind::send ? transfer(now, other) : transfer(other, now);
    finish(now);
    finish(other);
  }
}

void SymbolicExecution::finish(StepOfRank done) {
  --remaining_;
  ended_[static_cast<std::size_t>(done.rank)][done.step] = true;
  auto& waiting = waiting_[static_cast<std::size_t>(done.rank)];
  auto& chain = chain_[static_cast<std::size_t>(done.rank)];
  for (const StepIndex next : (*dependencies_)[static_cast<std::size_t>(done.rank)].successors(done.step)) {
    chain[next] = std::max(chain[next], chain[done.step]);
    if (--waiting[next] == 0) ready_.push_back({done.rank, next});
  }
}

void SymbolicExecution::report_deadlock() const {
  for (Rank r = 0; r < size(); ++r) {
    for (StepIndex i = 0; i < of(r).steps.size(); ++i) {
      const bool posted = posted_[static_cast<std::size_t>(r)][i];
      const StepOfRank other = matching_->of({r, i});
      if (posted && other.rank >= 0 && !posted_[static_cast<std::size_t>(other.rank)][other.step]) {
        throw Refuted{
            Claim::no_deadlock, r, i, first_block(of(r), i),
            "it waits forever for step " + std::to_string(other.step) + " of rank " + std::to_string(other.rank)};
      }
    }
  }
  throw Refuted{Claim::no_deadlock, -1, -1, -1, "the steps of a rank wait for one another in a cycle"};
}

std::span<const Value> SymbolicExecution::load(Rank r, StepIndex i, const Walker& w, std::int64_t n,
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

void SymbolicExecution::enter(Rank r, Operand o) {
  for (const Range& range : of(r).operand(o)) memories_[static_cast<std::size_t>(r)].enter(range.buffer);
}

void SymbolicExecution::transfer(StepOfRank from, StepOfRank to) {
  std::int64_t& received = chain_[static_cast<std::size_t>(to.rank)][to.step];
  received = std::max(received, chain_[static_cast<std::size_t>(from.rank)][from.step] + 1);
  levels_ = std::max(levels_, received);
  const Step& receive = of(to.rank).steps[to.step];
  Walker a(of(from.rank), of(from.rank).steps[from.step].left);
  Walker b(of(to.rank), message_operand(receive));
  enter(to.rank, message_operand(receive));
  while (!a.done()) {
    const std::int64_t n = std::min(a.left(), b.left());
    const auto values = load(from.rank, from.step, a, n, left_values_);
    if (observer_ != nullptr) {
      for (std::int64_t i = 0; i < n; ++i)
        observer_->arrived(to.rank, b.buffer(), b.block(i), values[static_cast<std::size_t>(i)]);
    }
    memories_[static_cast<std::size_t>(to.rank)].store(b, values);
    a.advance(n);
    b.advance(n);
  }
  if (receive.kind != StepKind::recv_reduce) return;
  reduce(to.rank, to.step);
  const Schedule& s = of(to.rank);
  if (std::ranges::equal(s.operand(message_operand(receive)), s.operand(receive.dst))) return;
  // An executor need not have put the message anywhere.
  for (Walker w(s, message_operand(receive)); !w.done(); w.advance(w.left())) {
    left_values_.assign(static_cast<std::size_t>(w.left()), undefined);
    memories_[static_cast<std::size_t>(to.rank)].store(w, left_values_);
  }
}

void SymbolicExecution::local(Rank r, StepIndex i) {
  of(r).steps[i].kind == StepKind::copy ? copy(r, i) : reduce(r, i);
}

void SymbolicExecution::copy(Rank r, StepIndex i) {
  const Schedule& s = of(r);
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
    if (observer_ != nullptr) {
      for (std::int64_t j = 0; j < to.left(); ++j)
        observer_->copied(r, to.buffer(), to.block(j), rest[static_cast<std::size_t>(j)]);
    }
    memories_[static_cast<std::size_t>(r)].store(to, rest.first(static_cast<std::size_t>(to.left())));
    rest = rest.subspan(static_cast<std::size_t>(to.left()));
  }
}

void SymbolicExecution::reduce(Rank r, StepIndex i) {
  const Schedule& s = of(r);
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
      if (observer_ != nullptr) observer_->combined(r, left_values_[j], right_values_[j]);
      left_values_[j] = expressions_.combine(left_values_[j], right_values_[j]);
      if (!at_least_once_ && expressions_.leaves_of(left_values_[j]) > static_cast<std::uint64_t>(size())) {
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

}  // namespace circoll::symbolic
