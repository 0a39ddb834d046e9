// MPICH: algorithms of its control variables. Each call looks at them.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "circoll/error.hpp"
#include "native/control_variables.hpp"
#include "native/library.hpp"

namespace circoll::bench::native {
namespace {

/// The variable that says what comes of a chosen algorithm that cannot serve a call, and its value "error". Silently
/// taking another, as is the default, would give times wrong names.
constexpr const char* fallback_variable = "MPIR_CVAR_COLLECTIVE_FALLBACK";
constexpr int fallback_is_error = 0;

/// The names of algorithms up to version 5.0. The description of a variable lists its values in their order, and in
/// version 4.0 nothing stands between the text about one value and the name of the next.
constexpr std::array known_names{"auto",
                                 "nb",
                                 "smp",
                                 "binomial",
                                 "brucks",
                                 "k_brucks",
                                 "ring",
                                 "tree",
                                 "pipelined_tree",
                                 "linear",
                                 "recursive_doubling",
                                 "recursive_halving",
                                 "recursive_multiplying",
                                 "recexch",
                                 "recexch_doubling",
                                 "recexch_halving",
                                 "reduce_scatter_allgather",
                                 "k_reduce_scatter_allgather",
                                 "reduce_scatter_gather",
                                 "scatter_recursive_doubling_allgather",
                                 "scatter_ring_allgather",
                                 "pairwise",
                                 "pairwise_sendrecv_replace",
                                 "scattered",
                                 "noncommutative",
                                 "dissemination",
                                 "k_dissemination",
                                 "ccl"};

std::string variable_of(Collective collective) {
  std::string name(to_string(collective));
  std::ranges::transform(name, name.begin(), [](char letter) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  });
  return "MPIR_CVAR_" + name + "_INTRA_ALGORITHM";
}

/// The name at the end of a text, or nothing.
std::string name_at_end(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  std::string_view longest;
  for (const std::string_view name : known_names) {
    if (text.ends_with(name) && name.size() > longest.size()) longest = name;
  }
  return std::string(longest);
}

/// The names of a variable's values, in their order; empty for those that are not known here.
std::vector<std::string> values_of(const ControlVariable& variable) {
  constexpr std::string_view separator = " - ";
  const std::string_view text = variable.description();
  std::vector<std::string> names;
  std::size_t from = 0;
  for (std::size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator, from)) {
    names.push_back(name_at_end(text.substr(from, at - from)));
    from = at + separator.size();
  }
  return names;
}

extern "C" void combine_ints(void* in, void* inout, int* length, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *length; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}

}  // namespace

std::string_view library_id() { return "mpich"; }

Offer make_offer(Collective collective) {
  const std::string name = variable_of(collective);
  const ControlVariable* const variable = ControlVariable::find(name);
  if (variable == nullptr) return {.why_none = "this MPICH has no " + name};
  if (!variable->settable()) return {.why_none = "this MPICH does not let " + name + " be set while a program runs"};
  Offer offer;
  const std::vector<std::string> names = values_of(*variable);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty() || names[i] == "auto") continue;
    Inside algorithm{.name = names[i], .settings = {{name, static_cast<int>(i)}}};
    // Of version 4.0: an assertion, where others have an error.
    algorithm.power_of_two = collective == Collective::reduce_scatter && names[i] == "noncommutative";
    // These make other collectives' calls, which could not all be served by what was chosen for the whole.
    if (names[i] != "smp" && names[i] != "nb") algorithm.settings.push_back({fallback_variable, fallback_is_error});
    offer.algorithms.push_back(std::move(algorithm));
  }
  if (offer.algorithms.empty()) offer.why_none = "the values of " + name + " are not known";
  return offer;
}

void prepare_library() {}

std::vector<Setting> parameters(Collective /*collective*/, Count /*segment*/, int /*fanout*/) { return {}; }

bool chosen_at_creation() { return false; }

std::string forced_from_outside(Collective collective) {
  const ControlVariable* const variable = ControlVariable::find(variable_of(collective));
  if (variable == nullptr) return "";
  const std::vector<std::string> names = values_of(*variable);
  const auto value = static_cast<std::size_t>(variable->read());
  return value < names.size() && names[value] != "auto" ? names[value] : "";
}

void prove_obedience() {
  // This algorithm does not take operators of the user's. That the call fails shows that it was asked for.
  const Offer& allreduce = offer(Collective::allreduce);
  const auto refusing = std::ranges::find(allreduce.algorithms, "reduce_scatter_allgather", &Inside::name);
  if (refusing == allreduce.algorithms.end()) {
    throw Error(ErrorCode::unsupported, "this MPICH does not say by which algorithms it can make an allreduce");
  }
  std::vector<Setting> before;
  for (const Setting& setting : refusing->settings) {
    const ControlVariable& variable = *ControlVariable::find(setting.variable);
    before.push_back({setting.variable, variable.read()});
    variable.write(setting.value);
  }
  MPI_Op op = MPI_OP_NULL;
  PMPI_Op_create(combine_ints, 1, &op);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const std::array<int, 64> in{};
  std::array<int, 64> out{};
  const bool obeys =
      PMPI_Allreduce(in.data(), out.data(), static_cast<int>(in.size()), MPI_INT, op, MPI_COMM_WORLD) != MPI_SUCCESS;
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  PMPI_Errhandler_free(&handler);
  PMPI_Op_free(&op);
  for (const Setting& setting : before) ControlVariable::find(setting.variable)->write(setting.value);
  if (obeys) return;
  throw Error(
      ErrorCode::unsupported,
      "MPICH has not used the algorithm that it was told to use: its device serves MPI_COMM_WORLD by collectives "
      "of its own; MPIR_CVAR_DEVICE_COLLECTIVES=none turns them off");
}

}  // namespace circoll::bench::native
