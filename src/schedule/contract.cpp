// What MPI says about the caller's buffers.
#include "circoll/error.hpp"
#include "circoll/schedule.hpp"

namespace circoll {
namespace {

Buffer row(Slot slots, Block first_block, std::int32_t number) {
  return Buffer{.slots = slots, .first_block = first_block, .storage = number};
}

/// Fills in the buffers and where input and output lie, for a rank that has `in` and `out` blocks.
struct Filler {
  CollectiveContract contract;

  void send(Slot slots, Block first_block) {
    contract.send_significant = true;
    contract.send = row(slots, first_block, send_buffer);
  }
  void recv(Slot slots, Block first_block) {
    contract.recv_significant = true;
    contract.recv = row(slots, first_block, recv_buffer);
  }
  void input(std::int32_t buffer, Slot first, Slot count) {
    contract.input_buffer = buffer;
    contract.input_first = first;
    contract.input_count = count;
  }
  void output(std::int32_t buffer, Slot first, Slot count) {
    contract.output_buffer = buffer;
    contract.output_first = first;
    contract.output_count = count;
  }
};

}  // namespace

bool has_in_place_schedule(Collective collective, const Shape& shape) {
  switch (collective) {
    case Collective::allreduce:
    case Collective::allgather:
    case Collective::allgatherv:
    case Collective::scan:
    case Collective::exscan:
      return true;
    case Collective::reduce:
    case Collective::gather:
    case Collective::gatherv:
    case Collective::scatter:
    case Collective::scatterv:
      return shape.rank == shape.root;
    default:
      return false;
  }
}

CollectiveContract contract_of(Collective collective, const Shape& shape, std::int64_t segments) {
  require(shape.size >= 1, "p must be at least 1");
  require(shape.rank >= 0 && shape.rank < shape.size, "the rank must be in 0 .. p-1");
  require(shape.root >= 0 && shape.root < shape.size, "the root must be in 0 .. p-1");
  require(segments >= 1, "a user block is cut into at least one segment");
  const bool in_place = shape.in_place && has_in_place_schedule(collective, shape);
  const bool at_root = shape.rank == shape.root;
  const Slot n = segments;
  const Slot all = shape.size * n;
  const Block own = shape.rank * n;

  Filler f;
  f.contract.send.storage = send_buffer;
  f.contract.recv.storage = recv_buffer;
  switch (collective) {
    case Collective::allreduce:
      if (!in_place) f.send(n, 0);
      f.recv(n, 0);
      f.input(in_place ? recv_buffer : send_buffer, 0, n);
      f.output(recv_buffer, 0, n);
      break;
    case Collective::reduce:
      if (!in_place) f.send(n, 0);
      if (at_root) f.recv(n, 0);
      f.input(in_place ? recv_buffer : send_buffer, 0, n);
      f.output(recv_buffer, 0, at_root ? n : 0);
      break;
    case Collective::reduce_scatter_block:
    case Collective::reduce_scatter:
      f.contract.user_blocks = shape.size;
      f.send(all, 0);
      f.recv(n, own);
      f.input(send_buffer, 0, all);
      f.output(recv_buffer, 0, n);
      break;
    case Collective::allgather:
    case Collective::allgatherv:
      f.contract.user_blocks = shape.size;
      if (!in_place) f.send(n, own);
      f.recv(all, 0);
      f.input(in_place ? recv_buffer : send_buffer, in_place ? own : 0, n);
      f.output(recv_buffer, 0, all);
      break;
    case Collective::gather:
    case Collective::gatherv:
      f.contract.user_blocks = shape.size;
      if (!in_place) f.send(n, own);
      if (at_root) f.recv(all, 0);
      f.input(in_place ? recv_buffer : send_buffer, in_place ? own : 0, n);
      f.output(recv_buffer, 0, at_root ? all : 0);
      break;
    case Collective::scatter:
    case Collective::scatterv:
      f.contract.user_blocks = shape.size;
      if (at_root) f.send(all, 0);
      if (!in_place) f.recv(n, own);
      f.input(send_buffer, 0, at_root ? all : 0);
      f.output(in_place ? send_buffer : recv_buffer, in_place ? own : 0, n);
      break;
    case Collective::bcast:
      f.recv(n, 0);
      f.input(recv_buffer, 0, at_root ? n : 0);
      f.output(recv_buffer, 0, n);
      break;
    case Collective::barrier:
      f.send(n, 0);
      f.recv(n, 0);
      f.input(send_buffer, 0, n);
      f.output(recv_buffer, 0, n);
      break;
    case Collective::alltoall:
    case Collective::alltoallv: {
      // Block s * p + d goes from rank s to rank d.
      f.contract.user_blocks = shape.size * shape.size;
      f.send(all, own * shape.size);
      f.recv(all, own);
      if (n == 1) {
        f.contract.recv.stride = shape.size;
      } else {
        for (Rank source = 0; source < shape.size; ++source) {
          const Block first = (source * shape.size + shape.rank) * n;
          for (Slot i = 0; i < n; ++i) f.contract.recv.list.push_back(first + i);
        }
        f.contract.recv.first_block = 0;
      }
      f.input(send_buffer, 0, all);
      f.output(recv_buffer, 0, all);
      break;
    }
    case Collective::scan:
    case Collective::exscan: {
      const bool has_result = collective == Collective::scan || shape.rank > 0;
      if (!in_place) f.send(n, 0);
      if (in_place || has_result) f.recv(n, 0);
      f.input(in_place ? recv_buffer : send_buffer, 0, n);
      f.output(recv_buffer, 0, has_result ? n : 0);
      break;
    }
  }
  return f.contract;
}

}  // namespace circoll
