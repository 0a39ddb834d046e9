// Times: predictions for all algorithms of a call, also over sizes, and the steps that the simulator plays.
#include <cmath>
#include <map>

#include "answers.hpp"
#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "show/values_json.hpp"
#include "sim/sim.hpp"

namespace circoll::explorer {
namespace {

/// The call that is priced.
struct Priced {
  Collective collective = Collective::allreduce;
  Rank p = 1;
  Rank root = 0;
  OperatorTraits op{};
  Machine machine{};

  explicit Priced(const json& question)
      : collective(collective_from_string(question.at("collective").get<std::string>()).value()),
        p(question.at("p").get<Rank>()),
        root(question.value("root", Rank{0})),
        op{.commutative = question.value("commutative", true), .idempotent = question.value("idempotent", false)},
        machine(machine_of(question)) {
    require(p >= 1 && root >= 0 && root < p, "1 <= p, and the root is a rank");
    if (!is_reducing(collective)) op = {.commutative = true, .idempotent = true};
  }

  [[nodiscard]] std::vector<Ranked> ranking(Count bytes) const {
    return rank_algorithms(collective, p, bytes, op, machine, root);
  }
};

/// A message with its prices.
sim::LogGops prices_of(const json& given) {
  sim::LogGops prices;
  prices.latency_s = given.value("latency_s", 0.0);
  prices.overhead_s = given.value("overhead_s", 0.0);
  prices.gap_s = given.value("gap_s", 0.0);
  prices.gap_s_per_byte = given.value("gap_s_per_byte", 0.0);
  return prices;
}

sim::Network network_of_question(const json& question) {
  const Machine machine = machine_of(question);
  const auto cores = question.value("cores", Rank{1});
  sim::Network network = sim::network_of(machine, cores);
  if (question.contains("loggops")) {
    network.between = prices_of(question.at("loggops"));
  }
  // Inside a node latency and bytes cost less. The page says by how much.
  if (cores > 1) {
    const double share = question.value("inside", 0.2);
    network.inside = sim::alpha_beta(machine.alpha_s * share, machine.beta_s_per_byte * share);
  }
  return network;
}

}  // namespace

Machine machine_of(const json& question) {
  Machine machine;
  const auto given = question.find("machine");
  if (given == question.end()) return machine;
  machine.alpha_s = given->value("alpha_s", machine.alpha_s);
  machine.beta_s_per_byte = given->value("beta_s_per_byte", machine.beta_s_per_byte);
  machine.gamma_s_per_byte = given->value("gamma_s_per_byte", machine.gamma_s_per_byte);
  machine.f_alpha = given->value("f_alpha", machine.f_alpha);
  machine.f_beta = given->value("f_beta", machine.f_beta);
  return machine;
}

std::string ask_ranking(Sessions& /*sessions*/, const json& question) {
  const Priced call(question);
  const auto bytes = question.at("bytes").get<Count>();
  json ranking = json::array();
  for (const Ranked& ranked : call.ranking(bytes)) {
    json row = {{"name", ranked.selection.algorithm->name}, {"text", ranked.selection.text()}};
    if (ranked.unmet_need.empty()) {
      row["time_s"] = ranked.time_s;
      row["rounds"] = ranked.terms.alpha + ranked.terms.alpha_uni;
      row["bytes"] = ranked.terms.bytes + ranked.terms.bytes_uni;
      row["combined"] = ranked.terms.combined;
    } else {
      row["unmet"] = ranked.unmet_need;
    }
    ranking.push_back(std::move(row));
  }
  json all = {{"ranking", ranking}};
  // The selection on show, with its own parameters.
  if (question.contains("id")) {
    const Selection selection = parse_selection(question.at("id").get<std::string>());
    const std::string unmet = unmet_need(selection, call.p, call.op);
    if (unmet.empty()) {
      const Terms terms = terms_of(selection, call.p, bytes, call.root, call.machine.ports);
      json shown = as_json(terms);
      shown["time_s"] = seconds(terms, call.machine);
      all["shown"] = std::move(shown);
    }
  }
  return all.dump();
}

std::string ask_chart(Sessions& /*sessions*/, const json& question) {
  const Priced call(question);
  const double least = question.value("from", 8.0);
  const double most = question.value("to", 67108864.0);
  const int per_doubling = question.value("per_doubling", 2);
  json sizes = json::array();
  json best = json::array();
  std::map<std::string, json> series;
  const int points = static_cast<int>(std::lround(std::log2(most / least))) * per_doubling;
  for (int i = 0; i <= points; ++i) {
    const auto bytes = static_cast<Count>(std::llround(least * std::exp2(static_cast<double>(i) / per_doubling)));
    sizes.push_back(bytes);
    // The ranking breaks ties, so that the chart and the list name the same algorithm.
    const std::vector<Ranked> ranking = call.ranking(bytes);
    const bool able = !ranking.empty() && ranking.front().unmet_need.empty();
    best.push_back(able ? ranking.front().selection.algorithm->name : std::string_view{});
    for (const Ranked& ranked : ranking) {
      json& row = series[std::string(ranked.selection.algorithm->name)];
      if (row.is_null()) row = json::array();
      row.push_back(ranked.unmet_need.empty() ? json(ranked.time_s) : json(nullptr));
    }
  }
  return json{{"sizes", sizes}, {"series", series}, {"best", best}}.dump();
}

std::string ask_times(Sessions& sessions, const json& question) {
  const Session& session = sessions.of(question);
  const sim::Ranks ranks(session.ranks());
  const sim::SimulatedRun outcome =
      sim::simulate(ranks, question.at("bytes").get<double>(), network_of_question(question), {}, {.record = true});
  json steps = json::array();
  for (Rank r = 0; r < session.size(); ++r) {
    json row = json::array();
    for (std::size_t i = outcome.first_step[static_cast<std::size_t>(r)];
         i < outcome.first_step[static_cast<std::size_t>(r) + 1]; ++i) {
      const sim::PlayedStep& played = outcome.played[i];
      row.push_back(played.begin_s);
      row.push_back(played.end_s);
    }
    steps.push_back(std::move(row));
  }
  json path = json::array();
  for (const sim::PathStep& link : sim::critical_path(outcome)) {
    path.push_back({link.rank, link.step, static_cast<int>(link.played.wait)});
  }
  json kinds = json::array();
  for (const Schedule& schedule : session.ranks()) {
    std::string row;
    for (const Step& step : schedule.steps) row += "srxcv"[static_cast<std::size_t>(step.kind)];
    kinds.push_back(row);
  }
  return json{{"time_s", outcome.time_s},
              {"last_rank", outcome.last_rank},
              {"steps", std::move(steps)},
              {"kinds", std::move(kinds)},
              {"path", std::move(path)}}
      .dump();
}

}  // namespace circoll::explorer
