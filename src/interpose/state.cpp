#include "interpose/state.hpp"

#include <mpi.h>

#include <atomic>
#include <cctype>
#include <cstdio>
#include <functional>
#include <memory>

#include "circoll/calibration.hpp"
#include "circoll/error.hpp"
#include "core/environment.hpp"
#include "exec/mpi/globals.hpp"
#include "interpose/check.hpp"
#include "select/text_file.hpp"

namespace circoll::interpose {
namespace {

std::atomic<State*> instance{nullptr};
std::mutex instance_mutex;

std::string variable_of(Collective collective) {
  std::string name = "CIRCOLL_";
  for (const char c : to_string(collective)) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

/// Of everything in the environment that ranks must have alike, files by their contents. FNV-1a.
std::uint64_t configuration_hash() {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    hash = (hash ^ 0xffU) * 0x100000001b3ULL;  // an end, so that parts do not run into one another
  };
  const auto add_file = [&](const std::string& path) {
    try {
      add(select::read_text_file(path));
    } catch (const Error&) {
      add("unreadable");
    }
  };
  constexpr std::string_view file = "file:";
  for (const EnvironmentVariable& variable : environment_variables()) {
    if (variable.name == "CIRCOLL_DROPIN_PATH") continue;  // a place, which may differ among machines
    const std::string value = environment(variable.name).value_or("");
    add(variable.name);
    if (variable.name == "CIRCOLL_MACHINE" && !value.empty()) {
      add_file(value);
    } else if (value.starts_with(file)) {
      add(file);
      add_file(value.substr(file.size()));
    } else {
      add(value);
    }
  }
  return hash;
}

}  // namespace

State* State::known() { return instance.load(std::memory_order_acquire); }

State* State::get() {
  if (State* const made = known()) return made;
  int initialized = 0, finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  if (initialized == 0 || finalized != 0) return nullptr;
  const std::lock_guard lock(instance_mutex);
  if (instance.load() == nullptr) instance.store(new State, std::memory_order_release);  // lives as long as the process
  return instance.load();
}

State::State() {
  mpi::globals().own_world_only = true;
  PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
  if (!progress_.warning().empty()) warn(std::string(progress_.warning()));
  read_choices();
  report_ = environment("CIRCOLL_REPORT").value_or("0");
  trace_file_ = environment("CIRCOLL_TRACE").value_or("");
  if (report_ != "0") ledger_ = std::make_unique<Ledger>();
  if (!trace_file_.empty()) trace_ = std::make_unique<Trace>();
  recording_ = ledger_ != nullptr || trace_ != nullptr;
  if (recording_) register_report();
}

const Policy& State::keep(std::unique_ptr<const Policy> policy) {
  policies_.push_back(std::move(policy));
  return *policies_.back();
}

const Policy& State::read_policy() {
  if (const auto allow = environment("CIRCOLL_ALLOW_RANK_DIVERGENCE")) {
    options_.allow_rank_divergence = *allow == "1";
    if (*allow != "0" && *allow != "1")
      warn("CIRCOLL_ALLOW_RANK_DIVERGENCE: '" + *allow + "' is neither 0 nor 1; 0 is used");
  }
  std::string variable = "CIRCOLL_MACHINE";
  try {
    if (const auto path = environment(variable)) options_.machine = read_machine(*path);
    variable = "CIRCOLL_POLICY";
    return keep(make_policy(environment(variable).value_or("auto"), options_));
  } catch (const Error& e) {
    warn(variable + ": " + e.what() + "; the native collectives are used");
    return keep(make_policy("native", options_));
  }
}

const mpi::Interned* State::read_choice(Collective collective, const std::string& value) {
  const mpi::Interned* named = mpi::intern(collective, value);
  // As a policy, so that an algorithm that a call may not have leaves it to the native collective.
  return named->kind == mpi::Interned::Kind::algorithm
             ? mpi::intern(collective, keep(make_fixed_policy(named->selection, options_)))
             : named;
}

void State::read_choices() {
  const Policy& policy = read_policy();
  for (const Collective collective : all_collectives) {
    const std::string variable = variable_of(collective);
    const mpi::Interned*& choice = choices_[static_cast<std::size_t>(collective)];
    const auto value = environment(variable);
    try {
      choice = value && *value != "auto" ? read_choice(collective, *value) : mpi::intern(collective, policy);
    } catch (const Error& e) {
      warn(variable + ": " + e.what() + "; the native collective is used");
      choice = mpi::intern(collective, "native");
    }
  }
  for (const std::string& name : unknown_environment_variables()) {
    warn("the environment variable " + name + " is not one of Circoll's; see docs/environment.md");
  }
  if (const auto cores = environment("CIRCOLL_CORES"); cores && parse_bytes(*cores).value_or(0) < 1) {
    warn("CIRCOLL_CORES: '" + *cores + "' is not a number of ranks; the names of nodes are used");
  }
  if (const auto bytes = environment("CIRCOLL_CACHE_BYTES"); bytes && !parse_bytes(*bytes)) {
    warn("CIRCOLL_CACHE_BYTES: '" + *bytes + "' is not a number of bytes; 64Mi is used");
  }
}

void State::agree() {
  const std::uint64_t all = configuration_hash();
  const std::uint64_t report = std::hash<std::string>{}(report_ + '\0' + trace_file_);
  // The greatest hashes and, as complements, the least ones.
  std::uint64_t both[] = {all, ~all, report, ~report};
  if (PMPI_Allreduce(MPI_IN_PLACE, both, 4, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD) != MPI_SUCCESS) return;
  agreed_ = both[2] == ~both[3];
  if (!agreed_) recording_ = false;  // reports are collective, and not all ranks want the same
  if (trace_ != nullptr && agreed_) {
    MPI_Comm comm = collecting_communicator();
    if (comm != MPI_COMM_NULL) {
      clock_ = read_clock(comm);
      PMPI_Comm_free(&comm);
    }
  }
  if (both[0] == ~both[1]) return Check::open();
  warn("the CIRCOLL_ variables, or the files that they name, differ among the ranks; the native collectives are used");
  for (const Collective collective : all_collectives) {
    choices_[static_cast<std::size_t>(collective)] = mpi::intern(collective, "native");
  }
}

void State::warn(const std::string& text) const {
  if (world_rank_ == 0) std::fprintf(stderr, "circoll: %s\n", text.c_str());
}

void State::record(const Event& event) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (ledger_ != nullptr) ledger_->add(event);
    if (trace_ != nullptr) trace_->add(event);
  } catch (...) {
    return;  // the call has succeeded
  }
}

void State::register_report() {
  // Attributes of MPI_COMM_SELF are deleted at the begin of MPI_Finalize, whichever language called it.
  int keyval = MPI_KEYVAL_INVALID;
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &keyval, nullptr) != MPI_SUCCESS) return;
  PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, this);
}

int State::at_finalize(MPI_Comm /*comm*/, int /*keyval*/, void* value, void* /*extra*/) {
  try {
    static_cast<State*>(value)->report();
  } catch (...) {
    // A report is not worth a failed MPI_Finalize.
    return MPI_SUCCESS;
  }
  return MPI_SUCCESS;
}

}  // namespace circoll::interpose
