// Any bytes are times of ranks, or an error that names a line. Any bytes are a distribution, or an error.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "circoll/error.hpp"
#include "sim/sim.hpp"

namespace {

void fuzz_arrivals(std::string_view input, circoll::Rank p) {
  try {
    const std::vector<double> arrivals = circoll::sim::arrivals_from_text(input, p, "file");
    if (static_cast<circoll::Rank>(arrivals.size()) != p) std::abort();
    for (const double arrival : arrivals) {
      if (!(arrival >= 0) || !std::isfinite(arrival)) std::abort();
    }
  } catch (const circoll::Error& error) {
    const bool names_line = std::string_view(error.what()).substr(0, 5) == "file:";
    if (error.code() != circoll::ErrorCode::parse || !names_line) std::abort();
  }
}

void fuzz_spread(std::string_view input) {
  try {
    const circoll::sim::Spread spread = circoll::sim::parse_spread(input);
    if (!(spread.scale_s >= 0) || !std::isfinite(spread.scale_s)) std::abort();
  } catch (const circoll::Error& error) {
    if (error.code() != circoll::ErrorCode::parse) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const circoll::Rank p : {1, 3}) fuzz_arrivals(input, p);
  fuzz_spread(input);
  return 0;
}
