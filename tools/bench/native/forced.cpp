// Algorithms are forced by control variables, where the MPI library has them.
#include "circoll/error.hpp"
#include "native/algorithms.hpp"
#include "native/control_variables.hpp"

namespace circoll::bench::native {
namespace {

void set(const std::vector<Setting>& settings) {
  for (const Setting& setting : settings) {
    const ControlVariable* const variable = ControlVariable::find(setting.variable);
    if (variable == nullptr) throw Error(ErrorCode::unsupported, "the MPI library has no variable " + setting.variable);
    variable->write(setting.value);
  }
}

MPI_Comm new_communicator() {
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

}  // namespace

Forced::Forced(std::vector<Setting> settings) : settings_(std::move(settings)) {
  for (const Setting& setting : settings_) {
    const ControlVariable* const variable = ControlVariable::find(setting.variable);
    if (variable != nullptr) before_.push_back({setting.variable, variable->read()});
  }
  if (!chosen_at_creation()) {
    static MPI_Comm common = new_communicator();
    comm_ = common;
    return;
  }
  set(settings_);
  comm_ = new_communicator();
  set(before_);
  settings_.clear();
}

void Forced::arm() const { set(settings_); }

void Forced::disarm() const {
  if (!settings_.empty()) set(before_);
}

}  // namespace circoll::bench::native
