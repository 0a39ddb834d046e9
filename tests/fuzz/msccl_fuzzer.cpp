// Any bytes are refused with an Error, or make sound schedules; those that are proven are written and proven again.
#include "msccl/msccl.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "circoll/error.hpp"

namespace {

using circoll::Error;
using circoll::ErrorCode;

bool proven(const circoll::MscclSchedules& read) {
  return !read.race && circoll::verify_schedules(read.ranks, {.needs = {.commutative = true}}).proven();
}

void round_trip(std::string_view text) {
  circoll::MscclSchedules read;
  try {
    read = circoll::schedules_from_msccl(text);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal || error.code() == ErrorCode::invalid_argument) std::abort();
    return;
  }
  for (const circoll::Schedule& s : read.ranks) check_structure(s);
  // A reduce-scatter or alltoall in place has become one that is out of place.
  if (read.ranks.size() > 16 || !proven(read)) return;
  if (!proven(circoll::schedules_from_msccl(circoll::to_msccl(read.ranks)))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  round_trip({reinterpret_cast<const char*>(data), size});
  return 0;
}
