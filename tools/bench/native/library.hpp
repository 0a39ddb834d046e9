// The algorithms inside the MPI library in use, and how they are chosen. Each library has a file of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"

namespace circoll::bench::native {

/// A control variable, and the value that it is to have.
struct Setting {
  std::string variable{};
  int value = 0;
};

/// The part of a call that an algorithm cuts into segments.
enum class Cuts { nothing, vector, block };

/// An algorithm inside the library.
struct Inside {
  std::string name{};  ///< the library's own
  std::vector<Setting> settings{};
  Cuts cuts = Cuts::nothing;
  bool has_fanout = false;
  bool power_of_two = false;  ///< on other numbers of ranks the library does not refuse it, but ends the program
};

/// The algorithms of a collective that can be chosen while the program runs.
struct Offer {
  std::vector<Inside> algorithms{};
  std::string why_none{};  ///< a sentence, if there are none
};

/// "openmpi": the name before the slash.
[[nodiscard]] std::string_view library_id();
/// Sets what the library wants to know before MPI_Init, if algorithms are to be chosen.
void prepare_library();
[[nodiscard]] Offer make_offer(Collective collective);
/// The same, made once for each collective; algorithms.cpp has them.
[[nodiscard]] const Offer& offer(Collective collective);
/// A name with its parameters, "chain:segment=65536,fanout=4", without those that are 0.
[[nodiscard]] std::string with_parameters(std::string name, Count segment, int fanout);
/// The settings of a segment size and a fan-out; 0: not said.
[[nodiscard]] std::vector<Setting> parameters(Collective collective, Count segment, int fanout);
/// True if a communicator keeps the choice that was made when it was created; false if each call looks.
[[nodiscard]] bool chosen_at_creation();
/// The algorithm that variables name since the program's start; empty if there is none. It has its parameters, as in
/// names of algorithms.
[[nodiscard]] std::string forced_from_outside(Collective collective);
/// Makes calls that show whether the library does as it is told. Collective on MPI_COMM_WORLD of at least two ranks;
/// throws Error(unsupported) with what to do if it does not.
void prove_obedience();

}  // namespace circoll::bench::native
