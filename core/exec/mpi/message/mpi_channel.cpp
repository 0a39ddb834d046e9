#include "exec/mpi/message/mpi_channel.hpp"

#include <sched.h>

#include <algorithm>
#include <limits>

#include "circoll/error.hpp"
#include "exec/mpi/message/combine.hpp"

namespace circoll::mpi {
namespace {

bool is_truncation(int error) {
  int error_class = MPI_SUCCESS;
  return PMPI_Error_class(error, &error_class) == MPI_SUCCESS && error_class == MPI_ERR_TRUNCATE;
}

/// A cancelled receive ends whatever other processes do, as MPI promises. A message that has been matched may still
/// have to arrive. Nobody waits forever for a process that has died.
constexpr double patience_s = 0.5;
constexpr double patience_with_dead_s = 0.005;

/// MPI_Waitsome for one request. SMPI's own MPI_Waitsome asks by MPI_Test, which takes simulated time.
int wait_for_one(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  const int rc = PMPI_Waitany(count, requests, indices, statuses);
  *completed = rc == MPI_SUCCESS && *indices != MPI_UNDEFINED ? 1 : 0;
  return rc;
}

constexpr Count int_max = std::numeric_limits<int>::max();

void require_mpi(int rc, const char* what) {
  if (rc != MPI_SUCCESS) throw Error(ErrorCode::transport, what);
}

}  // namespace

MpiChannel::MpiChannel(const Plan& plan, const MessageTable& messages)
    : plan_(&plan),
      messages_(&messages),
      requests_(messages.messages(), MPI_REQUEST_NULL),
      steps_(messages.messages()),
      indices_(messages.messages()),
      completed_(messages.messages()),
      statuses_(messages.messages()) {}

void MpiChannel::start(const Binding& binding) {
  binding_ = &binding;
  error_ = truncation_ = MPI_SUCCESS;
  active_ = 0;
}

bool MpiChannel::begin(StepIndex step) {
  const PlanStep& s = plan_->steps[step];
  const MpiMessage& message = (*messages_)[step];
  const Binding& binding = *binding_;
  const bool staged = message.staging_bytes >= 0;
  char* const buffer = staged ? reinterpret_cast<char*>(binding.staging) + message.staging_bytes
                              : binding.address(message.area, message.offset_bytes);
  MPI_Datatype type = message.type == MPI_DATATYPE_NULL ? binding.elements.type : message.type;
  const Route& route = binding.route;
  MPI_Request& request = requests_[static_cast<std::size_t>(active_)];
  int rc = MPI_SUCCESS;
  if (s.kind == StepKind::send) {
    if (staged) fail(pack_pieces(*plan_, s, binding, binding.staging + message.staging_bytes));
    rc = PMPI_Isend(buffer, message.count, type, route.rank(s.peer), route.send_tag(s.peer, s.tag), route.comm,
                    &request);
  } else {
    rc = PMPI_Irecv(buffer, message.count, type, route.rank(s.peer), route.receive_tag(s.tag), route.comm, &request);
  }
  if (rc != MPI_SUCCESS) {
    fail(rc);
    return true;
  }
  steps_[static_cast<std::size_t>(active_++)] = step;
  return false;
}

/// The error among the completed messages that ends the execution, if there is one. A message that was longer than
/// expected has been received: the ranks described the amounts differently. The other ranks cannot know that. So all
/// messages must be matched, or the next call would meet those that are left.
int MpiChannel::first_error(int completed) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(completed, 0)); ++i) {
    const int error = statuses_[i].MPI_ERROR;
    if (error == MPI_SUCCESS || error == MPI_ERR_PENDING) continue;
    if (!is_truncation(error)) return error;
    truncation_ = error;
    // Open MPI leaves a request that has failed.
    MPI_Request& request = requests_[static_cast<std::size_t>(indices_[i])];
    if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);
    request = MPI_REQUEST_NULL;
  }
  return truncation_ != MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_IN_STATUS;
}

std::span<const StepIndex> MpiChannel::wait() { return poll_by(wait_for_one); }

std::span<const StepIndex> MpiChannel::poll_by(Completion some) {
  if (active_ == 0) return {};
  int completed = 0;
  int rc = some(active_, requests_.data(), &completed, indices_.data(), statuses_.data());
  if (rc == MPI_ERR_IN_STATUS) rc = first_error(completed);
  if (rc != MPI_SUCCESS) {
    fail(rc);
    return {};
  }
  return completed == 0 ? std::span<const StepIndex>{} : collect(static_cast<std::size_t>(completed));
}

void MpiChannel::check_length(const MpiMessage& message, const MPI_Status& status) {
  int count = 0;
  PMPI_Get_count(&status, message.type == MPI_DATATYPE_NULL ? binding_->elements.type : message.type, &count);
  if (truncation_ == MPI_SUCCESS && count != message.count) truncation_ = MPI_ERR_OTHER;
}

std::span<const StepIndex> MpiChannel::collect(std::size_t completed) {
  for (std::size_t i = 0; i < completed; ++i) completed_[i] = steps_[static_cast<std::size_t>(indices_[i])];
  // Close the gaps. Steps that complete now may post new messages at the end.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(active_); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[kept] = requests_[i];
    steps_[kept++] = steps_[i];
  }
  active_ = static_cast<int>(kept);
  for (std::size_t i = 0; i < completed; ++i) {
    const PlanStep& step = plan_->steps[completed_[i]];
    const MpiMessage& message = (*messages_)[completed_[i]];
    if (binding_->exact && step.kind != StepKind::send) check_length(message, statuses_[i]);
    if (step.kind != StepKind::send && message.staging_bytes >= 0)
      fail(unpack_pieces(*plan_, step, *binding_, binding_->staging + message.staging_bytes));
    if (step.kind == StepKind::recv_reduce) fail(combine(*plan_, step, *binding_));
  }
  return {completed_.data(), completed};
}

void MpiChannel::fail(int error) {
  if (error_ == MPI_SUCCESS) error_ = error;
}

void MpiChannel::give_up(Halt* halt, const IsDead* is_dead) {
  // The program gets its receive buffer back, so nothing may write there any more. Sends only read, and cannot be
  // cancelled.
  const auto active = static_cast<std::size_t>(active_);
  for (std::size_t i = 0; i < active; ++i) {
    if (requests_[i] != MPI_REQUEST_NULL && is_receive(i)) PMPI_Cancel(&requests_[i]);
  }
  const double begin_s = PMPI_Wtime();
  for (std::size_t i = 0; i < active; ++i) {
    if (halt != nullptr) halt->ended[steps_[i]] = false;
    if (!is_receive(i)) continue;
    const StepIndex step = steps_[i];
    const bool dead = is_dead != nullptr && (*is_dead)(binding_->route.rank(plan_->steps[step].peer));
    int cancelled = 0;
    while (requests_[i] != MPI_REQUEST_NULL) {
      int completed = 0;
      MPI_Status status;
      if (PMPI_Test(&requests_[i], &completed, &status) != MPI_SUCCESS) requests_[i] = MPI_REQUEST_NULL;
      if (completed != 0) PMPI_Test_cancelled(&status, &cancelled);
      if (completed == 0 && PMPI_Wtime() - begin_s > (dead ? patience_with_dead_s : patience_s)) break;
      if (completed == 0) sched_yield();
    }
    // A message through staging memory has not been unpacked.
    if (halt != nullptr) halt->torn[step] = cancelled == 0 && (*messages_)[step].staging_bytes < 0;
  }
}

std::vector<MPI_Request> MpiChannel::take_abandoned() {
  std::vector<MPI_Request> left;
  for (std::size_t i = 0; i < static_cast<std::size_t>(active_); ++i) {
    if (requests_[i] != MPI_REQUEST_NULL) left.push_back(requests_[i]);
  }
  active_ = 0;
  return left;
}

std::size_t MpiChannel::memory_bytes() const {
  return requests_.size() * (sizeof(MPI_Request) + sizeof(MPI_Status) + sizeof(int) + 2 * sizeof(StepIndex));
}

MessageTable::MessageTable(const Plan& plan, MPI_Datatype type, const TypeInfo& info)
    : type_(type),
      info_(info),
      typed_(type != MPI_BYTE),
      extent_bytes_(plan.extent_bytes),
      unit_bytes_(typed_ ? info.size_bytes : plan.extent_bytes),
      messages_(plan.steps.size()) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    if (!is_message(step.kind)) continue;
    ++message_count_;
    add(plan, step, messages_[i]);
  }
}

MessageTable::~MessageTable() {
  for (MpiMessage& message : messages_) {
    if (message.owned) PMPI_Type_free(&message.type);
  }
}

void MessageTable::add(const Plan& plan, const PlanStep& step, MpiMessage& message) {
  const std::span<const Piece> pieces = plan.pieces_of(step);
  if (pieces.empty()) {  // a barrier's message
    message.type = MPI_BYTE;
    return;
  }
  if (pieces.size() == 1) return add_single(pieces[0], message);
  const Count bytes = step.elements * unit_bytes_;
  const bool one_area =
      std::all_of(pieces.begin(), pieces.end(), [&](const Piece& p) { return p.area == pieces[0].area; });
  if (one_area && bytes > pack_limit_bytes) return add_indexed(pieces, message);
  constexpr Count alignment = 64;
  message.staging_bytes = staging_bytes_;
  staging_bytes_ += (bytes + alignment - 1) / alignment * alignment;
  if (bytes <= int_max) {
    message.type = MPI_BYTE;
    message.count = static_cast<int>(bytes);
  } else {
    require_mpi(make_contiguous(bytes, MPI_BYTE, 1, &message.type), "a datatype for a large message could not be made");
    message.count = 1;
    message.owned = true;
  }
}

void MessageTable::add_single(const Piece& piece, MpiMessage& message) const {
  message.area = piece.area;
  message.offset_bytes = piece.offset_bytes;
  const Count units = typed_ ? piece.elements : piece.elements * extent_bytes_;
  if (units <= int_max) {
    message.type = typed_ ? MPI_DATATYPE_NULL : MPI_BYTE;
    message.count = static_cast<int>(units);
    return;
  }
  require_mpi(make_contiguous(units, type_, typed_ ? extent_bytes_ : 1, &message.type),
              "a datatype for a large message could not be made");
  message.count = 1;
  message.owned = true;
}

void MessageTable::add_indexed(std::span<const Piece> pieces, MpiMessage& message) const {
  message.area = pieces[0].area;
  message.count = 1;
  // A struct rather than an indexed type: its parts may be chunked types of their own, beyond int.
  std::vector<int> lengths;
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Datatype> made;
  bool all_plain = true;
  for (const Piece& piece : pieces) {
    const Count units = typed_ ? piece.elements : piece.elements * extent_bytes_;
    displacements.push_back(static_cast<MPI_Aint>(piece.offset_bytes));
    if (units <= int_max) {
      lengths.push_back(static_cast<int>(units));
      types.push_back(type_);
      continue;
    }
    all_plain = false;
    MPI_Datatype chunked = MPI_DATATYPE_NULL;
    require_mpi(make_contiguous(units, type_, typed_ ? extent_bytes_ : 1, &chunked),
                "a datatype for a large message could not be made");
    made.push_back(chunked);
    lengths.push_back(1);
    types.push_back(chunked);
  }
  const int n = static_cast<int>(pieces.size());
  int rc = all_plain ? PMPI_Type_create_hindexed(n, lengths.data(), displacements.data(), type_, &message.type)
                     : PMPI_Type_create_struct(n, lengths.data(), displacements.data(), types.data(), &message.type);
  for (MPI_Datatype& part : made) PMPI_Type_free(&part);
  if (rc == MPI_SUCCESS) rc = PMPI_Type_commit(&message.type);
  require_mpi(rc, "an indexed datatype could not be made");
  message.owned = true;
}

}  // namespace circoll::mpi
