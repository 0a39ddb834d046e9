// The measurement at the start of a job, as a schedule of all hosts in the simulator. It takes at most 20 ms on 16
// hosts and 50 ms on 1000.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "circoll/builder.hpp"
#include "model/probe.hpp"
#include "sim/sim.hpp"

namespace circoll {
namespace {

/// A block of a message. The plan's lengths are multiples of it.
constexpr Count block_bytes = 8;
/// Medians of one host: exchanges, messages one way, a burst, and exchanges with all partners.
constexpr Slot times_blocks = 2 * static_cast<Slot>(probe_bytes.size()) + 2;

/// Writes the steps of one host. All leaders of pairs have the same plan, since all messages take the same time here.
class Writer {
 public:
  Writer(Rank host, Rank hosts, const sim::LogGops& link)
      : link_(link),
        host_(host),
        hosts_(hosts),
        builder_("probe", Collective::bcast, Shape{.size = hosts, .rank = host, .root = 0}) {}

  Schedule schedule() {
    ProbePlan plan(probe_seconds(hosts_));
    for (int step = 0; step < probe_steps(hosts_); ++step) {
      const Rank partner = probe_partner(host_, step, hosts_);
      plan.begin_step();
      double now_s = 0;
      while (const auto trial = plan.next(now_s)) {
        const Count bytes = probe_bytes[trial->size];
        if (trial->counts) {
          // Messages of a burst do not wait for one another on a real network. They do so at this port.
          const int messages = 2 + trial->exchanges + (trial->bursts ? probe_burst + 1 : 0);
          now_s += messages * (link_.latency_s + static_cast<double>(bytes) * link_.gap_s_per_byte);
        }
        write(*trial, partner, bytes / block_bytes);
      }
      one_way(partner, 1, true);  // the end
    }
    for (int round = 0; round < probe_rounds; ++round) exchange_with_all();
    gather();
    spread();
    return std::move(builder_).finish();
  }

 private:
  std::int32_t new_memory() { return builder_.scratch(probe_bytes.back() / block_bytes, 0); }
  Region slots(Slot count) { return builder_.region(builder_.scratch(count, 0)); }

  void one_way(Rank partner, Slot blocks, bool from_leader) {
    const bool sends = (host_ < partner) == from_leader;
    if (partner >= 0 && sends) builder_.send(partner, memory(blocks));
    if (partner >= 0 && !sends) builder_.recv(partner, memory(blocks));
    builder_.next_round();
  }

  /// The same for all lengths, so that a step waits for the one before, as blocking calls do.
  Region memory(Slot blocks) { return builder_.region(memory_, 0, blocks); }

  void write(const Trial& trial, Rank partner, Slot blocks) {
    one_way(partner, blocks, true);
    one_way(partner, blocks, false);
    for (int i = 0; i < trial.exchanges; ++i) {
      if (partner >= 0) {
        builder_.sendrecv(partner, memory(blocks), partner, builder_.region(incoming_, 0, blocks));
        std::swap(memory_, incoming_);  // the next message waits for this one
      }
      builder_.next_round();
    }
    if (!trial.bursts) return;
    for (int i = 0; i < probe_burst; ++i) one_way(partner, blocks, true);
    one_way(partner, blocks, false);
  }

  void exchange_with_all() {
    for (int step = 0; step < probe_steps(hosts_); ++step) {
      const Rank partner = probe_partner(host_, step, hosts_);
      if (partner >= 0) builder_.sendrecv(partner, memory(1), partner, builder_.region(incoming_, 0, 1));
      builder_.next_round();
    }
  }

  void gather() {
    for (Rank distance = 1; distance < hosts_; distance *= 2) {
      const bool sends = host_ % (2 * distance) == distance;
      const bool receives = host_ % (2 * distance) == 0 && host_ + distance < hosts_;
      const Rank of = sends ? host_ : host_ + distance;
      const Slot blocks = std::min(distance, hosts_ - of) * times_blocks;
      if (sends) builder_.send(host_ - distance, slots(blocks));
      if (receives) builder_.recv(host_ + distance, slots(blocks));
      builder_.next_round();
    }
  }

  /// The broadcast of the numbers, along the same tree.
  void spread() {
    constexpr Slot blocks = 7;
    Rank distance = 1;
    while (distance * 2 < hosts_) distance *= 2;
    for (; distance > 0; distance /= 2) {
      if (host_ % (2 * distance) == distance) builder_.recv(host_ - distance, memory(blocks));
      if (host_ % (2 * distance) == 0 && host_ + distance < hosts_) builder_.send(host_ + distance, memory(blocks));
      builder_.next_round();
    }
  }

  const sim::LogGops& link_;
  Rank host_, hosts_;
  Builder builder_;
  std::int32_t memory_ = new_memory(), incoming_ = new_memory();
};

double simulated(Rank hosts, const sim::LogGops& link) {
  std::vector<Schedule> schedules;
  for (Rank host = 0; host < hosts; ++host) schedules.push_back(Writer(host, hosts, link).schedule());
  return simulate(sim::Ranks(schedules), block_bytes, {.between = link}).time_s;
}

TEST(ProbeSimulated, EndsInTime) {
  for (const auto& link : {sim::alpha_beta(2e-6, 0.08e-9), sim::alpha_beta(20e-6, 0.8e-9), sim::alpha_beta(50e-6, 8e-9),
                           sim::alpha_beta(100e-6, 80e-9)}) {
    const double few = simulated(16, link), many = simulated(1000, link);
    std::printf("alpha %.0f us, beta %.2f ns: 16 hosts %.1f ms, 1000 hosts %.1f ms\n", link.latency_s * 1e6,
                link.gap_s_per_byte * 1e9, few * 1e3, many * 1e3);
    EXPECT_LE(few, 20e-3);
    EXPECT_LE(many, 50e-3);
    EXPECT_GT(many, 10 * link.latency_s) << "the messages are there";
  }
}

}  // namespace
}  // namespace circoll
