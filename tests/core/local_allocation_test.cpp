// Repeated calls allocate nothing. The test is a binary of its own, because it replaces operator new. It does not under
// sanitizers, which have a replacement of their own.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "circoll/local.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CIRCOLL_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CIRCOLL_SANITIZED 1
#endif
#endif

#ifndef CIRCOLL_SANITIZED
namespace {

std::atomic<long> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
// operator delete is not inlined. Otherwise g++, which does not inline operator new, takes free() for a mismatch.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace circoll {
namespace {

TEST(Allocation, RepeatedCallsAllocateNothing) {
  local::World world(4);
  std::atomic<long> during{0};
  world.run([&](local::Comm& comm) {
    const std::vector<double> mine(1000, 1.0);
    std::vector<double> sum(1000);
    std::vector<double> all(4000);
    std::vector<int> token(1);
    long before = 0;
    for (int repetition = 0; repetition < 300; ++repetition) {
      if (repetition == 100) {
        allreduce(in_place, token, Op::max, comm, "circulant_optimal");  // all ranks are warm now
        before = allocations.load();
        allreduce(in_place, token, Op::max, comm, "circulant_optimal");
      }
      allreduce(mine, sum, Op::sum, comm);
      allreduce(in_place, token, Op::max, comm, "circulant_optimal");
      allgather(mine, all, comm);
    }
    during += allocations.load() - before;
    allreduce(in_place, token, Op::max, comm, "circulant_optimal");  // no rank ends before all have looked
  });
  EXPECT_EQ(during.load(), 0);
}

}  // namespace
}  // namespace circoll
#endif
