// Schedules made of an algorithm of MSCCL.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "msccl/actions.hpp"
#include "msccl/msccl.hpp"
#include "msccl/units.hpp"

namespace circoll::msccl {
namespace {

/// Lays out the memory of a rank, and writes its steps, still without rounds.
class RankBuilder {
 public:
  RankBuilder(const Cells& cells, const RankActions& actions)
      : cells_(cells), actions_(actions), schedule_(cells.frame()), direct_(cells.size()), shared_(cells.size()) {
    for (CellIndex i = 0; i < static_cast<CellIndex>(cells.size()); ++i) place(i);
    if (!scratch_.empty()) add_buffer({.list = scratch_});
    // The buffer of all cells that hold one block is the first one of scratch memory; the others follow.
    for (CellIndex i = 0; i < static_cast<CellIndex>(cells.size()); ++i) {
      std::int32_t storage = -1;
      for (const Block block : shared(i)) {
        const std::int32_t view = add_buffer({.list = {block}}, storage);
        if (storage < 0) storage = view;
        view_[{i, block}] = view;
      }
    }
  }

  /// The steps of the actions, and copies before and after all of them.
  Schedule run() {
    for (CellIndex i = 0; i < static_cast<CellIndex>(cells_.size()); ++i) {
      if (!shared(i).empty() && cells_[i].from.exists() && life(i).initial_read)
        add_copy(region(i, cells_.block_of(cells_[i].from)), slot(cells_[i].from));
    }
    first_action_ = static_cast<StepIndex>(schedule_.steps.size());
    for (const Action& action : actions_.actions) {
      const auto index = static_cast<StepIndex>(schedule_.steps.size());
      for (const std::uint32_t before : action.after) schedule_.edges.emplace_back(first_action_ + before, index);
      circoll::Step step{.kind = action.kind, .peer = action.peer};
      step.dst = store(action.dst, action.staging);
      step.left = store(action.left, action.staging);
      step.right = store(action.right, action.staging);
      schedule_.steps.push_back(step);
    }
    for (CellIndex i = 0; i < static_cast<CellIndex>(cells_.size()); ++i) {
      const Cell& cell = cells_[i];
      if (!cell.to.exists()) continue;
      if (!shared(i).empty()) {
        add_copy(slot(cell.to), region(i, life(i).last));
      } else if (!life(i).written && cell.from.exists() && !(cell.from == cell.to)) {
        add_copy(slot(cell.to), slot(cell.from));
      }
    }
    return std::move(schedule_);
  }
  /// The step of the first action.
  [[nodiscard]] StepIndex first_action() const { return first_action_; }

 private:
  [[nodiscard]] const CellLife& life(CellIndex i) const { return actions_.lives[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::vector<Block>& shared(CellIndex i) { return shared_[static_cast<std::size_t>(i)]; }

  /// Decides where a cell lies. That is its slot of a caller's buffer, or scratch memory with a view for each block.
  void place(CellIndex i) {
    const Cell& cell = cells_[i];
    const CellLife& life = this->life(i);
    Home& home = direct_[static_cast<std::size_t>(i)];
    // Out of place the input is not to be written. A program that does so is refuted there.
    const bool is_input = cell.from.exists() && !cell.to.exists() && !cells_.in_place();
    if (!life.written || is_input) {
      home = cell.from.exists() ? cell.from : cell.to;
      if (home.exists()) return;
    }
    if (cell.to.exists() && (!cell.from.exists() || cell.from == cell.to)) {
      // Blocks that end elsewhere may pass through a slot of the result. One that ends here is refuted in place.
      const Block own = cells_.block_of(cell.to);
      const bool only_own = std::all_of(life.blocks.begin(), life.blocks.end(), [&](Block b) { return b == own; });
      if (only_own || life.last != own) {
        home = cell.to;
        return;
      }
    }
    if (life.blocks.empty()) return;  // never used
    const bool scratch_only = !cell.from.exists() && !cell.to.exists();
    if (scratch_only && life.blocks.size() == 1) {
      home = {first_scratch_buffer, static_cast<Slot>(scratch_.size())};
      scratch_.push_back(life.blocks.front());
      return;
    }
    shared(i) = life.blocks;
  }

  std::int32_t add_buffer(Buffer buffer, std::int32_t storage = -1) {
    const auto number = static_cast<std::int32_t>(schedule_.buffers.size());
    buffer.slots = static_cast<Slot>(buffer.list.size());
    buffer.storage = storage < 0 ? number : storage;
    schedule_.buffers.push_back(std::move(buffer));
    return number;
  }

  static Range slot(const Home& home) { return {home.buffer, home.slot, 1}; }
  [[nodiscard]] Range region(CellIndex i, Block block) const {
    const Home& home = direct_[static_cast<std::size_t>(i)];
    if (home.exists()) return slot(home);
    return {view_.at({i, block}), 0, 1};
  }

  /// The view of staging memory that holds these blocks.
  std::int32_t staging_for(std::int32_t staging, const Pieces& pieces) {
    std::vector<Block> blocks;
    for (const Piece& piece : pieces) blocks.push_back(piece.block);
    const auto [at, is_new] = staged_.try_emplace({staging, blocks}, -1);
    if (!is_new) return at->second;
    const auto [storage, is_first] = storage_.try_emplace(staging, -1);
    at->second = add_buffer({.list = std::move(blocks)}, storage->second);
    if (is_first) storage->second = at->second;
    return at->second;
  }

  Operand store(const Pieces& pieces, std::int32_t staging) {
    const auto offset = static_cast<std::uint32_t>(schedule_.ranges.size());
    if (pieces.empty()) return {};
    if (pieces.front().cell < 0) {
      schedule_.ranges.push_back({staging_for(staging, pieces), 0, static_cast<Slot>(pieces.size())});
      return {offset, 1};
    }
    for (const Piece& piece : pieces) {
      const Range next = region(piece.cell, piece.block);
      if (schedule_.ranges.size() > offset) {
        Range& last = schedule_.ranges.back();
        if (last.buffer == next.buffer && last.first + last.count == next.first) {
          ++last.count;
          continue;
        }
      }
      schedule_.ranges.push_back(next);
    }
    return {offset, static_cast<std::uint32_t>(schedule_.ranges.size() - offset)};
  }

  void add_copy(const Range& dst, const Range& src) {
    const auto offset = static_cast<std::uint32_t>(schedule_.ranges.size());
    schedule_.ranges.push_back(dst);
    schedule_.ranges.push_back(src);
    schedule_.steps.push_back({.kind = StepKind::copy, .dst = {offset, 1}, .left = {offset + 1, 1}});
  }

  const Cells& cells_;
  const RankActions& actions_;
  Schedule schedule_;
  std::vector<Home> direct_;                // where a cell has one place
  std::vector<std::vector<Block>> shared_;  // else the blocks that it holds in turn
  std::vector<Block> scratch_;
  std::map<std::pair<CellIndex, Block>, std::int32_t> view_;
  std::map<std::pair<std::int32_t, std::vector<Block>>, std::int32_t> staged_;
  std::map<std::int32_t, std::int32_t> storage_;  // of each staging memory
  StepIndex first_action_ = 0;
};

class Raiser {
 public:
  explicit Raiser(const MscclProgram& program) : units_(program) {
    for (std::size_t r = 0; r < program.gpus.size(); ++r) cells_.emplace_back(program, static_cast<Rank>(r));
    actions_ = trace(units_, cells_, program);
  }

  MscclSchedules run() {
    Unrounded all;
    std::vector<StepIndex> first;
    for (std::size_t r = 0; r < cells_.size(); ++r) {
      RankBuilder builder(cells_[r], actions_.ranks[r]);
      all.ranks.push_back(builder.run());
      first.push_back(builder.first_action());
    }
    for (std::size_t r = 0; r < cells_.size(); ++r) {
      all.other.emplace_back(all.ranks[r].steps.size(), 0);
      for (std::size_t i = 0; i < actions_.ranks[r].actions.size(); ++i) {
        const Action& action = actions_.ranks[r].actions[i];
        if (action.peer >= 0) all.other[r][first[r] + i] = first[static_cast<std::size_t>(action.peer)] + action.other;
      }
    }
    std::vector<std::vector<StepIndex>> origins;
    try {
      origins = assign_rounds(all);
    } catch (const Stuck& stuck) {
      const MscclPlace place = place_of(static_cast<std::size_t>(stuck.rank), first, stuck.step);
      fail(place.line,
           fmt::format(
               "deadlock if sends wait until they are received: gpu {}, threadblock {}, step {} waits for itself "
               "in the end",
               stuck.rank, place.threadblock, place.step),
           ErrorCode::refuted);
    }
    MscclSchedules result;
    for (std::size_t r = 0; r < all.ranks.size(); ++r) {
      result.places.emplace_back();
      for (const StepIndex origin : origins[r]) result.places[r].push_back(place_of(r, first, origin));
    }
    if (actions_.race) result.race = refutation(*actions_.race, first, origins, all);
    for (Schedule& s : all.ranks) {
      check_structure(s);
      result.ranks.push_back(std::move(s));
    }
    return result;
  }

 private:
  /// The place of a step of the schedules without rounds. Copies before and after all actions have that of the first or
  /// the last one.
  [[nodiscard]] MscclPlace place_of(std::size_t rank, const std::vector<StepIndex>& first, StepIndex step) const {
    const std::vector<Action>& actions = actions_.ranks[rank].actions;
    if (actions.empty()) return {};
    const std::size_t index = step < first[rank] ? 0 : std::min<std::size_t>(step - first[rank], actions.size() - 1);
    return place_of(actions[index].unit);
  }
  [[nodiscard]] MscclPlace place_of(UnitIndex u) const {
    const Unit& unit = units_[u];
    return {units_.step(unit).line, unit.tb, unit.first};
  }

  [[nodiscard]] Refutation refutation(const Race& race, const std::vector<StepIndex>& first,
                                      const std::vector<std::vector<StepIndex>>& origins, const Unrounded& all) const {
    const auto r = static_cast<std::size_t>(race.rank);
    const auto step = static_cast<StepIndex>(first[r] + race.action);
    const auto now = std::find(origins[r].begin(), origins[r].end(), step) - origins[r].begin();
    const MscclPlace earlier = place_of(race.earlier);
    const Schedule& s = all.ranks[r];
    return {.claim = Claim::no_race,
            .id = s.id,
            .size = s.shape.size,
            .root = s.shape.root,
            .in_place = s.shape.in_place,
            .rank = race.rank,
            .step = now,
            .block = race.block,
            .what = fmt::format("nothing orders it and threadblock {}, step {} (line {}), which uses the same chunk",
                                earlier.threadblock, earlier.step, earlier.line)};
  }

  Units units_;
  std::vector<Cells> cells_;
  Actions actions_;
};

}  // namespace
}  // namespace circoll::msccl

namespace circoll {

MscclSchedules schedules_from_msccl(std::string_view xml) {
  const msccl::MscclProgram program = msccl::from_xml(xml);
  return msccl::Raiser(program).run();
}

}  // namespace circoll
