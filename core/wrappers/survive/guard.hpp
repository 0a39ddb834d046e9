// The guard of a process: it watches the other processes, and knows the communicators whose calls survive failures.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exec/mpi/comm/communicator.hpp"
#include "wrappers/survive/watch/ward.hpp"

namespace circoll::mpi {

/// The treatment of a failure.
enum class FaultMode : std::uint8_t {
  report,  ///< a call that it hits returns an error, on all survivors
  finish,  ///< survivors end the call from what they hold, or make it again
};

/// Counts of what became of calls that failures hit.
struct FaultCounts {
  std::uint64_t committed = 0;  ///< every result was whole already
  std::uint64_t full = 0;       ///< repaired, with the contributions of all
  std::uint64_t surv = 0;       ///< repaired, with those of the survivors
  std::uint64_t restarted = 0;  ///< made again by the survivors
  std::uint64_t refused = 0;    ///< an error
  double longest_s = 0;         ///< from the news of a failure to the result
};

/// "1, 2, 5"
[[nodiscard]] std::string listed(const std::vector<int>& ranks);

/// The ranks in MPI_COMM_WORLD of a group, or of a communicator, both groups of an intercommunicator.
[[nodiscard]] std::vector<int> members_of_group(MPI_Group group);
[[nodiscard]] std::vector<int> members_of(MPI_Comm comm);

/// Part of the executor's global state (HACKING.md).
class Guard {
 public:
  /// The guard of this process; nullptr if failures end the job, as without it.
  [[nodiscard]] static Guard* known() { return instance_.load(std::memory_order_acquire); }
  /// Makes it. Collective over MPI_COMM_WORLD, when nothing else is under way, after share_world(). Returns why there
  /// is none, alike on all ranks; empty if there is one.
  [[nodiscard]] static std::string begin(FaultMode mode);

  [[nodiscard]] FaultMode mode() const { return mode_; }
  [[nodiscard]] watch::Mesh& mesh() { return mesh_; }
  /// MPI's error code of a call that a failure has hit.
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] int rank() const { return rank_; }

  /// A number for a communicator, which no process of the job has given to any other.
  [[nodiscard]] std::uint64_t new_number();
  void add(const std::shared_ptr<watch::Ward>& ward);
  /// Closes a ward, and keeps it for as long as others may ask.
  void close(const std::shared_ptr<watch::Ward>& ward);

  void count(const std::function<void(FaultCounts&)>& change);
  [[nodiscard]] FaultCounts counts() const;
  /// The processes of MPI_COMM_WORLD that have failed.
  [[nodiscard]] std::vector<int> failed() const;

  /// True if a process of a communicator is known to have failed. Quick while none has.
  [[nodiscard]] bool hits(const CommState& state) const;

  /// The time in which a thread is inside of something that never ends if one of some processes fails. If one does,
  /// the job is ended some time later, with a message.
  class Unguarded {
   public:
    /// `what` is a literal. A thread that is still inside so long after a failure will not come out.
    Unguarded(Guard& guard, std::vector<int> members, const char* what,
              std::chrono::seconds patience = std::chrono::seconds(3));
    ~Unguarded();
    Unguarded(const Unguarded&) = delete;
    Unguarded& operator=(const Unguarded&) = delete;

   private:
    friend class Guard;
    Guard& guard_;
    const char* what_;
    std::vector<int> members_;  ///< in MPI_COMM_WORLD
    std::chrono::seconds patience_;
    std::optional<std::chrono::steady_clock::time_point> hit_{};
  };

 private:
  Guard(FaultMode mode, int rank, int size);
  void drop_if_closed(const watch::Ward& ward);
  void heard(int from, std::span<const std::byte> message);
  void look_at_unguarded();

  static inline std::atomic<Guard*> instance_{nullptr};  ///< every call looks here

  FaultMode mode_;
  int rank_;
  int size_;
  int error_ = MPI_ERR_OTHER;
  mutable std::mutex mutex_;  // of the next six
  std::map<std::uint64_t, std::shared_ptr<watch::Ward>> wards_;
  std::map<std::uint64_t, std::shared_ptr<watch::Ward>> closed_;  ///< of communicators that have been freed here
  std::map<std::uint64_t, std::vector<std::pair<int, watch::Statement>>> early_;  ///< of communicators not yet known
  std::uint32_t numbers_ = 0;
  FaultCounts counts_;
  std::list<Unguarded*> unguarded_;
  watch::Mesh mesh_;  // the last: its thread uses all of the above
};

}  // namespace circoll::mpi
