#include "exec/mpi/message/execution.hpp"

#include <sched.h>

#include "exec/mpi/library/library.hpp"

namespace circoll::mpi {

Execution::Execution(const Plan& plan, const MessageTable& messages)
    : plan_(&plan), engine_(plan), mpi_(plan, messages) {}

void Execution::start(const Binding& binding) {
  binding_ = binding;
  error_ = MPI_SUCCESS;
  mpi_.start(binding_);
  for (const auto& channel : others_) channel->start(binding_);
  engine_.start(*this);
}

int Execution::failure_of_others() const {
  for (const auto& channel : others_) {
    if (channel->error() != MPI_SUCCESS) return channel->error();
  }
  return MPI_SUCCESS;
}

int Execution::error() const {
  if (!failed()) return mpi_.truncation();
  if (error_ != MPI_SUCCESS) return error_;
  return mpi_.error() != MPI_SUCCESS ? mpi_.error() : failure_of_others();
}

bool Execution::advance(bool inside_mpi) {
  if (failed()) {
    abandon();
    return true;
  }
  if (engine_.done()) return true;
  news_ = false;
  collect(inside_mpi && others_.empty() ? mpi_.wait() : mpi_.poll());
  for (const auto& channel : others_) collect(channel->poll());
  if (failed()) {
    abandon();
    return true;
  }
  return engine_.done();
}

int Execution::wait() {
  int idle = 0;
  while (!advance(library::waits_inside_mpi)) {
    if (news_) {
      idle = 0;
    } else if (++idle >= polls_before_yield) {
      sched_yield();
    }
  }
  return error();
}

void Execution::collect(std::span<const StepIndex> ended) {
  if (ended.empty()) return;
  news_ = true;
  for (const StepIndex step : ended) engine_.completed(*this, step);
}

bool Execution::begin(StepIndex step) {
  if (failed()) return true;  // nothing new is started after an error
  const PlanStep& s = plan_->steps[step];
  if (s.kind == StepKind::reduce || s.kind == StepKind::copy) {
    combine(s);
    return true;
  }
  const std::size_t channel = binding_.route.channel_of(s.peer);
  return channel == 0 ? mpi_.begin(step) : others_[channel - 1]->begin(step);
}

void Execution::combine(const PlanStep& step) {
  const Elements& elements = binding_.elements;
  for (const Run& run : plan_->runs_of(step)) {
    char* const dst = binding_.address(run.dst.area, run.dst.offset_bytes);
    const char* const left = binding_.address(run.left.area, run.left.offset_bytes);
    const int rc =
        step.kind == StepKind::copy
            ? elements.copy(dst, left, run.dst.elements)
            : elements.reduce(dst, left, binding_.address(run.right.area, run.right.offset_bytes), run.dst.elements);
    if (rc == MPI_SUCCESS) continue;
    error_ = rc;
    return;
  }
}

void Execution::abandon() noexcept {
  mpi_.abandon();
  for (const auto& channel : others_) channel->abandon();
}

std::size_t Execution::memory_bytes() const {
  return sizeof(Execution) + plan_->steps.size() * 2 * sizeof(std::uint32_t) + mpi_.memory_bytes();
}

}  // namespace circoll::mpi
