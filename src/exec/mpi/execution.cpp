#include "exec/mpi/execution.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>

namespace circoll::mpi {

Execution::Execution(const Plan& plan, const MessageTable& messages)
    : plan_(&plan),
      messages_(&messages),
      engine_(plan),
      requests_(messages.messages(), MPI_REQUEST_NULL),
      steps_(messages.messages()),
      indices_(messages.messages()),
      completed_(messages.messages()),
      statuses_(messages.messages()) {}

void Execution::start(const Binding& binding) {
  binding_ = binding;
  error_ = MPI_SUCCESS;
  active_ = 0;
  engine_.start(*this);
}

/// MPICH reports errors of messages one by one; the caller wants to know which it was.
int Execution::first_error(int completed) const {
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(completed, 0)); ++i) {
    const int error = statuses_[i].MPI_ERROR;
    if (error != MPI_SUCCESS && error != MPI_ERR_PENDING) return error;
  }
  return MPI_ERR_IN_STATUS;
}

namespace {

/// MPI_Waitsome for one. SMPI's own asks by MPI_Test, which takes simulated time.
int wait_for_one(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  const int rc = PMPI_Waitany(count, requests, indices, statuses);
  *completed = rc == MPI_SUCCESS && *indices != MPI_UNDEFINED ? 1 : 0;
  return rc;
}

}  // namespace

bool Execution::progress() { return progress_by(PMPI_Testsome); }

bool Execution::progress_by(Completion some) {
  if (error_ != MPI_SUCCESS) {
    abandon();
    return true;
  }
  if (active_ == 0) return true;
  int completed = 0;
  int rc = some(active_, requests_.data(), &completed, indices_.data(), statuses_.data());
  if (rc == MPI_ERR_IN_STATUS) rc = first_error(completed);
  if (rc != MPI_SUCCESS) {
    fail(rc);
    abandon();
    return true;
  }
  if (completed == 0) return false;
  collect(completed);
  return error_ == MPI_SUCCESS && active_ == 0;
}

int Execution::wait() {
  if constexpr (waits_inside_mpi) {
    while (!progress_by(wait_for_one)) {
    }
    return error_;
  }
  int idle = 0;
  while (true) {
    const int before = active_;
    if (progress()) return error_;
    if (active_ != before) {
      idle = 0;
    } else if (++idle >= polls_before_yield) {
      sched_yield();
    }
  }
}

void Execution::collect(int completed) {
  const auto count = static_cast<std::size_t>(completed);
  for (std::size_t i = 0; i < count; ++i) completed_[i] = steps_[static_cast<std::size_t>(indices_[i])];
  // Close the gaps. What completes now may post new messages at the end.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(active_); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[kept] = requests_[i];
    steps_[kept++] = steps_[i];
  }
  active_ = static_cast<int>(kept);
  for (std::size_t i = 0; i < count && error_ == MPI_SUCCESS; ++i) {
    const PlanStep& step = plan_->steps[completed_[i]];
    const Message& message = (*messages_)[completed_[i]];
    if (step.kind == StepKind::recv && message.staging_bytes >= 0) stage_in(step, message);
    engine_.completed(*this, completed_[i]);
  }
}

void Execution::local(StepIndex step) {
  if (error_ != MPI_SUCCESS) return;
  const PlanStep& s = plan_->steps[step];
  const Elements& elements = binding_.elements;
  for (const Run& run : plan_->runs_of(s)) {
    char* const dst = address(run.dst.area, run.dst.offset_bytes);
    const char* const left = address(run.left.area, run.left.offset_bytes);
    const int rc = s.kind == StepKind::copy
                       ? elements.copy(dst, left, run.dst.elements)
                       : elements.reduce(dst, left, address(run.right.area, run.right.offset_bytes), run.dst.elements);
    if (rc != MPI_SUCCESS) return fail(rc);
  }
}

bool Execution::post(StepIndex step) {
  if (error_ != MPI_SUCCESS) return true;  // nothing new is started after an error
  const PlanStep& s = plan_->steps[step];
  const Message& message = (*messages_)[step];
  const bool staged = message.staging_bytes >= 0;
  char* const buffer = staged ? reinterpret_cast<char*>(binding_.staging) + message.staging_bytes
                              : address(message.area, message.offset_bytes);
  MPI_Datatype type = message.type == MPI_DATATYPE_NULL ? binding_.elements.type : message.type;
  const int tag = binding_.tag_base + static_cast<int>(s.tag % binding_.tag_span);
  MPI_Request& request = requests_[static_cast<std::size_t>(active_)];
  int rc = MPI_SUCCESS;
  if (s.kind == StepKind::send) {
    if (staged) stage_out(s, message);
    rc = PMPI_Isend(buffer, message.count, type, static_cast<int>(s.peer), tag, binding_.comm, &request);
  } else {
    rc = PMPI_Irecv(buffer, message.count, type, static_cast<int>(s.peer), tag, binding_.comm, &request);
  }
  if (rc != MPI_SUCCESS) {
    fail(rc);
    return true;
  }
  steps_[static_cast<std::size_t>(active_++)] = step;
  return false;
}

void Execution::stage_out(const PlanStep& step, const Message& message) {
  const Elements& elements = binding_.elements;
  std::byte* to = binding_.staging + message.staging_bytes;
  for (const Piece& piece : plan_->pieces_of(step)) {
    const char* const from = address(piece.area, piece.offset_bytes);
    if (elements.typed) {
      if (const int rc = pack(from, piece.elements, elements.type, elements.info, to); rc != MPI_SUCCESS) fail(rc);
      to += packed_bytes(elements.info, piece.elements);
    } else {
      const Count bytes = piece.elements * plan_->extent_bytes;
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
      to += bytes;
    }
  }
}

void Execution::stage_in(const PlanStep& step, const Message& message) {
  const Elements& elements = binding_.elements;
  const std::byte* from = binding_.staging + message.staging_bytes;
  for (const Piece& piece : plan_->pieces_of(step)) {
    char* const to = address(piece.area, piece.offset_bytes);
    if (elements.typed) {
      if (const int rc = unpack(from, to, piece.elements, elements.type, elements.info); rc != MPI_SUCCESS) fail(rc);
      from += packed_bytes(elements.info, piece.elements);
    } else {
      const Count bytes = piece.elements * plan_->extent_bytes;
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
      from += bytes;
    }
  }
}

void Execution::fail(int error) {
  if (error_ == MPI_SUCCESS) error_ = error;
}

void Execution::abandon() {
  // The buffers go out of use: receives must not be left behind, sends may still be read by MPI until they
  // end.
  for (int i = 0; i < active_; ++i) {
    MPI_Request& request = requests_[static_cast<std::size_t>(i)];
    if (request == MPI_REQUEST_NULL) continue;
    if (plan_->steps[steps_[static_cast<std::size_t>(i)]].kind == StepKind::recv) PMPI_Cancel(&request);
    PMPI_Request_free(&request);
  }
  active_ = 0;
}

std::size_t Execution::memory_bytes() const {
  const std::size_t per_step = 2 * sizeof(std::uint32_t) + sizeof(Message);
  const std::size_t per_message = sizeof(MPI_Request) + 3 * sizeof(int);
  return sizeof(Execution) + plan_->steps.size() * per_step + requests_.size() * per_message;
}

}  // namespace circoll::mpi
