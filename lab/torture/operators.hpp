// Operators: MPI's own, and user operators on pairs of words.
#pragma once

#include <mpi.h>

#include <utility>

#include "case.hpp"

namespace circoll::torture {

/// The operator of a reduction, freed if it is not predefined.
class Operator {
 public:
  Operator() = default;
  explicit Operator(const Operation& operation);
  Operator(Operator&& other) noexcept : op_(other.op_), owned_(std::exchange(other.owned_, false)) {}
  Operator& operator=(Operator&& other) noexcept {
    free();
    op_ = other.op_;
    owned_ = std::exchange(other.owned_, false);
    return *this;
  }
  ~Operator() { free(); }
  void free() {
    if (owned_) MPI_Op_free(&op_);
    owned_ = false;
  }
  [[nodiscard]] MPI_Op get() const { return op_; }

 private:
  MPI_Op op_ = MPI_OP_NULL;
  bool owned_ = false;
};

[[nodiscard]] bool commutes(const Operation& operation);

/// Calls of user operators with a datatype that is not the reduction's, in which they do nothing.
[[nodiscard]] long misused_operators();

}  // namespace circoll::torture
