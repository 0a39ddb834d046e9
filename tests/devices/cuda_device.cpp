// cuda_device: Circoll's questions about memory, asked of the real driver of CUDA and of a real device.
//
// Exit code 77 if there is none. It needs no CUDA to be built, and no MPI to run; it can be copied to another machine.
#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "exec/device/runtimes.hpp"

namespace {

using circoll::device::runtimes;
using Address = unsigned long long;  // CUdeviceptr

constexpr int skipped = 77;
constexpr int uninitialized = 3;  // CUDA_ERROR_NOT_INITIALIZED
constexpr std::size_t bytes = std::size_t{1} << 20U;

int errors = 0;

void expect(bool holds, const std::string& what) {
  std::printf("%s: %s\n", holds ? "right" : "WRONG", what.c_str());
  if (!holds) ++errors;
}

/// A function of the driver. A program without this function could not have the memory that is asked about.
template <typename... Arguments>
auto function(void* library, const char* name) {
  return reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
}

/// Checks the first and the last byte.
void expect_claimed(const void* memory, bool claimed, const std::string& what) {
  const char* const first = static_cast<const char*>(memory);
  expect(runtimes().claims(first) == claimed && runtimes().claims(first + bytes - 1) == claimed,
         what + (claimed ? " is the device's" : " is the host's"));
}

void print_time(const char* what, const void* memory) {
  constexpr int times = 10000;
  const auto begin = std::chrono::steady_clock::now();
  int claimed = 0;
  for (int i = 0; i < times; ++i) claimed += runtimes().claims(memory) ? 1 : 0;
  const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - begin;
  std::printf("time: a question about %s takes %.0f ns (claimed %d of %d times)\n", what, all.count() / times, claimed,
              times);
}

/// Circoll's opinion of the driver; empty: this process may have memory of it.
std::string unused() {
  const auto all = runtimes().inspect();
  return all.size() == 1 && all[0].name == "CUDA" ? std::string(all[0].unused) : "is not the one runtime that is found";
}

void ask_about_memory(void* cuda, const char* host) {
  void* context = nullptr;
  int device = 0;
  const int errors_before = errors;
  if (function<int*, int>(cuda, "cuDeviceGet")(&device, 0) != 0 ||
      function<void**, int>(cuda, "cuDevicePrimaryCtxRetain")(&context, device) != 0 ||
      function<void*>(cuda, "cuCtxSetCurrent")(context) != 0) {
    return expect(false, "the first device has a context");
  }
  std::array<char, 100> name{};
  (void)function<char*, int, int>(cuda, "cuDeviceGetName")(name.data(), static_cast<int>(name.size()) - 1, device);
  std::printf("device: %s\n", name.data());
  Address on_device = 0, managed = 0, in_order = 0;
  void* pinned = nullptr;
  void* const registered = std::aligned_alloc(4096, bytes);
  const auto allocated = [](int error, const char* what) { expect(error == 0, std::string(what) + " is allocated"); };
  allocated(function<Address*, std::size_t>(cuda, "cuMemAlloc_v2")(&on_device, bytes), "device memory");
  allocated(function<Address*, std::size_t, unsigned>(cuda, "cuMemAllocManaged")(&managed, bytes, 1), "managed memory");
  allocated(function<void**, std::size_t>(cuda, "cuMemAllocHost_v2")(&pinned, bytes), "pinned memory");
  allocated(function<void*, std::size_t, unsigned>(cuda, "cuMemHostRegister_v2")(registered, bytes, 0),
            "registered memory");
  if (errors > errors_before) return;
  const auto in_device = [](Address address) { return reinterpret_cast<const void*>(address); };
  const auto ask = [&](const std::string& where) {
    expect_claimed(in_device(on_device), true, "device memory" + where);
    expect_claimed(in_device(managed), true, "managed memory" + where);
    expect_claimed(pinned, false, "pinned memory" + where);
    expect_claimed(registered, false, "registered memory" + where);
    expect_claimed(host, false, "memory of malloc" + where);
  };
  ask("");
  std::thread([&] { ask(", in a thread without a context,"); }).join();
  using Stream = void*;
  if (const auto allocate = function<Address*, std::size_t, Stream>(cuda, "cuMemAllocAsync");
      allocate != nullptr && allocate(&in_order, bytes, nullptr) == 0) {
    expect_claimed(in_device(in_order), true, "device memory of a pool");
  }
  print_time("device memory", in_device(on_device));
  print_time("pinned memory", pinned);
  print_time("memory of malloc", host);
  expect(
      function<Address>(cuda, "cuMemFree_v2")(on_device) == 0 && function<Address>(cuda, "cuMemFree_v2")(managed) == 0,
      "memory is freed");
  expect_claimed(in_device(on_device), false, "device memory that was freed");
  expect_claimed(in_device(managed), false, "managed memory that was freed");
  expect(function<void*>(cuda, "cuMemHostUnregister")(registered) == 0, "memory is no longer registered");
  std::free(registered);
}

}  // namespace

int main() {
  const std::unique_ptr<char, decltype(&std::free)> allocated(static_cast<char*>(std::malloc(bytes)), &std::free);
  const char* const host = allocated.get();
  expect(!runtimes().loaded(), "no runtime is loaded at the beginning");
  void* const cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (cuda == nullptr) {
    std::printf("skipped: %s\n", dlerror());
    return skipped;
  }
  const auto count = function<int*>(cuda, "cuDeviceGetCount");
  int devices = 0;
  const std::string before = unused();
  std::printf("before cuInit: CUDA %s\n", before.empty() ? "may have memory" : before.c_str());
  expect_claimed(host, false, "memory of malloc, before cuInit,");
  const int raw = count(&devices);
  expect(raw == uninitialized, "no question has initialised the driver; cuDeviceGetCount: " + std::to_string(raw));
  const int error = function<unsigned>(cuda, "cuInit")(0);
  const std::string after = unused();
  std::printf("after cuInit (%d): CUDA %s\n", error, after.empty() ? "may have memory" : after.c_str());
  if (error != 0 || count(&devices) != 0 || devices == 0) {
    std::printf("skipped: there is no device\n");
    return errors > 0 ? 1 : skipped;
  }
  expect(before.empty(), "a device was expected before cuInit");
  expect(after.empty(), "a device is expected after cuInit");
  expect_claimed(host, false, "memory of malloc, before there is a context,");
  ask_about_memory(cuda, host);
  std::printf(errors == 0 ? "all is right\n" : "%d answers are wrong\n", errors);
  return errors > 0 ? 1 : 0;
}
