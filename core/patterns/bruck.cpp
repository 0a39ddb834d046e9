#include "patterns/bruck.hpp"

namespace circoll::patterns {
namespace {

struct DigitRound {
  Rank unit;   ///< the weight of its level
  Rank digit;  ///< of the distances of what it moves
};

/// The number of distances below p that have a digit.
std::int64_t distances_with(const DigitRound& round, Rank p, std::int64_t base) {
  const Rank period = round.unit * base;
  return p / period * round.unit + std::clamp(p % period - round.digit * round.unit, Rank{0}, round.unit);
}

}  // namespace

RoundsOnPorts alltoall_by_digits_on_ports(const Shape& shape, std::int64_t ports) {
  const Rank p = shape.size;
  const std::int64_t base = value_of(shape, radix_above_two);
  std::vector<DigitRound> rounds;
  Waits waits;
  for (Rank unit = 1; unit < p; unit *= base) {
    const std::size_t lower = rounds.size();
    for (Rank digit = 1; digit < base && digit * unit < p; ++digit) {
      // It brought distances of both digits, if there are some.
      std::size_t brought = lower;
      while (brought > 0 && digit * unit + rounds[brought - 1].digit * rounds[brought - 1].unit >= p) --brought;
      rounds.push_back({.unit = unit, .digit = digit});
      waits.blocks.push_back(distances_with(rounds.back(), p, base));
      waits.latest.push_back(static_cast<std::int64_t>(brought) - 1);
    }
  }
  return at_once(waits, ports);
}

}  // namespace circoll::patterns
