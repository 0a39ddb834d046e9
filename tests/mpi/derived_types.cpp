#include "derived_types.hpp"

#include <cstring>

#include "exec/mpi/serve/perform.hpp"

namespace circoll::test {

MPI_Datatype committed(MPI_Datatype type) {
  PMPI_Type_commit(&type);
  return type;
}

MPI_Datatype resized(MPI_Datatype type, MPI_Aint lb, MPI_Aint extent) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_create_resized(type, lb, extent, &made);
  PMPI_Type_free(&type);
  return committed(made);
}

void serve(const mpi::Call& call, const Algorithm& algorithm, const std::string& params) {
  const mpi::CallResult outcome =
      mpi::perform(call, *mpi::intern(call.collective, std::string(algorithm.name) + params), mpi::Unserved::refuse);
  expect(outcome.error == MPI_SUCCESS && outcome.served() != nullptr, algorithm.id(call.collective) + ": not served");
}

void compose_anywhere(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lb = 0, extent = 0, true_lb = 0, true_extent = 0;
  PMPI_Type_get_extent(*type, &lb, &extent);
  PMPI_Type_get_true_extent(*type, &true_lb, &true_extent);
  for (int i = 0; i < *count; ++i) {
    std::array<std::uint32_t, 2> left{}, right{};
    char* const to = static_cast<char*>(inout) + true_lb + i * extent;
    std::memcpy(left.data(), static_cast<char*>(in) + true_lb + i * extent, sizeof left);
    std::memcpy(right.data(), to, sizeof right);
    right = {left[0] * right[0], left[0] * right[1] + left[1]};
    std::memcpy(to, right.data(), sizeof right);
  }
}

Map map_of(int rank, Count i) {
  return {static_cast<std::uint32_t>(2 * rank + 3), static_cast<std::uint32_t>(rank + 7 * i)};
}

Map composed(int first, int last, Count i) {
  Map all{1, 0};
  for (int rank = first; rank < last; ++rank) {
    const Map next = map_of(rank, i);
    all = {all[0] * next[0], all[0] * next[1] + all[1]};
  }
  return all;
}

}  // namespace circoll::test
