// Fits a machine to times that it makes up, and reads the machine's file again.
#include <cmath>
#include <cstdio>

#include "circoll/error.hpp"
#include "circoll/machine.hpp"
#include "circoll/measured/calibration.hpp"

int main() try {
  circoll::Calibration times{.name = "made up", .about = "1 us, 1 GB/s", .samples = {}};
  for (const circoll::Count bytes : {8, 1024, 1048576}) {
    const double seconds = 1e-6 + 1e-9 * static_cast<double>(bytes);
    for (const auto kind :
         {circoll::SampleKind::exchange, circoll::SampleKind::ping_pong, circoll::SampleKind::reduction}) {
      times.samples.push_back({.kind = kind, .bytes = bytes, .seconds = seconds});
    }
  }
  const circoll::Machine fitted = circoll::fit_machine(times).machine;
  const circoll::Machine read = circoll::machine_from_json(circoll::to_json(fitted), "memory");
  std::printf("alpha %.3g s beta %.3g s per byte\n", read.alpha_s, read.beta_s_per_byte);
  return std::abs(read.alpha_s - 1e-6) < 1e-9 && std::abs(read.beta_s_per_byte - 1e-9) < 1e-12 ? 0 : 1;
} catch (const circoll::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
