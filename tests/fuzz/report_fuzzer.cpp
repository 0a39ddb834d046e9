// Any bytes are refused with an Error, or are a report, which can be compared with itself.
#include <cstdint>
#include <cstdlib>

#include "circoll/error.hpp"
#include "measured/program_report.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  circoll::ProgramReport report;
  try {
    report = circoll::report_from_json({reinterpret_cast<const char*>(data), size}, "input");
  } catch (const circoll::Error& error) {
    if (error.code() != circoll::ErrorCode::parse) std::abort();
    return 0;
  }
  const circoll::RunComparison same = circoll::compare_runs({report}, {report});
  for (const circoll::ComparedCalls& calls : same.calls) {
    if (calls.change != circoll::Change::same) std::abort();
  }
  return 0;
}
