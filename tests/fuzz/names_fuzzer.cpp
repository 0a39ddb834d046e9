// Any bytes are no number and no name, or one that can be written and read again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "circoll/error.hpp"
#include "facts/text.hpp"

namespace {

template <typename Parse>
void fuzz_name(std::string_view input, Parse parse) {
  decltype(parse(input)) value{};
  try {
    value = parse(input);
  } catch (const circoll::Error& error) {
    if (error.code() != circoll::ErrorCode::unknown_name) std::abort();
    return;
  }
  if (parse(to_string(value)) != value) std::abort();
}

void fuzz_number(std::string_view input) {
  const auto number = circoll::parse_number(input);
  const auto bytes = circoll::parse_bytes(input);
  if (number && (*number < 0 || bytes != number)) std::abort();
  if (bytes && circoll::parse_number(circoll::exact_number(*bytes)) != bytes) std::abort();
  std::string text(input);
  const bool refused = !circoll::rewrite_bytes(text).empty();
  if (refused == bytes.has_value() || (bytes && text != std::to_string(*bytes))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  fuzz_number(input);
  fuzz_name(input, circoll::parse_collective);
  fuzz_name(input, circoll::parse_type);
  fuzz_name(input, circoll::parse_op);
  return 0;
}
