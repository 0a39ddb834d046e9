// Control variables of the MPI library, and algorithms that are forced by them.
#include "native/control_variables.hpp"

#include <array>
#include <cstring>
#include <map>
#include <memory>

#include "circoll/error.hpp"
#include "native/algorithms.hpp"

namespace circoll::bench::native {
namespace {

/// True if MPI_T can be used. It is never ended: variables are wanted until the process ends.
bool tools_interface() {
  static const bool usable = [] {
    int provided = 0;
    return MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS;
  }();
  return usable;
}

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

const ControlVariable* ControlVariable::find(const std::string& name) {
  static std::map<std::string, std::unique_ptr<const ControlVariable>> known;
  const auto found = known.find(name);
  if (found != known.end()) return found->second.get();
  std::unique_ptr<const ControlVariable> variable;
  int index = 0;
  if (tools_interface() && MPI_T_cvar_get_index(name.c_str(), &index) == MPI_SUCCESS) {
    variable.reset(new ControlVariable(index));  // its constructor is private
    if (variable->bytes_ == 0) variable.reset();
  }
  return known.emplace(name, std::move(variable)).first->second.get();
}

ControlVariable::ControlVariable(int index) {
  std::array<char, 256> name{};
  std::array<char, 8192> description{};
  int name_length = static_cast<int>(name.size()), description_length = static_cast<int>(description.size());
  int verbosity = 0, bind = 0, scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum names = MPI_T_ENUM_NULL;
  if (MPI_T_cvar_get_info(index, name.data(), &name_length, &verbosity, &type, &names, description.data(),
                          &description_length, &bind, &scope) != MPI_SUCCESS ||
      bind != MPI_T_BIND_NO_OBJECT) {
    return;
  }
  name_ = name.data();
  description_ = description.data();
  settable_ = scope != MPI_T_SCOPE_CONSTANT && scope != MPI_T_SCOPE_READONLY;
  int count = 0, bytes = 0;
  PMPI_Type_size(type, &bytes);
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle_, &count) != MPI_SUCCESS || count != 1) return;
  if (bytes != 1 && bytes != sizeof(int)) return;
  bytes_ = bytes;
  int items = 0;
  name_length = static_cast<int>(name.size());
  if (names == MPI_T_ENUM_NULL || MPI_T_enum_get_info(names, &items, name.data(), &name_length) != MPI_SUCCESS) return;
  for (int i = 0; i < items; ++i) {
    int value = 0;
    name_length = static_cast<int>(name.size());
    if (MPI_T_enum_get_item(names, i, &value, name.data(), &name_length) == MPI_SUCCESS) {
      names_.emplace_back(value, name.data());
    }
  }
}

int ControlVariable::read() const {
  std::array<char, 64> memory{};
  if (MPI_T_cvar_read(handle_, memory.data()) != MPI_SUCCESS) {
    throw Error(ErrorCode::unsupported, "the MPI library's variable " + name_ + " cannot be read");
  }
  int value = 0;
  std::memcpy(&value, memory.data(), static_cast<std::size_t>(bytes_));  // little-endian, if it is a byte
  return value;
}

void ControlVariable::write(int value) const {
  if (bytes_ != sizeof value || MPI_T_cvar_write(handle_, &value) != MPI_SUCCESS || read() != value) {
    throw Error(ErrorCode::unsupported,
                "the MPI library does not let its variable " + name_ + " be set to " + std::to_string(value));
  }
}

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
