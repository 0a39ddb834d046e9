#include "interpose/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "circoll/error.hpp"
#include "schedule/registry.hpp"

namespace circoll::interpose {

Estimator::Estimator(const Machine& machine, Library library, bool memory, bool crowded)
    : options_{.machine = machine},
      machines_(memory ? machines_inside(machine, crowded) : std::vector<MachineForLength>{{.machine = machine}}),
      library_(library) {
  model_ = make_policy("model", options_);
  if (library == Library::openmpi) fixed_ = make_policy("openmpi_fixed", options_);
}

std::optional<NativeEstimate> Estimator::estimate(Collective collective, Rank p, Count vector_bytes) const {
  const CallFacts facts{.collective = collective, .p = p, .bytes = vector_bytes};
  if (fixed_ != nullptr && collective == Collective::allreduce) {
    const Decision decision = fixed_->decide(facts);
    if (!decision.selection) return std::nullopt;
    return NativeEstimate{
        std::string(decision.selection->algorithm->name),
        seconds(terms_of(*decision.selection, p, vector_bytes, 0, options_.machine.ports), options_.machine)};
  }
  for (const Candidate& candidate : model_->decide(facts).candidates) {  // the least time first
    const Algorithm& algorithm = *candidate.selection.algorithm;
    if (algorithm.names_in(library_, collective).empty()) continue;
    return NativeEstimate{std::string(algorithm.name), candidate.seconds};
  }
  return std::nullopt;
}

std::optional<NativeEstimate> Estimator::native(Collective collective, Rank p, Count bytes) {
  if (p < 1) return std::nullopt;
  const Count vector = Amounts::of_reported(collective, p, bytes).vector_bytes();
  const auto [known, fresh] = known_.try_emplace({collective, p, vector});
  if (fresh) known->second = estimate(collective, p, vector);
  return known->second;
}

std::optional<double> Estimator::served(Collective collective, Rank p, Count bytes,
                                        const std::string& algorithm) const {
  if (p < 1) return std::nullopt;
  try {
    const Count vector = Amounts::of_reported(collective, p, bytes).vector_bytes();
    return seconds(terms_of(parse_selection(collective, algorithm), p, vector, 0, machines_.front().machine.ports),
                   machines_);
  } catch (const Error&) {
    return std::nullopt;
  }
}

namespace {

std::string without_parameters(const std::string& algorithm) {
  return algorithm.starts_with(file_prefix) ? algorithm : algorithm.substr(0, algorithm.find(':'));
}

}  // namespace

bool differs_by_rank(const CalledCollective& called) {
  return called.neighbor || (is_irregular(called.collective) && !is_reducing(called.collective));
}

void Report::Sum::join(const Sum& one) {
  least_s = calls == 0 ? one.least_s : std::min(least_s, one.least_s);
  most_least_s = std::max(most_least_s, one.least_s);
  calls += one.calls;
  bytes += one.bytes;
  most_calls = std::max(most_calls, one.calls);
  seconds = std::max(seconds, one.seconds);
  inside_s = std::max(inside_s, one.inside_s);
  all_seconds += one.seconds;
  all_inside_s += one.inside_s;
}

void Report::Own::add(double seconds, std::int64_t calls) {
  if (calls == 0) return;
  const double per_call = seconds / static_cast<double>(calls);
  ++ranks;
  sum_s += seconds;
  max_s = std::max(max_s, seconds);
  sum_call_s += per_call;
  max_call_s = std::max(max_call_s, per_call);
}

void Report::add_rank(std::string_view serialised) {
  struct Mine {
    Sum sum;
    std::int64_t own_calls = 0;
    double own_s = 0;
  };
  std::map<Key, Mine> mine;
  Mine total;
  for (const auto& field : nlohmann::json::parse(serialised)) {
    const std::optional<CalledCollective> called = called_from_string(field.at(0).get<std::string>());
    check(called.has_value(), "a ledger names a collective");
    auto algorithm = field.at(3).get<std::string>();
    auto why = field.at(4).get<std::string>();
    const bool native = algorithm == "native";
    const Key key{field.at(2).get<Rank>(), static_cast<Mode>(field.at(1).get<int>()), *called,
                  without_parameters(algorithm), native ? why : ""};
    const Sum one{.calls = field.at(6),
                  .bytes = field.at(7),
                  .seconds = field.at(8),
                  .inside_s = field.at(9),
                  .least_s = field.at(12)};
    SizeClass& size_class = rows_[key].classes[field.at(5).get<int>()];
    size_class.sum.join(one);
    if (size_class.algorithm.empty()) {
      size_class.algorithm = std::move(algorithm);
      size_class.why = std::move(why);
    }
    Mine& row = mine[key];
    row.sum.calls += one.calls;
    row.sum.bytes += one.bytes;
    row.sum.seconds += one.seconds;
    row.sum.inside_s += one.inside_s;
    total.sum.inside_s += one.inside_s;
    for (Mine* sum : {&row, &total}) {
      sum->own_calls += field.at(10).get<std::int64_t>();
      sum->own_s += field.at(11).get<double>();
    }
  }
  for (const auto& [key, row] : mine) {
    rows_[key].sum.join(row.sum);
    rows_[key].own.add(row.own_s, row.own_calls);
  }
  own_.add(total.own_s, total.own_calls);
  all_inside_s_ += total.sum.inside_s;
  most_inside_s_ = std::max(most_inside_s_, total.sum.inside_s);
}

Report::Predicted Report::predict(Estimator& estimator, const Key& key, const Sum& sum,
                                  const std::string& algorithm) const {
  const auto& [ranks, mode, called, name, reason] = key;
  if (called.neighbor) return {};  // the model does not know the graph
  const Collective collective = called.collective;
  const Count bytes = sum.calls == 0 ? 0 : sum.bytes / sum.calls;
  const auto calls = static_cast<double>(sum.most_calls);
  Predicted predicted;
  if (name != "native") {
    predicted.seconds = estimator.served(collective, ranks, bytes, algorithm);
    if (predicted.seconds) *predicted.seconds *= calls;
  }
  predicted.native = estimator.native(collective, ranks, bytes);
  if (predicted.native) predicted.native->seconds *= calls;
  return predicted;
}

Report::Predicted Report::predict(Estimator& estimator, const Key& key, const Row& row) const {
  if (differs_by_rank(std::get<CalledCollective>(key))) {
    return predict(estimator, key, row.sum, row.classes.begin()->second.algorithm);
  }
  Predicted all;
  bool native = true;
  bool served = true;
  for (const auto& [size_class, entry] : row.classes) {
    Predicted one = predict(estimator, key, entry.sum, entry.algorithm);
    served = served && one.seconds.has_value();
    native = native && one.native.has_value();
    if (served) all.seconds = all.seconds.value_or(0) + *one.seconds;
    if (!native) continue;
    if (!all.native) {
      all.native = std::move(one.native);
    } else {
      all.native->seconds += one.native->seconds;
    }
  }
  if (!served) all.seconds.reset();
  if (!native) all.native.reset();
  return all;
}

std::string Report::inside_nodes() const {
  const RunFacts::Node& node = facts_.node;
  if (node.ranks == 0) return "no rank has another one on its node";
  const auto by = [&](int ranks) {
    return ranks == node.ranks ? std::string() : fmt::format(" on {} of {} ranks", ranks, node.ranks);
  };
  if (node.by_memory == 0) return "by MPI, since " + node.reason;
  std::string text = "through memory that the ranks share" + by(node.by_memory);
  if (node.by_memory < node.ranks) text += ", since " + node.reason;
  if (node.read_directly == 0) return text + "; not read directly, since " + node.reading_reason;
  text += "; long ones are read directly" + by(node.read_directly);
  if (node.read_directly < node.ranks && !node.reading_reason.empty()) text += ", since " + node.reading_reason;
  return text;
}

}  // namespace circoll::interpose
