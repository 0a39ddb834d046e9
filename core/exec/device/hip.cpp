// Pointers of HIP, AMD's runtime.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "exec/device/runtimes.hpp"

namespace circoll::device {
namespace {

class Hip final : public Runtime {
 public:
  explicit Hip(void* library)
      : query_(reinterpret_cast<Query*>(dlsym(library, "hipPointerGetAttribute"))),
        version_(reinterpret_cast<Version*>(dlsym(library, "hipRuntimeGetVersion"))),
        peek_(reinterpret_cast<LastError*>(dlsym(library, "hipPeekAtLastError"))),
        forget_(reinterpret_cast<LastError*>(dlsym(library, "hipGetLastError"))) {}

  /// Any question would initialise HIP, so that the system is asked for a driver. It is AMD's, or that of WSL.
  [[nodiscard]] std::string_view unused() override {
    return access("/dev/kfd", F_OK) == 0 || access("/dev/dxg", F_OK) == 0 ? "" : "has no device";
  }

  [[nodiscard]] bool claims(const void* address) override {
    if (query_ == nullptr || version_ == nullptr || peek_ == nullptr || forget_ == nullptr) return true;
    const bool clean = peek_() == 0;
    unsigned type = 0;
    const int error = query_(&type, memory_type, const_cast<void*>(address));
    if (error == 0) return !is_for_host(type);
    // HIP keeps the error for the program, which has not made the call.
    if (clean) (void)forget_();
    return std::find(harmless.begin(), harmless.end(), error) == harmless.end();
  }

 private:
  static constexpr int memory_type = 2;  // HIP_POINTER_ATTRIBUTE_MEMORY_TYPE
  /// From this version on types of memory have CUDA's numbers, and memory that HIP does not know has 0.
  static constexpr int renumbered_in = 6 * 10'000'000;
  /// Errors that say that HIP has no such memory. It is not HIP's, HIP is not initialised, or there is no device.
  static constexpr std::array harmless{1, 3, 100};

  using Query = int(void* value, int attribute, void* address);
  using Version = int(int* version);
  using LastError = int();

  [[nodiscard]] bool is_for_host(unsigned type) const {
    int version = 0;
    if (version_(&version) != 0) return false;
    return version >= renumbered_in ? type <= 1 : type == 0;
  }

  Query* query_;
  Version* version_;
  LastError* peek_;
  LastError* forget_;
};

}  // namespace

std::unique_ptr<Runtime> make_hip(void* library) { return std::make_unique<Hip>(library); }

}  // namespace circoll::device
