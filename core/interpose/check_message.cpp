#include "interpose/check_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace circoll::interpose {
namespace {

/// Pairs of ranks that one message names.
constexpr std::size_t most_pairs = 8;

void put(std::string& to, std::uint64_t value) { to.append(reinterpret_cast<const char*>(&value), sizeof value); }

void put(std::string& to, const std::string& text) {
  put(to, text.size());
  to += text;
}

void put(std::string& to, const std::vector<PeerBytes>& all) {
  put(to, all.size());
  for (const PeerBytes& one : all) {
    put(to, static_cast<std::uint64_t>(one.peer));
    put(to, static_cast<std::uint64_t>(one.bytes));
  }
}

/// Reads what put() has written; numbers beyond the end are 0, texts and lists empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    if (rest_.size() < sizeof value) return 0;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string text() {
    const std::uint64_t said = number();
    const std::size_t length = std::min<std::size_t>(said, rest_.size());
    std::string read(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return read;
  }
  std::vector<PeerBytes> list() {
    const std::uint64_t said = number();
    const std::uint64_t length = std::min<std::uint64_t>(said, rest_.size() / (2 * sizeof(std::uint64_t)));
    std::vector<PeerBytes> read(length);
    for (PeerBytes& one : read) {
      one.peer = static_cast<Rank>(number());
      one.bytes = static_cast<Count>(number());
    }
    return read;
  }

 private:
  std::string_view rest_;
};

Count bytes_of(const std::vector<PeerBytes>& all, Rank peer) {
  // Most lists are of all ranks in order.
  const auto index = static_cast<std::size_t>(peer);
  if (index < all.size() && all[index].peer == peer) return all[index].bytes;
  const auto found = std::find_if(all.begin(), all.end(), [&](const PeerBytes& one) { return one.peer == peer; });
  return found == all.end() ? 0 : found->bytes;
}

std::string numbers_text(std::span<const Rank> ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += last > i ? fmt::format("{}-{}", ranks[i], ranks[last]) : fmt::format("{}", ranks[i]);
    i = last + 1;
  }
  return text;
}

std::string pair_text(Rank from, Rank to, Count sent, Count expected) {
  if (from == to) return fmt::format("  rank {} sends itself {} and expects {}\n", from, bytes_text(sent), expected);
  return fmt::format("  rank {} sends {} to rank {}, which expects {}\n", from, bytes_text(sent), to, expected);
}

/// The pairs of ranks of which one sends what the other does not expect.
std::string pairs_text(std::span<const DescribedCall> calls) {
  std::string text;
  std::size_t pairs = 0;
  const auto compare = [&](Rank from, Rank to, Count sent, Count expected) {
    if (sent != expected && pairs++ < most_pairs) text += pair_text(from, to, sent, expected);
  };
  const auto size = static_cast<Rank>(calls.size());
  for (Rank from = 0; from < size; ++from) {
    for (const PeerBytes& one : calls[static_cast<std::size_t>(from)].sends) {
      if (one.peer < 0 || one.peer >= size) continue;
      compare(from, one.peer, one.bytes, bytes_of(calls[static_cast<std::size_t>(one.peer)].expects, from));
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
    text += fmt::format("  {}: {}, called from {}\n", ranks_text(ranks), calls[first].call, calls[first].caller);
  }
  return text;
}

}  // namespace

std::string DescribedCall::serialised() const {
  std::string bytes;
  put(bytes, hash);
  put(bytes, call);
  put(bytes, caller);
  put(bytes, sends);
  put(bytes, expects);
  return bytes;
}

DescribedCall DescribedCall::from(std::string_view bytes) {
  Reader reader(bytes);
  DescribedCall read;
  read.hash = reader.number();
  read.call = reader.text();
  read.caller = reader.text();
  read.sends = reader.list();
  read.expects = reader.list();
  return read;
}

std::string ranks_text(std::span<const Rank> ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + numbers_text(ranks);
}

std::string bytes_text(Count bytes) { return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s"); }

std::string comm_text(const DescribedComm& comm) {
  if (comm.name == "MPI_COMM_WORLD") return comm.name;
  return fmt::format("a communicator ({}{} of MPI_COMM_WORLD)", comm.name.empty() ? "" : '"' + comm.name + "\", ",
                     ranks_text(comm.world_ranks));
}

std::string mismatch_text(const DescribedComm& comm, std::uint64_t number, std::span<const DescribedCall> calls) {
  const bool amounts = std::all_of(calls.begin(), calls.end(),
                                   [&](const DescribedCall& call) { return call.hash == calls.front().hash; });
  return fmt::format("circoll: CIRCOLL_CHECK: the {} ranks of {} {} (call {} on it):\n", calls.size(), comm_text(comm),
                     amounts ? "do not agree on amounts" : "do not make the same collective call", number) +
         groups_text(calls) + (amounts ? pairs_text(calls) : "");
}

std::string waiting_text(const DescribedComm& comm, std::uint64_t number, Rank rank, int seconds,
                         const DescribedCall& call) {
  return fmt::format(
      "circoll: CIRCOLL_CHECK: rank {} of {} has waited for {} s for the other ranks to make call {} on it: {}, called "
      "from {}\n",
      rank, comm_text(comm), seconds, number, call.call, call.caller);
}

}  // namespace circoll::interpose
