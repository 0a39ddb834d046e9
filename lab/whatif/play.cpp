#include "whatif/play.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "schedule/registry.hpp"

namespace circoll::whatif {
namespace {

/// Steps of schedules that are kept, which take about a gigabyte.
constexpr std::int64_t most_kept_steps = 20'000'000;

/// The algorithm that the MPI library takes, as far as it is known.
Choose native_like(const Machine& machine, const std::string& mpi) {
  const bool open_mpi = mpi.starts_with("Open MPI");
  std::shared_ptr<const Policy> classic = make_policy("classic", {.machine = machine});
  std::shared_ptr<const Policy> fixed = open_mpi ? make_policy("openmpi_fixed", {.machine = machine}) : nullptr;
  std::shared_ptr<const Policy> model = make_policy("model", {.machine = machine, .allow_rank_divergence = true});
  return [=](const Kind& kind) {
    const bool has_tree = fixed != nullptr && kind.collective == Collective::allreduce;
    Decision decision = (has_tree ? fixed : classic)->decide(facts_of(kind));
    if (!decision.selection) decision = model->decide(facts_of(kind));
    if (!decision.selection) {
      throw Error(ErrorCode::unsupported, "there is no algorithm for a call of " +
                                              std::string(to_string(kind.collective)) + " on " +
                                              std::to_string(kind.p) + " ranks");
    }
    return *decision.selection;
  };
}

/// The state of an operation from its first arrival to its end.
struct UnderWay {
  std::vector<double> arrival_s;
  std::vector<double> end_s;  ///< once all have come
  std::size_t arrived = 0;
  std::size_t left = 0;  ///< members that have not gone on yet
};

class Run {
 public:
  Run(const Program& program,
      std::function<std::vector<double>(std::uint32_t kind, const std::vector<double>&)> simulate)
      : program_(program),
        simulate_(std::move(simulate)),
        ranks_(static_cast<std::size_t>(program.ranks)),
        operations_(program.operations.size()) {
    times_.in_collectives_s.resize(ranks_.size());
    times_.waiting_s.resize(ranks_.size());
  }

  Times play() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].now_s = program_.programs[rank].begin_s;
      runnable_.push_back(rank);
    }
    while (!runnable_.empty()) {
      const std::size_t rank = runnable_.front();
      runnable_.pop_front();
      go_on(rank);
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (!ranks_[rank].ended) {
        throw Error(ErrorCode::parse, "ranks wait for one another forever, rank " + std::to_string(rank) +
                                          " among them; does the program call from several threads?");
      }
      times_.run_s = std::max(times_.run_s, ranks_[rank].now_s);
    }
    return std::move(times_);
  }

 private:
  struct RankState {
    double now_s = 0;
    std::size_t next = 0;   ///< entry
    bool computed = false;  ///< the time before that entry, or before the end, is over
    bool waits = false;     ///< for the end of the blocking call of that entry
    bool ended = false;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open{};  ///< nonblocking operations, and positions in them
  };

  /// Plays a rank until it waits for others, or ends.
  void go_on(std::size_t rank) {
    RankState& state = ranks_[rank];
    const RankProgram& program = program_.programs[rank];
    if (state.ended) return;
    for (;; ++state.next) {
      const bool at_end = state.next == program.entries.size();
      if (!state.computed) state.now_s += at_end ? program.tail_s : program.entries[state.next].gap_s;
      state.computed = true;
      if (at_end) {
        state.ended = complete(state, std::nullopt);
        return;
      }
      const Entry& entry = program.entries[state.next];
      const std::uint32_t group = program_.operations[entry.operation].group;
      if (!entry.blocks) {
        state.open.emplace_back(entry.operation, entry.position);
        arrive(entry, state.now_s);
      } else {
        if (!state.waits) {
          if (!complete(state, group)) return;
          arrive(entry, state.now_s);
          state.waits = true;
        }
        const UnderWay& operation = *operations_[entry.operation];
        if (operation.end_s.empty()) return;
        const double end_s = operation.end_s[entry.position];
        const double arrival_s = operation.arrival_s[entry.position];
        const double last_s = *std::max_element(operation.arrival_s.begin(), operation.arrival_s.end());
        times_.in_collectives_s[rank] += end_s - arrival_s;
        times_.waiting_s[rank] += std::max(0.0, std::min(end_s, last_s) - arrival_s);
        state.now_s = end_s;
        state.waits = false;
        leave(entry.operation);
      }
      state.computed = false;
    }
  }

  void arrive(const Entry& entry, double now_s) {
    const Operation& operation = program_.operations[entry.operation];
    const std::vector<Rank>& members = program_.groups[operation.group].members;
    std::unique_ptr<UnderWay>& under_way = operations_[entry.operation];
    if (under_way == nullptr) {
      under_way = std::make_unique<UnderWay>();
      under_way->arrival_s.resize(members.size());
      under_way->left = members.size();
    }
    under_way->arrival_s[entry.position] = now_s;
    if (++under_way->arrived < members.size()) return;
    under_way->end_s = simulate_(operation.kind, under_way->arrival_s);
    for (const Rank member : members) runnable_.push_back(static_cast<std::size_t>(member));
  }

  /// A member has gone on behind an operation.
  void leave(std::uint32_t operation) {
    if (--operations_[operation]->left == 0) operations_[operation].reset();
  }

  /// Waits for the nonblocking calls of a rank, all or those on one group. False: some are not over yet.
  bool complete(RankState& state, std::optional<std::uint32_t> group) {
    std::erase_if(state.open, [&](const auto& one) {
      const auto& [operation, position] = one;
      if (group && program_.operations[operation].group != *group) return false;
      if (operations_[operation]->end_s.empty()) return false;
      state.now_s = std::max(state.now_s, operations_[operation]->end_s[position]);
      leave(operation);
      return true;
    });
    return std::none_of(state.open.begin(), state.open.end(),
                        [&](const auto& one) { return !group || program_.operations[one.first].group == *group; });
  }

  const Program& program_;
  std::function<std::vector<double>(std::uint32_t kind, const std::vector<double>&)> simulate_;
  std::vector<RankState> ranks_;
  std::vector<std::unique_ptr<UnderWay>> operations_;
  std::deque<std::size_t> runnable_;
  Times times_;
};

}  // namespace

// Messages take turns at ports here. The windows of policies and of records would cost their acknowledgements, and gain
// nothing.
Choose by_policy(const std::string& name, const Machine& machine, const std::string& mpi) {
  std::shared_ptr<const Policy> policy = make_policy(name, {.machine = machine});
  return [policy, native = native_like(machine, mpi)](const Kind& kind) {
    const Decision decision = policy->decide(facts_of(kind));
    return decision.selection ? without_window(*decision.selection) : native(kind);
  };
}

Choose as_served(const Machine& machine, const std::string& mpi, std::int64_t* unknown) {
  return [native = native_like(machine, mpi), machine, unknown](const Kind& kind) {
    if (kind.served == "native") return native(kind);
    try {
      const Selection selection = parse_selection(kind.collective, kind.served);
      if (unmet_need(selection, kind.p, facts_of(kind).op).empty())
        return without_window(completed(selection, kind.p, kind.bytes, machine));
    } catch (const Error&) {
      // A file that is gone, or a sum whose operands travel (CIRCOLL_SUM).
    }
    if (unknown != nullptr) ++*unknown;
    return native(kind);
  };
}

Choose by_algorithm(const Selection& selection, const Machine& machine, Choose otherwise) {
  return [selection, machine, otherwise = std::move(otherwise)](const Kind& kind) {
    if (!are_twins(kind.collective, selection.collective)) return otherwise(kind);
    Selection wanted = selection;
    wanted.collective = kind.collective;
    if (!wanted.algorithm->serves(kind.collective) || !why_not(wanted, facts_of(kind), false).empty())
      return otherwise(kind);
    return with_best_parameters(completed(wanted, kind.p, kind.bytes, machine), kind.p, kind.bytes, machine, kind.root);
  };
}

Player::Player(Machine machine, std::function<bool()> go_on) : machine_(std::move(machine)), go_on_(std::move(go_on)) {}

/// Where all ranks share a node, messages of the mean length have prices of their own (Machine::node_ways).
sim::Network Player::network_for(const Kind& kind, const Selection& selection) const {
  if (link_) return {.between = *link_, .gamma_s_per_byte = machine_.gamma_s_per_byte};
  if (kind.nodes > 1 || kind.p == 1 || machine_.node_ways.empty()) return sim::network_of(machine_, kind.cores);
  const Terms terms = terms_of(selection, kind.p, kind.bytes, kind.root);
  const double rounds = terms.alpha + terms.alpha_uni;
  const double length = rounds > 0 ? (terms.bytes + terms.bytes_uni) / rounds : 0;
  const std::vector<MachineForLength> ways = machines_inside(machine_);
  const MachineForLength* way = &ways.front();
  for (const MachineForLength& one : ways) {
    if (length >= static_cast<double>(one.from_bytes)) way = &one;
  }
  return sim::network_of(way->machine);
}

std::shared_ptr<const sim::Ranks> Player::ranks_of(const Selection& selection, Rank p, Rank root) {
  const Key key(std::string(to_string(selection.collective)) + "/" + selection.text(), p, root);
  const auto known = ranks_.find(key);
  if (known != ranks_.end()) return known->second;
  auto made =
      std::make_shared<const sim::Ranks>(selection, p, root, 1, [this](Rank /*made*/) { return !go_on_ || go_on_(); });
  if (kept_steps_ + made->steps() > most_kept_steps) {
    ranks_.clear();
    kept_steps_ = 0;
  }
  kept_steps_ += made->steps();
  return ranks_.emplace(key, std::move(made)).first->second;
}

sim::Options Player::options() const {
  if (!go_on_) return {};
  return {.go_on = [this](std::int64_t /*events*/) { return go_on_(); }};
}

double Player::time_of(const Kind& kind, const Selection& selection) {
  return simulate(*ranks_of(selection, kind.p, kind.root), static_cast<double>(kind.bytes),
                  network_for(kind, selection), {}, options())
             .time_s +
         call_s_;
}

Times Player::play(const Program& program, const Choose& choose) {
  struct Chosen {
    std::shared_ptr<const sim::Ranks> ranks;
    sim::Network network;
  };
  std::vector<std::optional<Chosen>> chosen(program.kinds.size());
  std::int64_t played = 0;
  const auto simulated = [&](std::uint32_t index, const std::vector<double>& arrival_s) {
    if (go_on_ && ++played % 64 == 0 && !go_on_()) throw sim::Stopped{};
    const Kind& kind = program.kinds[index];
    if (kind.p == 1) return arrival_s;
    if (!chosen[index]) {
      const Selection selection = choose(kind);
      chosen[index] = Chosen{ranks_of(selection, kind.p, kind.root), network_for(kind, selection)};
    }
    // Times since the first arrival are small, and keep their digits.
    const double first_s = *std::min_element(arrival_s.begin(), arrival_s.end());
    sim::Circumstances circumstances{.arrivals_s = arrival_s};
    for (double& time_s : circumstances.arrivals_s) time_s -= first_s;
    std::vector<double> end_s = simulate(*chosen[index]->ranks, static_cast<double>(kind.bytes), chosen[index]->network,
                                         circumstances, options())
                                    .end_s;
    for (double& time_s : end_s) time_s += first_s + call_s_;
    return end_s;
  };
  return Run(program, simulated).play();
}

}  // namespace circoll::whatif
