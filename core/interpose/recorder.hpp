// Records the last calls of this rank where `circoll hang` finds them (CIRCOLL_RECORD, record/layout.hpp).
//
// The path of a call (serve.cpp) holds a RecordedCall, which does nothing without a recorder. State makes the recorder
// where MPI_Init ends.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "exec/mpi/call/neighbor_call.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "interpose/event.hpp"
#include "record/writer.hpp"

namespace circoll::interpose {

class HangWatch;

/// A handle as a number. It is a number or a pointer.
template <typename Handle>
[[nodiscard]] std::uint64_t number_of(Handle handle) noexcept {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uintptr_t>(handle);
  } else {
    return static_cast<std::uint64_t>(handle);
  }
}

class Recorder {
 public:
  /// The setting of CIRCOLL_RECORD: the directory of records. Empty: nothing is recorded.
  [[nodiscard]] static std::string directory_setting();

  /// Begins a record of this rank of MPI_COMM_WORLD. nullptr with a sentence in `*why_not` if that fails. `job` is the
  /// same on all ranks.
  [[nodiscard]] static std::unique_ptr<Recorder> make(const std::string& directory, std::uint64_t job,
                                                      std::string* why_not);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// A call begins. Returns its number in the record. Throws nothing: what cannot be found out is left out.
  [[nodiscard]] std::uint64_t begin(const mpi::Call& call, Mode mode) noexcept;
  [[nodiscard]] std::uint64_t begin(const mpi::NeighborCall& call, Mode mode) noexcept;
  /// It is over. `served` is nullptr for a native call.
  void end(std::uint64_t sequence, const Selection* served, int error) noexcept;
  /// A native call that does not block has begun. Nobody sees its end.
  void leave(std::uint64_t sequence) noexcept;
  /// The call does not say how it has ended: an error of the drop-in.
  void fail(std::uint64_t sequence) noexcept { writer_->end(sequence, record::unknown_name, record::failed_call); }

  /// The call with this number has failed here. If it was for its arguments, the other ranks may have failed, too, or
  /// made it: it takes no number on its communicator, which a correct call takes next.
  void failed(MPI_Comm comm, int error) noexcept;

  /// The program has made a communicator. Its ranks count the communicators that they make alike, so that all give it
  /// the same id.
  void made(MPI_Comm comm) noexcept;
  /// A call on a communicator has succeeded. One that was made unseen is known from now on. Nothing is asked before
  /// that, since the handle may be an erroneous one.
  void meet(MPI_Comm comm) noexcept {
    const KnownComm* const last = last_.load(std::memory_order_acquire);
    if (last == nullptr || last->handle.load(std::memory_order_relaxed) != comm) [[unlikely]]
      meet_slowly(comm);
  }
  /// A persistent request was made by the call `sequence`.
  void made(MPI_Request request, std::uint64_t sequence, bool served) noexcept;
  /// MPI_Start of a request; begins an entry if it is a collective's.
  void started(MPI_Request request) noexcept;
  /// A request is freed: its handle may become that of another one.
  void freed(MPI_Request request) noexcept;
  /// The operation of a served request has ended. `maker`: the number of the call that made it (Observer::recorded).
  void ended(std::uint64_t maker, bool persistent, const Selection* served, int error) noexcept;

  /// MPI_Finalize begins, and has returned.
  void finalizing() noexcept;
  void finalized() noexcept;

 private:
  /// Facts about a datatype and an operator, so that a repeated call asks for none.
  struct Memo {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    Count type_bytes = 0;
    std::uint8_t element = record::unknown_type;
    std::uint8_t op_code = record::unknown_op;
    bool known = false;
  };
  static constexpr std::size_t memos = 4;

  /// A communicator of the program. Used by one thread at a time, as MPI demands it. Never deleted, but used again.
  struct KnownComm {
    std::atomic<MPI_Comm> handle{MPI_COMM_NULL};
    std::uint64_t id = 0;
    std::uint64_t calls = 0;
    std::size_t place = 0;
    int rank = 0;
    bool inter = false;
    bool by_use = false;
    std::array<Memo, memos> memo{};
  };
  /// A persistent request.
  struct KnownRequest {
    record::Begun begun{};
    std::uint64_t init = 0;   ///< the call that made it
    std::uint64_t start = 0;  ///< the last MPI_Start
    bool served = false;
  };

  explicit Recorder(std::unique_ptr<record::Writer> writer);

  [[nodiscard]] KnownComm* find(MPI_Comm comm) noexcept {
    KnownComm* const last = last_.load(std::memory_order_acquire);
    // The handle of one that was freed is null.
    if (last != nullptr && last->handle.load(std::memory_order_relaxed) == comm && comm != MPI_COMM_NULL) return last;
    return find_slowly(comm);
  }
  [[nodiscard]] KnownComm* find_slowly(MPI_Comm comm) noexcept;
  void meet_slowly(MPI_Comm comm) noexcept;
  KnownComm* add(MPI_Comm comm, bool by_use);
  void describe(KnownComm& comm, MPI_Comm handle);
  void describe_again(KnownComm& comm, MPI_Comm handle) noexcept;
  /// Counts a call on a communicator. nullptr if nothing is known of that.
  [[nodiscard]] KnownComm* enter(MPI_Comm comm) noexcept {
    KnownComm* const known = find(comm);
    if (known == nullptr) [[unlikely]]
      return nullptr;
    ++known->calls;
    // Its description may have given way to that of another one, and the program names it after it has made it.
    if (owners_[known->place].load(std::memory_order_relaxed) != known || known->calls == 1) [[unlikely]]
      describe_again(*known, comm);
    writer_->count(known->place, known->calls);
    return known;
  }
  /// Begins a call of which the amount is not compared. The other fields are filled in here.
  [[nodiscard]] std::uint64_t begin_without_amount(const KnownComm* known, record::Begun begun) noexcept;
  [[nodiscard]] static Memo read(MPI_Datatype type, MPI_Op op);
  [[nodiscard]] static const Memo& read_into(Memo& memo, MPI_Datatype type, MPI_Op op) noexcept;
  [[nodiscard]] std::uint16_t name_of(const Selection& served) noexcept;
  static int forget(MPI_Comm comm, int keyval, void* value, void* extra);
  const Memo no_type_{.type_bytes = -1};
  std::unique_ptr<record::Writer> writer_;
  std::atomic<KnownComm*> last_{nullptr};
  std::array<std::atomic<KnownComm*>, record::comm_places> owners_{};  ///< of the places for descriptions
  std::array<std::atomic<std::uint64_t>, 16>
      names_{};       ///< an algorithm's address and the place of its name in one word
  std::mutex mutex_;  ///< of all that follows
  std::deque<KnownComm> comms_;
  std::unordered_map<std::uint64_t, int> made_of_;  ///< communicators by a hash of their members
  std::size_t next_place_ = 1;
  int keyval_ = MPI_KEYVAL_INVALID;
  std::unordered_map<std::uint64_t, KnownRequest> requests_;  ///< by handle
  std::unordered_map<std::uint64_t, std::uint64_t> handles_;  ///< by the call that made a request
  std::unique_ptr<HangWatch> watch_;                          ///< of CIRCOLL_HANG_AFTER
};

/// The entry of one call in the record, from its construction on.
class RecordedCall {
 public:
  template <typename AnyCall>
  RecordedCall(Recorder* recorder, const AnyCall& call, Mode mode) noexcept : recorder_(recorder) {
    if (recorder == nullptr) [[likely]]
      return;
    comm_ = call.comm;
    sequence_ = recorder->begin(call, mode);
  }
  ~RecordedCall() {
    if (recorder_ != nullptr && !left_) [[unlikely]]
      recorder_->fail(sequence_);
  }
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

  /// 0 without a recorder.
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }
  /// The call has made a persistent request.
  void made(MPI_Request request, bool served) noexcept {
    if (recorder_ != nullptr) [[unlikely]]
      recorder_->made(request, sequence_, served);
  }
  /// The entry point returns.
  void end(Mode mode, const Selection* served, int error) noexcept {
    if (recorder_ == nullptr) [[likely]]
      return;
    left_ = true;
    if (error == MPI_SUCCESS) {
      recorder_->meet(comm_);
    } else {
      recorder_->failed(comm_, error);
    }
    if (mode == Mode::blocking || mode == Mode::persistent || error != MPI_SUCCESS) {
      recorder_->end(sequence_, served, error);
    } else if (served == nullptr) {
      recorder_->leave(sequence_);
    }
  }

 private:
  Recorder* recorder_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::uint64_t sequence_ = 0;
  bool left_ = false;
};

}  // namespace circoll::interpose
