// Any bytes are refused with an Error, or are a text of PICO whose numbers are within their ranges.
#include <cstdint>
#include <cstdlib>

#include "circoll/error.hpp"
#include "measured/pico.hpp"

namespace {

template <typename Read>
void read(const Read& reader) {
  try {
    reader();
  } catch (const circoll::Error& error) {
    if (error.code() != circoll::ErrorCode::parse) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace measured = circoll::measured;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read([&] {
    for (const measured::PicoTest& test : measured::pico_tests_from_csv(text, "system", "input")) {
      if (test.job.nodes < 1 || test.job.ranks_per_node < 1) std::abort();
    }
  });
  read([&] {
    for (const measured::PicoTime& time : measured::pico_times_from_csv(text, "input")) {
      if (time.elements < 0 || time.element_bytes < 1 || time.reps < 0 || !(time.median_s >= 0)) std::abort();
    }
  });
  read([&] {
    const measured::PicoTime time = measured::pico_iterations_from_csv(text, "input");
    if (!(time.low_s <= time.median_s && time.median_s <= time.high_s)) std::abort();
  });
  if (const auto name = measured::pico_file_name(text); name && name->algorithm.empty()) std::abort();
  return 0;
}
