// The ranks of one communicator compare their calls up a binomial tree and down again, by messages of our own.
//
// A rank that is outside of MPI keeps the others waiting, as it would in the call itself. Where it is in MPI the engine
// passes messages on (Check::poll).
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/check_message.hpp"
#include "interpose/check_record.hpp"

namespace circoll::interpose {

/// About the call `number` on the communicator `comm`, by the rank `from` of it.
struct CheckPacket {
  enum class Kind : std::uint64_t {
    up,       ///< what a rank and those below it in the tree have found
    down,     ///< what all ranks have found
    refused,  ///< the sender takes no part in this call and all later ones
    told,     ///< the message about a mismatch has been written
    call,     ///< the sender's call, described; follows the packet
  };
  Kind kind = Kind::up;
  std::uint64_t comm = 0;
  std::uint64_t number = 0;
  std::int64_t from = 0;
  std::uint64_t most = 0;     ///< the greatest hash
  std::uint64_t least = 0;    ///< the greatest complement of a hash
  std::uint64_t balance = 0;  ///< the sum
};

/// Sends and receives packets on a private communicator of all ranks of MPI_COMM_WORLD. Used by one thread at a time;
/// never waits.
class CheckMessages {
 public:
  /// `comm` returns errors, and is freed by close().
  explicit CheckMessages(MPI_Comm comm) : comm_(comm) {}

  void send(int world_rank, const CheckPacket& packet, std::string_view rest = {});
  /// Receives packets that have arrived, up to a number of them.
  void receive(const std::function<void(const CheckPacket& packet, std::string_view rest)>& consume);
  /// True if everything has been sent.
  [[nodiscard]] bool all_sent();
  /// After all ranks have received all that was sent to them.
  void close();

 private:
  struct Sent {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  MPI_Comm comm_;
  std::list<Sent> sent_;  ///< not complete
  std::string received_;
};

/// One call on a communicator.
struct CheckedCall {
  std::uint64_t number = 0;
  std::optional<CheckRecord> record{};  ///< once this rank has made it
  bool waited_for = false;              ///< the caller waits for it, and looks at `over`
  int arrived = 0;                      ///< ranks below that have said what they found
  std::uint64_t most = 0;
  std::uint64_t least = 0;
  std::uint64_t balance = 0;
  std::vector<DescribedCall> described{};  ///< at rank 0, of all ranks
  std::size_t descriptions = 0;
  bool differs = false;
  std::atomic<bool> over{false};
};

/// State that all communicators share. Used by one thread at a time, but for atomic members.
struct CheckShared {
  CheckMessages messages;
  std::atomic<std::size_t> outstanding{0};  ///< calls that this rank has made, and that are not over
  std::vector<MPI_Comm> failed{};           ///< whose error handlers must be called: nobody waits for the call
};

/// A communicator with the calls on it that have not been compared yet. Used by one thread at a time.
class CheckedComm {
 public:
  static constexpr std::uint64_t world_id = 0;

  /// `world_ranks` of its ranks in MPI_COMM_WORLD. It has no number yet.
  CheckedComm(MPI_Comm comm, CheckShared& shared, std::vector<Rank> world_ranks);

  /// The number by which all its ranks name it, once they have agreed on it.
  [[nodiscard]] const std::optional<std::uint64_t>& id() const { return id_; }
  /// Gives it the number. Calls made before are sent now.
  void open(std::uint64_t id);
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] Rank size() const { return static_cast<Rank>(world_ranks_.size()); }
  /// Whose error handler is to be called: MPI_COMM_WORLD's if it has been freed.
  [[nodiscard]] MPI_Comm handle() const { return handle_; }
  /// The program has freed it. From any thread; all else needs the turn.
  void freed(bool revoked) {
    revoked_ = revoked;
    handle_ = MPI_COMM_WORLD;
  }
  /// True if it was revoked when it was freed.
  [[nodiscard]] bool is_revoked() const { return revoked_; }
  [[nodiscard]] bool is_freed() const { return handle_ == MPI_COMM_WORLD && id_ != world_id; }
  [[nodiscard]] DescribedComm described() const;
  /// True if calls are not compared any more, because one did not match, or a rank has refused one.
  [[nodiscard]] bool ended() const { return next_ >= end_; }

  /// This rank calls.
  std::shared_ptr<CheckedCall> begin(CheckRecord record, bool waited_for);
  /// This rank makes a call that the MPI library will refuse. Ranks that wait for it go on, without a comparison.
  void refuse() { refuse_from(next_); }
  /// Ends the comparison of calls. The communicator is revoked or a process of it has failed, and all ranks learn that.
  void give_up() { end_at(1); }
  void take(const CheckPacket& packet, std::string_view rest);

  /// Calls that this rank has made, and that are not over.
  [[nodiscard]] std::size_t outstanding() const { return outstanding_; }

 private:
  [[nodiscard]] int ranks_below() const;
  template <typename Visit>
  void visit_below(Visit&& visit) const;
  [[nodiscard]] std::shared_ptr<CheckedCall> call(std::uint64_t number);
  void send(Rank to, CheckPacket::Kind kind, const CheckedCall& call, std::string_view rest = {});
  void step(CheckedCall& call);
  void pass_on(CheckedCall& call);
  void describe(CheckedCall& call);
  void add_description(CheckedCall& call, Rank from, DescribedCall described);
  void refuse_from(std::uint64_t number);
  void end_at(std::uint64_t number);
  void finish(CheckedCall& call, bool differs);

  std::optional<std::uint64_t> id_;
  std::uint64_t refused_ = 0;  ///< the first call that was refused before it had its number; 0: none
  std::atomic<MPI_Comm> handle_;
  std::atomic<bool> revoked_{false};
  CheckShared& shared_;
  std::vector<Rank> world_ranks_;
  Rank rank_ = 0;
  std::uint64_t next_ = 1;
  std::uint64_t end_ = std::numeric_limits<std::uint64_t>::max();
  std::map<std::uint64_t, std::shared_ptr<CheckedCall>> calls_;
  std::size_t outstanding_ = 0;
};

}  // namespace circoll::interpose
