// A drop-in of one MPI may stand under a program that uses another one. It brings a second MPI library into the
// process, and comes before the program's own: MPI_Init is then of the one and MPI_Comm_rank of the other. Symbols are
// bound by then, so that nothing can put it right but to begin anew. A constructor does so while nothing of the program
// has run: it says a sentence, takes the drop-in out of LD_PRELOAD and executes the program again. Each time LD_PRELOAD
// gets shorter, which ends it.
//
// An interpreter shows its MPI later, when it loads a module that is linked to it. Before it runs, what launched it
// says which MPI that will be. Where that says nothing, MPI_Init finds the module, but the program may have read and
// written by then. It ends there instead of doing so twice. So it is under the drop-in for the standard ABI, whose
// programs all launchers start.
#include "interpose/setup.hpp"

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "exec/mpi/library/library.hpp"
#include "facts/mpi_libraries.hpp"
#include "facts/program_name.hpp"

namespace circoll::interpose {
namespace {

constexpr const MpiLibrary& served_library = *mpi::library::identity;

/// An object that is in the process already, by a name that the loader knows.
class LoadedObject {
 public:
  explicit LoadedObject(const char* name) : handle_(dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) {}
  ~LoadedObject() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  [[nodiscard]] const link_map* map() const {
    link_map* found = nullptr;
    return handle_ != nullptr && dlinfo(handle_, RTLD_DI_LINKMAP, &found) == 0 ? found : nullptr;
  }
  /// A symbol of it or of what it needs; nothing that is preloaded comes in between.
  [[nodiscard]] void* find(const char* symbol) const { return handle_ != nullptr ? dlsym(handle_, symbol) : nullptr; }

 private:
  void* handle_;
};

/// The MPI library among an object and what that needs; nullptr if there is none that we know.
const MpiLibrary* mpi_behind(const LoadedObject& object) {
  // A daemon of Open MPI, which a program without a launcher starts, has its runtime only.
  if (object.find("orte_init") != nullptr) return &openmpi_library;
  const void* const init = object.find("MPI_Init");
  Dl_info info{};
  if (init == nullptr || dladdr(init, &info) == 0) return nullptr;
  if (is_abi_library(info.dli_fname)) return &abi_library;
  for (const MpiLibrary* const library : mpi_implementations) {
    if (object.find(library->symbol) != nullptr) return library;
  }
  return nullptr;
}

/// The MPI that an object is linked to, ours if it is linked to several; nullptr if there is none.
const MpiLibrary* linked_library(const link_map* object) {
  if (object == nullptr || object->l_ld == nullptr) return nullptr;
  const char* strings = nullptr;
  for (const ElfW(Dyn)* entry = object->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_STRTAB) continue;
    // The loader adds the object's address to it on most processors only.
    ElfW(Addr) address = entry->d_un.d_ptr;
    if (address < object->l_addr) address += object->l_addr;
    strings = reinterpret_cast<const char*>(address);  // NOLINT(performance-no-int-to-ptr): ELF's addresses are numbers
  }
  const MpiLibrary* found = nullptr;
  for (const ElfW(Dyn)* entry = object->l_ld; strings != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_NEEDED) continue;
    const MpiLibrary* const library = mpi_behind(LoadedObject(strings + entry->d_un.d_val));
    if (library == &served_library) return library;
    if (library != nullptr) found = library;
  }
  return found;
}

/// The MPI whose launcher started this process. Slurm's variables say nothing: it starts the programs of all. Nor does
/// any launcher under the drop-in for the standard ABI.
const MpiLibrary* launching_library() {
  if (&served_library == &abi_library) return nullptr;
  const bool by_openmpi = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
  const bool by_pmi = std::getenv("PMI_RANK") != nullptr;
  if (by_openmpi && !by_pmi) return &openmpi_library;
  if (by_pmi && !by_openmpi && std::getenv("MPI_LOCALNRANKS") != nullptr) return &mpich_library;
  return nullptr;
}

/// True if this process is the one of its job that speaks: rank 0, as far as the launcher says.
bool speaks(const MpiLibrary& of_program) {
  // A job may be started within a rank of another MPI's, whose variables it inherits.
  const char* const first = &of_program == &openmpi_library ? "OMPI_COMM_WORLD_RANK" : "PMI_RANK";
  for (const char* const name : {first, "PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    if (const char* const rank = std::getenv(name)) return std::string_view(rank) == "0";
  }
  return true;
}

Dl_info this_dropin() {
  static const char inside = 0;
  Dl_info info{};
  dladdr(&inside, &info);
  return info;
}

/// The entries of LD_PRELOAD.
std::vector<std::string> preloaded() {
  std::vector<std::string> entries;
  const char* const value = std::getenv("LD_PRELOAD");
  std::string_view rest = value == nullptr ? "" : value;
  while (!rest.empty()) {
    const std::size_t length = rest.find_first_of(": ");
    if (length != 0) entries.emplace_back(rest.substr(0, length));
    rest.remove_prefix(length == std::string_view::npos ? rest.size() : length + 1);
  }
  return entries;
}

/// The loader tells which entry is this file, however it is written.
bool is_this_dropin(const std::string& entry) {
  const link_map* const map = LoadedObject(entry.c_str()).map();
  return map != nullptr && map->l_addr == reinterpret_cast<ElfW(Addr)>(this_dropin().dli_fbase);
}

/// LD_PRELOAD without this drop-in; nothing if it is not in there.
std::optional<std::string> preload_without_us() {
  bool was_in = false;
  std::string others;
  for (const std::string& entry : preloaded()) {
    if (is_this_dropin(entry)) {
      was_in = true;
    } else {
      others += (others.empty() ? "" : ":") + entry;
    }
  }
  return was_in ? std::optional(others) : std::nullopt;
}

namespace fs = std::filesystem;

/// The drop-in of another MPI beside this one; empty if there is none.
fs::path dropin_of(const MpiLibrary& library) {
  std::error_code error;
  const fs::path self = fs::canonical(this_dropin().dli_fname, error);
  const fs::path other = self.parent_path().parent_path() / library.id / dropin_file;
  return fs::exists(other, error) ? other : fs::path();
}

bool is_preloaded(const fs::path& file) {
  for (const std::string& entry : preloaded()) {
    std::error_code error;
    if (!file.empty() && fs::equivalent(entry, file, error)) return true;
  }
  return false;
}

enum class Ending { without_us, ends };

/// Says what is wrong, what comes of it and what to do, in one sentence.
void say(std::string_view who, const MpiLibrary& right, Ending outcome) {
  if (!speaks(right)) return;
  const fs::path file = dropin_of(right);
  const bool there = is_preloaded(file);
  std::string text = "circoll: ";
  const auto add = [&](auto... parts) { (text.append(parts), ...); };
  add(who, right.title, ", but ", this_dropin().dli_fname, " is the drop-in for ", served_library.title, ": ");
  if (outcome == Ending::ends) {
    add("the program ends here");
  } else if (there) {
    add("it is removed from LD_PRELOAD, where ", file.native(), " stays");
  } else {
    add("the program runs without Circoll");
  }
  if (there) {
    add(outcome == Ending::ends ? "; preload no other than " + file.native() : "");
  } else if (!file.empty()) {
    add("; preload ", file.native(), " instead");
  } else {
    add("; there is no drop-in for ", right.title, " beside it");
  }
  std::fprintf(stderr, "%s\n", text.c_str());
}

/// Executes this process's program from its beginning, with other libraries preloaded. Returns if it cannot.
void execute_again(const std::string& preload) {
  // Not those that a constructor gets: the loader, run as a program itself, has taken its own ones out of them.
  std::vector<std::string> arguments = own_arguments();
  if (arguments.empty()) return;
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  if (preload.empty()) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", preload.c_str(), 1);
  }
  // By its name, which the system shows; by the link where the file is gone.
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) execv(program.c_str(), argv.data());
  execv("/proc/self/exe", argv.data());
}

[[noreturn]] void stop() {
  std::fflush(nullptr);
  _exit(EXIT_FAILURE);
}

void leave_other_programs() {
  const MpiLibrary* right = linked_library(LoadedObject(nullptr).map());
  std::string_view who = "this program uses ";
  if (right == nullptr) {
    right = launching_library();
    who = "this program was started by ";
  }
  if (right == nullptr || right == &served_library) return;
  // Elsewhere it may have been loaded by the program itself, which knows why.
  const std::optional<std::string> others = preload_without_us();
  if (!others) return;
  say(who, *right, Ending::without_us);
  execute_again(*others);
  std::fprintf(stderr, "circoll: the program cannot be started again without the drop-in\n");
  stop();
}

[[gnu::constructor]] void on_load() {
  try {
    leave_other_programs();
  } catch (...) {
    return;  // memory has run out: the program will find out by itself
  }
}

}  // namespace

void stop_if_wrong(const void* caller) noexcept {
  try {
    Dl_info info{};
    link_map* object = nullptr;
    if (dladdr1(caller, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0) return;
    const MpiLibrary* const right = linked_library(object);
    if (right == nullptr || right == &served_library) return;
    say("this program uses ", *right, Ending::ends);
  } catch (...) {
    return;
  }
  stop();
}

}  // namespace circoll::interpose
