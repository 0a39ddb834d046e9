// A sparse exchange by nonblocking consensus.
//
// Hoefler, Siebert, Lumsdaine, "Scalable communication protocols for dynamic sparse data exchange", PPoPP 2010.
// A synchronous send ends when its message is being received. A rank whose sends have ended enters a barrier, and goes
// on receiving. When the barrier has ended, all messages of all ranks are being received, so that none can come any
// more. A rank may leave and begin the next exchange while others are in the barrier. So exchanges have two tags in
// turn: the one after the next cannot begin before all have left this one.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "circoll/error.hpp"
#include "circoll/mpi.hpp"
#include "exec/mpi/call/datatype.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/pending/owned_work.hpp"

namespace circoll::mpi {
namespace {

/// The exchanges of a communicator. They have a communicator of their own, and follow one another.
class Exchanges final : public Attachment {
 public:
  static constexpr Slot slot = Slot::exchanges;

  Exchanges() = default;
  ~Exchanges() override { Exchanges::clear(); }

  [[nodiscard]] bool opened() const { return comm_ != MPI_COMM_NULL; }
  /// Collective. Returns an MPI error code.
  [[nodiscard]] int open(MPI_Comm user) { return private_duplicate(user, &comm_); }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] std::uint64_t take_number() { return next_++; }
  [[nodiscard]] bool may_start(std::uint64_t number) const { return number == ended_; }
  void end() { ++ended_; }
  void clear() noexcept override {
    if (comm_ != MPI_COMM_NULL) PMPI_Comm_free(&comm_);
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::uint64_t next_ = 0;
  std::atomic<std::uint64_t> ended_{0};
};

/// One datatype for a message, whose bytes may be more than int can count.
class Bytes {
 public:
  explicit Bytes(Count bytes) {
    if (std::in_range<int>(bytes)) {
      count_ = static_cast<int>(bytes);
    } else {
      error_ = make_contiguous(bytes, MPI_BYTE, 1, &type_);
      count_ = 1;
    }
  }
  ~Bytes() {
    if (type_ != MPI_BYTE && type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_BYTE;
  int count_ = 0;
  int error_ = MPI_SUCCESS;
};

class SparseExchange final : public Work {
 public:
  SparseExchange(Exchanges& all, Rank rank, std::vector<ExchangeMessage> sent, ExchangePlace place)
      : all_(all), number_(all.take_number()), rank_(rank), sent_(std::move(sent)), place_(std::move(place)) {
    requests_.reserve(sent_.size());
  }

  [[nodiscard]] bool numbered() const override { return false; }
  [[nodiscard]] std::uint64_t first_number() const override { return number_; }
  [[nodiscard]] bool may_start() const override { return all_.may_start(number_); }
  void start() override {
    for (const ExchangeMessage& one : sent_) {
      if (one.to == rank_) {
        void* const to = place_(one.to, one.bytes);
        if (one.bytes > 0) std::memcpy(to, one.data, static_cast<std::size_t>(one.bytes));
        continue;
      }
      const Bytes bytes(one.bytes);
      require_success(bytes.error());
      MPI_Request request = MPI_REQUEST_NULL;
      require_success(
          PMPI_Issend(one.data, bytes.count(), bytes.type(), static_cast<int>(one.to), tag(), all_.comm(), &request));
      requests_.push_back(request);
    }
  }
  [[nodiscard]] bool progress() override {
    receive();
    if (error_ != MPI_SUCCESS) return end();
    int ended = 0;
    switch (phase_) {
      case Phase::sending:
        if (!all_ended(requests_)) return false;
        require_success(PMPI_Ibarrier(all_.comm(), &barrier_));
        phase_ = Phase::barrier;
        return false;
      case Phase::barrier:
        require_success(PMPI_Test(&barrier_, &ended, MPI_STATUS_IGNORE));
        if (ended != 0) phase_ = Phase::receiving;
        return false;
      case Phase::receiving:
        return all_ended(receives_) && end();
    }
    return false;
  }
  [[nodiscard]] int error() const override { return error_; }
  void fail(int error) noexcept override {
    error_ = error;
    (void)end();
  }

 private:
  enum class Phase : std::uint8_t { sending, barrier, receiving };

  [[nodiscard]] int tag() const { return static_cast<int>(number_ % 2); }
  void require_success(int rc) {
    if (error_ == MPI_SUCCESS) error_ = rc;
  }
  [[nodiscard]] bool all_ended(std::vector<MPI_Request>& requests) {
    int ended = 0;
    require_success(PMPI_Testall(static_cast<int>(requests.size()), requests.data(), &ended, MPI_STATUSES_IGNORE));
    return ended != 0;
  }
  /// Receives what has come. The messages of this exchange have come when the barrier has ended.
  void receive() {
    while (error_ == MPI_SUCCESS && phase_ != Phase::receiving) {
      int found = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      MPI_Count size = 0;
      require_success(PMPI_Improbe(MPI_ANY_SOURCE, tag(), all_.comm(), &found, &message, &status));
      if (found == 0) return;
      require_success(PMPI_Get_elements_x(&status, MPI_BYTE, &size));
      receives_.push_back(MPI_REQUEST_NULL);
      void* const to = place_(status.MPI_SOURCE, size);
      if (to == nullptr) return require_success(MPI_ERR_TRUNCATE);
      const Bytes bytes(size);
      require_success(bytes.error());
      require_success(PMPI_Imrecv(to, bytes.count(), bytes.type(), &message, &receives_.back()));
    }
  }
  bool end() noexcept {
    all_.end();
    return true;
  }

  Exchanges& all_;
  std::uint64_t number_;
  Rank rank_;
  std::vector<ExchangeMessage> sent_;
  ExchangePlace place_;
  std::vector<MPI_Request> requests_, receives_;
  MPI_Request barrier_ = MPI_REQUEST_NULL;
  Phase phase_ = Phase::sending;
  int error_ = MPI_SUCCESS;
};

class PendingExchange : public PendingWork {
 public:
  PendingExchange(CommState& state, std::vector<ExchangeMessage> sent, ExchangePlace place, const Observer& observer)
      : PendingWork(state, observer),
        operation_(state.attached<Exchanges>(), state.rank(), std::move(sent), std::move(place)) {}

  [[nodiscard]] SparseExchange& operation() override { return operation_; }

 protected:
  void describe(Ended& /*ended*/) noexcept override {}

 private:
  SparseExchange operation_;
};

}  // namespace

Request begin_exchange(std::vector<ExchangeMessage> sent, ExchangePlace place, MPI_Comm comm) {
  const Rank p = size_of(comm);
  int inter = 0, error = MPI_SUCCESS;
  throw_error(PMPI_Comm_test_inter(comm, &inter));
  require(inter == 0, "an exchange is among the ranks of one group, and the communicator has two");
  for (const ExchangeMessage& one : sent) {
    if (one.to < 0 || one.to >= p)
      throw Error(ErrorCode::invalid_argument,
                  "data is for rank " + std::to_string(one.to) + ", but ranks are 0 to " + std::to_string(p - 1));
  }
  CommState* const state = CommState::of(comm, &error);
  throw_error(error);
  if (state == nullptr) throw Error(ErrorCode::transport, "MPI_Finalize has begun, or the communicator is being freed");
  if (!state->attached<Exchanges>().opened()) {
    finish_owned_calls(comm);  // the ranks wait for one another
    throw_error(state->attached<Exchanges>().open(comm));
  }
  CommState::bury_released();
  auto owned = std::make_unique<Owned<PendingExchange>>(*state, std::move(sent), std::move(place));
  owned->start();
  return request_of({.owned = std::move(owned)}, RequestKind::nonblocking);
}

}  // namespace circoll::mpi
