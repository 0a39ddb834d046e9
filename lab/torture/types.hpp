// Datatypes: base types, and the derived types made of them. Operators: MPI's own, and the user's on pairs of words.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "case.hpp"
#include "random.hpp"

namespace circoll::torture {

enum class Family : std::uint8_t { integer, bytes, character, floating, complex, boolean, pair, record, words };

struct BaseType {
  const char* name = "";
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Family family = Family::bytes;
  Count packed_bytes = 0;
  Count component_bytes = 0;  ///< of a floating-point part; else of the element
  bool is_signed = false;
};

/// The predefined types that are drawn from.
[[nodiscard]] const std::vector<BaseType>& base_types();
[[nodiscard]] BaseType base_type(Base base);

/// A handle of MPI, freed if it is not predefined.
template <typename Raw, int (*release)(Raw*)>
class Handle {
 public:
  Handle(Raw raw, bool owned) : raw_(raw), owned_(owned) {}
  Handle(Handle&& other) noexcept : raw_(other.raw_), owned_(std::exchange(other.owned_, false)) {}
  Handle& operator=(Handle&& other) noexcept {
    free();
    raw_ = other.raw_;
    owned_ = std::exchange(other.owned_, false);
    return *this;
  }
  ~Handle() { free(); }
  void free() {
    if (owned_) release(&raw_);
    owned_ = false;
  }
  [[nodiscard]] Raw get() const { return raw_; }

 private:
  Raw raw_;
  bool owned_;
};

struct Type : Handle<MPI_Datatype, MPI_Type_free> {
  using Handle::Handle;
  Type() : Handle(MPI_DATATYPE_NULL, false) {}
};

/// An element as the operation describes it, `base_elements` elements of the base type.
struct Element {
  Type type;
  Type with_padding;  ///< the same bytes and those that the base type leaves open; null if it leaves none
  int base_elements = 1;
  Count lb = 0, extent = 0, true_lb = 0, true_extent = 0;
};

/// The type of one rank's buffer. `items_of_unit_one` is how many base elements the buffer has room for: types whose
/// elements interleave need it.
[[nodiscard]] Element make_element(const Operation& operation, std::uint64_t side_and_rank, Count base_elements_total);

/// `element` with the address added to its displacements, for MPI_BOTTOM.
[[nodiscard]] Type at_address(const Element& element, const void* address);

/// Bytes of a word layout's two words, and its extent.
struct WordLayout {
  std::ptrdiff_t first, second;
  MPI_Aint lb, extent;
};
[[nodiscard]] const WordLayout& word_layout(int layout);

/// Makes the communicator of copy_typed. Called before there are threads: those of Open MPI hang if they make
/// communicators at the same time (library_faults.c, communicators_of_threads).
void prepare_copying();
/// Copies data by a message to ourselves. MPI_Pack is no way: it errs where many datatypes exist (MPICH 4.0.2).
void copy_typed(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count, MPI_Datatype to_type);

// operators.cpp

struct Operator : Handle<MPI_Op, MPI_Op_free> {
  using Handle::Handle;
  Operator() : Handle(MPI_OP_NULL, false) {}
};

/// The operator of a reduction.
[[nodiscard]] Operator make_operator(const Operation& operation);
[[nodiscard]] bool commutes(const Operation& operation);

/// Calls of user operators with a datatype that is not the reduction's, in which they do nothing.
[[nodiscard]] long misused_operators();

}  // namespace circoll::torture
