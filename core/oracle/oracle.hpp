// The results of every collective, computed by its definition from the inputs of all ranks. Knows no algorithm.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>
#include "exec/local/job.hpp"

namespace circoll::oracle {

/// Writes the test data of a rank: the same for the same arguments, different for every rank and element. Integers use
/// all bits. Floating-point numbers have magnitude 0.5 .. 1.5 and both signs, so that sums cancel. Booleans are 0 or 1.
void fill(Type type, Rank rank, std::span<std::byte> bytes);

/// Empty if the outputs are those of the definition. Otherwise it says which output is wrong, and where.
///
/// Elements are combined one rank after another in the order of ranks. Exact operators and callers' operators
/// must match bit for bit (padding aside). Floating-point sums may differ by p * eps * sum |x|, products by
/// 4 p * eps * product |x|. If `same_bits`, the ranks' results of an allreduce must also have equal bits.
[[nodiscard]] std::string check(const local::Job& job, const local::JobResult& outcome, bool same_bits);

/// The combination of all ranks' vectors, in the order of ranks.
[[nodiscard]] std::vector<std::byte> combine(const local::Job& job, const std::vector<std::vector<std::byte>>& inputs);

}  // namespace circoll::oracle
