// Counted costs and critical paths, and the proof that they are the declared ones.
#include "verify/proof.hpp"

#include <algorithm>
#include <string>

namespace circoll::verify {
namespace {

/// One round, over all ranks.
struct Round {
  std::int64_t longest = 0;
  std::int64_t combined = 0;
  bool both_ways = false;
};

/// Adds the steps of one rank, which stand in the order of rounds. Rounds of one group(round) count as one, the entry
/// of `rounds` with that number. They are consecutive.
template <typename Group>
void add(const Schedule& s, std::vector<Round>& rounds, Group group) {
  for (std::size_t i = 0; i < s.steps.size();) {
    const std::size_t number = group(s.steps[i].round);
    Round& round = rounds[number];
    bool sends = false;
    bool receives = false;
    std::int64_t combined = 0;
    for (; i < s.steps.size() && group(s.steps[i].round) == number; ++i) {
      const Step& step = s.steps[i];
      if (step.kind == StepKind::send) {
        sends = true;
        round.longest = std::max(round.longest, s.count(step.left));
      }
      if (is_receive(step.kind)) receives = true;
      if (is_reduction(step.kind)) combined += s.count(step.dst);
    }
    round.both_ways = round.both_ways || (sends && receives);
    round.combined = std::max(round.combined, combined);
  }
}

}  // namespace

CriticalPath count_path(std::span<const Schedule> ranks) {
  // In an exchange the vector of a rank is the blocks that it sends.
  const Schedule& first = ranks[0];
  std::vector<Round> rounds(std::size_t{first.rounds} + 1);
  CriticalPath path{.blocks = is_exchange(first.collective) ? first.blocks() / first.shape.size : first.blocks()};
  for (const Schedule& s : ranks) add(s, rounds, [](std::uint32_t round) { return std::size_t{round}; });
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const Round& round = rounds[i];
    path.combined += round.combined;
    if (i == first.rounds) break;
    if (!round.both_ways) ++path.one_way;
    (round.both_ways ? path.volume : path.one_way_volume) += round.longest;
  }
  return path;
}

RoundsOnPorts count_on_ports(std::span<const Schedule> ranks, std::span<const Dependencies> dependencies,
                             std::int64_t ports) {
  std::vector<std::int64_t> waits_for(ranks[0].rounds, -1);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::vector<std::int64_t> latest = latest_rounds(ranks[r], dependencies[r]);
    for (std::size_t i = 0; i < latest.size(); ++i) {
      if (!is_message(ranks[r].steps[i])) continue;
      std::int64_t& of_round = waits_for[ranks[r].steps[i].round];
      of_round = std::max(of_round, latest[i]);
    }
  }
  // Local steps after the last round are a group of their own, which does not count.
  std::vector<std::int64_t> groups = groups_on_ports(waits_for, ports);
  groups.push_back(groups.empty() ? 0 : groups.back() + 1);
  std::vector<Round> rounds(static_cast<std::size_t>(groups.back()) + 1);
  for (const Schedule& s : ranks)
    add(s, rounds, [&](std::uint32_t round) { return static_cast<std::size_t>(groups[round]); });
  RoundsOnPorts result{.rounds = groups.back()};
  for (std::size_t i = 0; i + 1 < rounds.size(); ++i) {
    if (!rounds[i].both_ways) ++result.one_way;
    (rounds[i].both_ways ? result.volume : result.one_way_volume) += rounds[i].longest;
  }
  return result;
}

namespace {

void compare(const char* name, std::int64_t said, std::int64_t found) {
  if (found == said) return;
  throw Refuted{Claim::cost, -1, -1, -1,
                std::string(name) + ": declared " + std::to_string(said) + ", counted " + std::to_string(found)};
}
void compare(const Cost& declared, const Cost& counted) {
  compare("rounds", declared.rounds, counted.rounds);
  compare("blocks sent", declared.sent, counted.sent);
  compare("blocks received", declared.received, counted.received);
  compare("blocks reduced", declared.reduced, counted.reduced);
  compare("blocks copied", declared.copied, counted.copied);
}
void compare(const CriticalPath& declared, const CriticalPath& counted) {
  compare("blocks of the vector", declared.blocks, counted.blocks);
  compare("one-way rounds", declared.one_way, counted.one_way);
  compare("volume of the critical path", declared.volume, counted.volume);
  compare("one-way volume of the critical path", declared.one_way_volume, counted.one_way_volume);
  compare("blocks combined on the critical path", declared.combined, counted.combined);
  if (declared.levels != 0) compare("levels of the critical path", declared.levels, counted.levels);
}

/// Claims about several ports are counted for so many.
constexpr std::int64_t most_ports = 4;

void compare(const RoundsOnPorts& declared, const RoundsOnPorts& counted, std::int64_t ports) {
  const auto one = [&](const std::string& what, std::int64_t said, std::int64_t found) {
    compare((what + " on " + std::to_string(ports) + " ports").c_str(), said, found);
  };
  one("rounds", declared.rounds, counted.rounds);
  one("one-way rounds", declared.one_way, counted.one_way);
  one("volume", declared.volume, counted.volume);
  one("one-way volume", declared.one_way_volume, counted.one_way_volume);
}

}  // namespace

Cost count_cost(std::span<const Schedule> ranks) {
  Cost most{.rounds = ranks[0].rounds};
  for (const Schedule& s : ranks) {
    Cost own;
    for (const Step& step : s.steps) {
      if (step.kind == StepKind::send) own.sent += s.count(step.left);
      if (is_receive(step.kind)) own.received += s.count(step.dst);
      if (is_reduction(step.kind)) own.reduced += s.count(step.dst);
      if (step.kind == StepKind::copy) own.copied += s.count(step.dst);
    }
    most.sent = std::max(most.sent, own.sent);
    most.received = std::max(most.received, own.received);
    most.reduced = std::max(most.reduced, own.reduced);
    most.copied = std::max(most.copied, own.copied);
  }
  return most;
}

void count(const Subject& subject, std::span<const Dependencies> dependencies, std::int64_t levels, Verdict& verdict) {
  std::vector<bool> used(subject.of(0).rounds, false);
  for (const Schedule& s : subject.ranks) {
    for (const Step& step : s.steps) {
      if (step.kind == StepKind::send) {
        used[step.round] = true;
        ++verdict.messages;
      }
      if (is_reduction(step.kind)) verdict.reductions += s.count(step.dst);
    }
  }
  verdict.counted = count_cost(subject.ranks);
  verdict.counted.rounds = std::count(used.begin(), used.end(), true);
  if (verdict.counted.rounds != subject.of(0).rounds)
    throw Refuted{Claim::rounds, -1, -1, -1, "there are rounds without any message"};
  verdict.path = count_path(subject.ranks);
  verdict.path.levels = levels;
  if (subject.claims.cost) compare(*subject.claims.cost, verdict.counted);
  if (subject.claims.path) compare(*subject.claims.path, verdict.path);
  if (!subject.claims.on_ports) return;
  for (std::int64_t ports = 1; ports <= most_ports; ++ports)
    compare(subject.claims.on_ports(ports), count_on_ports(subject.ranks, dependencies, ports), ports);
}

}  // namespace circoll::verify
