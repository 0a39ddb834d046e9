// Cases in words.
#include "case.hpp"

#include <fmt/format.h>

#include "types.hpp"

namespace circoll::torture {

const char* to_string(Mode mode) {
  constexpr std::array names{"blocking", "nonblocking", "persistent"};
  return names[static_cast<std::size_t>(mode)];
}

const char* to_string(CommKind kind) {
  constexpr std::array names{"world", "self", "dup", "split", "reversed", "cart", "group", "alone", "grid", "graph"};
  return names[static_cast<std::size_t>(kind)];
}

int comm_of(const Case& c, const Step& step) {
  const auto index = static_cast<std::size_t>(step.index);
  switch (step.kind) {
    case StepKind::create_comm:
    case StepKind::free_comm:
      return step.index;
    case StepKind::message:
      return c.messages[index].comm;
    case StepKind::mistake:
      return c.operations[static_cast<std::size_t>(c.mistakes[index].operation)].comm;
    case StepKind::idle:
      return -1;
    default:
      return c.operations[index].comm;
  }
}

std::string describe(const Case& c, const Mistake& mistake) {
  constexpr std::array faults{"no operator",      "an operator that the type does not have",
                              "no type",          "a type that is not committed",
                              "a negative root",  "a root that is no rank",
                              "a negative count", "equal buffers"};
  constexpr std::array who{"one rank", "some ranks", "all ranks"};
  const Operation& o = c.operations[static_cast<std::size_t>(mistake.operation)];
  return fmt::format("mistake e{}: {} of comm {}: {} {} like #{} with {}{}", mistake.id,
                     who[static_cast<std::size_t>(mistake.who)], o.comm, to_string(mistake.mode),
                     circoll::to_string(called(o)), o.id, faults[static_cast<std::size_t>(mistake.fault)],
                     mistake.met ? "; then all meet" : "");
}

std::string describe(const Case& c, const Operation& o) {
  std::string text =
      fmt::format("#{} {} {}{} on comm {} ({})", o.id, to_string(o.mode), circoll::to_string(called(o)),
                  o.large ? " _c" : "", o.comm, to_string(c.comms[static_cast<std::size_t>(o.comm)].kind));
  if (!traits_of(o.collective).moves_data) return text;
  text += fmt::format(" count {}", o.count);
  if (o.unit != 1) text += fmt::format("x{}", o.unit);
  text += fmt::format(" {}{}{}{}",
                      o.plain    ? ""
                      : o.differ ? "differing types of "
                                 : "derived type of ",
                      base_type(o.base).name, o.base == base_words ? std::to_string(o.layout) : "",
                      o.absolute ? " at MPI_BOTTOM" : "");
  if (is_reducing(o.collective)) {
    text += fmt::format(" op {}", o.user == UserOp::none      ? circoll::to_string(o.op)
                                  : o.user == UserOp::compose ? "user compose"
                                  : o.declared_commutative    ? "user add"
                                                              : "user add, not declared commutative");
    if (o.fractions) text += " of fractions";
  }
  if (is_rooted(o.collective)) text += fmt::format(" root {} mod p", o.root);
  if (o.in_place) text += " in place";
  if (o.sloppy) text += " sloppy";
  if (o.freed_early) text += " freed early";
  if (o.arrays == Arrays::overwritten) text += " arrays overwritten";
  if (o.arrays == Arrays::unmapped) text += " arrays unmapped";
  if (o.executions > 1) text += fmt::format(" {} times", o.executions);
  return text;
}

std::string describe(const Case& c, const Step& step) {
  const auto index = static_cast<std::size_t>(step.index);
  switch (step.kind) {
    case StepKind::create_comm: {
      const CommSpec& spec = c.comms[index];
      return fmt::format("make comm {}: {} of comm {}", step.index, to_string(spec.kind), spec.parent);
    }
    case StepKind::free_comm:
      return fmt::format("free comm {}", step.index);
    case StepKind::init:
      return "init " + describe(c, c.operations[index]);
    case StepKind::start:
      return "start " + describe(c, c.operations[index]);
    case StepKind::finish:
      return fmt::format("finish #{}", step.index);
    case StepKind::free_request:
      return fmt::format("free the request of #{}", step.index);
    case StepKind::message: {
      const PointToPoint& m = c.messages[index];
      return fmt::format("{} message m{} on comm {}{}, {} ints, shift {} mod p{}",
                         m.blocking ? "blocking" : "nonblocking", m.id, m.comm,
                         c.comms[static_cast<std::size_t>(m.comm)].wild ? " (wild)" : "", m.length, m.shift,
                         m.synchronous ? ", synchronous" : "");
    }
    case StepKind::mistake:
      return describe(c, c.mistakes[index]);
    case StepKind::idle:
      break;
  }
  return "idle";
}

std::string describe(const Case& c) {
  std::string text;
  for (std::size_t lane = 0; lane < c.lanes.size(); ++lane) {
    if (c.lanes.size() > 1) {
      text += fmt::format("  thread {}\n", lane);
      for (std::size_t i = 2; i < c.comms.size() && lane == 0; ++i) {
        if (c.comms[i].in_lane) continue;
        text += "    before: " + describe(c, Step{StepKind::create_comm, static_cast<int>(i)}) + "\n";
      }
    }
    for (std::size_t i = 0; i < c.lanes[lane].size(); ++i) {
      text += fmt::format("  {:3} {}\n", i, describe(c, c.lanes[lane][i]));
    }
  }
  return text;
}

}  // namespace circoll::torture
