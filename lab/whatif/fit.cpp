#include "whatif/fit.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace circoll::whatif {
namespace {

constexpr double most_factor = 32;
/// Prices that count as nothing. A machine has none that are zero.
constexpr double nothing = 1e-9;

/// A kind of calls. Its messages would take rounds_s + bytes_s.
struct Observed {
  double weight = 0;
  double rounds_s = 0;
  double bytes_s = 0;
  double recorded_s = 0;
};

double bounded(double factor) { return std::clamp(factor, 1 / most_factor, most_factor); }

/// x and y for which x a + y b is nearest to c, with the weights of the kinds. Relative errors count. Nothing if a and
/// b are proportional.
template <typename A, typename B, typename C>
std::optional<std::pair<double, double>> least_squares(const std::vector<Observed>& kinds, A a, B b, C c) {
  double aa = 0, ab = 0, bb = 0, ac = 0, bc = 0;
  for (const Observed& one : kinds) {
    const double weight = one.weight / (one.recorded_s * one.recorded_s);
    aa += weight * a(one) * a(one);
    ab += weight * a(one) * b(one);
    bb += weight * b(one) * b(one);
    ac += weight * a(one) * c(one);
    bc += weight * b(one) * c(one);
  }
  const double determinant = aa * bb - ab * ab;
  if (determinant <= 1e-6 * aa * bb) return std::nullopt;
  return std::pair((ac * bb - bc * ab) / determinant, (bc * aa - ac * ab) / determinant);
}

/// The factor y for which y b is nearest to c.
template <typename B, typename C>
double least_squares(const std::vector<Observed>& kinds, B b, C c) {
  double bb = 0, bc = 0;
  for (const Observed& one : kinds) {
    const double weight = one.weight / (one.recorded_s * one.recorded_s);
    bb += weight * b(one) * b(one);
    bc += weight * b(one) * c(one);
  }
  return bb > 0 ? bc / bb : 1;
}

}  // namespace

Machine scaled(Machine machine, double latency, double bytes) {
  for (double* price :
       {&machine.alpha_s, &machine.overhead_s, &machine.overhead_both_s, &machine.node_alpha_s, &machine.crowded_s})
    *price *= latency;
  for (double* price : {&machine.beta_s_per_byte, &machine.gamma_s_per_byte, &machine.node_beta_s_per_byte})
    *price *= bytes;
  for (NodeWay& way : machine.node_ways) {
    way.alpha_s *= latency;
    way.overhead_s *= latency;
    way.beta_s_per_byte *= bytes;
    way.gamma_s_per_byte *= bytes;
  }
  return machine;
}

FittedMachine fitted(const Program& program, const Machine& machine, const Choose& served,
                     const std::function<bool()>& go_on) {
  Player whole(machine, go_on);
  Player without_bytes(scaled(machine, 1, nothing), go_on);
  std::vector<Observed> kinds;
  double rounds = 0, bytes = 0;
  for (const Kind& kind : program.kinds) {
    if (kind.p == 1 || kind.recorded_calls == 0 || kind.recorded_s <= 0) continue;
    const Selection selection = served(kind);
    Observed one{.rounds_s = without_bytes.time_of(kind, selection), .recorded_s = kind.recorded_s};
    one.weight = static_cast<double>(kind.recorded_calls) * kind.recorded_s;
    one.bytes_s = std::max(whole.time_of(kind, selection) - one.rounds_s, 0.0);
    kinds.push_back(one);
    rounds += one.weight * one.rounds_s / one.recorded_s;
    bytes += one.weight * one.bytes_s / one.recorded_s;
  }
  FittedMachine found{.machine = machine};
  if (kinds.empty()) return found;
  const auto rounds_s = [](const Observed& one) { return one.rounds_s; };
  const auto bytes_s = [](const Observed& one) { return one.bytes_s; };
  const auto recorded_s = [](const Observed& one) { return one.recorded_s; };
  const auto rest_s = [](const Observed& one) { return one.recorded_s - one.rounds_s; };
  const auto both = least_squares(
      kinds, [](const Observed&) { return 1.0; }, bytes_s, rest_s);
  if (both) {
    found.call_s = both->first;
    found.bytes = bounded(both->second);
  } else if (bytes > rounds) {
    found.bytes = bounded(least_squares(kinds, bytes_s, rest_s));
  } else {
    found.call_s = kinds.front().recorded_s - kinds.front().rounds_s - kinds.front().bytes_s;
  }
  if (found.call_s < 0) {
    found.call_s = 0;
    const auto factors = least_squares(kinds, rounds_s, bytes_s, recorded_s);
    const double common = least_squares(
        kinds, [](const Observed& one) { return one.rounds_s + one.bytes_s; }, recorded_s);
    found.latency = std::min(bounded(factors ? factors->first : common), 1.0);
    found.bytes = bounded(factors ? factors->second : common);
  }
  found.machine = scaled(machine, found.latency, found.bytes);
  return found;
}

}  // namespace circoll::whatif
