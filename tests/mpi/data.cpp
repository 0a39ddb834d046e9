#include "data.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>

namespace circoll::test {
namespace {

constexpr std::ptrdiff_t guard_bytes = 64;
constexpr char guard_value = '\x5a';

/// Affine maps x -> a x + b modulo 2^32, composed: associative and not commutative. An element is (a, b) as
/// two 32-bit words, adjacent (extent 8) or eight bytes apart (extent 16 or more).
void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lb = 0, extent = 0;
  PMPI_Type_get_extent(*type, &lb, &extent);
  const std::ptrdiff_t second = extent == 8 ? 4 : 8;
  for (int i = 0; i < *count; ++i) {
    const char* const left = static_cast<const char*>(in) + i * extent;
    char* const right = static_cast<char*>(inout) + i * extent;
    std::uint32_t la = 0, lb_ = 0, ra = 0, rb = 0;
    std::memcpy(&la, left, 4);
    std::memcpy(&lb_, left + second, 4);
    std::memcpy(&ra, right, 4);
    std::memcpy(&rb, right + second, 4);
    const std::uint32_t a = la * ra, b = la * rb + lb_;
    std::memcpy(right, &a, 4);
    std::memcpy(right + second, &b, 4);
  }
}

/// A commutative user operator on int: sum.
void add_ints(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

MPI_Datatype committed(MPI_Datatype type) {
  PMPI_Type_commit(&type);
  return type;
}

MPI_Datatype contiguous(int count, MPI_Datatype base) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(count, base, &made);
  return committed(made);
}

MPI_Datatype vector(int count, int length, int stride, MPI_Datatype base) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_vector(count, length, stride, base, &made);
  return committed(made);
}

MPI_Datatype resized(MPI_Datatype type, MPI_Aint lb, MPI_Aint extent) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_create_resized(type, lb, extent, &made);
  return committed(made);
}

/// Three ints at -8, 4 and 0 (out of order) of an element of 24 bytes that begins at -12.
MPI_Datatype negative() {
  const std::array<int, 3> lengths{1, 1, 1};
  const std::array<MPI_Aint, 3> displs{-8, 4, 0};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_create_hindexed(3, lengths.data(), displs.data(), MPI_INT, &made);
  return resized(made, -12, 24);
}

MPI_Op user_op(MPI_User_function* function, bool commutative) {
  MPI_Op op = MPI_OP_NULL;
  PMPI_Op_create(function, commutative ? 1 : 0, &op);
  return op;
}

TypeSpec named(const char* name, MPI_Datatype type, Type base) { return {name, type, type, base, 1}; }

std::vector<ReduceSpec> make_reduce_specs() {
  const OpSpec sum{"sum", MPI_SUM}, prod{"prod", MPI_PROD}, max{"max", MPI_MAX, true, true},
      min{"min", MPI_MIN, true, true}, bor{"bor", MPI_BOR, true, true}, bxor{"bxor", MPI_BXOR},
      land{"land", MPI_LAND, true, true}, minloc{"minloc", MPI_MINLOC, true, true},
      maxloc{"maxloc", MPI_MAXLOC, true, true};
  const OpSpec compose_op{"compose", user_op(compose, false), false, false};
  const OpSpec add_op{"add", user_op(add_ints, true), true, false};
  const MPI_Datatype gapped = resized(vector(2, 1, 2, MPI_UINT32_T), 0, 20);
  return {
      {named("int", MPI_INT, Type::int32), sum},
      {{"map", contiguous(2, MPI_UINT32_T), MPI_UINT32_T, Type::uint32, 2}, compose_op},
      {named("byte", MPI_BYTE, Type::byte), bor},
      {named("double", MPI_DOUBLE, Type::float64), sum},
      {named("double_int", MPI_DOUBLE_INT, Type::pair_double_int), minloc},
      {named("int", MPI_INT, Type::int32), add_op},
      {named("int8", MPI_INT8_T, Type::int8), sum},
      {named("short", MPI_SHORT, Type::int16), max},
      {{"gapped map", gapped, MPI_UINT32_T, Type::uint32, 2}, compose_op},
      {named("complex double", MPI_C_DOUBLE_COMPLEX, Type::complex128), sum},
      {named("2int", MPI_2INT, Type::pair_int_int), maxloc},
      {named("float", MPI_FLOAT, Type::float32), prod},
      {named("bool", MPI_C_BOOL, Type::boolean), land},
      {named("uint64", MPI_UINT64_T, Type::uint64), bxor},
      {named("long double", MPI_LONG_DOUBLE, Type::float_long), min},
      {named("short_int", MPI_SHORT_INT, Type::pair_short_int), maxloc},
      {named("logical", MPI_LOGICAL, Type::logical), land},
      {named("aint", MPI_AINT, Type::int64), max},
  };
}

std::vector<TypeSpec> make_move_specs() {
  return {
      named("int", MPI_INT, Type::int32),
      {"vector", vector(3, 1, 2, MPI_INT), MPI_INT, Type::int32, 3},
      named("byte", MPI_BYTE, Type::byte),
      {"negative", negative(), MPI_INT, Type::int32, 3},
      named("double_int", MPI_DOUBLE_INT, Type::pair_double_int),
      {"resized", resized(contiguous(2, MPI_SHORT), 0, 12), MPI_SHORT, Type::int16, 2},
      {"triple", contiguous(3, MPI_DOUBLE), MPI_DOUBLE, Type::float64, 3},
      named("char", MPI_CHAR, Type::int8),
  };
}

template <typename T>
void store(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

template <typename T>
struct Pair {
  T value;
  int index;
};

template <typename T>
void store_pair(char* at, unsigned value, int index) {
  store(at + offsetof(Pair<T>, value), static_cast<T>(value));
  store(at + offsetof(Pair<T>, index), index);
}

/// Values 1 and 2 mostly: sums and products stay exact in every type.
void store_value(Type type, char* at, unsigned random) {
  const unsigned v = 1 + random % 2;
  switch (type) {
    case Type::byte:
    case Type::int8:
    case Type::uint8:
      return store(at, static_cast<std::uint8_t>(random % 256));
    case Type::int16:
    case Type::uint16:
      return store(at, static_cast<std::uint16_t>(random % 1000));
    case Type::int32:
    case Type::uint32:
      return store(at, static_cast<std::uint32_t>(random % 100000));
    case Type::int64:
    case Type::uint64:
      return store(at, static_cast<std::uint64_t>(random) * 0x100000001ULL);
    case Type::float32:
      return store(at, static_cast<float>(v));
    case Type::float64:
      return store(at, static_cast<double>(random % 4096));
    case Type::float_long:
      return store(at, static_cast<long double>(random % 4096));
    case Type::complex64:
      return store(at, std::complex<float>(static_cast<float>(v), 1));
    case Type::complex128:
      return store(at, std::complex<double>(v, random % 16));
    case Type::complex_long:
      return store(at, std::complex<long double>(v, 1));
    case Type::boolean:
      return store(at, random % 8 != 0);
    case Type::logical:
      return store(at, static_cast<std::int32_t>(random % 8 != 0));
    case Type::pair_double_int:
      return store_pair<double>(at, random % 4, static_cast<int>(random % 64));
    case Type::pair_int_int:
      return store_pair<int>(at, random % 4, static_cast<int>(random % 64));
    case Type::pair_short_int:
      return store_pair<short>(at, random % 4, static_cast<int>(random % 64));
    default:
      break;
  }
}

void pack_all(const char* from, Count count, MPI_Datatype type, std::vector<char>& to) {
  int size = 0, position = 0;
  PMPI_Type_size(type, &size);
  to.resize(static_cast<std::size_t>(count * size));
  if (to.empty()) return;
  PMPI_Pack(from, static_cast<int>(count), type, to.data(), static_cast<int>(to.size()), &position, MPI_COMM_SELF);
}

}  // namespace

const std::vector<ReduceSpec>& reduce_specs() {
  static const auto* const all = new std::vector<ReduceSpec>(make_reduce_specs());
  return *all;
}

const std::vector<TypeSpec>& move_specs() {
  static const auto* const all = new std::vector<TypeSpec>(make_move_specs());
  return *all;
}

const std::vector<TypeSpec>& six_ints() {
  static const auto* const all = new std::vector<TypeSpec>{
      {"6 int", contiguous(6, MPI_INT), MPI_INT, Type::int32, 6},
      {"6 spread", vector(3, 2, 5, MPI_INT), MPI_INT, Type::int32, 6},
      {"2 negative", contiguous(2, negative()), MPI_INT, Type::int32, 6},
  };
  return *all;
}

GuardedMemory::GuardedMemory(const TypeSpec& spec, Count count) : spec_(spec), count_(count) {
  MPI_Count lb = 0, true_lb = 0, true_extent = 0;
#if MPI_VERSION >= 4
  PMPI_Type_get_extent_c(spec.type, &lb, &extent_);
  PMPI_Type_get_true_extent_c(spec.type, &true_lb, &true_extent);
#else
  PMPI_Type_get_extent_x(spec.type, &lb, &extent_);
  PMPI_Type_get_true_extent_x(spec.type, &true_lb, &true_extent);
#endif
  const Count body = count == 0 ? 0 : (count - 1) * extent_ + true_extent;
  const std::ptrdiff_t unaligned = guard_bytes - true_lb;
  offset_ = (unaligned + 63) / 64 * 64;
  bytes_.assign(static_cast<std::size_t>(offset_ + true_lb + body + guard_bytes), guard_value);
}

void GuardedMemory::fill(Count first, Count count, unsigned seed) {
  if (count == 0) return;
  MPI_Aint lb = 0, base_extent = 0;
  PMPI_Type_get_extent(spec_.base, &lb, &base_extent);
  const Count elements = count * spec_.base_count;
  std::vector<char> plain(static_cast<std::size_t>(elements * base_extent)), packed;
  std::uint32_t state = seed * 2654435761U + 12345U;
  for (Count i = 0; i < elements; ++i) {
    state = state * 1664525U + 1013904223U;
    store_value(spec_.base_type, plain.data() + i * base_extent, state >> 12U);
  }
  pack_all(plain.data(), elements, spec_.base, packed);
  int position = 0;
  PMPI_Unpack(packed.data(), static_cast<int>(packed.size()), &position, address() + first * extent_,
              static_cast<int>(count), spec_.type, MPI_COMM_SELF);
}

std::vector<char> GuardedMemory::packed() const {
  std::vector<char> out;
  pack_all(bytes_.data() + offset_, count_, spec_.type, out);
  // x87 numbers have ten bytes, and the six bytes after them do not count.
  constexpr std::size_t used = 10;
  for (std::size_t i = 0; spec_.base_type == Type::float_long && sizeof(long double) == 16 && i < out.size(); ++i) {
    if (i % sizeof(long double) >= used) out[i] = 0;
  }
  return out;
}

bool GuardedMemory::guards_intact() const {
  const auto intact = [](char c) { return c == guard_value; };
  return std::all_of(bytes_.begin(), bytes_.begin() + guard_bytes - 16, intact) &&
         std::all_of(bytes_.end() - guard_bytes, bytes_.end(), intact);
}

}  // namespace circoll::test
