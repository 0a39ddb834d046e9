// Networks and circumstances as one run sees them: prices, slow ranks, and delays.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "circoll/error.hpp"
#include "facts/hash.hpp"
#include "sim/sim.hpp"

namespace circoll::sim {

LogGops alpha_beta(double alpha_s, double beta_s_per_byte) {
  return {.latency_s = alpha_s, .gap_s = alpha_s, .gap_s_per_byte = beta_s_per_byte, .first_byte_free = false};
}

namespace {

/// A round takes alpha if its messages wait for others. Otherwise it takes g if they go one way, and 2 o if both ways.
/// Both ways cannot take more than twice as long as one, since o is that of each message.
LogGops link_of(const Machine& machine) {
  LogGops link = alpha_beta(machine.alpha_s, machine.beta_s_per_byte);
  if (machine.overhead_s == 0 || machine.overhead_s >= machine.alpha_s) return link;
  link.gap_s = machine.overhead_s;
  const double both_s = machine.overhead_both_s > 0 ? machine.overhead_both_s : machine.overhead_s;
  link.overhead_s = std::min({both_s / 2, machine.overhead_s, machine.alpha_s / 2});
  link.latency_s = machine.alpha_s - 2 * link.overhead_s;
  return link;
}

}  // namespace

Network network_of(const Machine& machine, Rank cores) {
  Network network{.between = link_of(machine),
                  .cores = cores,
                  .ports = static_cast<int>(machine.ports),
                  .gamma_s_per_byte = machine.gamma_s_per_byte};
  if (cores > 1) network.inside = alpha_beta(machine.within_alpha_s(), machine.within_beta_s_per_byte());
  return network;
}

namespace {

bool is_time(double value) { return value >= 0 && std::isfinite(value); }

void check_link(const LogGops& link) {
  for (const double value :
       {link.latency_s, link.overhead_s, link.gap_s, link.gap_s_per_byte, link.overhead_s_per_byte})
    require(is_time(value), "L, o, g, G and O are finite and not negative");
  require(link.rendezvous_from_bytes >= 0, "S is not negative");
  require(link.exchange_factor > 0 && std::isfinite(link.exchange_factor), "the factor of exchanges is above 0");
  require(link.exchange_from_bytes >= 0, "the bytes of exchanges are not negative");
}

/// A number of [0, 1). The same in every order of events, as `draw` is.
double uniform_draw(std::uint64_t seed, std::uint64_t rank, std::uint64_t what) {
  constexpr std::uint64_t step = SplitMix::step;
  const std::uint64_t bits = mixed_bits(mixed_bits(mixed_bits(seed + step) + rank * step) + what * step + step);
  return static_cast<double>(bits >> 11U) * 0x1.0p-53;
}

}  // namespace

double draw(const Spread& spread, std::uint64_t seed, std::uint64_t rank, std::uint64_t what) {
  if (spread.kind == Spread::Kind::none) return 0;
  const double u = uniform_draw(seed, rank, 2 * what);
  switch (spread.kind) {
    case Spread::Kind::uniform:
      return spread.scale_s * u;
    case Spread::Kind::exponential:
      return -spread.scale_s * std::log1p(-u);
    default:
      // Box and Muller; of both numbers one is taken, and its magnitude.
      return spread.scale_s * std::sqrt(-2 * std::log1p(-u)) *
             std::abs(std::cos(2 * std::numbers::pi * uniform_draw(seed, rank, 2 * what + 1)));
  }
}

void check_network(const Network& network) {
  check_link(network.between);
  if (network.inside) check_link(*network.inside);
  if (network.group) check_link(*network.group);
  require(network.group_nodes >= 1, "a group has at least one node");
  require(network.cores >= 1, "a node has at least one rank");
  require(network.ports >= 1 && network.ports <= 1024, "a node has 1 to 1024 ports");
  require(is_time(network.gamma_s_per_byte), "gamma is finite and not negative");
  const LogGops& link = network.between;
  require(!network.shared ||
              (network.cores == 1 && network.ports == 1 && !network.group && link.rendezvous_from_bytes == 0 &&
               link.exchange_from_bytes == 0 && link.overhead_s_per_byte == 0),
          "shared ports are those of ranks, one each, and know neither O, S, groups nor exchanges");
}

void check_circumstances(const Circumstances& circumstances, Rank p) {
  require(is_time(circumstances.skew.scale_s) && is_time(circumstances.noise.scale_s),
          "scales of skew and noise are finite and not negative");
  require(circumstances.arrivals_s.empty() || static_cast<Rank>(circumstances.arrivals_s.size()) == p,
          "there is one arrival for each rank");
  for (const double arrival : circumstances.arrivals_s) require(is_time(arrival), "arrivals are not negative");
  for (const SlowRank& slow : circumstances.slow) {
    require(slow.rank >= 0 && slow.rank < p, "a slow rank is one of 0 .. p-1");
    require(slow.factor > 0 && std::isfinite(slow.factor), "the factor of a slow rank is above 0");
  }
}

std::vector<double> begins_of(const Circumstances& circumstances, Rank p) {
  if (!circumstances.arrivals_s.empty()) return circumstances.arrivals_s;
  std::vector<double> begins(static_cast<std::size_t>(p), 0.0);
  if (circumstances.skew.kind == Spread::Kind::none) return begins;
  constexpr std::uint64_t arrival = 1ULL << 40U;  // no step has this number
  for (std::size_t r = 0; r < begins.size(); ++r) begins[r] = draw(circumstances.skew, circumstances.seed, r, arrival);
  return begins;
}

std::vector<double> factors_of(const Circumstances& circumstances, Rank p) {
  if (circumstances.slow.empty()) return {};
  std::vector<double> factors(static_cast<std::size_t>(p), 1.0);
  for (const SlowRank& slow : circumstances.slow) factors[static_cast<std::size_t>(slow.rank)] *= slow.factor;
  return factors;
}

}  // namespace circoll::sim
