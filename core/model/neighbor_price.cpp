#include "model/neighbor_price.hpp"

namespace circoll {

NeighborWork work_of(const Schedule& schedule, std::span<const Count> bytes, std::span<const Rank> node_of,
                     const Machine& machine) {
  const Rank own = node_of[static_cast<std::size_t>(schedule.shape.rank)];
  // Ranks send and receive.
  const double exchange_s = machine.overhead_both_s > 0 ? machine.overhead_both_s : 2 * machine.overhead_s;
  const double between_s = (exchange_s > 0 ? exchange_s : machine.alpha_s) / 2;
  NeighborWork work;
  for (const Step& step : schedule.steps) {
    if (!is_message(step)) continue;
    double moved = 0;
    for (const Range& range : schedule.operand(message_operand(step))) {
      for (Slot slot = range.first; slot < range.first + range.count; ++slot)
        moved += static_cast<double>(bytes[static_cast<std::size_t>(schedule.block_of(range.buffer, slot))]);
    }
    if (node_of[static_cast<std::size_t>(step.peer)] == own) {
      work.all_s += (machine.within_alpha_s() + moved * machine.within_beta_s_per_byte()) / 2;
    } else {
      work.all_s += between_s;
      if (step.kind == StepKind::send) work.bytes_between += moved;
    }
  }
  work.most_s = work.all_s;
  return work;
}

double seconds(const NeighborWork& node, int hops, const Machine& machine, bool crowded) {
  const double hop_s = machine.within_alpha_s() + (crowded ? machine.crowded_s : 0);
  return machine.alpha_s + hops * hop_s + (crowded ? node.all_s : node.most_s) +
         node.bytes_between * machine.beta_s_per_byte;
}

}  // namespace circoll
