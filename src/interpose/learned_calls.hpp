// Groups of calls on one communicator, and what has been learned of them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "circoll/select.hpp"
#include "exec/mpi/call/call.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/serve/choices.hpp"
#include "learn/group.hpp"

namespace circoll::interpose {

/// Calls that are learned about together. They are of one collective and kind of operator, of sizes within a power of
/// two, and, where sums round, of one bit class of what serves them unlearned.
struct KindOfCalls {
  Collective collective = Collective::barrier;
  int size_class = 0;
  unsigned op = 0;  ///< bits: commutative, idempotent, exact, predefined
  std::uint64_t bits = 0;

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
  std::vector<LearnedCandidate> candidates;
  learn::Group group;
};

/// The groups of a communicator, and the memory of which calls belong to which. Used by one thread at a time, as the
/// communicator is.
class LearnedCalls final : public mpi::Attachment {
 public:
  static constexpr Slot slot = Slot::learned;

  /// The group of a call, and which of its candidates the call may get.
  struct Known {
    LearnedGroup* group = nullptr;  ///< none: there is nothing to learn
    std::uint32_t allowed = 0;      ///< a bit for each candidate
  };

  LearnedCalls() = default;
  ~LearnedCalls() override;

  /// The group of a call like this one; nullptr if it is not known.
  [[nodiscard]] const Known* find(const mpi::CallShape& shape) const {
    const Entry& entry = entries_[place_of(shape)];
    return entry.used && entry.shape == shape ? &entry.known : nullptr;
  }
  void remember(const mpi::CallShape& shape, const Known& known) { entries_[place_of(shape)] = {shape, known, true}; }

  [[nodiscard]] std::map<KindOfCalls, LearnedGroup>& groups() { return groups_; }
  [[nodiscard]] const std::map<KindOfCalls, LearnedGroup>& groups() const { return groups_; }
  [[nodiscard]] learn::Account& account() { return account_; }
  [[nodiscard]] const learn::Account& account() const { return account_; }
  double last_agreement_s = 0;

  void clear() noexcept override {}

 private:
  struct Entry {
    mpi::CallShape shape{};
    Known known{};
    bool used = false;
  };
  static constexpr int place_bits = 6;

  [[nodiscard]] static std::size_t place_of(const mpi::CallShape& shape) {
    const auto counts = static_cast<std::uint64_t>(shape.sendcount) + static_cast<std::uint64_t>(shape.recvcount);
    const auto key = (counts * all_collectives.size() + static_cast<std::uint64_t>(shape.collective)) * 31 +
                     static_cast<std::uint64_t>(shape.root);
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> (64 - place_bits));
  }

  std::array<Entry, std::size_t{1} << place_bits> entries_{};
  std::map<KindOfCalls, LearnedGroup> groups_;
  learn::Account account_;
};

}  // namespace circoll::interpose
