#include "exec/mpi/call/caller_buffers.hpp"

#include "circoll/schedule.hpp"
#include "exec/mpi/library/library.hpp"
#include "ops/exact.hpp"

namespace circoll::mpi {

CallerBuffers::CallerBuffers(const Call& call, Rank rank, Rank size)
    : call_(call), rank_(rank), size_(size), reducing_(is_reducing(call.collective)) {
  if (is_rooted(call.collective) && (call.root < 0 || call.root >= size)) {
    erroneous_ = true;
    return;
  }
  if (call.collective == Collective::barrier) return;
  if (is_reducing(call.collective)) {
    read_reduction();
  } else {
    read_movement();
  }
}

void CallerBuffers::check_counts(const CountArray& counts, bool significant) {
  if (!significant) return;
  if (!counts) {
    erroneous_ = true;
    return;
  }
  for (Rank i = 0; i < size_; ++i) erroneous_ = erroneous_ || counts[i] < 0;
}

// ---- reductions

void CallerBuffers::read_reduction() {
  const Collective c = call_.collective;
  const TypeInfo info = describe(call_.sendtype);
  const Count count = c == Collective::reduce_scatter_block ? call_.recvcount : call_.sendcount;
  in_place_ = call_.sendbuf == MPI_IN_PLACE;
  // Where it is not significant, the receive buffer may be anything.
  const bool receives =
      is_significant(traits_of(c).recv, rank_, call_.root) || (in_place_ && !is_rooted(c));  // exscan's at rank 0
  const bool bad_recvbuf = receives && call_.recvbuf == MPI_IN_PLACE;
  erroneous_ = !info.valid || call_.op == MPI_OP_NULL || count < 0 || bad_recvbuf;
  erroneous_ = erroneous_ || (in_place_ && !can_be_in_place(c, rank_, call_.root));
  if (has_recvcounts(c)) check_counts(call_.recvcounts, true);
  if (erroneous_) return;
  Count own = count;
  Count received = count;
  if (c == Collective::reduce_scatter_block) own = count * size_;
  if (c == Collective::reduce_scatter) {
    own = 0;
    for (Rank i = 0; i < size_; ++i) own += call_.recvcounts[i];
    received = call_.recvcounts[rank_];
  }
  own_bytes_ = own * info.size_bytes;
  erroneous_ = (!in_place_ && is_missing(call_.sendbuf, own_bytes_, info)) ||
               (receives && is_missing(call_.recvbuf, in_place_ ? own_bytes_ : received * info.size_bytes, info));
  // A library that refuses them in an exscan does so on rank 0, too, whose receive buffer is not significant.
  if (!in_place_ && (receives || c == Collective::exscan) && call_.sendbuf == call_.recvbuf) {
    erroneous_ = erroneous_ || library::refuses_equal_buffers(c, call_.recvbuf, own);
    in_place_ = receives;  // what it amounts to otherwise
  }
  if (erroneous_) return;
  elements_.type = call_.sendtype;
  elements_.op = call_.op;
  elements_.extent_bytes = info.extent_bytes;
  elements_.info = info;
  read_operator(info);
  block_ = count;
}

void CallerBuffers::read_operator(const TypeInfo& info) {
  if (const auto op = predefined_op(call_.op)) {
    if (info.element && *op != Op::replace && *op != Op::no_op) {
      elements_.kernel = reduce_kernel(*op, *info.element);
    }
    if (elements_.kernel == nullptr) {
      // Either MPI does not define it, and native says so, or the MPI library knows a type that we do not.
      unsupported_ = "Circoll has no kernel for this operator on this datatype";
      return;
    }
    elements_.commutative = is_commutative(*op);
    idempotent_ = is_idempotent(*op);
    exact_ = is_order_free(*op, *info.element);
    elements_.info.true_lb_bytes = 0;  // kernels and messages treat elements as plain memory
    return;
  }
  const std::optional<bool> commutative = commutes(call_.op);
  if (!commutative) {
    erroneous_ = true;
    return;
  }
  elements_.commutative = *commutative;
  exact_ = false;  // nothing is known about the user's function
  elements_.typed = !info.dense;
  if (info.size_bytes == 0 || info.extent_bytes <= 0 || info.true_extent_bytes > info.extent_bytes) {
    unsupported_ = "a user operator on a datatype whose elements overlap or are empty";
  }
}

void CallerBuffers::sum_operands(Sums sums, Count most_gathered) {
  if (sums == Sums::plain || erroneous_ || !unsupported_.empty()) return;
  const Type type = *elements_.info.element;
  if (size_ > 2) {
    summed_.emplace(call_, type, sums, in_place_, rank_, size_, most_gathered);
  } else if (sums == Sums::exact) {
    elements_.kernel = ops::exact_sum_of_two(ops::best_target(), type);
    exact_ = true;
  }
}

// ---- collectives that only move data

void CallerBuffers::read_side(CallerSide& side, const void* buffer, Count count, MPI_Datatype type) {
  side.significant = true;
  side.buffer = as_base(buffer);
  side.type = type;
  side.info = describe(type);
  side.count = count;
  erroneous_ = erroneous_ || !side.info.valid || count < 0 || buffer == MPI_IN_PLACE;
}

void CallerBuffers::read_typed_side(CallerSide& side, const void* buffer, const CountArray& counts,
                                    const CountArray& displs, const MPI_Datatype* types) {
  read_side(side, buffer, 0, MPI_BYTE);
  check_counts(counts, true);
  erroneous_ = erroneous_ || !displs || types == nullptr;
  if (erroneous_) return;
  side.typed.reserve(static_cast<std::size_t>(size_));
  side.bytes.reserve(static_cast<std::size_t>(size_));
  for (Rank i = 0; i < size_; ++i) {
    MPI_Datatype type = type_of_block(types, i, counts[i]);
    const TypeInfo info = describe(type);
    side.typed.push_back({type, info, counts[i]});
    side.bytes.push_back(counts[i] * info.size_bytes);
    side.info.dense = side.info.dense && (info.dense || side.bytes.back() == 0);
    side.info.named = side.info.named && info.named;
    erroneous_ = erroneous_ || !info.valid || (displs[i] == 0 && is_missing(buffer, side.bytes.back(), info));
  }
  side.counts = CountArray(side.bytes.data());
}

void CallerBuffers::read_movement() {
  const Collective c = call_.collective;
  if (c == Collective::bcast) {
    read_side(recv_, call_.recvbuf, call_.recvcount, call_.recvtype);
    erroneous_ = erroneous_ || recv_.missing();
    block_ = own_bytes_ = recv_.total_bytes();
    return;
  }
  if (is_exchange(c)) return read_exchange();
  const bool holds_all = is_scatter(c) || is_gather(c) ? at_root() : true;
  const bool sends = !is_scatter(c) || at_root();
  const bool receives = !is_gather(c) || at_root();
  const void* const replaceable = is_scatter(c) ? call_.recvbuf : call_.sendbuf;
  in_place_ = replaceable == MPI_IN_PLACE;
  if (in_place_ && !holds_all) {
    erroneous_ = true;
    return;
  }
  if (sends && !(in_place_ && !is_scatter(c))) read_side(send_, call_.sendbuf, call_.sendcount, call_.sendtype);
  if (receives && !(in_place_ && is_scatter(c))) read_side(recv_, call_.recvbuf, call_.recvcount, call_.recvtype);
  // The side with p blocks, and the side with one.
  CallerSide& all = is_scatter(c) ? send_ : recv_;
  CallerSide& one = is_scatter(c) ? recv_ : send_;
  if (holds_all) {
    all.blocks = size_;
    if (is_irregular(c)) {
      all.counts = is_scatter(c) ? call_.sendcounts : call_.recvcounts;
      all.displs = is_scatter(c) ? call_.senddispls : call_.recvdispls;
      check_counts(all.counts, true);
      erroneous_ = erroneous_ || !all.displs;
    }
  }
  if (erroneous_) return;
  const Count own_in_all = holds_all ? all.bytes_of(rank_) : 0;
  own_bytes_ = one.significant ? one.count * one.info.size_bytes : own_in_all;
  // MPI wants both sides to agree; reading or writing beyond the smaller one is not the way to report it.
  erroneous_ = (one.significant && holds_all && own_in_all != own_bytes_) || send_.missing() || recv_.missing() ||
               refuses_own_block();
  block_ = own_bytes_;
}

void CallerBuffers::read_exchange() {
  in_place_ = call_.sendbuf == MPI_IN_PLACE;
  erroneous_ = call_.recvbuf == MPI_IN_PLACE;
  const auto set_blocks = [&](CallerSide& side, const CountArray& counts, const CountArray& displs) {
    side.blocks = size_;
    if (!is_irregular(call_.collective)) return;
    side.counts = counts;
    side.displs = displs;
    check_counts(counts, true);
    erroneous_ = erroneous_ || !displs;
  };
  const auto read = [&](CallerSide& side, const void* buffer, Count count, MPI_Datatype type, const CountArray& counts,
                        const CountArray& displs, const MPI_Datatype* types) {
    if (call_.has_types) {
      read_typed_side(side, buffer, counts, displs, types);
    } else {
      read_side(side, buffer, count, type);
    }
    set_blocks(side, call_.has_types ? side.counts : counts, displs);
  };
  read(recv_, call_.recvbuf, call_.recvcount, call_.recvtype, call_.recvcounts, call_.recvdispls, call_.recvtypes);
  if (in_place_) {
    send_ = recv_;
    send_.copied = true;
  } else {
    read(send_, call_.sendbuf, call_.sendcount, call_.sendtype, call_.sendcounts, call_.senddispls, call_.sendtypes);
  }
  if (erroneous_) return;
  own_bytes_ = send_.total_bytes();
  block_ = recv_.bytes_of(rank_);
  erroneous_ = send_.bytes_of(rank_) != block_ || send_.missing() || recv_.missing() || refuses_equal_buffers();
}

bool CallerBuffers::has_lasting_handles() const {
  const auto named = [](const CallerSide& side) { return !side.significant || side.info.named; };
  return is_reducing(call_.collective) ? elements_.kernel != nullptr : named(send_) && named(recv_);
}

bool CallerBuffers::readdress() {
  if (reducing_) return true;  // there only the call knows where its buffers are
  recv_.buffer = as_base(call_.recvbuf);
  send_.buffer = as_base(in_place_ && is_exchange(call_.collective) ? call_.recvbuf : call_.sendbuf);
  if (!has_same_types()) return false;
  if (!library::refuses_equal_blocks()) return true;
  return is_exchange(call_.collective) ? !refuses_equal_buffers() : !refuses_own_block();
}

bool CallerBuffers::has_same_types() const {
  const auto same = [](const CallerSide& side) {
    MPI_Datatype last = MPI_DATATYPE_NULL;
    for (const CallerSide::TypedBlock& block : side.typed) {
      if (block.info.named || block.type == last) continue;
      if (describe(block.type).id != block.info.id) return false;
      last = block.type;
    }
    return true;
  };
  return same(send_) && same(recv_);
}

bool CallerBuffers::refuses_own_block() const {
  const CallerSide& all = all_blocks();
  const CallerSide& one = &all == &send_ ? recv_ : send_;
  if (!library::refuses_equal_blocks() || !all.significant || !one.significant) return false;
  if (all.type != one.type || one.total_bytes() == 0 || all.elements_of(rank_) != one.count) return false;
  const Count elements = all.displs ? all.displs[rank_] : all.count * rank_;
  return one.buffer == all.buffer + elements * all.info.size_bytes;  // packed bytes: that is what MPICH looks at
}

bool CallerBuffers::refuses_equal_buffers() const {
  if (!library::refuses_equal_blocks() || in_place_) return false;
  if (send_.buffer != recv_.buffer || send_.type != recv_.type) return false;
  if (own_bytes_ == 0) return false;
  if (call_.has_types && call_.sendtypes != call_.recvtypes) return false;
  if (call_.collective == Collective::alltoallv) return call_.sendcounts.data() == call_.recvcounts.data();
  return send_.count == recv_.count;
}

// ---- signatures

Signature CallerBuffers::signature(const InternedChoice& choice) const {
  const Collective c = call_.collective;
  if (summed_) {
    Signature stage = summed_->signature();
    stage.head.choice = &choice;
    return stage;
  }
  Signature s;
  s.head.size = size_;
  s.head.rank = rank_;
  s.head.choice = &choice;
  s.head.collective = c;
  s.head.root = is_rooted(c) ? call_.root : 0;
  s.head.in_place = in_place_ && has_in_place_schedule(c, Shape{.size = size_, .rank = rank_, .root = s.head.root});
  if (c == Collective::barrier) return s;
  s.head.count = is_irregular(c) ? 0 : in_rounds() ? part_bytes_ : block_;
  if (is_reducing(c)) {
    s.head.extent_bytes = elements_.extent_bytes;
    s.head.message_bytes = elements_.typed ? elements_.info.size_bytes : elements_.extent_bytes;
    s.head.type_id = elements_.typed ? elements_.info.id : 0;
    s.head.commutative = elements_.commutative;
    s.head.idempotent = idempotent_;
    s.head.exact = exact_;
    s.head.predefined = elements_.kernel != nullptr;
  }
  if (is_irregular(c)) add_arrays(s);
  return s;
}

void CallerBuffers::add_arrays(Signature& s) const {
  const Collective c = call_.collective;
  if (c == Collective::reduce_scatter) {
    s.counts = {.values = call_.recvcounts, .size = size_};
    return;
  }
  if (in_rounds()) {  // both sides are staged
    s.counts = s.send_counts = prepare::numbers_of(parts_);
    return;
  }
  const auto counts_of = [&](const CallerSide& side) {
    return Numbers{.values = side.counts, .unit = side.info.size_bytes, .size = size_};
  };
  // Staging memory has no displacements.
  const auto displs_of = [&](const CallerSide& side) {
    if (!side.significant || !side.displs || side.staged()) return Numbers{};
    return Numbers{.values = side.displs, .unit = side.info.extent_bytes, .size = size_};
  };
  // Counts of gatherv and scatterv come from the exchange of counts (operation_parts.hpp).
  if (!is_rooted(c)) s.counts = counts_of(recv_);
  if (is_exchange(c)) s.send_counts = counts_of(send_);
  s.send_displs = displs_of(send_);
  s.recv_displs = displs_of(recv_);
}

Signature CallerBuffers::prologue_signature(const InternedChoice& choice) const {
  Signature s = signature(choice);
  s.head.prologue = true;
  s.counts = s.send_counts = s.send_displs = s.recv_displs = {};
  return s;
}

const CallerSide& CallerBuffers::all_blocks() const {
  return is_scatter(call_.collective) || is_exchange(call_.collective) ? send_ : recv_;
}

void CallerBuffers::known_counts(std::span<Count> counts) const {
  if (is_rooted(call_.collective) && !at_root()) return;
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = all_blocks().bytes_of(static_cast<Rank>(i));
}

bool CallerBuffers::admits(std::span<const Block> blocks, std::span<const Count> counts) const {
  if (is_exchange(call_.collective)) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i] % size_ == rank_ && counts[i] > recv_.bytes_of(blocks[i] / size_)) return false;
    }
    return true;
  }
  if (is_scatter(call_.collective)) {
    return !recv_.significant || counts[static_cast<std::size_t>(rank_)] <= own_bytes_;
  }
  for (std::size_t i = 0; recv_.significant && i < counts.size(); ++i) {
    if (counts[i] > recv_.bytes_of(static_cast<Rank>(i))) return false;
  }
  return true;
}

Count described_bytes(const Call& call) noexcept {
  if (call.collective == Collective::barrier) return 0;
  int is_inter = 0;
  int rank = 0;
  int size = 0;
  if (PMPI_Comm_test_inter(call.comm, &is_inter) != MPI_SUCCESS || is_inter != 0) return 0;
  if (PMPI_Comm_rank(call.comm, &rank) != MPI_SUCCESS || PMPI_Comm_size(call.comm, &size) != MPI_SUCCESS) return 0;
  try {
    return CallerBuffers(call, rank, size).own_bytes();
  } catch (...) {
    return 0;  // no memory: the call has succeeded all the same
  }
}

}  // namespace circoll::mpi
