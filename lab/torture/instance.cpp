// One rank's part of an operation: buffers, their contents, and the arguments of the call.
#include "instance.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "random.hpp"

namespace circoll::torture {
namespace {

constexpr std::uint64_t sending = 0x5e;
constexpr std::uint64_t receiving = 0x7e;
constexpr std::uint64_t after = 0xaf;

/// The type of the call's arguments.
MPI_Datatype wire_type(const Side& side) {
  return side.absolute.get() == MPI_DATATYPE_NULL ? side.element.type.get() : side.absolute.get();
}

}  // namespace

std::vector<std::byte> pack(const Side& side, const std::byte* address, const Block& block, Count base_bytes) {
  std::vector<std::byte> packed(static_cast<std::size_t>(side.packed_bytes(block, base_bytes)));
  if (!packed.empty()) {
    copy_typed(address + block.place * side.element.extent, static_cast<int>(block.items), side.element.type.get(),
               packed.data(), static_cast<int>(packed.size()), MPI_BYTE);
  }
  return packed;
}

void unpack(const Side& side, std::byte* address, const Block& block, const std::vector<std::byte>& packed) {
  if (packed.empty()) return;
  copy_typed(packed.data(), static_cast<int>(packed.size()), MPI_BYTE, address + block.place * side.element.extent,
             static_cast<int>(block.items), side.element.type.get());
}

Count Instance::units(const Operation& operation, int index) {
  if (!is_irregular(operation.collective)) return operation.count;
  Random random(hash(operation.counts, index));
  return random.percent(20) ? 0 : random.between(0, operation.count);
}

Count Instance::units(const Operation& operation, int from, int to) {
  if (operation.collective != Collective::alltoallv) return operation.count;
  if (operation.in_place && from > to) std::swap(from, to);
  Random random(hash(operation.counts, from, to));
  return random.percent(20) ? 0 : random.between(0, operation.count);
}

Instance::Instance(const Operation& operation, int rank, int size, const Topology* topology)
    : operation_(&operation),
      rank_(rank),
      size_(size),
      root_(is_rooted(operation.collective) ? static_cast<int>(operation.root % static_cast<std::uint64_t>(size)) : 0),
      topology_(topology) {
  if (is_reducing(operation.collective)) op_ = make_operator(operation);
  operation.neighbor ? make_neighbor_sides() : make_sides();
}

/// Blocks of ranks that are not there have a size and a place, too.
void Instance::make_neighbor_sides() {
  const Operation& o = *operation_;
  const bool gathers = is_allgather(o.collective), by_places = is_irregular(o.collective);
  const auto units_of = [&](int source, int block) { return gathers ? units(o, source) : units(o, source, block); };
  std::vector<Count> sent, received;
  for (int i = 0; i < (gathers ? 1 : static_cast<int>(edges().out.size())); ++i) sent.push_back(units_of(rank_, i));
  for (const Edges::In& edge : edges().in) received.push_back(units_of(edge.source, edge.block));
  make_side(send_, hash(sending, rank_), sent, by_places && !gathers, hash(o.places, sending) % 3 == 0);
  make_side(recv_, hash(receiving, rank_), received, by_places, false);
  for (std::size_t i = 0; i < recv_.blocks.size(); ++i) {
    if (edges().in[i].source == no_rank) continue;
    results_.push_back(recv_.blocks[i]);
    sources_.push_back(edges().in[i]);
  }
}

bool Instance::in_place() const { return operation_->in_place && (!is_rooted(operation_->collective) || at_root()); }

std::vector<Count> Instance::all_units() const {
  std::vector<Count> all(static_cast<std::size_t>(size_));
  for (int i = 0; i < size_; ++i) all[static_cast<std::size_t>(i)] = units(*operation_, i);
  return all;
}

std::vector<Count> Instance::send_units() const {
  const Collective c = operation_->collective;
  if (is_scatter(c)) return all_units();
  if (is_reduce_scatter(c)) {
    const std::vector<Count> all = all_units();
    return {std::accumulate(all.begin(), all.end(), Count{0})};
  }
  if (is_exchange(c)) {
    std::vector<Count> all(static_cast<std::size_t>(size_));
    for (int i = 0; i < size_; ++i) all[static_cast<std::size_t>(i)] = units(*operation_, rank_, i);
    return all;
  }
  return {units(*operation_, rank_)};
}

std::vector<Count> Instance::recv_units() const {
  const Collective c = operation_->collective;
  if (is_gather(c) || is_allgather(c)) return all_units();
  if (is_exchange(c)) {
    std::vector<Count> all(static_cast<std::size_t>(size_));
    for (int i = 0; i < size_; ++i) all[static_cast<std::size_t>(i)] = units(*operation_, i, rank_);
    return all;
  }
  if (is_reduce_scatter(c) && in_place()) return send_units();
  return {units(*operation_, rank_)};
}

void Instance::make_sides() {
  const Collective c = operation_->collective;
  if (!traits_of(c).moves_data) return;
  const bool by_places = is_irregular(c) && c != Collective::reduce_scatter;
  const bool sends = c != Collective::bcast && (!is_scatter(c) || at_root()) && (is_scatter(c) || !in_place());
  const bool receives = ((c != Collective::reduce && !is_gather(c)) || at_root()) && !(is_scatter(c) && in_place());
  if (sends) {
    Random random(hash(operation_->places, sending));
    make_side(send_, hash(sending, rank_), send_units(), by_places && (is_scatter(c) || is_exchange(c)),
              random.percent(30));
  }
  if (!receives) return;
  make_side(recv_, hash(receiving, rank_), recv_units(), by_places && !is_scatter(c), false);
  if (c == Collective::exscan && rank_ == 0) {
    open_ = recv_.blocks;
  } else if (is_reduce_scatter(c) && in_place()) {
    const Block all = recv_.blocks[0];
    const Count own = units(*operation_, rank_) * operation_->unit / recv_.element.base_elements;
    results_ = {{0, own}};
    open_ = {{own, all.items - own}};
  } else {
    results_ = recv_.blocks;
  }
}

void Instance::make_side(Side& side, std::uint64_t which, const std::vector<Count>& block_units, bool by_places,
                         bool overlap) {
  const Operation& o = *operation_;
  const auto blocks = static_cast<Count>(block_units.size());
  const Count total = std::accumulate(block_units.begin(), block_units.end(), Count{0}) * o.unit + 4 * blocks + 4;
  side.used = true;
  // In a reduction all ranks, and both buffers, have one type.
  side.element = make_element(o, is_reducing(o.collective) ? 0 : which, total);
  side.blocks.resize(block_units.size());
  for (std::size_t i = 0; i < block_units.size(); ++i) {
    side.blocks[i].items = block_units[i] * o.unit / side.element.base_elements;
  }
  std::vector<std::size_t> order(block_units.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(hash(o.places, which));
  if (by_places && o.places != 0) {
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
    }
  }
  Count place = 0;
  for (const std::size_t i : order) {
    Block& block = side.blocks[i];
    const bool gaps = by_places && o.places != 0;
    if (gaps && !overlap) place += random.between(0, 3);
    block.place = place;
    place += gaps && overlap ? random.between(0, block.items) : block.items;
  }
  Count low = std::numeric_limits<Count>::max(), high = std::numeric_limits<Count>::min();
  const Element& element = side.element;
  for (const Block& block : side.blocks) {
    if (block.items == 0) continue;
    low = std::min(low, block.place * element.extent + element.true_lb);
    high = std::max(high, (block.place + block.items - 1) * element.extent + element.true_lb + element.true_extent);
  }
  side.memory = low < high ? GuardedMemory(low, high) : GuardedMemory();
  const bool packed_vector = o.collective == Collective::reduce_scatter;  // its counts are of the result's blocks
  const std::size_t entries = std::max(static_cast<std::size_t>(size_), side.blocks.size());
  side.counts.reserve(entries);
  side.places.reserve(entries);
  for (const Block& block : side.blocks) {
    if (packed_vector) break;
    side.counts.add(block.items);
    side.places.add(block.place);
  }
  if (packed_vector) {
    for (const Count units : all_units()) side.counts.add(units * o.unit / element.base_elements);
  }
  if (o.absolute) side.absolute = at_address(element, side.memory.address());
  if (o.neighbor != NeighborFunction::alltoallw && !o.has_types) return;
  side.bytes.reserve(entries);
  side.datatypes.reserve(entries);
  for (const Block& block : side.blocks) {
    side.bytes.add(block.place * element.extent);
    side.datatypes.push_back(wire_type(side));
  }
}

void Instance::put(Side& side, std::size_t block, int index, int execution) {
  const Block& at = side.blocks[block];
  std::vector<std::byte> packed(
      static_cast<std::size_t>(side.packed_bytes(at, base_type(operation_->base).packed_bytes)));
  fill_values(*operation_, hash(operation_->data, execution, rank_, index), rank_, size_, packed);
  unpack(side, side.memory.address(), at, packed);
}

void Instance::fill(int execution) {
  const Collective c = operation_->collective;
  fill_noise(hash(operation_->data, execution, rank_, sending), send_.memory.bytes());
  fill_noise(hash(operation_->data, execution, rank_, receiving), recv_.memory.bytes());
  if (send_.used) {
    for (std::size_t i = 0; i < send_.blocks.size(); ++i) put(send_, i, static_cast<int>(i), execution);
  } else if (c == Collective::bcast) {
    if (at_root()) put(recv_, 0, 0, execution);
  } else if (recv_.used && in_place()) {
    if (is_gather(c) || is_allgather(c)) {
      put(recv_, static_cast<std::size_t>(rank_), 0, execution);
    } else {
      for (std::size_t i = 0; i < recv_.blocks.size(); ++i) put(recv_, i, static_cast<int>(i), execution);
    }
  }
}

Instance::Input Instance::input(int to) const {
  const Collective c = operation_->collective;
  const Side& side = send_.used ? send_ : recv_;
  if (operation_->neighbor && is_allgather(c)) return {&side, side.blocks[0]};
  if (is_scatter(c) || is_exchange(c)) return {&side, side.blocks[static_cast<std::size_t>(to)]};
  if (!send_.used && (is_gather(c) || is_allgather(c))) return {&side, side.blocks[static_cast<std::size_t>(rank_)]};
  return {&side, side.blocks[0]};
}

void Instance::scribble() {
  fill_noise(hash(operation_->data, after, sending), send_.memory.bytes());
  fill_noise(hash(operation_->data, after, receiving), recv_.memory.bytes());
}

void Instance::scribble_counts() {
  for (Side* side : {&send_, &recv_}) {
    std::fill(side->counts.narrow.begin(), side->counts.narrow.end(), -7);
    std::fill(side->counts.wide.begin(), side->counts.wide.end(), -7);
    std::fill(side->places.narrow.begin(), side->places.narrow.end(), 1 << 30);
    std::fill(side->places.wide.begin(), side->places.wide.end(), 1 << 30);
    std::fill(side->bytes.narrow.begin(), side->bytes.narrow.end(), 1 << 30);
    std::fill(side->bytes.wide.begin(), side->bytes.wide.end(), 1 << 30);
    std::fill(side->datatypes.begin(), side->datatypes.end(), MPI_DATATYPE_NULL);
  }
}

void Instance::drop_arrays() {
  if (operation_->arrays == Arrays::overwritten) scribble_counts();
  if (operation_->arrays != Arrays::unmapped) return;
  for (Side* side : {&send_, &recv_}) {
    side->counts = {};
    side->places = {};
    side->bytes = {};
    side->datatypes = {};
  }
}

bool Instance::still_scribbled() const {
  const auto holds_noise = [&](std::uint64_t which, std::span<const std::byte> bytes) {
    std::vector<std::byte> noise(bytes.size());
    fill_noise(hash(operation_->data, after, which), noise);
    return std::ranges::equal(noise, bytes);
  };
  return holds_noise(sending, send_.memory.bytes()) && holds_noise(receiving, recv_.memory.bytes());
}

void Instance::free_handles() {
  for (Side* side : {&send_, &recv_}) {
    side->element.type.free();
    side->absolute.free();
  }
  op_.free();
}

Arguments Instance::arguments(MPI_Comm comm) const {
  Arguments a{.root = root_, .comm = comm};
  a.op = op_.get();
  const auto address = [](const Side& side) -> void* {
    return side.absolute.get() == MPI_DATATYPE_NULL ? const_cast<std::byte*>(side.memory.address()) : MPI_BOTTOM;
  };
  // An argument that is not significant has a plausible value, or nonsense.
  const bool sloppy = operation_->sloppy;
  a.sendcount = a.recvcount = sloppy ? -1 : 0;
  a.sendtype = a.recvtype = sloppy ? MPI_DATATYPE_NULL : MPI_BYTE;
  if (send_.used) {
    a.sendbuf = address(send_);
    a.sendcount = send_.blocks.empty() ? 0 : send_.blocks[0].items;
    a.sendtype = wire_type(send_);
    a.sendcounts = &send_.counts;
    a.sendplaces = &send_.places;
    a.sendbytes = &send_.bytes;
    a.sendtypes = send_.datatypes.data();
  }
  if (recv_.used) {
    a.recvbuf = address(recv_);
    a.recvcount = recv_.blocks.empty() ? 0 : recv_.blocks[0].items;
    a.recvtype = wire_type(recv_);
    a.recvcounts = &recv_.counts;
    a.recvplaces = &recv_.places;
    a.recvbytes = &recv_.bytes;
    a.recvtypes = recv_.datatypes.data();
  }
  if (in_place()) {
    if (is_scatter(operation_->collective)) {
      a.recvbuf = MPI_IN_PLACE;
    } else {
      a.sendbuf = MPI_IN_PLACE;
    }
  }
  if (is_reducing(operation_->collective)) {  // one count and one type
    const Side& side = send_.used ? send_ : recv_;
    a.sendtype = wire_type(side);
    a.sendcount = side.blocks[0].items;
    if (operation_->collective == Collective::reduce_scatter_block) {
      a.sendcount = operation_->count * operation_->unit / side.element.base_elements;
    }
    a.recvcounts = &side.counts;
  }
  return a;
}

}  // namespace circoll::torture
