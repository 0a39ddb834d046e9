// Descriptions of datatypes: a table of the predefined ones, and attributes of the others. Packing is in packing.cpp.
#include "exec/mpi/call/datatype.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/library.hpp"

namespace circoll::mpi {
namespace {

Type signed_type(std::size_t bytes) {
  return bytes == 1 ? Type::int8 : bytes == 2 ? Type::int16 : bytes == 4 ? Type::int32 : Type::int64;
}
Type unsigned_type(std::size_t bytes) {
  return bytes == 1 ? Type::uint8 : bytes == 2 ? Type::uint16 : bytes == 4 ? Type::uint32 : Type::uint64;
}

struct Row {
  MPI_Datatype type;
  std::optional<Type> element;
};

/// The predefined types. Circoll moves those without an element type (characters, MPI_PACKED, quadruple precision), but
/// the MPI library reduces them, because it knows which operators it allows on them.
std::vector<Row> predefined_rows() {
  std::vector<Row> rows {
    {MPI_BYTE, Type::byte}, {MPI_PACKED, std::nullopt}, {MPI_CHAR, std::nullopt}, {MPI_WCHAR, std::nullopt},
        {MPI_CHARACTER, std::nullopt}, {MPI_SIGNED_CHAR, Type::int8}, {MPI_UNSIGNED_CHAR, Type::uint8},
        {MPI_SHORT, signed_type(sizeof(short))}, {MPI_UNSIGNED_SHORT, unsigned_type(sizeof(short))},
        {MPI_INT, signed_type(sizeof(int))}, {MPI_UNSIGNED, unsigned_type(sizeof(int))},
        {MPI_LONG, signed_type(sizeof(long))}, {MPI_UNSIGNED_LONG, unsigned_type(sizeof(long))},
        {MPI_LONG_LONG, signed_type(sizeof(long long))}, {MPI_UNSIGNED_LONG_LONG, unsigned_type(sizeof(long long))},
        {MPI_INT8_T, Type::int8}, {MPI_INT16_T, Type::int16}, {MPI_INT32_T, Type::int32}, {MPI_INT64_T, Type::int64},
        {MPI_UINT8_T, Type::uint8}, {MPI_UINT16_T, Type::uint16}, {MPI_UINT32_T, Type::uint32},
        {MPI_UINT64_T, Type::uint64}, {MPI_AINT, signed_type(sizeof(MPI_Aint))},
        {MPI_OFFSET, signed_type(sizeof(MPI_Offset))}, {MPI_COUNT, signed_type(sizeof(MPI_Count))},
        {MPI_FLOAT, Type::float32}, {MPI_DOUBLE, Type::float64}, {MPI_LONG_DOUBLE, Type::float_long},
        {MPI_C_BOOL, Type::boolean}, {MPI_C_FLOAT_COMPLEX, Type::complex64}, {MPI_C_DOUBLE_COMPLEX, Type::complex128},
        {MPI_C_LONG_DOUBLE_COMPLEX, Type::complex_long}, {MPI_FLOAT_INT, Type::pair_float_int},
        {MPI_DOUBLE_INT, Type::pair_double_int}, {MPI_LONG_INT, Type::pair_long_int}, {MPI_2INT, Type::pair_int_int},
        {MPI_SHORT_INT, Type::pair_short_int}, {MPI_LONG_DOUBLE_INT, Type::pair_long_double_int},
        {MPI_INTEGER, Type::int32}, {MPI_REAL, Type::float32}, {MPI_DOUBLE_PRECISION, Type::float64},
        {MPI_COMPLEX, Type::complex64}, {MPI_DOUBLE_COMPLEX, Type::complex128}, {MPI_LOGICAL, Type::logical},
        {MPI_2INTEGER, Type::pair_int_int}, {MPI_2REAL, Type::pair_float_float},
        {MPI_2DOUBLE_PRECISION, Type::pair_double_double},
// An MPI without Fortran may lack the types that only some compilers have.
#ifdef MPI_INTEGER1
        {MPI_INTEGER1, Type::int8},
#endif
#ifdef MPI_INTEGER2
        {MPI_INTEGER2, Type::int16},
#endif
#ifdef MPI_INTEGER4
        {MPI_INTEGER4, Type::int32},
#endif
#ifdef MPI_INTEGER8
        {MPI_INTEGER8, Type::int64},
#endif
#ifdef MPI_REAL4
        {MPI_REAL4, Type::float32},
#endif
#ifdef MPI_REAL8
        {MPI_REAL8, Type::float64},
#endif
#ifdef MPI_REAL16
        {MPI_REAL16, std::nullopt},
#endif
#ifdef MPI_COMPLEX8
        {MPI_COMPLEX8, Type::complex64},
#endif
#ifdef MPI_COMPLEX16
        {MPI_COMPLEX16, Type::complex128},
#endif
#ifdef MPI_COMPLEX32
        {MPI_COMPLEX32, std::nullopt},
#endif
#ifdef MPI_CXX_BOOL
        {MPI_CXX_BOOL, Type::boolean},
#endif
#if defined(MPI_CXX_BOOL) && CIRCOLL_HAS_CXX_COMPLEX
        {MPI_CXX_FLOAT_COMPLEX, Type::complex64}, {MPI_CXX_DOUBLE_COMPLEX, Type::complex128},
        {MPI_CXX_LONG_DOUBLE_COMPLEX, Type::complex_long},
#endif
#ifdef MPI_LOGICAL4
        {MPI_LOGICAL4, Type::logical},
#endif
#ifdef MPIX_C_FLOAT16
        {MPIX_C_FLOAT16, Type::float16},
#endif
  };
  return rows;
}

// The queries below cannot fail for a handle that has_handle() admits. An error of a query without a communicator would
// call the program's error handler.

/// The bytes of a datatype, where MPI counts them.
struct Measures {
  MPI_Count size = 0, lb = 0, extent = 0, true_lb = 0, true_extent = 0;
};

std::optional<Measures> measures_of(MPI_Datatype type) {
  Measures m;
#if CIRCOLL_HAS_LARGE_COUNTS
  const bool known = PMPI_Type_size_c(type, &m.size) == MPI_SUCCESS &&
                     PMPI_Type_get_extent_c(type, &m.lb, &m.extent) == MPI_SUCCESS &&
                     PMPI_Type_get_true_extent_c(type, &m.true_lb, &m.true_extent) == MPI_SUCCESS;
#else
  const bool known = PMPI_Type_size_x(type, &m.size) == MPI_SUCCESS &&
                     PMPI_Type_get_extent_x(type, &m.lb, &m.extent) == MPI_SUCCESS &&
                     PMPI_Type_get_true_extent_x(type, &m.true_lb, &m.true_extent) == MPI_SUCCESS;
#endif
  return known ? std::optional(m) : std::nullopt;
}

/// The constructor of a datatype, and how many arguments of each kind it had.
struct Envelope {
  int combiner = MPI_COMBINER_NAMED;
  Count numbers = 0;  ///< counts and the like, of either width
  Count addresses = 0;
  Count types = 0;
  [[nodiscard]] bool predefined() const {
    switch (combiner) {
      case MPI_COMBINER_NAMED:
      case MPI_COMBINER_F90_REAL:
      case MPI_COMBINER_F90_COMPLEX:
      case MPI_COMBINER_F90_INTEGER:
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
      case MPI_COMBINER_VALUE_INDEX:
#endif
        return true;
      default:
        return false;
    }
  }
};

/// Uses the query of large counts where MPI has it. MPI refuses the other query for types that were made with large
/// counts.
std::optional<Envelope> envelope_of(MPI_Datatype type) {
  Envelope e;
#if CIRCOLL_HAS_LARGE_COUNTS
  MPI_Count integers = 0, addresses = 0, large_counts = 0, types = 0;
  const int rc = PMPI_Type_get_envelope_c(type, &integers, &addresses, &large_counts, &types, &e.combiner);
#else
  int integers = 0, addresses = 0, types = 0;
  constexpr int large_counts = 0;
  const int rc = PMPI_Type_get_envelope(type, &integers, &addresses, &types, &e.combiner);
#endif
  e.numbers = Count{integers} + Count{large_counts};
  e.addresses = addresses;
  e.types = types;
  return rc == MPI_SUCCESS ? std::optional(e) : std::nullopt;
}

/// The type of which a duplicate or an array consists. The caller frees it, unless it is predefined.
std::optional<MPI_Datatype> inner_type(MPI_Datatype type, const Envelope& e) {
  if (e.combiner != MPI_COMBINER_DUP && e.combiner != MPI_COMBINER_CONTIGUOUS) return std::nullopt;
  if (e.types != 1 || e.numbers > 1 || e.addresses != 0) return std::nullopt;
  int count = 0;
  MPI_Aint no_address = 0;
  MPI_Datatype inner = MPI_DATATYPE_NULL;
#if CIRCOLL_HAS_LARGE_COUNTS
  // MPI puts the count where the constructor's width says. Both arrays have room for it.
  MPI_Count large_count = 0;
  const int rc = PMPI_Type_get_contents_c(type, 1, 0, 1, 1, &count, &no_address, &large_count, &inner);
#else
  const int rc = PMPI_Type_get_contents(type, 1, 0, 1, &count, &no_address, &inner);
#endif
  return rc == MPI_SUCCESS ? std::optional(inner) : std::nullopt;
}

/// True if an array of the datatype is byte for byte its packed form. Conservative: unusual constructors are packed.
bool is_dense(MPI_Datatype type, const Measures& m, int depth = 0) {
  if (m.size != m.extent || m.lb != 0) return false;
  const std::optional<Envelope> envelope = envelope_of(type);
  if (!envelope) return false;
  if (envelope->combiner == MPI_COMBINER_NAMED) return true;
  if (depth > 8) return false;
  std::optional<MPI_Datatype> inner = inner_type(type, *envelope);
  if (!inner) return false;
  const std::optional<Measures> inner_measures = measures_of(*inner);
  const bool dense = inner_measures && is_dense(*inner, *inner_measures, depth + 1);
  const std::optional<Envelope> inner_envelope = envelope_of(*inner);
  if (inner_envelope && !inner_envelope->predefined()) PMPI_Type_free(&*inner);
  return dense;
}

/// True if a handle is a datatype's. The query has a communicator of ours, which returns errors.
bool has_handle(MPI_Datatype type) {
  MPI_Comm self = self_communicator();
  int bytes = 0;
  return self != MPI_COMM_NULL && PMPI_Pack_size(0, type, self, &bytes) == MPI_SUCCESS;
}

/// MPI says only at a use whether a datatype is committed. Packing no elements is a use.
bool is_committed(MPI_Datatype type) {
  char nothing = 0;
  int position = 0;
  return PMPI_Pack(&nothing, 0, type, &nothing, 0, &position, self_communicator()) == MPI_SUCCESS;
}

TypeInfo measure(MPI_Datatype type, std::uint64_t id) {
  const std::optional<Measures> m = measures_of(type);
  if (!m) return {};
  TypeInfo info;
  info.id = id;
  info.size_bytes = m->size;
  info.lb_bytes = m->lb;
  info.extent_bytes = m->extent;
  info.true_lb_bytes = m->true_lb;
  info.true_extent_bytes = m->true_extent;
  info.valid = m->size >= 0;
  info.dense = is_dense(type, *m);
  return info;
}

/// Part of the executor's global state (HACKING.md).
struct Types {
  std::mutex mutex;  // of what creates attributes of datatypes
  int keyval = MPI_KEYVAL_INVALID;
  /// 0 stands for bytes in signatures, so that ids begin at 1.
  std::atomic<std::uint64_t> next_id{1};
};

Types& types() {
  static auto* const instance = new Types;  // never destroyed: threads of the program may still run at exit
  return *instance;
}

using Table = std::unordered_map<MPI_Datatype, TypeInfo>;

Table make_table() {
  Table table;
  const bool can_ask = self_communicator() != MPI_COMM_NULL;
  for (const Row& row : predefined_rows()) {
    // Fortran types may be missing, as MPI_DATATYPE_NULL, as handles that MPI refuses, or as types of size zero.
    if (row.type == MPI_DATATYPE_NULL || (can_ask && !has_handle(row.type))) continue;
    TypeInfo info = measure(row.type, types().next_id++);
    if (!info.valid || info.size_bytes == 0) continue;
    info.named = true;
    if (row.element && info.extent_bytes == static_cast<Count>(extent_bytes(*row.element))) info.element = row.element;
    table.emplace(row.type, info);
  }
  return table;
}

const Table& predefined() {
  static const Table table = make_table();
  return table;
}

int forget_type(MPI_Datatype /*type*/, int /*keyval*/, void* value, void* /*extra*/) {
  delete static_cast<TypeInfo*>(value);
  return MPI_SUCCESS;
}

}  // namespace

TypeInfo describe(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return {};
  const Table& table = predefined();
  if (const auto found = table.find(type); found != table.end()) return found->second;
  if (!has_handle(type)) return {};
  Types& known_types = types();
  const std::lock_guard lock(known_types.mutex);
  if (known_types.keyval == MPI_KEYVAL_INVALID &&
      PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget_type, &known_types.keyval, nullptr) != MPI_SUCCESS) {
    return {};
  }
  void* known = nullptr;
  int found = 0;
  PMPI_Type_get_attr(type, known_types.keyval, &known, &found);
  if (found != 0) return *static_cast<TypeInfo*>(known);
  TypeInfo info;
  if (is_committed(type)) info = measure(type, known_types.next_id++);
  if (info.valid) PMPI_Type_set_attr(type, known_types.keyval, new TypeInfo(info));
  return info;
}

void describe_as(MPI_Datatype type, const TypeInfo& info) {
  Types& known_types = types();
  const std::lock_guard lock(known_types.mutex);
  PMPI_Type_set_attr(type, known_types.keyval, new TypeInfo(info));
}

}  // namespace circoll::mpi
