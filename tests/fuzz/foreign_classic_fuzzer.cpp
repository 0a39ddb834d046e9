// libFuzzer target: the reader of classic rules files of Open MPI.
#include "read_tuning.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace circoll::foreign;
  read_tuning(read_openmpi_classic, "openmpi-4.1", data, size);
  read_tuning(read_openmpi_classic, "openmpi-5.0", data, size);
  read_tuning(read_openmpi_classic, "openmpi-6.0-classic", data, size);
  return 0;
}
