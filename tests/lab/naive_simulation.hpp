// The simulator's model once more, as plainly as possible. Tests compare the simulator with it.
//
// There is one list of events, in which the earliest is searched each time. Every step, port and processor is kept by
// itself: no programs, no calendar, nothing put aside. Messages are eager, and ranks have one port of their own.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "circoll/dependencies.hpp"
#include "sim/sim.hpp"

namespace circoll {

class NaiveSimulation {
 public:
  NaiveSimulation(const std::vector<Schedule>& ranks, double block_bytes, const sim::Network& network,
                  const sim::Circumstances& circumstances)
      : ranks_(ranks),
        block_bytes_(block_bytes),
        network_(network),
        gamma_(network.gamma_s_per_byte),
        circumstances_(circumstances) {}

  /// The end of every rank.
  std::vector<double> run() {
    const std::vector<double> begins = sim::begins_of(circumstances_, static_cast<Rank>(ranks_.size()));
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      dependencies_.push_back(derive_dependencies(ranks_[r]));
      waits_.push_back(dependencies_[r].in_degree);
      for (std::size_t i = 0; i < ranks_[r].steps.size(); ++i)
        waits_[r][i] = std::max(1U, waits_[r][i]) + (is_receive(ranks_[r].steps[i].kind) ? 1 : 0);
      processor_.push_back(0);
      out_.push_back(0);
      in_.push_back(0);
      end_.push_back(begins[r]);
      add(begins[r], [this, r] {
        for (std::size_t i = 0; i < ranks_[r].steps.size(); ++i) {
          if (dependencies_[r].in_degree[i] == 0) waits_less(r, i, false);
        }
      });
    }
    while (!events_.empty()) {
      const auto next = std::min_element(events_.begin(), events_.end(),
                                         [](const Event& a, const Event& b) { return a.time < b.time; });
      const Event event = *next;
      events_.erase(next);
      now_ = event.time;
      event.action();
    }
    return end_;
  }

 private:
  struct Event {
    double time;
    std::function<void()> action;
  };
  void add(double time, std::function<void()> action) { events_.push_back({time, std::move(action)}); }
  [[nodiscard]] double bytes_of(std::size_t r, Operand o) const {
    return static_cast<double>(ranks_[r].count(o)) * block_bytes_;
  }
  [[nodiscard]] const sim::LogGops& price(std::size_t a, std::size_t b) const {
    const auto nodes = static_cast<std::size_t>(network_.group_nodes);
    return network_.group && a / nodes == b / nodes ? *network_.group : network_.between;
  }
  [[nodiscard]] static double priced(const sim::LogGops& price, double bytes) {
    return price.first_byte_free ? std::max(0.0, bytes - 1) : bytes;
  }
  /// True if rank r has a long message in step's round, on the side that is asked for.
  [[nodiscard]] bool has_long(const sim::LogGops& link, std::size_t r, const Step& step, bool receives) const {
    return std::any_of(ranks_[r].steps.begin(), ranks_[r].steps.end(), [&](const Step& other) {
      return other.round == step.round && (receives ? is_receive(other.kind) : other.kind == StepKind::send) &&
             bytes_of(r, message_operand(other)) >= static_cast<double>(link.exchange_from_bytes);
    });
  }
  /// G of a message, of which rank r has `step`.
  [[nodiscard]] double gap(const sim::LogGops& link, std::size_t r, const Step& step) const {
    const auto peer = static_cast<std::size_t>(step.peer);
    const bool sends = step.kind == StepKind::send;
    if (link.exchange_from_bytes == 0 ||
        bytes_of(r, message_operand(step)) < static_cast<double>(link.exchange_from_bytes))
      return link.gap_s_per_byte;
    const bool exchanged =
        has_long(link, sends ? r : peer, step, true) || has_long(link, sends ? peer : r, step, false);
    return link.gap_s_per_byte * (exchanged ? link.exchange_factor : 1);
  }
  [[nodiscard]] double noise(std::size_t r, std::size_t i) const {
    return sim::draw(circumstances_.noise, circumstances_.seed, r, i);
  }

  void waits_less(std::size_t r, std::size_t i, bool by_message) {
    if (--waits_[r][i] == 0) start(r, i, by_message);
  }
  void end_at(std::size_t r, std::size_t i, double time) {
    add(time, [this, r, i] {
      end_[r] = std::max(end_[r], now_);
      for (const StepIndex next : dependencies_[r].successors(static_cast<StepIndex>(i))) waits_less(r, next, false);
    });
  }

  void start(std::size_t r, std::size_t i, bool by_message) {
    const Step& step = ranks_[r].steps[i];
    switch (step.kind) {
      case StepKind::copy:
        return end_at(r, i, now_);
      case StepKind::reduce: {
        const double work = bytes_of(r, step.dst) * gamma_ + noise(r, i);
        if (work == 0) return end_at(r, i, now_);
        processor_[r] = std::max(now_, processor_[r]) + work;
        return end_at(r, i, processor_[r]);
      }
      case StepKind::send:
        return send(r, i);
      default:
        return receive(r, i, by_message);
    }
  }

  void send(std::size_t r, std::size_t i) {
    const sim::LogGops& link = price(r, static_cast<std::size_t>(ranks_[r].steps[i].peer));
    const double s = priced(link, bytes_of(r, ranks_[r].steps[i].left));
    const double first = link.overhead_s + noise(r, i);
    const double work = first + s * link.overhead_s_per_byte;
    double begin = now_;
    if (work > 0) {
      begin = std::max(now_, processor_[r]);
      processor_[r] = begin + work;
    }
    const double leaves = std::max(begin + first, out_[r]);
    const double moving = s * gap(link, r, ranks_[r].steps[i]);
    out_[r] = leaves + moving + link.gap_s;
    end_at(r, i, std::max(leaves + moving, begin + work));
    add(leaves + link.latency_s, [this, r, i, moving, &link] {
      const auto to = static_cast<std::size_t>(ranks_[r].steps[i].peer);
      const double there = std::max(now_, in_[to]) + moving;
      in_[to] = there + link.gap_s;
      add(there, [this, r, i, to] { waits_less(to, receive_of(r, i, to), true); });
    });
  }

  [[nodiscard]] std::size_t receive_of(std::size_t r, std::size_t i, std::size_t to) const {
    for (std::size_t j = 0;; ++j) {
      const Step& step = ranks_[to].steps.at(j);
      if (is_receive(step.kind) && step.peer == static_cast<Rank>(r) && step.round == ranks_[r].steps[i].round)
        return j;
    }
  }

  void receive(std::size_t r, std::size_t i, bool by_message) {
    const Step& step = ranks_[r].steps[i];
    const double bytes = bytes_of(r, message_operand(step));
    const sim::LogGops& link = price(r, static_cast<std::size_t>(step.peer));
    const double s = priced(link, bytes);
    const double last = link.overhead_s + noise(r, i);
    const double work = last + s * link.overhead_s_per_byte;
    const double combining = step.kind == StepKind::recv_reduce ? bytes * gamma_ : 0;
    if (work + combining == 0) return end_at(r, i, now_);
    const double since = by_message ? now_ - s * gap(link, r, step) : now_;
    processor_[r] = std::max(now_ + last, std::max(processor_[r], since) + work) + combining;
    end_at(r, i, processor_[r]);
  }

  const std::vector<Schedule>& ranks_;
  double block_bytes_;
  sim::Network network_;
  double gamma_;
  sim::Circumstances circumstances_;
  std::vector<Dependencies> dependencies_;
  std::vector<std::vector<std::uint32_t>> waits_;
  std::vector<double> processor_, out_, in_, end_;
  std::vector<Event> events_;
  double now_ = 0;
};

}  // namespace circoll
