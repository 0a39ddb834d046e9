// Open MPI: algorithms of coll/tuned. A communicator takes what the variables say when it is created.
#include <mpi.h>

#include <cstdlib>

#include "circoll/error.hpp"
#include "native/control_variables.hpp"
#include "native/library.hpp"

namespace circoll::bench::native {
namespace {

constexpr const char* switch_variable = "coll_tuned_use_dynamic_rules";

std::string variable_of(Collective collective) {
  return "coll_tuned_" + std::string(to_string(collective)) + "_algorithm";
}

/// The algorithms that look at the segment size, by their names in Open MPI 4.1.
Cuts cuts_of(Collective collective, const std::string& name) {
  if (collective == Collective::allreduce && name == "segmented_ring") return Cuts::block;
  if (collective == Collective::gather && name == "linear_sync") return Cuts::block;
  if (collective != Collective::bcast && collective != Collective::reduce) return Cuts::nothing;
  for (const char* const known :
       {"chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial", "binary", "in-order_binary"}) {
    if (name == known) return Cuts::vector;
  }
  return Cuts::nothing;
}

int value_or(const std::string& name, int fallback) {
  const ControlVariable* const variable = ControlVariable::find(name);
  return variable == nullptr ? fallback : variable->read();
}

/// The combinations that an operator of ours was called for.
long combinations = 0;

// NOLINTNEXTLINE(readability-non-const-parameter): MPI_User_function
extern "C" void combine_and_count(void* in, void* inout, int* length, MPI_Datatype* /*type*/) {
  ++combinations;
  for (int i = 0; i < *length; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}

/// The combinations of an allreduce, on all ranks, by the algorithm with this number.
long combinations_of(int algorithm, MPI_Op op) {
  const ControlVariable& variable = *ControlVariable::find(variable_of(Collective::allreduce));
  const int before = variable.read();
  MPI_Comm comm = MPI_COMM_NULL;
  variable.write(algorithm);
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  variable.write(before);
  const int one = 1;
  int sum = 0;
  combinations = 0;
  PMPI_Allreduce(&one, &sum, 1, MPI_INT, op, comm);
  long mine = combinations, all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  PMPI_Comm_free(&comm);
  return all;
}

}  // namespace

std::string_view library_id() { return "openmpi"; }

Offer make_offer(Collective collective) {
  const std::string name = variable_of(collective);
  const ControlVariable* const variable = ControlVariable::find(name);
  if (variable == nullptr) return {.why_none = "coll/tuned of this Open MPI has no " + name};
  const ControlVariable* const dynamic = ControlVariable::find(switch_variable);
  if (dynamic == nullptr || dynamic->read() == 0) {
    return {.why_none = std::string("Open MPI was started without ") + switch_variable};
  }
  Offer offer;
  for (const auto& [value, algorithm] : variable->names()) {
    if (value == 0) continue;  // "ignore"
    offer.algorithms.push_back({.name = algorithm,
                                .settings = {{name, value}},
                                .cuts = cuts_of(collective, algorithm),
                                .has_fanout = algorithm == "chain"});
  }
  if (!variable->settable()) {
    offer = {.why_none = "this Open MPI lets " + name + " be set at its start only: OMPI_MCA_" + name +
                         "=NUMBER for a launch of each"};
    return offer;
  }
  return offer;
}

void prepare_library() {
  // A user who has set it otherwise is told so later.
  setenv((std::string("OMPI_MCA_") + switch_variable).c_str(), "1",
         0);  // NOLINT(concurrency-mt-unsafe): no threads yet
}

std::vector<Setting> parameters(Collective collective, Count segment, int fanout) {
  std::vector<Setting> settings;
  const std::string name = variable_of(collective);
  if (ControlVariable::find(name + "_segmentsize") != nullptr) {
    settings.push_back({name + "_segmentsize", static_cast<int>(segment)});
  }
  if (fanout > 0) settings.push_back({name + "_chain_fanout", fanout});
  return settings;
}

bool chosen_at_creation() { return true; }

std::string forced_from_outside(Collective collective) {
  const std::string name = variable_of(collective);
  const ControlVariable* const variable = ControlVariable::find(name);
  if (variable == nullptr || variable->read() == 0 || value_or(switch_variable, 0) == 0) return "";
  for (const auto& [value, algorithm] : variable->names()) {
    if (value != variable->read()) continue;
    const bool cut = cuts_of(collective, algorithm) != Cuts::nothing;
    return with_parameters(algorithm, cut ? value_or(name + "_segmentsize", 0) : 0,
                           algorithm == "chain" ? value_or(name + "_chain_fanout", 4) : 0);
  }
  return "";
}

void prove_obedience() {
  int size = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Op op = MPI_OP_NULL;
  PMPI_Op_create(combine_and_count, 1, &op);
  constexpr int basic_linear = 1, recursive_doubling = 3;
  // One after another at a root, against all ranks in every round.
  const bool obeys = combinations_of(basic_linear, op) == size - 1 && combinations_of(recursive_doubling, op) >= size;
  PMPI_Op_free(&op);
  if (obeys) return;
  throw Error(ErrorCode::unsupported,
              "Open MPI has not used the algorithm of coll/tuned that it was told to use: another component serves "
              "MPI_COMM_WORLD, such as han, hcoll or ucc; leave it out, as in --mca coll ^han,hcoll,ucc");
}

}  // namespace circoll::bench::native
