// The statements of processes about a collective call, by which survivors of a failure agree on what to do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace circoll::watch {

/// A set of ranks of a communicator.
class RankSet {
 public:
  static constexpr int most = 256;

  void add(int rank) { words_[word(rank)] |= bit(rank); }
  [[nodiscard]] bool has(int rank) const { return (words_[word(rank)] & bit(rank)) != 0; }
  [[nodiscard]] bool empty() const { return *this == RankSet{}; }
  [[nodiscard]] int count() const;
  /// The ranks 0 .. size-1 that are in the set, or that are not.
  [[nodiscard]] std::vector<int> members(int size) const;
  [[nodiscard]] std::vector<int> others(int size) const;

  friend bool operator==(const RankSet&, const RankSet&) = default;

 private:
  static std::size_t word(int rank) { return static_cast<std::size_t>(rank) / 64; }
  static std::uint64_t bit(int rank) { return std::uint64_t{1} << (static_cast<unsigned>(rank) % 64U); }
  std::array<std::uint64_t, most / 64> words_{};
};

/// The part of a call that a rank is in.
enum class Stage : std::uint8_t {
  before,      ///< it will make the call, and waits for nobody meanwhile
  data,        ///< messages of the call are under way
  committing,  ///< its result is whole, and it waits for the others' to be
};

/// A rank's statement. Calls of a communicator are numbered from 1 on.
struct Statement {
  std::uint64_t communicator = 0;
  int rank = 0;            ///< in the communicator
  std::uint64_t call = 0;  ///< the call that it is in, or the next one
  Stage stage = Stage::before;
  bool spoiled = false;      ///< nobody knows what the memory of the call holds: it cannot be repaired
  bool overwritten = false;  ///< the rank's contribution may be gone: the call cannot be made again
  bool in_place = false;     ///< the contribution came in the receive buffer
  bool kept = false;         ///< ranks leave the call with a copy of its result, which they keep for the others
  bool closing = false;      ///< the rank makes no more calls, and has nothing more to ask
  RankSet failed{};          ///< the failed ranks that it knows of
  std::array<std::int32_t, 2> tags{};  ///< offered for messages among the survivors
  /// The steps of its schedule that have ended, and those that may have written a part.
  std::vector<bool> ended{};
  std::vector<bool> torn{};
  /// A result that was kept, and the call of which it is.
  std::uint64_t result_of = 0;
  std::vector<std::byte> result{};

  /// True if the rank needs a result that another one has kept, once some have left.
  [[nodiscard]] bool needs_result() const { return kept && stage == Stage::data; }
};

[[nodiscard]] std::vector<std::byte> to_bytes(const Statement& statement);
/// Nothing if these bytes are no statement.
[[nodiscard]] std::optional<Statement> statement_from(std::span<const std::byte> bytes);

/// The next thing that a rank does after a failure.
enum class Verdict : std::uint8_t {
  wait,       ///< for more statements
  committed,  ///< the call has been made: every result is whole, or can be had from a rank that has left the call
  decide,     ///< all survivors are in the call, and each knows of all how far they have come
};

/// The verdict for a rank that has stated `own`. `others` has the last statement of every rank, where there is one. A
/// rank of `gone` has left the communicator for good, after its last call.
[[nodiscard]] Verdict judge(const Statement& own, std::span<const std::optional<Statement>> others,
                            const RankSet& gone);

}  // namespace circoll::watch
