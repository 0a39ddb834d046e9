// Any bytes are a topology in words or JSON, or an error. The words of a topology say the same again, and its routes
// stay within its links. As a placement the bytes are good, or an error that names a line.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/error.hpp"
#include "sim/topology.hpp"

namespace {

using namespace circoll;

void look_at(const sim::Topology& topology) {
  if (sim::parse_topology(topology.text())->text() != topology.text()) std::abort();
  if (topology.links() > 1 << 20) return;  // a ring of millions has routes of millions
  const auto nodes = static_cast<sim::Node>(topology.nodes());
  std::vector<sim::Link> links;
  for (const sim::Node from : {sim::Node{0}, nodes / 3, nodes - 1}) {
    for (const sim::Node to : {nodes / 2, nodes - 1, sim::Node{0}}) {
      links.clear();
      topology.route(from, to, links);
      if (from == to && !links.empty()) std::abort();
      if (links.size() > topology.links()) std::abort();
      for (const sim::Link link : links) {
        if (link >= topology.links() || !(topology.capacity(link) > 0)) std::abort();
      }
      if (!links.empty() && topology.name(links.back()).empty()) std::abort();
      if (topology.level_name(topology.level(from, to)).empty()) std::abort();
    }
  }
}

template <typename F>
void read(const F& f) {
  try {
    look_at(*f());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::parse) std::abort();
  }
}

void fuzz_placement(std::string_view input) {
  try {
    const std::vector<sim::Node> nodes = sim::nodes_from_text(input, 3, 2, 5, "file");
    if (nodes.size() != 3) std::abort();
    for (const sim::Node node : nodes) {
      if (node >= 5) std::abort();
    }
  } catch (const Error& error) {
    const bool names_line = std::string_view(error.what()).substr(0, 5) == "file:";
    if (error.code() != ErrorCode::parse || !names_line) std::abort();
  }
  try {
    (void)sim::parse_placement(input);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::parse) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  read([&] { return sim::parse_topology(input, 7); });
  read([&] { return sim::topology_from_json(input, "file", 7); });
  fuzz_placement(input);
  return 0;
}
