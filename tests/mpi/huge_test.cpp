// Totals beyond 2^31 bytes and beyond 2^31 elements. Up to 5 GiB of memory on two ranks, so by name only:
// ctest -C huge -L huge.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>

#include "circoll/mpi.hpp"
#include "harness.hpp"

namespace circoll::test {
namespace {

constexpr Count beyond_int = (Count{1} << 31) + 4096;

struct Free {
  void operator()(char* data) const { std::free(data); }
};
using Bytes = std::unique_ptr<char[], Free>;

Bytes allocate(Count bytes) { return Bytes(static_cast<char*>(std::malloc(static_cast<std::size_t>(bytes)))); }

/// The value at word i of rank r's data.
std::uint64_t word(int r, Count i) { return static_cast<std::uint64_t>(i * 3 + r) * 0x9e3779b97f4a7c15ULL; }

void fill(char* data, Count bytes, int r, Count first) {
  auto* const words = reinterpret_cast<std::uint64_t*>(data);
  for (Count i = 0; i < bytes / 8; ++i) words[i] = word(r, first + i);
}

Count count_wrong(const char* data, Count bytes, int r, Count first) {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(data);
  Count wrong = 0;
  for (Count i = 0; i < bytes / 8; ++i) wrong += words[i] != word(r, first + i) ? 1 : 0;
  return wrong;
}

/// Address space that maps the same few bytes again and again.
class Repeated {
 public:
  static constexpr Count period = Count{1} << 20;

  explicit Repeated(Count bytes) : bytes_((bytes + period - 1) / period * period) {
    const int file = memfd_create("circoll", 0);
    if (file < 0 || ftruncate(file, period) != 0) return;
    void* const place = mmap(nullptr, size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) return;
    data_ = static_cast<char*>(place);
    for (Count at = 0; at < bytes_; at += period) {
      mmap(data_ + at, period, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    }
    close(file);
  }
  ~Repeated() {
    if (data_ != nullptr) munmap(data_, size());
  }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;
  [[nodiscard]] char* data() const { return data_; }

 private:
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(bytes_); }
  Count bytes_;
  char* data_ = nullptr;
};

}  // namespace

TEST_MPI(huge_movements) {
  const int p = world_size(), r = world_rank();
  if (p > 2) return;
  const Bytes data = allocate(beyond_int);
  if (!data) return fail("no memory");
  fill(data.get(), beyond_int, r, 0);
  mpi::bcast(data.get(), beyond_int, MPI_BYTE, p - 1, MPI_COMM_WORLD);
  expect(count_wrong(data.get(), beyond_int, p - 1, 0) == 0, "bcast of bytes");
  // The counts are int, of a larger element.
  MPI_Datatype page = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(4096, MPI_BYTE, &page);
  PMPI_Type_commit(&page);
  fill(data.get(), beyond_int, r, 0);
  mpi::bcast(data.get(), beyond_int / 4096, page, 0, MPI_COMM_WORLD);
  expect(count_wrong(data.get(), beyond_int, 0, 0) == 0, "bcast of pages");
  PMPI_Type_free(&page);
  const Count block = beyond_int / p;
  fill(data.get() + r * block, block, r, 0);
  mpi::allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.get(), block, MPI_BYTE, MPI_COMM_WORLD);
  for (int i = 0; i < p; ++i) expect(count_wrong(data.get() + i * block, block, i, 0) == 0, "allgather");
}

TEST_MPI(huge_packed_elements) {
  const int r = world_rank();
  if (world_size() > 2) return;
  constexpr Count mebibyte = Count{1} << 20, count = 2100;
  static_assert(mebibyte * count > std::numeric_limits<int>::max());
  const Bytes data = allocate(r == 0 ? 4096 + count : mebibyte * count);
  if (!data) return fail("no memory");
  if (r == 0) {
    // A page is received 256 times, and the next element begins at the next byte.
    for (Count i = 0; i < 4096 + count; ++i) data[static_cast<std::size_t>(i)] = static_cast<char>(i % 251);
    MPI_Datatype vector = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    PMPI_Type_create_hvector(256, 4096, 0, MPI_BYTE, &vector);
    PMPI_Type_create_resized(vector, 0, 1, &type);
    PMPI_Type_commit(&type);
    mpi::bcast(data.get(), count, type, 0, MPI_COMM_WORLD);
    PMPI_Type_free(&type);
    PMPI_Type_free(&vector);
    return;
  }
  mpi::bcast(data.get(), count * mebibyte, MPI_BYTE, 0, MPI_COMM_WORLD);
  Count wrong = 0;
  for (Count i = 0; i < count * mebibyte; ++i) {
    wrong += data[static_cast<std::size_t>(i)] != static_cast<char>((i / mebibyte + i % 4096) % 251) ? 1 : 0;
  }
  expect(wrong == 0, "bcast of packed elements");
}

TEST_MPI(huge_reduction) {
  const int p = world_size(), r = world_rank();
  if (p > 2) return;
  const Count block = (beyond_int / p + Repeated::period - 1) / Repeated::period * Repeated::period;
  const Repeated input(block * p);
  const Bytes result = allocate(block);
  if (input.data() == nullptr || !result) return fail("no memory");
  for (Count i = 0; i < Repeated::period; ++i) input.data()[i] = static_cast<char>(i % 61 + r);
  mpi::reduce_scatter_block(input.data(), result.get(), block, MPI_INT8_T, MPI_SUM, MPI_COMM_WORLD);
  Count wrong = 0;
  for (Count i = 0; i < block; ++i) {
    const Count expected = p * (i % Repeated::period % 61) + p * (p - 1) / 2;
    wrong += result[static_cast<std::size_t>(i)] != static_cast<char>(expected) ? 1 : 0;
  }
  expect(wrong == 0, "reduce_scatter_block");
}

}  // namespace circoll::test
