// The simulator finds the times at which ranks of a collective would end on a described machine.
//
// It reads the schedules of all ranks and plays them event by event. Nothing of it knows an algorithm, or MPI.
// The model is written down in docs/lab/simulator.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/model.hpp"

namespace circoll::sim {

/// The LogGOPS model of one message, and gamma. Of a message of s bytes, s' = s - 1 are priced, or s if the first byte
/// is not free. The sender's processor works o + s' O, and its port is taken for g + s' G. The first byte arrives L
/// after it has left. The receiver's port is taken likewise, and its processor works o + s' O until the message is
/// there.
struct LogGops {
  double latency_s = 0;             ///< L
  double overhead_s = 0;            ///< o
  double gap_s = 0;                 ///< g
  double gap_s_per_byte = 0;        ///< G
  double overhead_s_per_byte = 0;   ///< O
  Count rendezvous_from_bytes = 0;  ///< S: messages of so many bytes wait for their receiver; 0: none does
  bool first_byte_free = true;      ///< the overheads have paid for it, as in LogGP
  double exchange_factor = 1;       ///< G is so many times as much for long messages that are exchanged
  Count exchange_from_bytes = 0;    ///< those: as long or longer, and in the same round its sender receives, or its
                                    ///< receiver sends, one that is; 0: none is

  friend bool operator==(const LogGops&, const LogGops&) = default;
};

/// The linear model as a special case. A port is taken for alpha + s beta by every message, processors by none:
/// L = g = alpha, G = beta.
[[nodiscard]] LogGops alpha_beta(double alpha_s, double beta_s_per_byte);

/// A cluster. Ranks lie node by node, `cores` on each, and nodes group by group.
struct Network {
  LogGops between{};                ///< messages between nodes, which go through the ports of nodes
  std::optional<LogGops> inside{};  ///< between two ranks of a node, which use ports of their own
  std::optional<LogGops> group{};   ///< between nodes of one group, through the ports of nodes; else as `between`
  Rank cores = 1;                   ///< ranks on a node; 1: every rank has ports of its own
  Rank group_nodes = 1;             ///< nodes of a group
  int ports = 1;                    ///< of a node, each of which takes one message out and one in at a time
  double gamma_s_per_byte = 0;      ///< of a processor that combines
  /// Messages under way at the same time get equal parts of a port, in place of taking turns. Then every rank has a
  /// port of its own, and L, o, g, G are all the prices.
  bool shared = false;

  friend bool operator==(const Network&, const Network&) = default;
};

/// The network that a machine of the cost model means. f_alpha and f_beta are not in it. With an overhead g is
/// overhead_s, and o is overhead_both_s / 2, at most g.
[[nodiscard]] Network network_of(const Machine& machine, Rank cores = 1);

/// A distribution of times that are not negative.
struct Spread {
  enum class Kind : std::uint8_t { none, uniform, exponential, normal };
  Kind kind = Kind::none;  ///< none: no draw, always 0
  double scale_s = 0;  ///< uniform: the largest; exponential: the mean; normal: sigma, of which the magnitude is taken

  friend bool operator==(const Spread&, const Spread&) = default;
};
/// Reads "none", or a kind and a time, as in "uniform:10us", "exponential:2e-6" or "normal:500ns". Without a unit
/// times are seconds. Throws Error(parse).
[[nodiscard]] Spread parse_spread(std::string_view text);
/// Reads a time as people write it: "1e-6" (seconds), "10us", "3 ns". Nothing if it is no such text.
[[nodiscard]] std::optional<double> parse_time(std::string_view text);
/// Sets exchange_factor and exchange_from_bytes by a text such as "2.1:64Ki". Throws Error(parse).
void set_exchange(LogGops& link, std::string_view text);
/// Reads arrivals of p ranks, one time a line; "#" begins a comment. Throws Error(parse) with source and line.
[[nodiscard]] std::vector<double> arrivals_from_text(std::string_view text, Rank p, const std::string& source);

/// A rank that takes `factor` times as long as others with all that it does.
struct SlowRank {
  Rank rank = 0;      ///< 0 <= rank < p
  double factor = 1;  ///< > 0; 1: like the others
};

/// The circumstances of one run. Draws depend on the seed, the rank and the step, never on the order of events.
struct Circumstances {
  Spread skew{};                     ///< of the times at which ranks begin
  Spread noise{};                    ///< added to every message and every combination, at the rank that works on it
  std::uint64_t seed = 1;            ///< of all draws; one seed gives one run
  std::vector<double> arrivals_s{};  ///< times at which the ranks begin, instead of `skew`
  std::vector<SlowRank> slow{};      ///< all others have factor 1
};

/// A draw for a thing that a rank does, by the seed. It is the same in every order of events.
[[nodiscard]] double draw(const Spread& spread, std::uint64_t seed, std::uint64_t rank, std::uint64_t what);
/// The times at which p ranks begin.
[[nodiscard]] std::vector<double> begins_of(const Circumstances& circumstances, Rank p);
/// The factor of every rank; empty: all 1.
[[nodiscard]] std::vector<double> factors_of(const Circumstances& circumstances, Rank p);
/// Throw Error(invalid_argument) unless all numbers make sense, for p ranks.
void check_network(const Network& network);
void check_circumstances(const Circumstances& circumstances, Rank p);

struct Programs;  // lab/sim/programs.hpp

/// The schedules of all ranks of a collective, as the simulator keeps them. Ranks that do the same with other peers
/// share it.
class Ranks {
 public:
  /// The schedules of a selection, which are generated and not kept. `threads` generate them. `go_on` is asked in
  /// this thread, after each one that it has made; false: stop, and throw Stopped. Throws as build_schedule does, and
  /// Error(unsupported) if there are more than 2^29 steps.
  Ranks(const Selection& selection, Rank p, Rank root = 0, int threads = 1,
        const std::function<bool(Rank generated)>& go_on = {});
  /// Schedules of ranks 0 .. p-1 that are there already.
  explicit Ranks(std::span<const Schedule> schedules);
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  Ranks(Ranks&&) noexcept;             ///< the other one can be assigned to or destroyed
  Ranks& operator=(Ranks&&) noexcept;  ///< likewise
  ~Ranks();

  [[nodiscard]] Rank size() const;                                  ///< p
  [[nodiscard]] std::int64_t steps() const;                         ///< of all ranks
  [[nodiscard]] std::int64_t messages() const;                      ///< of all ranks
  [[nodiscard]] std::int64_t programs() const;                      ///< of which no two are alike but for peers
  [[nodiscard]] const Programs& get() const { return *programs_; }  ///< for the simulator itself

 private:
  std::unique_ptr<Programs> programs_;
};

/// The thing that a step waited for last.
enum class Wait : std::uint8_t {
  arrival,    ///< of its rank, at the collective
  step,       ///< another step of its rank
  message,    ///< the message that it receives
  processor,  ///< the rank's processor, which another step had
  port_out,   ///< the port, which another message left by
  port_in,    ///< the port, which another message came in by
};

/// One step as it was played.
struct PlayedStep {
  double begin_s = 0;         ///< a receive: when its first byte is there
  double end_s = 0;           ///< seconds, as begin_s
  Rank cause_rank = -1;       ///< the step that it waited for last; -1: none
  StepIndex cause_step = 0;   ///< likewise, its number in that rank's schedule
  Wait wait = Wait::arrival;  ///< the reason for which it waited
  StepIndex sender_step = 0;  ///< of a receive: the number of that step in the sender's schedule
  Rank sender = -1;           ///< of a receive: the rank that its message comes from; -1: none
};

/// The outcome of one run.
struct SimulatedRun {
  double time_s = 0;              ///< when the last rank has ended; the collective begins at 0
  double last_arrival_s = 0;      ///< when the last rank has begun
  Rank last_rank = 0;             ///< the first one of those that end last
  std::int64_t events = 0;        ///< that were handled
  std::vector<double> begin_s{};  ///< of every rank
  std::vector<double> end_s{};    ///< of every rank
  /// Every step, if it was asked for: those of rank r are played[first_step[r]] up to played[first_step[r + 1]].
  std::vector<PlayedStep> played{};
  std::vector<std::size_t> first_step{};  ///< p + 1 entries, if steps were asked for
  /// Slack is the time by which a rank may begin later without the last rank ending later. It is known if steps are.
  /// Messages and steps that share a port or a processor keep their order.
  std::vector<double> arrival_slack_s{};
  std::vector<double> slack_s{};  ///< by how much a step may end later; as in `played`
};

/// Settings that change nothing in the times.
struct Options {
  bool record = false;                               ///< every step (about 200 bytes each)
  std::function<bool(std::int64_t events)> go_on{};  ///< asked now and then; false: stop, and throw Stopped
};
/// Thrown where Options::go_on says so.
struct Stopped {};

/// Plays a collective on a vector of `bytes` (m of docs/lab/notation.md). Blocks are equal parts of it, as in the cost
/// model. Throws Error(invalid_argument) if the network or the circumstances make no sense, or a message has no
/// receive, and Error(refuted) if the ranks wait for one another forever.
[[nodiscard]] SimulatedRun simulate(const Ranks& ranks, double bytes, const Network& network,
                                    const Circumstances& circumstances = {}, const Options& options = {});

/// One link of a critical path: a step, with what it waited for last.
struct PathStep {
  Rank rank = 0;        ///< whose step it is
  StepIndex step = 0;   ///< from 0 in the rank's schedule
  PlayedStep played{};  ///< its cause is the step before it on the path
};
/// The steps that made the last rank end when it did, first to last. Needs an outcome with every step.
[[nodiscard]] std::vector<PathStep> critical_path(const SimulatedRun& outcome);

/// The times in which a rank works or has a message on the way in or out. They stand in order, with gaps between them.
/// Needs an outcome with every step.
[[nodiscard]] std::vector<std::pair<double, double>> busy_times(const Ranks& ranks, const SimulatedRun& outcome,
                                                                Rank rank);

/// Times in which ranks neither work nor have a message on the way in or out. They count from a rank's begin to the
/// end of the last rank. Needs an outcome with every step.
[[nodiscard]] std::vector<double> idle_times(const Ranks& ranks, const SimulatedRun& outcome);

/// The kind of a rank's step.
[[nodiscard]] StepKind kind_of(const Ranks& ranks, Rank rank, StepIndex step);

/// A step of a rank in words: "sends 4 KiB to rank 3, round 2".
[[nodiscard]] std::string describe(const Ranks& ranks, Rank rank, StepIndex step, double bytes);

}  // namespace circoll::sim
