// Choices, read once: a policy ("auto" if none is given), "native", or an algorithm with parameters.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "circoll/buffers.hpp"
#include "circoll/select.hpp"
#include "circoll/types.hpp"

namespace circoll::prepare {

/// The sums of floating-point numbers that a choice asks for (CIRCOLL_SUM).
enum class Sums : std::uint8_t {
  plain,    ///< those of the algorithm
  exact,    ///< the exact sum of all contributions, rounded once
  ordered,  ///< ((x0 + x1) + x2) + ..., in the order of ranks
};

/// A choice that lives as long as its Choices, so that its address names it in plan caches.
struct InternedChoice {
  enum class Kind { automatic, native, algorithm };
  Kind kind = Kind::automatic;
  Collective collective = Collective::barrier;
  std::string text;                ///< how the choice is spelled; empty if it is a policy
  Selection selection{};           ///< of an algorithm
  const Policy* policy = nullptr;  ///< of automatic
  Sums sums = Sums::plain;         ///< of automatic
};

/// The last choice of each collective, for a caller whose collectives take turns. Used by one thread at a time.
using LastChoices = std::array<const InternedChoice*, all_collectives.size()>;

/// All choices that an executor has met. It only ever grows, by distinct choices. Thread-safe.
class Choices {
 public:
  /// The interned form of a choice for a collective. Empty text or "auto" is automatic, with the default policy. A
  /// policy must live as long as this object, which knows it by its address. Throws what parse_selection throws.
  /// A choice that has come before allocates nothing; one that is among `last` costs a comparison.
  [[nodiscard]] const InternedChoice* intern(Collective collective, const Choice& choice, LastChoices& last,
                                             Sums sums = Sums::plain);

 private:
  std::mutex mutex_;
  /// By collective. They are few, so that looking at all of them is the quickest way, and allocates nothing.
  std::array<std::vector<std::unique_ptr<const InternedChoice>>, all_collectives.size()> all_;
};

}  // namespace circoll::prepare
