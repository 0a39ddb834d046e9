// The learned choices for the calls on one communicator: groups of calls with the candidates for each.
//
// The communicator keeps them. The ranks agree here on the times of their calls.
#pragma once

#include <mpi.h>

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "circoll/select.hpp"
#include "exec/mpi/call/call.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/serve/bound_plan.hpp"
#include "verify/bits.hpp"
#include "wrappers/learn/group.hpp"
#include "wrappers/learn/learned.hpp"

namespace circoll::interpose {

/// Calls that share what is learned. They are of one collective and kind of operator, and their sizes lie within a
/// power of two. Where sums round, they also share the bit class of the algorithm that serves them unlearned.
struct KindOfCalls {
  Collective collective = Collective::barrier;
  int size_class = 0;
  unsigned op = 0;  ///< bits: commutative, idempotent, exact, predefined
  std::uint64_t bits = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of a defaulted comparison for a pointer
  friend auto operator<=>(const KindOfCalls&, const KindOfCalls&) = default;
};

/// One of the algorithms that calls of a kind may get.
struct LearnedCandidate {
  const mpi::InternedChoice* choice = nullptr;
  Selection selection{};  ///< without an algorithm: the library's own, or what serves unlearned calls
  std::string name;       ///< as reports have it
};

/// A group with what it chooses among. Candidate 0 is the choice that serves unlearned calls.
struct LearnedGroup {
  // These are about the next calls, about which the group need not be asked:
  const mpi::InternedChoice* now = nullptr;  ///< serves them
  std::uint32_t now_bit = 0;                 ///< as in LearnedCalls::KnownGroup::allowed
  int passing = 0;                           ///< so many are left
  int granted = 0;                           ///< of so many, of which the group has not been told

  LearnedKey key{};  ///< of its calls, in reports and files
  std::vector<LearnedCandidate> candidates;
  learn::Group group;
};

/// The bit classes of selections on one communicator, each found once: that takes up to tens of milliseconds.
class KnownBits {
 public:
  /// Up to this p they are found.
  static constexpr Rank most_ranks = 128;

  /// Nothing where there are too many ranks to find out.
  [[nodiscard]] std::optional<BitClass> of(const Selection& selection, const CallFacts& facts, int root,
                                           const PolicyOptions& options);

 private:
  using Key = std::tuple<std::string, Rank, BitsOf>;  ///< the whole selection, root, operators
  std::map<Key, BitClass> classes_;
};

class LearnedCalls;

/// The LearnedCalls of all existing communicators, and the sum of the results of those that are gone. Thread-safe.
class LearnedEverywhere {
 public:
  void enter(LearnedCalls* calls);
  void leave(LearnedCalls* calls);
  /// All results of the communicators of which this is rank 0.
  [[nodiscard]] Learned learned() const;

 private:
  mutable std::mutex mutex_;
  std::vector<LearnedCalls*> present_;
  Learned gone_;
};

/// The groups of a communicator, and the memory of which calls belong to which. Used by one thread at a time, as the
/// communicator is.
class LearnedCalls final : public mpi::Attachment {
 public:
  static constexpr Slot slot = Slot::learned;

  /// The group of a call, and which of its candidates the call may get.
  struct KnownGroup {
    LearnedGroup* group = nullptr;  ///< none: there is nothing to learn
    std::uint32_t allowed = 0;      ///< a bit for each candidate
    double bytes = 0;               ///< the size that this rank knows, where ranks know different ones
    /// The early calls of the kind, if this is one, which has no group yet.
    int* early_calls = nullptr;
    const mpi::InternedChoice* early = nullptr;  ///< serves them; none: the choice without learning
  };

  LearnedCalls() = default;
  ~LearnedCalls() override;

  /// Sets the place where this object counts, because objects are made without arguments. Once, before the first group.
  void belongs_to(LearnedEverywhere& everywhere, Rank rank) {
    if (everywhere_ != nullptr) return;
    rank_ = rank;
    everywhere_ = &everywhere;
    everywhere.enter(this);
  }
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] Learned learned() const;

  /// The group of a call like this one; nullptr if it is not known.
  [[nodiscard]] const KnownGroup* find(const mpi::CallShape& shape) const {
    if (entries_.empty()) return nullptr;
    std::size_t place = place_of(shape);
    for (std::size_t i = 0; i < most_probes; ++i, place = (place + 1) & (entries_.size() - 1)) {
      const Entry& entry = entries_[place];
      if (!entry.used) return nullptr;
      if (entry.shape == shape) return &entry.known;
    }
    return nullptr;
  }
  /// In place of what was known before. Without effect once there are thousands.
  void remember(const mpi::CallShape& shape, const KnownGroup& known);

  [[nodiscard]] std::map<KindOfCalls, LearnedGroup>& groups() { return groups_; }
  [[nodiscard]] const std::map<KindOfCalls, LearnedGroup>& groups() const { return groups_; }
  [[nodiscard]] KnownBits& bits() { return bits_; }
  /// The number of early calls of a kind so far. Nothing is learned from them where to find the algorithms to try takes
  /// as long as some of these calls.
  [[nodiscard]] int& early_calls(const KindOfCalls& kind) { return early_[kind]; }
  /// True if one more call is early. `counts`: it is blocking.
  [[nodiscard]] static bool is_early(int& calls, bool counts) {
    const bool early = calls < most_early;
    if (early && counts) ++calls;
    return early;
  }
  [[nodiscard]] learn::Account& account() { return account_; }
  [[nodiscard]] const learn::Account& account() const { return account_; }

  /// Before a call of `group`: makes or begins the agreement that is due (learn::Group::Length). Returns an MPI error
  /// code.
  [[nodiscard]] int begin_agreement(const learn::Group& group, MPI_Comm comm);
  /// After the call: ends the agreement that overlaps with it, or makes the one that is due now. Likewise.
  [[nodiscard]] int end_agreement(const learn::Group& group, MPI_Comm comm);

  void clear() noexcept override;

 private:
  /// All times that the ranks have not agreed on, to be replaced by the greatest.
  [[nodiscard]] std::vector<double>& times_to_agree_on();
  [[nodiscard]] int agree(MPI_Comm comm);

  struct Entry {
    mpi::CallShape shape{};
    KnownGroup known{};
    bool used = false;
  };
  static constexpr int most_early = 16;
  static constexpr int least_bits = 4, most_bits = 12;
  static constexpr std::size_t most_probes = 8;

  /// False if the places that belong to a shape are taken.
  [[nodiscard]] bool enter(const Entry& entry);
  [[nodiscard]] std::size_t place_of(const mpi::CallShape& shape) const {
    return static_cast<std::size_t>(shape.hash() >> (64 - place_bits_));
  }

  LearnedEverywhere* everywhere_ = nullptr;
  Rank rank_ = 0;
  int place_bits_ = least_bits;
  std::vector<Entry> entries_;        ///< a power of two of them, or none yet
  std::map<KindOfCalls, int> early_;  ///< blocking calls of each kind from which nothing was learned
  std::map<KindOfCalls, LearnedGroup> groups_;
  learn::Account account_;
  KnownBits bits_;
  learn::Agreement agreement_;
  MPI_Request request_ = MPI_REQUEST_NULL;  ///< of an agreement that overlaps with a call
  double last_agreement_s_ = 0;
};

}  // namespace circoll::interpose
