// The typed API: from its description of a call to MPI's arguments; blocking, nonblocking and persistent calls.
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/mpi.hpp"
#include "exec/mpi/call/calls.hpp"
#include "exec/mpi/call/elements.hpp"
#include "exec/mpi/pending/owned_call.hpp"
#include "exec/mpi/serve/bound_plan.hpp"

namespace circoll::mpi {
namespace {

/// A typed call as MPI's arguments. It has the arrays that MPI wants and the caller has not given: displacements of
/// blocks one after another, and counts of bytes where elements travel as bytes.
class TypedArguments {
 public:
  /// Arrays may be the caller's own, or copies that live as long as this object. Copies are of int if all numbers are,
  /// as the nonblocking calls of some MPI libraries need them.
  enum class Arrays { callers, copies };

  /// Throws Error(invalid_argument, unsupported).
  TypedArguments(const CollectiveCall& typed, MPI_Op op, MPI_Comm comm, Arrays arrays);
  TypedArguments(const TypedArguments&) = delete;
  TypedArguments& operator=(const TypedArguments&) = delete;

  [[nodiscard]] const Call& call() const { return call_; }

 private:
  /// `unit` is the factor of counts and displacements.
  void set_arrays(const CollectiveCall& typed, Count unit, Arrays arrays);

  Call call_;
  // Counts and displacements. For alltoallv there are also those of the blocks that are sent.
  std::array<CountArray, 4> arrays_{};
  std::array<std::vector<Count>, 4> wide_;
  std::array<std::vector<int>, 4> narrow_;
};

void TypedArguments::set_arrays(const CollectiveCall& typed, Count unit, Arrays arrays) {
  const std::array<std::span<const Count>, 4> given{typed.counts, typed.displs, typed.send_counts, typed.send_displs};
  for (std::size_t i = 0; i < given.size(); ++i) {
    const bool displs = i % 2 == 1;
    const std::span<const Count> counts = given[displs ? i - 1 : i];
    if (counts.empty() || (displs && typed.collective == Collective::reduce_scatter)) continue;  // not significant
    const bool packed = displs && given[i].empty();
    arrays_[i] = CountArray(given[i]);
    if (arrays == Arrays::callers && unit == 1 && !packed) continue;
    wide_[i].assign(counts.begin(), counts.end());
    if (packed) {
      std::exclusive_scan(counts.begin(), counts.end(), wide_[i].begin(), Count{0});
    } else {
      std::ranges::copy(given[i], wide_[i].begin());
    }
    for (Count& number : wide_[i]) number *= unit;
    arrays_[i] = CountArray(wide_[i].data());
  }
  // The arrays of a call are of one width.
  const auto fits = [](Count number) { return std::in_range<int>(number); };
  const bool narrow = std::ranges::all_of(wide_, [&](const auto& wide) { return std::ranges::all_of(wide, fits); });
  if (arrays == Arrays::callers || !narrow) return;
  for (std::size_t i = 0; i < wide_.size(); ++i) {
    if (wide_[i].empty()) continue;
    for (const Count number : wide_[i]) narrow_[i].push_back(static_cast<int>(number));
    arrays_[i] = CountArray(narrow_[i].data());
  }
}

TypedArguments::TypedArguments(const CollectiveCall& typed, MPI_Op op, MPI_Comm comm, Arrays arrays) {
  const bool records = typed.record_bytes > 0;
  require(std::in_range<int>(typed.root), "the root must be in 0 .. p-1");
  MPI_Datatype type = records ? MPI_BYTE : datatype_of(typed.type);
  const Count unit = records ? typed.record_bytes : 1;
  const Count count = typed.count * unit;
  const bool scatters = typed.collective == Collective::scatter || typed.collective == Collective::scatterv;
  const void* const send = typed.in_place && !scatters ? MPI_IN_PLACE : typed.sendbuf;
  void* const recv = typed.in_place && scatters ? MPI_IN_PLACE : typed.recvbuf;
  const int root = is_rooted(typed.collective) ? static_cast<int>(typed.root) : 0;
  if (is_irregular(typed.collective)) set_arrays(typed, unit, arrays);
  const auto& [counts, displs, send_counts, send_displs] = arrays_;
  switch (typed.collective) {
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::scan:
    case Collective::exscan:
      call_ = calls::reduction(typed.collective, send, recv, count, type, op, root, comm);
      break;
    case Collective::reduce_scatter_block:
      call_ = calls::reduce_scatter_block(send, recv, count, type, op, comm);
      break;
    case Collective::reduce_scatter:
      call_ = calls::reduce_scatter(send, recv, counts, type, op, comm);
      break;
    case Collective::allgather:
    case Collective::gather:
    case Collective::scatter:
    case Collective::alltoall:
      call_ = calls::counts_of_both(typed.collective, send, count, type, recv, count, type, root, comm);
      break;
    case Collective::allgatherv:
      call_ = calls::allgatherv(send, count, type, recv, counts, displs, type, comm);
      break;
    case Collective::gatherv:
      call_ = calls::gatherv(send, count, type, recv, counts, displs, type, root, comm);
      break;
    case Collective::scatterv:
      call_ = calls::scatterv(send, counts, displs, type, recv, count, type, root, comm);
      break;
    case Collective::bcast:
      call_ = calls::bcast(recv, count, type, root, comm);
      break;
    case Collective::barrier:
      call_ = calls::barrier(comm);
      break;
    case Collective::alltoallv:
      call_ = calls::alltoallv(send, send_counts, send_displs, type, recv, counts, displs, type, comm);
      break;
  }
}

/// Polls of a waiting rank before it lets others run.
constexpr int polls_before_yield = 100;

/// A call behind a Request.
class MpiWork final : public Request::Work {
 public:
  enum class Kind { nonblocking, persistent };

  MpiWork(const CollectiveCall& typed, MPI_Op op, MPI_Comm comm, const Choice& choice, Kind kind)
      : arguments_(typed, op, comm, TypedArguments::Arrays::copies), kind_(kind), active_(kind == Kind::nonblocking) {
    const InternedChoice& interned = *intern(typed.collective, choice);
    service_ =
        kind == Kind::persistent ? init_owned(arguments_.call(), interned) : begin_owned(arguments_.call(), interned);
  }

  ~MpiWork() override {
    try {
      if (active_) wait();
    } catch (...) {  // its error has nowhere to go
    }
    if (service_.native != MPI_REQUEST_NULL) PMPI_Request_free(&service_.native);
  }

  void start() override {
    if (service_.owned != nullptr) {
      service_.owned->start();
    } else if (const int rc = PMPI_Start(&service_.native); rc != MPI_SUCCESS) {
      throw MpiError(rc);
    }
    active_ = true;
  }

  [[nodiscard]] bool test() override {
    progress().poll();
    int error = MPI_SUCCESS;
    if (service_.owned != nullptr) {
      if (!service_.owned->over()) return false;
      error = service_.owned->operation().error();
    } else {
      int ended = 0;
      error = PMPI_Test(&service_.native, &ended, MPI_STATUS_IGNORE);
      if (error == MPI_SUCCESS && ended == 0) return false;
    }
    active_ = false;
    if (error != MPI_SUCCESS) throw MpiError(error);
    return true;
  }

  void wait() override {
    for (int polls = 0; !test(); ++polls) {
      if (polls >= polls_before_yield) sched_yield();
    }
  }

  [[nodiscard]] bool active() const override { return active_; }
  [[nodiscard]] bool persistent() const override { return kind_ == Kind::persistent; }

 private:
  TypedArguments arguments_;  // before what refers to its arrays
  Kind kind_;
  bool active_;
  Service service_{};
};

}  // namespace

MPI_Op op_of(Op op) { return predefined_ops()[static_cast<std::size_t>(op)]; }

MPI_Datatype datatype_of(Type type) {
#ifdef MPIX_C_FLOAT16
  MPI_Datatype float16 = MPIX_C_FLOAT16;
#else
  MPI_Datatype float16 = MPI_DATATYPE_NULL;
#endif
  // In the order of the enumerators.
  static const std::array<MPI_Datatype, type_count> datatypes{MPI_BYTE,
                                                              MPI_INT8_T,
                                                              MPI_INT16_T,
                                                              MPI_INT32_T,
                                                              MPI_INT64_T,
                                                              MPI_UINT8_T,
                                                              MPI_UINT16_T,
                                                              MPI_UINT32_T,
                                                              MPI_UINT64_T,
                                                              float16,
                                                              MPI_FLOAT,
                                                              MPI_DOUBLE,
                                                              MPI_LONG_DOUBLE,
                                                              MPI_C_FLOAT_COMPLEX,
                                                              MPI_C_DOUBLE_COMPLEX,
                                                              MPI_C_LONG_DOUBLE_COMPLEX,
                                                              MPI_C_BOOL,
                                                              MPI_FLOAT_INT,
                                                              MPI_DOUBLE_INT,
                                                              MPI_LONG_INT,
                                                              MPI_2INT,
                                                              MPI_SHORT_INT,
                                                              MPI_LONG_DOUBLE_INT,
                                                              MPI_2REAL,
                                                              MPI_2DOUBLE_PRECISION,
                                                              MPI_LOGICAL};
  MPI_Datatype datatype = datatypes[static_cast<std::size_t>(type)];
  if (datatype == MPI_DATATYPE_NULL)
    throw Error(ErrorCode::unsupported, "this MPI has no datatype for " + std::string(to_string(type)));
  return datatype;
}

Rank size_of(MPI_Comm comm) {
  require(comm != MPI_COMM_NULL, "the communicator is MPI_COMM_NULL");
  int size = 0;
  if (const int rc = PMPI_Comm_size(comm, &size); rc != MPI_SUCCESS) throw MpiError(rc);
  return size;
}

Rank rank_of(MPI_Comm comm) {
  require(comm != MPI_COMM_NULL, "the communicator is MPI_COMM_NULL");
  int rank = 0;
  if (const int rc = PMPI_Comm_rank(comm, &rank); rc != MPI_SUCCESS) throw MpiError(rc);
  return rank;
}

void execute(const CollectiveCall& call, MPI_Op op, MPI_Comm comm, const Choice& choice) {
  const TypedArguments arguments(call, op, comm, TypedArguments::Arrays::callers);
  execute_owned(arguments.call(), *intern(call.collective, choice));
}

Request begin(const CollectiveCall& call, MPI_Op op, MPI_Comm comm, const Choice& choice) {
  return Request(std::make_unique<MpiWork>(call, op, comm, choice, MpiWork::Kind::nonblocking));
}

Request init(const CollectiveCall& call, MPI_Op op, MPI_Comm comm, const Choice& choice) {
  return Request(std::make_unique<MpiWork>(call, op, comm, choice, MpiWork::Kind::persistent));
}

}  // namespace circoll::mpi
