// One run of the simulator: all ranks' programs, played event by event.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/calendar.hpp"
#include "sim/programs.hpp"
#include "sim/sim.hpp"

namespace circoll::sim {

/// The moments of a run, and the least time by which each follows others. Steps keep the order in which they took a
/// processor or a port.
class Ties {
 public:
  /// A moment of a step.
  enum class At : std::uint8_t {
    asked,    ///< a receive: the request of its message is there
    start,    ///< it begins to work; a receive: its memory is free, and its message or the request is there
    message,  ///< a send: it has its port; a receive: the last byte is there
    end,
  };
  struct Moment {
    std::size_t step = 0;
    At at = At::start;
  };

  void resize(std::size_t steps) { time_.resize(steps * moments, 0.0); }
  void set(Moment moment, double time) { time_[index(moment)] = time; }
  [[nodiscard]] double time(Moment moment) const { return time_[index(moment)]; }
  /// Says that `to` would not come before `from` + lag if `from` were later. Callers tell all ties that end at a moment
  /// before those that begin there.
  void tie(Moment from, Moment to, double lag) { ties_.push_back({index(from), index(to), lag}); }
  /// The times by which each step may start later, and end later, if nothing may end after `until`.
  struct Slack {
    std::vector<double> start_s;
    std::vector<double> end_s;
  };
  [[nodiscard]] Slack slack(double until) const;

 private:
  struct Tie {
    std::uint32_t from;
    std::uint32_t to;
    double lag;
  };
  static constexpr std::size_t moments = 4;
  [[nodiscard]] static std::uint32_t index(Moment m) {
    return static_cast<std::uint32_t>(m.step * moments + static_cast<std::size_t>(m.at));
  }

  std::vector<double> time_;
  std::vector<Tie> ties_;
};

/// Counter counts the things that a step still waits for. `record` notes every step, and what it waited for last.
///
/// Steps take a processor or a port one at a time, in the order in which they ask for it. Among steps that become ready
/// at the same time, the rank or step that comes first in the program asks first.
template <typename Counter, bool record>
class Run {
 public:
  Run(const Programs& programs, double bytes, const Network& network, const Circumstances& circumstances,
      const Options& options);
  SimulatedRun play();

 private:
  using Index = std::uint32_t;

  /// A step of a rank.
  struct RankStep {
    Index rank = none;
    StepIndex step = 0;
  };
  static constexpr Index none = 0xffffffffU;
  static constexpr std::size_t unknown = ~std::size_t{0};

  enum class What : std::uint8_t {
    begins,    ///< a rank
    done,      ///< a step
    injects,   ///< a send, whose processor has done its part: it needs a port
    departs,   ///< a send has its port
    comes,     ///< the first byte of a message is at the receiver, whose port it needs
    asks,      ///< a rendezvous: the request is at the receiver
    answered,  ///< the answer is at the sender
    arrives,   ///< all of a message is at the receiver
    follows,   ///< the same of one that has been asked for
  };
  struct Event {
    double time = 0;
    Index rank = 0;
    Index peer = 0;        ///< of messages at the receiver: the sender
    std::uint32_t at = 0;  ///< the step, of the sender if it comes; of whole messages and of answers: the round
    What what = What::done;
    bool waited = false;     ///< for the port to come in by
    std::uint16_t port = 0;  ///< of a node, by which it comes in
  };

  /// The state of a rank, in one cache line. Only the counters of its steps lie elsewhere.
  struct State {
    double processor = 0;         ///< free from then on
    double end = 0;               ///< of what has ended so far
    double released_at = 0;       ///< when `released` ends
    StepIndex released = nobody;  ///< a send for whose end only receives wait; it is looked at when it matters
    const StepGraph* program = nullptr;
    const std::uint32_t* peers = nullptr;
    Counter* waits = nullptr;  ///< of its steps
  };
  static constexpr StepIndex nobody = 0xffffffffU;

  /// The ports out of, or into, one class of places: ranks or nodes.
  struct Ports {
    std::vector<double> free;
    std::vector<RankStep> last;       ///< send that took each of them, if recorded
    std::vector<Ties::Moment> taken;  ///< when it was taken last, if recorded
  };

  /// A ready step with what made it ready.
  struct Ready {
    StepIndex step;
    RankStep cause;
    Wait wait;
  };

  [[nodiscard]] const StepGraph& program(Index r) const { return *states_[r].program; }
  [[nodiscard]] Index peer_of(Index r, const Op& op) const { return states_[r].peers[op.message]; }
  [[nodiscard]] bool shares_node(Index a, Index b) const { return inside_ && a / cores_ == b / cores_; }
  [[nodiscard]] bool shares_group(Index a, Index b) const { return groups_ && a / group_ == b / group_; }
  [[nodiscard]] const LogGops& link(Index a, Index b) const {
    return shares_node(a, b) ? inside_link_ : shares_group(a, b) ? group_link_ : between_;
  }
  [[nodiscard]] double bytes_of(const Op& op) const { return op.blocks * block_bytes_; }
  [[nodiscard]] double priced(const LogGops& link, double bytes) const {
    return !link.first_byte_free ? bytes : bytes > 1 ? bytes - 1 : 0;
  }
  [[nodiscard]] static bool is_rendezvous(const LogGops& link, double bytes) {
    return link.rendezvous_from_bytes > 0 && bytes >= static_cast<double>(link.rendezvous_from_bytes);
  }
  /// Seconds per byte of a message of op's round and size. Those that are exchanged may take longer.
  [[nodiscard]] double gap_per_byte(const LogGops& link, const Op& op, Index sender, Index receiver) const;
  /// The first message of a round that goes one way and of which `is_it` holds; nobody if there is none.
  template <typename IsIt>
  [[nodiscard]] StepIndex find_if(Index r, std::uint32_t round, bool send, const IsIt& is_it) const;
  /// True if a rank has another long message in a round, which goes the other way.
  [[nodiscard]] bool has_long(const LogGops& link, Index r, std::uint32_t round, bool send) const;
  [[nodiscard]] double factor(Index r) const { return factors_.empty() ? 1.0 : factors_[r]; }
  [[nodiscard]] double noise(Index r, StepIndex i) const {
    return noise_.kind == Spread::Kind::none ? 0.0 : draw(noise_, seed_, r, i);
  }
  /// Ports and the first of the k that a rank may use for this link.
  [[nodiscard]] std::size_t first_port(Index r, bool inside) const {
    return inside ? r : static_cast<std::size_t>(r / cores_) * ports_;
  }
  [[nodiscard]] std::size_t earliest(const Ports& ports, std::size_t first, bool inside) const;
  [[nodiscard]] StepIndex find(Index r, std::uint32_t round, Index peer, bool send) const;

  void handle(const Event& event);
  void work_off(Index r);
  void start(Index r, const Ready& ready);
  [[nodiscard]] double take_processor(Index r, const Ready& ready, double work);
  void compute(Index r, const Ready& ready, double work);
  void send(Index r, const Ready& ready);
  /// `answer` is that of a rendezvous.
  void inject(Index r, StepIndex i, double at, Ties::Moment answer = {.step = unknown});
  void depart(Index r, StepIndex i, double at);
  void come_in(Index r, StepIndex i, double first);
  void arrive(const Event& event);
  void receive(Index r, const Ready& ready);
  void finish(Index r, StepIndex i, double at);
  void complete(Index r, StepIndex i, double at);
  void put_aside(Index r, StepIndex send, double at);
  void release(Index r);
  void release_or_call(Index r);
  [[noreturn]] void report_stuck() const;

  PlayedStep& played(Index r, StepIndex i) { return outcome_.played[outcome_.first_step[r] + i]; }
  void note(Index r, StepIndex i, double begin, RankStep cause, Wait wait);
  [[nodiscard]] Ties::Moment moment(Index r, StepIndex i, Ties::At at) const {
    return {outcome_.first_step[r] + i, at};
  }
  /// A processor or port that was free from `free` on, since `before`, lets a moment come `lag` later.
  void follow(const Ties::Moment& before, double free, double lag, Ties::Moment then) {
    if (before.step != unknown) ties_.tie(before, then, free - ties_.time(before) + lag);
  }
  void find_slack();

  const Programs& programs_;
  const Options& options_;
  LogGops between_;
  LogGops inside_link_;
  LogGops group_link_;
  bool inside_;
  bool groups_;
  Index cores_;
  Index group_;  ///< ranks of a group
  std::size_t ports_;
  double gamma_;
  double block_bytes_;
  Spread noise_;
  std::uint64_t seed_;
  std::vector<double> factors_;

  double now_ = 0;
  Calendar<Event> calendar_;
  std::vector<State> states_;
  std::vector<Counter> waits_;
  Ports out_, in_, inside_out_, inside_in_;
  std::vector<RankStep> on_processor_;         // the step that took it last, if recorded
  std::vector<Ties::Moment> processor_taken_;  // that step's start, or the end if it kept the processor for it
  Ties ties_;                                  // if recorded
  std::vector<Ready> ready_;
  std::int64_t completed_ = 0;
  SimulatedRun outcome_;
};

}  // namespace circoll::sim
