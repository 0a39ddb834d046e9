#include "interpose/ledger.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <nlohmann/json.hpp>

#include "facts/hash.hpp"

namespace circoll::interpose {

int size_class(Count bytes) {
  return bytes <= 0 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes)));
}

Count least_bytes(int size_class) { return size_class == 0 ? 0 : Count{1} << (size_class - 1); }

std::size_t Ledger::Hash::operator()(const KeyView& key) const {
  return QuickHash()
      .add(std::hash<const void*>{}(key.algorithm))
      .add(std::hash<std::string_view>{}(key.reason))
      .add(std::hash<std::string_view>{}(to_string(key.collective)))
      .add(static_cast<std::uint64_t>(key.mode))
      .add(static_cast<std::uint64_t>(key.ranks))
      .add(static_cast<std::uint64_t>(key.size_class))
      .value();
}

void Ledger::add(const Event& event) {
  const bool native = event.served == nullptr;
  const KeyView key{.collective = event.collective,
                    .mode = event.mode,
                    .ranks = event.ranks,
                    .algorithm = native ? nullptr : event.served->algorithm,
                    .reason = native ? event.reason : std::string_view{},
                    .size_class = size_class(event.bytes)};
  auto row = rows_.find(key);
  if (row == rows_.end()) {
    row = rows_.emplace(Key{.view = key, .reason = std::string(key.reason)}, Tally{}).first;
    row->second.algorithm = name_of(event.collective, event.served);
    row->second.why = event.reason;
  }
  Tally& tally = row->second;
  const double seconds = event.end_s - event.begin_s;
  tally.least_s = tally.calls == 0 ? seconds : std::min(tally.least_s, seconds);
  ++tally.calls;
  tally.bytes += event.bytes;
  tally.seconds += seconds;
  tally.inside_s += event.inside_s;
  if (event.own_s > 0) {
    ++tally.own_calls;
    tally.own_s += event.own_s;
  }
}

std::string Ledger::serialised() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& [key, tally] : rows_) {
    rows.push_back({to_string(key.view.collective), static_cast<int>(key.view.mode), key.view.ranks, tally.algorithm,
                    tally.why, key.view.size_class, tally.calls, tally.bytes, tally.seconds, tally.inside_s,
                    tally.own_calls, tally.own_s, tally.least_s});
  }
  return rows.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace circoll::interpose
