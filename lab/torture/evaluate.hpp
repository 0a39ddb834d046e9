// The judgement of results, by the native collectives or by one rank that computes from the inputs of all.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "case.hpp"
#include "communicators.hpp"
#include "instance.hpp"

namespace circoll::torture {

/// The receive buffer of an operation, copied the moment that it was complete.
struct Record {
  const Operation* operation = nullptr;
  int execution = 0;
  std::vector<std::byte> received;
};

enum class Outcome { right, wrong, native_wrong };

struct Judgement {
  Outcome verdict = Outcome::right;
  std::string text;
};

/// Compares with the native collective on the oracle, which is a collective call, or with the serial reference. The
/// reference decides where there is no oracle, the native one is known to be broken, sums are rounded, or the results
/// differ.
[[nodiscard]] Judgement judge(const Record& record, const Communicator& c, bool serial_only);

// The reference (reference.cpp).

/// The result of this rank: its blocks, packed.
[[nodiscard]] std::vector<std::vector<std::byte>> serial_results(const Instance& mine, int execution);

/// A sum of floating-point numbers, in more digits, and the bounds of any order of summation. A bound is the distance
/// from it.
struct Sums {
  std::vector<long double> values, bounds;
};
[[nodiscard]] Sums serial_sums(const Instance& mine, int execution);

}  // namespace circoll::torture
