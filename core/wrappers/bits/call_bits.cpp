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

namespace {

/// Elements with gaps are packed into so many bytes at a time, or one by one if they are longer.
constexpr Count packed_at_once = 1 << 20;

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

}  // namespace

CallBits::Piece CallBits::piece(const char* begin, Count count, MPI_Datatype type) {
  return {.begin = begin, .count = count, .type = type, .info = mpi::describe(type)};
}

void CallBits::add(BytesHash& hash, const Piece& piece) {
  const mpi::TypeInfo& info = piece.info;
  if (piece.count == 0 || info.size_bytes == 0) return;
  const auto bytes = static_cast<std::size_t>(piece.count * info.size_bytes);
  std::size_t number_bytes = 0;
  if (const std::size_t used = used_bytes(info.element, &number_bytes); used > 0) {
    for (std::size_t at = 0; at < bytes; at += number_bytes) hash.add(piece.begin + at, used);
    return;
  }
  if (info.dense) return hash.add(piece.begin, bytes);
  const Count step = std::max<Count>(1, packed_at_once / info.size_bytes);
  std::vector<std::byte> packed(static_cast<std::size_t>(std::min(step, piece.count) * info.size_bytes));
  for (Count done = 0; done < piece.count; done += step) {
    const Count elements = std::min(step, piece.count - done);
    const char* const from = piece.begin + done * info.extent_bytes;
    if (mpi::pack(from, elements, piece.type, info, packed.data()) != MPI_SUCCESS) return;
    hash.add(reinterpret_cast<const char*>(packed.data()), static_cast<std::size_t>(elements * info.size_bytes));
  }
}

CallBits::~CallBits() {
  for (MPI_Datatype& type : kept_) PMPI_Type_free(&type);
}

void CallBits::keep() {
  MPI_Datatype from = MPI_DATATYPE_NULL;
  for (Piece& piece : got_) {
    if (piece.info.dense || piece.info.named || piece.count == 0) continue;
    if (kept_.empty() || piece.type != from) {  // most calls have one
      MPI_Datatype made = MPI_DATATYPE_NULL;
      from = piece.type;
      // A duplicate would run the program's callbacks for attributes.
      if (mpi::make_contiguous(1, from, piece.info.extent_bytes, &made) != MPI_SUCCESS) throw std::bad_alloc();
      kept_.push_back(made);
    }
    piece.type = kept_.back();
  }
}

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
  given_.push_back(piece(mpi::as_base(in_place ? call.recvbuf : call.sendbuf), given, call.sendtype));
  if (is_significant(traits_of(call.collective).recv, rank, call.root)) {
    got_.push_back(piece(mpi::as_base(call.recvbuf), got, call.sendtype));
  }
}

void CallBits::read_movement(const mpi::Call& call, Rank rank, Rank size) {
  const CollectiveTraits& traits = traits_of(call.collective);
  if (call.collective == Collective::bcast) {
    const Piece vector = piece(mpi::as_base(call.recvbuf), call.recvcount, call.recvtype);
    (rank == call.root ? given_ : got_).push_back(vector);
    return;
  }
  const auto block_of = [&call](const char* begin, Rank block, Count each, MPI_Datatype type,
                                const mpi::CountArray& counts, const mpi::CountArray& displs,
                                const MPI_Datatype* types) -> Piece {
    if (!displs) return piece(begin + block * each * mpi::describe(type).extent_bytes, each, type);
    const Count count = counts[block], displ = displs[block];
    if (call.has_types) return piece(begin + displ, count, mpi::type_of_block(types, block, count));
    return piece(begin + displ * mpi::describe(type).extent_bytes, count, type);
  };
  const auto sent = [&](Rank block) {
    return block_of(mpi::as_base(call.sendbuf), block, call.sendcount, call.sendtype, call.sendcounts, call.senddispls,
                    call.sendtypes);
  };
  const auto received = [&](Rank block) {
    return block_of(mpi::as_base(call.recvbuf), block, call.recvcount, call.recvtype, call.recvcounts, call.recvdispls,
                    call.recvtypes);
  };
  const bool all_sent = traits.send.holds == Holds::all, all_received = traits.recv.holds == Holds::all;
  const bool sends = is_significant(traits.send, rank, call.root);
  if (sends && call.sendbuf == MPI_IN_PLACE) {
    // The contribution is in the receive buffer: this rank's block, or all of them.
    for (Rank i = 0; i < size; ++i) {
      if (all_sent || i == rank) given_.push_back(received(i));
    }
  } else if (sends) {
    for (Rank i = 0; i < (all_sent ? size : 1); ++i) given_.push_back(sent(i));
  }
  // The root of a scatter in place has its block already.
  if (call.recvbuf == MPI_IN_PLACE || !is_significant(traits.recv, rank, call.root)) return;
  for (Rank i = 0; i < (all_received ? size : 1); ++i) got_.push_back(received(i));
}

std::uint64_t CallBits::hash(const std::vector<Piece>& pieces) {
  BytesHash hash;
  for (const Piece& piece : pieces) add(hash, piece);
  return hash.value();
}

}  // namespace circoll::interpose
