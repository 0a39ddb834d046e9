#include "interpose/serving.hpp"

namespace circoll::interpose {

int Serving::admit(const mpi::Call& call, Mode mode, const void* caller) {
  return next_ == nullptr ? MPI_SUCCESS : next_->admit(call, mode, caller);
}

mpi::Outcome Serving::perform(const mpi::Call& call, const mpi::InternedChoice& choice, bool timed) {
  return next_ == nullptr ? mpi::perform(call, choice, mpi::Unserved::native, timed)
                          : next_->perform(call, choice, timed);
}

const mpi::InternedChoice& Serving::choose(const mpi::Call& call, const mpi::InternedChoice& choice) {
  return next_ == nullptr ? choice : next_->choose(call, choice);
}

void Serving::poll() noexcept {
  if (next_ != nullptr) next_->poll();
}

void Serving::finish(const void* caller) noexcept {
  if (next_ != nullptr) next_->finish(caller);
}

int Serving::finalize(int (*finalize)()) noexcept { return next_ == nullptr ? finalize() : next_->finalize(finalize); }

bool Serving::keeps_result() const { return next_ != nullptr && next_->keeps_result(); }

std::optional<ReportSection> Serving::result(MPI_Comm comm) {
  return next_ == nullptr ? std::nullopt : next_->result(comm);
}

bool Serving::serves_all() const { return next_ != nullptr && next_->serves_all(); }

bool Serving::ends_waiting() const { return next_ != nullptr && next_->ends_waiting(); }

}  // namespace circoll::interpose
