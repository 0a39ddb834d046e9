// The rounds of steps that have an order only, found greedily.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

#include "circoll/dependencies.hpp"
#include "msccl/actions.hpp"

namespace circoll::msccl {
namespace {

using Event = std::uint32_t;

/// A local step, or a message with both of its ends.
struct Happening {
  bool message = false;
  Rank from = 0;  ///< of a local step: its rank
  Rank to = 0;
  std::vector<Event> before{};
  std::uint32_t level = 0;  ///< messages on the longest way to it
  std::uint32_t tail = 0;   ///< messages on the longest way from it
  std::uint32_t round = 0;
  std::uint32_t turn = 0;  ///< an order in which all that it waits for comes first
};

/// Rounds in which a port has a message.
class Port {
 public:
  [[nodiscard]] bool is_free(std::uint32_t round) const { return round >= taken_.size() || !taken_[round]; }
  void take(std::uint32_t round) {
    if (round >= taken_.size()) taken_.resize(round + 1, false);
    taken_[round] = true;
    while (first_free_ < taken_.size() && taken_[first_free_]) ++first_free_;
  }
  [[nodiscard]] std::uint32_t first_free() const { return first_free_; }

 private:
  std::vector<bool> taken_;
  std::uint32_t first_free_ = 0;
};

class Rounds {
 public:
  explicit Rounds(Unrounded& all) : all_(all), event_(all.ranks.size()) {
    for (std::size_t r = 0; r < all.ranks.size(); ++r) event_[r].resize(all.ranks[r].steps.size(), 0);
    for (std::size_t r = 0; r < all.ranks.size(); ++r) {
      for (StepIndex i = 0; i < all.ranks[r].steps.size(); ++i) add_event(static_cast<Rank>(r), i);
    }
    for (std::size_t r = 0; r < all.ranks.size(); ++r) {
      const Dependencies dependencies = derive_dependencies(all.ranks[r]);
      for (StepIndex i = 0; i < all.ranks[r].steps.size(); ++i) {
        for (const StepIndex next : dependencies.successors(i)) events_[event_[r][next]].before.push_back(event_[r][i]);
      }
      drop_derived(all.ranks[r]);
    }
  }

  std::vector<std::vector<StepIndex>> run() {
    order();
    assign();
    std::vector<std::vector<StepIndex>> origins;
    for (std::size_t r = 0; r < all_.ranks.size(); ++r) origins.push_back(sort(r));
    return origins;
  }

 private:
  void add_event(Rank rank, StepIndex i) {
    const auto r = static_cast<std::size_t>(rank);
    const circoll::Step& step = all_.ranks[r].steps[i];
    if (step.kind == StepKind::recv) return;  // the event is that of the send
    event_[r][i] = static_cast<Event>(events_.size());
    events_.push_back({.message = step.kind == StepKind::send, .from = rank, .to = rank});
    ends_.emplace_back(rank, i);
    if (step.kind != StepKind::send) return;
    events_.back().to = step.peer;
    event_[static_cast<std::size_t>(step.peer)][all_.other[r][i]] = event_[r][i];
  }

  /// Drops explicit edges between steps that wait for one another anyway, because they touch the same memory.
  static void drop_derived(Schedule& s) {
    std::vector<std::pair<StepIndex, StepIndex>> given = std::move(s.edges);
    s.edges.clear();
    const Dependencies derived = derive_dependencies(s);
    for (const auto& [earlier, later] : given) {
      const auto successors = derived.successors(earlier);
      if (std::find(successors.begin(), successors.end(), later) == successors.end())
        s.edges.emplace_back(earlier, later);
    }
  }

  /// Levels, and an order of all events by them.
  void order() {
    std::vector<std::vector<Event>> after(events_.size());
    std::vector<std::uint32_t> waiting(events_.size(), 0);
    for (Event e = 0; e < events_.size(); ++e) {
      for (const Event before : events_[e].before) {
        after[before].push_back(e);
        ++waiting[e];
      }
    }
    std::vector<Event> ready;
    for (Event e = 0; e < events_.size(); ++e) {
      if (waiting[e] == 0) ready.push_back(e);
    }
    for (std::size_t done = 0; done < ready.size(); ++done) {
      const Event e = ready[done];
      events_[e].turn = static_cast<std::uint32_t>(done);
      for (const Event next : after[e]) {
        events_[next].level = std::max(events_[next].level, events_[e].level + (events_[next].message ? 1 : 0));
        if (--waiting[next] == 0) ready.push_back(next);
      }
    }
    if (ready.size() < events_.size()) throw stuck(waiting);
    for (std::size_t done = ready.size(); done-- > 0;) {
      const Happening& h = events_[ready[done]];
      const std::uint32_t tail = h.tail + (h.message ? 1 : 0);
      for (const Event before : h.before) events_[before].tail = std::max(events_[before].tail, tail);
    }
    // Among messages that can go at once, those with the longest chain of messages that wait for them come first.
    // Messages over the same distance go together, so that few meet others at a port.
    const auto p = static_cast<Rank>(all_.ranks.size());
    const auto key = [&](Event e) {
      const Happening& h = events_[e];
      if (!h.message) return std::tuple{h.level, true, std::uint32_t{0}, Rank{0}, Rank{0}, h.turn};
      return std::tuple{h.level, false, ~h.tail, (h.to - h.from + p) % p, h.from, h.turn};
    };
    order_.resize(events_.size());
    std::iota(order_.begin(), order_.end(), Event{0});
    std::sort(order_.begin(), order_.end(), [&](Event a, Event b) { return key(a) < key(b); });
    for (std::size_t i = 0; i < order_.size(); ++i) events_[order_[i]].turn = static_cast<std::uint32_t>(i);
  }

  [[nodiscard]] Stuck stuck(const std::vector<std::uint32_t>& waiting) const {
    Event e = 0;
    while (waiting[e] == 0) ++e;
    // After as many steps back as there are events, the event is on a cycle.
    for (std::size_t i = 0; i < events_.size(); ++i)
      e = *std::find_if(events_[e].before.begin(), events_[e].before.end(), [&](Event b) { return waiting[b] > 0; });
    return {ends_[e].first, ends_[e].second};
  }

  void assign() {
    has_message_.assign(events_.size(), 0);
    std::vector<Port> out(all_.ranks.size());
    std::vector<Port> in(all_.ranks.size());
    for (const Event e : order_) {
      Happening& h = events_[e];
      for (const Event before : h.before) {
        const Happening& b = events_[before];
        h.round = std::max(h.round, b.round + (h.message ? has_message_[before] : 0));
      }
      for (const Event before : h.before) has_message_[e] = std::max(has_message_[e], has_message_[before]);
      if (!h.message) continue;
      has_message_[e] = 1;
      Port& leaves = out[static_cast<std::size_t>(h.from)];
      Port& enters = in[static_cast<std::size_t>(h.to)];
      h.round = std::max({h.round, leaves.first_free(), enters.first_free()});
      while (!leaves.is_free(h.round) || !enters.is_free(h.round)) ++h.round;
      leaves.take(h.round);
      enters.take(h.round);
      rounds_ = std::max(rounds_, h.round + 1);
    }
  }

  std::vector<StepIndex> sort(std::size_t rank) {
    Schedule& s = all_.ranks[rank];
    std::vector<StepIndex> order(s.steps.size());
    std::iota(order.begin(), order.end(), StepIndex{0});
    std::sort(order.begin(), order.end(), [&](StepIndex a, StepIndex b) {
      const Happening& x = events_[event_[rank][a]];
      const Happening& y = events_[event_[rank][b]];
      return std::tie(x.round, x.turn) < std::tie(y.round, y.turn);
    });
    std::vector<StepIndex> now(order.size());
    std::vector<circoll::Step> steps;
    for (StepIndex i = 0; i < order.size(); ++i) {
      now[order[i]] = i;
      steps.push_back(s.steps[order[i]]);
      steps.back().round = events_[event_[rank][order[i]]].round;
    }
    s.steps = std::move(steps);
    s.rounds = rounds_;
    for (auto& [earlier, later] : s.edges) {
      earlier = now[earlier];
      later = now[later];
    }
    std::sort(s.edges.begin(), s.edges.end());
    return order;
  }

  Unrounded& all_;
  std::vector<Happening> events_;
  std::vector<std::pair<Rank, StepIndex>> ends_;  // of each event: its step, or that of its send
  std::vector<std::vector<Event>> event_;         // of each step
  std::vector<Event> order_;
  std::vector<std::uint32_t> has_message_;  // 1: the event is a message, or waits for one
  std::uint32_t rounds_ = 0;
};

}  // namespace

std::vector<std::vector<StepIndex>> assign_rounds(Unrounded& all) { return Rounds(all).run(); }

}  // namespace circoll::msccl
