// A small test harness for MPI programs: every rank runs every test, rank 0 says what failed anywhere.
#pragma once

#include <mpi.h>

#include <string>

namespace circoll::test {

/// Registers a test; see TEST_MPI.
bool add_test(const char* name, void (*run)());
/// Records a failure on this rank; the test goes on.
void fail(const std::string& what);
/// Calls fail() unless the condition holds.
inline void expect(bool holds, const std::string& what) {
  if (!holds) fail(what);
}
[[nodiscard]] int world_rank();
[[nodiscard]] int world_size();
/// The thread level that MPI granted.
[[nodiscard]] int thread_level();
/// 401 for MPICH 4.1, whatever interface it is used by; 0 for other libraries.
[[nodiscard]] int mpich_version();

}  // namespace circoll::test

/// Defines a test that all ranks of MPI_COMM_WORLD run.
#define TEST_MPI(name)                                                          \
  static void test_##name();                                                    \
  static const bool added_##name = circoll::test::add_test(#name, test_##name); \
  static void test_##name()
