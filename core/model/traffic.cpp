#include "model/traffic.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "circoll/error.hpp"
#include "model/sharing.hpp"
#include "schedule/relabelling.hpp"

namespace circoll {
namespace {

void raise(double& most, double value) { most = std::max(most, value); }

struct Message {
  std::uint32_t round = 0;
  bool out = false;
  Rank peer = 0;
  double blocks = 0;
};

std::vector<Message> messages_of(const Schedule& schedule) {
  std::vector<Message> messages;
  for (const Step& step : schedule.steps) {
    if (!is_message(step)) continue;
    messages.push_back({.round = step.round,
                        .out = step.kind == StepKind::send,
                        .peer = step.peer,
                        .blocks = static_cast<double>(schedule.count(message_operand(step)))});
  }
  return messages;
}

/// The messages of any rank.
class RankMessages {
 public:
  RankMessages(const Selection& selection, Shape shape)
      : selection_(selection), shape_(std::move(shape)), rotates_(selection.algorithm->rotation != Rotation::none) {
    if (!rotates_) return;
    Shape first{.size = shape_.size, .root = shape_.root, .params = shape_.params};
    first.params.erase("relabel");
    const Schedule schedule = build_schedule(*selection.algorithm, selection.collective, first);
    of_first_ = messages_of(schedule);
    rounds_ = schedule.rounds;
  }

  /// True if the ranks of all nodes of so many have the same messages, counted from their nodes. An exchange through
  /// nodes treats them alike.
  [[nodiscard]] bool nodes_are_alike(Rank cores) const {
    return shape_.labels == nullptr && shape_.size % cores == 0 && (rotates_ || goes_through_nodes(cores));
  }
  /// True if also all ranks of a node have messages of the same lengths: all of them speak to others.
  [[nodiscard]] bool ranks_are_alike(Rank cores) const {
    const auto leaders = selection_.params.find("leaders");
    return nodes_are_alike(cores) && goes_through_nodes(cores) &&
           (leaders == selection_.params.end() || leaders->second >= cores);
  }
  [[nodiscard]] std::uint32_t rounds() const { return rounds_; }

  /// Calls f(message) for each of a rank.
  template <typename F>
  void each(Rank rank, F f) {
    if (!rotates_) {
      shape_.rank = rank;
      const Schedule schedule = build_schedule(*selection_.algorithm, selection_.collective, shape_);
      rounds_ = std::max(rounds_, schedule.rounds);
      for (const Message& message : messages_of(schedule)) f(message);
      return;
    }
    const Relabelling* const labels = shape_.labels.get();
    const Rank turn = labels == nullptr ? rank : labels->label(rank);
    for (Message message : of_first_) {
      message.peer += message.peer < shape_.size - turn ? turn : turn - shape_.size;
      if (labels != nullptr) message.peer = labels->rank(message.peer);
      f(message);
    }
  }

 private:
  /// An exchange whose nodes have so many ranks.
  [[nodiscard]] bool goes_through_nodes(Rank cores) const {
    const auto counted = selection_.params.find("cores");
    return is_exchange(selection_.collective) && is_for_nodes(*selection_.algorithm) &&
           counted != selection_.params.end() && counted->second == cores;
  }

  const Selection& selection_;
  Shape shape_;
  bool rotates_;
  std::vector<Message> of_first_{};  ///< those of the label 0, of which all others are rotations
  std::uint32_t rounds_ = 0;         ///< of the schedules so far
};

/// Adds the messages that the ranks of one node send and receive. `alike`: they all do what the first one does.
void add_node(RankMessages& messages, Rank begin, Rank end, bool alike, Traffic& traffic) {
  struct Port {
    double out = -1, in = -1;
  };
  std::vector<Port> port;
  const double ranks = alike ? static_cast<double>(end - begin) : 1;
  for (Rank rank = begin; rank < (alike ? begin + 1 : end); ++rank) {
    messages.each(rank, [&](const Message& message) {
      if (message.round >= traffic.rounds.size()) traffic.rounds.resize(message.round + 1);
      if (message.round >= port.size()) port.resize(message.round + 1);
      if (begin <= message.peer && message.peer < end) {
        raise(traffic.rounds[message.round].inside, message.blocks);
      } else {
        double& sum = message.out ? port[message.round].out : port[message.round].in;
        sum = std::max(sum, 0.0) + ranks * message.blocks;
      }
    });
  }
  traffic.rounds.resize(std::max<std::size_t>(traffic.rounds.size(), messages.rounds()));
  for (std::size_t k = 0; k < port.size(); ++k) raise(traffic.rounds[k].across, std::max(port[k].out, port[k].in));
}

}  // namespace

Traffic traffic_of(const Selection& selection, Rank p, Rank cores, Rank root) {
  require(selection.algorithm != nullptr && p >= 1 && cores >= 1 && root >= 0 && root < p,
          "an algorithm, at least one rank, and one on each node");
  Shape shape{.size = p, .root = root, .params = selection.params};
  // Once for all ranks.
  if (const auto on_node = shape.params.find("relabel"); on_node != shape.params.end()) {
    shape.labels = std::make_shared<const Relabelling>(Relabelling::across_nodes(p, on_node->second));
  }
  const CriticalPath path =
      critical_path(*selection.algorithm, selection.collective, labelled(selection.collective, shape));
  Traffic traffic{.blocks = static_cast<double>(path.blocks), .combined = static_cast<double>(path.combined)};
  RankMessages messages(selection, shape);
  const Rank nodes = (p + cores - 1) / cores;
  for (const Rank node : messages.nodes_are_alike(cores) ? std::set<Rank>{0} : std::set<Rank>{0, nodes / 2, nodes - 1})
    add_node(messages, node * cores, std::min((node + 1) * cores, p), messages.ranks_are_alike(cores), traffic);
  std::vector<double> across;
  for (const Traffic::Round& round : traffic.rounds) across.push_back(std::max(round.across, 0.0));
  traffic.shared = lost_by_sharing(selection, shape, across);
  return traffic;
}

Traffic on_groups(Traffic traffic, Rank groups_on_node, Rank split) {
  const auto groups = static_cast<double>(groups_on_node);
  traffic.shared *= groups;
  for (Traffic::Round& round : traffic.rounds) {
    traffic.shared += static_cast<double>(split) * std::max(round.inside, 0.0);
    if (round.across > 0) round.across *= groups;
  }
  return traffic;
}

double seconds(const Traffic& traffic, Count bytes, const Machine& machine) {
  const double part = static_cast<double>(bytes) / traffic.blocks;
  double sum = traffic.combined * part * machine.gamma_s_per_byte;
  for (const Traffic::Round& round : traffic.rounds) {
    const double inside =
        round.inside < 0 ? 0 : machine.within_alpha_s() + round.inside * part * machine.within_beta_s_per_byte();
    const double across = round.across < 0 ? 0 : machine.alpha_s + round.across * part * machine.beta_s_per_byte;
    sum += std::max(inside, across);
  }
  return sum + traffic.shared * part * machine.beta_s_per_byte;
}

}  // namespace circoll
