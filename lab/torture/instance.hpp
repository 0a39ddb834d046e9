// One rank's part of an operation: buffers with their contents, and the arguments of the call.
#pragma once

#include <mpi.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <vector>

#include "case.hpp"
#include "types.hpp"

namespace circoll::torture {

/// A buffer between guards.
class GuardedMemory {
 public:
  static constexpr Count guard_bytes = 64;

  GuardedMemory() : GuardedMemory(0, 0) {}
  /// Bytes `low` to `high` (exclusive) from its address, which may lie outside of them.
  GuardedMemory(Count low, Count high) {
    constexpr Count alignment = 64;
    low = std::min<Count>(low, high);
    // The vector's memory is aligned to 16 bytes, which suffices for every base type.
    origin_ = (guard_bytes - low) / alignment * alignment;
    if (origin_ + low < guard_bytes) origin_ += alignment;
    bytes_.resize(static_cast<std::size_t>(origin_ + high + guard_bytes));
  }

  [[nodiscard]] std::byte* address() { return bytes_.data() + origin_; }
  [[nodiscard]] const std::byte* address() const { return bytes_.data() + origin_; }
  /// Everything, guards as well.
  [[nodiscard]] std::span<std::byte> bytes() { return bytes_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// The distance of a place in bytes() from the address.
  [[nodiscard]] Count offset_of(std::size_t place) const { return static_cast<Count>(place) - origin_; }
  [[nodiscard]] bool in_guard(std::size_t place) const {
    return place < static_cast<std::size_t>(guard_bytes) ||
           place + static_cast<std::size_t>(guard_bytes) >= bytes_.size();
  }

 private:
  Count origin_ = 0;
  std::vector<std::byte> bytes_;
};

/// Allocates whole pages, so that a program that reads them after they were freed crashes.
template <typename T>
struct PageAllocator {
  using value_type = T;
  static constexpr std::size_t item_bytes = sizeof(T);  // NOLINT(bugprone-sizeof-expression): a handle may be a pointer

  PageAllocator() = default;
  template <typename U>
  PageAllocator(const PageAllocator<U>& /*other*/) {}  // NOLINT(google-explicit-constructor): as allocators are

  T* allocate(std::size_t n) {
    void* const pages = ::mmap(nullptr, n * item_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(pages);
  }
  void deallocate(T* pages, std::size_t n) { ::munmap(pages, n * item_bytes); }

  friend bool operator==(const PageAllocator& /*a*/, const PageAllocator& /*b*/) { return true; }
};

/// Items at a place, in items, of a buffer.
struct Block {
  Count place = 0;
  Count items = 0;
};

/// An array of counts or displacements, for both forms of a call.
template <typename Wide>
struct Numbers {
  std::vector<int, PageAllocator<int>> narrow;
  std::vector<Wide, PageAllocator<Wide>> wide;

  void reserve(std::size_t n) {
    narrow.reserve(n);
    wide.reserve(n);
  }
  void add(Count value) {
    narrow.push_back(static_cast<int>(value));
    wide.push_back(static_cast<Wide>(value));
  }
};

/// A send or receive buffer.
struct Side {
  bool used = false;
  Element element;
  Type absolute;  ///< null unless the call gets MPI_BOTTOM
  GuardedMemory memory;
  std::vector<Block> blocks;
  Numbers<MPI_Count> counts;
  Numbers<MPI_Aint> places;
  Numbers<MPI_Aint> bytes;                                           ///< places in bytes, for alltoallw
  std::vector<MPI_Datatype, PageAllocator<MPI_Datatype>> datatypes;  ///< of each block, likewise

  [[nodiscard]] Count packed_bytes(const Block& block, Count base_bytes) const {
    return block.items * element.base_elements * base_bytes;
  }
};

struct Arguments {
  const void* sendbuf = nullptr;
  void* recvbuf = nullptr;
  Count sendcount = 0, recvcount = 0;
  MPI_Datatype sendtype = MPI_DATATYPE_NULL, recvtype = MPI_DATATYPE_NULL;
  const Numbers<MPI_Count>*sendcounts = nullptr, *recvcounts = nullptr;
  const Numbers<MPI_Aint>*sendplaces = nullptr, *recvplaces = nullptr;
  const Numbers<MPI_Aint>*sendbytes = nullptr, *recvbytes = nullptr;
  const MPI_Datatype *sendtypes = nullptr, *recvtypes = nullptr;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

class Instance {
 public:
  /// `topology` is that of the communicator, if it has one.
  Instance(const Operation& operation, int rank, int size, const Topology* topology);

  /// Writes the contents that this execution starts from: inputs where they belong, noise elsewhere.
  void fill(int execution);
  /// Noise in the buffers, as a program may write there once the operation is complete.
  void scribble();
  /// Nonsense in the arrays of counts and displacements, likewise; of a persistent operation once its request is freed.
  void scribble_counts();
  /// Keeps, overwrites or unmaps the arrays of counts and displacements, as the operation says. Called once the call
  /// has returned, and arguments() is not to be called any more. MPI lets libraries need the arrays until completion,
  /// but none does, and programs rely on it.
  void drop_arrays();
  [[nodiscard]] bool still_scribbled() const;
  /// Frees the handles, as a program may once the operation is started.
  void free_handles();

  [[nodiscard]] Arguments arguments(MPI_Comm comm) const;

  [[nodiscard]] const Operation& operation() const { return *operation_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] const Topology* topology() const { return topology_; }
  [[nodiscard]] int root() const { return root_; }
  [[nodiscard]] bool in_place() const;
  [[nodiscard]] Side& send() { return send_; }
  [[nodiscard]] const Side& send() const { return send_; }
  [[nodiscard]] Side& recv() { return recv_; }
  [[nodiscard]] const Side& recv() const { return recv_; }
  [[nodiscard]] MPI_Op op() const { return op_.get(); }

  /// Blocks of the receive buffer that the operation defines, and those of which MPI says that they are undefined.
  [[nodiscard]] const std::vector<Block>& results() const { return results_; }
  [[nodiscard]] const std::vector<Block>& open() const { return open_; }

  /// The contribution that is result number `index` of a collective among neighbours.
  [[nodiscard]] const Edges::In& source_of(std::size_t index) const { return sources_[index]; }

  /// The place of the block that this rank contributes to rank `to`, or along its edge `to`.
  struct Input {
    const Side* side = nullptr;
    Block block;
  };
  [[nodiscard]] Input input(int to) const;

  /// Units of a block: of rank `index` in irregular collectives, from one rank to another in alltoallv.
  [[nodiscard]] static Count units(const Operation& operation, int index);
  [[nodiscard]] static Count units(const Operation& operation, int from, int to);

 private:
  void make_side(Side& side, std::uint64_t which, const std::vector<Count>& block_units, bool by_places, bool overlap);
  void make_sides();
  void make_neighbor_sides();
  [[nodiscard]] const Edges& edges() const { return (*topology_)[static_cast<std::size_t>(rank_)]; }
  [[nodiscard]] bool at_root() const { return rank_ == root_; }
  [[nodiscard]] std::vector<Count> all_units() const;
  [[nodiscard]] std::vector<Count> send_units() const;
  [[nodiscard]] std::vector<Count> recv_units() const;
  void put(Side& side, std::size_t block, int index, int execution);

  const Operation* operation_;
  int rank_, size_, root_;
  const Topology* topology_;
  std::vector<Edges::In> sources_;
  Side send_, recv_;
  Operator op_;
  std::vector<Block> results_, open_;
};

/// The bytes of a block, without gaps.
[[nodiscard]] std::vector<std::byte> pack(const Side& side, const std::byte* address, const Block& block,
                                          Count base_bytes);
void unpack(const Side& side, std::byte* address, const Block& block, const std::vector<std::byte>& packed);

// Contents of buffers, packed (values.cpp).

/// Packed base elements of a block, with values that suit the operator. Sums and products stay exact and do not
/// overflow, unless the operation is one of fractions. Different for each `stream`.
void fill_values(const Operation& operation, std::uint64_t stream, int rank, int size, std::span<std::byte> packed);

/// Fills bytes that are no data with noise, which looks like anything.
void fill_noise(std::uint64_t seed, std::span<std::byte> bytes);

/// A floating-point number of 4, 8 or 16 bytes, as the machine has it.
[[nodiscard]] long double get_floating(const std::byte* from, Count bytes);
void put_floating(std::byte* to, Count bytes, long double value);

}  // namespace circoll::torture
