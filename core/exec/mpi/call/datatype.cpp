#include "exec/mpi/call/datatype.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/library.hpp"

namespace circoll::mpi {
namespace {

/// MPI_Pack takes int; larger buffers are packed in pieces of at most this many bytes.
constexpr Count pack_chunk_bytes = Count{1} << 30;

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
  std::atomic<unsigned> next_packing_tag{0};
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

/// Elements that MPI_Pack may handle at once; 0 if not even one fits.
Count chunk_elements(const TypeInfo& info) {
  if (info.size_bytes > pack_chunk_bytes) return 0;
  return std::max<Count>(1, pack_chunk_bytes / std::max<Count>(1, info.size_bytes));
}

/// True for MPI_BOTTOM and for MPI's other constants, which lie a few bytes from it. A library may take such an address
/// for the constant. Open MPI's standard ABI exchanges them for its own in all calls.
bool is_constant(const void* address) {
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  if (address == MPI_BUFFER_AUTOMATIC) return true;
#endif
  return address == MPI_BOTTOM || address == MPI_IN_PLACE;
}

/// Makes a type to be used at `*address`. If that is a constant, it becomes MPI_BOTTOM, and the type has it in itself.
int make_contiguous_at(const void** address, Count count, MPI_Datatype type, Count extent_bytes, MPI_Datatype* made) {
  int rc = make_contiguous(count, type, extent_bytes, made);
  if (rc != MPI_SUCCESS || *address == MPI_BOTTOM || !is_constant(*address)) return rc;
  const int one = 1;
  const MPI_Aint place = static_cast<const char*>(*address) - static_cast<const char*>(MPI_BOTTOM);
  MPI_Datatype moved = MPI_DATATYPE_NULL;
  rc = PMPI_Type_create_hindexed(1, &one, &place, *made, &moved);
  PMPI_Type_free(made);
  if (rc == MPI_SUCCESS) rc = PMPI_Type_commit(&moved);
  *made = moved;
  *address = MPI_BOTTOM;
  return rc;
}

/// Packs by a message to ourselves. It serves elements beyond 1 GiB, which MPI_Pack cannot address, absolute addresses,
/// which MPICH's MPI_Pack takes for a null pointer, and types that it packs wrong.
int exchange_with_self(const void* from, Count from_count, MPI_Datatype from_type, Count from_extent, const void* to,
                       Count to_count, MPI_Datatype to_type, Count to_extent) {
  MPI_Datatype out = MPI_DATATYPE_NULL, in = MPI_DATATYPE_NULL;
  if (const int rc = make_contiguous_at(&from, from_count, from_type, from_extent, &out); rc != MPI_SUCCESS) return rc;
  if (const int rc = make_contiguous_at(&to, to_count, to_type, to_extent, &in); rc != MPI_SUCCESS) {
    PMPI_Type_free(&out);
    return rc;
  }
  // Threads share the communicator, and this may run inside a wait of another message. So each message has a tag of its
  // own.
  const int tag = static_cast<int>(types().next_packing_tag++ % packing_tags);
  const int rc =
      PMPI_Sendrecv(from, 1, out, 0, tag, const_cast<void*>(to), 1, in, 0, tag, self_communicator(), MPI_STATUS_IGNORE);
  PMPI_Type_free(&out);
  PMPI_Type_free(&in);
  return rc;
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

int pack(const void* from, Count count, MPI_Datatype type, const TypeInfo& info, void* to) {
  if (count == 0 || info.size_bytes == 0) return MPI_SUCCESS;
  if (info.dense) {
    std::memcpy(to, from, static_cast<std::size_t>(info.size_bytes * count));
    return MPI_SUCCESS;
  }
  const Count step = chunk_elements(info);
  if (step == 0 || is_constant(from) || library::packs_wrong(type, info.size_bytes, info.true_extent_bytes)) {
    return exchange_with_self(from, count, type, info.extent_bytes, to, info.size_bytes * count, MPI_BYTE, 1);
  }
  for (Count done = 0; done < count; done += step) {
    const Count elements = std::min(step, count - done);
    int position = 0;
    const int rc = PMPI_Pack(static_cast<const char*>(from) + done * info.extent_bytes, static_cast<int>(elements),
                             type, static_cast<char*>(to) + done * info.size_bytes,
                             static_cast<int>(elements * info.size_bytes), &position, self_communicator());
    if (rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

int unpack(const void* from, void* to, Count count, MPI_Datatype type, const TypeInfo& info) {
  if (count == 0 || info.size_bytes == 0) return MPI_SUCCESS;
  if (info.dense) {
    std::memcpy(to, from, static_cast<std::size_t>(info.size_bytes * count));
    return MPI_SUCCESS;
  }
  const Count step = chunk_elements(info);
  if (step == 0 || is_constant(to)) {
    return exchange_with_self(from, info.size_bytes * count, MPI_BYTE, 1, to, count, type, info.extent_bytes);
  }
  for (Count done = 0; done < count; done += step) {
    const Count elements = std::min(step, count - done);
    int position = 0;
    const int rc = PMPI_Unpack(static_cast<const char*>(from) + done * info.size_bytes,
                               static_cast<int>(elements * info.size_bytes), &position,
                               static_cast<char*>(to) + done * info.extent_bytes, static_cast<int>(elements), type,
                               self_communicator());
    if (rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

int make_contiguous(Count count, MPI_Datatype type, Count extent_bytes, MPI_Datatype* made) {
  // Chunks of 2^30 elements and a remainder; an array of chunks has the elements' own spacing.
  constexpr Count chunk = Count{1} << 30;
  const auto chunks = static_cast<int>(count / chunk);
  const auto rest = static_cast<int>(count % chunk);
  int rc = MPI_SUCCESS;
  if (chunks == 0) {
    rc = PMPI_Type_contiguous(rest, type, made);
  } else {
    MPI_Datatype one = MPI_DATATYPE_NULL, many = MPI_DATATYPE_NULL, tail = MPI_DATATYPE_NULL;
    rc = PMPI_Type_contiguous(static_cast<int>(chunk), type, &one);
    if (rc == MPI_SUCCESS) rc = PMPI_Type_contiguous(chunks, one, &many);
    if (rc == MPI_SUCCESS) rc = PMPI_Type_contiguous(rest, type, &tail);
    if (rc == MPI_SUCCESS) {
      const std::array<int, 2> lengths{1, 1};
      const std::array<MPI_Aint, 2> displs{0, static_cast<MPI_Aint>(chunks * chunk * extent_bytes)};
      const std::array<MPI_Datatype, 2> types{many, tail};
      rc = PMPI_Type_create_struct(rest == 0 ? 1 : 2, lengths.data(), displs.data(), types.data(), made);
    }
    for (MPI_Datatype* t : {&one, &many, &tail}) {
      if (*t != MPI_DATATYPE_NULL) PMPI_Type_free(t);
    }
  }
  if (rc == MPI_SUCCESS) rc = PMPI_Type_commit(made);
  return rc;
}

}  // namespace circoll::mpi
