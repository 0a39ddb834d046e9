#include "harness.hpp"

#include <malloc.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <vector>

#include "exec/mpi/comm/carrier.hpp"

namespace circoll::test {
namespace {

struct Test {
  const char* name;
  void (*run)();
};
std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

constexpr int shown_failures = 5;  // per rank and test
int failures = 0;
int rank_of_world = 0;
int size_of_world = 1;
int granted = MPI_THREAD_SINGLE;
const char* running = "";

}  // namespace

bool add_test(const char* name, void (*run)()) {
  tests().push_back({name, run});
  return true;
}

void fail(const std::string& what) {
  if (++failures <= shown_failures) {
    std::printf("FAILED %s, rank %d of %d: %s\n", running, rank_of_world, size_of_world, what.c_str());
    std::fflush(stdout);
  }
}

int world_rank() { return rank_of_world; }
int world_size() { return size_of_world; }
int thread_level() { return granted; }

int mpich_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};  // "MPICH Version:      5.0.2"
  int length = 0, major = 0, minor = 0;
  PMPI_Get_library_version(text.data(), &length);
  return std::sscanf(text.data(), "MPICH Version: %d.%d", &major, &minor) == 2 ? 100 * major + minor : 0;
}

}  // namespace circoll::test

int main(int argc, char** argv) {
  using namespace circoll::test;
#ifdef M_MMAP_THRESHOLD
  // malloc keeps freed buffers. Memory that is mapped anew for every case cost half of the time, in page faults.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
  PMPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &granted);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank_of_world);
  PMPI_Comm_size(MPI_COMM_WORLD, &size_of_world);
  // As under the drop-in after MPI_Init, communicators share one communicator that carries their messages.
  const bool shared = argc > 1 && std::strcmp(argv[1], "--shared-world") == 0;
  if (shared && circoll::mpi::share_world() != MPI_SUCCESS) return 2;
  const char* filter = argc > (shared ? 2 : 1) ? argv[argc - 1] : "";
  int failed = 0, ran = 0;
  for (const auto& test : tests()) {
    if (std::strstr(test.name, filter) == nullptr) continue;
    if (filter[0] == '\0' && std::strncmp(test.name, "huge", 4) == 0) continue;  // by name only
    running = test.name;
    failures = 0;
    const double begin = PMPI_Wtime();
    try {
      test.run();
    } catch (const std::exception& e) {
      fail(std::string("exception: ") + e.what());
    }
    int all = 0;
    PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ++ran;
    failed += all > 0 ? 1 : 0;
    if (rank_of_world == 0) {
      std::printf("%s %s (%d failures, %.2f s)\n", all > 0 ? "not ok" : "ok", test.name, all, PMPI_Wtime() - begin);
      std::fflush(stdout);
    }
  }
  if (rank_of_world == 0)
    std::printf("%s: %d of %d tests failed at np = %d\n", failed ? "FAIL" : "PASS", failed, ran, size_of_world);
  PMPI_Finalize();
  return failed == 0 && ran > 0 ? 0 : 1;
}
