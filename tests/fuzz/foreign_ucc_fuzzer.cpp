// libFuzzer target: the reader of configuration files of UCC.
#include "read_tuning.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace circoll::foreign;
  read_tuning(read_ucc, "ucc", data, size);
  return 0;
}
