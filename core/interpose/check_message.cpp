#include "interpose/check_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace circoll::interpose {
namespace {

/// Pairs of ranks that one message names.
constexpr std::size_t most_pairs = 8;

using CallJson = nlohmann::json;

CallJson json_of(const std::vector<PeerBytes>& all) {
  CallJson list = CallJson::array();
  for (const PeerBytes& one : all) list.push_back({one.peer, one.bytes, one.edge});
  return list;
}

std::vector<PeerBytes> list_from(const CallJson& json) {
  std::vector<PeerBytes> list;
  for (const CallJson& one : json)
    list.push_back({one.at(0).get<Rank>(), one.at(1).get<Count>(), one.at(2).get<int>()});
  return list;
}

Count bytes_of(const std::vector<PeerBytes>& all, Rank peer, int edge) {
  const auto is_it = [&](const PeerBytes& one) { return one.peer == peer && one.edge == edge; };
  // Most lists are of all ranks in order.
  const auto index = static_cast<std::size_t>(peer);
  if (index < all.size() && is_it(all[index])) return all[index].bytes;
  const auto found = std::find_if(all.begin(), all.end(), is_it);
  return found == all.end() ? 0 : found->bytes;
}

std::string pair_text(Rank from, const PeerBytes& sent, Count expected) {
  const std::string bytes = bytes_text(sent.bytes);
  const std::string edge = sent.edge == 0 ? "" : fmt::format(", by edge {} between them", sent.edge + 1);
  if (from == sent.peer)
    return fmt::format("  rank {} sends itself {} and expects {}{}\n", from, bytes, expected, edge);
  return fmt::format("  rank {} sends {} to rank {}, which expects {}{}\n", from, bytes, sent.peer, expected, edge);
}

/// The pairs of ranks of which one sends another amount than the other expects.
std::string pairs_text(std::span<const DescribedCall> calls) {
  std::string text;
  std::size_t pairs = 0;
  const auto size = static_cast<Rank>(calls.size());
  for (Rank from = 0; from < size; ++from) {
    for (const PeerBytes& one : calls[static_cast<std::size_t>(from)].sends) {
      if (one.peer < 0 || one.peer >= size) continue;
      const Count expected = bytes_of(calls[static_cast<std::size_t>(one.peer)].expects, from, one.edge);
      if (one.bytes != expected && pairs++ < most_pairs) text += pair_text(from, one, expected);
    }
  }
  if (pairs > most_pairs) text += fmt::format("  and so on, of {} pairs of ranks\n", pairs);
  return text;
}

bool alike(const DescribedCall& a, const DescribedCall& b) {
  return a.hash == b.hash && a.call == b.call && a.caller == b.caller;
}

std::string groups_text(std::span<const DescribedCall> calls) {
  std::string text;
  std::vector<bool> named(calls.size());
  for (std::size_t first = 0; first < calls.size(); ++first) {
    if (named[first]) continue;
    std::vector<Rank> ranks;
    for (std::size_t i = first; i < calls.size(); ++i) {
      if (named[i] || !alike(calls[i], calls[first])) continue;
      named[i] = true;
      ranks.push_back(static_cast<Rank>(i));
    }
    text +=
        fmt::format("  {}: {}, called from {}\n", circoll::ranks_text(ranks), calls[first].call, calls[first].caller);
  }
  return text;
}

}  // namespace

std::string DescribedCall::serialised() const {
  // A path need not be UTF-8.
  return CallJson::array({hash, call, caller, json_of(sends), json_of(expects)})
      .dump(-1, ' ', false, CallJson::error_handler_t::replace);
}

DescribedCall DescribedCall::from(std::string_view bytes) {
  const CallJson json = CallJson::parse(bytes, nullptr, false);
  if (!json.is_array() || json.size() != 5) return {};
  return {.call = json.at(1).get<std::string>(),
          .caller = json.at(2).get<std::string>(),
          .hash = json.at(0).get<std::uint64_t>(),
          .sends = list_from(json.at(3)),
          .expects = list_from(json.at(4))};
}

std::string bytes_text(Count bytes) { return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s"); }

std::string comm_text(const DescribedComm& comm) {
  if (comm.name == "MPI_COMM_WORLD") return comm.name;
  return fmt::format("a communicator ({}{} of MPI_COMM_WORLD)", comm.name.empty() ? "" : '"' + comm.name + "\", ",
                     circoll::ranks_text(comm.world_ranks));
}

std::string mismatch_text(const DescribedComm& comm, std::uint64_t number, std::span<const DescribedCall> calls) {
  const bool amounts = std::all_of(calls.begin(), calls.end(),
                                   [&](const DescribedCall& call) { return call.hash == calls.front().hash; });
  return fmt::format("circoll: CIRCOLL_MATCH: the {} ranks of {} {} (call {} on it):\n", calls.size(), comm_text(comm),
                     amounts ? "do not agree on amounts" : "do not make the same collective call", number) +
         groups_text(calls) + (amounts ? pairs_text(calls) : "");
}

std::string waiting_text(const DescribedComm& comm, std::uint64_t number, Rank rank, int seconds,
                         const DescribedCall& call) {
  return fmt::format(
      "circoll: CIRCOLL_MATCH: rank {} of {} has waited for {} s for the other ranks to make call {} on it: {}, called "
      "from {}\n",
      rank, comm_text(comm), seconds, number, call.call, call.caller);
}

}  // namespace circoll::interpose
