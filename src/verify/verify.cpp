// The symbolic executor: all ranks' schedules at once, on expressions instead of data.
#include "circoll/verify.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "circoll/error.hpp"
#include "verify/aliasing.hpp"
#include "verify/count_path.hpp"
#include "verify/expressions.hpp"
#include "verify/races.hpp"

namespace circoll {

std::string_view to_string(Claim claim) {
  static constexpr std::array<std::string_view, 15> names{
      "structure",    "buildable", "matching",   "no_deadlock", "no_race", "defined", "right_block", "send_untouched",
      "exactly_once", "result",    "rank_order", "same_bits",   "rounds",  "cost",    "direct"};
  return names[static_cast<std::size_t>(claim)];
}

std::string Refutation::to_string() const {
  std::string text = id;
  for (const auto& [key, value] : params) text += " " + key + "=" + std::to_string(value);
  text += " p=" + std::to_string(size) + " root=" + std::to_string(root);
  if (in_place) text += " in place";
  if (rank >= 0) text += " rank=" + std::to_string(rank);
  if (step >= 0) text += " step=" + std::to_string(step);
  if (block >= 0) text += " block=" + std::to_string(block);
  return text + ": " + std::string(circoll::to_string(claim)) + ": " + what;
}

namespace {

using verify::Expressions;
using verify::undefined;
using verify::Value;

/// Thrown inside the verifier, turned into a Refutation at its edge.
struct Refuted {
  Claim claim;
  Rank rank;
  std::int64_t step;
  Block block;
  std::string what;
};

/// The other end of a message.
struct Partner {
  Rank rank = -1;
  StepIndex step = 0;
};

bool is_message(const Step& step) { return step.kind == StepKind::send || step.kind == StepKind::recv; }
Operand message_operand(const Step& step) { return step.kind == StepKind::send ? step.left : step.dst; }

/// Walks over the slots of an operand, in runs: left() adjacent slots from slot(), that hold the blocks block(0),
/// block(1), ...; so that long ranges cost little.
class Walker {
 public:
  Walker(const Schedule& schedule, Operand o) : schedule_(&schedule), ranges_(schedule.operand(o)) { settle(); }

  [[nodiscard]] bool done() const { return ranges_.empty(); }
  [[nodiscard]] std::int32_t buffer() const { return ranges_.front().buffer; }
  [[nodiscard]] Slot slot() const { return slot_; }
  /// The block in slot() + i, i < left().
  [[nodiscard]] Block block(std::int64_t i = 0) const { return list_ != nullptr ? list_[i] : block_ + i * stride_; }
  [[nodiscard]] std::int64_t left() const { return left_; }
  /// Goes on by n <= left() slots.
  void advance(std::int64_t n = 1) {
    taken_ += n;
    if (taken_ == ranges_.front().count) {
      taken_ = 0;
      ranges_ = ranges_.subspan(1);
      settle();
    } else if (n < left_) {
      slot_ += n;
      left_ -= n;
      if (list_ != nullptr) {
        list_ += n;
      } else {
        block_ += n * stride_;
      }
    } else {
      settle();
    }
  }

  /// The first i < n at which the blocks differ; -1 if none does.
  [[nodiscard]] std::int64_t mismatch(const Walker& other, std::int64_t n) const {
    const bool alike = list_ == nullptr && other.list_ == nullptr && stride_ == other.stride_;
    for (std::int64_t i = 0; i < (alike ? 1 : n); ++i) {
      if (block(i) != other.block(i)) return i;
    }
    return -1;
  }

 private:
  /// Finds the longest run from the current place: up to the end of the range, of the buffer, or of the blocks.
  void settle() {
    if (ranges_.empty()) return;
    const Range& range = ranges_.front();
    const Buffer& buffer = schedule_->buffers[static_cast<std::size_t>(range.buffer)];
    slot_ = range.first + taken_;
    if (slot_ >= buffer.slots) slot_ -= buffer.slots;
    left_ = std::min(range.count - taken_, buffer.slots - slot_);
    list_ = buffer.list.empty() ? nullptr : buffer.list.data() + slot_;
    if (list_ != nullptr) return;
    stride_ = buffer.stride;
    block_ = buffer.first_block + slot_ * stride_;
    if (block_ >= schedule_->blocks()) block_ %= schedule_->blocks();
    if (left_ > 1 && stride_ > 0) left_ = std::min(left_, (schedule_->blocks() - 1 - block_) / stride_ + 1);
  }
  const Schedule* schedule_;
  std::span<const Range> ranges_;
  std::int64_t taken_ = 0;  // of the first range
  Slot slot_ = 0;
  std::int64_t left_ = 0;
  const Block* list_ = nullptr;  // the blocks, if listed; else block_, block_ + stride_, ...
  Block block_ = 0;
  std::int64_t stride_ = 1;
};

/// The memory of one rank: a value per slot, views of one storage in the same place, the send buffer implied.
class Memory {
 public:
  Memory(const Schedule& schedule, bool contributions_by_rank)
      : schedule_(&schedule),
        offset_(schedule.buffers.size(), 0),
        live_(schedule.buffers.size(), -1),
        by_rank_(contributions_by_rank) {
    std::vector<Slot> size(schedule.buffers.size(), 0);
    for (std::size_t i = 1; i < schedule.buffers.size(); ++i) {
      Slot& s = size[static_cast<std::size_t>(schedule.buffers[i].storage)];
      s = std::max(s, schedule.buffers[i].slots);
    }
    std::vector<std::size_t> start(size.size(), 0);
    std::size_t sum = 0;
    for (std::size_t i = 1; i < size.size(); ++i) {
      start[i] = sum;
      sum += static_cast<std::size_t>(size[i]);
    }
    for (std::size_t i = 1; i < offset_.size(); ++i)
      offset_[i] = start[static_cast<std::size_t>(schedule.buffers[i].storage)];
    values_.assign(sum, undefined);
  }

  /// Puts the contribution where the contract says. In the send buffer it is implied.
  void fill_input(const Expressions& expressions, const CollectiveContract& contract) {
    if (contract.input_buffer == send_buffer) return;
    for (Slot i = 0; i < contract.input_count; ++i) {
      values_[offset_[1] + static_cast<std::size_t>(contract.input_first + i)] =
          contribution(expressions, schedule_->block_of(recv_buffer, contract.input_first + i));
    }
  }

  [[nodiscard]] Value contribution(const Expressions& expressions, Block block) const {
    return expressions.leaf(by_rank_ ? schedule_->shape.rank : 0, block);
  }

  [[nodiscard]] Value load(const Expressions& expressions, std::int32_t buffer, Slot slot) const {
    if (buffer == send_buffer) return contribution(expressions, schedule_->block_of(buffer, slot));
    const auto storage = static_cast<std::size_t>(schedule_->buffers[static_cast<std::size_t>(buffer)].storage);
    if (live_[storage] >= 0 && live_[storage] != buffer) return undefined;
    return values_[offset_[static_cast<std::size_t>(buffer)] + static_cast<std::size_t>(slot)];
  }

  /// Values of the next values.size() <= w.left() slots.
  void load(const Expressions& expressions, const Walker& w, std::span<Value> values) const {
    if (w.buffer() == send_buffer) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = contribution(expressions, w.block(static_cast<std::int64_t>(i)));
      }
      return;
    }
    const auto storage = static_cast<std::size_t>(schedule_->buffers[static_cast<std::size_t>(w.buffer())].storage);
    if (live_[storage] >= 0 && live_[storage] != w.buffer()) {
      std::fill(values.begin(), values.end(), undefined);
      return;
    }
    std::copy_n(values_.begin() + place(w), values.size(), values.begin());
  }

  /// Makes a view the live one before it is written.
  void enter(std::int32_t buffer) {
    const auto storage = static_cast<std::size_t>(schedule_->buffers[static_cast<std::size_t>(buffer)].storage);
    if (live_[storage] == buffer) return;
    if (live_[storage] >= 0) {
      const Slot old = schedule_->buffers[static_cast<std::size_t>(live_[storage])].slots;
      const Slot now = schedule_->buffers[static_cast<std::size_t>(buffer)].slots;
      const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(offset_[storage]);
      std::fill(begin, begin + static_cast<std::ptrdiff_t>(std::max(old, now)), undefined);
    }
    live_[storage] = buffer;
  }
  void store(const Walker& w, std::span<const Value> values) {
    std::copy(values.begin(), values.end(), values_.begin() + place(w));
  }

 private:
  [[nodiscard]] std::ptrdiff_t place(const Walker& w) const {
    return static_cast<std::ptrdiff_t>(offset_[static_cast<std::size_t>(w.buffer())]) + w.slot();
  }

  const Schedule* schedule_;
  std::vector<std::size_t> offset_;  // of each buffer in values_
  std::vector<std::int32_t> live_;   // of each storage
  std::vector<Value> values_;
  bool by_rank_;
};

class Verifier {
 public:
  Verifier(std::span<const Schedule> ranks, const Claims& claims, std::span<const Dependencies> dependencies)
      : ranks_(ranks), claims_(claims), given_(dependencies) {
    check(!ranks.empty(), "at least one rank is verified");
  }

  void run(Verdict& verdict) {
    check_structures();
    expressions_ = std::make_unique<Expressions>(by_rank() ? size() : 1, ranks_[0].blocks());
    match_messages();
    prepare_ranks();
    execute();
    check_results();
    count(verdict);
  }

 private:
  [[nodiscard]] Rank size() const { return static_cast<Rank>(ranks_.size()); }
  /// Each rank contributes to every block: reductions, and the barrier, which is one of no bytes.
  [[nodiscard]] bool by_rank() const {
    return is_reducing(ranks_[0].collective) || ranks_[0].collective == Collective::barrier;
  }
  [[nodiscard]] bool at_least_once() const {
    return claims_.needs.idempotent || ranks_[0].collective == Collective::barrier;
  }
  [[nodiscard]] const Schedule& of(Rank rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

  void check_structures() {
    for (Rank r = 0; r < size(); ++r) {
      const Schedule& s = of(r);
      try {
        check_structure(s);
      } catch (const Error& error) {
        throw Refuted{Claim::structure, r, -1, -1, error.what()};
      }
      if (s.shape.rank != r || s.shape.size != size() || s.shape.root != of(0).shape.root ||
          s.collective != of(0).collective || s.blocks() != of(0).blocks() || s.segments != of(0).segments) {
        throw Refuted{Claim::structure, r, -1, -1, "the ranks' schedules are not parts of one collective"};
      }
      if (s.rounds != of(0).rounds)
        throw Refuted{Claim::rounds, r, -1, -1, "the ranks disagree on the number of rounds"};
      const CollectiveContract contract = contract_of(s.collective, s.shape, s.segments);
      if (s.user_blocks != contract.user_blocks || s.buffers[send_buffer] != contract.send ||
          s.buffers[recv_buffer] != contract.recv) {
        throw Refuted{Claim::structure, r, -1, -1, "the caller's buffers are not those that the collective defines"};
      }
      for (StepIndex i = 0; i < s.steps.size(); ++i) {
        for (const Range& range : s.operand(s.steps[i].dst)) {
          if (range.buffer == send_buffer) {
            throw Refuted{Claim::send_untouched, r, i, s.block_of(range.buffer, range.first),
                          "the send buffer is written"};
          }
          // exscan leaves rank 0 without a result, and its buffer as it was.
          if (s.collective == Collective::exscan && r == 0 && range.buffer == recv_buffer) {
            throw Refuted{Claim::send_untouched, r, i, s.block_of(range.buffer, range.first),
                          "the receive buffer of rank 0 is written"};
          }
        }
      }
      if (claims_.guarantees.direct) check_direct(s);
    }
  }

  /// Every buffer holds blocks of this rank's row and column only.
  void check_direct(const Schedule& s) const {
    const Rank p = size();
    for (std::size_t buffer = first_scratch_buffer; buffer < s.buffers.size(); ++buffer) {
      for (Slot slot = 0; slot < s.buffers[buffer].slots; ++slot) {
        const Block block = s.block_of(static_cast<std::int32_t>(buffer), slot);
        const Block user_block = block / s.segments;
        if (user_block / p != s.shape.rank && user_block % p != s.shape.rank) {
          throw Refuted{Claim::direct, s.shape.rank, -1, block, "a block between two other ranks passes through"};
        }
      }
    }
  }

  /// The n-th send from a to b meets the n-th receive at b from a.
  void match_messages() {
    partners_.resize(ranks_.size());
    std::vector<std::vector<StepIndex>> sends(ranks_.size());  // of each rank, by peer, then in program order
    std::vector<std::vector<StepIndex>> recvs(ranks_.size());
    for (Rank r = 0; r < size(); ++r) {
      const Schedule& s = of(r);
      partners_[static_cast<std::size_t>(r)].resize(s.steps.size());
      for (StepIndex i = 0; i < s.steps.size(); ++i) {
        if (is_message(s.steps[i]))
          (s.steps[i].kind == StepKind::send ? sends : recvs)[static_cast<std::size_t>(r)].push_back(i);
      }
      const auto by_peer = [&](StepIndex a, StepIndex b) { return s.steps[a].peer < s.steps[b].peer; };
      std::stable_sort(sends[static_cast<std::size_t>(r)].begin(), sends[static_cast<std::size_t>(r)].end(), by_peer);
      std::stable_sort(recvs[static_cast<std::size_t>(r)].begin(), recvs[static_cast<std::size_t>(r)].end(), by_peer);
    }
    for (Rank r = 0; r < size(); ++r) {
      const Schedule& s = of(r);
      const auto& own = sends[static_cast<std::size_t>(r)];
      for (std::size_t i = 0; i < own.size();) {
        const Rank peer = s.steps[own[i]].peer;
        const Schedule& t = of(peer);
        const auto& theirs = recvs[static_cast<std::size_t>(peer)];
        auto next = std::lower_bound(theirs.begin(), theirs.end(), r,
                                     [&](StepIndex step, Rank rank) { return t.steps[step].peer < rank; });
        for (; i < own.size() && s.steps[own[i]].peer == peer; ++i, ++next) {
          if (next == theirs.end() || t.steps[*next].peer != r) {
            throw Refuted{Claim::matching, r, own[i], first_block(s, own[i]),
                          "no receive at rank " + std::to_string(peer) + " meets this send"};
          }
          pair(r, own[i], peer, *next);
        }
      }
    }
    for (Rank r = 0; r < size(); ++r) {
      for (const StepIndex i : recvs[static_cast<std::size_t>(r)]) {
        if (partners_[static_cast<std::size_t>(r)][i].rank >= 0) continue;
        throw Refuted{Claim::matching, r, i, first_block(of(r), i),
                      "no send of rank " + std::to_string(of(r).steps[i].peer) + " meets this receive"};
      }
    }
  }

  static Block first_block(const Schedule& s, StepIndex step) {
    const Walker w(s, message_operand(s.steps[step]));
    return w.done() ? -1 : w.block();
  }

  void pair(Rank from, StepIndex send, Rank to, StepIndex recv) {
    partners_[static_cast<std::size_t>(from)][send] = {to, recv};
    partners_[static_cast<std::size_t>(to)][recv] = {from, send};
    const Schedule& s = of(from);
    const Schedule& t = of(to);
    const auto refute = [&](Block block, const std::string& what) {
      throw Refuted{Claim::matching, to, recv, block,
                    "the send of rank " + std::to_string(from) + ", step " + std::to_string(send) + what};
    };
    if (s.steps[send].round != t.steps[recv].round) refute(first_block(t, recv), ", is in another round");
    Walker a(s, s.steps[send].left);
    Walker b(t, t.steps[recv].dst);
    while (!a.done() && !b.done()) {
      const std::int64_t n = std::min(a.left(), b.left());
      const std::int64_t wrong = a.mismatch(b, n);
      if (wrong >= 0) refute(b.block(wrong), ", carries block " + std::to_string(a.block(wrong)) + " in its place");
      a.advance(n);
      b.advance(n);
    }
    if (!a.done() || !b.done()) refute(first_block(t, recv), ", has another number of blocks");
  }

  void prepare_ranks() {
    memories_.reserve(ranks_.size());
    dependencies_.reserve(ranks_.size());
    for (Rank r = 0; r < size(); ++r) {
      const Schedule& s = of(r);
      const CollectiveContract contract = contract_of(s.collective, s.shape, s.segments);
      memories_.emplace_back(s, by_rank());
      memories_.back().fill_input(*expressions_, contract);
      dependencies_.push_back(given_.empty() ? derive_dependencies(s) : given_[static_cast<std::size_t>(r)]);
      check_rounds(r);
      for (StepIndex i = 0; i < s.steps.size(); ++i) {
        if (const auto aliasing = verify::find_aliasing(s, s.steps[i])) {
          throw Refuted{Claim::no_race, r, i, aliasing->block, aliasing->what};
        }
      }
      if (const auto race = verify::find_race(s, dependencies_.back())) {
        throw Refuted{Claim::no_race, r, race->later, s.block_of(race->buffer, race->slot),
                      "it may run before step " + std::to_string(race->earlier) + " has ended, and they share slot " +
                          std::to_string(race->slot) + " of buffer " + std::to_string(race->buffer)};
      }
    }
  }

  /// One message each way per round, and none that waits for another of its own round or a later one.
  void check_rounds(Rank r) const {
    const Schedule& s = of(r);
    const Dependencies& d = dependencies_[static_cast<std::size_t>(r)];
    std::array<std::int64_t, 2> last{-1, -1};
    std::vector<std::int64_t> latest(s.steps.size(),
                                     -1);  // round of the latest message that the step waits for
    for (StepIndex i = 0; i < s.steps.size(); ++i) {
      const Step& step = s.steps[i];
      std::int64_t passed_on = latest[i];
      if (is_message(step)) {
        std::int64_t& busy = last[step.kind == StepKind::send ? 0 : 1];
        if (busy == step.round)
          throw Refuted{Claim::rounds, r, i, first_block(s, i),
                        "a second message in the same direction in round " + std::to_string(step.round)};
        busy = step.round;
        if (latest[i] >= step.round)
          throw Refuted{Claim::rounds, r, i, first_block(s, i),
                        "the message waits for another of its own round " + std::to_string(step.round)};
        passed_on = std::max(passed_on, std::int64_t{step.round});
      }
      for (const StepIndex next : d.successors(i)) latest[next] = std::max(latest[next], passed_on);
    }
  }

  /// Runs every step once everything that it waits for has ended. A message runs when both its ends can: that
  /// is the rendezvous rule, so an order exists if and only if the steps cannot deadlock even without any
  /// buffering.
  void execute() {
    waiting_.reserve(ranks_.size());
    posted_.resize(ranks_.size());
    std::int64_t remaining = 0;
    for (Rank r = 0; r < size(); ++r) {
      waiting_.push_back(dependencies_[static_cast<std::size_t>(r)].in_degree);
      posted_[static_cast<std::size_t>(r)].assign(of(r).steps.size(), false);
      remaining += static_cast<std::int64_t>(of(r).steps.size());
    }
    for (Rank r = 0; r < size(); ++r) {
      for (StepIndex i = 0; i < of(r).steps.size(); ++i) {
        if (dependencies_[static_cast<std::size_t>(r)].in_degree[i] == 0) ready_.push_back({r, i});
      }
    }
    while (!ready_.empty()) {
      const Partner now = ready_.back();
      ready_.pop_back();
      const Step& step = of(now.rank).steps[now.step];
      if (!is_message(step)) {
        local(now.rank, now.step);
        finish(now);
        --remaining;
        continue;
      }
      const Partner other = partners_[static_cast<std::size_t>(now.rank)][now.step];
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

  void finish(Partner done) {
    auto& waiting = waiting_[static_cast<std::size_t>(done.rank)];
    for (const StepIndex next : dependencies_[static_cast<std::size_t>(done.rank)].successors(done.step)) {
      if (--waiting[next] == 0) ready_.push_back({done.rank, next});
    }
  }

  [[noreturn]] void report_deadlock() const {
    for (Rank r = 0; r < size(); ++r) {
      for (StepIndex i = 0; i < of(r).steps.size(); ++i) {
        const bool posted = posted_[static_cast<std::size_t>(r)][i];
        const Partner other = partners_[static_cast<std::size_t>(r)][i];
        if (posted && other.rank >= 0 && !posted_[static_cast<std::size_t>(other.rank)][other.step]) {
          throw Refuted{
              Claim::no_deadlock, r, i, first_block(of(r), i),
              "it waits for ever for step " + std::to_string(other.step) + " of rank " + std::to_string(other.rank)};
        }
      }
    }
    throw Refuted{Claim::no_deadlock, -1, -1, -1, "the steps of a rank wait for one another in a cycle"};
  }

  /// The values of the next n <= left() slots of a walker, in a buffer that the next call reuses.
  std::span<const Value> load(Rank r, StepIndex i, const Walker& w, std::int64_t n, std::vector<Value>& buffer) {
    buffer.resize(static_cast<std::size_t>(n));
    memories_[static_cast<std::size_t>(r)].load(*expressions_, w, buffer);
    const auto hole = std::find(buffer.begin(), buffer.end(), undefined);
    if (hole != buffer.end()) {
      const std::int64_t at = hole - buffer.begin();
      throw Refuted{Claim::defined, r, i, w.block(at),
                    "slot " + std::to_string(w.slot() + at) + " of buffer " + std::to_string(w.buffer()) +
                        " is read but holds nothing"};
    }
    return buffer;
  }

  void enter(Rank r, Operand o) {
    for (const Range& range : of(r).operand(o)) memories_[static_cast<std::size_t>(r)].enter(range.buffer);
  }

  void transfer(Partner from, Partner to) {
    Walker a(of(from.rank), of(from.rank).steps[from.step].left);
    Walker b(of(to.rank), of(to.rank).steps[to.step].dst);
    enter(to.rank, of(to.rank).steps[to.step].dst);
    while (!a.done()) {
      const std::int64_t n = std::min(a.left(), b.left());
      memories_[static_cast<std::size_t>(to.rank)].store(b, load(from.rank, from.step, a, n, left_values_));
      a.advance(n);
      b.advance(n);
    }
  }

  void local(Rank r, StepIndex i) {
    const Schedule& s = of(r);
    const Step& step = s.steps[i];
    Walker dst(s, step.dst);
    Walker left(s, step.left);
    if (step.kind == StepKind::copy) {
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
      return;
    }
    enter(r, step.dst);
    Walker right(s, step.right);
    while (!dst.done()) {
      const std::int64_t n = std::min({dst.left(), left.left(), right.left()});
      check_blocks(r, i, dst, left, n);
      check_blocks(r, i, dst, right, n);
      load(r, i, left, n, left_values_);
      load(r, i, right, n, right_values_);
      for (std::size_t j = 0; j < left_values_.size(); ++j) {
        left_values_[j] = expressions_->combine(left_values_[j], right_values_[j]);
        if (!at_least_once() && expressions_->leaves_of(left_values_[j]) > static_cast<std::uint64_t>(size())) {
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

  static void check_blocks(Rank r, StepIndex i, const Walker& dst, const Walker& from, std::int64_t n) {
    const std::int64_t wrong = dst.mismatch(from, n);
    if (wrong < 0) return;
    throw Refuted{Claim::right_block, r, i, dst.block(wrong),
                  "block " + std::to_string(from.block(wrong)) + " is used in its place"};
  }

  /// The step that last wrote a slot, for reports.
  [[nodiscard]] std::int64_t writer_of(Rank r, std::int32_t buffer, Slot slot) const {
    const Schedule& s = of(r);
    for (StepIndex i = static_cast<StepIndex>(s.steps.size()); i-- > 0;) {
      for (Walker w(s, s.steps[i].dst); !w.done(); w.advance()) {
        if (w.buffer() == buffer && w.slot() == slot) return i;
      }
    }
    return -1;
  }

  void check_results() {
    std::vector<Value> agreed(static_cast<std::size_t>(of(0).blocks()), undefined);
    for (Rank r = 0; r < size(); ++r) {
      const Schedule& s = of(r);
      const CollectiveContract contract = contract_of(s.collective, s.shape, s.segments);
      for (Slot i = 0; i < contract.output_count; ++i) {
        const Slot slot = contract.output_first + i;
        const Block block = s.block_of(contract.output_buffer, slot);
        const Value value = memories_[static_cast<std::size_t>(r)].load(*expressions_, contract.output_buffer, slot);
        const auto fail = [&](Claim claim, const std::string& what) {
          throw Refuted{claim, r, writer_of(r, contract.output_buffer, slot), block, what};
        };
        if (value == undefined) fail(Claim::result, "the result is never written");
        if (is_prefix(s.collective)) {
          check_reduction(value, s.collective == Collective::scan ? r + 1 : r, fail);
          continue;
        }
        Value& other = agreed[static_cast<std::size_t>(block)];
        if (value == other) continue;  // checked before
        if (!by_rank()) {
          if (value != expressions_->leaf(0, block)) fail(Claim::result, "the result is not the block that was sent");
        } else {
          check_reduction(value, size(), fail);
          if (other != undefined && claims_.guarantees.same_bits && !expressions_->identical(value, other) &&
              expressions_->canonical(value) != expressions_->canonical(other)) {
            fail(Claim::same_bits, "it is combined in another way than at a rank before");
          }
        }
        other = value;
      }
    }
  }

  /// `value` must combine the contributions of ranks 0 .. sources - 1.
  template <typename Fail>
  void check_reduction(Value value, Rank sources, const Fail& fail) {
    const auto p = static_cast<std::size_t>(size());
    found_.assign(p, false);
    std::fill(found_.begin() + sources, found_.end(), true);
    std::size_t number = 0;
    const bool ordered = claims_.guarantees.rank_order || !claims_.needs.commutative;
    if (at_least_once()) {
      expressions_->mark_sources(value, found_);
      if (ordered && ranks_[0].collective != Collective::barrier) {
        fail(Claim::rank_order, "no order is proven where a contribution may count twice");
      }
    } else {
      bool ascending = false;
      const auto wanted = static_cast<std::size_t>(sources);
      if (wanted == p && expressions_->is_complete(value, ascending) && (ascending || !ordered)) return;
      if (expressions_->leaves_of(value) > p) fail(Claim::exactly_once, "a contribution is counted twice");
      std::int64_t twice = -1;
      std::int64_t beyond = -1;
      std::int64_t before = -1;
      bool in_order = true;
      expressions_->each_leaf(value, [&](std::int64_t source) {
        if (source >= sources) {
          beyond = source;
          return false;
        }
        if (found_[static_cast<std::size_t>(source)]) {
          twice = source;
          return false;
        }
        found_[static_cast<std::size_t>(source)] = true;
        in_order = in_order && source == before + 1;
        before = source;
        ++number;
        return true;
      });
      if (beyond >= 0)
        fail(Claim::result, "the contribution of rank " + std::to_string(beyond) + " does not belong to it");
      if (twice >= 0)
        fail(Claim::exactly_once, "the contribution of rank " + std::to_string(twice) + " is counted twice");
      if (number == wanted && ordered && !in_order)
        fail(Claim::rank_order, "the contributions are not combined in the order of ranks");
    }
    const auto missing = std::find(found_.begin(), found_.end(), false);
    if (missing != found_.end()) {
      fail(Claim::exactly_once, "the contribution of rank " + std::to_string(missing - found_.begin()) + " is missing");
    }
  }

  void count(Verdict& verdict) const {
    std::vector<bool> used(of(0).rounds, false);
    for (Rank r = 0; r < size(); ++r) {
      const Schedule& s = of(r);
      Cost own;
      for (const Step& step : s.steps) {
        switch (step.kind) {
          case StepKind::send:
            own.sent += s.count(step.left);
            used[step.round] = true;
            ++verdict.messages;
            break;
          case StepKind::recv:
            own.received += s.count(step.dst);
            break;
          case StepKind::reduce:
            own.reduced += s.count(step.dst);
            break;
          case StepKind::copy:
            own.copied += s.count(step.dst);
            break;
        }
      }
      verdict.reductions += own.reduced;
      Cost& most = verdict.counted;
      most.sent = std::max(most.sent, own.sent);
      most.received = std::max(most.received, own.received);
      most.reduced = std::max(most.reduced, own.reduced);
      most.copied = std::max(most.copied, own.copied);
    }
    verdict.counted.rounds = std::count(used.begin(), used.end(), true);
    if (verdict.counted.rounds != of(0).rounds)
      throw Refuted{Claim::rounds, -1, -1, -1, "there are rounds without any message"};
    verdict.path = verify::count_path(ranks_);
    if (claims_.cost) compare(*claims_.cost, verdict.counted);
    if (claims_.path) compare(*claims_.path, verdict.path);
  }

  static void compare(const char* name, std::int64_t said, std::int64_t found) {
    if (found == said) return;
    throw Refuted{Claim::cost, -1, -1, -1,
                  std::string(name) + ": declared " + std::to_string(said) + ", counted " + std::to_string(found)};
  }
  static void compare(const Cost& declared, const Cost& counted) {
    compare("rounds", declared.rounds, counted.rounds);
    compare("blocks sent", declared.sent, counted.sent);
    compare("blocks received", declared.received, counted.received);
    compare("blocks reduced", declared.reduced, counted.reduced);
    compare("blocks copied", declared.copied, counted.copied);
  }
  static void compare(const CriticalPath& declared, const CriticalPath& counted) {
    compare("blocks of the vector", declared.blocks, counted.blocks);
    compare("one-way rounds", declared.one_way, counted.one_way);
    compare("volume of the critical path", declared.volume, counted.volume);
    compare("one-way volume of the critical path", declared.one_way_volume, counted.one_way_volume);
    compare("blocks combined on the critical path", declared.combined, counted.combined);
  }

  std::span<const Schedule> ranks_;
  const Claims& claims_;
  std::span<const Dependencies> given_;
  std::unique_ptr<Expressions> expressions_;
  std::vector<std::vector<Partner>> partners_;  // of every message, by rank and step
  std::vector<Memory> memories_;
  std::vector<Dependencies> dependencies_;
  std::vector<std::vector<std::uint32_t>> waiting_;
  std::vector<std::vector<bool>> posted_;
  std::vector<Partner> ready_;
  std::vector<bool> found_;
  std::vector<Value> left_values_;
  std::vector<Value> right_values_;
};

}  // namespace

Verdict verify_schedules(std::span<const Schedule> ranks, const Claims& claims,
                         std::span<const Dependencies> dependencies) {
  Verdict verdict;
  try {
    Verifier(ranks, claims, dependencies).run(verdict);
  } catch (const Refuted& r) {
    const Schedule& s = ranks[static_cast<std::size_t>(std::max<Rank>(r.rank, 0))];
    verdict.refutation = Refutation{
        .claim = r.claim,
        .id = s.id,
        .size = static_cast<Rank>(ranks.size()),
        .root = s.shape.root,
        .in_place = std::any_of(ranks.begin(), ranks.end(), [](const Schedule& x) { return x.shape.in_place; }),
        .params = s.shape.params,
        .rank = r.rank,
        .step = r.step,
        .block = r.block,
        .what = r.what};
  }
  return verdict;
}

std::vector<Schedule> build_all_ranks(const Algorithm& algorithm, Collective collective, const Shape& shape) {
  std::vector<Schedule> ranks;
  ranks.reserve(static_cast<std::size_t>(shape.size));
  Shape own = shape;
  for (own.rank = 0; own.rank < shape.size; ++own.rank) ranks.push_back(build_schedule(algorithm, collective, own));
  return ranks;
}

Verdict verify_algorithm(const Algorithm& algorithm, Collective collective, const Shape& shape) {
  Verdict verdict;
  std::vector<Schedule> ranks;
  try {
    ranks = build_all_ranks(algorithm, collective, shape);
  } catch (const Error& error) {
    verdict.refutation = Refutation{.claim = Claim::buildable,
                                    .id = algorithm.id(collective),
                                    .size = shape.size,
                                    .root = shape.root,
                                    .in_place = shape.in_place,
                                    .params = shape.params,
                                    .what = error.what()};
    return verdict;
  }
  const Shape declared = labelled(collective, shape);
  return verify_schedules(ranks, {.needs = needs_of(algorithm, collective, shape.params),
                                  .guarantees = guarantees_of(algorithm, shape.params),
                                  .cost = algorithm.cost(declared),
                                  .path = critical_path(algorithm, collective, declared)});
}

}  // namespace circoll
