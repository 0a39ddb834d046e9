// Dragonflies: groups of routers, which are all linked inside a group, and links between any two groups.
//
// Kim, Dally, Scott, Abts: "Technology-driven, highly-scalable dragonfly topology", ISCA 2008. The links of a group to
// others are spread evenly over its routers, in the order of the groups that follow it. A message takes the minimal
// route: inside the group to the router of the link, over it, and inside the other group. If several links lead to that
// group, the number of its destination chooses the link.
#include <fmt/format.h>

#include <array>

#include "sim/topologies.hpp"

namespace circoll::sim {
namespace {

/// The numbers that describe a dragonfly.
struct Numbers {
  Link groups = 1;
  Link routers = 1;  ///< of a group
  Link hosts = 1;    ///< nodes at a router
  Link links = 1;    ///< between two groups, in each direction
  double local = 1;
  double global = 1;
};

class Dragonfly final : public Topology {
 public:
  Dragonfly(const Numbers& numbers, Rank nodes, std::size_t links, double hop_s)
      : Topology(nodes, links, hop_s, Rank{numbers.hosts} * numbers.routers, {"inside a group", "between groups"}),
        is_(numbers),
        first_global_(numbers.groups * numbers.routers * numbers.routers) {}

  void route(Node from, Node to, std::vector<Link>& links) const override {
    const Link source = from / is_.hosts;
    const Link target = to / is_.hosts;
    const Link source_group = source / is_.routers;
    const Link target_group = target / is_.routers;
    if (source_group == target_group) {
      append_local(source_group, source % is_.routers, target % is_.routers, links);
      return;
    }
    const Link chosen = to % is_.links;
    append_local(source_group, source % is_.routers, router_of(source_group, target_group, chosen), links);
    links.push_back(first_global_ + (source_group * is_.groups + target_group) * is_.links + chosen);
    append_local(target_group, router_of(target_group, source_group, chosen), target % is_.routers, links);
  }
  [[nodiscard]] double capacity(Link link) const override { return link < first_global_ ? is_.local : is_.global; }
  [[nodiscard]] std::string name(Link link) const override {
    if (link < first_global_) {
      const Link router = link / is_.routers;
      return fmt::format("group {}, router {} to {}", router / is_.routers, router % is_.routers, link % is_.routers);
    }
    const Link pair = (link - first_global_) / is_.links;
    const std::string groups = fmt::format("group {} to {}", pair / is_.groups, pair % is_.groups);
    return is_.links == 1 ? groups : fmt::format("{}, link {}", groups, (link - first_global_) % is_.links);
  }
  [[nodiscard]] std::string text() const override {
    return fmt::format("dragonfly:groups={},routers={},hosts={}{}{}{}{}", is_.groups, is_.routers, is_.hosts,
                       is_.links == 1 ? "" : fmt::format(",links={}", is_.links), setting_text("local", is_.local, 1),
                       setting_text("global", is_.global, 1), setting_text("hop", hop_s(), 0));
  }

 private:
  void append_local(Link group, Link from, Link to, std::vector<Link>& links) const {
    if (from != to) links.push_back((group * is_.routers + from) * is_.routers + to);
  }
  /// The router of a group at which one of its links to another group ends.
  [[nodiscard]] Link router_of(Link group, Link other, Link chosen) const {
    const std::uint64_t after = (other + is_.groups - group - 1) % is_.groups;  // 0: the next group
    const std::uint64_t end = after * is_.links + chosen;
    return static_cast<Link>(end * is_.routers / (std::uint64_t{is_.groups - 1} * is_.links));
  }

  Numbers is_;
  Link first_global_;  ///< number of places for local links
};

}  // namespace

std::shared_ptr<const Topology> dragonfly_of(const Settings& settings) {
  settings.allow(std::array<std::string_view, 7>{"groups", "routers", "hosts", "links", "local", "global", "hop"});
  constexpr Rank most = Rank{1} << 20;  // so that products of three fit
  const Rank groups = settings.number("groups", most);
  const Rank routers = settings.number("routers", most);
  const Rank hosts = settings.number("hosts", most);
  const Rank between = settings.number("links", most, 1);
  if (groups * routers * hosts > most_nodes)
    settings.fail("groups",
                  fmt::format("a network has at most 2^24 nodes, and these are {}", groups * routers * hosts));
  const Rank links = groups * routers * routers + groups * groups * between;
  if (links > most_links) settings.fail("groups", "a network has at most 2^26 links, and here are too many");
  const Numbers numbers{.groups = static_cast<Link>(groups),
                        .routers = static_cast<Link>(routers),
                        .hosts = static_cast<Link>(hosts),
                        .links = static_cast<Link>(between),
                        .local = settings.ratio("local", 1),
                        .global = settings.ratio("global", 1)};
  return std::make_shared<Dragonfly>(numbers, groups * routers * hosts, static_cast<std::size_t>(links),
                                     settings.time("hop"));
}

}  // namespace circoll::sim
