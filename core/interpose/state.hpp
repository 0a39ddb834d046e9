// All mutable state of the drop-in: the choices read from the environment, and what was served so far. Wrappers have
// states of their own (serving.hpp).
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "circoll/select.hpp"
#include "circoll/types.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "exec/mpi/serve/shared_network.hpp"
#include "interpose/all_ranks.hpp"
#include "interpose/call_tracer.hpp"
#include "interpose/event.hpp"
#include "interpose/ledger.hpp"
#include "interpose/progress.hpp"
#include "interpose/recorder.hpp"
#include "interpose/serving.hpp"
#include "interpose/trace.hpp"

namespace circoll::interpose {

class State {
 public:
  /// The state, made at the first use after MPI_Init; nullptr while MPI is not initialised or is finalised. Reads the
  /// environment. On rank 0 of MPI_COMM_WORLD, warns about variables and values that it does not know.
  [[nodiscard]] static State* get() {
    State* const made = known();
    return made != nullptr ? made : make();
  }
  /// The state if there is one already.
  [[nodiscard]] static State* known() { return instance_.load(std::memory_order_acquire); }

  /// Makes the state in a program of sessions only. Before that set_base() names the communicators that stand for
  /// MPI_COMM_WORLD and MPI_COMM_SELF.
  static State& begin_sessions();
  /// The last session ends, and the state has reported. The next session makes another one.
  static void end_sessions();
  [[nodiscard]] static bool sessions_have_ended();

  /// All that is done where MPI_Init ends. Collective over MPI_COMM_WORLD.
  void begin() noexcept;

  /// Compares the configuration of all ranks of MPI_COMM_WORLD, which all call this. They do so in MPI_Init, or in the
  /// first blocking collective on it if a tool has kept that from us. If it differs, or if ranks run without the
  /// drop-in, there is one warning, and all calls are native from then on.
  void agree_once() {
    if (asked_.load(std::memory_order_relaxed) || asked_.exchange(true)) return;
    agree();
    wrap_calls();
  }

  /// Gives "auto" the numbers of the network, if the job has several hosts. By these every policy may send long
  /// messages in parts. All ranks of MPI_COMM_WORLD call this in MPI_Init, after share_world(), and never later. The
  /// caller keeps the numbers if they were measured, when nobody waits any more.
  [[nodiscard]] mpi::SharedNetwork use_network();
  /// Gives the calls that "auto" serves to the machine's profile, if rank 0 finds one. All ranks of MPI_COMM_WORLD call
  /// this in MPI_Init, and never later, when calls may be under way.
  void use_profile();
  /// Looks whether calls may have memory of devices, on any rank (docs/adr/0021). Likewise, before any communicator is
  /// used, and after the ranks' first messages, for which the MPI library has loaded what it needs itself.
  void expect_devices();

  [[nodiscard]] const mpi::InternedChoice& choice(Collective collective) const {
    return *choices_[static_cast<std::size_t>(collective)];
  }
  /// The choice for a call, which may be a sum with bits of its own (CIRCOLL_SUM).
  [[nodiscard]] const mpi::InternedChoice& choice(const mpi::Call& call) const {
    const auto* const summed = sum_choices_[static_cast<std::size_t>(call.collective)];
    return summed != nullptr && mpi::is_sum_of_floats(call) ? *summed : choice(call.collective);
  }
  /// The choice for neighbourhood collectives, which are native or served.
  [[nodiscard]] const mpi::InternedChoice& neighbor_choice() const { return *neighbor_choice_; }
  /// True once agree_once() has begun.
  [[nodiscard]] bool has_agreed() const { return asked_.load(std::memory_order_relaxed); }
  /// True if some collective is not left to the MPI library.
  [[nodiscard]] bool serves_any() const {
    constexpr auto native = mpi::InternedChoice::Kind::native;
    if (neighbor_choice_->kind != native) return true;
    return std::any_of(all_collectives.begin(), all_collectives.end(), [&](Collective c) {
      return choice(c).kind != native || sum_choices_[static_cast<std::size_t>(c)] != nullptr;
    });
  }
  [[nodiscard]] const ProgressSource& progress() const { return progress_; }
  [[nodiscard]] ProgressSource& progress() { return progress_; }
  /// Says that MPI_Init is over: the program's time begins, of which the report tells shares.
  void program_begins();
  /// True if anybody wants events. If not, none should be made.
  [[nodiscard]] bool recording() const { return recording_.load(std::memory_order_relaxed); }
  /// The recorder of CIRCOLL_RECORD; nullptr: nothing is recorded.
  [[nodiscard]] Recorder* recorder() const { return recorder_.get(); }
  /// The recorder of calls that can be played again; nullptr: none is wanted. Only while recording().
  [[nodiscard]] CallTracer* calls() { return calls_.get(); }
  /// True if this process is to say why there is no report or trace, if it ends now. One was wanted, and not written.
  [[nodiscard]] bool speaks_of_reports() const;
  /// Adds one call to report and trace. Thread-safe; allocates nothing for a call like an earlier one. An event for
  /// which there is no memory is lost.
  void record(const Event& event) noexcept;

 private:
  static inline std::atomic<State*> instance_{nullptr};

  State();
  [[nodiscard]] static State* make();
  void agree();
  /// Puts the wrappers in place for which the environment asks, if it is the same on all ranks. Collective.
  void wrap_calls();
  /// False if the launcher has started several processes, but MPI_COMM_WORLD has one rank. Then nothing is reported,
  /// with a warning.
  [[nodiscard]] bool right_launcher();
  /// Leaves all calls to the MPI library, on ranks that have the drop-in, if others do not have it. The others are
  /// known where one speaks of them.
  void do_without(const std::vector<int>& absent, int size);
  void go_native();
  /// Gives the calls that "auto" has served to another policy, in its place.
  void replace_automatic(std::unique_ptr<const Policy> made);
  /// Reads the CIRCOLL_ variables, once, and again if this rank has got some of rank 0.
  void read_environment();
  void read_choices();
  /// The sums that CIRCOLL_SUM asks for.
  [[nodiscard]] prepare::Sums read_sums() const;
  /// Chooses the algorithms of these sums, by the choices of other calls and the machine as they are known now. No sum
  /// goes native for its speed, and the policy is one of its own, so that nothing is learned about it.
  void choose_sums();
  /// Calls of a collective on a communicator before one is served.
  [[nodiscard]] int read_serve_after() const;
  /// Why no profile may be used here, alike on all ranks; empty if one may.
  [[nodiscard]] std::string no_profile_because() const;
  /// True if "auto" decides about calls of some collective.
  [[nodiscard]] bool serves_by_auto() const;
  /// The policy of the environment; nullptr for "native", and with a warning for a wrong one.
  const Policy* read_policy();
  /// `otherwise` decides about the calls that a file of schedules is not for; nullptr: they are native.
  [[nodiscard]] const mpi::InternedChoice* read_choice(Collective collective, const std::string& value,
                                                       const Policy* otherwise);
  const Policy& keep(std::unique_ptr<const Policy> policy);
  void warn(const std::string& text) const;
  void register_report();
  /// Begins the record of CIRCOLL_RECORD, if all ranks want one. Collective.
  void begin_record();
  void report();
  void write_report(MPI_Comm comm, const Ledger& ledger, double program_s, std::optional<ReportSection> section) const;
  /// The clock of rank 0 as a function of this rank's, and how well it is known. Collective.
  struct CommonClock {
    double offset_s = 0;  ///< at_s + offset_s is the common time then
    double at_s = 0;
    double rate = 1;     ///< seconds of the common clock in a second of this one
    double error_s = 0;  ///< at most
    [[nodiscard]] double operator()(double time_s) const { return at_s + offset_s + rate * (time_s - at_s); }
  };
  [[nodiscard]] CommonClock common_clock(MPI_Comm comm) const;
  void write_trace(MPI_Comm comm, const Trace& trace) const;
  void write_calls(MPI_Comm comm, const CallTracer& calls, double program_s) const;
  /// Warns about placeholders in a file's name that have no meaning.
  void check_placeholders(const char* variable, const std::string& name) const;
  /// The file of that name: its placeholders are filled in. A file that is written anew ends in the process id if the
  /// processes were spawned.
  [[nodiscard]] static std::string place(const std::string& name, bool anew = true);
  static int at_finalize(MPI_Comm comm, int keyval, void* value, void* extra);

  pid_t process_;  ///< that made this; one that it forks has a copy
  int world_rank_ = 0;
  ProgressSource progress_;
  PolicyOptions options_;
  std::vector<std::unique_ptr<const Policy>> policies_;  ///< what choices_ refer to
  std::array<const mpi::InternedChoice*, all_collectives.size()> choices_{};
  prepare::Sums sums_ = prepare::Sums::plain;
  /// For sums of floating-point numbers; nullptr: they are calls as all others.
  std::array<const mpi::InternedChoice*, all_collectives.size()> sum_choices_{};
  const mpi::InternedChoice* neighbor_choice_ = nullptr;
  std::vector<Selection> of_files_;    ///< algorithms that stand in files, where a policy decides otherwise
  const Policy* automatic_ = nullptr;  ///< the policy "auto" of the environment; nullptr if it is another
  std::string profile_;                ///< the file of the profile in use, or why there is none
  std::string network_;                ///< where the numbers of the network come from, or why there are none
  Learns learns_ = Learns::never;
  std::string report_;  ///< of report_setting(): "1" and "short" go to stderr
  std::string trace_file_;
  std::string learn_file_;              ///< of CIRCOLL_LEARN; empty: nothing is kept
  std::atomic<bool> recording_{false};  ///< there is a ledger or a trace
  bool reports_at_end_ = false;         ///< at_finalize() is registered
  std::atomic<bool> asked_{false};      ///< the ranks have been compared
  bool alike_ = false;                  ///< all ranks have the same environment
  bool agreed_ = false;                 ///< all ranks are known to want the same
  std::string devices_;                 ///< why calls may have memory of devices; empty: they have none
  std::mutex mutex_;                    ///< of the next two
  std::unique_ptr<Ledger> ledger_;      ///< of the report; nullptr: none is wanted
  std::unique_ptr<Trace> trace_;        ///< nullptr: none is wanted
  std::unique_ptr<CallTracer> calls_;   ///< likewise; it has a mutex of its own
  ClockReading clock_;                  ///< in MPI_Init, if there is a trace
  double program_began_s_ = 0;          ///< when MPI_Init ended, or the first call came that we know of
  std::unique_ptr<Recorder> recorder_;  ///< set before the program's first call
};

}  // namespace circoll::interpose
