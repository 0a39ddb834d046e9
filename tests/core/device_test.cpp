// Circoll finds runtimes of devices when they are loaded, and asks them whose an address is.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "devices/device_files.h"
#include "devices/stub_runtime.h"
#include "exec/device/runtimes.hpp"
#include "gtest/gtest.h"

namespace circoll::device {
namespace {

/// A stand-in, loaded as a program would load the runtime. It stays until the process ends.
class Stub {
 public:
  explicit Stub(const char* path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(library_, nullptr) << dlerror();
  }
  [[nodiscard]] void* library() const { return library_; }

  void claim(stub_kind kind) const {
    function<decltype(stub_claim)>("stub_claim")(memory_.data(), memory_.size(), kind);
  }
  void initialize(bool yes) const { function<decltype(stub_initialize)>("stub_initialize")(yes ? 1 : 0); }
  void set_devices(int number) const { function<decltype(stub_set_devices)>("stub_set_devices")(number); }
  void link_only(bool yes) const { function<decltype(stub_link_only)>("stub_link_only")(yes ? 1 : 0); }
  void set_version(int version) const { function<decltype(stub_set_version)>("stub_set_version")(version); }
  [[nodiscard]] int last_error() const { return function<decltype(stub_last_error)>("stub_last_error")(); }
  [[nodiscard]] const std::array<char, 64>& memory() const { return memory_; }

 private:
  template <typename Function>
  [[nodiscard]] Function& function(const char* name) const {
    return *reinterpret_cast<Function*>(dlsym(library_, name));
  }

  void* library_;
  std::array<char, 64> memory_{};
};

/// Every kind of memory, and none, at both ends of the claimed range.
void expect_kinds(Runtime& runtime, const Stub& stub) {
  const auto& memory = stub.memory();
  for (const stub_kind kind : {stub_device, stub_managed}) {
    stub.claim(kind);
    EXPECT_TRUE(runtime.claims(memory.data()));
    EXPECT_TRUE(runtime.claims(memory.data() + memory.size() - 1));
    EXPECT_FALSE(runtime.claims(memory.data() + memory.size()));
    EXPECT_FALSE(runtime.claims(nullptr));
  }
  stub.claim(stub_pinned);
  EXPECT_FALSE(runtime.claims(memory.data()));
}

TEST(Devices, CudaSaysWhoseAnAddressIs) {
  const Stub stub(CIRCOLL_STUB_CUDA);
  const auto cuda = make_cuda(stub.library());
  expect_kinds(*cuda, stub);
  stub.claim(stub_device);
  stub.initialize(false);
  EXPECT_FALSE(cuda->claims(stub.memory().data())) << "there is no memory before the driver is initialised";
  stub.initialize(true);
}

TEST(Devices, HipNumbersKindsByItsVersion) {
  const Stub stub(CIRCOLL_STUB_HIP);
  const auto hip = make_hip(stub.library());
  for (const int version : {50'700'000, 60'000'000, 70'000'000}) {
    stub.set_version(version);
    expect_kinds(*hip, stub);
    EXPECT_FALSE(hip->claims(&version));
    EXPECT_EQ(stub.last_error(), 0) << "the program sees no error of a call that it has not made";
  }
}

TEST(Devices, LevelZeroIsAskedOnceTheProgramHasInitialisedIt) {
  const Stub stub(CIRCOLL_STUB_LEVEL_ZERO);
  const auto level_zero = make_level_zero(stub.library());
  stub.initialize(false);
  stub.claim(stub_device);
  EXPECT_FALSE(level_zero->claims(stub.memory().data()));
  stub.initialize(true);
  expect_kinds(*level_zero, stub);
}

TEST(Devices, ARuntimeThatCannotBeAskedClaimsEverything) {
  const Stub other(CIRCOLL_STUB_CUDA);
  for (const auto& make : {make_hip, make_level_zero}) EXPECT_TRUE(make(other.library())->claims(&other));
  const Stub hip(CIRCOLL_STUB_HIP);
  EXPECT_TRUE(make_cuda(hip.library())->claims(&other));
}

TEST(Devices, CudaCountsIfTheDriverOrTheSystemHasADevice) {
  const Stub stub(CIRCOLL_STUB_CUDA);
  const auto cuda = make_cuda(stub.library());
  set_device_file(nullptr);
  EXPECT_EQ(cuda->unused(), "") << "the driver knows better than the files";
  set_device_file("/dev/nvidiactl");
  stub.set_devices(0);
  EXPECT_EQ(cuda->unused(), "has no device");
  stub.initialize(false);
  for (const char* const file : {"/dev/nvidiactl", "/proc/driver/nvidia", "/dev/nvmap", "/dev/dxg"}) {
    set_device_file(file);
    EXPECT_EQ(cuda->unused(), "") << "the program may initialise the driver later, with " << file;
  }
  for (const char* const file : {static_cast<const char*>(nullptr), "/dev/kfd"}) {
    set_device_file(file);
    EXPECT_EQ(cuda->unused(), "has no device");
  }
  set_device_file("/dev/nvidiactl");
  stub.link_only(true);
  EXPECT_EQ(cuda->unused(), "is a stub");
  stub.link_only(false);
  stub.set_devices(1);
  stub.initialize(true);
  set_device_file(nullptr);
}

TEST(Devices, HipCountsIfTheSystemHasADevice) {
  const Stub stub(CIRCOLL_STUB_HIP);
  const auto hip = make_hip(stub.library());
  for (const char* const file : {"/dev/kfd", "/dev/dxg"}) {
    set_device_file(file);
    EXPECT_EQ(hip->unused(), "") << file;
  }
  for (const char* const file : {static_cast<const char*>(nullptr), "/dev/nvidiactl"}) {
    set_device_file(file);
    EXPECT_EQ(hip->unused(), "has no device");
  }
  set_device_file(nullptr);
}

TEST(Devices, LevelZeroCountsIfItIsInitialisedAndHasADriver) {
  const Stub stub(CIRCOLL_STUB_LEVEL_ZERO);
  const auto level_zero = make_level_zero(stub.library());
  EXPECT_EQ(level_zero->unused(), "");
  stub.set_devices(0);
  EXPECT_EQ(level_zero->unused(), "has no driver");
  stub.initialize(false);
  EXPECT_EQ(level_zero->unused(), "is not initialised");
  stub.set_devices(1);
  EXPECT_EQ(level_zero->unused(), "is not initialised");
  stub.initialize(true);
}

TEST(Devices, ARuntimeThatCannotBeAskedCounts) {
  const Stub other(CIRCOLL_STUB_HIP);
  for (const auto& make : {make_cuda, make_level_zero}) EXPECT_EQ(make(other.library())->unused(), "");
}

TEST(Devices, RuntimesThatAreNotUsedAreNotExpected) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto look = [] {
    unsetenv("CIRCOLL_DEVICE_MEMORY");
    Runtimes none;
    if (expected_runtimes() != 0 || !none.inspect().empty()) _exit(1);
    const Stub level_zero(CIRCOLL_STUB_LEVEL_ZERO);
    level_zero.initialize(false);
    if (expected_runtimes() != 0 || !runtimes().loaded()) _exit(2);
    const auto idle = runtimes().inspect();
    if (idle.size() != 1 || idle[0].name != "Level Zero" || idle[0].unused != "is not initialised") _exit(3);
    level_zero.initialize(true);
    const Stub hip(CIRCOLL_STUB_HIP);
    if (reason_of(expected_runtimes()) != "a rank has loaded Level Zero" || runtimes().inspect().size() != 2) _exit(4);
    set_device_file("/dev/kfd");
    if (reason_of(expected_runtimes()) != "a rank has loaded HIP and Level Zero") _exit(5);
    setenv("CIRCOLL_DEVICE_MEMORY", "off", 1);
    if (expected_runtimes() != 0) _exit(6);
    setenv("CIRCOLL_DEVICE_MEMORY", "on", 1);
    if (reason_of(expected_runtimes()) != "CIRCOLL_DEVICE_MEMORY is on") _exit(7);
    _exit(0);
  };
  EXPECT_EXIT(look(), testing::ExitedWithCode(0), "");
}

TEST(Devices, RuntimesAreFoundWhenTheyAreLoaded) {
  // The tests before have loaded the runtimes, so the death test starts a new image that has not.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto look = [] {
    Runtimes runtimes;
    const int here = 0;
    if (runtimes.loaded() || runtimes.claims(&here)) _exit(1);
    const Stub cuda(CIRCOLL_STUB_CUDA);
    cuda.claim(stub_device);
    if (runtimes.claims(cuda.memory().data())) _exit(2);  // it has not looked yet
    if (!runtimes.loaded() || !runtimes.claims(cuda.memory().data()) || runtimes.claims(&here)) _exit(3);
    const Stub level_zero(CIRCOLL_STUB_LEVEL_ZERO);
    level_zero.claim(stub_device);
    if (!runtimes.loaded() || !runtimes.claims(level_zero.memory().data())) _exit(4);
    if (!runtimes.claims(cuda.memory().data())) _exit(5);
    _exit(0);
  };
  EXPECT_EXIT(look(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace circoll::device
