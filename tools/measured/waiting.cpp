// Reads traces of CIRCOLL_TRACE, which have an event on each line.
#include "measured/waiting.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace circoll {
namespace {

struct Call {
  double begin_us = 0, end_us = 0;
  std::string collective{};
  int comm_size = 0;
};

bool is_blocking(const nlohmann::json& event) {
  return event.value("ph", "") == "X" && event.contains("args") && event["args"].value("mode", "") == "blocking";
}

/// The blocking calls of each rank, in the order of their beginnings.
std::map<int, std::vector<Call>> read_calls(std::istream& trace) {
  std::map<int, std::vector<Call>> calls;
  for (std::string line; std::getline(trace, line);) {
    if (line.ends_with(",")) line.pop_back();
    const nlohmann::json event = nlohmann::json::parse(line, nullptr, false);
    if (!event.is_object()) continue;
    try {
      if (event.value("ph", "") == "M") (void)calls[event.value("pid", 0)];
      if (!is_blocking(event)) continue;
      const double begin_us = event.at("ts").get<double>();
      const nlohmann::json& arguments = event["args"];
      calls[event.at("pid").get<int>()].push_back({.begin_us = begin_us,
                                                   .end_us = begin_us + event.at("dur").get<double>(),
                                                   .collective = arguments.value("collective", ""),
                                                   .comm_size = arguments.value("comm_size", 0)});
    } catch (const nlohmann::json::exception&) {
      continue;
    }
  }
  const auto ranks = static_cast<int>(calls.size());
  for (auto& [rank, of_rank] : calls) {
    std::erase_if(of_rank, [&](const Call& call) { return call.comm_size != ranks; });
    std::ranges::stable_sort(of_rank, {}, &Call::begin_us);
  }
  return calls;
}

}  // namespace

Waiting waiting_of(std::istream& trace) {
  const std::map<int, std::vector<Call>> ranks = read_calls(trace);
  Waiting waiting;
  for (std::size_t i = 0; !ranks.empty(); ++i) {
    const Call* first = nullptr;
    double last_entry_us = 0;
    for (const auto& [rank, calls] : ranks) {
      if (i >= calls.size() || (first != nullptr && calls[i].collective != first->collective)) return waiting;
      if (first == nullptr) last_entry_us = calls[i].begin_us;
      first = &calls[i];
      last_entry_us = std::max(last_entry_us, calls[i].begin_us);
    }
    ++waiting.calls;
    const double mean = 1e-6 / static_cast<double>(ranks.size());
    for (const auto& [rank, calls] : ranks) {
      const Call& call = calls[i];
      waiting.inside_s += mean * (call.end_us - call.begin_us);
      waiting.itself_s += mean * (call.end_us - (call.end_us < last_entry_us ? call.begin_us : last_entry_us));
    }
  }
  return waiting;
}

}  // namespace circoll
