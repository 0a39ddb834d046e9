// libFuzzer target: the reader of variables of Intel MPI.
#include "read_tuning.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace circoll::foreign;
  read_tuning(read_intelmpi, "intelmpi", data, size);
  return 0;
}
