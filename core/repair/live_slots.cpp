#include "repair/live_slots.hpp"

#include "schedule/walker.hpp"

namespace circoll::repair {

LiveSlots::LiveSlots(const Schedule& schedule, const std::function<bool(StepIndex)>& ended)
    : schedule_(schedule), written_view_(schedule.buffers.size(), -1) {
  fate_.reserve(schedule.buffers.size());
  for (const Buffer& buffer : schedule.buffers) {
    fate_.emplace_back(static_cast<std::size_t>(buffer.slots), Fate::nothing);
  }
  for (StepIndex i = 0; i < schedule.steps.size(); ++i) {
    if (ended(i)) continue;
    for (const Operand& o : operands_read(schedule.steps[i])) decide(o, Fate::read);
    for (const Operand& o : operands_written(schedule.steps[i])) decide(o, Fate::written);
  }
  const CollectiveContract contract = contract_of(schedule.collective, schedule.shape, schedule.segments);
  for (Slot i = 0; i < contract.output_count; ++i) {
    Fate& fate =
        fate_[static_cast<std::size_t>(contract.output_buffer)][static_cast<std::size_t>(contract.output_first + i)];
    if (fate == Fate::nothing) fate = Fate::read;
  }
}

void LiveSlots::decide(Operand operand, Fate fate) {
  for (Walker w(schedule_, operand); !w.done(); w.advance(w.left())) {
    const auto buffer = static_cast<std::size_t>(w.buffer());
    std::int32_t& view = written_view_[static_cast<std::size_t>(schedule_.buffers[buffer].storage)];
    // Once another view of the memory has been written, nothing of this one is left to be read.
    const bool scratch = w.buffer() >= first_scratch_buffer;
    const bool gone = scratch && view >= 0 && view != w.buffer();
    for (Slot slot = w.slot(); slot < w.slot() + w.left(); ++slot) {
      Fate& known = fate_[buffer][static_cast<std::size_t>(slot)];
      if (known == Fate::nothing) known = gone ? Fate::written : fate;
    }
    if (scratch && fate == Fate::written && view < 0) view = w.buffer();
  }
}

}  // namespace circoll::repair
