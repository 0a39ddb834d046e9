// Buffers of mpi_f08 in Open MPI 6, which may be parts of arrays with gaps.
//
// They come as descriptors of the Fortran standard: a(1:9:2) has gaps. fortran_openmpi.cpp makes of them what the C
// functions take.
#pragma once

#include <mpi.h>

namespace circoll::interpose::fortran {

/// The library's own procedure behind `symbol`; nullptr if there is none. `ours` has the same name. `caller` is its
/// return address, by which it finds a library that the program has loaded for itself alone.
[[nodiscard]] void* library_procedure(const char* symbol, const void* ours, const void* caller);

/// True if mpi_f08 hands on descriptors. Its procedures then have names in f08ts, as the MPI standard says.
[[nodiscard]] bool has_descriptors(const void* caller);

/// The buffers of one call. A function returns false if the library refuses the buffer, before any communication, or
/// if another compiler has laid out the descriptor, which is so on all ranks.
///
/// All ranks of a call must take the same algorithm, but buffers with gaps may be at some ranks only. So no call that
/// the library would perform may go to the library.
class Sections {
 public:
  Sections() = default;
  ~Sections();
  Sections(const Sections&) = delete;
  Sections& operator=(const Sections&) = delete;

  /// Replaces descriptors by the addresses of the buffers. The library takes no gaps here.
  [[nodiscard]] bool whole(void*& buffer) const;
  [[nodiscard]] bool whole(void*& first, void*& second) const { return whole(first) && whole(second); }
  /// The same for a buffer that is significant at the root alone.
  [[nodiscard]] bool whole_at_root(void*& buffer, const MPI_Fint* root, const MPI_Fint* comm) const;

  /// Replaces a descriptor by an address, and `count` elements by one element of a datatype that has the gaps. That
  /// datatype lives as long as this object. Used once.
  [[nodiscard]] bool section(void*& buffer, const MPI_Fint*& count, const MPI_Fint*& datatype, bool significant = true);
  /// The same for a call with large counts.
  [[nodiscard]] bool section(void*& buffer, const MPI_Count*& count, const MPI_Fint*& datatype,
                             bool significant = true);

  /// The reason why a datatype could not be made. MPI has called the error handler.
  [[nodiscard]] int error() const { return error_; }

 private:
  template <typename Count>
  bool replace(void*& buffer, const Count*& count, const MPI_Fint*& datatype, bool significant);

  MPI_Datatype made_ = MPI_DATATYPE_NULL;
  MPI_Fint handle_ = 0;  ///< Fortran's of it
  int error_ = MPI_SUCCESS;
};

/// True if this rank sends to the root of a gather, or receives from that of a scatter. Between two groups it does not
/// if it is the root itself, or has no part.
[[nodiscard]] inline bool has_own_block(const MPI_Fint* root) { return *root != MPI_ROOT && *root != MPI_PROC_NULL; }

}  // namespace circoll::interpose::fortran
