#include "interpose/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "circoll/error.hpp"
#include "core/text.hpp"
#include "interpose/ledger.hpp"

namespace circoll::interpose {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t columns = 120;
constexpr int schema_version = 1;

/// Ranks of one call may have blocks of different sizes, in different size classes.
bool differs_by_rank(Collective collective) { return is_irregular(collective) && !is_reducing(collective); }

std::string without_parameters(const std::string& algorithm) { return algorithm.substr(0, algorithm.find(':')); }

/// "12.3us"
std::string readable(std::optional<double> seconds) { return seconds ? readable_time(*seconds, "") : "-"; }

/// A line of the report without trailing spaces.
void add_line(std::string& text, const std::string& line) {
  const std::string whole = "circoll: " + line;
  text.append(whole, 0, whole.find_last_not_of(' ') + 1).append("\n");
}

template <typename... Fields>
void add_row(std::string& text, const Fields&... fields) {
  add_line(text, fmt::format("{:<20} {:<22} {:>9} {:>15} {:>8} {:>9} {:>8} {:>10}", fields...));
}

Json or_null(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

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
  const auto join = [](Sum& all, const Sum& one) {
    all.calls += one.calls;
    all.bytes += one.bytes;
    all.most_calls = std::max(all.most_calls, one.calls);
    all.seconds = std::max(all.seconds, one.seconds);
    all.inside_s = std::max(all.inside_s, one.inside_s);
  };
  for (const auto& field : nlohmann::json::parse(serialised)) {
    const auto collective = collective_from_string(field.at(0).get<std::string>());
    check(collective.has_value(), "a ledger names a collective");
    auto algorithm = field.at(3).get<std::string>();
    auto why = field.at(4).get<std::string>();
    const bool native = algorithm == "native";
    const Key key{field.at(2).get<Rank>(), static_cast<Mode>(field.at(1).get<int>()), *collective,
                  without_parameters(algorithm), native ? why : ""};
    const Sum one{.calls = field.at(6), .bytes = field.at(7), .seconds = field.at(8), .inside_s = field.at(9)};
    SizeClass& size_class = rows_[key].classes[field.at(5).get<int>()];
    join(size_class.sum, one);
    if (size_class.algorithm.empty()) {
      size_class.algorithm = std::move(algorithm);
      size_class.why = std::move(why);
    }
    Mine& row = mine[key];
    row.sum.calls += one.calls;
    row.sum.bytes += one.bytes;
    row.sum.seconds += one.seconds;
    row.sum.inside_s += one.inside_s;
    for (Mine* sum : {&row, &total}) {
      sum->own_calls += field.at(10).get<std::int64_t>();
      sum->own_s += field.at(11).get<double>();
    }
  }
  for (const auto& [key, row] : mine) {
    join(rows_[key].sum, row.sum);
    rows_[key].own.add(row.own_s, row.own_calls);
  }
  own_.add(total.own_s, total.own_calls);
}

Report::Predicted Report::predict(Estimator& estimator, const Key& key, const Sum& sum,
                                  const std::string& algorithm) const {
  const auto& [ranks, mode, collective, name, reason] = key;
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
  if (differs_by_rank(std::get<Collective>(key))) {
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

std::string Report::text() const {
  Estimator estimator(facts_.machine, facts_.library, facts_.node.all, facts_.node.crowded);
  std::string text;
  add_line(text, fmt::format("{} ranks of MPI_COMM_WORLD, {}; predictions for machine '{}'", facts_.ranks, facts_.mpi,
                             facts_.machine.name));
  add_line(text, "messages inside nodes: " + inside_nodes());
  if (!facts_.profile.empty()) add_line(text, "profile: " + facts_.profile);
  add_line(
      text,
      "calls, bytes and sizes are sums over the ranks. Times are sums over calls, of the rank where they are most:");
  add_line(text,
           "measured, predicted for the algorithm, predicted for the MPI library's own. own/call: our overhead [us],");
  add_line(
      text,
      "mean/max over the ranks. sizes: calls by bytes, from that number up to less than twice it. docs/reporting.md");
  std::optional<std::tuple<Rank, Mode>> section;
  for (const auto& [key, row] : rows_) {
    const auto& [ranks, mode, collective, algorithm, reason] = key;
    if (section != std::tuple(ranks, mode)) {
      section = {ranks, mode};
      add_line(text, {});
      add_line(text, fmt::format("communicators of {} {}, {} calls", ranks == 0 ? "unknown" : std::to_string(ranks),
                                 ranks == 0   ? "size"
                                 : ranks == 1 ? "rank"
                                              : "ranks",
                                 to_string(mode)));
      add_row(text, "collective", "served by", "calls", "bytes", "time", "predicted", "native", "own/call");
    }
    const Predicted predicted = predict(estimator, key, row);
    const std::string own = row.own.ranks == 0 ? "-"
                                               : fmt::format("{:.2f}/{:.2f}", row.own.sum_call_s / row.own.ranks * 1e6,
                                                             row.own.max_call_s * 1e6);
    add_row(text, to_string(collective), algorithm, row.sum.calls, row.sum.bytes, readable(row.sum.seconds),
            readable(predicted.seconds),
            readable(predicted.native ? std::optional(predicted.native->seconds) : std::nullopt), own);
    const SizeClass* busiest = nullptr;
    std::string sizes = "    sizes ";
    for (const auto& [size_class, entry] : row.classes) {
      const std::string item = fmt::format(" {}:{}", exact_number(least_bytes(size_class)), entry.sum.calls);
      if (sizes.size() + item.size() + sizeof("circoll: ") > columns) {
        add_line(text, sizes);
        sizes = "          ";
      }
      sizes += item;
      if (busiest == nullptr || entry.sum.calls > busiest->sum.calls) busiest = &entry;
    }
    add_line(text, sizes);
    // The reasons of a row name the same policy; the one of the commonest size stands for all.
    add_line(text, "    why    " + busiest->why);
  }
  if (facts_.learned) {
    add_line(text, {});
    for (const std::string& line : report_lines(*facts_.learned)) add_line(text, line);
  }
  return text;
}

std::string Report::json() const {
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
                    {"inside_nodes",
                     {{"ranks", facts_.node.ranks},
                      {"by_memory", facts_.node.by_memory},
                      {"read_directly", facts_.node.read_directly},
                      {"text", inside_nodes()}}},
                    {"calls", calls},
                    {"native_calls", native_calls},
                    {"own", own(own_)},
                    {"rows", std::move(rows)},
                    {"learned", facts_.learned ? Json::parse(report_json(*facts_.learned)) : Json(nullptr)}};
  return report.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace circoll::interpose
