// libFuzzer target: the reader of JSON rules files of Open MPI.
#include "read_tuning.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace circoll::foreign;
  read_tuning(read_openmpi_json, "openmpi-6.0", data, size);
  return 0;
}
