// The command that starts these ranks again: launcher, libraries in front of MPI, Circoll's variables, this program.
#pragma once

#include <string>

namespace circoll::torture {

/// "CIRCOLL_CORES=2 mpirun -np 3 circoll run -- circoll-torture.openmpi", to be followed by options.
[[nodiscard]] std::string rerun(int ranks);

}  // namespace circoll::torture
