#include "interpose/state.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <system_error>

#include "circoll/error.hpp"
#include "exec/device/runtimes.hpp"
#include "exec/mpi/comm/carrier.hpp"
#include "exec/mpi/comm/globals.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/serve/neighbor_perform.hpp"
#include "exec/mpi/serve/shared_profile.hpp"
#include "facts/environment.hpp"
#include "facts/hash.hpp"
#include "facts/text.hpp"
#include "interpose/census.hpp"
#include "interpose/launch.hpp"
#include "interpose/setup.hpp"
#include "interpose/sum_policy.hpp"
#include "schedule/registry.hpp"
#include "select/machine.hpp"

namespace circoll::interpose {
namespace {

std::mutex instance_mutex;
std::atomic<bool> had_sessions{false};

/// Seconds that MPI_Init waits in silence for ranks of which nobody knows whether they come.
constexpr std::chrono::seconds patience{10};

void print(const std::string& text) { std::fprintf(stderr, "circoll: %s\n", text.c_str()); }

std::string waiting_text(int rank, const char* function) {
  return std::string(function) + " has waited for " + std::to_string(patience.count()) + " seconds on rank " +
         std::to_string(rank) +
         " for all ranks to compare their variables; it waits forever if a rank runs without Circoll. Load it on "
         "all ranks: " +
         how_to_preload();
}

std::string endless_text(const std::vector<int>& absent) {
  std::array<char, 256> host{};
  (void)gethostname(host.data(), host.size() - 1);
  return "on node " + std::string(host.data()) + " " + ranks_text(absent) + ", counted there," +
         (absent.size() == 1 ? " seems" : " seem") +
         " to run without Circoll, and the ranks of other nodes wait for it in MPI_Init forever. End the job. Load "
         "Circoll on all ranks: " +
         how_to_preload();
}

}  // namespace

std::unique_ptr<Watchdog> watch(int rank, const char* function) {
  try {
    return std::make_unique<Watchdog>(patience, [rank, function] {
      if (first_on_node(launch_name())) print(waiting_text(rank, function));
    });
  } catch (const std::system_error&) {
    return nullptr;  // the others wait for this rank
  }
}

State* State::make() {
  int initialized = 0, finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  if (initialized == 0 || finalized != 0) return nullptr;
  const std::lock_guard lock(instance_mutex);
  if (instance_.load() == nullptr)
    instance_.store(new State, std::memory_order_release);  // lives as long as the process
  return instance_.load();
}

State& State::begin_sessions() {
  const std::lock_guard lock(instance_mutex);
  instance_.store(new State, std::memory_order_release);
  return *instance_.load();
}

void State::end_sessions() {
  // Not deleted: calls that have ended may refer to its choices.
  instance_.store(nullptr, std::memory_order_release);
  had_sessions = true;
}

bool State::sessions_have_ended() { return had_sessions; }

void State::begin() noexcept {
  try {
    if (!asked_.exchange(true)) agree();
    if (serves_any()) expect_devices();
    if (serves_any()) (void)mpi::share_world();
    if (const auto& world = mpi::shared_world(); world != nullptr && !world->topology_complaint().empty())
      print(world->topology_complaint());
    mpi::SharedNetwork network = use_network();
    use_profile();
    wrap_calls();
    begin_record();
    mpi::keep(network);
    network_ = network.origin;
    program_begins();
  } catch (...) {
    return;  // calls are native then, or fail by themselves
  }
}

State::State() : process_(getpid()) {
  mpi::globals().own_world_only = true;
  PMPI_Comm_rank(mpi::base_world(), &world_rank_);
  if (!progress_.warning().empty()) warn(std::string(progress_.warning()));
  read_environment();
  program_begins();
}

void State::read_environment() {
  options_ = {};
  of_files_.clear();
  automatic_ = nullptr;
  learns_ = Learns::never;
  read_choices();
  mpi::globals().serve_after = read_serve_after();
  report_ = report_setting();
  trace_file_ = environment("CIRCOLL_TRACE").value_or("");
  check_placeholders("CIRCOLL_REPORT", report_);
  check_placeholders("CIRCOLL_TRACE", trace_file_);
  // Calls may have been recorded already, where the ranks compare late.
  if (report_ != "0" && ledger_ == nullptr) ledger_ = std::make_unique<Ledger>();
  const bool playable = trace_file_.ends_with(trace::file_suffix);
  if (playable && calls_ == nullptr) calls_ = std::make_unique<CallTracer>(place(trace_file_, false), PMPI_Wtime());
  if (!playable && !trace_file_.empty() && trace_ == nullptr) trace_ = std::make_unique<Trace>();
  recording_ = ledger_ != nullptr || trace_ != nullptr || calls_ != nullptr;
  if (recording_ || !learn_file_.empty()) register_report();
}

void State::program_begins() {
  program_began_s_ = recording() ? PMPI_Wtime() : 0;
  if (calls_ != nullptr) calls_->begin(program_began_s_);
}

const Policy& State::keep(std::unique_ptr<const Policy> policy) {
  policies_.push_back(std::move(policy));
  return *policies_.back();
}

const Policy* State::read_policy() {
  if (const auto allow = environment("CIRCOLL_ALLOW_RANK_DIVERGENCE")) {
    options_.allow_rank_divergence = *allow == "1";
    if (*allow != "0" && *allow != "1")
      warn("CIRCOLL_ALLOW_RANK_DIVERGENCE: '" + *allow + "' is neither 0 nor 1; 0 is used");
  }
  std::string variable = "CIRCOLL_MACHINE";
  try {
    if (const auto path = environment(variable)) options_.machine = read_machine(*path);
    // Then messages inside a node go through the MPI library as all others do.
    if (environment("CIRCOLL_NODE") == "off") options_.machine.node_ways.clear();
    variable = "CIRCOLL_POLICY";
    learn_file_ = environment("CIRCOLL_LEARN").value_or("");
    const bool off = learn_file_ == "off";
    if (off) learn_file_.clear();
    const std::string faults = environment("CIRCOLL_FAULTS").value_or("off");
    const bool guards = faults == "finish" || faults == "report";
    // Among the survivors of a failure nothing is native, nor tried out.
    const char* const usual = guards ? "classic" : "auto";
    std::string name = environment(variable).value_or(learn_file_.empty() ? usual : "learn");
    if (guards && name == "learn") throw Error(ErrorCode::unsupported, "nothing is learned while CIRCOLL_FAULTS is on");
    if (!learn_file_.empty() && name != "learn") {
      warn("CIRCOLL_LEARN: nothing is learned, since CIRCOLL_POLICY is " + name);
      learn_file_.clear();
    }
    if (off && name == "learn") {
      warn("CIRCOLL_POLICY: nothing is learned, since CIRCOLL_LEARN is off");
      name = "auto";
    }
    if (name == "native") return nullptr;
    const Policy& policy = keep(make_policy(name == "learn" ? "auto" : name, options_));
    if (name == "auto" || name == "learn") automatic_ = &policy;
    const bool across_nodes = name == "auto" && !off && !guards;
    learns_ = name == "learn" ? Learns::always : across_nodes ? Learns::across_nodes : Learns::never;
    return &policy;
  } catch (const Error& e) {
    warn(variable + ": " + e.what() + "; the native collectives are used");
    return nullptr;
  }
}

const mpi::InternedChoice* State::read_choice(Collective collective, const std::string& value,
                                              const Policy* otherwise) {
  const mpi::InternedChoice* named = mpi::intern(collective, value);
  if (named->kind != mpi::InternedChoice::Kind::algorithm) return named;
  // As a policy, so that an algorithm that a call may not have leaves it to the native collective. A file is for one
  // number of ranks only, and leaves calls of others to the usual policy.
  if (!value.starts_with(file_prefix)) otherwise = nullptr;
  if (otherwise != nullptr) of_files_.push_back(named->selection);
  return mpi::intern(collective, keep(make_fixed_policy(named->selection, options_, otherwise)));
}

void State::read_choices() {
  const Policy* const policy = read_policy();
  const auto otherwise = [&](Collective collective) {
    return policy != nullptr ? mpi::intern(collective, *policy) : mpi::intern(collective, "native");
  };
  for (const Collective collective : all_collectives) {
    const std::string variable = algorithm_variable(collective);
    const mpi::InternedChoice*& choice = choices_[static_cast<std::size_t>(collective)];
    const auto value = environment(variable);
    try {
      choice = value && *value != "auto" ? read_choice(collective, *value, policy) : otherwise(collective);
    } catch (const Error& e) {
      warn(variable + ": " + e.what() + "; the native collective is used");
      choice = mpi::intern(collective, "native");
    }
  }
  sums_ = read_sums();
  choose_sums();
  const std::string neighbor = environment("CIRCOLL_NEIGHBOR").value_or("auto");
  neighbor_choice_ = neighbor != "auto"  ? mpi::neighbor_choice(neighbor)
                     : policy != nullptr ? mpi::intern(Collective::alltoall, *policy)
                                         : mpi::neighbor_choice("native");
  if (neighbor_choice_ == nullptr) {
    warn("CIRCOLL_NEIGHBOR: '" + neighbor +
         "' is none of auto, direct, node_aware and native; the native collectives are used");
    neighbor_choice_ = mpi::neighbor_choice("native");
  }
  for (const std::string& name : unknown_environment_variables()) {
    warn("the environment variable " + name + " is not one of Circoll's; 'man circoll-run' lists them");
  }
  if (const auto cores = environment("CIRCOLL_CORES"); cores && parse_number(*cores).value_or(0) < 1) {
    warn("CIRCOLL_CORES: '" + *cores + "' is not a number of ranks; the names of nodes are used");
  }
  if (const auto bytes = environment("CIRCOLL_CACHE_BYTES"); bytes && !parse_bytes(*bytes)) {
    warn("CIRCOLL_CACHE_BYTES: '" + *bytes + "' is not a number of bytes; 64Mi is used");
  }
}

prepare::Sums State::read_sums() const {
  using prepare::Sums;
  const std::string value = environment("CIRCOLL_SUM").value_or("plain");
  if (value == "plain") return Sums::plain;
  if (value.starts_with("like:")) {
    warn("CIRCOLL_SUM: '" + value +
         "' cannot be had, because the contributions of a run on other ranks are not known here; for the bits of "
         "another algorithm or of other nodes name them by CIRCOLL_ALLREDUCE and CIRCOLL_CORES; plain is used");
    return Sums::plain;
  }
  if (value != "exact" && value != "ordered") {
    warn("CIRCOLL_SUM: '" + value + "' is none of plain, exact and ordered; plain is used");
    return Sums::plain;
  }
  if (environment("CIRCOLL_FAULTS").value_or("off") != "off") {
    warn("CIRCOLL_SUM: sums are plain while CIRCOLL_FAULTS is on");
    return Sums::plain;
  }
  return value == "exact" ? Sums::exact : Sums::ordered;
}

void State::choose_sums() {
  sum_choices_ = {};
  if (sums_ == prepare::Sums::plain) return;
  SumPolicy::Policies of_calls{};
  for (const Collective collective : all_collectives) {
    of_calls[static_cast<std::size_t>(collective)] = choice(collective).policy;
  }
  const Policy& policy = keep(std::make_unique<SumPolicy>(of_calls, keep(make_policy("auto", options_))));
  for (const Collective collective : all_collectives) {
    if (!is_reducing(collective)) continue;
    sum_choices_[static_cast<std::size_t>(collective)] = mpi::intern(collective, policy, sums_);
  }
}

int State::read_serve_after() const {
  constexpr std::int64_t usual = 1024, most = 65535;
  const auto text = environment("CIRCOLL_SERVE_AFTER");
  if (!text) return usual;
  const auto calls = parse_number(*text);
  if (calls && *calls <= most) return static_cast<int>(*calls);
  warn("CIRCOLL_SERVE_AFTER: '" + *text + "' is not a number of calls up to 65535; 1024 is used");
  return usual;
}

void State::agree() {
  int size = 1;
  PMPI_Comm_size(mpi::base_world(), &size);
  if (size == 1 && !mpi::base_is_made() && !right_launcher()) return;
  // In a program of sessions the ranks have been counted.
  const Census census = mpi::base_is_made() ? Census{.attendance = Attendance::all} : take_census(size);
  std::unique_ptr<Watchdog> watchdog;
  if (census.attendance == Attendance::some) {
    if (!announced() || census.is_world) return do_without(census.absent, size);
    // The ranks of other nodes cannot know, and wait, as this one does. To tell them takes a message, which the program
    // might receive if they have no drop-in either.
    if (!census.absent.empty()) print(endless_text(census.absent));
  } else if (size > 1 && announced()) {
    watchdog = watch(world_rank_, "MPI_Init");
  }
  const Agreement agreement = compare_environments(world_rank_);
  watchdog.reset();
  if (!mpi::base_is_made()) forget_mark();
  if (agreement.taken) read_environment();
  if (!agreement.compared) return;
  agreed_ = agreement.reports_alike;
  const bool wanted = recording();
  if (!agreed_) recording_ = false;  // reports are collective, and not all ranks want the same
  if ((trace_ != nullptr || calls_ != nullptr) && agreed_) {
    MPI_Comm comm = collecting_communicator();
    if (comm != MPI_COMM_NULL) {
      clock_ = read_clock(comm);
      PMPI_Comm_free(&comm);
    }
  }
  alike_ = agreement.alike;
  if (agreement.alike) return;
  go_native();
  std::string text = "the CIRCOLL_ variables, or the files that they name, differ among the ranks; ";
  if (wanted && !agreed_) text += "nothing is reported, and ";
  text += "the native collectives are used";
  for (const std::string& line : agreement.lines) text += "\ncircoll:   " + line;
  warn(text);
}

void State::expect_devices() {
  if (!alike_) return;
  std::string complaint;
  if (device::expected_by_user(&complaint) == device::Expected::never) return;
  if (!complaint.empty()) warn("CIRCOLL_DEVICE_MEMORY: " + complaint);
  int size = 1;
  PMPI_Comm_size(mpi::base_world(), &size);
  device::RuntimeSet anywhere = device::expected_runtimes();
  if (size > 1) PMPI_Allreduce(MPI_IN_PLACE, &anywhere, 1, MPI_INT, MPI_BOR, mpi::base_world());
  if (anywhere != 0) devices_ = device::reason_of(anywhere);
  // A rank that is alone agrees with nobody, and may look at any time.
  mpi::globals().expects_devices = anywhere != 0 || size == 1;
}

void State::wrap_calls() {
  if (!alike_) return;
  std::unique_ptr<Serving> wrappers = wrap({.learns = learns_,
                                            .learns_from = automatic_,
                                            .options = &options_,
                                            .learn_file = learn_file_,
                                            .devices = devices_,
                                            .world_rank = world_rank_,
                                            .warn = [this](const std::string& text) { warn(text); }});
  if (wrappers != nullptr && wrappers->serves_all()) mpi::globals().serve_after = 0;
  Serving::set_first(std::move(wrappers));
}

std::string State::no_profile_because() const {
  if (automatic_ == nullptr) return "CIRCOLL_POLICY is " + environment("CIRCOLL_POLICY").value_or("");
  if (environment("CIRCOLL_PROFILE") == "off") return "CIRCOLL_PROFILE is off";
  return serves_by_auto() ? "" : "no collective is served by auto";
}

bool State::serves_by_auto() const {
  if (automatic_ == nullptr) return false;
  return !of_files_.empty() || std::any_of(all_collectives.begin(), all_collectives.end(), [&](Collective collective) {
    return &choice(collective) == mpi::intern(collective, *automatic_);
  });
}

void State::use_profile() {
  if (!alike_) return;
  if (const std::string why = no_profile_because(); !why.empty()) {
    profile_ = "none, since " + why;
    return;
  }
  const mpi::SharedProfile shared = mpi::share_profile(mpi::base_world(), options_);
  if (!shared.complaint.empty()) warn(shared.complaint);
  profile_ = shared.other_patch.empty() ? "none, since " + shared.why
                                        : "none; there is one of " + shared.other_patch + ": tune again";
  if (shared.text.empty()) return;
  profile_ = shared.file;
  if (select::read_profile_head(shared.text, shared.file).find_program(shared.program) != nullptr) {
    profile_ += ", with rules for " + shared.program;
  }
  replace_automatic(select::make_profile_policy(shared.text, shared.file, options_, shared.program));
  choose_sums();
}

mpi::SharedNetwork State::use_network() {
  if (!alike_ || !serves_any() || mpi::shared_world() == nullptr) return {};
  mpi::SharedNetwork shared =
      mpi::share_network(mpi::shared_world()->comm(), mpi::shared_world()->placement(), options_.machine);
  mpi::globals().part_bytes = shared.part_bytes;
  if (!shared.complaint.empty()) warn(shared.complaint);
  if (shared.numbers) {
    options_.machine = with_network(std::move(options_.machine), *shared.numbers, "measured network");
    if (automatic_ != nullptr) replace_automatic(make_policy("auto", options_));
    choose_sums();
  }
  return shared;
}

void State::replace_automatic(std::unique_ptr<const Policy> made) {
  const Policy& policy = keep(std::move(made));
  for (const Collective collective : all_collectives) {
    const mpi::InternedChoice*& choice = choices_[static_cast<std::size_t>(collective)];
    if (choice == mpi::intern(collective, *automatic_)) choice = mpi::intern(collective, policy);
  }
  constexpr Collective of_neighbors = Collective::alltoall;
  if (neighbor_choice_ == mpi::intern(of_neighbors, *automatic_)) neighbor_choice_ = mpi::intern(of_neighbors, policy);
  for (const Selection& file : of_files_) {
    choices_[static_cast<std::size_t>(file.collective)] =
        mpi::intern(file.collective, keep(make_fixed_policy(file, options_, &policy)));
  }
  automatic_ = &policy;
}

void State::do_without(const std::vector<int>& absent, int size) {
  const bool wanted = recording();
  go_native();
  recording_ = false;  // reports are collective
  say_absent(absent, size, wanted);
}

void say_absent(const std::vector<int>& absent, int size, bool reports) {
  static std::atomic<bool> said{false};
  if (absent.empty() || said.exchange(true)) return;
  print(ranks_text(absent) + " of " + std::to_string(size) + (absent.size() == 1 ? " seems" : " seem") +
        " to run without Circoll; " + (reports ? "nothing is reported, and " : "") +
        "the native collectives are used. Load it on all ranks: " + how_to_preload());
}

bool State::right_launcher() {
  const auto launch = recording() ? launched_several() : std::nullopt;
  MPI_Comm parent = MPI_COMM_NULL;
  if (launch) PMPI_Comm_get_parent(&parent);
  if (!launch || parent != MPI_COMM_NULL) return true;
  recording_ = false;  // each process would write its own over that of the others
  if (launch->rank == 0) {
    print("nothing is reported: the launcher has started " + std::to_string(launch->ranks) + " processes (" +
          launch->variable +
          "), but MPI_COMM_WORLD has 1 rank in each. The program's MPI is not the one of this launcher");
  }
  return false;
}

void State::go_native() {
  learns_ = Learns::never;
  for (const Collective collective : all_collectives) {
    choices_[static_cast<std::size_t>(collective)] = mpi::intern(collective, "native");
  }
  sums_ = prepare::Sums::plain;
  choose_sums();
  neighbor_choice_ = mpi::intern(Collective::alltoall, "native");
}

void State::check_placeholders(const char* variable, const std::string& name) const {
  for (const std::string& unknown : unknown_placeholders(name)) {
    std::string text = variable;
    text.append(": '").append(unknown).append("' in '").append(name);
    text.append("' is no placeholder, and stays as it is; there are %h, %p, %j, %n, and %% for a percent sign");
    warn(text);
  }
}

void State::warn(const std::string& text) const {
  if (world_rank_ == 0) print(text);
}

bool State::speaks_of_reports() const { return recording() && world_rank_ == 0 && process_ == getpid(); }

void State::record(const Event& event) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (ledger_ != nullptr) ledger_->add(event);
    if (trace_ != nullptr) trace_->add(event);
  } catch (...) {
    return;  // the call has succeeded
  }
}

void State::begin_record() {
  const std::string directory = Recorder::directory_setting();
  if (directory.empty() || !alike_ || mpi::base_is_made()) return;
  MPI_Comm world = mpi::base_world();
  // The time of rank 0, made unlikely to be that of another job.
  const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  std::uint64_t job =
      world_rank_ == 0 ? std::max<std::uint64_t>(mixed_bits(now + static_cast<unsigned>(getpid())), 1) : 0;
  if (!reduce_apart(&job, 1, MPI_UINT64_T, MPI_MAX, world)) return;
  std::string why_not;
  recorder_ = Recorder::make(directory, job, &why_not);
  constexpr int none = std::numeric_limits<int>::max();
  int first = recorder_ == nullptr ? world_rank_ : none;
  if (!reduce_apart(&first, 1, MPI_INT, MPI_MIN, world) || first != world_rank_) return;
  print("CIRCOLL_RECORD: nothing is recorded on rank " + std::to_string(first) + ": " + why_not);
}

void State::register_report() {
  if (reports_at_end_) return;
  // Attributes of MPI_COMM_SELF are deleted at the beginning of MPI_Finalize, whichever language called it.
  int keyval = MPI_KEYVAL_INVALID;
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &keyval, nullptr) != MPI_SUCCESS) return;
  reports_at_end_ = PMPI_Comm_set_attr(mpi::base_self(), keyval, this) == MPI_SUCCESS;
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
