// Any bytes are refused as a profile with a parse error, or are one, whose parts are found again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "circoll/error.hpp"
#include "select/profile.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace circoll;
  try {
    const select::ProfileHead head = select::read_profile_head({reinterpret_cast<const char*>(data), size}, "input");
    for (const select::ProfileRanks& one : head.measured) {
      if (head.find(one.ranks) != &one) std::abort();
    }
    if (select::profile_file_name(head.key).find('/') != std::string::npos) std::abort();
    (void)select::library_name(head.key.library);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::parse) throw;
  }
  return 0;
}
