// The kernels by family of types, on a target where the family is vectorised. A family knows which operators exist on
// its types and returns nullptr for the others; which families a type belongs to is written once, in table.cpp.
#pragma once

#include <cstddef>

#include "circoll/ops.hpp"
#include "ops/targets.hpp"

namespace circoll::ops {

/// SUM, PROD, MIN, MAX on int8 to uint64.
ReduceKernel integer_kernel(Target target, Op op, Type type);
/// SUM, PROD, MIN, MAX on float32 and float64.
ReduceKernel floating_kernel(Target target, Op op, Type type);
/// SUM, PROD, MIN, MAX on float16.
ReduceKernel half_kernel(Target target, Op op);
/// SUM, PROD on complex64 and complex128.
ReduceKernel complex_kernel(Target target, Op op, Type type);
/// SUM, PROD, MIN, MAX on long double; SUM, PROD on its complex.
ReduceKernel long_double_kernel(Op op, Type type);
/// LAND, LOR, LXOR on elements of 1, 2, 4 or 8 bytes; any nonzero element is true.
ReduceKernel logical_kernel(Target target, Op op, std::size_t element_bytes);
/// BAND, BOR, BXOR on elements of 1, 2, 4 or 8 bytes.
ReduceKernel bitwise_kernel(Target target, Op op, std::size_t element_bytes);
/// MINLOC, MAXLOC on the pair types.
ReduceKernel pair_kernel(Op op, Type type);
/// REPLACE, NO_OP on elements of any size that a type of the library has.
ReduceKernel copy_kernel(Op op, std::size_t element_bytes);

/// reduce_kernel() on one target. A target that was not compiled gives the next lower one.
ReduceKernel kernel_on(Target target, Op op, Type type);

/// Highway's name of a target's instructions.
const char* name_of(Target target);

}  // namespace circoll::ops
