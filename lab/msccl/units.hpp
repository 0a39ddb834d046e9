// The order of a program's steps, over all ranks: each step with the steps that it waits for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "msccl/program.hpp"

namespace circoll::msccl {

using UnitIndex = std::uint32_t;
inline constexpr UnitIndex no_unit = ~UnitIndex{0};

/// Steps first .. last of a threadblock that happen as one: one step, or several that make one message.
struct Unit {
  Rank gpu = 0;
  std::int32_t tb = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
  UnitIndex sender = no_unit;           ///< of a receive: the unit that sends the message
  UnitIndex receiver = no_unit;         ///< of a send
  UnitIndex before = no_unit;           ///< the unit before it in its threadblock
  std::vector<UnitIndex> depends_on{};  ///< units of other threadblocks of its rank
};

/// All units, in an order in which each comes after those that it waits for. Threadblocks go on after they have sent.
class Units {
 public:
  /// Throws Error(refuted), naming the line, for messages without other end and for steps that wait forever.
  explicit Units(const MscclProgram& program);

  [[nodiscard]] const std::vector<Unit>& all() const { return units_; }
  [[nodiscard]] const Unit& operator[](UnitIndex i) const { return units_[i]; }
  [[nodiscard]] const Step& step(const Unit& unit, std::int32_t index) const {
    return program_.gpus[static_cast<std::size_t>(unit.gpu)]
        .threadblocks[static_cast<std::size_t>(unit.tb)]
        .steps[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const Step& step(const Unit& unit) const { return step(unit, unit.first); }
  /// True if `earlier` is over, or sent, whenever `later` begins. Remembers what the last `later` waits for.
  [[nodiscard]] bool ordered(UnitIndex earlier, UnitIndex later) const;
  /// The same for the receive of a message: true if it is over whenever `later` begins.
  [[nodiscard]] bool received_before(UnitIndex send, UnitIndex later) const {
    return units_[send].receiver != no_unit && ordered(units_[send].receiver, later);
  }

 private:
  struct ThreadblockStep {
    std::size_t gpu = 0;
    std::size_t tb = 0;
    std::size_t step = 0;
  };

  void match();
  void make_units();
  void sort();
  [[nodiscard]] bool ordered_within(UnitIndex earlier, UnitIndex later) const;
  [[nodiscard]] bool joins(const ThreadblockStep& before, const ThreadblockStep& place) const;
  [[nodiscard]] const Step& at(const ThreadblockStep& place) const {
    return program_.gpus[place.gpu].threadblocks[place.tb].steps[place.step];
  }
  template <typename F>
  void each_before(const Unit& unit, F&& f) const {
    if (unit.before != no_unit) f(unit.before);
    if (unit.sender != no_unit) f(unit.sender);
    for (const UnitIndex before : unit.depends_on) f(before);
  }

  const MscclProgram& program_;
  std::vector<Unit> units_;
  // By gpu, threadblock and step: the other end of the message that comes or goes, and the unit.
  std::vector<std::vector<std::vector<std::optional<ThreadblockStep>>>> sender_of_, receiver_of_;
  std::vector<std::vector<std::vector<UnitIndex>>> unit_of_;
  // The units for which the last `later` of ordered() waits: over all ranks, as far as they were swept, and within its
  // own.
  mutable UnitIndex asked_ = no_unit;
  mutable UnitIndex swept_ = no_unit;
  mutable std::vector<bool> before_asked_;
  mutable UnitIndex asked_within_ = no_unit;
  mutable std::vector<UnitIndex> seen_;
};

}  // namespace circoll::msccl
