// The store of Open MPI's launchers is PMIx. The drop-in can use it if Open MPI does so by a libpmix.so.2, which counts
// its users; with PMIx inside Open MPI only that can reach it.
#if __has_include(<pmix.h>)
#define CIRCOLL_PMIX
#include <pmix.h>
#endif

#include <dlfcn.h>
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "interpose/census.hpp"
#include "interpose/launch.hpp"

namespace circoll::interpose {

#ifdef CIRCOLL_PMIX

namespace {

namespace fs = std::filesystem;

/// libpmix.so.2 as Open MPI will use it; nullptr if it uses none.
void* open_library() {
  constexpr const char* soname = "libpmix.so.2";
  if (void* const loaded = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD)) return loaded;
  // Open MPI 4 has a component that is linked to it. Whoever loads the component gets the very library, wherever it is.
  Dl_info mpi{};
  if (dladdr(reinterpret_cast<void*>(&PMPI_Init), &mpi) == 0 || mpi.dli_fname == nullptr) return nullptr;
  std::error_code error;
  const fs::path directory = fs::canonical(mpi.dli_fname, error).parent_path();
  if (error) return nullptr;
  for (const char* components : {"openmpi", "openmpi/lib/openmpi3"}) {  // the second is Debian's
    const fs::path component = directory / components / "mca_pmix_ext3x.so";
    if (!fs::exists(component, error)) continue;
    const bool opened = dlopen(component.c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr;
    return opened ? dlopen(soname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  }
  return nullptr;
}

/// A variable of Open MPI that says how MPI_Init exchanges; `otherwise` if it has none of this name.
bool setting(const char* name, bool otherwise) {
  const auto* const value = static_cast<const bool*>(dlsym(RTLD_DEFAULT, name));
  return value == nullptr ? otherwise : *value;
}

class Pmix final : public Store {
 public:
  explicit Pmix(void* library, int rank)
      : rank_(rank),
        init_(reinterpret_cast<decltype(init_)>(dlsym(library, "PMIx_Init"))),
        put_(reinterpret_cast<decltype(put_)>(dlsym(library, "PMIx_Put"))),
        get_(reinterpret_cast<decltype(get_)>(dlsym(library, "PMIx_Get"))),
        finalize_(reinterpret_cast<decltype(finalize_)>(dlsym(library, "PMIx_Finalize"))) {
    const bool complete = init_ != nullptr && put_ != nullptr && get_ != nullptr && finalize_ != nullptr;
    begun_ = complete && init_(&self_, nullptr, 0) == PMIX_SUCCESS;
  }
  ~Pmix() override {
    if (begun_) finalize_(nullptr, 0);  // Open MPI's own use goes on
  }
  Pmix(const Pmix&) = delete;
  Pmix& operator=(const Pmix&) = delete;

  bool put_mark() override {
    // MPI_Init commits it with what it puts itself. An earlier commit would answer other ranks that ask for the rest.
    pmix_value_t value{};
    value.type = PMIX_UINT8;
    value.data.uint8 = 1;
    return begun_ && put_(PMIX_GLOBAL, key, &value) == PMIX_SUCCESS;
  }

  bool shows(int world_rank, int /*world_size*/, bool /*own*/) override {
    const bool exchanged = !setting("opal_pmix_base_async_modex", false) && setting("opal_pmix_collect_all_data", true);
    return begun_ && exchanged && world_rank == rank_ && self_.rank == static_cast<pmix_rank_t>(rank_);
  }

  Presence mark_of(int rank) override {
    pmix_proc_t process = self_;
    process.rank = static_cast<pmix_rank_t>(rank);
    pmix_info_t at_once{};  // answer from what this node has
    std::strncpy(at_once.key, PMIX_IMMEDIATE, sizeof at_once.key - 1);
    at_once.value.type = PMIX_BOOL;
    at_once.value.data.flag = true;
    pmix_value_t* value = nullptr;
    const pmix_status_t status = get_(&process, key, &at_once, 1, &value);
    std::free(value);  // NOLINT(cppcoreguidelines-no-malloc): the library's; a number has nothing else to free
    if (status == PMIX_SUCCESS) return Presence::present;
    return status == PMIX_ERR_NOT_FOUND ? Presence::absent : Presence::unsure;
  }

 private:
  static constexpr const char* key = "circoll";

  int rank_;
  pmix_proc_t self_{};
  bool begun_ = false;
  decltype(&PMIx_Init) init_;
  decltype(&PMIx_Put) put_;
  decltype(&PMIx_Get) get_;
  decltype(&PMIx_Finalize) finalize_;
};

}  // namespace

std::unique_ptr<Store> open_store() {
  const auto rank = launch_number("PMIX_RANK");
  // One rank has nobody to look for, and a singleton has no store.
  if (!rank || !launch_text("PMIX_NAMESPACE") || launch_number("OMPI_COMM_WORLD_SIZE") == 1) return nullptr;
  void* const library = open_library();
  return library == nullptr ? nullptr : std::make_unique<Pmix>(library, *rank);
}

#else

std::unique_ptr<Store> open_store() { return nullptr; }

#endif

}  // namespace circoll::interpose
