// A sparse exchange by nonblocking consensus, or by a census.
//
// Hoefler, Siebert, Lumsdaine, "Scalable communication protocols for dynamic sparse data exchange", PPoPP 2010.
// Consensus: a synchronous send ends when its message is being received. A rank whose sends have ended enters a
// barrier, and goes on receiving. When the barrier has ended, all messages of all ranks are being received, so that
// none can come any more. Census: a reduce_scatter tells each rank how many messages come.
//
// A rank may leave and begin the next exchange while others are still in this one. So exchanges have two tags in turn:
// the barrier or census of the next one does not end before all have left this one.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "circoll/error.hpp"
#include "circoll/mpi.hpp"
#include "exec/mpi/call/datatype.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/library/failures.hpp"
#include "exec/mpi/message/arena.hpp"
#include "exec/mpi/pending/owned_work.hpp"

namespace circoll::mpi {
namespace {

/// The memory of a census, which MPI uses while it is under way.
struct Announcements {
  std::vector<int> sent;  ///< for each rank: 1 if this rank sends to it
  int expected = 0;       ///< messages that come
};

/// The exchanges of a communicator. They have a communicator of their own, and follow one another.
class Exchanges final : public Attachment {
 public:
  static constexpr Slot slot = Slot::exchanges;

  Exchanges() = default;
  ~Exchanges() override {
    Exchanges::clear();
    if (keeps_announcements_) (void)announcements_.release();
  }

  [[nodiscard]] bool opened() const { return comm_ != MPI_COMM_NULL; }
  /// Collective. Throws the same error on all ranks.
  void open(CommState& state) {
    int none = 0;
    std::string_view why_not;
    throw_error(state.make_private(&comm_, &none, &why_not));
    if (!opened()) throw Error(ErrorCode::unsupported, std::string(why_not));
  }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] std::uint64_t take_number() { return next_++; }
  /// After a failure of MPI, exchanges end that have not begun: then later numbers are passed.
  [[nodiscard]] bool may_start(std::uint64_t number) const { return number <= ended_.load(); }
  void end() { ++ended_; }
  /// The error after which no exchange can end any more, because MPI has failed; or MPI_SUCCESS.
  [[nodiscard]] int broken() const { return broken_; }
  void set_broken(int error) { broken_ = error; }
  /// Makes the memory of a census, if there is none yet. Throws std::bad_alloc.
  void expect_census(Rank size) {
    if (announcements_ != nullptr) return;
    std::vector<int> sent(static_cast<std::size_t>(size));
    announcements_ = std::make_unique<Announcements>(Announcements{.sent = std::move(sent)});
  }
  [[nodiscard]] Announcements& announcements() { return *announcements_; }
  /// This memory is never freed, because MPI may use it.
  void keep_announcements() { keeps_announcements_ = true; }
  void clear() noexcept override {
    if (opened()) CommState::free_private(&comm_);
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::unique_ptr<Announcements> announcements_{};
  std::atomic<bool> keeps_announcements_{false};
  std::uint64_t next_ = 0;
  std::atomic<std::uint64_t> ended_{0};
  std::atomic<int> broken_{MPI_SUCCESS};
};

/// One datatype for a message, whose bytes may be more than int can count. After an error it is one for no bytes.
class Bytes {
 public:
  explicit Bytes(Count bytes) {
    if (std::in_range<int>(bytes)) {
      count_ = static_cast<int>(bytes);
    } else {
      error_ = make_contiguous(bytes, MPI_BYTE, 1, &type_);
      count_ = error_ == MPI_SUCCESS ? 1 : 0;
      if (error_ != MPI_SUCCESS) type_ = MPI_BYTE;
    }
  }
  ~Bytes() {
    if (type_ != MPI_BYTE) PMPI_Type_free(&type_);
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

/// An error of one message does not end an exchange early, because the other ranks wait for this one. A message without
/// a place is received and dropped. The exchange reports the first error at its end. Only where MPI fails it is given
/// up.
class SparseExchange final : public Work {
 public:
  SparseExchange(CommState& state, std::uint64_t number, std::vector<ExchangeMessage> sent, ExchangePlace place,
                 ExchangeBy by)
      : state_(state),
        all_(state.attached<Exchanges>()),
        number_(number),
        by_(by),
        sent_(std::move(sent)),
        memory_(std::make_unique<Memory>(Memory{.place = std::move(place)})) {
    requests_.reserve(sent_.size() + 1);
  }
  /// Takes part for a call of this rank that has no memory. It sends nothing and drops what comes.
  SparseExchange(CommState& state, std::uint64_t number, ExchangeBy by)
      : state_(state), all_(state.attached<Exchanges>()), number_(number), by_(by), error_(MPI_ERR_NO_MEM) {}

  [[nodiscard]] bool numbered() const override { return false; }
  [[nodiscard]] std::uint64_t first_number() const override { return number_; }
  [[nodiscard]] bool may_start() const override { return all_.may_start(number_); }
  /// Throws nothing.
  void start() override {
    if (const int error = all_.broken(); error != MPI_SUCCESS) return give_up(error);
    if (by_census()) std::ranges::fill(all_.announcements().sent, 0);
    for (const ExchangeMessage& one : sent_) {
      if (one.to == state_.rank()) {
        void* const to = place(one.to, one.bytes);
        if (to != nullptr && one.bytes > 0) std::memcpy(to, one.data, static_cast<std::size_t>(one.bytes));
        continue;
      }
      const Bytes bytes(one.bytes);
      MPI_Request request = MPI_REQUEST_NULL;
      int rc = bytes.error();
      if (rc == MPI_SUCCESS)
        rc = (by_census() ? PMPI_Isend : PMPI_Issend)(one.data, bytes.count(), bytes.type(), static_cast<int>(one.to),
                                                      tag(), all_.comm(), &request);
      if (rc == MPI_SUCCESS) {
        requests_.push_back(request);
        if (by_census()) all_.announcements().sent[static_cast<std::size_t>(one.to)] = 1;
      }
      note(rc);
      if (over_) return;
    }
    if (by_census()) begin_census();
  }
  [[nodiscard]] bool progress() override {
    if (!over_) receive();
    if (!over_) advance();
    return over_;
  }
  [[nodiscard]] int error() const override { return error_; }
  void fail(int error) noexcept override { give_up(error); }

 private:
  /// A consensus has all three in turn. A census begins with its messages, and so has no first one.
  enum class Phase : std::uint8_t { sending, all_ranks, receiving };
  /// Memory that MPI may use as long as there are requests.
  struct Memory {
    ExchangePlace place;
    std::vector<std::unique_ptr<std::byte[]>> dropped{};
  };

  [[nodiscard]] int tag() const { return static_cast<int>(number_ % 2); }
  [[nodiscard]] bool by_census() const { return by_ == ExchangeBy::census; }
  void begin_census() noexcept {
    Announcements& announcements = all_.announcements();
    phase_ = Phase::all_ranks;
    const int rc = PMPI_Ireduce_scatter_block(announcements.sent.data(), &announcements.expected, 1, MPI_INT, MPI_SUM,
                                              all_.comm(), &all_ranks_);
    if (rc != MPI_SUCCESS) give_up(rc);
  }
  /// True if messages may come that have not been found.
  [[nodiscard]] bool expects_more() const {
    return phase_ != Phase::receiving || (by_census() && found_ < all_.announcements().expected);
  }
  /// The error of one message.
  void note(int error) noexcept {
    if (error_ == MPI_SUCCESS) error_ = error;
    if (library::is_failure(error)) give_up(error);
  }
  [[nodiscard]] bool all_ended(std::vector<MPI_Request>& requests) noexcept {
    while (!over_ && !requests.empty()) {
      int ended = 0;
      const int rc = PMPI_Test(&requests.back(), &ended, MPI_STATUS_IGNORE);
      if (rc == MPI_SUCCESS && ended == 0) return false;
      requests.pop_back();
      note(rc);
    }
    return !over_;
  }
  void advance() noexcept {
    int ended = 0, rc = MPI_SUCCESS;
    switch (phase_) {
      case Phase::sending:
        if (!all_ended(requests_)) return;
        rc = PMPI_Ibarrier(all_.comm(), &all_ranks_);
        phase_ = Phase::all_ranks;
        break;
      case Phase::all_ranks:
        rc = PMPI_Test(&all_ranks_, &ended, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS && ended != 0) phase_ = Phase::receiving;
        break;
      case Phase::receiving:
        if (!expects_more() && all_ended(requests_) && all_ended(receives_)) end();
    }
    if (rc != MPI_SUCCESS) give_up(rc);
  }
  /// Receives what has come. The messages of a consensus have come when its barrier has ended.
  void receive() noexcept {
    while (expects_more()) {
      // A message that is found must be received. So its request has room first. If not, the next poll tries again.
      if (!reserve()) return note(MPI_ERR_NO_MEM);
      int found = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      MPI_Count size = 0;
      const int rc = PMPI_Improbe(MPI_ANY_SOURCE, tag(), all_.comm(), &found, &message, &status);
      if (rc != MPI_SUCCESS) return give_up(rc);
      if (found == 0) return;
      ++found_;
      note(PMPI_Get_elements_x(&status, MPI_BYTE, &size));
      void* to = place(status.MPI_SOURCE, size);
      if (to == nullptr) to = drop(size);
      // Without any memory MPI drops all bytes of the message, which is an error, too.
      const Bytes bytes(to == nullptr ? 0 : size);
      note(bytes.error());
      MPI_Request request = MPI_REQUEST_NULL;
      const int failed = PMPI_Imrecv(to, bytes.count(), bytes.type(), &message, &request);
      if (failed == MPI_SUCCESS) receives_.push_back(request);
      note(failed);
      if (over_) return;
    }
  }
  [[nodiscard]] bool reserve() noexcept {
    try {
      if (receives_.size() == receives_.capacity()) receives_.reserve(2 * receives_.size() + 4);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  /// The caller's memory for a message. nullptr, and an error, if there is none.
  [[nodiscard]] void* place(Rank from, Count bytes) noexcept {
    int error = MPI_ERR_NO_MEM;
    try {
      if (memory_ != nullptr && memory_->place != nullptr) {
        if (void* const to = memory_->place(from, bytes)) return to;
        error = MPI_ERR_TRUNCATE;
      }
    } catch (const std::bad_alloc&) {
      error = MPI_ERR_NO_MEM;
    } catch (...) {
      error = MPI_ERR_INTERN;
    }
    note(error);
    return nullptr;
  }
  /// Memory for a message that the caller does not get. nullptr if there is none.
  [[nodiscard]] void* drop(Count bytes) noexcept {
    if (bytes == 0) return nullptr;
    try {
      if (memory_ == nullptr) memory_ = std::make_unique<Memory>();
      auto& dropped = memory_->dropped;
      dropped.emplace_back();
      dropped.back().reset(new std::byte[static_cast<std::size_t>(bytes)]);
      return dropped.back().get();
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  /// MPI has failed. Requests under way keep their memory.
  void give_up(int error) noexcept {
    if (over_) return;
    error_ = error;
    if (library::is_failure(error)) state_.fail(error);
    all_.set_broken(error);
    if (by_census() && phase_ == Phase::all_ranks) all_.keep_announcements();
    try {
      std::vector<MPI_Request> left = std::move(requests_);
      left.insert(left.end(), receives_.begin(), receives_.end());
      if (all_ranks_ != MPI_REQUEST_NULL) left.push_back(all_ranks_);
      const auto free = [](void* memory) noexcept { delete static_cast<Memory*>(memory); };
      if (!left.empty()) abandoned().add(std::move(left), Abandoned::Held{memory_.release(), free});
    } catch (const std::bad_alloc&) {
      (void)memory_.release();  // lost, rather than freed while MPI uses it
    }
    end();
  }
  void end() noexcept {
    over_ = true;
    all_.end();
  }

  CommState& state_;
  Exchanges& all_;
  std::uint64_t number_;
  ExchangeBy by_;
  std::vector<ExchangeMessage> sent_{};
  std::unique_ptr<Memory> memory_{};
  std::vector<MPI_Request> requests_{}, receives_{};
  MPI_Request all_ranks_ = MPI_REQUEST_NULL;  ///< the barrier, or the census
  int found_ = 0;                             ///< messages
  Phase phase_ = Phase::sending;
  int error_ = MPI_SUCCESS;
  bool over_ = false;
};

class PendingExchange : public PendingWork {
 public:
  PendingExchange(CommState& state, std::uint64_t number, std::vector<ExchangeMessage> sent, ExchangePlace place,
                  ExchangeBy by, const Observer& observer)
      : PendingWork(state, observer), operation_(state, number, std::move(sent), std::move(place), by) {}

  [[nodiscard]] SparseExchange& operation() override { return operation_; }

 protected:
  void describe(Ended& /*ended*/) noexcept override {}

 private:
  SparseExchange operation_;
};

/// The other ranks are in an exchange that this rank has no memory to begin. It takes part with nothing, so that they
/// end, and so that the next exchange is the same one on all ranks.
void take_part_with_nothing(CommState& state, std::uint64_t number, ExchangeBy by) noexcept {
  SparseExchange nothing(state, number, by);
  const auto poll = [&] {
    if (const int error = state.find_failure(); error != MPI_SUCCESS) nothing.fail(error);
    if (progress().poll() == 0) sched_yield();
  };
  while (!nothing.may_start()) poll();
  nothing.start();
  while (!nothing.progress()) poll();
}

void require_ranks(std::vector<ExchangeMessage>& sent, Rank size) {
  std::ranges::sort(sent, {}, &ExchangeMessage::to);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const Rank to = sent[i].to;
    if (to < 0 || to >= size)
      throw Error(ErrorCode::invalid_argument,
                  "data is for rank " + std::to_string(to) + ", but ranks are 0 to " + std::to_string(size - 1));
    if (i > 0 && sent[i - 1].to == to)
      throw Error(ErrorCode::invalid_argument, "two messages of an exchange are for rank " + std::to_string(to));
  }
}

}  // namespace

Request begin_exchange(std::vector<ExchangeMessage> sent, ExchangePlace place, MPI_Comm comm, ExchangeBy by) {
  int inter = 0, error = MPI_SUCCESS;
  throw_error(PMPI_Comm_test_inter(comm, &inter));
  require(inter == 0, "an exchange is among the ranks of one group, and the communicator has two");
  require_ranks(sent, size_of(comm));
  CommState* const state = CommState::of(comm, &error);
  throw_error(error);
  if (state == nullptr) throw Error(ErrorCode::transport, "MPI_Finalize has begun, or the communicator is being freed");
  throw_error(state->find_failure());
  Exchanges& all = state->attached<Exchanges>();
  if (!all.opened()) {
    finish_owned_calls(comm);  // the ranks wait for one another
    all.open(*state);
  }
  throw_error(all.broken());
  if (by == ExchangeBy::census) all.expect_census(state->size());
  CommState::bury_released();
  const std::uint64_t number = all.take_number();
  std::unique_ptr<Owned<PendingExchange>> owned;
  try {
    owned = std::make_unique<Owned<PendingExchange>>(*state, number, std::move(sent), std::move(place), by);
    owned->start();
  } catch (...) {
    take_part_with_nothing(*state, number, by);
    throw;
  }
  return request_of({.owned = std::move(owned)}, RequestKind::nonblocking);
}

}  // namespace circoll::mpi
