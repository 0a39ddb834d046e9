// The contention model once more, as plainly as possible. Tests compare contention() with it.
//
// Links are their names. Routes are found on tables and coordinates, not computed. Nothing of lab/sim is used.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "circoll/model.hpp"
#include "circoll/schedule.hpp"

namespace circoll::naive {

/// A link that a message takes.
struct Way {
  std::string name;
  double capacity = 1;
};
using Route = std::function<std::vector<Way>(int from, int to)>;  ///< between two nodes, without their ports

inline std::string number(int i) { return std::to_string(i); }

inline Route fat_tree(int nodes, int leaves, int spines, double up) {
  std::vector<int> leaf_of;
  for (int leaf = 0; leaf < leaves; ++leaf) {
    for (int i = 0; i < nodes / leaves; ++i) leaf_of.push_back(leaf);
  }
  return [=](int from, int to) -> std::vector<Way> {
    if (leaf_of.at(from) == leaf_of.at(to)) return {};
    int spine = 0;  // nodes are dealt to spines
    for (int i = 0; i < to; ++i) spine = spine + 1 == spines ? 0 : spine + 1;
    return {{"leaf " + number(leaf_of[from]) + " to spine " + number(spine), up},
            {"spine " + number(spine) + " to leaf " + number(leaf_of[to]), up}};
  };
}

inline Route dragonfly(int groups, int routers, int hosts, int links, double local, double global) {
  // The router at which link t of group g to group o ends. Routers get equal numbers of ends, in order.
  std::map<std::vector<int>, int> router_of;
  for (int g = 0; g < groups; ++g) {
    const int ends = (groups - 1) * links;
    int end = 0;
    for (int d = 1; d < groups; ++d) {
      for (int t = 0; t < links; ++t, ++end) {
        int router = 0;
        while ((router + 1) * ends <= end * routers) ++router;
        router_of[{g, (g + d) % groups, t}] = router;
      }
    }
  }
  return [=](int from, int to) {
    const int a = from / hosts / routers;
    const int b = to / hosts / routers;
    std::vector<Way> way;
    int at = from / hosts % routers;
    const auto go_to = [&](int group, int router) {
      if (at != router)
        way.push_back({"group " + number(group) + ", router " + number(at) + " to " + number(router), local});
      at = router;
    };
    if (a != b) {
      const int t = to % links;
      go_to(a, router_of.at({a, b, t}));
      way.push_back({"group " + number(a) + " to " + number(b) + (links == 1 ? "" : ", link " + number(t)), global});
      at = router_of.at({b, a, t});
    }
    go_to(b, to / hosts % routers);
    return way;
  };
}

inline Route torus(std::vector<int> dims, int hosts, double capacity) {
  const auto coordinates = [=](int router) {
    std::vector<int> at;
    for (const int size : dims) {
      at.push_back(router % size);
      router /= size;
    }
    return at;
  };
  return [=](int from, int to) {
    std::vector<int> at = coordinates(from / hosts);
    const std::vector<int> there = coordinates(to / hosts);
    std::vector<Way> way;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      int ahead = 0;
      while ((at[d] + ahead) % dims[d] != there[d]) ++ahead;
      const int step = 2 * ahead <= dims[d] ? 1 : -1;
      while (at[d] != there[d]) {
        std::string name = "router (";
        for (const int x : at) name += number(x) + ",";
        name.back() = ')';
        way.push_back({name + (step == 1 ? ", +" : ", -") + number(static_cast<int>(d)), capacity});
        at[d] = (at[d] + step + dims[d]) % dims[d];
      }
    }
    return way;
  };
}

/// The load of a link in one round.
struct Traffic {
  double bytes = 0;
  Count messages = 0;
  double capacity = 1;
};
struct Round {
  double time_s = 0;
  double alone_s = 0;
  double combined_s = 0;
  std::map<std::string, Traffic> links;
};

/// All rounds of a collective, whose blocks have `block_bytes` each.
inline std::vector<Round> rounds(const std::vector<Schedule>& ranks, double block_bytes, const Machine& machine,
                                 const std::vector<int>& node_of, const Route& route, int ports, double hop_s) {
  struct Message {
    bool inside;
    double bytes;
    std::size_t hops;
    std::vector<std::string> links;
  };
  std::vector<Round> all(ranks.front().rounds + 1);
  for (std::uint32_t k = 0; k < all.size(); ++k) {
    Round& round = all[k];
    std::vector<Message> messages;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      double combined = 0;
      for (const Step& step : ranks[r].steps) {
        if (step.round != k) continue;
        if (is_reduction(step.kind)) combined += static_cast<double>(ranks[r].count(step.dst)) * block_bytes;
        if (step.kind != StepKind::send) continue;
        const double bytes = static_cast<double>(ranks[r].count(step.left)) * block_bytes;
        const int from = static_cast<int>(r);
        const int to = static_cast<int>(step.peer);
        const bool inside = node_of[from] == node_of[to];
        std::vector<Way> way = inside ? std::vector<Way>{} : route(node_of[from], node_of[to]);
        const std::size_t hops = way.size();
        if (inside) {
          way.push_back({"rank " + number(from) + ", inside its node, out"});
          way.push_back({"rank " + number(to) + ", inside its node, in"});
        } else {
          way.push_back({"node " + number(node_of[from]) + ", out", static_cast<double>(ports)});
          way.push_back({"node " + number(node_of[to]) + ", in", static_cast<double>(ports)});
        }
        Message message{inside, bytes, hops, {}};
        double alone = bytes;
        for (const Way& one : way) {
          Traffic& traffic = round.links[one.name];
          traffic.bytes += bytes;
          ++traffic.messages;
          traffic.capacity = one.capacity;
          alone = std::max(alone, bytes / one.capacity);
          message.links.push_back(one.name);
        }
        const double alpha = inside ? machine.node_alpha_s : machine.alpha_s + static_cast<double>(hops) * hop_s;
        const double beta = inside ? machine.node_beta_s_per_byte : machine.beta_s_per_byte;
        round.alone_s = std::max(round.alone_s, alpha + alone * beta);
        messages.push_back(message);
      }
      round.combined_s = std::max(round.combined_s, combined * machine.gamma_s_per_byte);
    }
    for (const Message& message : messages) {
      double most = message.bytes;
      for (const std::string& link : message.links)
        most = std::max(most, round.links[link].bytes / round.links[link].capacity);
      const double alpha =
          message.inside ? machine.node_alpha_s : machine.alpha_s + static_cast<double>(message.hops) * hop_s;
      const double beta = message.inside ? machine.node_beta_s_per_byte : machine.beta_s_per_byte;
      round.time_s = std::max(round.time_s, alpha + most * beta);
    }
  }
  return all;
}

}  // namespace circoll::naive
