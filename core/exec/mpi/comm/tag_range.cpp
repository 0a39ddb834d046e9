#include "exec/mpi/comm/tag_range.hpp"

#include <sched.h>

#include <algorithm>

#include "exec/mpi/comm/globals.hpp"

namespace circoll::mpi {

void TagRange::take(std::shared_ptr<Carrier> carrier, int units, int spare) {
  // What was taken for an agreement that could not be begun.
  if (first_unit_ >= 0) carrier_->tags().give_back(first_unit_, units_);
  carrier_ = std::move(carrier);
  first_unit_ = carrier_->tags().take(units, spare);
  units_ = units;
  id_ = ++globals().ranges;
  own_ = first_unit_ < 0 ? -1 : first_unit_ * carrier_->layout().unit;
}

void TagRange::take_first(std::shared_ptr<Carrier> carrier, int units) {
  carrier_ = std::move(carrier);
  first_unit_ = own_ = 0;
  units_ = units;
  id_ = ++globals().ranges;
  agreed_ = true;
}

int TagRange::agree(MPI_Comm comm, int size) {
  others_.resize(static_cast<std::size_t>(size));
  const int rc = PMPI_Allgather(&own_, 1, MPI_INT, others_.data(), 1, MPI_INT, comm);
  if (rc == MPI_SUCCESS) compare();
  return rc;
}

int TagRange::begin(MPI_Comm comm, int size) {
  others_.resize(static_cast<std::size_t>(size));
  return PMPI_Iallgather(&own_, 1, MPI_INT, others_.data(), 1, MPI_INT, comm, &request_);
}

bool TagRange::settle() {
  int completed = 0;
  const int rc = PMPI_Test(&request_, &completed, MPI_STATUS_IGNORE);
  if (rc != MPI_SUCCESS) {
    request_ = MPI_REQUEST_NULL;
    return true;
  }
  if (completed != 0) compare();
  return completed != 0;
}

void TagRange::compare() {
  agreed_ = std::find(others_.begin(), others_.end(), -1) == others_.end();
  if (std::all_of(others_.begin(), others_.end(), [&](int first) { return first == own_; })) others_ = {};
  others_.shrink_to_fit();
}

void TagRange::give_back() noexcept {
  // An operation that was given up may have left it under way; the other ranks make the same call.
  while (request_ != MPI_REQUEST_NULL && !settle()) sched_yield();
  if (first_unit_ >= 0 && !spoiled_) carrier_->tags().give_back(first_unit_, units_);
  first_unit_ = -1;
  others_ = {};
  agreed_ = false;
  carrier_.reset();
}

}  // namespace circoll::mpi
