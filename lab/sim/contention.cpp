// Loads of links, round by round.
//
// Messages are not copied: a rank stands in the list of the round of its next send, and its program says the rest.
// Loads count in blocks, which are whole numbers, so that no order of messages makes a difference.
#include "sim/contention.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "circoll/error.hpp"
#include "sim/programs.hpp"

namespace circoll::sim {
namespace {

/// The numbers of all links: ports of nodes, then those of ranks inside their nodes, then the links between switches.
struct Numbering {
  std::uint64_t nodes = 0;
  std::uint64_t ranks = 0;

  explicit Numbering(const Fabric& fabric)
      : nodes(static_cast<std::uint64_t>(fabric.topology->nodes())), ranks(fabric.node_of.size()) {}
  [[nodiscard]] std::uint64_t node_port(Node node, bool in) const { return 2 * std::uint64_t{node} + (in ? 1 : 0); }
  [[nodiscard]] std::uint64_t rank_port(std::uint64_t rank, bool in) const { return 2 * (nodes + rank) + (in ? 1 : 0); }
  [[nodiscard]] std::uint64_t between_switches(Link link) const { return 2 * (nodes + ranks) + link; }
};

/// The traffic of one link in the round that `round` names.
struct Load {
  double capacity = 1;
  double blocks = 0;
  std::uint32_t messages = 0;
  std::uint32_t round = UINT32_MAX;
};

/// The messages of a round that have the same prices: those inside nodes, or the others.
struct PricedMessages {
  Count messages = 0;
  double longest = 0;      ///< blocks
  std::uint64_t link = 0;  ///< the first one of those that take longest
  double shares = 0;       ///< blocks on it, by its capacity
};

/// A message as the model sees it.
struct PricedMessage {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double blocks = 0;
};

/// The number of each round if nodes have so many ports: that of the rounds that go at once (groups_on_ports). One more
/// is for steps after the last round.
std::vector<std::uint32_t> numbers_on_ports(const Programs& programs, int ports) {
  std::vector<std::int64_t> waits_for;
  std::vector<std::int64_t> latest;  // round whose message a step of one program waits for
  for (const StepGraph& program : programs.distinct) {
    latest.assign(program.steps(), -1);
    for (std::size_t i = 0; i < program.steps(); ++i) {
      const Op& op = program.ops[i];
      const bool is_message = op.kind == StepKind::send || is_receive(op.kind);
      if (is_message && op.round >= waits_for.size()) waits_for.resize(std::size_t{op.round} + 1, -1);
      if (is_message) waits_for[op.round] = std::max(waits_for[op.round], latest[i]);
      const std::int64_t passed_on = is_message ? std::max(latest[i], std::int64_t{op.round}) : latest[i];
      for (std::uint32_t next = op.first_successor; next < program.ops[i + 1].first_successor; ++next)
        latest[program.successors[next]] = std::max(latest[program.successors[next]], passed_on);
    }
  }
  std::vector<std::uint32_t> numbers;
  for (const std::int64_t group : groups_on_ports(waits_for, ports))
    numbers.push_back(static_cast<std::uint32_t>(group));
  numbers.push_back(numbers.empty() ? 0 : numbers.back() + 1);
  return numbers;
}

/// Ranks by the round of their next send. `numbers` are those of rounds that go at once.
class Sends {
 public:
  Sends(const Programs& programs, const std::vector<std::uint32_t>& numbers) : programs_(programs), numbers_(numbers) {
    const std::size_t p = programs.ranks.size();
    for (const StepGraph& program : programs.distinct) {
      if (!program.sends.empty()) rounds_ = std::max(rounds_, number_of(program.ops[program.sends.back()]) + 1);
    }
    next_send_.assign(p, 0);
    next_rank_.assign(p, none);
    first_.assign(rounds_, none);
    for (std::size_t r = p; r-- > 0;) put(static_cast<std::uint32_t>(r));
  }

  [[nodiscard]] std::uint32_t rounds() const { return rounds_; }

  /// Calls f with each message of a round.
  template <typename F>
  void for_each(std::uint32_t round, const F& f) const {
    for (std::uint32_t r = first_[round]; r != none; r = next_rank_[r]) {
      const RankProgram& rank = programs_.ranks[r];
      const std::vector<StepIndex>& sends = rank.program->sends;
      for (std::size_t i = next_send_[r]; i < sends.size(); ++i) {
        const Op& op = rank.program->ops[sends[i]];
        if (number_of(op) != round) break;
        f(PricedMessage{.from = r, .to = rank.peers[op.message], .blocks = programs_.moves_data ? op.blocks : 0});
      }
    }
  }

  /// Ends a round: its ranks go on to their next ones.
  void end(std::uint32_t round) {
    for (std::uint32_t r = first_[round]; r != none;) {
      const std::uint32_t next = next_rank_[r];
      const StepGraph& program = *programs_.ranks[r].program;
      std::uint32_t& i = next_send_[r];
      while (i < program.sends.size() && number_of(program.ops[program.sends[i]]) == round) ++i;
      put(r);
      r = next;
    }
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  [[nodiscard]] std::uint32_t number_of(const Op& op) const { return numbers_[op.round]; }

  void put(std::uint32_t r) {
    const StepGraph& program = *programs_.ranks[r].program;
    if (next_send_[r] == program.sends.size()) return;
    std::uint32_t& first = first_[number_of(program.ops[program.sends[next_send_[r]]])];
    next_rank_[r] = first;
    first = r;
  }

  const Programs& programs_;
  const std::vector<std::uint32_t>& numbers_;
  std::uint32_t rounds_ = 0;
  std::vector<std::uint32_t> next_send_;
  std::vector<std::uint32_t> next_rank_;  ///< of the same list
  std::vector<std::uint32_t> first_;      ///< rank of the list of a round
};

/// For every number of rounds, the most blocks that a rank combines. O(steps of all programs).
std::vector<double> most_combined(const Programs& programs, const std::vector<std::uint32_t>& numbers) {
  std::vector<double> most;
  std::vector<double> sums;  // of one program; 0 but in its rounds
  std::vector<std::uint32_t> rounds;
  for (const StepGraph& program : programs.distinct) {
    rounds.clear();
    for (std::size_t i = 0; i < program.steps(); ++i) {
      const Op& op = program.ops[i];
      if (!is_reduction(op.kind)) continue;
      const std::uint32_t number = numbers[std::min<std::size_t>(op.round, numbers.size() - 1)];
      if (number >= sums.size()) sums.resize(std::size_t{number} + 1, 0);
      sums[number] += op.blocks;
      rounds.push_back(number);
    }
    most.resize(sums.size(), 0);
    for (const std::uint32_t round : rounds) {
      most[round] = std::max(most[round], sums[round]);
      sums[round] = 0;
    }
  }
  return most;
}

/// The loads of all links, and the times that follow from them.
class Loads {
 public:
  Loads(const Programs& programs, double bytes, const Fabric& fabric, const Machine& machine)
      : topology_(*fabric.topology),
        node_of_(fabric.node_of),
        numbering_(fabric),
        unit_(programs.moves_data ? bytes / programs.vector_blocks : 0),
        alpha_s_{machine.within_alpha_s(), machine.alpha_s},
        beta_s_{machine.within_beta_s_per_byte() * unit_, machine.beta_s_per_byte * unit_},
        loads_(static_cast<std::size_t>(numbering_.between_switches(0)) + topology_.links()) {
    for (std::size_t i = 0; i < 2 * numbering_.nodes; ++i) loads_[i].capacity = fabric.ports;
    for (std::size_t i = 0; i < topology_.links(); ++i)
      loads_[numbering_.between_switches(static_cast<Link>(i))].capacity = topology_.capacity(static_cast<Link>(i));
  }

  [[nodiscard]] double unit() const { return unit_; }

  /// The times of a round, whose messages are added to the levels of `all`: in blocks.
  ContendedRound round(const Sends& sends, std::uint32_t number, Contention& all) {
    ContendedRound round{.round = number};
    parts_ = {};
    double blocks = 0;
    sends.for_each(number, [&](const PricedMessage& message) {
      const Laid laid = lay(message, number);
      const double latency_s = alpha_s_[far(message)] + static_cast<double>(laid.hops) * topology_.hop_s();
      round.alone_s = std::max(round.alone_s, latency_s + message.blocks / laid.narrowest * beta_s_[far(message)]);
      blocks += message.blocks;
      const auto level = static_cast<std::size_t>(topology_.level(node_of_[message.from], node_of_[message.to]));
      all.bytes[level] += message.blocks;
      ++all.messages[level];
      all.hops += laid.hops;
    });
    round.messages = parts_[0].messages + parts_[1].messages;
    round.bytes = blocks * unit_;
    round.longest = std::max(parts_[0].longest, parts_[1].longest) * unit_;
    round.time_s = time_of(sends, number);
    const PricedMessages& slower =
        parts_[0].shares * beta_s_[0] > parts_[1].shares * beta_s_[1] ? parts_[0] : parts_[1];
    if (slower.shares * unit_ > 0) {
      const Load& load = loads_[slower.link];
      round.busiest = {
          .link = slower.link, .bytes = load.blocks * unit_, .messages = load.messages, .capacity = load.capacity};
    }
    return round;
  }

 private:
  struct Laid {
    Count hops = 0;
    double narrowest = 1;  ///< the least capacity on the way; 1: of the port that it takes
  };

  /// 1 for a message between nodes, 0 inside a node: the index of prices.
  [[nodiscard]] std::size_t far(const PricedMessage& message) const {
    return node_of_[message.from] != node_of_[message.to] ? 1 : 0;
  }

  /// Calls f with the number of each link of a message, its ports included. Returns the number of the others.
  template <typename F>
  Count for_each_link(const PricedMessage& message, const F& f) {
    const Node from = node_of_[message.from];
    const Node to = node_of_[message.to];
    if (from == to) {
      f(numbering_.rank_port(message.from, false));
      f(numbering_.rank_port(message.to, true));
      return 0;
    }
    route_.clear();
    topology_.route(from, to, route_);
    f(numbering_.node_port(from, false));
    f(numbering_.node_port(to, true));
    for (const Link link : route_) f(numbering_.between_switches(link));
    return static_cast<Count>(route_.size());
  }

  Laid lay(const PricedMessage& message, std::uint32_t round) {
    PricedMessages& part = parts_[far(message)];
    ++part.messages;
    part.longest = std::max(part.longest, message.blocks);
    Laid laid;
    laid.hops = for_each_link(message, [&](std::uint64_t link) {
      Load& load = loads_[link];
      if (load.round != round) {
        load.round = round;
        load.blocks = 0;
        load.messages = 0;
      }
      load.blocks += message.blocks;
      ++load.messages;
      laid.narrowest = std::min(laid.narrowest, load.capacity);
      const double shares = load.blocks / load.capacity;
      if (shares < part.shares || (shares == part.shares && link >= part.link)) return;
      part.shares = shares;
      part.link = link;
    });
    return laid;
  }

  /// The time of the slowest message. A message takes one port, however many its node has.
  double time_of(const Sends& sends, std::uint32_t number) {
    double slowest_s = 0;
    if (topology_.hop_s() > 0) {
      sends.for_each(number, [&](const PricedMessage& message) {
        double shares = message.blocks;
        const Count hops = for_each_link(message, [&](std::uint64_t link) {
          shares = std::max(shares, loads_[link].blocks / loads_[link].capacity);
        });
        const double latency_s = alpha_s_[far(message)] + static_cast<double>(hops) * topology_.hop_s();
        slowest_s = std::max(slowest_s, latency_s + shares * beta_s_[far(message)]);
      });
      return slowest_s;
    }
    // Without hops messages of a part have the same latency, and those on its busiest link are the slowest.
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const PricedMessages& part = parts_[i];
      if (part.messages == 0) continue;
      slowest_s = std::max(slowest_s, alpha_s_[i] + std::max(part.shares, part.longest) * beta_s_[i]);
    }
    return slowest_s;
  }

  const Topology& topology_;
  const std::vector<Node>& node_of_;
  Numbering numbering_;
  double unit_;  ///< bytes of a block
  std::array<double, 2> alpha_s_;
  std::array<double, 2> beta_s_;  ///< per block
  std::vector<Load> loads_;
  std::vector<Link> route_;  ///< of the message that is looked at
  std::array<PricedMessages, 2> parts_{};
};

void check_fabric(const Ranks& ranks, const Fabric& fabric) {
  require(fabric.topology != nullptr, "a fabric has a topology");
  require(fabric.node_of.size() == static_cast<std::size_t>(ranks.size()), "every rank has a node");
  require(fabric.ports >= 1 && fabric.ports <= 1024, "a node has 1 to 1024 ports");
  for (const Node node : fabric.node_of)
    require(static_cast<Rank>(node) < fabric.topology->nodes(), "the node of a rank is one of the network");
}

void check_machine(const Machine& machine) {
  for (const double price : {machine.within_alpha_s(), machine.alpha_s, machine.within_beta_s_per_byte(),
                             machine.beta_s_per_byte, machine.gamma_s_per_byte})
    require(price >= 0 && std::isfinite(price), "alpha, beta and gamma are finite and not negative");
}

}  // namespace

Contention contention(const Ranks& ranks, double bytes, const Fabric& fabric, const Machine& machine,
                      const std::function<bool(Count)>& go_on) {
  require(bytes >= 0 && bytes <= 0x1p60, "the vector has 0 to 2^60 bytes");
  check_fabric(ranks, fabric);
  check_machine(machine);
  const Programs& programs = ranks.get();
  const std::vector<std::uint32_t> numbers = numbers_on_ports(programs, fabric.ports);
  const std::vector<double> combined = most_combined(programs, numbers);
  Sends sends(programs, numbers);
  Loads loads(programs, bytes, fabric, machine);
  Contention result;
  Count messages = 0;
  // Combinations may follow the last message, in a round of their own.
  const auto rounds = std::max<std::size_t>(sends.rounds(), combined.size());
  for (std::uint32_t k = 0; k < rounds; ++k) {
    if (go_on && !go_on(messages)) throw Stopped{};
    ContendedRound round{.round = k};
    if (k < sends.rounds()) {
      round = loads.round(sends, k, result);
      sends.end(k);
    }
    if (k < combined.size()) round.combined_s = combined[k] * loads.unit() * machine.gamma_s_per_byte;
    messages += round.messages;
    result.time_s += round.time_s + round.combined_s;
    result.alone_s += round.alone_s + round.combined_s;
    result.rounds.push_back(round);
  }
  for (double& level : result.bytes) level *= loads.unit();
  return result;
}

std::string link_name(const Fabric& fabric, std::uint64_t link) {
  require(fabric.topology != nullptr, "a fabric has a topology");
  const Numbering numbering(fabric);
  const std::uint64_t first = numbering.between_switches(0);
  require(link < first + fabric.topology->links(), "a link is one of the fabric");
  if (link >= first) return fabric.topology->name(static_cast<Link>(link - first));
  const std::string way = link % 2 == 0 ? ", out" : ", in";
  if (link / 2 < numbering.nodes) return "node " + std::to_string(link / 2) + way;
  return "rank " + std::to_string(link / 2 - numbering.nodes) + ", inside its node" + way;
}

}  // namespace circoll::sim
