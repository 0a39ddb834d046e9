// In a file of its own: compilers that see it together with its callers take free() for a mistake.
#include "allocations.hpp"

#include <cstdlib>
#include <new>

namespace circoll::test {
std::atomic<long> allocations{0};
std::atomic<long> until_failure{0};

namespace {
void count() {
  ++allocations;
  if (until_failure > 0 && --until_failure == 0) throw std::bad_alloc();
}
}  // namespace
}  // namespace circoll::test

void* operator new(std::size_t bytes) {
  circoll::test::count();
  if (void* p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  circoll::test::count();
  const auto a = static_cast<std::size_t>(alignment);
  if (void* p = std::aligned_alloc(a, (bytes + a - 1) / a * a)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
