// Elements a MiB apart: offsets beyond 2^31 bytes, of which few bytes are touched.
#include <sys/mman.h>

#include <cstring>
#include <limits>
#include <vector>

#include "circoll/mpi.hpp"
#include "circoll/select.hpp"
#include "derived_types.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "harness.hpp"

namespace circoll::test {
namespace {

/// Memory of which only touched pages exist.
class Sparse {
 public:
  explicit Sparse(Count bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~Sparse() {
    if (*this) munmap(data_, bytes_);
  }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  explicit operator bool() const { return data_ != MAP_FAILED; }
  [[nodiscard]] char* data() const { return static_cast<char*>(data_); }

 private:
  std::size_t bytes_;
  void* data_ = nullptr;
};

}  // namespace

// Elements a MiB apart: offsets beyond 2^31 bytes, displacements that are int only in units of elements.
TEST_MPI(extents_beyond_int) {
  constexpr Count extent = Count{1} << 20, count = 2100;
  static_assert(extent * count > std::numeric_limits<int>::max());
  const int p = world_size(), r = world_rank();
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(2, MPI_UINT32_T, &pair);
  MPI_Datatype type = resized(pair, 0, extent);
  const Sparse memory(extent * (count + 1));
  if (!memory) return fail("no address space");
  const auto at = [&](Count i) { return memory.data() + i * extent; };
  for_each_algorithm(Collective::bcast, {}, [&](const Algorithm& algorithm) {
    for (Count i = 0; i < count; ++i) {
      const Map value = r == 0 ? map_of(5, i) : Map{};
      std::memcpy(at(i), value.data(), sizeof value);
    }
    mpi::bcast(memory.data(), count, type, 0, MPI_COMM_WORLD, std::string(algorithm.name));
    expect(std::memcmp(at(count - 1), map_of(5, count - 1).data(), 8) == 0, algorithm.id(Collective::bcast));
  });
  // The block of rank i lies i elements before the end: an int in units of elements, not in bytes.
  const auto n = static_cast<std::size_t>(p);
  std::vector<int> ones(n, 1), displs(n);
  for (int i = 0; i < p; ++i) displs[static_cast<std::size_t>(i)] = static_cast<int>(count) - 1 - i;
  for (const Collective collective : {Collective::allgatherv, Collective::gatherv, Collective::alltoallv}) {
    for_each_algorithm(collective, {}, [&](const Algorithm& algorithm) {
      for (int i = 0; i < p; ++i) std::memset(at(count - 1 - i), 0, 8);
      const Map mine = map_of(r, 1);
      const std::vector<int> same(n, 0);
      mpi::Call call{.collective = collective,
                     .sendbuf = mine.data(),
                     .recvbuf = memory.data(),
                     .sendcount = 2,
                     .sendcounts = ones.data(),
                     .recvcounts = ones.data(),
                     .senddispls = same.data(),
                     .recvdispls = displs.data(),
                     .sendtype = MPI_UINT32_T,
                     .recvtype = type,
                     .root = p - 1,
                     .comm = MPI_COMM_WORLD};
      if (collective == Collective::alltoallv) call.sendtype = type;
      serve(call, algorithm);
      for (int i = 0; i < p && (collective != Collective::gatherv || r == p - 1); ++i) {
        expect(std::memcmp(at(count - 1 - i), map_of(i, 1).data(), 8) == 0, algorithm.id(collective));
      }
    });
  }
  PMPI_Type_free(&type);
}

// A user operator on such elements; some algorithms need as much memory again, of which little is touched.
TEST_MPI(user_operators_beyond_int) {
  if (world_size() > 3) return;  // address space
  constexpr Count extent = Count{1} << 20, count = 2100;
  MPI_Op op = MPI_OP_NULL;
  PMPI_Op_create(compose_anywhere, 0, &op);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(2, MPI_UINT32_T, &pair);
  MPI_Datatype type = resized(pair, 0, extent);
  const Sparse memory(extent * count);
  if (!memory) return fail("no address space");
  for (Count i = 0; i < count; ++i) std::memcpy(memory.data() + i * extent, map_of(world_rank(), i).data(), 8);
  const mpi::Call call{.collective = Collective::allreduce,
                       .sendbuf = MPI_IN_PLACE,
                       .recvbuf = memory.data(),
                       .sendcount = count,
                       .sendtype = type,
                       .op = op,
                       .comm = MPI_COMM_WORLD};
  const mpi::CallResult outcome = mpi::perform(call, *mpi::intern(call.collective, {}));
  // The choice depends on the bytes that are sent, without gaps: 17 KB, not the 2 GB from the first element to the
  // last.
  int error = MPI_SUCCESS;
  const Placement placement = mpi::CommState::of(MPI_COMM_WORLD, &error)->placement();
  const Selection small = resolve({}, {.collective = call.collective,
                                       .p = world_size(),
                                       .bytes = 8 * count,
                                       .op = {.commutative = false, .idempotent = false},
                                       .exact_op = false,
                                       .predefined_op = false,
                                       .cores = placement.cores,
                                       .nodes = placement.nodes,
                                       .crowded = placement.crowded});
  expect(outcome.error == MPI_SUCCESS && outcome.served() != nullptr, "not served");
  expect(outcome.served() == nullptr || outcome.served()->id() == small.id(), "not chosen by the bytes of messages");
  for (Count i = 0; i < count; ++i) {
    expect(std::memcmp(memory.data() + i * extent, composed(0, world_size(), i).data(), 8) == 0, "allreduce");
  }
  PMPI_Type_free(&type);
  PMPI_Op_free(&op);
}

}  // namespace circoll::test
