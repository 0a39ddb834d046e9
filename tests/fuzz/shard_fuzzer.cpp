// Any bytes are refused with an Error, or are a shard's results, which are written and read again the same.
#include <cstdint>
#include <cstdlib>

#include "circoll/error.hpp"
#include "measured/shard.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  (void)circoll::is_shard(input);
  circoll::ShardResult shard;
  try {
    shard = circoll::shard_from_json(input, "input");
  } catch (const circoll::Error& error) {
    if (error.code() != circoll::ErrorCode::parse) std::abort();
    return 0;
  }
  const std::string written = circoll::to_json(shard);
  if (circoll::to_json(circoll::shard_from_json(written, "input")) != written) std::abort();
  try {
    (void)circoll::combine_shards({shard});
  } catch (const circoll::Error& error) {
    if (error.code() != circoll::ErrorCode::invalid_argument) std::abort();
  }
  return 0;
}
