#include "circoll/dependencies.hpp"

#include <algorithm>
#include <limits>

#include "schedule/walker.hpp"

namespace circoll {
namespace {

constexpr StepIndex nobody = std::numeric_limits<StepIndex>::max();

/// One buffer, cut at the ends of all ranges that are used of it. No step uses a part of an interval.
class IntervalTable {
 public:
  struct Interval {
    std::uint32_t epoch = 0;          ///< the entry is void unless this is the current life of the view
    StepIndex writer = nobody;        ///< last step that wrote it
    std::uint32_t readers = no_list;  ///< list of the steps that have read it since
  };
  static constexpr std::uint32_t no_list = std::numeric_limits<std::uint32_t>::max();

  void note(Slot first, Slot end) {
    bounds_.push_back(first);
    bounds_.push_back(end);
  }
  void freeze(Slot slots) {
    // Where nearly every slot is a range of its own, slots serve as intervals: nothing to sort, nothing to search.
    if (static_cast<std::size_t>(slots) <= 2 * bounds_.size()) {
      direct_ = true;
      intervals_.resize(static_cast<std::size_t>(slots));
      bounds_.clear();
      return;
    }
    std::sort(bounds_.begin(), bounds_.end());
    bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
    intervals_.resize(bounds_.size());
  }
  [[nodiscard]] std::span<Interval> at(Slot first, Slot end) {
    return {intervals_.data() + index(first), index(end) - index(first)};
  }

 private:
  [[nodiscard]] std::size_t index(Slot slot) const {
    if (direct_) return static_cast<std::size_t>(slot);
    return static_cast<std::size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), slot) - bounds_.begin());
  }

  bool direct_ = false;
  std::vector<Slot> bounds_;
  std::vector<Interval> intervals_;
};

/// The memory of one or more views. A write through another view than the live one begins a new life:
/// everything that used the view before must end first.
struct Storage {
  std::int32_t live = -1;
  std::uint32_t epoch = 1;
  std::vector<StepIndex> users;      // of the live view
  std::vector<StepIndex> ancestors;  // users of the view before
};

class Deriver {
 public:
  explicit Deriver(const Schedule& schedule)
      : schedule_(schedule),
        tables_(schedule.buffers.size()),
        storages_(schedule.buffers.size()),
        seen_(schedule.steps.size(), nobody) {
    std::vector<std::uint32_t> views(schedule.buffers.size(), 0);
    for (const Buffer& b : schedule.buffers) ++views[static_cast<std::size_t>(b.storage)];
    shared_.reserve(schedule.buffers.size());
    for (const Buffer& b : schedule.buffers) shared_.push_back(views[static_cast<std::size_t>(b.storage)] > 1);
    for (const Step& step : schedule.steps) {
      for (const Operand o : {step.dst, step.left, step.right}) {
        each_stretch(schedule, o, [&](std::int32_t buffer, Slot first, Slot end) {
          tables_[static_cast<std::size_t>(buffer)].note(first, end);
        });
      }
    }
    for (std::size_t i = 0; i < tables_.size(); ++i) tables_[i].freeze(schedule.buffers[i].slots);
  }

  Dependencies run() {
    const auto steps = static_cast<StepIndex>(schedule_.steps.size());
    for (StepIndex s = 0; s < steps; ++s) {
      const Step& step = schedule_.steps[s];
      for (const Operand o : operands_read(step)) read(s, o);
      for (const Operand o : operands_written(step)) write(s, o);
    }
    for (const auto& [earlier, later] : schedule_.edges) edges_.emplace_back(earlier, later);
    // The acknowledgement of a message goes before what is sent on.
    if (!schedule_.edges.empty())
      std::ranges::stable_sort(edges_, {}, [](const auto& earlier_and_later) { return earlier_and_later.second; });
    return lists(steps);
  }

 private:
  void edge(StepIndex earlier, StepIndex later) {
    if (earlier == later || earlier == nobody || seen_[earlier] == later) return;
    seen_[earlier] = later;
    edges_.emplace_back(earlier, later);
  }

  Storage& use(StepIndex step, std::int32_t buffer) {
    Storage& storage = storages_[static_cast<std::size_t>(schedule_.buffers[static_cast<std::size_t>(buffer)].storage)];
    if (!shared_[static_cast<std::size_t>(buffer)]) return storage;
    if (storage.live != buffer) {
      storage.live = buffer;
      ++storage.epoch;
      storage.ancestors.swap(storage.users);
      storage.users.clear();
    }
    if (storage.users.empty() || storage.users.back() != step) storage.users.push_back(step);
    return storage;
  }

  /// The step comes after the last writer of the interval. If this view has not written it, it comes after all users of
  /// the view before.
  void follow(const IntervalTable::Interval& interval, const Storage& storage, StepIndex step) {
    edge(interval.writer, step);
    if (interval.writer != nobody) return;
    for (const StepIndex ancestor : storage.ancestors) edge(ancestor, step);
  }

  void read(StepIndex step, Operand o) {
    each_stretch(schedule_, o, [&](std::int32_t buffer, Slot first, Slot end) {
      const Storage& storage = use(step, buffer);
      for (auto& interval : tables_[static_cast<std::size_t>(buffer)].at(first, end)) {
        if (interval.epoch != storage.epoch) interval = {.epoch = storage.epoch};
        follow(interval, storage, step);
        readers_.push_back({step, interval.readers});
        interval.readers = static_cast<std::uint32_t>(readers_.size() - 1);
      }
    });
  }

  void write(StepIndex step, Operand o) {
    each_stretch(schedule_, o, [&](std::int32_t buffer, Slot first, Slot end) {
      const Storage& storage = use(step, buffer);
      for (auto& interval : tables_[static_cast<std::size_t>(buffer)].at(first, end)) {
        if (interval.epoch != storage.epoch) interval = {.epoch = storage.epoch};
        // Readers have waited for the writer, so it need not be named beside them.
        if (interval.readers == IntervalTable::no_list) follow(interval, storage, step);
        for (std::uint32_t r = interval.readers; r != IntervalTable::no_list; r = readers_[r].next)
          edge(readers_[r].step, step);
        interval.readers = IntervalTable::no_list;
        interval.writer = step;
      }
    });
  }

  [[nodiscard]] Dependencies lists(StepIndex steps) const {
    Dependencies d;
    d.offsets.assign(steps + 1, 0);
    d.in_degree.assign(steps, 0);
    d.targets.resize(edges_.size());
    for (const auto& [earlier, later] : edges_) {
      ++d.offsets[earlier + 1];
      ++d.in_degree[later];
    }
    for (StepIndex s = 0; s < steps; ++s) d.offsets[s + 1] += d.offsets[s];
    std::vector<std::uint32_t> next(d.offsets.begin(), d.offsets.end() - 1);
    for (const auto& [earlier, later] : edges_) d.targets[next[earlier]++] = later;
    return d;
  }

  struct Reader {
    StepIndex step;
    std::uint32_t next;
  };

  const Schedule& schedule_;
  std::vector<IntervalTable> tables_;
  std::vector<Storage> storages_;
  std::vector<bool> shared_;
  std::vector<Reader> readers_;
  std::vector<StepIndex> seen_;  // seen_[earlier] == later: the edge is there already
  std::vector<std::pair<StepIndex, StepIndex>> edges_;
};

}  // namespace

Dependencies derive_dependencies(const Schedule& schedule) { return Deriver(schedule).run(); }

}  // namespace circoll
