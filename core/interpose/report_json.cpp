// The report for a program.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "interpose/ledger.hpp"
#include "interpose/report.hpp"

namespace circoll::interpose {
namespace {

using Json = nlohmann::ordered_json;

constexpr int schema_version = 1;

Json or_null(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

std::string Report::json() const { return json_with(1) + "\n"; }

std::string Report::json_line() const { return json_with(-1); }

std::string Report::json_with(int indent) const {
  Estimator estimator(facts_.machine, facts_.library, facts_.node.all, facts_.node.crowded);
  const auto own = [](const Own& o) -> Json {
    if (o.ranks == 0) return nullptr;
    return {{"ranks", o.ranks},
            {"mean_s", o.sum_s / o.ranks},
            {"max_s", o.max_s},
            {"mean_per_call_s", o.sum_call_s / o.ranks},
            {"max_per_call_s", o.max_call_s}};
  };
  const auto native_seconds = [](const Predicted& predicted) {
    return or_null(predicted.native ? std::optional(predicted.native->seconds) : std::nullopt);
  };
  const auto program = [&]() -> Json {
    if (facts_.program_s.empty()) return nullptr;
    const double all = std::accumulate(facts_.program_s.begin(), facts_.program_s.end(), 0.0);
    return {{"name", facts_.program},
            {"seconds", *std::max_element(facts_.program_s.begin(), facts_.program_s.end())},
            {"mean_s", mean_of(all)}};
  };
  std::int64_t calls = 0;
  std::int64_t native_calls = 0;
  Json rows = Json::array();
  for (const auto& [key, row] : rows_) {
    const auto& [ranks, mode, collective, algorithm, reason] = key;
    calls += row.sum.calls;
    if (algorithm == "native") native_calls += row.sum.calls;
    Json histogram = Json::array();
    for (const auto& [size_class, entry] : row.classes) {
      Json one{{"bytes_from", least_bytes(size_class)},
               {"bytes_to", size_class == 0 ? 0 : 2 * (least_bytes(size_class) - 1) + 1},
               {"calls", entry.sum.calls},
               {"bytes", entry.sum.bytes},
               {"seconds", entry.sum.seconds},
               {"mean_s", mean_of(entry.sum.all_seconds)},
               {"least_s", traits_of(collective.collective).rooted ? entry.sum.most_least_s : entry.sum.least_s},
               {"algorithm", entry.algorithm},
               {"why", entry.why}};
      if (!differs_by_rank(collective)) {
        const Predicted predicted = predict(estimator, key, entry.sum, entry.algorithm);
        one["predicted_s"] = or_null(predicted.seconds);
        one["native_s"] = native_seconds(predicted);
        one["native_algorithm"] = predicted.native ? Json(predicted.native->algorithm) : Json(nullptr);
      }
      histogram.push_back(std::move(one));
    }
    const Predicted predicted = predict(estimator, key, row);
    Json entry{{"comm_size", ranks == 0 ? Json(nullptr) : Json(ranks)},
               {"mode", to_string(mode)},
               {"collective", to_string(collective)},
               {"served_by", algorithm},
               {"why_native", algorithm == "native" ? Json(reason) : Json(nullptr)},
               {"calls", row.sum.calls},
               {"bytes", row.sum.bytes},
               {"seconds", row.sum.seconds},
               {"inside_s", row.sum.inside_s},
               {"mean_s", mean_of(row.sum.all_seconds)},
               {"mean_inside_s", mean_of(row.sum.all_inside_s)},
               {"predicted_s", or_null(predicted.seconds)},
               {"native_s", native_seconds(predicted)},
               {"own", own(row.own)},
               {"histogram", std::move(histogram)}};
    rows.push_back(std::move(entry));
  }
  const Json report{{"circoll_report", schema_version},
                    {"mpi", facts_.mpi},
                    {"ranks", facts_.ranks},
                    {"machine", facts_.machine.name},
                    {"profile", facts_.profile.empty() ? Json(nullptr) : Json(facts_.profile)},
                    {"topology", facts_.topology.empty() ? Json(nullptr) : Json(facts_.topology)},
                    {"network", facts_.network.empty() ? Json(nullptr) : Json(facts_.network)},
                    {"device_memory", facts_.devices.empty() ? Json(nullptr) : Json(facts_.devices)},
                    {"inside_nodes",
                     {{"ranks", facts_.node.ranks},
                      {"by_memory", facts_.node.by_memory},
                      {"read_directly", facts_.node.read_directly},
                      {"text", inside_nodes()}}},
                    {"calls", calls},
                    {"native_calls", native_calls},
                    {"program", program()},
                    {"collectives", {{"seconds", most_inside_s_}, {"mean_s", mean_of(all_inside_s_)}}},
                    {"own", own(own_)},
                    {"rows", std::move(rows)},
                    {"learned", facts_.learned ? Json::parse(facts_.learned->json) : Json(nullptr)}};
  return report.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace circoll::interpose
