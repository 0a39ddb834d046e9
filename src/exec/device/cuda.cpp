// Pointers of CUDA's driver, which every other layer of CUDA stands on.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "exec/device/runtime.hpp"

namespace circoll::device {
namespace {

class Cuda final : public Runtime {
 public:
  explicit Cuda(void* library) : query_(reinterpret_cast<Query*>(dlsym(library, "cuPointerGetAttribute"))) {}

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
  /// Errors that say that the driver has no such memory. It is not the driver's, the driver is not initialised, or no
  /// longer so, it is a library to link with only, or there is no device.
  static constexpr std::array harmless{1, 3, 4, 34, 100};

  using Query = int(void* value, int attribute, unsigned long long address);
  Query* query_;
};

}  // namespace

std::unique_ptr<Runtime> make_cuda(void* library) { return std::make_unique<Cuda>(library); }

}  // namespace circoll::device
