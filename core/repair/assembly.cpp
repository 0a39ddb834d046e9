#include "repair/repair.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace circoll::repair {
namespace {

std::size_t at(Rank rank) { return static_cast<std::size_t>(rank); }

/// The schedule of one rank as it grows. New slots lie in one scratch buffer of its own, behind those of the program.
class GrowingSchedule {
 public:
  explicit GrowingSchedule(const Schedule& before)
      : schedule_{.id = before.id + "/repair",
                  .collective = before.collective,
                  .shape = before.shape,
                  .user_blocks = before.user_blocks,
                  .segments = before.segments,
                  .buffers = before.buffers},
        own_(static_cast<std::int32_t>(before.buffers.size())) {}

  [[nodiscard]] SlotOfRank new_slot(Block block) {
    blocks_.push_back(block);
    return {schedule_.shape.rank, own_, static_cast<Slot>(blocks_.size()) - 1};
  }
  /// The slot of a result.
  [[nodiscard]] SlotOfRank output(Block block) const { return output_of(schedule_, block); }
  void message(StepKind kind, Rank peer, std::uint32_t round, const std::vector<SlotOfRank>& places) {
    Step step{.kind = kind, .round = round, .peer = peer};
    (kind == StepKind::send ? step.left : step.dst) = operand(places);
    schedule_.steps.push_back(step);
  }
  void copy(std::uint32_t round, SlotOfRank dst, SlotOfRank from) {
    schedule_.steps.push_back({.kind = StepKind::copy, .round = round, .dst = operand({dst}), .left = operand({from})});
  }
  void reduce(std::uint32_t round, SlotOfRank dst, SlotOfRank left, SlotOfRank right) {
    schedule_.steps.push_back({.kind = StepKind::reduce,
                               .round = round,
                               .dst = operand({dst}),
                               .left = operand({left}),
                               .right = operand({right})});
  }
  [[nodiscard]] Schedule finish(std::uint32_t rounds) && {
    schedule_.rounds = rounds;
    if (!blocks_.empty()) {
      const auto slots = static_cast<Slot>(blocks_.size());
      schedule_.buffers.push_back({.slots = slots, .list = std::move(blocks_), .storage = own_});
    }
    return std::move(schedule_);
  }

 private:
  Operand operand(const std::vector<SlotOfRank>& places) {
    const auto offset = static_cast<std::uint32_t>(schedule_.ranges.size());
    for (const SlotOfRank& place : places) {
      if (schedule_.ranges.size() > offset) {
        Range& last = schedule_.ranges.back();
        if (last.buffer == place.buffer && last.first + last.count == place.slot) {
          ++last.count;
          continue;
        }
      }
      schedule_.ranges.push_back({place.buffer, place.slot, 1});
    }
    return {offset, static_cast<std::uint32_t>(schedule_.ranges.size()) - offset};
  }

  Schedule schedule_;
  std::int32_t own_;
  std::vector<Block> blocks_;
};

/// Messages that may go at the same time, put into rounds of one message from and to each rank.
class Turn {
 public:
  void add(SlotOfRank from, SlotOfRank to) {
    auto& message = messages_[{from.rank, to.rank}];
    message.first.push_back(from);
    message.second.push_back(to);
  }
  /// Writes the messages into rounds from `round` on. Returns the first round after them.
  std::uint32_t write(std::vector<GrowingSchedule>& parts, std::uint32_t round) const {
    std::set<std::pair<std::uint32_t, Rank>> sending;
    std::set<std::pair<std::uint32_t, Rank>> receiving;
    std::map<std::uint32_t, std::vector<std::pair<Rank, Rank>>> rounds;
    for (const auto& [ends, message] : messages_) {
      std::uint32_t k = round;
      while (sending.contains({k, ends.first}) || receiving.contains({k, ends.second})) ++k;
      sending.insert({k, ends.first});
      receiving.insert({k, ends.second});
      rounds[k].push_back(ends);
    }
    for (const auto& [k, all] : rounds) {
      for (const auto& ends : all) {
        const auto& [from, to] = messages_.at(ends);
        parts[at(ends.first)].message(StepKind::send, ends.second, k, from);
        parts[at(ends.second)].message(StepKind::recv, ends.first, k, to);
      }
      round = k + 1;
    }
    return round;
  }

 private:
  std::map<std::pair<Rank, Rank>, std::pair<std::vector<SlotOfRank>, std::vector<SlotOfRank>>> messages_;
};

class Writer {
 public:
  Writer(const LinkedSchedules& program, std::vector<Assembly> assemblies)
      : assemblies_(std::move(assemblies)), load_(program.ranks.size()) {
    for (Rank r = 0; r < program.size(); ++r) parts_.emplace_back(program.of(r));
  }

  std::vector<Schedule> write() {
    save_overwritten();
    combine();
    spread();
    std::vector<Schedule> schedules;
    for (GrowingSchedule& part : parts_) schedules.push_back(std::move(part).finish(round_));
    return schedules;
  }

 private:
  [[nodiscard]] std::vector<Rank> ranks_of(std::uint64_t set) const {
    std::vector<Rank> ranks;
    for (; set != 0; set &= set - 1) ranks.push_back(std::countr_zero(set));
    return ranks;
  }

  /// Moves pieces away that lie where another result of their rank will be.
  void save_overwritten() {
    std::map<SlotOfRank, std::set<const Assembly*>> results;
    for (const Assembly& a : assemblies_) {
      for (const Rank r : ranks_of(a.users)) results[parts_[at(r)].output(a.block)].insert(&a);
    }
    for (Assembly& a : assemblies_) {
      for (std::vector<SlotOfRank>& places : a.pieces) {
        for (SlotOfRank& place : places) {
          const auto found = results.find(place);
          if (found == results.end() || (found->second.size() == 1 && found->second.contains(&a))) continue;
          GrowingSchedule& part = parts_[at(place.rank)];
          const SlotOfRank saved = part.new_slot(a.block);
          part.copy(round_, saved, place);
          place = saved;
        }
      }
    }
  }

  /// The rank where pieces are combined: it has most of them, needs the result, and has least to do.
  [[nodiscard]] Rank home_of(const Assembly& a) const {
    std::map<Rank, int> has;
    for (const std::vector<SlotOfRank>& places : a.pieces) {
      for (const SlotOfRank& place : places) ++has[place.rank];
    }
    const auto key = [&](const auto& entry) {
      return std::tuple(entry.second, (a.users & bit(entry.first)) != 0, -load_[at(entry.first)], -entry.first);
    };
    return std::max_element(has.begin(), has.end(), [&](const auto& x, const auto& y) { return key(x) < key(y); })
        ->first;
  }

  /// One place of every piece: at home if it is there, else where there is least to do.
  std::vector<SlotOfRank> chosen_places(const Assembly& a, Rank home) {
    std::vector<SlotOfRank> chosen;
    for (const std::vector<SlotOfRank>& places : a.pieces) {
      const auto key = [&](const SlotOfRank& p) { return std::tuple(p.rank != home, load_[at(p.rank)], p); };
      chosen.push_back(*std::min_element(places.begin(), places.end(),
                                         [&](const SlotOfRank& x, const SlotOfRank& y) { return key(x) < key(y); }));
      ++load_[at(chosen.back().rank)];
    }
    return chosen;
  }

  void combine() {
    struct Row {
      Assembly* assembly;
      Rank home;
      std::vector<SlotOfRank> pieces;
    };
    std::vector<Row> rows;
    for (Assembly& a : assemblies_) {
      if (a.pieces.size() < 2) continue;
      const Rank home = home_of(a);
      rows.push_back({&a, home, chosen_places(a, home)});
    }
    const auto unfinished = [](const Row& row) { return row.pieces.size() > 1; };
    while (std::any_of(rows.begin(), rows.end(), unfinished)) {
      Turn turn;
      std::vector<std::tuple<SlotOfRank, SlotOfRank, SlotOfRank>> reductions;
      for (Row& row : rows) {
        std::vector<SlotOfRank> combined;
        for (std::size_t i = 0; i < row.pieces.size(); i += 2) {
          if (i + 1 == row.pieces.size()) {
            combined.push_back(row.pieces[i]);
            continue;
          }
          SlotOfRank left = row.pieces[i];
          SlotOfRank right = row.pieces[i + 1];
          const bool to_right = right.rank == row.home;
          const Rank here = to_right ? right.rank : left.rank;
          SlotOfRank& comes = to_right ? left : right;
          GrowingSchedule& part = parts_[at(here)];
          if (comes.rank != here) {
            const SlotOfRank arrived = part.new_slot(row.assembly->block);
            turn.add(comes, arrived);
            comes = arrived;
          }
          combined.push_back(part.new_slot(row.assembly->block));
          reductions.emplace_back(combined.back(), left, right);
        }
        row.pieces = std::move(combined);
      }
      round_ = turn.write(parts_, round_);
      for (const auto& [dst, left, right] : reductions) parts_[at(dst.rank)].reduce(round_, dst, left, right);
    }
    for (const Row& row : rows) row.assembly->pieces = {row.pieces};
  }

  /// The ranks that a result spreads among, in their order, with the place of the result where it is.
  struct Spread {
    Block block = 0;
    std::vector<Rank> ranks{};
    std::vector<std::optional<SlotOfRank>> places{};
  };
  Spread spread_of(const Assembly& a) {
    Spread spread{.block = a.block};
    std::map<Rank, SlotOfRank> has;
    for (const SlotOfRank& place : a.pieces.front()) has.emplace(place.rank, place);
    std::uint64_t members = a.users;
    const bool user_has =
        std::any_of(has.begin(), has.end(), [&](const auto& h) { return (members & bit(h.first)) != 0; });
    if (!user_has) {
      const auto least = std::min_element(has.begin(), has.end(), [&](const auto& x, const auto& y) {
        return load_[at(x.first)] < load_[at(y.first)];
      });
      ++load_[at(least->first)];
      members |= bit(least->first);
    }
    for (const Rank r : ranks_of(members)) {
      const auto found = has.find(r);
      spread.ranks.push_back(r);
      spread.places.push_back(found == has.end() ? std::nullopt : std::optional(found->second));
    }
    return spread;
  }

  void spread() {
    std::vector<Spread> spreads;
    spreads.reserve(assemblies_.size());
    for (const Assembly& a : assemblies_) spreads.push_back(spread_of(a));
    // Those that have the result elsewhere copy it at the end.
    std::vector<std::tuple<SlotOfRank, SlotOfRank>> copies;
    for (std::size_t i = 0; i < assemblies_.size(); ++i) {
      const Spread& s = spreads[i];
      for (std::size_t m = 0; m < s.ranks.size(); ++m) {
        if (!s.places[m] || (assemblies_[i].users & bit(s.ranks[m])) == 0) continue;
        const SlotOfRank output = parts_[at(s.ranks[m])].output(s.block);
        if (output != *s.places[m]) copies.emplace_back(output, *s.places[m]);
      }
    }
    for (std::size_t distance = 1;; distance *= 2) {
      Turn turn;
      bool complete = true;
      for (Spread& s : spreads) {
        const std::vector<std::optional<SlotOfRank>> before = s.places;
        for (std::size_t m = 0; m < s.ranks.size(); ++m) {
          if (before[m]) continue;
          complete = false;
          const auto& source = before[(m + s.ranks.size() - distance % s.ranks.size()) % s.ranks.size()];
          if (!source) continue;
          s.places[m] = parts_[at(s.ranks[m])].output(s.block);
          turn.add(*source, *s.places[m]);
        }
      }
      if (complete) break;
      round_ = turn.write(parts_, round_);
    }
    for (const auto& [dst, from] : copies) parts_[at(dst.rank)].copy(round_, dst, from);
  }

  std::vector<Assembly> assemblies_;
  std::vector<GrowingSchedule> parts_;
  std::vector<std::int64_t> load_;  // of each rank, in pieces that it sends or gathers
  std::uint32_t round_ = 0;
};

}  // namespace

std::vector<Schedule> write_assemblies(const LinkedSchedules& program, std::vector<Assembly> assemblies) {
  return Writer(program, std::move(assemblies)).write();
}

}  // namespace circoll::repair
