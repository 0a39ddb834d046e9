#include "exec/mpi/call/summed_call.hpp"

#include <algorithm>
#include <cstring>

#include "circoll/collectives.hpp"
#include "circoll/ops.hpp"
#include "exec/mpi/call/caller_buffers.hpp"
#include "exec/mpi/call/elements.hpp"
#include "ops/exact.hpp"

namespace circoll::mpi {
namespace {

/// Bytes of all operands up to which every rank gets all of them. Beyond that an exchange sends less.
constexpr Count most_gathered_bytes = 32 << 10;
/// Staging memory of a scan.
constexpr Count most_staged_bytes = 16 << 20;

Count up_to(Count count, Count parts) { return (count + parts - 1) / parts; }

}  // namespace

bool is_sum_of_floats(const Call& call) {
  if (!is_reducing(call.collective) || call.op != MPI_SUM) return false;
  const std::optional<Type> type = describe(call.sendtype).element;
  return type == Type::float64 || type == Type::float32 || type == Type::complex128 || type == Type::complex64;
}

SummedCall::SummedCall(const Call& call, Type type, Sums sums, bool in_place, Rank rank, Rank size)
    : call_(call),
      type_(type),
      sums_(sums),
      in_place_(in_place),
      rank_(rank),
      size_(size),
      element_bytes_(static_cast<Count>(extent_bytes(type))) {
  switch (call.collective) {
    case Collective::reduce_scatter_block:
      exchanges_ = true;
      part_ = call.recvcount;
      count_ = part_ * size;
      break;
    case Collective::reduce_scatter:
      exchanges_ = true;
      part_ = call.recvcounts[rank];
      for (Rank i = 0; i < size; ++i) count_ += call.recvcounts[i];
      received_.assign(static_cast<std::size_t>(size), part_);
      break;
    case Collective::scan:
    case Collective::exscan:
      count_ = call.sendcount;
      part_ = std::max<Count>(1, most_staged_bytes / (size * element_bytes_));
      stages_ = std::max<Count>(1, up_to(count_, part_));
      break;
    default:  // allreduce, reduce
      count_ = part_ = call.sendcount;
      // An exchange pads each block. Vectors much shorter than p would be padding for the most part.
      if (size * count_ * element_bytes_ <= most_gathered_bytes || 4 * count_ < size) break;
      exchanges_ = true;
      part_ = up_to(count_, size);
      stages_ = 2;
  }
}

const char* SummedCall::operands() const { return as_base(in_place_ ? call_.recvbuf : call_.sendbuf); }

Count SummedCall::block() const { return exchanges_ ? part_ : std::min(part_, count_ - first_element()); }

prepare::Signature SummedCall::signature() const {
  prepare::Signature s;
  s.head.size = size_;
  s.head.rank = rank_;
  const bool to_root = call_.collective == Collective::reduce;
  if (exchanges()) {
    s.head.collective = received_.empty() ? Collective::alltoall : Collective::alltoallv;
  } else {
    s.head.collective = to_root ? Collective::gather : Collective::allgather;
    s.head.root = to_root ? call_.root : 0;
  }
  s.head.count = block() * element_bytes_;
  if (s.head.collective == Collective::alltoallv) {
    s.head.count = 0;
    s.counts = prepare::numbers_of(received_);
    s.counts.unit = element_bytes_;
    s.send_counts = {.values = call_.recvcounts, .unit = element_bytes_, .size = size_};
  }
  return s;
}

Count SummedCall::send_staging_bytes() const {
  const Count padded = size_ * part_;
  return exchanges() && received_.empty() && padded != count_ ? padded * element_bytes_ : 0;
}

Count SummedCall::recv_staging_bytes() const {
  if (collects_sums() && size_ * part_ == count_) return 0;  // straight to the caller
  return exchanges() || receives() ? size_ * block() * element_bytes_ : 0;
}

char* SummedCall::send_base(std::byte* staging) const {
  if (collects_sums()) return as_base(own_sums_.data());
  if (send_staging_bytes() > 0) return reinterpret_cast<char*>(staging);
  return as_base(operands()) + first_element() * element_bytes_;
}

char* SummedCall::recv_base(std::byte* staging) const {
  const bool straight = collects_sums() && receives() && size_ * part_ == count_;
  return straight ? as_base(call_.recvbuf) : reinterpret_cast<char*>(staging);
}

void SummedCall::before(std::byte* send_staging) const {
  const Count padded_bytes = send_staging_bytes();
  if (padded_bytes == 0) return;
  const auto bytes = static_cast<std::size_t>(count_ * element_bytes_);
  std::memcpy(send_staging, operands(), bytes);
  std::memset(send_staging + bytes, 0, static_cast<std::size_t>(padded_bytes) - bytes);
}

void SummedCall::sum(void* to, const std::byte* rows, Count row_count, Count stride, Count elements) const {
  if (row_count == 0 || elements == 0) return;
  const auto row_bytes = static_cast<std::size_t>(stride * element_bytes_);
  if (sums_ == Sums::exact) {
    const bool complex = type_ == Type::complex64 || type_ == Type::complex128;
    const auto parts = [&](Count count) { return static_cast<std::size_t>(complex ? 2 * count : count); };
    ops::exact_sum_of_rows(ops::best_target(), type_)(
        to, {.data = rows, .stride = parts(stride), .row_count = static_cast<std::size_t>(row_count)}, parts(elements));
    return;
  }
  std::memcpy(to, rows, static_cast<std::size_t>(elements * element_bytes_));
  const ReduceKernel add = reduce_kernel(Op::sum, type_);
  for (Count row = 1; row < row_count; ++row) {
    add(to, to, rows + static_cast<std::size_t>(row) * row_bytes, static_cast<std::size_t>(elements));
  }
}

void SummedCall::after(const std::byte* recv_staging) {
  if (collects_sums()) {
    if (receives() && size_ * part_ != count_)
      std::memcpy(call_.recvbuf, recv_staging, static_cast<std::size_t>(count_ * element_bytes_));
    return;
  }
  const Count elements = block();
  if (exchanges()) {
    void* to = call_.recvbuf;
    if (stages_ == 2) {
      own_sums_.resize(static_cast<std::size_t>(elements * element_bytes_));
      to = own_sums_.data();
    }
    return sum(to, recv_staging, size_, elements, elements);
  }
  if (!receives()) return;
  const Rank rows = call_.collective == Collective::scan     ? rank_ + 1
                    : call_.collective == Collective::exscan ? rank_
                                                             : size_;
  sum(as_base(call_.recvbuf) + first_element() * element_bytes_, recv_staging, rows, elements, elements);
}

}  // namespace circoll::mpi
