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

/// Bytes of all operands up to which every rank gets all of them. Beyond that an exchange sends less, except of one or
/// two elements, which it would pad to one of each rank.
constexpr Count most_gathered_together = 32 << 10;
constexpr Count most_gathered_elements = 2;
/// The operands that a rank receives in a stage.
constexpr Count most_received_bytes = 16 << 20;

Count up_to(Count count, Count parts) { return (count + parts - 1) / parts; }

}  // namespace

bool is_sum_of_floats(const Call& call) {
  if (!is_reducing(call.collective) || call.op != MPI_SUM) return false;
  const std::optional<Type> type = describe(call.sendtype).element;
  return type == Type::float64 || type == Type::float32 || type == Type::complex128 || type == Type::complex64;
}

SummedCall::SummedCall(const Call& call, Type type, Sums sums, bool in_place, Rank rank, Rank size, Count most_gathered)
    : call_(call),
      type_(type),
      sums_(sums),
      in_place_(in_place),
      rank_(rank),
      size_(size),
      element_bytes_(static_cast<Count>(extent_bytes(type))),
      count_(call.sendcount) {
  const Count most = std::max<Count>(1, most_received_bytes / (size * element_bytes_));
  const Collective c = call.collective;
  const Count bytes = count_ * element_bytes_;
  const bool is_short =
      (bytes <= most_gathered && size * bytes <= most_gathered_together) || count_ <= most_gathered_elements;
  if (is_reduce_scatter(c)) {
    cut_blocks(most);
  } else if (c == Collective::scan || c == Collective::exscan) {
    cut(count_, most);
  } else if (is_short) {
    cut(count_, count_);
  } else {
    way_ = Way::exchange;
    cut(up_to(count_, size), most);
    stages_ = 2 * up_to(count_, size * part_);
  }
}

void SummedCall::cut_blocks(Count most) {
  way_ = Way::scatter;
  const bool equal = call_.collective == Collective::reduce_scatter_block;
  const auto count_of = [&](Rank i) { return equal ? call_.recvcount : call_.recvcounts[i]; };
  count_ = count_of(rank_);
  Count longest = count_;
  for (Rank i = 0; i < size_ && !equal; ++i) longest = std::max(longest, count_of(i));
  cut(longest, most);
  if (equal && stages_ == 1) return;
  received_.resize(static_cast<std::size_t>(size_));
  sent_ = received_;
  Count begin = 0;
  for (Rank i = 0; i < size_; ++i) {
    begins_.push_back(begin);
    begin += count_of(i);
  }
  set_stage(0);
}

void SummedCall::cut(Count length, Count most) {
  part_ = std::max<Count>(1, up_to(length, std::max<Count>(1, up_to(length, std::max<Count>(1, most)))));
  stages_ = std::max<Count>(1, up_to(length, part_));
}

void SummedCall::set_stage(Count stage) {
  stage_ = stage;
  if (received_.empty()) return;
  std::fill(received_.begin(), received_.end(), block());
  for (Rank i = 0; i < size_; ++i) {
    const Count all = call_.recvcounts ? call_.recvcounts[i] : call_.recvcount;
    sent_[static_cast<std::size_t>(i)] = std::clamp<Count>(all - first_element(), 0, part_);
  }
}

std::optional<std::size_t> SummedCall::plan_number() const {
  if (way_ == Way::exchange) return static_cast<std::size_t>(stage_ % 2);
  if (stage_ == 0) return 0;
  if (call_.collective == Collective::reduce_scatter) return std::nullopt;
  return stage_ + 1 == stages_ ? 1 : 0;  // the last part may be shorter
}

const char* SummedCall::operands() const { return as_base(in_place_ ? call_.recvbuf : call_.sendbuf); }

Count SummedCall::first_element() const { return way_ == Way::exchange ? stage_ / 2 * size_ * part_ : stage_ * part_; }

Count SummedCall::block() const {
  return way_ == Way::exchange ? part_ : std::clamp<Count>(count_ - first_element(), 0, part_);
}

Count SummedCall::vector_bytes() const { return std::min(size_ * part_, count_ - first_element()) * element_bytes_; }

prepare::Signature SummedCall::signature() const {
  prepare::Signature s;
  s.head.size = size_;
  s.head.rank = rank_;
  if (!received_.empty()) {
    s.head.collective = Collective::alltoallv;
    s.counts = prepare::numbers_of(received_);
    s.send_counts = prepare::numbers_of(sent_);
    if (stages_ > 1) s.send_displs = prepare::numbers_of(begins_);
    s.counts.unit = s.send_counts.unit = s.send_displs.unit = element_bytes_;
    return s;
  }
  s.head.count = block() * element_bytes_;
  if (way_ != Way::gather && !collects_sums()) {
    s.head.collective = Collective::alltoall;
  } else {
    const bool to_root = call_.collective == Collective::reduce;
    s.head.collective = to_root ? Collective::gather : Collective::allgather;
    s.head.root = to_root ? call_.root : 0;
  }
  return s;
}

Count SummedCall::send_staging_bytes() const {
  return way_ == Way::exchange && !collects_sums() && !is_full() ? size_ * part_ * element_bytes_ : 0;
}

Count SummedCall::recv_staging_bytes() const {
  if (collects_sums() && (is_full() || !receives())) return 0;
  return way_ == Way::exchange || receives() ? size_ * block() * element_bytes_ : 0;
}

char* SummedCall::send_base(std::byte* staging) const {
  if (collects_sums()) return reinterpret_cast<char*>(own_sums_);
  if (send_staging_bytes() > 0) return reinterpret_cast<char*>(staging);
  return as_base(operands()) + first_element() * element_bytes_;
}

char* SummedCall::recv_base(std::byte* staging) const {
  if (!collects_sums() || !receives() || !is_full()) return reinterpret_cast<char*>(staging);
  return as_base(call_.recvbuf) + first_element() * element_bytes_;
}

void SummedCall::before(std::byte* send_staging) const {
  const Count padded_bytes = send_staging_bytes();
  if (padded_bytes == 0) return;
  const auto bytes = static_cast<std::size_t>(vector_bytes());
  std::memcpy(send_staging, operands() + first_element() * element_bytes_, bytes);
  std::memset(send_staging + bytes, 0, static_cast<std::size_t>(padded_bytes) - bytes);
}

void SummedCall::sum(void* to, const std::byte* rows, Count row_count, Count elements) const {
  if (row_count == 0 || elements == 0) return;
  const auto row_bytes = static_cast<std::size_t>(elements * element_bytes_);
  if (sums_ == Sums::exact) {
    const bool complex = type_ == Type::complex64 || type_ == Type::complex128;
    const auto numbers = static_cast<std::size_t>(complex ? 2 * elements : elements);
    ops::exact_sum_of_rows(ops::best_target(), type_)(
        to, {.data = rows, .stride = numbers, .row_count = static_cast<std::size_t>(row_count)}, numbers);
    return;
  }
  std::memcpy(to, rows, row_bytes);
  const ReduceKernel add = reduce_kernel(Op::sum, type_);
  for (Count row = 1; row < row_count; ++row) {
    add(to, to, rows + static_cast<std::size_t>(row) * row_bytes, static_cast<std::size_t>(elements));
  }
}

void SummedCall::after(const std::byte* recv_staging) const {
  const Count first = receives() ? std::min(first_element(), count_) : 0;
  char* const result = as_base(call_.recvbuf) + first * element_bytes_;
  if (collects_sums()) {
    if (receives() && !is_full()) std::memcpy(result, recv_staging, static_cast<std::size_t>(vector_bytes()));
    return;
  }
  if (way_ == Way::exchange) return sum(own_sums_, recv_staging, size_, part_);
  if (!receives()) return;
  const Rank rows = call_.collective == Collective::scan     ? rank_ + 1
                    : call_.collective == Collective::exscan ? rank_
                                                             : size_;
  sum(result, recv_staging, rows, block());
}

}  // namespace circoll::mpi
