// Pointers of Level Zero, Intel's runtime.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "exec/device/runtimes.hpp"

namespace circoll::device {
namespace {

/// ze_memory_type_t, as far as it matters.
enum class ZeMemory : std::int32_t { unknown = 0, host = 1 };

struct ContextDescription {
  std::int32_t structure = 0xd;  // ZE_STRUCTURE_TYPE_CONTEXT_DESC
  const void* next = nullptr;
  std::uint32_t flags = 0;
};

struct AllocationProperties {
  std::int32_t structure = 0x17;  // ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES
  void* next = nullptr;
  ZeMemory type = ZeMemory::unknown;
  std::uint64_t id = 0;
  std::uint64_t page_bytes = 0;
};

/// The program's contexts are not known, so that there is one of our own for each driver. Drivers answer it about all
/// memory, though the specification promises that only for memory of the same context.
class LevelZero final : public Runtime {
 public:
  explicit LevelZero(void* library)
      : drivers_(reinterpret_cast<Drivers*>(dlsym(library, "zeDriverGet"))),
        make_context_(reinterpret_cast<MakeContext*>(dlsym(library, "zeContextCreate"))),
        query_(reinterpret_cast<Query*>(dlsym(library, "zeMemGetAllocProperties"))) {}

  /// An MPI library that can handle memory of Level Zero has initialised it before its first message has arrived.
  [[nodiscard]] std::string_view unused() override {
    if (drivers_ == nullptr) return {};
    std::uint32_t count = 0;
    const int error = drivers_(&count, nullptr);
    if (error == uninitialized) return "is not initialised";
    return error == 0 && count == 0 ? "has no driver" : "";
  }

  [[nodiscard]] bool claims(const void* address) override {
    if (drivers_ == nullptr || make_context_ == nullptr || query_ == nullptr) return true;
    const std::lock_guard lock(mutex_);
    if (state_ == State::unused) make_contexts();
    if (state_ != State::ready) return state_ == State::broken;
    return std::any_of(contexts_.begin(), contexts_.end(), [&](void* context) {
      AllocationProperties properties;
      if (query_(context, address, &properties, nullptr) != 0) return true;
      return properties.type != ZeMemory::unknown &&
             properties.type != ZeMemory::host;  // shared memory would move to the processor
    });
  }

 private:
  static constexpr int uninitialized = 0x78000001;  // ZE_RESULT_ERROR_UNINITIALIZED

  // Handles are pointers.
  using Drivers = int(std::uint32_t* count, void** drivers);
  using MakeContext = int(void* driver, const ContextDescription* description, void** context);
  using Query = int(void* context, const void* address, AllocationProperties* properties, void** device);
  enum class State { unused, ready, broken };

  /// Before the program has initialised Level Zero there is no memory of it. We do not do so in its place.
  void make_contexts() {
    std::uint32_t count = 0;
    const int error = drivers_(&count, nullptr);
    if (error == uninitialized) return;
    std::vector<void*> drivers(count);
    state_ = error == 0 && (count == 0 || drivers_(&count, drivers.data()) == 0) ? State::ready : State::broken;
    if (state_ == State::broken) return;
    const ContextDescription description;
    for (void* const driver : drivers) {
      void* context = nullptr;
      if (make_context_(driver, &description, &context) != 0) {
        state_ = State::broken;
        return;
      }
      contexts_.push_back(context);
    }
  }

  Drivers* drivers_;
  MakeContext* make_context_;
  Query* query_;
  std::mutex mutex_;  ///< of the next two
  State state_ = State::unused;
  std::vector<void*> contexts_{};  ///< as long as the process
};

}  // namespace

std::unique_ptr<Runtime> make_level_zero(void* library) { return std::make_unique<LevelZero>(library); }

}  // namespace circoll::device
