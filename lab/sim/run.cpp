// The events of a run: ranks begin, combine and end steps. Also the slack of steps and ranks.
//
// Messages are in run_messages.hpp.
#include "sim/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "circoll/error.hpp"
#include "sim/run_messages.hpp"
#include "sim/sharing.hpp"

namespace circoll::sim {

Ties::Slack Ties::slack(double until) const {
  std::vector<double> all(time_.size(), std::numeric_limits<double>::infinity());
  for (std::size_t end = index({0, At::end}); end < all.size(); end += moments) all[end] = until - time_[end];
  // The last ties come first, so that a later moment is known before the moments that it follows.
  for (auto tie = ties_.rbegin(); tie != ties_.rend(); ++tie) {
    const double between = time_[tie->to] - time_[tie->from] - tie->lag;
    all[tie->from] = std::min(all[tie->from], std::max(0.0, all[tie->to] + between));
  }
  Slack slack;
  for (std::size_t step = 0; step < all.size() / moments; ++step) {
    slack.start_s.push_back(all[index({step, At::start})]);
    slack.end_s.push_back(all[index({step, At::end})]);
  }
  return slack;
}

template <typename Counter, bool record>
Run<Counter, record>::Run(const Programs& programs, double bytes, const Network& network,
                          const Circumstances& circumstances, const Options& options)
    : programs_(programs),
      options_(options),
      between_(network.between),
      inside_link_(network.inside.value_or(network.between)),
      group_link_(network.group.value_or(network.between)),
      inside_(network.cores > 1),
      groups_(network.group.has_value()),
      cores_(static_cast<Index>(std::min<Rank>(network.cores, static_cast<Rank>(programs.ranks.size())))),
      group_(cores_ *
             static_cast<Index>(std::min<Rank>(network.group_nodes, static_cast<Rank>(programs.ranks.size())))),
      ports_(static_cast<std::size_t>(network.ports)),
      gamma_(network.gamma_s_per_byte),
      block_bytes_(programs.moves_data ? bytes / programs.vector_blocks : 0),
      noise_(circumstances.noise),
      seed_(circumstances.seed) {
  const auto p = static_cast<Rank>(programs.ranks.size());
  factors_ = factors_of(circumstances, p);
  outcome_.begin_s = begins_of(circumstances, p);
  states_.resize(programs.ranks.size());
  waits_.resize(static_cast<std::size_t>(programs.steps));
  Counter* next = waits_.data();
  for (std::size_t r = 0; r < states_.size(); ++r) {
    State& state = states_[r];
    state.program = programs.ranks[r].program;
    state.peers = programs.ranks[r].peers;
    state.waits = next;
    if (record) outcome_.first_step.push_back(static_cast<std::size_t>(next - waits_.data()));
    for (std::size_t i = 0; i < state.program->steps(); ++i)
      *next++ = static_cast<Counter>(state.program->ops[i].waits);
  }
  const std::size_t shared = (programs.ranks.size() + cores_ - 1) / cores_ * ports_;
  const std::size_t own = inside_ ? programs.ranks.size() : 0;
  for (Ports* ports : {&out_, &in_, &inside_out_, &inside_in_}) {
    const std::size_t count = ports == &out_ || ports == &in_ ? shared : own;
    ports->free.resize(count, 0.0);
    if (record) ports->last.resize(count);
    if (record) ports->taken.resize(count, {.step = unknown});
  }
  if (record) {
    on_processor_.resize(programs.ranks.size());
    processor_taken_.resize(programs.ranks.size(), {.step = unknown});
    ties_.resize(waits_.size());
    outcome_.first_step.push_back(waits_.size());
    outcome_.played.resize(waits_.size());
  }
}

template <typename Counter, bool record>
SimulatedRun Run<Counter, record>::play() {
  for (Index r = 0; r < states_.size(); ++r) {
    states_[r].end = outcome_.begin_s[r];
    calendar_.push({.time = outcome_.begin_s[r], .rank = r, .what = What::begins});
  }
  while (!calendar_.empty()) {
    const Event event = calendar_.pop();
    now_ = event.time;
    handle(event);
    if ((++outcome_.events & 0xffff) == 0 && options_.go_on && !options_.go_on(outcome_.events)) throw Stopped{};
  }
  for (Index r = 0; r < states_.size(); ++r) release(r);  // for whose ends nothing has waited
  if (completed_ != programs_.steps) report_stuck();
  outcome_.end_s.reserve(states_.size());
  for (const State& state : states_) outcome_.end_s.push_back(state.end);
  const auto last = std::max_element(outcome_.end_s.begin(), outcome_.end_s.end());
  outcome_.time_s = *last;
  outcome_.last_rank = last - outcome_.end_s.begin();
  outcome_.last_arrival_s = *std::max_element(outcome_.begin_s.begin(), outcome_.begin_s.end());
  if (record) find_slack();
  return std::move(outcome_);
}

template <typename Counter, bool record>
void Run<Counter, record>::find_slack() {
  Ties::Slack slack = ties_.slack(outcome_.time_s);
  outcome_.arrival_slack_s.reserve(states_.size());
  for (Index r = 0; r < states_.size(); ++r) {
    double least = outcome_.time_s - outcome_.begin_s[r];
    for (StepIndex i = 0; i < program(r).steps(); ++i) {
      if (!program(r).ops[i].is_first) continue;
      const std::size_t step = outcome_.first_step[r] + i;
      const double waits = ties_.time({step, Ties::At::start}) - outcome_.begin_s[r];
      least = std::min(least, slack.start_s[step] + waits);
    }
    outcome_.arrival_slack_s.push_back(least);
  }
  outcome_.slack_s = std::move(slack.end_s);
}

template <typename Counter, bool record>
void Run<Counter, record>::handle(const Event& event) {
  const Index r = event.rank;
  switch (event.what) {
    case What::begins: {
      const StepGraph& own = program(r);
      for (StepIndex i = 0; i < own.steps(); ++i) {
        if (own.ops[i].is_first && --states_[r].waits[i] == 0) ready_.push_back({i, {}, Wait::arrival});
      }
      break;
    }
    case What::done:
      complete(r, event.at, now_);
      break;
    case What::injects:
      inject(r, event.at, now_);
      break;
    case What::departs:
      depart(r, event.at, now_);
      break;
    case What::comes:
      come_in(event.peer, event.at, now_);
      break;
    case What::answered:
      inject(r, find(r, event.at, event.peer, true), now_,
             record ? moment(event.peer, find(event.peer, event.at, r, false), Ties::At::start) : Ties::Moment{});
      break;
    case What::asks:
    case What::arrives:
    case What::follows:
      arrive(event);
      break;
  }
  work_off(r);
}

/// Starts the steps that are ready at a rank, and those that become ready by that.
template <typename Counter, bool record>
void Run<Counter, record>::work_off(Index r) {
  for (std::size_t k = 0; k < ready_.size(); ++k) {
    const Ready ready = ready_[k];  // the list may move
    start(r, ready);
  }
  ready_.clear();
}

template <typename Counter, bool record>
void Run<Counter, record>::start(Index r, const Ready& ready) {
  const Op& op = program(r).ops[ready.step];
  switch (op.kind) {
    case StepKind::copy:
      compute(r, ready, 0);
      break;
    case StepKind::reduce:
      compute(r, ready, bytes_of(op) * gamma_ * factor(r) + noise(r, ready.step));
      break;
    case StepKind::send:
      send(r, ready);
      break;
    case StepKind::recv:
    case StepKind::recv_reduce:
      receive(r, ready);
      break;
  }
}

template <typename Counter, bool record>
void Run<Counter, record>::note(Index r, StepIndex i, double begin, RankStep cause, Wait wait) {
  PlayedStep& step = played(r, i);
  step.begin_s = begin;
  step.cause_rank = cause.rank == none ? -1 : static_cast<Rank>(cause.rank);
  step.cause_step = cause.step;
  step.wait = wait;
}

/// The processor takes up a step once it is free. A step without work does not wait for it. Returns the begin.
template <typename Counter, bool record>
double Run<Counter, record>::take_processor(Index r, const Ready& ready, double work) {
  State& state = states_[r];
  const bool waits = work > 0 && state.processor > now_;
  const double begin = waits ? state.processor : now_;
  if (record) note(r, ready.step, begin, waits ? on_processor_[r] : ready.cause, waits ? Wait::processor : ready.wait);
  if (work == 0) return begin;
  if (record) {
    const Ties::Moment start = moment(r, ready.step, Ties::At::start);
    on_processor_[r] = {r, ready.step};
    follow(processor_taken_[r], state.processor, 0, start);
    processor_taken_[r] = start;
  }
  state.processor = begin + work;
  return begin;
}

/// Plays a step that does nothing but work, as soon as the processor has time for it.
template <typename Counter, bool record>
void Run<Counter, record>::compute(Index r, const Ready& ready, double work) {
  const double begin = take_processor(r, ready, work);
  if (record) {
    ties_.set(moment(r, ready.step, Ties::At::start), begin);
    ties_.tie(moment(r, ready.step, Ties::At::start), moment(r, ready.step, Ties::At::end), work);
  }
  finish(r, ready.step, begin + work);
}

/// A step ends at a time that is known already. Every step comes here once.
template <typename Counter, bool record>
void Run<Counter, record>::finish(Index r, StepIndex i, double at) {
  if (record) {
    played(r, i).end_s = at;
    ties_.set(moment(r, i, Ties::At::end), at);
  }
  const StepGraph& own = program(r);
  if (at <= now_ || own.ops[i].first_successor == own.ops[i + 1].first_successor) {
    complete(r, i, at);
  } else if (own.ops[i].kind == StepKind::send && own.ops[i].releases_receives_only) {
    put_aside(r, i, at);
  } else {
    calendar_.push({.time = at, .rank = r, .at = i, .what = What::done});
  }
}

/// Puts a send aside if only receives wait for its end. Its end matters once nothing else keeps these receives waiting,
/// so that most such ends need no event.
template <typename Counter, bool record>
void Run<Counter, record>::put_aside(Index r, StepIndex send, double at) {
  release_or_call(r);
  State& state = states_[r];
  state.released = send;
  state.released_at = at;
  const StepGraph& own = program(r);
  for (std::uint32_t k = own.ops[send].first_successor; k < own.ops[send + 1].first_successor; ++k) {
    if (state.waits[own.successors[k]] == 1) return release_or_call(r);
  }
}

/// The send that was put aside ends, if it has one.
template <typename Counter, bool record>
void Run<Counter, record>::release(Index r) {
  State& state = states_[r];
  if (state.released == nobody) return;
  const StepIndex i = state.released;
  state.released = nobody;
  complete(r, i, state.released_at);
}

/// The same if the end's time has come. Otherwise the end becomes an event.
template <typename Counter, bool record>
void Run<Counter, record>::release_or_call(Index r) {
  State& state = states_[r];
  if (state.released == nobody) return;
  if (state.released_at <= now_) return release(r);
  calendar_.push({.time = state.released_at, .rank = r, .at = state.released, .what = What::done});
  state.released = nobody;
}

template <typename Counter, bool record>
void Run<Counter, record>::complete(Index r, StepIndex i, double at) {
  State& state = states_[r];
  state.end = std::max(state.end, at);
  ++completed_;
  const StepGraph& own = program(r);
  for (std::uint32_t k = own.ops[i].first_successor; k < own.ops[i + 1].first_successor; ++k) {
    const StepIndex next = own.successors[k];
    if (record) ties_.tie(moment(r, i, Ties::At::end), moment(r, next, Ties::At::start), 0);
    const Counter waits = --state.waits[next];
    if (waits == 0) {
      ready_.push_back({next, {r, i}, Wait::step});
    } else if (waits == 1) {
      release_or_call(r);
    }
  }
}

template <typename Counter, bool record>
void Run<Counter, record>::report_stuck() const {
  for (Index r = 0; r < states_.size(); ++r) {
    for (StepIndex i = 0; i < program(r).steps(); ++i) {
      const Counter waits = states_[r].waits[i];
      if (waits == 0 || waits == static_cast<Counter>(~Counter{0})) continue;
      throw Error(ErrorCode::refuted,
                  fmt::format("the ranks wait for one another forever: rank {}, step {} never begins", r, i));
    }
  }
  throw Error(ErrorCode::refuted, "the ranks wait for one another forever");
}

SimulatedRun simulate(const Ranks& ranks, double bytes, const Network& network, const Circumstances& circumstances,
                      const Options& options) {
  require(bytes >= 0 && bytes <= 0x1p60, "the vector has 0 to 2^60 bytes");
  check_network(network);
  check_circumstances(circumstances, ranks.size());
  const Programs& programs = ranks.get();
  if (network.shared) {
    require(!options.record && circumstances.arrivals_s.empty() && circumstances.slow.empty() &&
                circumstances.skew.kind == Spread::Kind::none && circumstances.noise.kind == Spread::Kind::none,
            "shared ports are played without steps, arrivals, skew, noise and slow ranks");
    return play_sharing(programs, bytes, network, options);
  }
  const auto play = [&]<typename Counter>(Counter) {
    if (options.record) return Run<Counter, true>(programs, bytes, network, circumstances, options).play();
    return Run<Counter, false>(programs, bytes, network, circumstances, options).play();
  };
  return programs.most_waits < 255 ? play(std::uint8_t{}) : play(std::uint32_t{});
}

}  // namespace circoll::sim
