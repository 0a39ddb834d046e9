#include "exec/mpi/call/elements.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "exec/mpi/library/base.hpp"

namespace circoll::mpi {
namespace {

/// Bytes of memory layout per temporary copy: larger runs are worked on in parts that stay in the cache.
constexpr Count temp_target_bytes = 64 << 10;

}  // namespace

const std::array<MPI_Op, op_count>& predefined_ops() {
  static const std::array<MPI_Op, op_count> handles{MPI_SUM,    MPI_PROD,   MPI_MIN,     MPI_MAX,  MPI_LAND,
                                                    MPI_LOR,    MPI_LXOR,   MPI_BAND,    MPI_BOR,  MPI_BXOR,
                                                    MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
  return handles;
}

std::optional<Op> predefined_op(MPI_Op op) {
  const auto& handles = predefined_ops();
  const auto found = std::find(handles.begin(), handles.end(), op);
  if (found == handles.end()) return std::nullopt;
  return static_cast<Op>(found - handles.begin());
}

std::optional<bool> commutes(MPI_Op op) {
  // A question about an operator alone fails in the program's error handler: a reduction of nothing, on a communicator
  // of ours, says before whether the handle is one.
  MPI_Comm self = self_communicator();
  if (self == MPI_COMM_NULL) return std::nullopt;
  {
    static std::mutex mutex;  // a communicator has one collective at a time
    const std::lock_guard lock(mutex);
    const int nothing = 0;
    int result = 0;
    if (PMPI_Reduce(&nothing, &result, 0, MPI_INT, op, 0, self) != MPI_SUCCESS) return std::nullopt;
  }
  int commutative = 0;
  if (PMPI_Op_commutative(op, &commutative) != MPI_SUCCESS) return std::nullopt;
  return commutative != 0;
}

Count Elements::temp_elements_for(const TypeInfo& info) {
  return std::max<Count>(1, temp_target_bytes / std::max<Count>(1, info.extent_bytes));
}

char* Elements::temp_element() const { return reinterpret_cast<char*>(temp) - info.true_lb_bytes; }

int Elements::copy(char* dst, const char* src, Count elements) const {
  if (dst == src || elements == 0) return MPI_SUCCESS;
  if (!typed) {
    if (extent_bytes > 0) std::memmove(dst, src, static_cast<std::size_t>(elements * extent_bytes));
    return MPI_SUCCESS;
  }
  char* const packed = reinterpret_cast<char*>(temp) + temp_elements * extent_bytes;
  for (Count done = 0; done < elements; done += temp_elements) {
    const Count part = std::min(temp_elements, elements - done);
    int rc = pack(src + done * extent_bytes, part, type, info, packed);
    if (rc == MPI_SUCCESS) rc = unpack(packed, dst + done * extent_bytes, part, type, info);
    if (rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

int Elements::reduce(char* dst, const char* left, const char* right, Count elements) const {
  if (elements == 0) return MPI_SUCCESS;
  if (kernel != nullptr) {
    kernel(dst, left, right, static_cast<std::size_t>(elements));
    return MPI_SUCCESS;
  }
  // Parts of temp_elements also keep MPI_Reduce_local's int count in range.
  for (Count done = 0; done < elements; done += temp_elements) {
    const Count offset = done * extent_bytes;
    const int rc = reduce_user(dst + offset, left + offset, right + offset,
                               static_cast<int>(std::min(temp_elements, elements - done)));
    if (rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

int Elements::reduce_user(char* dst, const char* left, const char* right, int elements) const {
  // MPI_Reduce_local(in, inout) computes inout = in op inout: `in` is the left operand.
  if (left == right || (dst == left && !commutative)) return reduce_through_temp(dst, left, right, elements);
  if (dst == right) return PMPI_Reduce_local(left, dst, elements, type, op);
  if (dst == left) return PMPI_Reduce_local(right, dst, elements, type, op);
  const int rc = copy(dst, right, elements);
  return rc != MPI_SUCCESS ? rc : PMPI_Reduce_local(left, dst, elements, type, op);
}

int Elements::reduce_through_temp(char* dst, const char* left, const char* right, int elements) const {
  int rc = copy(temp_element(), right, elements);
  if (rc == MPI_SUCCESS) rc = PMPI_Reduce_local(left, temp_element(), elements, type, op);
  if (rc == MPI_SUCCESS) rc = copy(dst, temp_element(), elements);
  return rc;
}

}  // namespace circoll::mpi
