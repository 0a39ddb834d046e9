#include "sim/run.hpp"

#include <algorithm>
#include <string>

#include "circoll/error.hpp"

namespace circoll::sim {

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
Outcome Run<Counter, record>::play() {
  for (Index r = 0; r < states_.size(); ++r) {
    states_[r].end = outcome_.begin_s[r];
    calendar_.push({.time = outcome_.begin_s[r], .rank = r, .what = What::begins});
  }
  while (!calendar_.empty()) {
    const Event event = calendar_.pop();
    now_ = event.time;
    handle(event);
    if ((++outcome_.events & 0xfffff) == 0 && options_.go_on && !options_.go_on(outcome_.events)) throw Stopped{};
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
      const Program& own = program(r);
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

/// Starts what has become ready at a rank, and what becomes ready by that.
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
  switch (program(r).ops[ready.step].kind) {
    case StepKind::copy:
      if (record) {
        note(r, ready.step, now_, ready.cause, ready.wait);
        begin_and_end(r, ready.step, now_, 0);
      }
      complete(r, ready.step, now_);
      break;
    case StepKind::reduce:
      reduce(r, ready);
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
void Run<Counter, record>::note(Index r, StepIndex i, double begin, Place cause, Wait wait) {
  PlayedStep& step = played(r, i);
  step.begin_s = begin;
  step.cause_rank = cause.rank == none ? -1 : static_cast<Rank>(cause.rank);
  step.cause_step = cause.step;
  step.wait = wait;
}

/// A step that does nothing but `work` from `begin` on.
template <typename Counter, bool record>
void Run<Counter, record>::begin_and_end(Index r, StepIndex i, double begin, double work) {
  ties_.set(moment(r, i, Ties::At::start), begin);
  ties_.tie(moment(r, i, Ties::At::start), moment(r, i, Ties::At::end), work);
}

template <typename Counter, bool record>
void Run<Counter, record>::reduce(Index r, const Ready& ready) {
  const Op& op = program(r).ops[ready.step];
  const double work = bytes_of(op) * gamma_ * factor(r) + noise(r, ready.step);
  if (work == 0) {
    if (record) {
      note(r, ready.step, now_, ready.cause, ready.wait);
      begin_and_end(r, ready.step, now_, 0);
    }
    return complete(r, ready.step, now_);
  }
  State& state = states_[r];
  const double begin = std::max(now_, state.processor);
  if (record) {
    const bool waited = state.processor > now_;
    note(r, ready.step, begin, waited ? on_processor_[r] : ready.cause, waited ? Wait::processor : ready.wait);
    on_processor_[r] = {r, ready.step};
    follow(processor_taken_[r], state.processor, 0, moment(r, ready.step, Ties::At::start));
    begin_and_end(r, ready.step, begin, work);
    processor_taken_[r] = moment(r, ready.step, Ties::At::start);
  }
  state.processor = begin + work;
  finish(r, ready.step, state.processor);
}

template <typename Counter, bool record>
void Run<Counter, record>::send(Index r, const Ready& ready) {
  const Op& op = program(r).ops[ready.step];
  const LogGops& price = link(r, peer_of(r, op));
  const double bytes = bytes_of(op);
  const double lost = noise(r, ready.step);
  const double overhead = price.overhead_s * factor(r) + lost;
  const double work = overhead + priced(price, bytes) * price.overhead_s_per_byte * factor(r);
  State& state = states_[r];
  double begin = now_;
  if (record) note(r, ready.step, now_, ready.cause, ready.wait);
  if (work > 0) {
    begin = std::max(now_, state.processor);
    if (record) {
      if (state.processor > now_) note(r, ready.step, begin, on_processor_[r], Wait::processor);
      on_processor_[r] = {r, ready.step};
      follow(processor_taken_[r], state.processor, 0, moment(r, ready.step, Ties::At::start));
      processor_taken_[r] = moment(r, ready.step, Ties::At::start);
    }
    state.processor = begin + work;
  }
  if (record) ties_.set(moment(r, ready.step, Ties::At::start), begin);
  const double at = begin + overhead;
  if (is_rendezvous(price, bytes)) {
    calendar_.push(
        {.time = at + price.latency_s, .rank = peer_of(r, op), .peer = r, .at = op.round, .what = What::asks});
  } else if (at == now_ || cores_ == 1 || shares_node(r, peer_of(r, op))) {
    inject(r, ready.step, at);  // nobody else uses these ports, or nobody is to come before
  } else {
    calendar_.push({.time = at, .rank = r, .at = ready.step, .what = What::injects});
  }
}

template <typename Counter, bool record>
std::size_t Run<Counter, record>::earliest(const Ports& ports, std::size_t first, bool inside) const {
  if (inside || ports_ == 1) return first;
  const auto begin = ports.free.begin() + static_cast<std::ptrdiff_t>(first);
  return first + static_cast<std::size_t>(std::min_element(begin, begin + static_cast<std::ptrdiff_t>(ports_)) - begin);
}

template <typename Counter, bool record>
bool Run<Counter, record>::has_long(const LogGops& link, Index r, std::uint32_t round, bool send) const {
  const Program& own = program(r);
  const std::vector<StepIndex>& steps = send ? own.sends : own.receives;
  auto at = std::lower_bound(steps.begin(), steps.end(), round,
                             [&](StepIndex i, std::uint32_t k) { return own.ops[i].round < k; });
  for (; at != steps.end() && own.ops[*at].round == round; ++at) {
    if (bytes_of(own.ops[*at]) >= static_cast<double>(link.exchange_from_bytes)) return true;
  }
  return false;
}

template <typename Counter, bool record>
double Run<Counter, record>::gap_per_byte(const LogGops& link, const Op& op, Index sender, Index receiver) const {
  const bool is_long = link.exchange_from_bytes > 0 && bytes_of(op) >= static_cast<double>(link.exchange_from_bytes);
  if (is_long && (has_long(link, sender, op.round, false) || has_long(link, receiver, op.round, true))) {
    return link.gap_s_per_byte * link.exchange_factor;
  }
  return link.gap_s_per_byte;
}

/// A send takes a port, from `at` on or as soon as one is free.
template <typename Counter, bool record>
void Run<Counter, record>::inject(Index r, StepIndex i, double at, Ties::Moment answer) {
  const Op& op = program(r).ops[i];
  const Index peer = peer_of(r, op);
  const bool inside = shares_node(r, peer);
  const LogGops& price = link(r, peer);
  Ports& ports = inside ? inside_out_ : out_;
  const std::size_t port = earliest(ports, first_port(r, inside), inside);
  const double begin = std::max(at, ports.free[port]);
  if (record) {
    if (ports.free[port] > at) note(r, i, begin, ports.last[port], Wait::port_out);
    ports.last[port] = {r, i};
  }
  const double bytes = priced(price, bytes_of(op));
  const double moved = begin + bytes * gap_per_byte(price, op, r, peer) * factor(r);
  if (record) {
    const Ties::Moment start = moment(r, i, Ties::At::start);
    const Ties::Moment leaves = moment(r, i, Ties::At::message);
    const Ties::Moment end = moment(r, i, Ties::At::end);
    ties_.set(leaves, begin);
    if (answer.step != unknown) {
      ties_.tie(answer, leaves, at - ties_.time(answer));
    } else {
      ties_.tie(start, leaves, at - ties_.time(start));
    }
    follow(ports.taken[port], ports.free[port], 0, leaves);
    ports.taken[port] = leaves;
    ties_.tie(leaves, end, moved - begin);
    ties_.tie(start, end, at + bytes * price.overhead_s_per_byte * factor(r) - ties_.time(start));
  }
  ports.free[port] = moved + price.gap_s * factor(r);
  if (begin > now_) {
    calendar_.push({.time = begin, .rank = r, .at = i, .what = What::departs});
  } else {
    depart(r, i, begin);
  }
  // The buffer is free when the port has the last byte, and the processor has worked on it.
  finish(r, i, std::max(moved, at + bytes * price.overhead_s_per_byte * factor(r)));
}

/// The first byte leaves. Where all messages that come in by a port have the same latency, they take it in the order in
/// which they leave.
template <typename Counter, bool record>
void Run<Counter, record>::depart(Index r, StepIndex i, double at) {
  const Index peer = peer_of(r, program(r).ops[i]);
  const double first = at + link(r, peer).latency_s;
  if (groups_ && !shares_node(r, peer)) {
    calendar_.push({.time = first, .rank = peer, .peer = r, .at = i, .what = What::comes});
  } else {
    come_in(r, i, first);
  }
}

/// The first byte of a message of rank r is at its receiver at `first`.
template <typename Counter, bool record>
void Run<Counter, record>::come_in(Index r, StepIndex i, double first) {
  const Op& op = program(r).ops[i];
  const Index peer = peer_of(r, op);
  const bool inside = shares_node(r, peer);
  const LogGops& price = link(r, peer);
  Ports& ports = inside ? inside_in_ : in_;
  const std::size_t port = earliest(ports, first_port(peer, inside), inside);
  const double begin = std::max(first, ports.free[port]);
  const double bytes = bytes_of(op);
  const double there =
      begin + priced(price, bytes) * gap_per_byte(price, op, r, peer) * std::max(factor(r), factor(peer));
  if (record) {
    const Ties::Moment comes = moment(peer, find(peer, op.round, r, false), Ties::At::message);
    ties_.set(comes, there);
    const Ties::Moment leaves = moment(r, i, Ties::At::message);
    ties_.tie(leaves, comes, there - begin + first - ties_.time(leaves));
    follow(ports.taken[port], ports.free[port], there - begin, comes);
    ports.taken[port] = comes;
  }
  ports.free[port] = there + price.gap_s * factor(peer);
  calendar_.push({.time = there,
                  .rank = peer,
                  .peer = r,
                  .at = op.round,
                  .what = is_rendezvous(price, bytes) ? What::follows : What::arrives,
                  .waited = begin > first,
                  .port = static_cast<std::uint16_t>(port - first_port(peer, inside))});
}

/// The step of a rank that is one end of a message of a round.
template <typename Counter, bool record>
StepIndex Run<Counter, record>::find(Index r, std::uint32_t round, Index peer, bool send) const {
  const Program& own = program(r);
  const std::vector<StepIndex>& steps = send ? own.sends : own.receives;
  const auto is_it = [&](StepIndex i) { return own.ops[i].round == round && peer_of(r, own.ops[i]) == peer; };
  // Most algorithms have one message each way in every round.
  if (round < steps.size() && is_it(steps[round])) return steps[round];
  auto at = std::lower_bound(steps.begin(), steps.end(), round,
                             [&](StepIndex i, std::uint32_t k) { return own.ops[i].round < k; });
  for (; at != steps.end() && own.ops[*at].round == round; ++at) {
    if (is_it(*at)) return *at;
  }
  throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(r) + " has no message " + (send ? "to" : "from") +
                                               " rank " + std::to_string(peer) + " in round " + std::to_string(round) +
                                               ", whose other end is there");
}

/// A message, or the request of one, is at its receiver.
template <typename Counter, bool record>
void Run<Counter, record>::arrive(const Event& event) {
  const Index r = event.rank;
  const StepIndex i = find(r, event.at, event.peer, false);
  State& state = states_[r];
  if (state.released != nobody && state.released_at <= now_) {
    release(r);
    work_off(r);
  }
  Ready ready{i, {}, Wait::message};
  if (record) {
    ready.cause = {event.peer, find(event.peer, event.at, r, true)};
    if (event.what == What::asks) {
      const Ties::Moment request = moment(event.peer, ready.cause.step, Ties::At::start);
      ties_.set(moment(r, i, Ties::At::asked), now_);
      ties_.tie(request, moment(r, i, Ties::At::asked), now_ - ties_.time(request));
    } else {
      PlayedStep& step = played(r, i);
      step.sender = static_cast<Rank>(ready.cause.rank);
      step.sender_step = ready.cause.step;
      const bool inside = shares_node(r, event.peer);
      Place& last = (inside ? inside_in_ : in_).last[first_port(r, inside) + event.port];
      const Place sent = ready.cause;
      if (event.waited) {
        ready.cause = last;
        ready.wait = Wait::port_in;
      }
      last = sent;
    }
  }
  if (event.what == What::follows) {
    ready_.push_back(ready);  // its receive has been ready since it was asked for
    return;
  }
  Counter& waits = states_[r].waits[i];
  if (--waits == 0) {
    ready_.push_back(ready);
  } else {
    release_or_call(r);
  }
}

/// A receive may write, and its message is there, or has been asked for if it is a rendezvous.
template <typename Counter, bool record>
void Run<Counter, record>::receive(Index r, const Ready& ready) {
  const Op& op = program(r).ops[ready.step];
  const Index peer = peer_of(r, op);
  const LogGops& price = link(r, peer);
  const double bytes = bytes_of(op);
  const bool came_last = ready.wait == Wait::message || ready.wait == Wait::port_in;
  const bool was_asked_for = is_rendezvous(price, bytes);
  if (was_asked_for) {
    Counter& asked = states_[r].waits[ready.step];
    if (asked == 0) {
      if (record) {
        ties_.set(moment(r, ready.step, Ties::At::start), now_);
        ties_.tie(moment(r, ready.step, Ties::At::asked), moment(r, ready.step, Ties::At::start), 0);
      }
      asked = static_cast<Counter>(~Counter{0});  // the next time it is the message
      calendar_.push({.time = now_ + price.latency_s, .rank = peer, .peer = r, .at = op.round, .what = What::answered});
      return;
    }
  }
  const double moving = priced(price, bytes) * gap_per_byte(price, op, peer, r) * std::max(factor(r), factor(peer));
  const double begin = came_last ? now_ - moving : now_;
  if (record) note(r, ready.step, begin, ready.cause, ready.wait);
  const double combining = op.kind == StepKind::recv_reduce ? bytes * gamma_ * factor(r) : 0;
  const double overhead = price.overhead_s * factor(r) + noise(r, ready.step);
  const double work = overhead + priced(price, bytes) * price.overhead_s_per_byte * factor(r);
  if (record) {
    const Ties::Moment end = moment(r, ready.step, Ties::At::end);
    ties_.tie(moment(r, ready.step, Ties::At::message), end, std::max(overhead, work - moving) + combining);
    if (work + combining > 0) {
      follow(processor_taken_[r], states_[r].processor, work + combining, end);
      processor_taken_[r] = end;
    }
    if (!was_asked_for) {  // else it has begun when it was answered
      // It would miss the message as it comes in, and the processor would begin with it then.
      const Ties::Moment start = moment(r, ready.step, Ties::At::start);
      ties_.set(start, now_);
      ties_.tie(start, end, work + combining);
    }
  }
  if (work + combining == 0) return complete(r, ready.step, now_);
  // The processor keeps up with a message while it comes in; o is paid when the last byte is there.
  State& state = states_[r];
  if (record && state.processor > std::max(begin, now_ - (work - overhead))) {
    note(r, ready.step, begin, on_processor_[r], Wait::processor);
  }
  if (record) on_processor_[r] = {r, ready.step};
  state.processor =
      std::max((came_last ? now_ : begin) + overhead, std::max(state.processor, begin) + work) + combining;
  finish(r, ready.step, state.processor);
}

/// A step ends at a time that is known already.
template <typename Counter, bool record>
void Run<Counter, record>::finish(Index r, StepIndex i, double at) {
  if (record) {
    played(r, i).end_s = at;
    ties_.set(moment(r, i, Ties::At::end), at);
  }
  const Program& own = program(r);
  if (at <= now_ || own.ops[i].first_successor == own.ops[i + 1].first_successor) {
    complete(r, i, at);
  } else if (own.ops[i].kind == StepKind::send && own.ops[i].releases_receives_only) {
    put_aside(r, i, at);
  } else {
    calendar_.push({.time = at, .rank = r, .at = i, .what = What::done});
  }
}

/// Puts a send aside for whose end only receives wait. Nobody notices before nothing else keeps them waiting, so that
/// most such ends need no event.
template <typename Counter, bool record>
void Run<Counter, record>::put_aside(Index r, StepIndex send, double at) {
  release_or_call(r);
  State& state = states_[r];
  state.released = send;
  state.released_at = at;
  const Program& own = program(r);
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

/// The same if its time has come; else it becomes an event.
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
  if (record) {
    played(r, i).end_s = at;
    ties_.set(moment(r, i, Ties::At::end), at);
  }
  state.end = std::max(state.end, at);
  ++completed_;
  const Program& own = program(r);
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
      throw Error(ErrorCode::refuted, "the ranks wait for one another forever: rank " + std::to_string(r) + ", step " +
                                          std::to_string(i) + " never begins");
    }
  }
  throw Error(ErrorCode::refuted, "the ranks wait for one another forever");
}

template class Run<std::uint8_t, false>;
template class Run<std::uint8_t, true>;
template class Run<std::uint32_t, false>;
template class Run<std::uint32_t, true>;

}  // namespace circoll::sim
