// The results of collectives, computed by one rank from the inputs of all.
#include <cmath>
#include <limits>

#include "evaluate.hpp"

namespace circoll::torture {
namespace {

struct Range {
  int first = 0, last = 0;  ///< ranks whose contributions are combined, in this order; last exclusive
  Block block;              ///< of the vector
};

Range range_of(const Instance& mine) {
  const Operation& o = mine.operation();
  Range range;
  range.last = mine.size();
  const Side& side = mine.recv();
  if (o.collective == Collective::scan) range.last = mine.rank() + 1;
  if (o.collective == Collective::exscan) range.last = mine.rank();
  range.block.items = mine.results().empty() ? 0 : mine.results()[0].items;
  if (is_reduce_scatter(o.collective)) {
    for (int r = 0; r < mine.rank(); ++r) {
      range.block.place += Instance::units(o, r) * o.unit / side.element.base_elements;
    }
  }
  return range;
}

/// The operands' blocks lie in their own memory, so that MPI_Reduce_local sees the type that MPI_Reduce would.
std::vector<std::byte> combined(const Instance& mine, int execution) {
  const Range range = range_of(mine);
  const Operation& o = mine.operation();
  Instance accumulated(o, range.last - 1, mine.size(), nullptr);
  accumulated.fill(execution);
  Instance::Input to = accumulated.input(0);
  const Count skip = range.block.place * to.side->element.extent;
  auto* const inout = const_cast<std::byte*>(to.side->memory.address()) + skip;
  for (int r = range.last - 1; r-- > range.first;) {
    Instance left(o, r, mine.size(), nullptr);
    left.fill(execution);
    PMPI_Reduce_local(left.input(0).side->memory.address() + skip, inout, static_cast<int>(range.block.items),
                      to.side->element.type.get(), mine.op());
  }
  return pack(*to.side, to.side->memory.address(), range.block, base_type(o.base).packed_bytes);
}

/// The block from a rank that goes to rank `to`, or along its edge `to`. `mine` is the receiver.
std::vector<std::byte> contribution(const Instance& mine, int execution, int from, int to) {
  const Operation& o = mine.operation();
  Instance source(o, from, mine.size(), mine.topology());
  source.fill(execution);
  if (o.collective == Collective::bcast) {
    return pack(source.recv(), source.recv().memory.address(), source.recv().blocks[0], base_type(o.base).packed_bytes);
  }
  const Instance::Input input = source.input(to);
  return pack(*input.side, input.side->memory.address(), input.block, base_type(o.base).packed_bytes);
}

}  // namespace

std::vector<std::vector<std::byte>> serial_results(const Instance& mine, int execution) {
  const Operation& o = mine.operation();
  std::vector<std::vector<std::byte>> results;
  if (mine.results().empty()) return results;
  if (is_reducing(o.collective)) {
    results.push_back(combined(mine, execution));
    return results;
  }
  const bool one = mine.results().size() == 1 && is_rooted(o.collective) && !is_gather(o.collective);
  for (int i = 0; i < static_cast<int>(mine.results().size()); ++i) {
    if (o.neighbor) {
      const Edges::In& edge = mine.source_of(static_cast<std::size_t>(i));
      results.push_back(contribution(mine, execution, edge.source, edge.block));
    } else {
      results.push_back(contribution(mine, execution, one ? mine.root() : i, mine.rank()));
    }
  }
  return results;
}

Sums serial_sums(const Instance& mine, int execution) {
  const Range range = range_of(mine);
  const Operation& o = mine.operation();
  const BaseType base = base_type(o.base);
  const auto step = static_cast<std::size_t>(base.component_bytes);
  Sums sums;
  if (mine.results().empty()) return sums;
  for (int r = range.first; r < range.last; ++r) {
    Instance source(o, r, mine.size(), nullptr);
    source.fill(execution);
    const Side& side = *source.input(0).side;
    const std::vector<std::byte> packed = pack(side, side.memory.address(), range.block, base.packed_bytes);
    sums.values.resize(packed.size() / step);
    sums.bounds.resize(packed.size() / step);
    for (std::size_t i = 0; i < sums.values.size(); ++i) {
      const long double value = get_floating(packed.data() + i * step, base.component_bytes);
      sums.values[i] += value;
      sums.bounds[i] += std::fabs(value);
    }
  }
  const long double epsilon =
      base.component_bytes == 4 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  for (long double& bound : sums.bounds) bound *= epsilon * static_cast<long double>(mine.size());
  return sums;
}

}  // namespace circoll::torture
