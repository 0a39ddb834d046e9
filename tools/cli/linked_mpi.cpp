// The MPI library and the runtimes of sanitizers that an executable is linked to.
#include "launcher.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "process.hpp"

namespace circoll::cli {
namespace {

/// The output of `ldd path`, without libraries that are preloaded into us.
std::string ldd(const std::string& path) {
  return run_program({.arguments = {"ldd", path}, .environment = {{"LD_PRELOAD", std::nullopt}}}).out;
}

/// A part of a file as a value; zeros where the file ends.
template <typename T>
T read_at(std::ifstream& file, std::uint64_t offset) {
  T value{};
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(&value), sizeof value);
  return value;
}

/// The names of the libraries that an ELF file needs, without those that these need. Empty for other files.
std::vector<std::string> needed_libraries(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const auto header = read_at<ElfW(Ehdr)>(file, 0);
  if (std::string_view(reinterpret_cast<const char*>(header.e_ident), SELFMAG) != ELFMAG) return {};
  std::vector<ElfW(Phdr)> segments;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    segments.push_back(read_at<ElfW(Phdr)>(file, header.e_phoff + i * sizeof(ElfW(Phdr))));
  }
  std::uint64_t strings = 0;
  std::vector<std::uint64_t> offsets;  // of names among the strings
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (std::uint64_t at = 0; at < segment.p_filesz; at += sizeof(ElfW(Dyn))) {
      const auto entry = read_at<ElfW(Dyn)>(file, segment.p_offset + at);
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
      if (entry.d_tag == DT_NEEDED) offsets.push_back(entry.d_un.d_val);
    }
  }
  // The strings have an address in memory. The segment that is loaded there says where they are in the file.
  const auto loaded = std::ranges::find_if(segments, [&](const ElfW(Phdr) & segment) {
    return segment.p_type == PT_LOAD && strings >= segment.p_vaddr && strings - segment.p_vaddr < segment.p_filesz;
  });
  if (loaded == segments.end()) return {};
  std::vector<std::string> names;
  for (const std::uint64_t offset : offsets) {
    file.clear();
    file.seekg(static_cast<std::streamoff>(strings - loaded->p_vaddr + loaded->p_offset + offset));
    std::getline(file, names.emplace_back(), '\0');
  }
  return names;
}

/// True if a library file defines or uses a symbol; its tables of names are plain text between zeros.
bool names_symbol(const std::string& file, std::string_view symbol) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::string name(1, '\0');
  name.append(symbol).append(1, '\0');
  return bytes.find(name) != std::string::npos;
}

/// The MPI of a library by its name. It is nullptr if the name leaves it open, or if it is of none.
const MpiLibrary* mpi_named_by(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);
  if (is_abi_library(name)) return &abi_library;
  if (name.starts_with("libmpich")) return &mpich_library;
  return name == "libmpi.so.40" ? &openmpi_library : nullptr;
}

/// Likewise, by its file where the name leaves it open.
const MpiLibrary* mpi_of(std::string_view name, const std::string& file) {
  if (const MpiLibrary* const named = mpi_named_by(name)) return named;
  name.remove_prefix(name.rfind('/') + 1);
  if (!name.starts_with("libmpi")) return nullptr;  // libmpi.so.12, libmpi_gnu.so.12, libmpi_cxx.so.40
  for (const MpiLibrary* const library : mpi_implementations) {
    if (names_symbol(file, library->symbol)) return library;
  }
  return nullptr;
}

/// A library that an executable is linked to.
struct Linked {
  std::string name;
  std::string file;
};

std::vector<Linked> linked_libraries(const std::string& path) {
  // Lines are "NAME => FILE (ADDRESS)", or "FILE (ADDRESS)" for a name that is a path.
  std::istringstream lines(ldd(path));
  std::vector<Linked> linked;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, arrow, file;
    words >> name >> arrow >> file;
    linked.push_back({name, arrow == "=>" ? file : name});
  }
  return linked;
}

}  // namespace

const MpiLibrary* linked_mpi(const std::string& path) {
  // Each rank asks this. Most programs name their MPI, and the loader need not be asked for all of their libraries.
  for (const std::string& name : needed_libraries(path)) {
    if (const MpiLibrary* const library = mpi_named_by(name)) return library;
  }
  const MpiLibrary* found = nullptr;
  for (const Linked& linked : linked_libraries(path)) {
    const MpiLibrary* const library = mpi_of(linked.name, linked.file);
    if (library == &abi_library) return library;  // what else is there is behind it
    if (found == nullptr) found = library;
  }
  return found;
}

bool is_sanitizer(std::string_view file) {
  file.remove_prefix(file.rfind('/') + 1);
  for (const char* name : {"libasan.", "libhwasan.", "liblsan.", "libtsan.", "libclang_rt.asan", "libclang_rt.tsan"}) {
    if (file.starts_with(name)) return true;
  }
  return false;
}

std::vector<std::string> linked_sanitizers(const std::string& path) {
  std::vector<std::string> files;
  const std::vector<std::string> needed = needed_libraries(path);
  if (std::ranges::none_of(needed, is_sanitizer)) return files;
  for (const Linked& linked : linked_libraries(path)) {
    if (is_sanitizer(linked.name)) files.push_back(linked.file);
  }
  return files;
}

}  // namespace circoll::cli
