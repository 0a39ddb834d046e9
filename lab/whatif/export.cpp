#include "whatif/export.hpp"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "circoll/collectives.hpp"
#include "formats/formats.hpp"

namespace circoll::whatif {
namespace {

using Sink = std::function<void(std::string_view part)>;
using Items = std::vector<std::int64_t>;

/// One format: how a computation and the steps of a collective are written, by numbers of items.
struct Form {
  std::function<std::string(std::int64_t item, double time_s, const Items& after)> computation;
  std::function<std::string(const Schedule&, Count bytes, const InProgram&)> steps;
};

/// Writes ranks of a program, whose selections and schedules are kept.
class Exporter {
 public:
  Exporter(const Program& program, const Choose& choose, Form form)
      : program_(program), choose_(choose), form_(std::move(form)) {}

  void write(Rank rank, const Sink& sink) {
    const RankProgram& of = program_.programs[static_cast<std::size_t>(rank)];
    std::map<std::pair<std::uint32_t, std::uint32_t>, Schedule> schedules;  // by kind and position
    std::vector<std::pair<std::uint32_t, Items>> open;                      // nonblocking ones, with their groups
    std::int64_t next_item = 0;
    Items after;
    double before_s = of.begin_s;
    const auto compute = [&](double time_s) {
      sink(form_.computation(next_item, time_s, after));
      after = {next_item++};
    };
    for (const Entry& entry : of.entries) {
      compute(std::exchange(before_s, 0.0) + entry.gap_s);
      const Operation& operation = program_.operations[entry.operation];
      if (entry.blocks) {
        std::erase_if(open, [&](const auto& one) {
          if (one.first != operation.group) return false;
          after.insert(after.end(), one.second.begin(), one.second.end());
          return true;
        });
      }
      const Kind& kind = program_.kinds[operation.kind];
      if (kind.p == 1) continue;
      const auto [found, fresh] = schedules.try_emplace({operation.kind, entry.position});
      if (fresh) {
        const Selection& selection = selection_of(operation.kind);
        found->second =
            build_schedule(*selection.algorithm, selection.collective,
                           {.size = kind.p, .rank = entry.position, .root = kind.root, .params = selection.params});
      }
      const Schedule& schedule = found->second;
      const InProgram place{.first_item = next_item,
                            .members = program_.groups[operation.group].members,
                            .first_tag = entry.operation % 1024 * tags_of_collective,
                            .after = after};
      sink(form_.steps(schedule, kind.bytes, place));
      Items last = last_items(schedule, next_item);
      next_item += static_cast<std::int64_t>(schedule.steps.size());
      if (!entry.blocks) {
        open.emplace_back(operation.group, std::move(last));
      } else if (!last.empty()) {
        after = std::move(last);
      }
    }
    compute(of.tail_s + before_s);
    for (const auto& [group, last] : open) after.insert(after.end(), last.begin(), last.end());
    if (!open.empty()) compute(0);
  }

 private:
  const Selection& selection_of(std::uint32_t kind) {
    const auto [found, fresh] = selections_.try_emplace(kind);
    if (fresh) found->second = choose_(program_.kinds[kind]);
    return found->second;
  }

  const Program& program_;
  const Choose& choose_;
  Form form_;
  std::map<std::uint32_t, Selection> selections_;
};

}  // namespace

void write_goal(const Program& program, const Choose& choose, const Machine& machine, const Sink& sink) {
  Exporter exporter(
      program, choose,
      {.computation = [](std::int64_t item, double time_s,
                         const Items& after) { return goal_computation(item, std::llround(time_s * 1e9), after); },
       .steps =
           [&](const Schedule& schedule, Count bytes, const InProgram& place) {
             return goal_steps(schedule, bytes, machine.gamma_s_per_byte * 1e9, place);
           }});
  sink(goal_head(program.ranks));
  for (Rank rank = 0; rank < program.ranks; ++rank) {
    sink(goal_begin(rank));
    exporter.write(rank, sink);
    sink(goal_end);
  }
}

void write_chakra(const Program& program, const Choose& choose, const Machine& machine, Rank rank, const Sink& sink) {
  Exporter exporter(
      program, choose,
      {.computation = [](std::int64_t item, double time_s,
                         const Items& after) { return chakra_computation(item, std::llround(time_s * 1e6), after); },
       .steps =
           [&](const Schedule& schedule, Count bytes, const InProgram& place) {
             return chakra_steps(schedule, bytes, machine.gamma_s_per_byte * 1e6, place);
           }});
  sink(chakra_head());
  exporter.write(rank, sink);
}

}  // namespace circoll::whatif
