// Fat trees of two levels: leaf switches with nodes, each of them linked to every spine switch.
//
// A message to node d goes up to the spine whose number is d modulo the number of spines (D-mod-K). The source is
// Zahavi, "Fat-tree routing and node ordering providing contention free traffic for MPI global collectives", 2012. So a
// shift of all ranks, or a part of one, meets no contention if there are as many spines as nodes under a leaf.
#include <fmt/format.h>

#include <array>

#include "sim/topologies.hpp"

namespace circoll::sim {
namespace {

class FatTree final : public Topology {
 public:
  FatTree(Rank nodes, Rank leaves, Rank spines, double up, double hop_s)
      : Topology(nodes, static_cast<std::size_t>(2 * leaves * spines), hop_s, nodes / leaves,
                 {"under one leaf", "over spines"}),
        leaves_(static_cast<Link>(leaves)),
        spines_(static_cast<Link>(spines)),
        hosts_(static_cast<Node>(nodes / leaves)),
        up_(up) {}

  void route(Node from, Node to, std::vector<Link>& links) const override {
    const Link source = from / hosts_;
    const Link target = to / hosts_;
    if (source == target) return;
    const Link spine = to % spines_;
    links.push_back(source * spines_ + spine);
    links.push_back((leaves_ + target) * spines_ + spine);
  }
  [[nodiscard]] double capacity(Link /*link*/) const override { return up_; }
  [[nodiscard]] std::string name(Link link) const override {
    const Link spine = link % spines_;
    const Link leaf = link / spines_;
    return leaf < leaves_ ? fmt::format("leaf {} to spine {}", leaf, spine)
                          : fmt::format("spine {} to leaf {}", spine, leaf - leaves_);
  }
  [[nodiscard]] std::string text() const override {
    return fmt::format("fat_tree:nodes={},leaves={},spines={}{}{}", nodes(), leaves_, spines_,
                       setting_text("up", up_, 1), setting_text("hop", hop_s(), 0));
  }

 private:
  Link leaves_;
  Link spines_;
  Node hosts_;  ///< nodes under a leaf
  double up_;
};

}  // namespace

std::shared_ptr<const Topology> fat_tree_of(const Settings& settings) {
  settings.allow(std::array<std::string_view, 6>{"nodes", "leaves", "spines", "up", "oversubscription", "hop"});
  const Rank nodes = settings.number("nodes", most_nodes);
  const Rank leaves = settings.number("leaves", nodes);
  const Rank spines = settings.number("spines", most_links);
  if (nodes % leaves != 0) settings.fail("nodes", fmt::format("{} nodes are no multiple of {} leaves", nodes, leaves));
  if (2 * leaves * spines > most_links)
    settings.fail("spines", fmt::format("a network has at most 2^26 links, and these are {}", 2 * leaves * spines));
  double up = settings.ratio("up", 1);
  if (settings.has("oversubscription")) {
    if (settings.has("up")) settings.fail("up", "up and oversubscription say the same; give one of them");
    const Rank under_leaf = nodes / leaves;
    up = static_cast<double>(under_leaf) / static_cast<double>(spines) / settings.ratio("oversubscription", 1);
    if (!(up >= 1e-6)) settings.fail("oversubscription", "a link up would have less than a millionth of a port");
  }
  return std::make_shared<FatTree>(nodes, leaves, spines, up, settings.time("hop"));
}

}  // namespace circoll::sim
