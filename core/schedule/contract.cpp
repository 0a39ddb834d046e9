// The contract of MPI for the caller's buffers.
#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/schedule.hpp"

namespace circoll {
namespace {

/// The user blocks that a buffer holds, cut into segments.
struct BufferBlocks {
  Slot slots = 0;
  Block first_block = 0;
};

BufferBlocks part_of(Collective collective, Holds holds, const Shape& shape, Slot segments) {
  switch (traits_of(collective).blocks) {
    case Blocks::one:
      break;
    case Blocks::per_rank:
      if (holds == Holds::own_block) return {segments, shape.rank * segments};
      return {shape.size * segments, 0};
    case Blocks::per_pair:  // those that this rank sends; others come to it, see column_of()
      return {shape.size * segments, shape.rank * shape.size * segments};
  }
  return {segments, 0};
}

/// The blocks that come to a rank in an exchange, in the order of their sources.
Buffer column_of(const Shape& shape, Slot segments) {
  const Slot slots = shape.size * segments;
  if (segments == 1) return {.slots = slots, .first_block = shape.rank, .stride = shape.size, .storage = recv_buffer};
  Buffer column{.slots = slots, .storage = recv_buffer};
  for (Rank source = 0; source < shape.size; ++source) {
    const Block first = (source * shape.size + shape.rank) * segments;
    for (Slot i = 0; i < segments; ++i) column.list.push_back(first + i);
  }
  return column;
}

}  // namespace

bool has_in_place_schedule(Collective collective, const Shape& shape) {
  return traits_of(collective).in_place_schedule && can_be_in_place(collective, shape.rank, shape.root);
}

CollectiveContract contract_of(Collective collective, const Shape& shape, std::int64_t segments) {
  require(shape.size >= 1, "p must be at least 1");
  require(shape.rank >= 0 && shape.rank < shape.size, "the rank must be in 0 .. p-1");
  require(shape.root >= 0 && shape.root < shape.size, "the root must be in 0 .. p-1");
  require(segments >= 1, "a user block is cut into at least one segment");
  const CollectiveTraits& traits = traits_of(collective);
  const bool in_place = shape.in_place && has_in_place_schedule(collective, shape);
  const bool without_recvbuf = in_place && replaces_recvbuf(collective);
  const bool without_sendbuf = in_place && !without_recvbuf;
  const bool gives = is_significant(traits.send, shape.rank, shape.root);
  const bool gets = is_significant(traits.recv, shape.rank, shape.root);
  const BufferBlocks given = part_of(collective, traits.send.holds, shape, segments);
  const BufferBlocks got = part_of(collective, traits.recv.holds, shape, segments);

  CollectiveContract contract{.user_blocks = user_blocks(collective, shape.size)};
  contract.send.storage = send_buffer;
  contract.recv.storage = recv_buffer;
  contract.send_significant = gives && !without_sendbuf;
  if (contract.send_significant) {
    contract.send = {.slots = given.slots, .first_block = given.first_block, .storage = send_buffer};
  }
  // In place the receive buffer has the contribution even where no result comes: exscan's rank 0.
  contract.recv_significant = (gets && !without_recvbuf) || without_sendbuf;
  if (contract.recv_significant) {
    contract.recv = {.slots = got.slots, .first_block = got.first_block, .storage = recv_buffer};
    if (is_exchange(collective)) contract.recv = column_of(shape, segments);
  }

  contract.input_count = gives ? given.slots : 0;
  if (traits.send.at == Significant::none) {  // the root's receive buffer has it
    contract.input_buffer = recv_buffer;
    contract.input_count = shape.rank == shape.root ? got.slots : 0;
  } else if (without_sendbuf) {
    contract.input_buffer = recv_buffer;
    contract.input_first = given.first_block - got.first_block;
  }
  contract.output_count = gets ? got.slots : 0;
  if (without_recvbuf) {
    contract.output_buffer = send_buffer;
    contract.output_first = got.first_block - given.first_block;
  }
  return contract;
}

}  // namespace circoll
