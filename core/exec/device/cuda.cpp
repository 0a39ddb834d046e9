// Pointers of CUDA's driver, which every other layer of CUDA stands on.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "exec/device/runtimes.hpp"

namespace circoll::device {
namespace {

class Cuda final : public Runtime {
 public:
  explicit Cuda(void* library)
      : query_(reinterpret_cast<Query*>(dlsym(library, "cuPointerGetAttribute"))),
        count_(reinterpret_cast<Count*>(dlsym(library, "cuDeviceGetCount"))) {}

  /// Before the driver is initialised it does not say whether there are devices. Some MPI libraries initialise it only
  /// when the program does, so that the system is asked then. The driver's version is known without any device.
  [[nodiscard]] std::string_view unused() override {
    if (count_ == nullptr) return {};
    int devices = 0;
    const int error = count_(&devices);
    if (error == stub_library) return "is a stub";
    if (error == uninitialized) return is_driven() ? "" : "has no device";
    return error == no_device || (error == 0 && devices == 0) ? "has no device" : "";
  }

  [[nodiscard]] bool claims(const void* address) override {
    if (query_ == nullptr) return true;
    unsigned type = 0;
    const int error = query_(&type, memory_type, reinterpret_cast<std::uintptr_t>(address));
    if (error == 0) return type != host;  // managed memory is the device's: it would move to the processor
    return std::find(harmless.begin(), harmless.end(), error) == harmless.end();
  }

 private:
  static constexpr int memory_type = 2;  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
  static constexpr unsigned host = 1;    // CU_MEMORYTYPE_HOST
  static constexpr int uninitialized = 3;
  static constexpr int stub_library = 34;
  static constexpr int no_device = 100;
  /// Errors that say that the driver has no such memory. It is not the driver's, the driver is not initialised, or no
  /// longer so, it is a library to link with only, or there is no device.
  static constexpr std::array harmless{1, uninitialized, 4, stub_library, no_device};

  /// True if the kernel drives a device of NVIDIA: on PCI, on Tegra, or under WSL. The first initialisation may make
  /// /dev/nvidiactl, once the kernel's module is loaded.
  static bool is_driven() {
    constexpr std::array traces{"/dev/nvidiactl", "/proc/driver/nvidia", "/dev/nvmap", "/dev/dxg"};
    return std::any_of(traces.begin(), traces.end(), [](const char* path) { return access(path, F_OK) == 0; });
  }

  using Query = int(void* value, int attribute, unsigned long long address);
  using Count = int(int* devices);
  Query* query_;
  Count* count_;
};

}  // namespace

std::unique_ptr<Runtime> make_cuda(void* library) { return std::make_unique<Cuda>(library); }

}  // namespace circoll::device
