// One call of a neighbourhood collective, and the blocks of its buffers, edge by edge.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "circoll/buffers.hpp"
#include "exec/mpi/call/datatype.hpp"
#include "schedule/neighborhood.hpp"

namespace circoll::mpi {

/// The arguments of MPI's function about one buffer. Those that it does not have keep their defaults.
struct NeighborArguments {
  const void* buffer = nullptr;
  Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Counts counts{};                      ///< in place of `count`
  Counts displs{};                      ///< in elements; of alltoallw in bytes
  const MPI_Datatype* types = nullptr;  ///< alltoallw, in place of `type`
};

struct NeighborCall {
  NeighborFunction function = NeighborFunction::allgather;
  NeighborArguments send{};
  NeighborArguments recv{};
  MPI_Comm comm = MPI_COMM_NULL;
};

/// The library's own function for a call, as `function(reason)` makes it. Refers to `function`. Returns an MPI error
/// code.
class NeighborNative {
 public:
  template <typename Function>
  explicit NeighborNative(const Function& function)
      : function_(&function),
        call_([](const void* f, std::string_view reason) { return (*static_cast<const Function*>(f))(reason); }) {}
  [[nodiscard]] int operator()(std::string_view reason) const { return call_(function_, reason); }

 private:
  const void* function_;
  int (*call_)(const void*, std::string_view);
};

/// The arrays of the library's own call, which it may read until its request is over.
struct NeighborArrays {
  std::array<std::vector<int>, 4> numbers;
  std::array<std::vector<MPI_Aint>, 2> displs;     ///< of alltoallw, in bytes
  std::array<std::vector<MPI_Datatype>, 2> types;  ///< of alltoallw
};
/// The library's own function: blocking, nonblocking or persistent. `arrays` get what the call has. Throws
/// Error(unsupported) if a number does not fit into int.
[[nodiscard]] int call_native(const NeighborCall& call, NeighborArrays& arrays);
[[nodiscard]] int start_native(const NeighborCall& call, NeighborArrays& arrays, MPI_Request* request);
[[nodiscard]] int init_native(const NeighborCall& call, NeighborArrays& arrays, MPI_Request* request);

/// The edges of this rank in the topology of a communicator. Nothing if there is no topology, or if a rank's edges to
/// itself do not fit together. Asks MPI, and does not wait for other ranks.
[[nodiscard]] std::optional<Neighborhood> find_neighborhood(MPI_Comm comm, Rank rank, Rank size);

/// The blocks that the functions of MPI have arguments for, sent or received; 0 if there is no topology.
[[nodiscard]] int neighbor_blocks(MPI_Comm comm, bool sent);

/// The blocks of one buffer in the order of the edges. A buffer whose datatypes are dense is used as it is. Another one
/// goes through staging memory, where its packed blocks follow one another.
class NeighborSide {
 public:
  /// Reads what a call says about the blocks at the places of `edges`. `irregular`: it must have arrays of counts and
  /// displacements. The memory for them serves the next call, too.
  void read(const NeighborArguments& arguments, std::span<const NeighborEdge> edges, bool irregular);

  [[nodiscard]] bool erroneous() const { return erroneous_; }
  /// True if both describe blocks of the same sizes at the same displacements. The addresses of buffers may differ.
  [[nodiscard]] bool same_blocks(const NeighborSide& other) const { return blocks_ == other.blocks_; }
  [[nodiscard]] bool staged() const { return staged_; }
  [[nodiscard]] std::size_t size() const { return blocks_.size(); }
  [[nodiscard]] Count bytes_of(std::size_t block) const { return blocks_[block].count * info_of(block).size_bytes; }
  /// Of all blocks in staging memory.
  [[nodiscard]] Count total_bytes() const;
  [[nodiscard]] std::vector<Count> sizes() const;
  [[nodiscard]] bool have(const std::vector<Count>& sizes) const;
  /// Has the buffer staged by blocks of these sizes. A block of another size is neither packed nor unpacked.
  void stage_by(std::vector<Count> sizes) {
    staged_ = true;
    staged_sizes_ = std::move(sizes);
  }
  /// Displacements in bytes; none if the buffer is staged.
  [[nodiscard]] std::vector<Count> displacements() const;

  /// Keeps datatypes that the program may free while an operation needs them. release() frees what it has made.
  [[nodiscard]] int hold_types();
  void release_types() noexcept;

  [[nodiscard]] int pack_to(const void* buffer, std::byte* to) const;
  [[nodiscard]] int unpack_from(const std::byte* from, void* buffer) const;

 private:
  struct Part {
    Count displ_bytes = 0;
    Count count = 0;
    std::uint64_t type_id = 0;
    friend bool operator==(const Part&, const Part&) = default;
  };
  struct Typed {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    TypeInfo info{};
    bool made = false;
  };
  [[nodiscard]] const Typed& type_of(std::size_t block) const { return types_[types_.size() == 1 ? 0 : block]; }
  [[nodiscard]] const TypeInfo& info_of(std::size_t block) const { return type_of(block).info; }
  void read_type(MPI_Datatype type);

  [[nodiscard]] Count staged_bytes_of(std::size_t block) const {
    return staged_sizes_.empty() ? bytes_of(block) : staged_sizes_[block];
  }

  std::vector<Part> blocks_;
  std::vector<Typed> types_;         ///< one for all blocks, or one for each
  std::vector<Count> staged_sizes_;  ///< empty: those of the blocks
  bool erroneous_ = false;
  bool staged_ = false;
};

}  // namespace circoll::mpi
