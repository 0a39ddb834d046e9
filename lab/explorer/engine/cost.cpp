// Predicted times: of all algorithms for one call, and over sizes.
#include <cmath>
#include <map>

#include "answers.hpp"
#include "circoll/collectives.hpp"
#include "circoll/error.hpp"

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
      const Terms terms = terms_of(selection, call.p, bytes, call.root);
      all["shown"] = {{"time_s", seconds(terms, call.machine)}, {"alpha", terms.alpha},
                      {"alpha_uni", terms.alpha_uni},           {"bytes", terms.bytes},
                      {"bytes_uni", terms.bytes_uni},           {"combined", terms.combined}};
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
  std::map<std::string, json> series;
  const int points = static_cast<int>(std::lround(std::log2(most / least))) * per_doubling;
  for (int i = 0; i <= points; ++i) {
    const auto bytes = static_cast<Count>(std::llround(least * std::exp2(static_cast<double>(i) / per_doubling)));
    sizes.push_back(bytes);
    for (const Ranked& ranked : call.ranking(bytes)) {
      json& row = series[std::string(ranked.selection.algorithm->name)];
      if (row.is_null()) row = json::array();
      row.push_back(ranked.unmet_need.empty() ? json(ranked.time_s) : json(nullptr));
    }
  }
  return json{{"sizes", sizes}, {"series", series}}.dump();
}

}  // namespace circoll::explorer
