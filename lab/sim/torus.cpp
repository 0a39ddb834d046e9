// Tori: routers in a grid of any number of dimensions, whose rows are rings.
//
// A message goes along the first dimension until its coordinate is right, then along the second one, and so on. It
// takes the shorter way round, and the direction of growing coordinates if both ways are equally long.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>

#include "facts/text.hpp"
#include "sim/topologies.hpp"

namespace circoll::sim {
namespace {

class Torus final : public Topology {
 public:
  Torus(std::vector<Link> dims, Link hosts, Rank routers, double link, double hop_s)
      : Topology(routers * hosts, static_cast<std::size_t>(routers) * dims.size() * 2, hop_s, hosts,
                 {hosts == 1 ? "" : "at one router", "between routers"}),
        dims_(std::move(dims)),
        hosts_(hosts),
        link_(link) {}

  void route(Node from, Node to, std::vector<Link>& links) const override {
    Link at = from / hosts_;
    const Link target = to / hosts_;
    Link stride = 1;
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      const Link size = dims_[d];
      Link here = at / stride % size;
      const Link there = target / stride % size;
      const Link ahead = there >= here ? there - here : there + size - here;
      const bool up = ahead <= size - ahead;
      for (Link left = up ? ahead : size - ahead; left > 0; --left) {
        links.push_back(number(at, d, up));
        const Link next = up ? (here + 1 == size ? 0 : here + 1) : (here == 0 ? size - 1 : here - 1);
        at = at - here * stride + next * stride;
        here = next;
      }
      stride *= size;
    }
  }
  [[nodiscard]] double capacity(Link /*link*/) const override { return link_; }
  [[nodiscard]] std::string name(Link link) const override {
    const auto dimension = static_cast<std::size_t>(link / 2) % dims_.size();
    const auto router = static_cast<Link>(link / 2 / dims_.size());
    return fmt::format("router {}, {}{}", coordinates(router), link % 2 == 0 ? '+' : '-', dimension);
  }
  [[nodiscard]] std::string text() const override {
    return fmt::format("torus:dims={}{}{}{}", fmt::join(dims_, "x"),
                       hosts_ == 1 ? "" : fmt::format(",hosts={}", hosts_), setting_text("link", link_, 1),
                       setting_text("hop", hop_s(), 0));
  }

 private:
  [[nodiscard]] Link number(Link router, std::size_t dimension, bool up) const {
    return (router * static_cast<Link>(dims_.size()) + static_cast<Link>(dimension)) * 2 + (up ? 0 : 1);
  }
  [[nodiscard]] std::string coordinates(Link router) const {
    std::string text;
    for (const Link size : dims_) {
      text += (text.empty() ? "(" : ",") + std::to_string(router % size);
      router /= size;
    }
    return text + ")";
  }

  std::vector<Link> dims_;
  Link hosts_;
  double link_;
};

/// Reads "8x8x4".
std::vector<Link> dims_of(const Settings& settings) {
  const std::string text = settings.text("dims");
  std::vector<Link> dims;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    const auto size = parse_number(std::string_view(text).substr(at, end - at));
    if (!size || *size < 1 || *size > most_nodes || dims.size() == 8)
      settings.fail("dims", "dims are up to 8 numbers of routers, such as 8x8x4");
    dims.push_back(static_cast<Link>(*size));
    at = end + 1;
  }
  return dims;
}

}  // namespace

std::shared_ptr<const Topology> torus_of(const Settings& settings) {
  settings.allow(std::array<std::string_view, 4>{"dims", "hosts", "link", "hop"});
  std::vector<Link> dims = dims_of(settings);
  const Rank hosts = settings.number("hosts", most_nodes, 1);
  Rank routers = 1;
  for (const Link size : dims) {
    routers *= size;
    if (routers > most_nodes / hosts || routers * static_cast<Rank>(dims.size()) * 2 > most_links)
      settings.fail("dims", "a network has at most 2^24 nodes and 2^26 links, and here are too many");
  }
  return std::make_shared<Torus>(std::move(dims), static_cast<Link>(hosts), routers, settings.ratio("link", 1),
                                 settings.time("hop"));
}

}  // namespace circoll::sim
