// The times at which steps begin and end, as the simulator plays them.
#include "answers.hpp"
#include "sim/sim.hpp"

namespace circoll::explorer {
namespace {

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

std::string ask_times(Sessions& sessions, const json& question) {
  const Session& session = sessions.of(question);
  const sim::Ranks ranks(session.ranks());
  const sim::Outcome outcome =
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
