#include "interpose/call_tracer.hpp"

#include <cmath>

#include "circoll/collectives.hpp"
#include "circoll/ops.hpp"
#include "exec/mpi/call/datatype.hpp"
#include "exec/mpi/call/elements.hpp"
#include "exec/mpi/comm/placement.hpp"
#include "exec/mpi/library/base.hpp"
#include "facts/files.hpp"
#include "facts/hash.hpp"
#include "interpose/recorder.hpp"

namespace circoll::interpose {
namespace {

/// The datatype of the elements that described_bytes() counts; MPI_DATATYPE_NULL if there is none.
MPI_Datatype type_of(const mpi::Call& call) {
  if (call.collective == Collective::barrier || call.has_types) return MPI_DATATYPE_NULL;
  if (is_reducing(call.collective)) return call.sendtype;
  if (call.collective == Collective::bcast || call.sendbuf == MPI_IN_PLACE) return call.recvtype;
  const bool receives = is_scatter(call.collective) && call.recvbuf != MPI_IN_PLACE;
  return receives ? call.recvtype : call.sendtype;
}

trace::OperatorFacts operator_of(const mpi::Call& call) {
  trace::OperatorFacts facts;
  if (!is_reducing(call.collective)) return facts;
  if (const auto op = mpi::predefined_op(call.op)) {
    const auto element = mpi::describe(call.sendtype).element;
    return {.commutative = is_commutative(*op),
            .idempotent = is_idempotent(*op),
            .exact = element && is_order_free(*op, *element)};
  }
  // The call has succeeded, so the handle is an operator's.
  int commutative = 0;
  PMPI_Op_commutative(call.op, &commutative);
  return {.commutative = commutative != 0, .idempotent = false, .exact = false, .predefined = false};
}

std::uint64_t hash_of(const trace::Shape& shape, const Selection* served) {
  QuickHash hash;
  hash.add(static_cast<std::uint64_t>(shape.collective.collective) | static_cast<std::uint64_t>(shape.mode) << 8U |
           (shape.collective.neighbor ? 1U + static_cast<std::uint64_t>(*shape.collective.neighbor) : 0U) << 16U |
           static_cast<std::uint64_t>(shape.request) << 32U);
  hash.add(shape.communicator | static_cast<std::uint64_t>(shape.root) << 32U);
  hash.add(static_cast<std::uint64_t>(shape.count));
  hash.add(static_cast<std::uint64_t>(shape.element_bytes));
  if (served == nullptr) return hash.value();
  hash.add(std::hash<const void*>{}(served->algorithm));
  for (const auto& [name, value] : served->params) hash.add(static_cast<std::uint64_t>(value));
  return hash.value();
}

}  // namespace

CallTracer::CallTracer(const std::string& file, double begin_s) : calls_(directory_of(file)), begin_s_(begin_s) {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval_, nullptr);
}

CallTracer::~CallTracer() {
  if (keyval_ != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&keyval_);
}

trace::Shape CallTracer::shape_of(const mpi::Call& call, bool foreign) {
  trace::Shape shape{.collective = mpi::called(call)};
  // Arguments may have no meaning at this rank, and roots have special values.
  if (foreign) return shape;
  shape.op = operator_of(call);
  const Count bytes = mpi::described_bytes(call);
  MPI_Datatype type = type_of(call);
  int size = 1;
  if (type != MPI_DATATYPE_NULL) PMPI_Type_size(type, &size);
  const bool divides = size > 0 && bytes % size == 0;
  shape.element_bytes = divides ? size : 1;
  shape.count = bytes / shape.element_bytes;
  if (is_rooted(call.collective)) shape.root = call.root;
  return shape;
}

trace::Shape CallTracer::shape_of(const mpi::NeighborCall& call, bool /*foreign*/) {
  return {.collective = call.function};
}

CallTracer::KnownCommunicator CallTracer::find(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, keyval_, static_cast<void*>(&value), &found);
  const auto number = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(value));
  if (found != 0) return {.index = number / 2, .foreign = number % 2 != 0};
  int inter = 0, size = 1, all = 1;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_size(mpi::base_world(), &all);
  mpi::RankMap in_world;
  KnownCommunicator known{.foreign = inter != 0 || !mpi::find_world_ranks(comm, &in_world)};
  std::vector<Rank> members;
  for (Rank rank = 0; !known.foreign && rank < size; ++rank) members.push_back(in_world(rank));
  {
    const std::lock_guard lock(mutex_);
    known.index = known.foreign ? calls_.add_foreign_communicator() : calls_.add_communicator(members, all);
    requests_made_.push_back(0);
  }
  const std::uintptr_t kept = std::uintptr_t{known.index} * 2 + (known.foreign ? 1 : 0);
  PMPI_Comm_set_attr(comm, keyval_, reinterpret_cast<void*>(kept));  // NOLINT(performance-no-int-to-ptr)
  return known;
}

std::uint32_t CallTracer::index_of(trace::Shape shape, const Selection* served) {
  const std::uint64_t hash = hash_of(shape, served);
  const auto [begin, end] = known_.equal_range(hash);
  for (auto candidate = begin; candidate != end; ++candidate) {
    const KnownShape& known = candidate->second;
    if (known.algorithm != (served == nullptr ? nullptr : served->algorithm)) continue;
    if (served != nullptr && known.params != served->params) continue;
    if (shape == known.shape) return known.index;
  }
  if (known_.size() >= most_known) known_.clear();
  KnownShape fresh{.shape = shape, .index = 0};
  if (served != nullptr) {
    fresh.algorithm = served->algorithm;
    fresh.params = served->params;
  }
  shape.served = name_of(shape.collective, served);
  fresh.index = calls_.add_shape(shape);
  const std::uint32_t index = fresh.index;
  known_.emplace(hash, std::move(fresh));
  return index;
}

void CallTracer::note(trace::Shape shape, Mode mode, const Selection* served, double begin_s, double end_s,
                      const MPI_Request* request) {
  shape.mode = mode;
  if (mode == Mode::persistent) shape.request = requests_made_[shape.communicator]++;
  const std::uint32_t index = index_of(std::move(shape), served);
  if (mode == Mode::persistent) {
    persistent_.insert_or_assign(number_of(*request), index);
  } else {
    add_call(index, begin_s, end_s);
  }
}

void CallTracer::add_start(MPI_Request request, double begin_s, double end_s) {
  const std::lock_guard lock(mutex_);
  const auto known = persistent_.find(number_of(request));
  if (known != persistent_.end()) add_call(known->second, begin_s, end_s);
}

void CallTracer::forget(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  persistent_.erase(number_of(request));
}

void CallTracer::add_call(std::uint32_t shape, double begin_s, double end_s) {
  calls_.add_call({.shape = shape,
                   .begin_ns = std::llround((begin_s - begin_s_) * 1e9),
                   .end_ns = std::llround((end_s - begin_s_) * 1e9)});
}

}  // namespace circoll::interpose
