// The units of a program: matched with their messages, joined where they make one, and sorted.
#include "msccl/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

namespace circoll::msccl {
namespace {

[[noreturn]] void refute(int line, const std::string& what) { fail(line, what, ErrorCode::refuted); }

bool overlap(const Chunk& a, std::int32_t count_a, const Chunk& b, std::int32_t count_b) {
  return a.memory == b.memory && a.offset < b.offset + count_b && b.offset < a.offset + count_a;
}

/// True if steps of one kind touch the same chunks, so that they cannot happen at once.
bool clash(const Step& a, const Step& b) {
  if (b.kind == Instruction::s) return overlap(a.src, a.count, b.src, b.count);
  if (overlap(a.dst, a.count, b.dst, b.count)) return true;
  return b.kind == Instruction::rrc &&
         (overlap(a.dst, a.count, b.src, b.count) || overlap(a.src, a.count, b.dst, b.count));
}

/// No message has more steps than this, because each step is compared with all of them.
constexpr std::int32_t most_steps_of_message = 4096;

}  // namespace

Units::Units(const MscclProgram& program) : program_(program) {
  match();
  make_units();
  sort();
}

/// The n-th step that sends from a to b over a channel meets the n-th that receives there.
void Units::match() {
  std::map<std::tuple<Rank, Rank, std::int32_t>, std::pair<std::vector<ThreadblockStep>, std::vector<ThreadblockStep>>>
      ends;
  for (std::size_t g = 0; g < program_.gpus.size(); ++g) {
    const Gpu& gpu = program_.gpus[g];
    sender_of_.emplace_back(gpu.threadblocks.size());
    receiver_of_.emplace_back(gpu.threadblocks.size());
    for (std::size_t t = 0; t < gpu.threadblocks.size(); ++t) {
      const Threadblock& tb = gpu.threadblocks[t];
      sender_of_[g][t].resize(tb.steps.size());
      receiver_of_[g][t].resize(tb.steps.size());
      const auto rank = static_cast<Rank>(g);
      for (std::size_t i = 0; i < tb.steps.size(); ++i) {
        if (sends(tb.steps[i].kind)) ends[{rank, tb.send, tb.channel}].first.push_back({g, t, i});
        if (receives(tb.steps[i].kind)) ends[{tb.recv, rank, tb.channel}].second.push_back({g, t, i});
      }
    }
  }
  for (const auto& [connection, both] : ends) {
    const auto& [from, to, channel] = connection;
    const auto& [sent, received] = both;
    const std::size_t pairs = std::min(sent.size(), received.size());
    if (sent.size() > pairs)
      refute(at(sent[pairs]).line,
             fmt::format("nothing at gpu {} receives what is sent here on channel {}", to, channel));
    if (received.size() > pairs)
      refute(at(received[pairs]).line,
             fmt::format("it waits forever: gpu {} sends no message for it on channel {}", from, channel));
    for (std::size_t i = 0; i < pairs; ++i) {
      const ThreadblockStep& s = sent[i];
      const ThreadblockStep& r = received[i];
      if (at(s).count != at(r).count)
        refute(at(r).line, fmt::format("{} chunks are received, and {} are sent for it (line {})", at(r).count,
                                       at(s).count, at(s).line));
      receiver_of_[s.gpu][s.tb][s.step] = r;
      sender_of_[r.gpu][r.tb][r.step] = s;
    }
  }
}

/// True if a step may go on with the one before it. Both only send, or both receive in the same way, without waiting.
bool Units::joins(const ThreadblockStep& before, const ThreadblockStep& place) const {
  const Step& a = at(before);
  const Step& b = at(place);
  if (before.gpu != place.gpu || before.tb != place.tb || before.step + 1 != place.step) return false;
  return a.kind == b.kind && b.depends_tb < 0 &&
         (b.kind == Instruction::s || b.kind == Instruction::r || b.kind == Instruction::rrc);
}

void Units::make_units() {
  // A message goes on with the one before it if it does so at both ends.
  const auto goes_on = [&](const ThreadblockStep& place) {
    if (place.step == 0) return false;
    const ThreadblockStep before{place.gpu, place.tb, place.step - 1};
    if (!joins(before, place)) return false;
    const auto& ends = at(place).kind == Instruction::s ? receiver_of_ : sender_of_;
    return joins(*ends[place.gpu][place.tb][place.step - 1], *ends[place.gpu][place.tb][place.step]);
  };
  const auto fits = [&](const Unit& unit, const Step& step) {
    if (unit.last - unit.first >= most_steps_of_message) return false;
    for (std::int32_t i = unit.first; i <= unit.last; ++i) {
      if (clash(this->step(unit, i), step)) return false;
    }
    return true;
  };
  std::vector<std::vector<std::vector<bool>>> begins;
  for (std::size_t g = 0; g < program_.gpus.size(); ++g) {
    begins.emplace_back();
    for (std::size_t t = 0; t < program_.gpus[g].threadblocks.size(); ++t) {
      const std::size_t steps = program_.gpus[g].threadblocks[t].steps.size();
      begins[g].emplace_back(steps, true);
      Unit unit{.gpu = static_cast<Rank>(g), .tb = static_cast<std::int32_t>(t)};
      for (std::size_t i = 0; i < steps; ++i) {
        const auto index = static_cast<std::int32_t>(i);
        if (goes_on({g, t, i}) && fits(unit, at({g, t, i}))) {
          begins[g][t][i] = false;
        } else {
          unit.first = index;
        }
        unit.last = index;
      }
    }
  }
  // Both ends are cut where either one is.
  for (std::size_t g = 0; g < begins.size(); ++g) {
    for (std::size_t t = 0; t < begins[g].size(); ++t) {
      for (std::size_t i = 0; i < begins[g][t].size(); ++i) {
        for (const auto& ends : {sender_of_[g][t][i], receiver_of_[g][t][i]}) {
          if (!ends || (!begins[g][t][i] && !begins[ends->gpu][ends->tb][ends->step])) continue;
          begins[g][t][i] = true;
          begins[ends->gpu][ends->tb][ends->step] = true;
        }
      }
    }
  }
  for (std::size_t g = 0; g < begins.size(); ++g) {
    unit_of_.emplace_back();
    for (std::size_t t = 0; t < begins[g].size(); ++t) {
      unit_of_[g].emplace_back();
      UnitIndex before = no_unit;
      for (std::size_t i = 0; i < begins[g][t].size(); ++i) {
        if (begins[g][t][i]) {
          units_.push_back({.gpu = static_cast<Rank>(g),
                            .tb = static_cast<std::int32_t>(t),
                            .first = static_cast<std::int32_t>(i),
                            .before = before});
          before = static_cast<UnitIndex>(units_.size() - 1);
        }
        units_.back().last = static_cast<std::int32_t>(i);
        unit_of_[g][t].push_back(before);
      }
    }
  }
  const auto unit_at = [&](const ThreadblockStep& place) { return unit_of_[place.gpu][place.tb][place.step]; };
  for (Unit& unit : units_) {
    const ThreadblockStep place{static_cast<std::size_t>(unit.gpu), static_cast<std::size_t>(unit.tb),
                                static_cast<std::size_t>(unit.first)};
    if (const auto& end = sender_of_[place.gpu][place.tb][place.step]) unit.sender = unit_at(*end);
    if (const auto& end = receiver_of_[place.gpu][place.tb][place.step]) unit.receiver = unit_at(*end);
    const Step& step = at(place);
    if (step.depends_tb >= 0)
      unit.depends_on.push_back(
          unit_at({place.gpu, static_cast<std::size_t>(step.depends_tb), static_cast<std::size_t>(step.depends_step)}));
  }
}

/// Sorts by the number of messages that a unit waits for one after another. Those that can go at once stand together.
void Units::sort() {
  const auto count = static_cast<UnitIndex>(units_.size());
  std::vector<std::vector<UnitIndex>> after(count);
  std::vector<std::uint32_t> waiting(count, 0);
  for (UnitIndex i = 0; i < count; ++i) {
    each_before(units_[i], [&](UnitIndex before) {
      after[before].push_back(i);
      ++waiting[i];
    });
  }
  std::vector<std::uint32_t> level(count, 0);
  using Entry = std::pair<std::uint32_t, UnitIndex>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (UnitIndex i = 0; i < count; ++i) {
    if (waiting[i] == 0) ready.emplace(0, i);
  }
  std::vector<UnitIndex> order;
  while (!ready.empty()) {
    const UnitIndex i = ready.top().second;
    ready.pop();
    order.push_back(i);
    for (const UnitIndex next : after[i]) {
      level[next] = std::max(level[next], level[i] + (units_[next].sender == i ? 1 : 0));
      if (--waiting[next] == 0) ready.emplace(level[next], next);
    }
  }
  if (order.size() < units_.size()) {
    UnitIndex stuck = 0;
    while (waiting[stuck] == 0) ++stuck;
    // Goes back along the units that are waited for, as often as there are units. The end lies on a cycle.
    for (UnitIndex i = 0; i < count; ++i) {
      UnitIndex before = stuck;
      each_before(units_[stuck], [&](UnitIndex one) {
        if (waiting[one] > 0) before = one;
      });
      stuck = before;
    }
    refute(step(units_[stuck]).line,
           fmt::format("deadlock: gpu {}, threadblock {}, step {} waits for itself in the end", units_[stuck].gpu,
                       units_[stuck].tb, units_[stuck].first));
  }
  std::vector<UnitIndex> now(count);
  std::vector<Unit> sorted;
  sorted.reserve(count);
  for (UnitIndex i = 0; i < count; ++i) {
    now[order[i]] = i;
    sorted.push_back(std::move(units_[order[i]]));
  }
  const auto renumber = [&](UnitIndex& unit) {
    if (unit != no_unit) unit = now[unit];
  };
  for (Unit& unit : sorted) {
    renumber(unit.sender);
    renumber(unit.receiver);
    renumber(unit.before);
    for (UnitIndex& before : unit.depends_on) renumber(before);
  }
  units_ = std::move(sorted);
}

bool Units::ordered(UnitIndex earlier, UnitIndex later) const {
  if (earlier >= later) return earlier == later;
  const Unit& a = units_[earlier];
  const Unit& b = units_[later];
  if (a.gpu == b.gpu && (a.tb == b.tb || ordered_within(earlier, later))) return true;
  if (asked_ != later) {
    asked_ = later;
    before_asked_.assign(later + 1, false);
    before_asked_[later] = true;
    swept_ = later + 1;
  }
  // Sweeps back over all units down to `earlier`, and marks those that `later` waits for.
  while (swept_ > earlier) {
    --swept_;
    if (before_asked_[swept_]) each_before(units_[swept_], [&](UnitIndex before) { before_asked_[before] = true; });
  }
  return before_asked_[earlier];
}

/// True if the order follows from the rank's own threadblocks and dependences, as it mostly does.
bool Units::ordered_within(UnitIndex earlier, UnitIndex later) const {
  seen_.resize(units_.size(), no_unit);
  if (asked_within_ != later) {
    asked_within_ = later;
    std::vector<UnitIndex> open{later};
    seen_[later] = later;
    while (!open.empty()) {
      const Unit& unit = units_[open.back()];
      open.pop_back();
      const auto visit = [&](UnitIndex before) {
        if (seen_[before] == later) return;
        seen_[before] = later;
        open.push_back(before);
      };
      if (unit.before != no_unit) visit(unit.before);
      for (const UnitIndex before : unit.depends_on) visit(before);
    }
  }
  return seen_[earlier] == later;
}

}  // namespace circoll::msccl
