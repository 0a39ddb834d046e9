// State that the executor keeps with a user's communicator.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"
#include "exec/mpi/comm/carrier.hpp"
#include "exec/mpi/comm/made_calls.hpp"
#include "exec/mpi/comm/route.hpp"
#include "exec/mpi/library/failures.hpp"
#include "facts/spin_lock.hpp"
#include "schedule/relabelling.hpp"

namespace circoll::mpi {

/// The memory that another room keeps with a communicator. It goes with the communicator's state.
class Attachment {
 public:
  /// The places for attachments. A class that is attached says which is its own, as `slot`.
  enum class Slot : std::uint8_t { calls, operations, learned, guard, neighborhood, exchanges, equal_blocks, count };

  Attachment() = default;
  virtual ~Attachment() = default;
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;
  /// Gives back what belongs to MPI, at MPI_Finalize or when the communicator goes.
  virtual void clear() noexcept = 0;
};

/// The communicator that this thread is freeing, for as long as the object lives. Callbacks of its attributes may use
/// it, but nothing can be attached to it any more: MPICH would find the place of an attribute that is gone.
class Freeing {
 public:
  explicit Freeing(MPI_Comm comm);
  ~Freeing();
  Freeing(const Freeing&) = delete;
  Freeing& operator=(const Freeing&) = delete;

  [[nodiscard]] static bool is(MPI_Comm comm);

 private:
  MPI_Comm before_;
};

/// Attached to the user's communicator as an attribute at its first call, and freed with it, or at MPI_Finalize. A
/// communicator that runs no served collective costs nothing. Like the communicator it is used by one thread at a time,
/// and by the one that advances nonblocking operations (progress.hpp). Operations that are under way keep it when the
/// communicator is freed.
class CommState {
 public:
  /// The state of a communicator; made if there is none. Local. nullptr with an MPI error code if that failed, or
  /// without one while MPI_Finalize runs, or while the communicator is being freed.
  [[nodiscard]] static CommState* of(MPI_Comm comm, int* error);

  /// The same for a call that need not be served. The state may know rank and size only, which costs little, until
  /// pays() says that this call is one to serve.
  [[nodiscard]] static CommState* of_call(MPI_Comm comm, int* error);

  /// True if Circoll should serve a call. The first blocking calls of each collective on a communicator other than
  /// MPI_COMM_WORLD are native (Globals::serve_after), because programs make thousands of communicators and use each a
  /// few times. Nonblocking and persistent calls are served at once (docs/adr/0025). The first call that pays looks at
  /// the ranks' places, and may return an MPI error code in `*error`.
  [[nodiscard]] bool pays(Collective collective, bool has_request, int* error);
  /// Counts a native call for pays(). All ranks count the same calls: those that succeeded, because a call with wrong
  /// arguments may be made by one rank alone.
  void count_native(Collective collective) { --left_native_[static_cast<std::size_t>(collective)]; }

  /// The state of a communicator that this thread has used lately. Otherwise nullptr, without asking MPI.
  [[nodiscard]] static CommState* last_used(MPI_Comm comm);

  ~CommState();
  CommState(const CommState&) = delete;
  CommState& operator=(const CommState&) = delete;

  /// False for intercommunicators, which have no carrier, and once MPI_Finalize has begun. Calls are native then.
  [[nodiscard]] bool usable() const { return usable_; }
  /// The same when a call begins. It is also false once the program has revoked the communicator.
  [[nodiscard]] bool still_usable() {
    if (usable_ && library::is_revoked(user_comm_)) [[unlikely]]
      (void)find_failure();
    return usable_;
  }
  /// The error of calls on a communicator that is revoked, or of which a process has failed. Otherwise MPI_SUCCESS. It
  /// asks MPI.
  [[nodiscard]] int find_failure();
  /// The same as far as it is known.
  [[nodiscard]] int failure() const { return library::tells_failures ? failure_.load() : MPI_SUCCESS; }
  /// Leaves the communicator's calls to the MPI library, which refuses them, after such an error.
  void fail(int error);
  /// Why not; the same on all ranks.
  [[nodiscard]] std::string_view unusable_reason() const { return unusable_reason_; }
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] Rank size() const { return size_; }

  // These functions give what a served call needs, in this order. An erroneous call asks for nothing. So the other
  // ranks' call is the first to ask.

  /// True if carrier and placement are known without asking the other ranks.
  [[nodiscard]] bool has_carrier() const { return size_ == 1 || carrier_ != nullptr; }
  /// Makes a carrier of the communicator's own ranks, where MPI_COMM_WORLD shares none. Collective. Afterwards usable()
  /// says whether there is one. Returns an MPI error code.
  [[nodiscard]] int make_carrier();
  /// Makes a private communicator of its ranks, on all of them or on none: MPI_COMM_NULL and a reason then. Collective.
  /// `answer`: this rank's, and then the least of all ranks. Returns an MPI error code.
  [[nodiscard]] int make_private(MPI_Comm* made, int* answer, std::string_view* why_not) const;
  static void free_private(MPI_Comm* made) noexcept;
  /// True if calls may have memory of devices, so that the ranks must agree about each (docs/adr/0021). After
  /// has_carrier(); the same on all ranks.
  [[nodiscard]] bool expects_devices() const { return expects_devices_; }
  /// The placement of the ranks. After has_carrier().
  [[nodiscard]] const Placement& placement() const { return placement_; }
  /// True if some of the carrier's ranks are reached by memory.
  [[nodiscard]] bool has_node_peers() const { return carrier_ != nullptr && carrier_->node_peers() != nullptr; }

  /// Agrees with the other ranks on the tags of the communicator, once, in the first call that is served. Waits for
  /// them; afterwards usable() says whether there are tags. Returns an MPI error code.
  [[nodiscard]] int open();
  /// True if a nonblocking call can be served, because it needs no agreement, or one that cannot fail. The same on
  /// all ranks.
  [[nodiscard]] bool serves_nonblocking() const;
  /// The same as a part of the first nonblocking operation. The agreement begins in that call, so that all ranks begin
  /// it in one order.
  [[nodiscard]] int begin_open();
  /// True if it is over; asks MPI. Thread-safe; waits for no other thread.
  [[nodiscard]] bool opened();

  /// The way of the messages of a blocking call. Such calls come one after another at each rank, and messages of one
  /// tag arrive in the order of sending. So the calls of one collective always have the same tags.
  [[nodiscard]] Route route(Collective collective) const;
  /// Numbers nonblocking operations in the order in which the program calls, which is the same on all ranks. Returns
  /// the first of `units` numbers.
  [[nodiscard]] std::uint64_t take_numbers(int units);
  [[nodiscard]] Route route(std::uint64_t number, int units) const;
  /// True if an operation may start. Tags come again after a few dozen operations. An operation may start once no
  /// unfinished one has its tags. Then no other rank mixes them up either. Asks MPI while opened() is false.
  /// Thread-safe.
  [[nodiscard]] bool may_start(std::uint64_t number, int units);
  /// A nonblocking operation with this number is under way; is over. Thread-safe.
  void add_unfinished(std::uint64_t number);
  void remove_unfinished(std::uint64_t number);

  /// Tags of a persistent request, so that ranks may start it in any order. Collective; waits for the other ranks.
  /// Returns an MPI error code; range->agreed() says whether there are tags.
  [[nodiscard]] int reserve(int units, TagRange* range);
  [[nodiscard]] Route route(const TagRange& range, int units) const;

  /// Keeps the tags from other communicators after a refused call, or an execution that was given up. Other ranks may
  /// have made the call and left messages for it. No other communicator may receive them.
  void retire_tags();
  /// A call of this rank has been refused, or has failed before it began. Others may have made it.
  void missed_call() {
    retire_tags();
    made_calls_.lose_count();
  }
  /// The calls that were served, for ranks that wait for this one in vain.
  [[nodiscard]] MadeCalls& made_calls() { return made_calls_; }
  [[nodiscard]] const MadeCalls& made_calls() const { return made_calls_; }
  /// The user's communicator, or MPI_COMM_WORLD if that has been freed.
  [[nodiscard]] MPI_Comm user_comm() const { return user_comm_; }

  /// The attachment of a room. If there is none, attached() makes it, and find_attached() returns nullptr. Only the
  /// thread that uses the communicator may make it.
  template <typename T>
  [[nodiscard]] T& attached() {
    std::unique_ptr<Attachment>& place = attachments_[static_cast<std::size_t>(T::slot)];
    if (place == nullptr) place = std::make_unique<T>();
    return static_cast<T&>(*place);
  }
  template <typename T>
  [[nodiscard]] T* find_attached() const {
    return static_cast<T*>(attachments_[static_cast<std::size_t>(T::slot)].get());
  }

  /// True if its messages go over the carrier of MPI_COMM_WORLD, whose ranks everybody knows.
  [[nodiscard]] bool is_in_world() const { return carrier_ != nullptr && !owns_carrier_; }
  /// The rank in MPI_COMM_WORLD of a rank of this communicator, if it is in it.
  [[nodiscard]] int world_rank(Rank rank) const { return ranks_(rank); }
  /// Has blocking calls interrupted. The object lives as long as this one.
  void let_interrupt(const Interruption* interruption) { interruption_ = interruption; }
  [[nodiscard]] bool can_be_interrupted() const { return interruption_ != nullptr; }

  /// A state for some ranks of this one, which is in the world, without a communicator of MPI's. It takes tags for
  /// messages to this rank, and tells them to the others by offered_tag(). settle_among() completes it.
  [[nodiscard]] std::unique_ptr<CommState> offer() const;
  [[nodiscard]] int offered_tag() const { return range_.own(); }
  /// `members` are ranks of `all`, in ascending order, this one among them, `tags` what they have offered.
  void settle_among(const CommState& all, const std::vector<int>& members, std::vector<int> tags);
  /// The way of the messages of a schedule for the ranks of `all` with tags that their ranks have offered.
  [[nodiscard]] static Route route_in(const CommState& all, const TagRange& range);
  /// Takes tags that nobody else uses. -1 if there are none.
  void take_tags(TagRange* range) const { range->take(carrier_, TagLayout::context_units); }

  /// The communicator of messages that complete requests: self_communicator(), or one that can be revoked.
  [[nodiscard]] MPI_Comm completions();

  /// Calls the error handler of the user's communicator, or of MPI_COMM_WORLD if that has been freed.
  void call_errhandler(int error) const { PMPI_Comm_call_errhandler(user_comm_, error); }

  /// Keeps the object alive until release(), although the communicator is freed. Thread-safe.
  void retain() { ++users_; }
  void release();
  /// Deletes what was released for the last time at a moment when MPI could not be called.
  static void bury_released();

  /// Gives back everything that belongs to MPI; the object itself stays. Called at MPI_Finalize.
  void close();

 private:
  enum class Tags : std::uint8_t { none, agreeing, open };

  CommState() = default;
  /// Asks MPI for kind, size and rank, which costs little.
  [[nodiscard]] int look_at(MPI_Comm comm);
  /// Where its ranks are in MPI_COMM_WORLD, and on which nodes. Once.
  [[nodiscard]] int find_places();
  /// This object where ranks that wait in vain can ask one another. A wrapper that interrupts calls knows better.
  [[nodiscard]] const CommState* stalls_here() const {
    return is_in_world() && interruption_ == nullptr ? this : nullptr;
  }
  /// The way of messages that have so many tags, from the first one of a range on.
  [[nodiscard]] Route route_of(const TagRange& range, int tags) const;
  void settle();
  void refuse(std::string_view reason);
  static int forget(MPI_Comm comm, int keyval, void* value, void* extra);
  static int finalize(MPI_Comm comm, int keyval, void* value, void* extra);
  static int create_keyvals();

  std::atomic<bool> usable_{false};
  bool owns_carrier_ = false;
  bool expects_devices_ = false;
  bool has_places_ = false;
  std::array<std::uint16_t, all_collectives.size()> left_native_{};  ///< calls of each before one pays
  std::atomic<Tags> tags_{Tags::none};
  Rank rank_ = 0;
  Rank size_ = 1;
  MPI_Comm user_comm_ = MPI_COMM_WORLD;
  std::atomic<int> failure_{MPI_SUCCESS};
  std::atomic<bool> asking_{false};                   ///< a thread asks MPI for failures, or the program has freed it
  std::atomic<MPI_Comm> completions_{MPI_COMM_NULL};  ///< its own, if it has one
  std::string_view unusable_reason_ = "an intercommunicator";
  std::shared_ptr<Carrier> carrier_;
  RankMap ranks_;  ///< in the carrier
  TagRange range_;
  Placement placement_{};
  const Interruption* interruption_ = nullptr;
  MadeCalls made_calls_;
  std::uint64_t next_number_ = 0;
  SpinLock opening_lock_;                  // of the agreement on tags
  SpinLock unfinished_lock_;               // of the next, which seldom grows
  std::vector<std::uint64_t> unfinished_;  // ascending
  std::atomic<std::size_t> unfinished_count_{0};
  std::atomic<int> users_{1};  // the attribute, and operations
  std::array<std::unique_ptr<Attachment>, static_cast<std::size_t>(Attachment::Slot::count)> attachments_;
  CommState* next_released_ = nullptr;  ///< a list that needs no memory, as releasing must not fail
  std::list<CommState*>::iterator position_{};
};

}  // namespace circoll::mpi
