#include "wrappers/survive/survivors_call.hpp"

#include <algorithm>
#include <cstring>

#include "circoll/collectives.hpp"

namespace circoll::mpi {

KeptResult::KeptResult(const Call& call, Rank size) : recvbuf_(call.recvbuf) {
  if (call.collective == Collective::allreduce) {
    type_ = call.sendtype;
    count_ = call.sendcount;
  } else if (call.collective == Collective::allgather) {
    type_ = call.recvtype;
    count_ = call.recvcount * size;
  }
  if (count_ <= 0 || count_ > most_bytes) return;
  info_ = describe(type_);
  const Count bytes = packed_bytes(info_, count_);
  if (info_.valid && bytes <= most_bytes) bytes_ = bytes;
}

void KeptResult::append_to(std::vector<std::byte>& bytes) const {
  const std::size_t before = bytes.size();
  bytes.resize(before + static_cast<std::size_t>(bytes_));
  // If the result cannot be packed, the bytes get another length, which put() notices.
  if (pack(recvbuf_, count_, type_, info_, bytes.data() + before) != MPI_SUCCESS) bytes.resize(before);
}

int KeptResult::put(std::span<const std::byte> bytes) const {
  if (static_cast<Count>(bytes.size()) != bytes_) return MPI_ERR_TRUNCATE;
  return unpack(bytes.data(), recvbuf_, count_, type_, info_);
}

SurvivorsCall::SurvivorsCall(const Call& call, const std::vector<int>& members, int rank) : call_(call) {
  int size = 1;
  PMPI_Comm_size(call.comm, &size);
  if (is_rooted(call.collective)) set_root(members);
  if (nothing_ || !refused_.empty()) return;
  switch (call.collective) {
    case Collective::allgather:
    case Collective::gather:
      call_.collective = call.collective == Collective::gather ? Collective::gatherv : Collective::allgatherv;
      divide(members, call.recvcount, call_.recvcounts, call_.recvdispls);
      break;
    case Collective::scatter:
      call_.collective = Collective::scatterv;
      divide(members, call.sendcount, call_.sendcounts, call_.senddispls);
      break;
    case Collective::alltoall:
      call_.collective = Collective::alltoallv;
      divide(members, call.sendcount, call_.sendcounts, call_.senddispls);
      divide(members, call.recvcount, call_.recvcounts, call_.recvdispls);
      break;
    case Collective::allgatherv:
    case Collective::gatherv:
    case Collective::scatterv:
    case Collective::alltoallv:
      call_.sendcounts = pick(members, call.sendcounts);
      call_.senddispls = pick(members, call.senddispls);
      call_.recvcounts = pick(members, call.recvcounts);
      call_.recvdispls = pick(members, call.recvdispls);
      break;
    case Collective::reduce_scatter_block:
    case Collective::reduce_scatter:
      join_blocks(members, rank, size);
      break;
    default:
      break;
  }
}

void SurvivorsCall::set_root(const std::vector<int>& members) {
  const auto root = std::lower_bound(members.begin(), members.end(), call_.root);
  if (root != members.end() && *root == call_.root) {
    call_.root = static_cast<int>(root - members.begin());
    return;
  }
  const bool from_root = call_.collective == Collective::bcast || call_.collective == Collective::scatter ||
                         call_.collective == Collective::scatterv;
  if (from_root) {
    refused_ = "the root has failed, and nobody else has the data";
  } else {
    nothing_ = true;
  }
}

CountArray SurvivorsCall::keep(std::vector<Count> numbers) {
  kept_.push_back(std::make_unique<std::vector<Count>>(std::move(numbers)));
  return CountArray::wide(kept_.back()->data());
}

void SurvivorsCall::divide(const std::vector<int>& members, Count count, CountArray& counts, CountArray& displs) {
  std::vector<Count> first;
  first.reserve(members.size());
  for (const int member : members) first.push_back(member * count);
  counts = keep(std::vector<Count>(members.size(), count));
  displs = keep(std::move(first));
}

CountArray SurvivorsCall::pick(const std::vector<int>& members, const CountArray& all) {
  if (!all) return all;
  std::vector<Count> picked;
  picked.reserve(members.size());
  for (const int member : members) picked.push_back(all[member]);
  return keep(std::move(picked));
}

/// The send buffer has the blocks of all ranks one after the other. Each survivor takes its own and those of the failed
/// ranks up to the next survivor. The first survivor takes those before it, too.
void SurvivorsCall::join_blocks(const std::vector<int>& members, int rank, int size) {
  const auto count_of = [&](int r) {
    return call_.collective == Collective::reduce_scatter ? call_.recvcounts[r] : call_.recvcount;
  };
  std::vector<Count> counts(members.size(), 0);
  Count before = 0;
  Count joined = 0;
  for (int r = 0; r < size; ++r) {
    const auto behind = std::upper_bound(members.begin(), members.end(), r) - members.begin();
    const auto taker = static_cast<std::size_t>(std::max<std::ptrdiff_t>(behind - 1, 0));
    counts[taker] += count_of(r);
    if (members[taker] != rank) continue;
    if (r < rank) before += count_of(r);
    joined += count_of(r);
  }
  const Count own = count_of(rank);
  call_.collective = Collective::reduce_scatter;
  call_.recvcounts = keep(std::move(counts));
  if (joined == own) return;
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  PMPI_Type_get_extent(call_.sendtype, &lower, &extent);
  PMPI_Type_get_true_extent(call_.sendtype, &true_lower, &true_extent);
  // The elements of a reduction have one type on all ranks, and lie side by side.
  to_ = call_.recvbuf;
  bytes_ = static_cast<std::size_t>(own * extent);
  if (call_.sendbuf == MPI_IN_PLACE) {
    from_ = static_cast<const std::byte*>(call_.recvbuf) + before * extent;
    return;
  }
  beside_.resize(static_cast<std::size_t>(joined * extent + true_extent));
  call_.recvbuf = beside_.data() - true_lower;
  from_ = beside_.data() - true_lower + before * extent;
}

void SurvivorsCall::finish() {
  if (to_ != nullptr && bytes_ > 0) std::memmove(to_, from_, bytes_);
}

}  // namespace circoll::mpi
