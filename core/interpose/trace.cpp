#include "interpose/trace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "facts/hash.hpp"

namespace circoll::interpose {
namespace {

std::size_t hash_of(const Event& event) {
  QuickHash hash;
  hash.add(std::hash<std::string_view>{}(event.reason));
  hash.add(std::hash<std::string_view>{}(to_string(event.collective)));
  hash.add(static_cast<std::uint64_t>(event.mode));
  hash.add(static_cast<std::uint64_t>(event.ranks));
  if (event.served == nullptr) return hash.value();
  hash.add(std::hash<const void*>{}(event.served->algorithm));
  for (const auto& [name, value] : event.served->params) hash.add(static_cast<std::uint64_t>(value));
  return hash.value();
}

/// To nanoseconds, so that numbers stay short.
double rounded(double microseconds) { return std::round(microseconds * 1e3) / 1e3; }

}  // namespace

bool Trace::CallKind::is_of(const Event& event) const {
  if (collective != event.collective || mode != event.mode || ranks != event.ranks || reason != event.reason)
    return false;
  if (event.served == nullptr) return algorithm == nullptr;
  return algorithm == event.served->algorithm && params == event.served->params;
}

std::uint32_t Trace::kind_of(const Event& event) {
  const std::size_t hash = hash_of(event);
  const auto [begin, end] = index_.equal_range(hash);
  const auto known =
      std::find_if(begin, end, [&](const auto& candidate) { return kinds_[candidate.second].is_of(event); });
  if (known != end) return known->second;
  const auto fresh = static_cast<std::uint32_t>(kinds_.size());
  const bool native = event.served == nullptr;
  kinds_.push_back({.collective = event.collective,
                    .mode = event.mode,
                    .ranks = event.ranks,
                    .algorithm = native ? nullptr : event.served->algorithm,
                    .params = native ? Params{} : event.served->params,
                    .name = name_of(event.collective, event.served),
                    .reason = std::string(event.reason)});
  index_.emplace(hash, fresh);
  return fresh;
}

void Trace::add(const Event& event) {
  if (events_.size() >= limit_) {
    ++dropped_;
    return;
  }
  events_.push_back({.begin_s = event.begin_s,
                     .end_s = event.end_s,
                     .inside_s = event.inside_s,
                     .bytes = event.bytes,
                     .kind = kind_of(event),
                     .thread = event.thread < 0 ? thread_number() : event.thread});
}

double Trace::begin_s() const {
  double first = std::numeric_limits<double>::max();
  for (const Entry& event : events_) first = std::min(first, event.begin_s);
  return first;
}

void Trace::write(int process, const std::function<double(double)>& microseconds,
                  const std::function<void(std::string_view)>& sink) const {
  using Json = nlohmann::ordered_json;
  const auto put = [&](const Json& object) {
    sink(",\n" + object.dump(-1, ' ', false, Json::error_handler_t::replace));
  };
  const std::string name = "rank " + std::to_string(process);
  put({{"ph", "M"}, {"name", "process_name"}, {"pid", process}, {"tid", 0}, {"args", {{"name", name}}}});
  put({{"ph", "M"}, {"name", "process_sort_index"}, {"pid", process}, {"tid", 0}, {"args", {{"sort_index", process}}}});
  if (dropped_ > 0) {
    const std::string label = std::to_string(dropped_) + " calls dropped";
    put({{"ph", "M"}, {"name", "process_labels"}, {"pid", process}, {"tid", 0}, {"args", {{"labels", label}}}});
  }
  std::int64_t id = 0;
  for (const Entry& event : events_) {
    const CallKind& kind = kinds_[event.kind];
    const std::string title = std::string(to_string(kind.collective)) + " " + kind.name;
    const std::string_view category = kind.algorithm == nullptr ? "native" : "circoll";
    const double ts = rounded(microseconds(event.begin_s));
    const double end = rounded(microseconds(event.end_s));
    Json args{{"collective", to_string(kind.collective)},
              {"algorithm", kind.name},
              {"why", kind.reason},
              {"bytes", event.bytes},
              {"comm_size", kind.ranks},
              {"mode", to_string(kind.mode)}};
    Json object{{"ph", "X"}, {"cat", category}, {"name", title}, {"pid", process}, {"tid", event.thread}, {"ts", ts}};
    if (kind.mode == Mode::blocking) {
      object["dur"] = rounded(end - ts);
      object["args"] = std::move(args);
      put(object);
      continue;
    }
    Json start = object;
    start["cat"] = "start";
    start["name"] = "start " + title;
    start["dur"] = rounded(event.inside_s * 1e6);
    put(start);
    object["id2"] = {{"local", std::to_string(id++)}};
    object["ph"] = "b";
    object["args"] = std::move(args);
    put(object);
    object["ph"] = "e";
    object["ts"] = end;
    object.erase("args");
    put(object);
  }
}

}  // namespace circoll::interpose
