// A step in words: the slots that it reads and writes, the steps that it waits for, and why.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "answers.hpp"
#include "circoll/error.hpp"
#include "formats/sizes.hpp"
#include "schedule/walker.hpp"
#include "show/form.hpp"

namespace circoll::explorer {
namespace {

std::string text_of(const Schedule& schedule, Operand operand) {
  std::string text;
  for (const Range& range : schedule.operand(operand)) {
    const Slot slots = schedule.buffers[static_cast<std::size_t>(range.buffer)].slots;
    if (!text.empty()) text += ", ";
    text += fmt::format("{}[{}", show::buffer_name(range.buffer), range.first);
    if (range.count > 1) text += fmt::format("..{}", (range.first + range.count - 1) % slots);
    text += "]";
  }
  return text.empty() ? "nothing" : text;
}

/// "send 4 blocks to rank 3, round 2".
std::string in_words(const Schedule& schedule, const Step& step) {
  const auto blocks = [&](Operand operand) {
    const std::int64_t count = schedule.count(operand);
    return fmt::format("{} block{}", count, count == 1 ? "" : "s");
  };
  switch (step.kind) {
    case StepKind::send:
      return fmt::format("send {} to rank {}", text_of(schedule, step.left), step.peer);
    case StepKind::recv:
      return fmt::format("receive {} from rank {} into {}", blocks(step.dst), step.peer, text_of(schedule, step.dst));
    case StepKind::reduce:
      return fmt::format("{} = {} op {}", text_of(schedule, step.dst), text_of(schedule, step.left),
                         text_of(schedule, step.right));
    case StepKind::copy:
      return fmt::format("{} = {}", text_of(schedule, step.dst), text_of(schedule, step.left));
    case StepKind::recv_reduce:
      return fmt::format("receive from rank {}, and {} = {} op {}", step.peer, text_of(schedule, step.dst),
                         text_of(schedule, step.left), text_of(schedule, step.right));
  }
  return {};
}

/// A slot that both operands have, as they lie in memory, in words.
std::optional<std::string> shared(const Schedule& schedule, Operand a, Operand b) {
  const auto storage = [&](const Range& range) {
    return schedule.buffers[static_cast<std::size_t>(range.buffer)].storage;
  };
  for (const Range& x : schedule.operand(a)) {
    for (const Range& y : schedule.operand(b)) {
      if (storage(x) != storage(y)) continue;
      if (x.buffer != y.buffer) return "the memory of " + show::buffer_name(storage(x));
      const Slot slots = schedule.buffers[static_cast<std::size_t>(x.buffer)].slots;
      for (Slot i = 0; i < y.count; ++i) {
        const Slot slot = (y.first + i) % slots;
        if ((slot - x.first + slots) % slots < x.count) return fmt::format("{}[{}]", show::buffer_name(x.buffer), slot);
      }
    }
  }
  return std::nullopt;
}

/// The reason why a step waits for an earlier one.
std::string reason(const Schedule& schedule, const Step& earlier, const Step& later) {
  const auto first_shared = [&](const auto& operands, const auto& others) -> std::optional<std::string> {
    for (const Operand& a : operands) {
      for (const Operand& b : others) {
        if (auto slot = shared(schedule, a, b)) return slot;
      }
    }
    return std::nullopt;
  };
  if (const auto slot = first_shared(operands_written(earlier), operands_read(later)))
    return "it brings " + *slot + ", which is read here";
  if (const auto slot = first_shared(operands_read(earlier), operands_written(later)))
    return "it reads " + *slot + ", which is overwritten here";
  if (const auto slot = first_shared(operands_written(earlier), operands_written(later)))
    return "it writes " + *slot + ", which is written again here";
  return "the schedule says so";
}

json waits_of(const Session& session, StepOfRank at) {
  const Schedule& schedule = session.of(at.rank);
  const Dependencies& dependencies = session.dependencies(at.rank);
  json waits = json::array();
  for (StepIndex i = 0; i < schedule.steps.size(); ++i) {
    const auto successors = dependencies.successors(i);
    if (std::find(successors.begin(), successors.end(), at.step) == successors.end()) continue;
    waits.push_back({{"step", i},
                     {"round", schedule.steps[i].round},
                     {"text", in_words(schedule, schedule.steps[i])},
                     {"why", reason(schedule, schedule.steps[i], schedule.steps[at.step])}});
  }
  return waits;
}

json described(const Session& session, StepOfRank at, Count bytes) {
  const Schedule& schedule = session.of(at.rank);
  const Step& step = schedule.steps[at.step];
  json all = {{"rank", at.rank},
              {"step", at.step},
              {"round", step.round},
              {"kind", show::name_of(step.kind)},
              {"peer", step.peer},
              {"text", in_words(schedule, step)},
              {"waits", waits_of(session, at)}};
  if (!is_message(step)) return all;
  json blocks = json::array();
  for (Walker w(schedule, message_operand(step)); !w.done(); w.advance()) blocks.push_back(w.block());
  all["blocks"] = blocks;
  all["slots"] = text_of(schedule, message_operand(step));
  all["bytes"] = show::Sizes(schedule, bytes).of(message_operand(step));
  return all;
}

}  // namespace

std::string ask_step(Sessions& sessions, const json& question) {
  const Session& session = sessions.of(question);
  const StepOfRank at{question.at("rank").get<Rank>(), question.at("step").get<StepIndex>()};
  require(at.rank >= 0 && at.rank < session.size() && at.step < session.of(at.rank).steps.size(),
          "there is no such step");
  const auto bytes = question.value("bytes", Count{0});
  json all = described(session, at, bytes);
  const StepOfRank other = session.other_end(at);
  if (other.rank >= 0) all["other"] = described(session, other, bytes);
  return all.dump();
}

std::string ask_steps(Sessions& sessions, const json& question) {
  const Session& session = sessions.of(question);
  const auto rank = question.at("rank").get<Rank>();
  require(rank >= 0 && rank < session.size(), "there is no such rank");
  const Schedule& schedule = session.of(rank);
  json steps = json::array();
  for (const Step& step : schedule.steps) steps.push_back({step.round, in_words(schedule, step)});
  return steps.dump();
}

}  // namespace circoll::explorer
