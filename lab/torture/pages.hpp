// Memory whose pages are gone once it is freed: whoever reads it then crashes.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace circoll::torture {

template <typename T>
struct PageAllocator {
  using value_type = T;

  PageAllocator() = default;
  template <typename U>
  PageAllocator(const PageAllocator<U>& /*other*/) {}  // NOLINT(google-explicit-constructor): as allocators are

  T* allocate(std::size_t n) {
    void* const pages = ::mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(pages);
  }
  void deallocate(T* pages, std::size_t n) { ::munmap(pages, n * sizeof(T)); }

  friend bool operator==(const PageAllocator& /*a*/, const PageAllocator& /*b*/) { return true; }
};

}  // namespace circoll::torture
