#include "wrappers/survive/watch/statement.hpp"

#include <bit>
#include <cstring>
#include <type_traits>

namespace circoll::watch {
namespace {

/// The part of a statement that has a fixed size.
struct Head {
  std::uint64_t communicator;
  std::uint64_t call;
  std::uint64_t result_of;
  RankSet failed;
  std::array<std::int32_t, 2> tags;
  std::uint32_t rank;
  std::uint32_t steps;
  std::uint32_t stage;
  std::uint32_t flags;
  std::uint64_t result_bytes;
};
static_assert(std::is_trivially_copyable_v<Head>);
/// Bits of Head::flags.
constexpr std::uint32_t spoiled = 1, overwritten = 2, in_place = 4, kept = 8, closing = 16;

std::size_t bytes_for(std::size_t steps) { return (steps + 7) / 8; }

void put(const std::vector<bool>& bits, std::byte* to) {
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) to[i / 8] |= std::byte{1} << (i % 8);
  }
}

std::vector<bool> get(const std::byte* from, std::size_t steps) {
  std::vector<bool> bits(steps);
  for (std::size_t i = 0; i < steps; ++i) bits[i] = (from[i / 8] & std::byte{1} << (i % 8)) != std::byte{0};
  return bits;
}

}  // namespace

int RankSet::count() const {
  int all = 0;
  for (const std::uint64_t word : words_) all += std::popcount(word);
  return all;
}

std::vector<int> RankSet::members(int size) const {
  std::vector<int> ranks;
  for (int r = 0; r < size; ++r) {
    if (has(r)) ranks.push_back(r);
  }
  return ranks;
}

std::vector<int> RankSet::others(int size) const {
  std::vector<int> ranks;
  for (int r = 0; r < size; ++r) {
    if (!has(r)) ranks.push_back(r);
  }
  return ranks;
}

std::vector<std::byte> to_bytes(const Statement& statement) {
  const std::size_t steps = statement.ended.size();
  const Head head{.communicator = statement.communicator,
                  .call = statement.call,
                  .result_of = statement.result_of,
                  .failed = statement.failed,
                  .tags = statement.tags,
                  .rank = static_cast<std::uint32_t>(statement.rank),
                  .steps = static_cast<std::uint32_t>(steps),
                  .stage = static_cast<std::uint32_t>(statement.stage),
                  .flags = (statement.spoiled ? spoiled : 0U) | (statement.overwritten ? overwritten : 0U) |
                           (statement.in_place ? in_place : 0U) | (statement.kept ? kept : 0U) |
                           (statement.closing ? closing : 0U),
                  .result_bytes = statement.result.size()};
  std::vector<std::byte> bytes(sizeof head + 2 * bytes_for(steps));
  std::memcpy(bytes.data(), &head, sizeof head);
  put(statement.ended, bytes.data() + sizeof head);
  put(statement.torn, bytes.data() + sizeof head + bytes_for(steps));
  bytes.insert(bytes.end(), statement.result.begin(), statement.result.end());
  return bytes;
}

std::optional<Statement> statement_from(std::span<const std::byte> bytes) {
  Head head;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  const std::size_t beside = sizeof head + 2 * bytes_for(head.steps);
  if (bytes.size() < beside || bytes.size() - beside != head.result_bytes || head.rank >= RankSet::most ||
      head.stage > static_cast<std::uint32_t>(Stage::committing) ||
      head.flags > (spoiled | overwritten | in_place | kept | closing))
    return std::nullopt;
  const std::byte* const bits = bytes.data() + sizeof head;
  return Statement{.communicator = head.communicator,
                   .rank = static_cast<int>(head.rank),
                   .call = head.call,
                   .stage = static_cast<Stage>(head.stage),
                   .spoiled = (head.flags & spoiled) != 0,
                   .overwritten = (head.flags & overwritten) != 0,
                   .in_place = (head.flags & in_place) != 0,
                   .kept = (head.flags & kept) != 0,
                   .closing = (head.flags & closing) != 0,
                   .failed = head.failed,
                   .tags = head.tags,
                   .ended = get(bits, head.steps),
                   .torn = get(bits + bytes_for(head.steps), head.steps),
                   .result_of = head.result_of,
                   .result = {bytes.begin() + static_cast<std::ptrdiff_t>(beside), bytes.end()}};
}

Verdict judge(const Statement& own, std::span<const std::optional<Statement>> others, const RankSet& gone) {
  bool all_here = true;
  bool all_whole = own.stage == Stage::committing;
  for (std::size_t r = 0; r < others.size(); ++r) {
    const int rank = static_cast<int>(r);
    if (rank == own.rank) continue;
    const std::optional<Statement>& other = others[r];
    // A rank leaves a call only when all have made it, those too that have failed since; or with a result for others,
    // which is lost if it fails.
    const bool counts = !own.kept || own.stage == Stage::committing || !own.failed.has(rank);
    if (counts && (gone.has(rank) || (other && other->call > own.call))) return Verdict::committed;
    if (own.failed.has(rank)) continue;
    const bool here = other && other->call == own.call && other->stage != Stage::before && other->failed == own.failed;
    all_here = all_here && here;
    all_whole = all_whole && here && other->stage == Stage::committing;
  }
  if (!all_here) return Verdict::wait;
  return all_whole ? Verdict::committed : Verdict::decide;
}

}  // namespace circoll::watch
