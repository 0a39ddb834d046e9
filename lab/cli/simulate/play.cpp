// Runs of one algorithm in a scene: several seeds, and other circumstances to compare with.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/simulate/scene.hpp"
#include "process.hpp"

namespace circoll::cli {
namespace {

/// Goes on until it is interrupted, and says on a terminal how far it is.
bool go_on(std::int64_t done, const char* what) {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r{} million {}", done >> 20, what);
  return !interrupted();
}

void clear_progress(std::int64_t events) {
  if (events >= (1 << 20) && isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r{:40}\r", "");
}

}  // namespace

sim::Ranks generate(const Selection& selection, Rank p, const Scene& scene) {
  const bool shows = isatty(STDERR_FILENO) != 0;
  constexpr Rank shown_each = 4096;
  const auto go_on = [shows](Rank generated) {
    if (shows && generated % shown_each == 0) fmt::print(stderr, "\rschedules of {} ranks", generated);
    return !interrupted();
  };
  sim::Ranks ranks(selection, p, scene.root, scene.jobs, go_on);
  if (shows && p >= shown_each) fmt::print(stderr, "\r{:40}\r", "");
  return ranks;
}

sim::SimulatedRun play_once(const sim::Ranks& ranks, Count bytes, const Scene& scene, bool record) {
  if (interrupted()) throw sim::Stopped{};
  sim::SimulatedRun outcome =
      simulate(ranks, static_cast<double>(bytes), scene.network, scene.circumstances,
               {.record = record, .go_on = [](std::int64_t events) { return go_on(events, "events"); }});
  clear_progress(outcome.events);
  return outcome;
}

SeedTimes play_seeds(const sim::Ranks& ranks, Count bytes, const Scene& scene) {
  SeedTimes times;
  Scene of_seed = scene;
  for (int k = 0; k < scene.seeds; ++k, ++of_seed.circumstances.seed)
    times.sorted_s.push_back(play_once(ranks, bytes, of_seed, false).time_s);
  std::sort(times.sorted_s.begin(), times.sorted_s.end());
  return times;
}

sim::Contention read_rounds(const sim::Ranks& ranks, Count bytes, const Scene& scene) {
  Machine machine = scene.machine;
  machine.gamma_s_per_byte = scene.network.gamma_s_per_byte;
  // Rounds may be many and short, or few and long. So `look` asks at every 1024th round, and after half a million
  // messages.
  Count looked = 0;
  std::int64_t rounds = 0;
  const auto look = [&](Count messages) {
    if (++rounds % 1024 != 1 && messages - looked < (1 << 19)) return true;
    looked = messages;
    return go_on(messages, "messages");
  };
  sim::Contention result = contention(ranks, static_cast<double>(bytes), scene.fabric.value(), machine, look);
  clear_progress(ranks.messages());
  return result;
}

std::vector<Variation> variations(const Scene& scene, Rank p) {
  std::vector<Variation> all;
  const auto add = [&](std::string name, const auto& change) {
    all.push_back({std::move(name), scene});
    change(all.back().scene);
  };
  const auto each_link = [](Scene& s, const auto& change) {
    change(s.network.between);
    if (s.network.inside) change(*s.network.inside);
    if (s.network.group) change(*s.network.group);
  };
  add("latency halved", [&](Scene& s) {
    each_link(s, [](sim::LogGops& link) {
      link.latency_s /= 2;
      link.overhead_s /= 2;
      link.gap_s /= 2;
    });
  });
  add("bandwidth doubled", [&](Scene& s) { each_link(s, [](sim::LogGops& link) { link.gap_s_per_byte /= 2; }); });
  add("twice the ports", [](Scene& s) { s.network.ports *= 2; });
  add("combining for free", [](Scene& s) { s.network.gamma_s_per_byte = 0; });
  const Rank slow = p / 2;
  add(fmt::format("rank {} ten times as slow", slow), [&](Scene& s) { s.circumstances.slow.push_back({slow, 10}); });
  if (scene.network.cores > 1) {
    const Rank first = slow / scene.network.cores * scene.network.cores;
    add(fmt::format("node {} ten times as slow", slow / scene.network.cores), [&](Scene& s) {
      for (Rank r = first; r < std::min(p, first + scene.network.cores); ++r) s.circumstances.slow.push_back({r, 10});
    });
  }
  return all;
}

}  // namespace circoll::cli
