#include "wrappers/bits/call_bits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>

#include "circoll/collectives.hpp"
#include "exec/mpi/call/caller_buffers.hpp"
#include "exec/mpi/call/datatype.hpp"
#include "facts/hash.hpp"

namespace circoll::interpose {
namespace {

/// Elements with gaps are packed into so many bytes at a time, or one by one if they are longer.
constexpr Count packed_at_once = 1 << 20;

class BytesHash {
 public:
  void add(const char* bytes, std::size_t size) {
    for (; size >= sizeof(std::uint64_t); size -= sizeof(std::uint64_t), bytes += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes, sizeof word);
      hash_.add(word);
    }
    std::uint64_t rest = 0;
    if (size > 0) std::memcpy(&rest, bytes, size);
    hash_.add(rest).add(size);
  }
  [[nodiscard]] std::uint64_t value() const { return mixed_bits(hash_.value()); }

 private:
  QuickHash hash_;
};

/// The bytes of a number that have values, if those behind them are unspecified; 0: all have.
std::size_t used_bytes(std::optional<Type> element, std::size_t* number_bytes) {
#ifdef __x86_64__
  constexpr std::size_t of_long_double = 10;
  *number_bytes = sizeof(long double);
  if (element == Type::float_long || element == Type::complex_long) return of_long_double;
#else
  (void)element;
  (void)number_bytes;
#endif
  return 0;
}

void add_elements(BytesHash& hash, const char* begin, Count count, MPI_Datatype type) {
  const mpi::TypeInfo info = mpi::describe(type);
  if (count == 0 || info.size_bytes == 0) return;
  const auto bytes = static_cast<std::size_t>(count * info.size_bytes);
  std::size_t number_bytes = 0;
  if (const std::size_t used = used_bytes(info.element, &number_bytes); used > 0) {
    for (std::size_t at = 0; at < bytes; at += number_bytes) hash.add(begin + at, used);
    return;
  }
  if (info.dense) return hash.add(begin, bytes);
  const Count step = std::max<Count>(1, packed_at_once / info.size_bytes);
  std::vector<std::byte> packed(static_cast<std::size_t>(std::min(step, count) * info.size_bytes));
  for (Count done = 0; done < count; done += step) {
    const Count elements = std::min(step, count - done);
    if (mpi::pack(begin + done * info.extent_bytes, elements, type, info, packed.data()) != MPI_SUCCESS) return;
    hash.add(reinterpret_cast<const char*>(packed.data()), static_cast<std::size_t>(elements * info.size_bytes));
  }
}

}  // namespace

CallBits::CallBits(const mpi::Call& call, Rank rank, Rank size) {
  if (is_reducing(call.collective)) {
    read_reduction(call, rank, size);
  } else if (traits_of(call.collective).moves_data) {
    read_movement(call, rank, size);
  }
}

void CallBits::read_reduction(const mpi::Call& call, Rank rank, Rank size) {
  Count given = call.sendcount, got = call.sendcount;
  if (call.collective == Collective::reduce_scatter_block) {
    got = call.recvcount;
    given = got * size;
  } else if (call.collective == Collective::reduce_scatter) {
    given = 0;
    for (Rank i = 0; i < size; ++i) given += call.recvcounts[i];
    got = call.recvcounts[rank];
  }
  const bool in_place = call.sendbuf == MPI_IN_PLACE;
  given_.push_back({mpi::as_base(in_place ? call.recvbuf : call.sendbuf), given, call.sendtype});
  if (is_significant(traits_of(call.collective).recv, rank, call.root)) {
    got_.push_back({mpi::as_base(call.recvbuf), got, call.sendtype});
  }
}

void CallBits::read_movement(const mpi::Call& call, Rank rank, Rank size) {
  const CollectiveTraits& traits = traits_of(call.collective);
  if (call.collective == Collective::bcast) {
    const Piece vector{mpi::as_base(call.recvbuf), call.recvcount, call.recvtype};
    (rank == call.root ? given_ : got_).push_back(vector);
    return;
  }
  const auto extent = [](MPI_Datatype type) { return mpi::describe(type).extent_bytes; };
  const auto sent = [&](Rank block) -> Piece {
    char* const begin = mpi::as_base(call.sendbuf);
    if (!call.senddispls)
      return {begin + block * call.sendcount * extent(call.sendtype), call.sendcount, call.sendtype};
    const Count count = call.sendcounts[block], displ = call.senddispls[block];
    if (call.has_types) return {begin + displ, count, mpi::type_of_block(call.sendtypes, block, count)};
    return {begin + displ * extent(call.sendtype), count, call.sendtype};
  };
  const auto received = [&](Rank block) -> Piece {
    char* const begin = mpi::as_base(call.recvbuf);
    if (!call.recvdispls)
      return {begin + block * call.recvcount * extent(call.recvtype), call.recvcount, call.recvtype};
    const Count count = call.recvcounts[block], displ = call.recvdispls[block];
    if (call.has_types) return {begin + displ, count, mpi::type_of_block(call.recvtypes, block, count)};
    return {begin + displ * extent(call.recvtype), count, call.recvtype};
  };
  const bool all_sent = traits.send.holds == Holds::all, all_received = traits.recv.holds == Holds::all;
  if (call.sendbuf == MPI_IN_PLACE) {  // the contribution is in the receive buffer: this rank's block, or all of them
    for (Rank i = 0; i < size; ++i) {
      if (all_sent || i == rank) given_.push_back(received(i));
    }
  } else if (is_significant(traits.send, rank, call.root)) {
    for (Rank i = 0; i < (all_sent ? size : 1); ++i) given_.push_back(sent(i));
  }
  // The root of a scatter in place has its block already.
  if (call.recvbuf == MPI_IN_PLACE || !is_significant(traits.recv, rank, call.root)) return;
  for (Rank i = 0; i < (all_received ? size : 1); ++i) got_.push_back(received(i));
}

std::uint64_t CallBits::hash(const std::vector<Piece>& pieces) {
  BytesHash hash;
  for (const Piece& piece : pieces) add_elements(hash, piece.begin, piece.count, piece.type);
  return hash.value();
}

}  // namespace circoll::interpose
