// Receives into scratch that one reduction reads become steps that combine each message as it arrives.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "circoll/dependencies.hpp"
#include "circoll/transform.hpp"
#include "schedule/walker.hpp"

namespace circoll {
namespace {

/// Slots [first, end) of a buffer, not cyclic.
struct Stretch {
  Slot first;
  Slot end;
};

/// A use of a stretch by a step.
struct Access {
  StepIndex step;
  std::int32_t buffer;
  Stretch slots;
  bool writes;
};

/// Later uses of a storage that are looked at. Schedules of very many steps shall cost no more than their length.
constexpr std::size_t most_accesses = 4096;

class Combiner {
 public:
  Combiner(const Schedule& schedule, const std::function<bool(Rank)>& from)
      : schedule_(schedule),
        from_(from),
        accesses_(schedule.buffers.size()),
        last_access_(schedule.steps.size()),
        predecessors_(schedule.steps.size()),
        latest_(schedule.steps.size(), -1) {
    const Dependencies dependencies = derive_dependencies(schedule);
    for (StepIndex step = 0; step < schedule.steps.size(); ++step) {
      note(step);
      for (const StepIndex next : dependencies.successors(step)) {
        predecessors_[next].push_back(step);
        latest_[next] = std::max(latest_[next], passed_on(step));
      }
    }
  }

  Schedule run() const {
    const auto steps = static_cast<StepIndex>(schedule_.steps.size());
    std::vector<StepIndex> reduction(steps);  // that a step becomes a part of; itself
    std::vector<bool> combines(steps, false);
    for (StepIndex step = 0; step < steps; ++step) {
      reduction[step] = reduction_of(step);
      // If two messages arrive for one reduction, it joins the first.
      if (combines[reduction[step]]) reduction[step] = step;
      if (reduction[step] != step) combines[reduction[step]] = true;
    }
    Schedule result = schedule_;
    result.steps.clear();
    std::vector<StepIndex> number(steps);
    std::vector<StepIndex> receive(steps);  // of a reduction
    for (StepIndex step = 0; step < steps; ++step) {
      if (reduction[step] != step) {
        receive[reduction[step]] = step;
        continue;
      }
      number[step] = static_cast<StepIndex>(result.steps.size());
      result.steps.push_back(combines[step] ? combined(receive[step], step) : schedule_.steps[step]);
    }
    for (auto& [earlier, later] : result.edges) {
      earlier = number[reduction[earlier]];
      later = number[reduction[later]];
    }
    std::erase_if(result.edges, [](const auto& edge) { return edge.first == edge.second; });
    return result;
  }

 private:
  [[nodiscard]] const Step& step(StepIndex number) const { return schedule_.steps[number]; }
  [[nodiscard]] std::int32_t storage_of(std::int32_t buffer) const {
    return schedule_.buffers[static_cast<std::size_t>(buffer)].storage;
  }
  /// The last round of a message that must end before whatever waits for the step.
  [[nodiscard]] std::int64_t passed_on(StepIndex number) const {
    const Step& s = step(number);
    return is_message(s) ? std::max(latest_[number], std::int64_t{s.round}) : latest_[number];
  }

  void note(StepIndex number) {
    const auto add = [&](Operand operand, bool writes) {
      each_stretch(schedule_, operand, [&](std::int32_t buffer, Slot first, Slot end) {
        auto& list = accesses_[static_cast<std::size_t>(storage_of(buffer))];
        if (is_receive(step(number).kind)) last_access_[number] = list.size();
        list.push_back({number, buffer, {first, end}, writes});
      });
    };
    for (const Operand operand : operands_read(step(number))) add(operand, false);
    for (const Operand operand : operands_written(step(number))) add(operand, true);
  }

  [[nodiscard]] bool same_slots(Operand a, Operand b) const {
    return std::ranges::equal(schedule_.operand(a), schedule_.operand(b));
  }
  [[nodiscard]] bool uses_storage(Operand operand, std::int32_t storage) const {
    const auto ranges = schedule_.operand(operand);
    return std::any_of(ranges.begin(), ranges.end(), [&](const Range& r) { return storage_of(r.buffer) == storage; });
  }

  /// The reduction that a receive may become a part of; the step itself if there is none.
  [[nodiscard]] StepIndex reduction_of(StepIndex receive) const {
    const Step& r = step(receive);
    if (r.kind != StepKind::recv || r.dst.length == 0 || !from_(r.peer)) return receive;
    const std::int32_t buffer = schedule_.operand(r.dst).front().buffer;
    const bool one_buffer =
        std::ranges::all_of(schedule_.operand(r.dst), [&](const Range& range) { return range.buffer == buffer; });
    if (buffer < first_scratch_buffer || !one_buffer) return receive;
    const StepIndex reduction = only_reader(receive, buffer);
    if (reduction == receive) return receive;
    const Step& j = step(reduction);
    const bool left = same_slots(j.left, r.dst);
    const std::int32_t storage = storage_of(buffer);
    if (left == same_slots(j.right, r.dst) || uses_storage(left ? j.right : j.left, storage)) return receive;
    if (uses_storage(j.dst, storage) && !same_slots(j.dst, r.dst)) return receive;
    return may_wait(receive, reduction) ? reduction : receive;
  }

  /// The step that reads what a receive has put there, if no other step reads it. Otherwise the receive itself.
  [[nodiscard]] StepIndex only_reader(StepIndex receive, std::int32_t buffer) const {
    const auto& list = accesses_[static_cast<std::size_t>(storage_of(buffer))];
    std::vector<Stretch> live;
    each_stretch(schedule_, step(receive).dst, [&](std::int32_t, Slot first, Slot end) {
      live.push_back({first, end});
    });
    StepIndex reader = receive;
    const std::size_t first = last_access_[receive] + 1;
    const std::size_t end = std::min(list.size(), first + most_accesses);
    for (std::size_t at = first; at < end; ++at) {
      const Access& access = list[at];
      if (access.buffer != buffer) return access.writes ? reader : receive;  // a view that begins a new life
      const bool touches = std::ranges::any_of(live, [&](const Stretch& s) { return overlap(s, access.slots); });
      if (!touches) continue;
      if (access.writes) {
        subtract(live, access.slots);
        if (live.empty()) return reader;
      } else if (reader == receive && step(access.step).kind == StepKind::reduce) {
        reader = access.step;
      } else if (access.step != reader) {
        return receive;
      }
    }
    return end == list.size() ? reader : receive;
  }

  static bool overlap(const Stretch& a, const Stretch& b) { return a.first < b.end && b.first < a.end; }
  static void subtract(std::vector<Stretch>& from, const Stretch& what) {
    std::vector<Stretch> rest;
    for (const Stretch& s : from) {
      if (!overlap(s, what)) {
        rest.push_back(s);
        continue;
      }
      if (s.first < what.first) rest.push_back({s.first, what.first});
      if (what.end < s.end) rest.push_back({what.end, s.end});
    }
    from = std::move(rest);
  }

  /// The receive then waits for what the reduction waits for. That must be messages of earlier rounds, so that no cycle
  /// arises: all waiting leads from a round to the same or a later one. The step stands where the reduction stood, and
  /// messages between two ranks keep their order.
  [[nodiscard]] bool may_wait(StepIndex receive, StepIndex reduction) const {
    const Step& r = step(receive);
    if (step(reduction).round != r.round || latest_[receive] >= r.round) return false;
    for (const StepIndex earlier : predecessors_[reduction]) {
      if (earlier != receive && passed_on(earlier) >= r.round) return false;
    }
    for (StepIndex between = receive + 1; between < reduction; ++between) {
      if (is_receive(step(between).kind) && step(between).peer == r.peer) return false;
    }
    return std::ranges::none_of(schedule_.edges,
                                [&](const auto& edge) { return edge.first == receive && edge.second < reduction; });
  }

  [[nodiscard]] Step combined(StepIndex receive, StepIndex reduction) const {
    Step result = step(reduction);
    result.kind = StepKind::recv_reduce;
    result.peer = step(receive).peer;
    result.arrives_left = same_slots(result.left, step(receive).dst);
    return result;
  }

  const Schedule& schedule_;
  const std::function<bool(Rank)>& from_;
  std::vector<std::vector<Access>> accesses_;  // by storage, in program order
  std::vector<std::size_t> last_access_;       // of a receive in the list of its storage
  std::vector<std::vector<StepIndex>> predecessors_;
  std::vector<std::int64_t> latest_;  // round of the latest message that a step waits for
};

}  // namespace

Schedule combined_on_arrival(const Schedule& schedule, const std::function<bool(Rank)>& from) {
  return Combiner(schedule, from).run();
}

}  // namespace circoll
