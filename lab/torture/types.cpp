// Datatypes, made by every constructor of MPI.
#include "types.hpp"

#include <array>
#include <atomic>
#include <numeric>
#include <type_traits>

namespace circoll::torture {
namespace {

// The datatype of a constructor, in the form with MPI_Count arguments if a Constructors wants that and the MPI has it.
#if MPI_VERSION >= 4
#define TORTURE_MADE(name, ...) \
  made([&](MPI_Datatype* type) { large() ? name##_c(__VA_ARGS__, type) : name(__VA_ARGS__, type); })
#else
#define TORTURE_MADE(name, ...)  \
  made([&](MPI_Datatype* type) { \
    static_cast<void>(large());  \
    name(__VA_ARGS__, type);     \
  })
#endif

/// An array as an argument of either form: of its own numbers, or of MPI_Count.
template <typename T>
class Array {
 public:
  explicit Array(const std::vector<T>& values) : values_(&values), large_(values.begin(), values.end()) {}
  template <typename U>
  operator const U*() const {  // NOLINT(google-explicit-constructor): C arguments convert
    if constexpr (std::is_same_v<U, T>) {
      return values_->data();
    } else {
      return large_.data();
    }
  }

 private:
  const std::vector<T>* values_;
  std::vector<MPI_Count> large_;
};

/// Constructors of datatypes. The seed says which are called by the forms with MPI_Count arguments, where the
/// MPI has those.
class Constructors {
 public:
  explicit Constructors(std::uint64_t seed) : random_(seed) {}

  Type contiguous(int count, MPI_Datatype base) { return TORTURE_MADE(MPI_Type_contiguous, count, base); }

  Type vector(int count, int length, int stride, MPI_Datatype base) {
    return TORTURE_MADE(MPI_Type_vector, count, length, stride, base);
  }

  Type hvector(int count, int length, MPI_Aint stride, MPI_Datatype base) {
    return TORTURE_MADE(MPI_Type_create_hvector, count, length, stride, base);
  }

  Type resized(const Type& type_of, MPI_Aint lb, MPI_Aint extent) {
    return TORTURE_MADE(MPI_Type_create_resized, type_of.get(), lb, extent);
  }

  /// Elements at these bytes.
  Type at_places(const std::vector<MPI_Aint>& places, MPI_Datatype base) {
    return TORTURE_MADE(MPI_Type_create_hindexed_block, number_of(places), 1, Array(places), base);
  }

  /// Elements at these multiples of their extent.
  Type at_indices(const std::vector<int>& places, MPI_Datatype base) {
    return TORTURE_MADE(MPI_Type_create_indexed_block, number_of(places), 1, Array(places), base);
  }

  Type indexed(const std::vector<int>& lengths, const std::vector<int>& places, MPI_Datatype base) {
    return TORTURE_MADE(MPI_Type_indexed, number_of(places), Array(lengths), Array(places), base);
  }

  Type hindexed(const std::vector<int>& lengths, const std::vector<MPI_Aint>& places, MPI_Datatype base) {
    return TORTURE_MADE(MPI_Type_create_hindexed, number_of(places), Array(lengths), Array(places), base);
  }

  Type structure(const std::vector<int>& lengths, const std::vector<MPI_Aint>& places,
                 const std::vector<MPI_Datatype>& types) {
    return TORTURE_MADE(MPI_Type_create_struct, number_of(places), Array(lengths), Array(places), types.data());
  }

  /// Elements of a matrix.
  Type subarray(const std::vector<int>& sizes, const std::vector<int>& parts, const std::vector<int>& starts, int order,
                MPI_Datatype base) {
    return TORTURE_MADE(MPI_Type_create_subarray, number_of(sizes), Array(sizes), Array(parts), Array(starts), order,
                        base);
  }

  /// The second half of a vector in blocks on two processes.
  Type second_half(int count, MPI_Datatype base) {
    const std::vector<int> size{2 * count};
    const int blocks = MPI_DISTRIBUTE_BLOCK, usual = MPI_DISTRIBUTE_DFLT_DARG, processes = 2;
    return TORTURE_MADE(MPI_Type_create_darray, 2, 1, 1, Array(size), &blocks, &usual, &processes, MPI_ORDER_C, base);
  }

 private:
  template <typename Construct>
  static Type made(const Construct& construct) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    construct(&type);
    MPI_Type_commit(&type);
    return {type, true};
  }
  template <typename T>
  static int number_of(const std::vector<T>& values) {
    return static_cast<int>(values.size());
  }
  bool large() { return random_.percent(50); }

  Random random_;
};

Type duplicate(const Type& type) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_dup(type.get(), &made);
  return {made, true};  // committed, as the other is
}

/// An int and a double. They lie as C has them, packed, apart, or with the int behind the double (but first in
/// the signature).
Type record(std::uint64_t variant) {
  Constructors make(hash(variant, 4));
  constexpr std::array<std::array<MPI_Aint, 4>, 4> layouts{
      {{0, 8, 0, 16}, {0, 4, 0, 12}, {-8, 16, -8, 40}, {8, 0, 0, 16}}};
  const std::array<MPI_Aint, 4>& layout = layouts[variant % layouts.size()];
  return make.resized(make.structure({1, 1}, {layout[0], layout[1]}, {MPI_INT, MPI_DOUBLE}), layout[2], layout[3]);
}

Type words(int layout, std::uint64_t seed) {
  const WordLayout& l = word_layout(layout);
  if (layout == word_layouts - 1) return {MPI_UINT64_T, false};
  Constructors make(hash(seed, 4));
  return make.resized(make.at_places({l.first, l.second}, MPI_UINT32_T), l.lb, l.extent);
}

/// k numbers in a row, in any order; half of them are below 0.
std::vector<int> shuffled(int k, Random& random) {
  std::vector<int> places(static_cast<std::size_t>(k));
  std::iota(places.begin(), places.end(), -(k / 2));
  for (std::size_t i = places.size(); i > 1; --i) {
    std::swap(places[i - 1], places[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
  return places;
}

/// k elements of a type of this extent, arranged in one of several ways that the seed says.
Type arrange(MPI_Datatype base, MPI_Aint extent, int k, std::uint64_t seed, Count total) {
  Random random(seed);
  Constructors make(hash(seed, 3));
  switch (random.below(14)) {
    case 0:
      return make.contiguous(k, base);
    case 1:
      return make.hvector(k, 1, extent * random.between(2, 4), base);
    case 2: {  // any order, some below the address
      std::vector<MPI_Aint> places;
      for (const int place : shuffled(k, random)) places.push_back(2 * extent * place);
      return make.resized(make.at_places(places, base), -(k + 1) * extent, (2 * k + 3) * extent);
    }
    case 3:
      return make.resized(make.contiguous(k, base), 0, (k + random.between(1, 5)) * extent);
    case 4: {  // two parts, the second in front
      const int first = static_cast<int>(random.between(0, k));
      return make.structure({first, k - first}, {(k - first + 1) * extent, 0}, {base, base});
    }
    case 5:  // columns of a matrix: elements interleave
      return make.resized(make.hvector(k, 1, (total + random.between(0, 3)) * extent, base), 0, extent);
    case 6:
      return make.vector(k, 1, static_cast<int>(random.between(1, 3)), base);
    case 7: {
      const int first = static_cast<int>(random.between(0, k));
      return make.indexed({first, k - first}, {k - first + 1, 0}, base);
    }
    case 8: {
      const int first = static_cast<int>(random.between(0, k));
      return make.hindexed({first, k - first}, {0, (first + random.between(0, 2)) * extent}, base);
    }
    case 9:
      return make.at_indices(shuffled(k, random), base);
    case 10: {  // a column, or a part of one, of a matrix of three
      const bool by_rows = random.percent(50);
      return by_rows ? make.subarray({k + 1, 3}, {k, 1}, {1, 1}, MPI_ORDER_C, base)
                     : make.subarray({k + 1, 3}, {k, 1}, {0, 2}, MPI_ORDER_FORTRAN, base);
    }
    case 11:
      return make.second_half(k, base);
    case 12: {
      const Type once = duplicate(make.contiguous(k, base));
      return random.percent(50) ? duplicate(once) : make.contiguous(1, once.get());
    }
    default: {
      if (k % 2 != 0) return make.resized(make.contiguous(k, base), -extent, (k + 2) * extent);
      const Type two = make.contiguous(2, base);
      return make.hvector(k / 2, 1, 3 * extent, two.get());
    }
  }
}

/// Types with bytes that belong to no member, or to no digit of a number.
bool is_padded(const BaseType& base) {
  if (base.component_bytes > 8) return true;
  if (base.family != Family::pair) return false;
  MPI_Aint lb = 0, extent = 0;
  MPI_Type_get_extent(base.type, &lb, &extent);
  return extent != base.packed_bytes;
}

/// The communicator of copy_typed().
MPI_Comm copying_comm = MPI_COMM_NULL;

}  // namespace

const std::vector<BaseType>& base_types() {
  static const auto* const all = new std::vector<BaseType>{
      {"int", MPI_INT, Family::integer, 4, 4, true},
      {"double", MPI_DOUBLE, Family::floating, 8, 8, true},
      {"byte", MPI_BYTE, Family::bytes, 1, 1, false},
      {"float", MPI_FLOAT, Family::floating, 4, 4, true},
      {"int64", MPI_INT64_T, Family::integer, 8, 8, true},
      {"char", MPI_CHAR, Family::character, 1, 1, true},
      {"int8", MPI_INT8_T, Family::integer, 1, 1, true},
      {"signed char", MPI_SIGNED_CHAR, Family::integer, 1, 1, true},
      {"unsigned char", MPI_UNSIGNED_CHAR, Family::integer, 1, 1, false},
      {"short", MPI_SHORT, Family::integer, 2, 2, true},
      {"uint8", MPI_UINT8_T, Family::integer, 1, 1, false},
      {"uint16", MPI_UINT16_T, Family::integer, 2, 2, false},
      {"uint32", MPI_UINT32_T, Family::integer, 4, 4, false},
      {"uint64", MPI_UINT64_T, Family::integer, 8, 8, false},
      {"long", MPI_LONG, Family::integer, 8, 8, true},
      {"unsigned long long", MPI_UNSIGNED_LONG_LONG, Family::integer, 8, 8, false},
      {"aint", MPI_AINT, Family::integer, 8, 8, true},
      {"count", MPI_COUNT, Family::integer, 8, 8, true},
      {"long double", MPI_LONG_DOUBLE, Family::floating, 16, 16, true},
      {"float complex", MPI_C_FLOAT_COMPLEX, Family::complex, 8, 4, true},
      {"double complex", MPI_C_DOUBLE_COMPLEX, Family::complex, 16, 8, true},
      {"bool", MPI_C_BOOL, Family::boolean, 1, 1, false},
      {"2int", MPI_2INT, Family::pair, 8, 4, true},
      {"double_int", MPI_DOUBLE_INT, Family::pair, 12, 8, true},
      {"float_int", MPI_FLOAT_INT, Family::pair, 8, 4, true},
      {"long_int", MPI_LONG_INT, Family::pair, 12, 8, true},
      {"short_int", MPI_SHORT_INT, Family::pair, 6, 2, true},
  };
  return *all;
}

BaseType base_type(Base base) {
  if (base == base_record) return {"record", MPI_DATATYPE_NULL, Family::record, 12, 12, false};
  if (base == base_words) return {"words", MPI_DATATYPE_NULL, Family::words, 8, 4, false};
  return base_types()[static_cast<std::size_t>(base)];
}

const WordLayout& word_layout(int layout) {
  static constexpr std::array<WordLayout, word_layouts> layouts{
      {{0, 4, 0, 8}, {0, 8, 0, 16}, {-8, 4, -12, 24}, {4, 0, 0, 8}, {0, 8, 0, 20}, {0, 4, 0, 8}}};
  return layouts[static_cast<std::size_t>(layout)];
}

Element make_element(const Operation& operation, std::uint64_t side_and_rank, Count base_elements_total) {
  const BaseType base = base_type(operation.base);
  const std::uint64_t seed = operation.differ ? hash(operation.types, side_and_rank) : hash(operation.types);
  Type single(base.type, false);
  if (operation.base == base_record) single = record(seed);
  if (operation.base == base_words) single = words(operation.layout, seed);
  MPI_Aint lb = 0, extent = 0;
  MPI_Type_get_extent(single.get(), &lb, &extent);
  Element element;
  Random random(hash(seed, 1));
  int k = operation.unit;
  if (operation.differ) {
    constexpr std::array<int, 6> divisors{1, 2, 3, 4, 6, 12};
    k = random.pick(divisors);
  }
  element.base_elements = k;
  const auto bytes = [&] { return Constructors(hash(seed, 5)).contiguous(static_cast<int>(extent), MPI_BYTE); };
  const auto make = [&](MPI_Datatype type) {
    return operation.base == base_words ? Constructors(hash(seed, 3)).contiguous(k, type)
                                        : arrange(type, extent, k, hash(seed, 2), base_elements_total);
  };
  if (operation.plain || (operation.base == base_words && k == 1)) {
    element.type = std::move(single);
    element.base_elements = 1;
    if (is_padded(base)) element.with_padding = bytes();
  } else {
    element.type = make(single.get());
    if (is_padded(base)) element.with_padding = make(bytes().get());
  }
  MPI_Aint true_lb = 0, true_extent = 0;
  MPI_Type_get_extent(element.type.get(), &lb, &extent);
  MPI_Type_get_true_extent(element.type.get(), &true_lb, &true_extent);
  element.lb = lb;
  element.extent = extent;
  element.true_lb = true_lb;
  element.true_extent = true_extent;
  return element;
}

Type at_address(const Element& element, const void* address) {
  MPI_Aint place = 0;
  MPI_Get_address(address, &place);
  // The address differs from run to run, so it must not choose the constructors.
  Constructors make(hash(static_cast<std::uint64_t>(element.extent), 6));
  const Type moved = make.at_places({place}, element.type.get());
  return make.resized(moved, place + element.lb, element.extent);
}

void prepare_copying() { PMPI_Comm_dup(MPI_COMM_SELF, &copying_comm); }

void copy_typed(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                MPI_Datatype to_type) {
  static std::atomic<unsigned> next_tag{0};
  const int tag = static_cast<int>(next_tag++ % 16384);  // threads do not meet
  PMPI_Sendrecv(from, from_count, from_type, 0, tag, to, to_count, to_type, 0, tag, copying_comm, MPI_STATUS_IGNORE);
}

}  // namespace circoll::torture
