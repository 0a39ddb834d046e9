// The messages of a run: from the processor that sends, over ports and latencies, to the receive that ends.
//
// Members of Run, which run.cpp instantiates.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "circoll/error.hpp"
#include "sim/run.hpp"

namespace circoll::sim {

template <typename Counter, bool record>
void Run<Counter, record>::send(Index r, const Ready& ready) {
  const Op& op = program(r).ops[ready.step];
  const LogGops& price = link(r, peer_of(r, op));
  const double bytes = bytes_of(op);
  const double overhead = price.overhead_s * factor(r) + noise(r, ready.step);
  const double work = overhead + priced(price, bytes) * price.overhead_s_per_byte * factor(r);
  const double begin = take_processor(r, ready, work);
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
template <typename IsIt>
StepIndex Run<Counter, record>::find_if(Index r, std::uint32_t round, bool send, const IsIt& is_it) const {
  const StepGraph& own = program(r);
  const std::vector<StepIndex>& steps = send ? own.sends : own.receives;
  auto at = std::lower_bound(steps.begin(), steps.end(), round,
                             [&](StepIndex i, std::uint32_t k) { return own.ops[i].round < k; });
  for (; at != steps.end() && own.ops[*at].round == round; ++at) {
    if (is_it(own.ops[*at])) return *at;
  }
  return nobody;
}

template <typename Counter, bool record>
bool Run<Counter, record>::has_long(const LogGops& link, Index r, std::uint32_t round, bool send) const {
  return find_if(r, round, send,
                 [&](const Op& op) { return bytes_of(op) >= static_cast<double>(link.exchange_from_bytes); }) != nobody;
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
  const StepGraph& own = program(r);
  const std::vector<StepIndex>& steps = send ? own.sends : own.receives;
  const auto is_it = [&](const Op& op) { return op.round == round && peer_of(r, op) == peer; };
  // Most algorithms have one message each way in every round.
  if (round < steps.size() && is_it(own.ops[steps[round]])) return steps[round];
  const StepIndex found = find_if(r, round, send, is_it);
  if (found != nobody) return found;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("rank {} has no message {} rank {} in round {}, whose other end is there", r,
                          send ? "to" : "from", peer, round));
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
      RankStep& last = (inside ? inside_in_ : in_).last[first_port(r, inside) + event.port];
      const RankStep sent = ready.cause;
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
  if (work + combining == 0) return finish(r, ready.step, now_);
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

}  // namespace circoll::sim
