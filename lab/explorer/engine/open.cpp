// Opening a session: the schedules of all ranks are built, described for the page, and proven.
#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "answers.hpp"
#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "schedule/registry.hpp"
#include "show/values_json.hpp"
#include "symbolic/expressions.hpp"

#ifdef __EMSCRIPTEN__
namespace circoll {

// The sources of a page have no policies, whose room defines it.
const Algorithm& algorithm_of_file(const std::string& path) {
  throw Error(ErrorCode::unsupported, path + ": a page opens no files; paste the schedules into \"Your schedule\"");
}

}  // namespace circoll
#endif

namespace circoll::explorer {
namespace {

/// The most slots, and steps, of all ranks that the page draws. With more a browser would be slow.
constexpr std::int64_t most_slots = 4'000'000;
constexpr std::int64_t most_steps = 1'000'000;

/// Refuses schedules that are too large to be drawn, before all of them are built.
void check_size(const Schedule& first, Rank p) {
  std::int64_t slots = 0;
  for (const Buffer& buffer : first.buffers) slots += buffer.slots;
  if (slots * p <= most_slots && static_cast<std::int64_t>(first.steps.size()) * p <= most_steps) return;
  throw Error(ErrorCode::unsupported,
              fmt::format("p = {} is too large to be drawn here: about {} slots and {} steps on all ranks. Proof and "
                          "cost work for it all the same, and so do 'circoll show' and 'circoll simulate'",
                          p, slots * p, static_cast<std::int64_t>(first.steps.size()) * p));
}

using Out = std::back_insert_iterator<std::string>;

void write_buffers(Out out, const Schedule& schedule) {
  const char* between = "";
  for (const Buffer& buffer : schedule.buffers) {
    fmt::format_to(out, "{}{{\"storage\":{},\"blocks\":[", between, buffer.storage);
    const auto number = static_cast<std::int32_t>(&buffer - schedule.buffers.data());
    for (Slot slot = 0; slot < buffer.slots; ++slot)
      fmt::format_to(out, "{}{}", slot > 0 ? "," : "", schedule.block_of(number, slot));
    fmt::format_to(out, "]}}");
    between = ",";
  }
}

/// Messages as six numbers each: from, to, round, blocks, the step that sends, and the one that receives or -1.
void write_messages(Out out, const Session& session) {
  const char* between = "";
  for (Rank r = 0; r < session.size(); ++r) {
    const Schedule& schedule = session.of(r);
    for (StepIndex i = 0; i < schedule.steps.size(); ++i) {
      const Step& step = schedule.steps[i];
      if (step.kind != StepKind::send) continue;
      const StepOfRank receive = session.other_end({r, i});
      fmt::format_to(out, "{}{},{},{},{},{},{}", between, r, step.peer, step.round, schedule.count(step.left), i,
                     receive.rank < 0 ? std::int64_t{-1} : std::int64_t{receive.step});
      between = ",";
    }
  }
}

/// The places of every rank's results: the buffer, the first slot, and how many.
void write_outputs(Out out, const Session& session) {
  for (Rank r = 0; r < session.size(); ++r) {
    const Schedule& schedule = session.of(r);
    const CollectiveContract contract = contract_of(schedule.collective, schedule.shape, schedule.segments);
    fmt::format_to(out, "{}[{},{},{}]", r > 0 ? "," : "", contract.output_buffer, contract.output_first,
                   contract.output_count);
  }
}

/// The rank that contributes each user block, where only one does.
void write_contributors(Out out, const Schedule& schedule) {
  if (symbolic::contributes_to_all(schedule.collective)) return;
  for (Block user_block = 0; user_block < schedule.user_blocks; ++user_block)
    fmt::format_to(out, "{}{}", user_block > 0 ? "," : "",
                   symbolic::contributor(schedule, user_block * schedule.segments));
}

/// The shape that a question names, of an algorithm's selection.
Shape shape_of(const Selection& selection, const json& question) {
  Shape shape{.size = question.at("p").get<Rank>(),
              .root = question.value("root", Rank{0}),
              .in_place = question.value("in_place", false),
              .params = selection.params};
  require(shape.size >= 1, "p, the number of ranks, is at least 1");
  if (shape.root < 0 || shape.root >= shape.size)
    throw Error(ErrorCode::invalid_argument, fmt::format("the root lies in 0 .. {}", shape.size - 1));
  return shape;
}

}  // namespace

json as_json(const Verdict& verdict) {
  json all = {{"proven", verdict.proven()},
              {"counted", as_json(verdict.counted)},
              {"messages", verdict.messages},
              {"reductions", verdict.reductions},
              {"by_rotation", verdict.by_rotation}};
  if (verdict.refutation) all["refutation"] = as_json(*verdict.refutation);
  return all;
}

std::string described(const Session& session) {
  const Schedule& first = session.first();
  const bool exchange = is_exchange(first.collective);
  std::string text;
  const Out out = std::back_inserter(text);
  const json head = {{"id", first.id},
                     {"collective", to_string(first.collective)},
                     {"p", session.size()},
                     {"root", first.shape.root},
                     {"params", first.shape.params},
                     {"rounds", session.rounds()},
                     {"blocks", first.blocks()},
                     {"user_blocks", first.user_blocks},
                     {"segments", first.segments},
                     {"blocks_of_vector", exchange ? session.size() * first.segments : first.blocks()},
                     {"moves_data", traits_of(first.collective).moves_data},
                     {"combines", symbolic::contributes_to_all(first.collective)},
                     {"executes", session.stopped() ? session.stopped()->claim != Claim::matching : true}};
  text = head.dump();
  text.pop_back();
  fmt::format_to(out, ",\"buffers\":[");
  for (Rank r = 0; r < session.size(); ++r) {
    fmt::format_to(out, "{}[", r > 0 ? "," : "");
    write_buffers(out, session.of(r));
    fmt::format_to(out, "]");
  }
  fmt::format_to(out, "],\"outputs\":[");
  write_outputs(out, session);
  fmt::format_to(out, "],\"contributors\":[");
  write_contributors(out, session.first());
  fmt::format_to(out, "],\"messages\":[");
  write_messages(out, session);
  fmt::format_to(out, "]}}");
  return text;
}

std::string ask_open(Sessions& sessions, const json& question) {
  const Selection selection = parse_selection(question.at("id").get<std::string>());
  const Algorithm& algorithm = *selection.algorithm;
  const Shape shape = shape_of(selection, question);
  Shape own = shape;
  own.rank = shape.root;
  check_size(build_schedule(algorithm, selection.collective, own), shape.size);
  const Claims claims{.needs = needs_of(algorithm, selection.collective, shape.params),
                      .guarantees = guarantees_of(algorithm, shape.params)};
  auto session = std::make_unique<Session>(build_all_ranks(algorithm, selection.collective, shape),
                                           Origin{.selection = selection, .shape = shape, .claims = claims});
  return described(sessions.put(question, std::move(session)));
}

std::string ask_verdict(Sessions& sessions, const json& question) {
  return as_json(sessions.of(question).verdict()).dump();
}

/// A proof for one p, in all ways in which the collective can be called.
std::string ask_proof(Sessions& /*sessions*/, const json& question) {
  const Selection selection = parse_selection(question.at("id").get<std::string>());
  const auto p = question.at("p").get<Rank>();
  VerifyRange range{.first = p, .last = p, .all_roots = question.value("all_roots", false)};
  if (question.value("all_ranks", false)) range.method = ProofMethod::all_ranks;
  const std::vector<RangeVerdict> verdicts = verify_range({selection}, range);
  check(verdicts.size() == 1, "one algorithm was verified");
  const RangeVerdict& verdict = verdicts.front();
  json all = {{"instances", verdict.instances}, {"by_rotation", verdict.by_rotation}};
  if (verdict.refutation) all["refutation"] = as_json(*verdict.refutation);
  return all.dump();
}

}  // namespace circoll::explorer
