// Makes calls by the algorithms inside the MPI library, as circoll-bench does, and prints marks that they leave: the
// number of calls of an operator of ours on all ranks, and of their elements.
//
// usage: native_algorithms COLLECTIVE COUNT SEGMENT_BYTES; a line for each algorithm on rank 0, "NAME COMBINATIONS
// ELEMENTS" or "NAME refused". Before the call its name is in a line of standard error, where the dynamic linker may
// say which function is called for the first time (LD_DEBUG=bindings).
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "facts/text.hpp"
#include "native/algorithms.hpp"

namespace {

using circoll::Collective;
using circoll::bench::native::Forced;

long combinations = 0, elements = 0;

extern "C" void combine(void* in, void* inout, int* length, MPI_Datatype* /*type*/) {
  ++combinations;
  elements += *length;
  for (int i = 0; i < *length; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}

int call(Collective collective, MPI_Comm comm, int size, int count, MPI_Op op) {
  static std::vector<int> in, out;
  in.assign(static_cast<std::size_t>(count * size), 1);
  out.assign(in.size(), 0);
  switch (collective) {
    case Collective::allreduce:
      return PMPI_Allreduce(in.data(), out.data(), count, MPI_INT, op, comm);
    case Collective::reduce:
      return PMPI_Reduce(in.data(), out.data(), count, MPI_INT, op, 0, comm);
    case Collective::reduce_scatter_block:
      return PMPI_Reduce_scatter_block(in.data(), out.data(), count, MPI_INT, op, comm);
    case Collective::bcast:
      return PMPI_Bcast(in.data(), count, MPI_INT, 0, comm);
    case Collective::allgather:
      return PMPI_Allgather(in.data(), count, MPI_INT, out.data(), count, MPI_INT, comm);
    case Collective::alltoall:
      return PMPI_Alltoall(in.data(), count, MPI_INT, out.data(), count, MPI_INT, comm);
    default:
      std::fprintf(stderr, "no calls of this collective are made here\n");
      std::exit(2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  circoll::bench::native::prepare_library();
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const Collective collective = circoll::parse_collective(argv[1]);
  const int count = std::atoi(argv[2]);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(combine, 1, &op);
  for (const std::string& name : circoll::bench::native::all_names(collective, size, circoll::Count{count} * 4 * size,
                                                                   {circoll::Count{std::atoi(argv[3])}})) {
    const Forced& forced = Forced::get(collective, name);
    MPI_Barrier(MPI_COMM_WORLD);
    combinations = elements = 0;
    if (rank == 0) std::fprintf(stderr, "forced %s\n", name.c_str());
    forced.arm();
    const int error = call(collective, forced.comm(), size, count, op);
    forced.disarm();
    long mine[3] = {combinations, elements, error == MPI_SUCCESS ? 0 : 1}, all[3] = {};
    MPI_Allreduce(mine, all, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank != 0) continue;
    if (all[2] != 0) {
      std::printf("%s refused\n", name.c_str());
    } else {
      std::printf("%s %ld %ld\n", name.c_str(), all[0], all[1]);
    }
  }
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
