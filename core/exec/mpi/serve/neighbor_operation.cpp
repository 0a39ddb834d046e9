#include "exec/mpi/serve/neighbor_operation.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "circoll/error.hpp"
#include "exec/mpi/call/caller_buffers.hpp"
#include "exec/mpi/library/failures.hpp"

namespace circoll::mpi {
namespace {

Plan plan_of(const NeighborWay& way, const NeighborSides& sides) {
  const std::vector<Count> send = sides.send.displacements(), recv = sides.recv.displacements();
  const Layout layout = Layout::irregular(way.bytes, way.schedule.segments);
  return bind(way.schedule, layout, 1, {.send = send, .recv = recv});
}

}  // namespace

void NeighborSides::read(const NeighborCall& call, const Neighborhood& neighborhood) {
  const NeighborFunction function = call.function;
  const bool gathers = contract_of(function) == NeighborContract::allgather;
  static constexpr std::array own_block{NeighborEdge{.place = 0}};
  const std::span<const NeighborEdge> out = neighborhood.out;
  send.read(call.send, !gathers || out.empty() ? out : own_block, function >= NeighborFunction::alltoallv);
  recv.read(call.recv, neighborhood.in,
            function != NeighborFunction::allgather && function != NeighborFunction::alltoall);
}

bool NeighborSides::erroneous(const Neighborhood& neighborhood, NeighborContract contract) const {
  if (send.erroneous() || recv.erroneous()) return true;
  // The ends of a rank's edges to itself must agree, because a copy has one size.
  std::size_t i = 0;
  for (std::size_t o = 0; o < neighborhood.out.size(); ++o) {
    if (neighborhood.out[o].peer != neighborhood.rank) continue;
    while (neighborhood.in[i].peer != neighborhood.rank) ++i;
    const std::size_t sent = contract == NeighborContract::allgather ? 0 : o;
    if (send.bytes_of(sent) != recv.bytes_of(i++)) return true;
  }
  return false;
}

std::vector<Count> bytes_of(const NeighborSizes& sizes, Block blocks) {
  std::vector<Count> bytes = sizes.sent;
  bytes.insert(bytes.end(), sizes.received.begin(), sizes.received.end());
  bytes.resize(static_cast<std::size_t>(blocks));
  return bytes;
}

NeighborWay direct_way(const Schedule& schedule, const NeighborSides& sides) {
  // It is in no registry: its schedules depend on a graph.
  static const Algorithm algorithm{.name = "direct", .summary = "each rank sends straight to its neighbours"};
  static const Selection selection{.algorithm = &algorithm, .collective = Collective::alltoall};
  return {.schedule = schedule,
          .bytes = bytes_of(sides.sizes(), schedule.user_blocks),
          .by = selection,
          .why = algorithm.summary};
}

NeighborOperation::NeighborOperation(const NeighborCall& call, CommState& state, const NeighborWay& way,
                                     NeighborSides sides)
    : function_(call.function),
      state_(state),
      by_(&way.by),
      why_(way.why),
      sides_(std::move(sides)),
      sendbuf_(call.send.buffer),
      recvbuf_(const_cast<void*>(call.recv.buffer)),
      plan_(plan_of(way, sides_)),
      messages_(plan_, MPI_BYTE, {}, parts_rule(state.placement(), state.rank())),
      execution_(plan_, messages_),
      tags_(state),
      memory_(arenas()) {}

NeighborOperation::~NeighborOperation() {
  sides_.send.release_types();
  sides_.recv.release_types();
}

int NeighborOperation::hold_types() {
  if (const int rc = sides_.send.hold_types(); rc != MPI_SUCCESS) return rc;
  return sides_.recv.hold_types();
}

/// Blocking calls have places of their own behind those of all other collectives.
Route NeighborOperation::route() const {
  Route route = tags_.route(among_all(function_));
  route.stalls_on = nullptr;  // calls of neighbours are not counted
  if (!tags_.blocking()) return route;
  const int stride = tag_layout().blocking_stride();
  const auto place = static_cast<int>(all_collectives.size() + static_cast<std::size_t>(function_));
  route.offset = place * stride;
  // Places begin at quarters of units.
  constexpr int units_of_places = 8;
  static_assert((all_collectives.size() + all_neighbor_functions.size()) / 4 < units_of_places);
  route.span = static_cast<std::uint32_t>(tag_layout().blocking_tags() - units_of_places * tag_layout().unit);
  return route;
}

void NeighborOperation::start() {
  error_ = MPI_SUCCESS;
  under_way_ = true;
  if (const int failure = state_.failure(); failure != MPI_SUCCESS) return end(failure, true);
  if (!state_.usable()) throw Error(ErrorCode::transport, std::string(state_.unusable_reason()));
  const Count sent = sides_.send.staged() ? MemoryDivision::aligned(sides_.send.total_bytes()) : 0;
  const Count received = sides_.recv.staged() ? MemoryDivision::aligned(sides_.recv.total_bytes()) : 0;
  const Count scratch = MemoryDivision::aligned(plan_.scratch_bytes);
  std::byte* const base =
      memory_.acquire(static_cast<std::size_t>(sent + received + scratch + messages_.staging_bytes()));
  received_ = base + sent;
  if (sides_.send.staged()) {
    if (const int rc = sides_.send.pack_to(sendbuf_, base); rc != MPI_SUCCESS) return end(rc, false);
  }
  binding_.base = {sides_.send.staged() ? reinterpret_cast<char*>(base) : as_base(sendbuf_),
                   sides_.recv.staged() ? reinterpret_cast<char*>(received_) : as_base(recvbuf_),
                   reinterpret_cast<char*>(received_ + received)};
  binding_.staging = received_ + received + scratch;
  binding_.route = route();
  execution_.start(binding_);
}

void NeighborOperation::collect() {
  int rc = execution_.error();
  if (rc == MPI_SUCCESS && sides_.recv.staged()) rc = sides_.recv.unpack_from(received_, recvbuf_);
  end(rc, execution_.complete());
}

bool NeighborOperation::progress() {
  if (under_way_ && !execution_.progress()) return false;
  if (under_way_) collect();
  return true;
}

int NeighborOperation::wait() {
  if (under_way_) {
    (void)execution_.wait();
    collect();
  }
  return error_;
}

int NeighborOperation::run(double* waited_s) {
  try {
    start();
    const double begin_s = waited_s == nullptr ? 0 : PMPI_Wtime();
    const int error = wait();
    if (waited_s != nullptr) *waited_s = PMPI_Wtime() - begin_s;
    return error;
  } catch (...) {
    fail(MPI_ERR_INTERN);  // messages may be under way
    throw;
  }
}

void NeighborOperation::fail(int error) noexcept {
  if (under_way_) execution_.abandon();
  end(error, false);
}

/// `matched`: no message of the operation is left behind.
void NeighborOperation::end(int error, bool matched) noexcept {
  error_ = error;
  under_way_ = false;
  if (library::is_failure(error_)) state_.fail(error_);
  if (error_ != MPI_SUCCESS && !matched) {
    tags_.retire();
    try {
      std::vector<MPI_Request> left = execution_.take_abandoned();
      if (!left.empty()) abandoned().add(std::move(left), memory_.detach());
    } catch (const std::bad_alloc&) {
      (void)memory_.detach();  // lost, rather than given to another operation while MPI reads it
    }
  }
  memory_.shrink();
}

}  // namespace circoll::mpi
