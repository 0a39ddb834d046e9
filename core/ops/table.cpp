// Operators that are defined on each type (MPI 4.0, section 6.9.2), and properties of operators.
#include <utility>

#include "circoll/ops.hpp"
#include "ops/kernels.hpp"
// after the targets
#include "hwy/highway.h"

namespace circoll {
namespace {

bool is_integer(Type type) { return type >= Type::int8 && type <= Type::uint64; }

}  // namespace

namespace ops {

ReduceKernel kernel_on(Target target, Op op, Type type) {
  if (op == Op::replace || op == Op::no_op) return copy_kernel(op, extent_bytes(type));
  switch (type) {
    case Type::byte:
      return bitwise_kernel(target, op, extent_bytes(type));
    case Type::int8:
    case Type::int16:
    case Type::int32:
    case Type::int64:
    case Type::uint8:
    case Type::uint16:
    case Type::uint32:
    case Type::uint64:
      if (const ReduceKernel arithmetic = integer_kernel(target, op, type)) return arithmetic;
      if (const ReduceKernel bitwise = bitwise_kernel(target, op, extent_bytes(type))) return bitwise;
      return logical_kernel(target, op, extent_bytes(type));
    case Type::float16:
      return half_kernel(target, op);
    case Type::float32:
    case Type::float64:
      return floating_kernel(target, op, type);
    case Type::complex64:
    case Type::complex128:
      return complex_kernel(target, op, type);
    case Type::float_long:
    case Type::complex_long:
      return long_double_kernel(op, type);
    case Type::boolean:
    case Type::logical:
      return logical_kernel(target, op, extent_bytes(type));
    case Type::pair_float_int:
    case Type::pair_double_int:
    case Type::pair_long_int:
    case Type::pair_int_int:
    case Type::pair_short_int:
    case Type::pair_long_double_int:
    case Type::pair_float_float:
    case Type::pair_double_double:
      return pair_kernel(op, type);
  }
  return nullptr;
}

const char* name_of(Target target) {
  for (const auto& [least, highways] :
       {std::pair(Target::avx512, HWY_AVX3), std::pair(Target::avx2, HWY_AVX2), std::pair(Target::sse4, HWY_SSE4)}) {
    if (target >= least && (HWY_TARGETS & highways) != 0) return hwy::TargetName(highways);
  }
  return hwy::TargetName(HWY_STATIC_TARGET);
}

}  // namespace ops

ReduceKernel reduce_kernel(Op op, Type type) { return ops::kernel_on(ops::best_target(), op, type); }

bool is_exact(Op op, Type type) { return (op != Op::sum && op != Op::prod) || is_integer(type); }

bool is_order_free(Op op, Type type) {
  const bool compares = op == Op::min || op == Op::max || op == Op::minloc || op == Op::maxloc;
  const bool of_integers =
      is_integer(type) || type == Type::pair_int_int || type == Type::pair_long_int || type == Type::pair_short_int;
  return is_exact(op, type) && (!compares || of_integers);
}

bool is_commutative(Op op) { return op != Op::replace && op != Op::no_op; }

bool is_idempotent(Op op) {
  switch (op) {
    case Op::min:
    case Op::max:
    case Op::land:
    case Op::lor:
    case Op::band:
    case Op::bor:
    case Op::minloc:
    case Op::maxloc:
      return true;
    default:
      return false;
  }
}

const char* kernel_target() { return ops::name_of(ops::best_target()); }

}  // namespace circoll
