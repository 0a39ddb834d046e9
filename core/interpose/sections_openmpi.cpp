#include "interpose/sections_openmpi.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <utility>

#include "exec/mpi/library/library.hpp"

#if __has_include(<ISO_Fortran_binding.h>)
#include <ISO_Fortran_binding.h>

namespace circoll::interpose::fortran {
namespace {

/// A symbol of the object that an address lies in, or of what that object needs.
void* symbol_at(const char* symbol, const void* address) {
  Dl_info info{};
  link_map* object = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0) return nullptr;
  void* const handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const found = dlsym(handle, symbol);
  dlclose(handle);
  return found;
}

const CFI_cdesc_t& described(const void* buffer) { return *static_cast<const CFI_cdesc_t*>(buffer); }

/// False if another compiler has made the descriptor. Compilers order the members after the version differently, and
/// have versions of their own.
bool is_readable(const CFI_cdesc_t& section) { return section.version == CFI_VERSION; }

/// True if elements lie apart. An array without elements has no gaps.
bool has_gaps(const CFI_cdesc_t& section) {
  bool apart = false;
  auto distance = static_cast<CFI_index_t>(section.elem_len);
  for (int i = 0; i < section.rank; ++i) {
    const CFI_dim_t& dimension = section.dim[i];
    apart = apart || (dimension.extent != 1 && dimension.sm != distance);
    distance *= dimension.extent;
  }
  return apart && distance != 0;
}

int repeat(MPI_Fint count, MPI_Aint distance, MPI_Datatype element, MPI_Datatype* made) {
  return PMPI_Type_create_hvector(count, 1, distance, element, made);
}
#if CIRCOLL_HAS_LARGE_COUNTS
int repeat(MPI_Count count, MPI_Aint distance, MPI_Datatype element, MPI_Datatype* made) {
  return PMPI_Type_create_hvector_c(count, 1, distance, element, made);
}
#endif

/// The numbers of elements, by dimension, that make up the first `count` elements of an array.
template <typename Count>
struct Extents {
  std::array<Count, CFI_MAX_RANK> of{};
  int dimensions = 0;  ///< 0: the array has too few, or a part of a dimension is followed by more
};

/// By the rules of the library, which refuses the rest.
template <typename Count>
Extents<Count> extents(const CFI_cdesc_t& section, Count count) {
  Extents<Count> found;
  for (int i = 0; i < section.rank; ++i) {
    const CFI_index_t extent = section.dim[i].extent;
    found.of[static_cast<std::size_t>(i)] = static_cast<Count>(std::min<CFI_index_t>(count, extent));
    if (count <= extent) {
      found.dimensions = i + 1;
      break;
    }
    if (count % extent != 0) break;
    count = static_cast<Count>(count / extent);
  }
  return found;
}

}  // namespace

void* library_procedure(const char* symbol, const void* ours, const void* caller) {
  if (void* const next = dlsym(RTLD_NEXT, symbol)) return next;
  void* const found = symbol_at(symbol, caller);
  return found != ours ? found : nullptr;
}

bool has_descriptors(const void* caller) {
  constexpr const char* name = "mpi_allreduce_f08ts_";
  return dlsym(RTLD_DEFAULT, name) != nullptr || symbol_at(name, caller) != nullptr;
}

Sections::~Sections() {
  if (made_ != MPI_DATATYPE_NULL) PMPI_Type_free(&made_);
}

bool Sections::whole(void*& buffer) const {
  const CFI_cdesc_t& section = described(buffer);
  if (!is_readable(section) || has_gaps(section)) return false;
  buffer = section.base_addr;
  return true;
}

bool Sections::whole_at_root(void*& buffer, const MPI_Fint* root, const MPI_Fint* comm) const {
  if (whole(buffer)) return true;
  const CFI_cdesc_t& section = described(buffer);
  if (!is_readable(section)) return false;
  int rank = 0, between_groups = 0;
  const MPI_Comm c = PMPI_Comm_f2c(*comm);
  if (PMPI_Comm_test_inter(c, &between_groups) != MPI_SUCCESS || PMPI_Comm_rank(c, &rank) != MPI_SUCCESS) return false;
  if (*root == (between_groups != 0 ? MPI_ROOT : rank)) return false;
  buffer = section.base_addr;
  return true;
}

bool Sections::section(void*& buffer, const MPI_Fint*& count, const MPI_Fint*& datatype, bool significant) {
  return replace(buffer, count, datatype, significant);
}
#if CIRCOLL_HAS_LARGE_COUNTS
bool Sections::section(void*& buffer, const MPI_Count*& count, const MPI_Fint*& datatype, bool significant) {
  return replace(buffer, count, datatype, significant);
}
#endif

template <typename Count>
bool Sections::replace(void*& buffer, const Count*& count, const MPI_Fint*& datatype, bool significant) {
  const CFI_cdesc_t& section = described(buffer);
  if (!is_readable(section)) return false;
  buffer = section.base_addr;
  if (!significant || *count <= 0 || !has_gaps(section)) return true;
  const Extents<Count> part = extents(section, *count);
  if (part.dimensions == 0) return false;
  const MPI_Datatype element = PMPI_Type_f2c(*datatype);
  for (int i = 0; i < part.dimensions && error_ == MPI_SUCCESS; ++i) {
    MPI_Datatype before = std::exchange(made_, MPI_DATATYPE_NULL);
    error_ = repeat(part.of[static_cast<std::size_t>(i)], section.dim[i].sm, i == 0 ? element : before, &made_);
    if (before != MPI_DATATYPE_NULL) PMPI_Type_free(&before);
  }
  if (error_ == MPI_SUCCESS) error_ = PMPI_Type_commit(&made_);
  if (error_ != MPI_SUCCESS) return true;
  static constexpr Count one = 1;
  handle_ = PMPI_Type_c2f(made_);
  count = &one;
  datatype = &handle_;
  return true;
}

}  // namespace circoll::interpose::fortran

#endif
