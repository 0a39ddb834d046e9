#include "record/symbols.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <map>
#include <string_view>

#include "facts/files.hpp"

namespace circoll::record {
namespace {

/// A part of a file that is mapped.
struct MappedPart {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  std::string path{};
};

struct Symbol {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::string name{};
};

/// The functions of a file in the order of their addresses, and its loaded segments.
struct Functions {
  std::vector<Elf64_Phdr> segments{};
  std::vector<Symbol> symbols{};

  [[nodiscard]] const Symbol* at(std::uint64_t address) const {
    auto next = std::ranges::upper_bound(symbols, address, {}, &Symbol::address);
    if (next == symbols.begin()) return nullptr;
    const Symbol& found = *--next;
    return found.bytes == 0 || address - found.address < found.bytes ? &found : nullptr;
  }
};

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28U;  ///< of a table of symbols

/// `count` objects of a file; none if it is shorter.
template <typename T>
std::vector<T> read_table(const FileDescriptor& file, std::uint64_t offset, std::uint64_t count) {
  if (count > most_bytes / sizeof(T) || offset > static_cast<std::uint64_t>(INT64_MAX) - most_bytes) return {};
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || offset + count * sizeof(T) > static_cast<std::uint64_t>(status.st_size))
    return {};
  std::vector<T> table(static_cast<std::size_t>(count));
  const auto bytes = static_cast<ssize_t>(count * sizeof(T));
  if (pread(file.get(), table.data(), static_cast<std::size_t>(bytes), static_cast<off_t>(offset)) != bytes) return {};
  return table;
}

void add_symbols(const FileDescriptor& file, const std::vector<Elf64_Shdr>& sections, std::uint32_t type,
                 std::vector<Symbol>& symbols) {
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != type || section.sh_link >= sections.size()) continue;
    const auto entries = read_table<Elf64_Sym>(file, section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
    const Elf64_Shdr& names = sections[section.sh_link];
    const auto text = read_table<char>(file, names.sh_offset, names.sh_size);
    for (const Elf64_Sym& entry : entries) {
      if (ELF64_ST_TYPE(entry.st_info) != STT_FUNC || entry.st_value == 0 || entry.st_name >= text.size()) continue;
      const auto begin = text.begin() + static_cast<std::ptrdiff_t>(entry.st_name);
      symbols.push_back({entry.st_value, entry.st_size, {begin, std::find(begin, text.end(), '\0')}});
    }
  }
}

Functions functions_of(const std::string& path) {
  Functions functions;
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return functions;
  const auto heads = read_table<Elf64_Ehdr>(file, 0, 1);
  if (heads.empty() || !std::equal(ELFMAG, ELFMAG + SELFMAG, heads[0].e_ident)) return functions;
  const Elf64_Ehdr& head = heads[0];
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr)) return functions;
  functions.segments = read_table<Elf64_Phdr>(file, head.e_phoff, head.e_phnum);
  if (head.e_shentsize != sizeof(Elf64_Shdr)) return functions;
  const auto sections = read_table<Elf64_Shdr>(file, head.e_shoff, head.e_shnum);
  add_symbols(file, sections, SHT_SYMTAB, functions.symbols);
  add_symbols(file, sections, SHT_DYNSYM, functions.symbols);
  // Of several names of one function MPI's own tell more.
  std::ranges::sort(functions.symbols, [](const Symbol& a, const Symbol& b) {
    const bool mpi_a = a.name.starts_with("MPI_"), mpi_b = b.name.starts_with("MPI_");
    return a.address != b.address ? a.address < b.address : (mpi_a != mpi_b ? mpi_b : a.name > b.name);
  });
  return functions;
}

std::vector<MappedPart> map_of(pid_t pid) {
  std::vector<MappedPart> parts;
  std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(file, line);) {
    // "7f0000000000-7f0000001000 r-xp 00001000 08:01 1234   /usr/lib/libmpi.so.40"
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    MappedPart part;
    const char* const last = line.data() + line.size();
    auto got = std::from_chars(line.data(), last, part.begin, 16);
    if (got.ec != std::errc{} || got.ptr == last) continue;
    got = std::from_chars(got.ptr + 1, last, part.end, 16);
    if (got.ec != std::errc{} || last - got.ptr < 7) continue;
    got = std::from_chars(got.ptr + 6, last, part.offset, 16);
    if (got.ec != std::errc{}) continue;
    part.path = line.substr(slash);
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

std::vector<std::string> symbols_at(pid_t pid, std::span<const std::uint64_t> addresses) {
  const std::vector<MappedPart> parts = map_of(pid);
  std::map<std::string, Functions> files;
  std::vector<std::string> names;
  for (const std::uint64_t address : addresses) {
    const auto part =
        std::ranges::find_if(parts, [&](const MappedPart& p) { return p.begin <= address && address < p.end; });
    if (part == parts.end()) {
      names.push_back(fmt::format("{:#x}", address));
      continue;
    }
    auto known = files.find(part->path);
    if (known == files.end()) known = files.emplace(part->path, functions_of(part->path)).first;
    const std::uint64_t in_file = address - part->begin + part->offset;
    const std::string file = part->path.substr(part->path.rfind('/') + 1);
    // Symbols have the addresses for which the file was linked.
    const auto segment = std::ranges::find_if(known->second.segments, [&](const Elf64_Phdr& s) {
      return s.p_type == PT_LOAD && s.p_offset <= in_file && in_file - s.p_offset < s.p_filesz;
    });
    const std::uint64_t linked =
        segment == known->second.segments.end() ? in_file : in_file - segment->p_offset + segment->p_vaddr;
    const Symbol* const symbol = known->second.at(linked);
    names.push_back(symbol == nullptr ? fmt::format("{}+{:#x}", file, linked)
                                      : fmt::format("{}+{:#x} ({})", symbol->name, linked - symbol->address, file));
  }
  return names;
}

}  // namespace circoll::record
