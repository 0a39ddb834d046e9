#include "types.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>

namespace circoll::torture {
namespace {

Type committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return {type, true};
}

Type contiguous(int count, MPI_Datatype base) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(count, base, &made);
  return committed(made);
}

Type hvector(int count, int length, MPI_Aint stride, MPI_Datatype base) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector(count, length, stride, base, &made);
  return committed(made);
}

Type resized(const Type& type, MPI_Aint lb, MPI_Aint extent) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(type.get(), lb, extent, &made);
  return committed(made);
}

Type at_places(const std::vector<MPI_Aint>& places, MPI_Datatype base) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(static_cast<int>(places.size()), 1, places.data(), base, &made);
  return committed(made);
}

Type structure(const std::array<int, 2>& lengths, const std::array<MPI_Aint, 2>& places,
               const std::array<MPI_Datatype, 2>& types) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &made);
  return committed(made);
}

/// An int and a double: as C lays them out, packed, apart, or the int behind the double (but first in the signature).
Type record(std::uint64_t variant) {
  constexpr std::array<std::array<MPI_Aint, 4>, 4> layouts{
      {{0, 8, 0, 16}, {0, 4, 0, 12}, {-8, 16, -8, 40}, {8, 0, 0, 16}}};
  const std::array<MPI_Aint, 4>& layout = layouts[variant % layouts.size()];
  return resized(structure({1, 1}, {layout[0], layout[1]}, {MPI_INT, MPI_DOUBLE}), layout[2], layout[3]);
}

Type words(int layout) {
  const WordLayout& l = word_layout(layout);
  if (layout == word_layouts - 1) return {MPI_UINT64_T, false};
  return resized(at_places({l.first, l.second}, MPI_UINT32_T), l.lb, l.extent);
}

/// k elements of a type of this extent, arranged in one of several ways that the seed says.
Type arrange(MPI_Datatype base, MPI_Aint extent, int k, std::uint64_t seed, Count total) {
  Random random(seed);
  switch (random.below(7)) {
    case 0:
      return contiguous(k, base);
    case 1:
      return hvector(k, 1, extent * random.between(2, 4), base);
    case 2: {  // any order, some below the address
      std::vector<MPI_Aint> places(static_cast<std::size_t>(k));
      std::iota(places.begin(), places.end(), -(k / 2));
      for (std::size_t i = places.size(); i > 1; --i) {
        std::swap(places[i - 1], places[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
      }
      for (MPI_Aint& place : places) place *= 2 * extent;
      return resized(at_places(places, base), -(k + 1) * extent, (2 * k + 3) * extent);
    }
    case 3:
      return resized(contiguous(k, base), 0, (k + random.between(1, 5)) * extent);
    case 4: {  // two parts, the second in front
      const int first = static_cast<int>(random.between(0, k));
      return structure({first, k - first}, {(k - first + 1) * extent, 0}, {base, base});
    }
    case 5:  // columns of a matrix: elements interleave
      return resized(hvector(k, 1, (total + random.between(0, 3)) * extent, base), 0, extent);
    default: {
      if (k % 2 != 0) return resized(contiguous(k, base), -extent, (k + 2) * extent);
      const Type two = contiguous(2, base);
      return hvector(k / 2, 1, 3 * extent, two.get());
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
  if (operation.base == base_words) single = words(operation.layout);
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
  const auto make = [&](MPI_Datatype type) {
    return operation.base == base_words ? contiguous(k, type)
                                        : arrange(type, extent, k, hash(seed, 2), base_elements_total);
  };
  if (operation.plain || (operation.base == base_words && k == 1)) {
    element.type = std::move(single);
    element.base_elements = 1;
    if (is_padded(base)) element.with_padding = contiguous(static_cast<int>(extent), MPI_BYTE);
  } else {
    element.type = make(single.get());
    if (is_padded(base)) element.with_padding = make(contiguous(static_cast<int>(extent), MPI_BYTE).get());
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
  const Type moved = at_places({place}, element.type.get());
  return resized(moved, place + element.lb, element.extent);
}

void copy_typed(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                MPI_Datatype to_type) {
  static MPI_Comm self = [] {
    MPI_Comm made = MPI_COMM_NULL;
    PMPI_Comm_dup(MPI_COMM_SELF, &made);
    return made;
  }();
  static std::atomic<unsigned> next_tag{0};
  const int tag = static_cast<int>(next_tag++ % 16384);  // threads do not meet
  PMPI_Sendrecv(from, from_count, from_type, 0, tag, to, to_count, to_type, 0, tag, self, MPI_STATUS_IGNORE);
}

}  // namespace circoll::torture
