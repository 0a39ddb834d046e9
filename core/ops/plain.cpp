// Operators that no instruction set has lanes for: long double and its complex, MINLOC and MAXLOC, REPLACE
// and NO_OP.
#include <cstring>
#include <type_traits>

#include "ops/kernels.hpp"

namespace circoll::ops {
namespace {

/// A ReduceKernel from a function of two elements.
template <typename Element, Element (*combine)(const Element&, const Element&)>
void plain_kernel(void* dst_bytes, const void* left_bytes, const void* right_bytes, std::size_t elements) {
  auto* dst = static_cast<Element*>(dst_bytes);
  const auto* left = static_cast<const Element*>(left_bytes);
  const auto* right = static_cast<const Element*>(right_bytes);
  for (std::size_t i = 0; i < elements; ++i) dst[i] = combine(left[i], right[i]);
}

using Long = long double;
Long add(const Long& a, const Long& b) { return a + b; }
Long multiply(const Long& a, const Long& b) { return a * b; }
Long min(const Long& a, const Long& b) { return b < a ? b : a; }
Long max(const Long& a, const Long& b) { return a < b ? b : a; }

struct LongComplex {
  Long re, im;
};
LongComplex add(const LongComplex& a, const LongComplex& b) { return {a.re + b.re, a.im + b.im}; }
LongComplex multiply(const LongComplex& a, const LongComplex& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/// MPI's value-and-index types have the layout of this struct.
template <typename Value, typename Index>
struct Pair {
  Value value;
  Index index;
};

/// MINLOC and MAXLOC. The result is one of the two operands, whole, and the same one in either order unless
/// the indices are equal or a value is NaN (a NaN compares as false, so left stays).
template <typename Value, typename Index, bool maximum>
void pair_loop(void* dst_bytes, const void* left_bytes, const void* right_bytes, std::size_t elements) {
  using Element = Pair<Value, Index>;
  auto* dst = static_cast<std::byte*>(dst_bytes);
  const auto* left = static_cast<const std::byte*>(left_bytes);
  const auto* right = static_cast<const std::byte*>(right_bytes);
  // Copies in and out, because the caller's elements are objects of another struct.
  for (std::size_t at = 0; at < elements * sizeof(Element); at += sizeof(Element)) {
    Element a, b;
    std::memcpy(&a, left + at, sizeof a);
    std::memcpy(&b, right + at, sizeof b);
    const bool better = maximum ? a.value < b.value : b.value < a.value;
    const bool tie_lower = a.value == b.value && b.index < a.index;
    std::memcpy(dst + at, better || tie_lower ? &b : &a, sizeof a);
  }
}

template <typename Value, typename Index>
ReduceKernel pair_of(Op op) {
  switch (op) {
    case Op::minloc:
      return pair_loop<Value, Index, false>;
    case Op::maxloc:
      return pair_loop<Value, Index, true>;
    default:
      return nullptr;
  }
}

template <std::size_t element_bytes, bool take_right>
void copy_loop(void* dst, const void* left, const void* right, std::size_t elements) {
  const void* source = take_right ? right : left;
  if (dst != source && elements != 0) std::memcpy(dst, source, elements * element_bytes);
}

template <std::size_t element_bytes>
ReduceKernel copy_of(Op op) {
  switch (op) {
    case Op::replace:
      return copy_loop<element_bytes, true>;
    case Op::no_op:
      return copy_loop<element_bytes, false>;
    default:
      return nullptr;
  }
}

}  // namespace

ReduceKernel long_double_kernel(Op op, Type type) {
  if (type == Type::complex_long) {
    return arithmetic(op, plain_kernel<LongComplex, add>, plain_kernel<LongComplex, multiply>);
  }
  return arithmetic(op, plain_kernel<Long, add>, plain_kernel<Long, multiply>, plain_kernel<Long, min>,
                    plain_kernel<Long, max>);
}

ReduceKernel pair_kernel(Op op, Type type) {
  switch (type) {
    case Type::pair_float_int:
      return pair_of<float, int>(op);
    case Type::pair_double_int:
      return pair_of<double, int>(op);
    case Type::pair_long_int:
      return pair_of<long, int>(op);
    case Type::pair_int_int:
      return pair_of<int, int>(op);
    case Type::pair_short_int:
      return pair_of<short, int>(op);
    case Type::pair_long_double_int:
      return pair_of<long double, int>(op);
    case Type::pair_float_float:
      return pair_of<float, float>(op);
    case Type::pair_double_double:
      return pair_of<double, double>(op);
    default:
      return nullptr;
  }
}

ReduceKernel copy_kernel(Op op, std::size_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return copy_of<1>(op);
    case 2:
      return copy_of<2>(op);
    case 4:
      return copy_of<4>(op);
    case 8:
      return copy_of<8>(op);
    case 12:  // long double on 32-bit x86
      return copy_of<12>(op);
    case 16:
      return copy_of<16>(op);
    case 24:
      return copy_of<24>(op);
    case 32:
      return copy_of<32>(op);
    default:
      return nullptr;
  }
}

}  // namespace circoll::ops
