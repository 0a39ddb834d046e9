#include "repair/goals.hpp"

#include "symbolic/expressions.hpp"

namespace circoll::repair {
namespace {

/// The contributions that a rank's result of a block is made of.
Set contributions_to(const Schedule& s, Block block) {
  if (s.collective == Collective::scan) return below(s.shape.rank + 1);
  if (s.collective == Collective::exscan) return below(s.shape.rank);
  return symbolic::contributes_to_all(s.collective) ? below(s.shape.size) : bit(symbolic::contributor(s, block));
}

}  // namespace

Place output_of(const Schedule& s, Block block) {
  const CollectiveContract contract = contract_of(s.collective, s.shape, s.segments);
  for (Slot slot = contract.output_first; slot < contract.output_first + contract.output_count; ++slot) {
    if (s.block_of(contract.output_buffer, slot) == block) return {s.shape.rank, contract.output_buffer, slot};
  }
  return {s.shape.rank, -1, 0};
}

bool is_movable(Collective collective) {
  return collective == Collective::reduce || collective == Collective::gather || collective == Collective::gatherv;
}

std::vector<Goal> goals_of(const Program& program) {
  std::vector<Goal> goals;
  const Schedule& any = program.of(0);
  const bool prefix = is_prefix(any.collective);
  const Rank p = program.size();
  std::vector<std::size_t> place(static_cast<std::size_t>(any.blocks()), 0);  // of a block's goal, plus one
  for (Rank r = 0; r < p; ++r) {
    const Schedule& s = program.of(r);
    const CollectiveContract contract = contract_of(s.collective, s.shape, s.segments);
    for (Slot i = 0; i < contract.output_count; ++i) {
      const Block block = s.block_of(contract.output_buffer, contract.output_first + i);
      std::size_t& at = place[static_cast<std::size_t>(block)];
      if (prefix || at == 0) {
        goals.push_back({block, contributions_to(s, block), 0});
        at = goals.size();
      }
      goals[at - 1].users |= is_movable(s.collective) ? below(p) : bit(r);
    }
  }
  return goals;
}

}  // namespace circoll::repair
