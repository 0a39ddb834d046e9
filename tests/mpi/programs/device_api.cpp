// device_api RUNTIME: the library without the drop-in, with a stand-in for a runtime of devices on the last rank.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <string>
#include <vector>

#include "../../devices/stub_runtime.h"
#include "circoll/mpi.hpp"

namespace {

int errors = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  ++errors;
  std::printf("wrong: %s\n", what);
}

/// The sentence of an error that a call throws; empty: it throws none.
template <typename Make>
std::string refusal(const Make& make) {
  try {
    make();
  } catch (const circoll::Error& e) {
    return e.code() == circoll::ErrorCode::unsupported ? e.what() : "another error";
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> mine(100, 1), sum(100), host(100);
  if (rank == size - 1) {
    void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 2;
    const auto claim = reinterpret_cast<decltype(&stub_claim)>(dlsym(library, "stub_claim"));
    claim(sum.data(), sum.size() * sizeof(int), stub_device);
  }
  const auto into = [&](std::vector<int>& result, const circoll::Choice& choice) {
    circoll::mpi::allreduce(mine.data(), result.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD, choice);
  };
  const char* const algorithm = "recursive_doubling";
  const std::string in_device = "a buffer is in device memory on some rank";
  for (int round = 0; round < 3; ++round) {
    into(host, algorithm);
    expect(host == std::vector<int>(100, size), "a call with memory of the host is served");
    expect(refusal([&] { into(sum, algorithm); }) == in_device, "an algorithm by name is refused on all ranks");
    sum.assign(100, 0);
    into(sum, {});
    expect(sum == std::vector<int>(100, size), "the native collective serves what nobody has chosen");
  }
  const auto begin = [&](std::vector<int>& result, const circoll::Choice& choice) {
    circoll::allreduce(mine, result, MPI_SUM, circoll::nonblocking(MPI_COMM_WORLD), choice).wait();
  };
  expect(refusal([&] { begin(host, algorithm); }).empty() == (size == 1), "ranks cannot agree in a nonblocking call");
  expect(!refusal([&] { begin(sum, algorithm); }).empty(), "nor is device memory served");
  sum.assign(100, 0);
  begin(sum, {});
  expect(sum == std::vector<int>(100, size), "the native nonblocking collective");
  const auto make = [&](std::vector<int>& result) {
    return circoll::allreduce(mine, result, MPI_SUM, circoll::persistent(MPI_COMM_WORLD), algorithm);
  };
  expect(refusal([&] { (void)make(sum); }) == in_device, "nor by a persistent request");
  host.assign(100, 0);
  circoll::Request request = make(host);
  request.start();
  request.wait();
  expect(host == std::vector<int>(100, size), "a persistent request with memory of the host");
  MPI_Finalize();
  return errors != 0 ? 1 : 0;
}
