// Reduction kernels: dst = left op right on contiguous arrays, vectorised, chosen at run time.
#pragma once

#include <cstddef>

#include "circoll/types.hpp"

namespace circoll {

/// dst[i] = left[i] op right[i] for i < elements. dst may be equal to left or right, but not overlap them otherwise.
/// Pointers need the alignment of an element, no more.
using ReduceKernel = void (*)(void* dst, const void* left, const void* right, std::size_t elements);

/// The kernel of an operator on a type, or nullptr where MPI does not define the operator on it. Definitions are those
/// of MPI 4.0, section 6.9.2, with MINLOC and MAXLOC on pairs only.
///
/// Results equal the scalar definition bit for bit, on every instruction set:
///   - MIN and MAX are (b < a ? b : a) and (a < b ? b : a) with a = left;
///   - integer sums and products wrap;
///   - float16 sums and products are rounded once;
///   - complex products are (ac - bd, ad + bc) without fusing;
///   - logical results are 0 or 1;
///   - MINLOC and MAXLOC give one of the two pairs whole, the one of the lower index on ties;
///   - REPLACE gives right, NO_OP gives left.
/// Only the sign and payload of a NaN that is a sum or product are unspecified, as in C.
[[nodiscard]] ReduceKernel reduce_kernel(Op op, Type type);

/// True if every evaluation order gives the same bits. That holds for integer, logical and bitwise operators, MIN, MAX,
/// MINLOC and MAXLOC, and not for floating-point SUM and PROD. MIN, MAX, MINLOC and MAXLOC are exact up to the sign of
/// a zero that ties with the opposite zero, and on values without NaN. REPLACE and NO_OP are exact under every
/// bracketing of the ordered operands.
[[nodiscard]] bool is_exact(Op op, Type type);
/// True if all evaluation orders give the same bits whatever the operands are. The operator is_exact, and no NaN or
/// signed zero can be among them. Decides whether ranks may combine in different orders.
[[nodiscard]] bool is_order_free(Op op, Type type);
/// All predefined operators but REPLACE and NO_OP.
[[nodiscard]] bool is_commutative(Op op);
/// MIN, MAX, LAND, LOR, BAND, BOR, MINLOC, MAXLOC.
[[nodiscard]] bool is_idempotent(Op op);

/// The instruction set that the kernels run on ("AVX3", "AVX2", "SSE4", "EMU128", ...), for reports.
[[nodiscard]] const char* kernel_target();

}  // namespace circoll
