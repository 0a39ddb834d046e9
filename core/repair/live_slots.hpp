// The slots of a rank's memory whose values its schedule has not done with.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "circoll/schedule.hpp"

namespace circoll::repair {

/// The slots whose present value a later step reads, or which are results.
class LiveSlots {
 public:
  /// `ended` says which steps are over.
  LiveSlots(const Schedule& schedule, const std::function<bool(StepIndex)>& ended);

  [[nodiscard]] bool contains(std::int32_t buffer, Slot slot) const {
    return fate_[static_cast<std::size_t>(buffer)][static_cast<std::size_t>(slot)] == Fate::read;
  }

 private:
  /// The first thing that happens to the value of a slot.
  enum class Fate : std::uint8_t { nothing, read, written };
  void decide(Operand operand, Fate fate);

  const Schedule& schedule_;
  std::vector<std::vector<Fate>> fate_;
  std::vector<std::int32_t> written_view_;  // of each storage: the view that is written first, -1 if none is
};

}  // namespace circoll::repair
