// Any bytes are refused with an Error, or read, write and read again the same.
#include "circoll/text.hpp"

#include "round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  circoll::fuzz::round_trip({reinterpret_cast<const char*>(data), size}, circoll::schedule_from_text, circoll::to_text);
  return 0;
}
