// Topologies as they are read, their routes, and placements of ranks.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#include "circoll/error.hpp"
#include "sim/topology.hpp"

namespace circoll {
namespace {

using sim::Level;
using sim::Link;
using sim::Node;
using sim::parse_topology;
using sim::Placement;

std::vector<std::string> route(const sim::Topology& topology, Node from, Node to) {
  std::vector<Link> links;
  topology.route(from, to, links);
  std::vector<std::string> names;
  for (const Link link : links) {
    EXPECT_LT(link, topology.links());
    names.push_back(topology.name(link));
  }
  return names;
}

using Names = std::vector<std::string>;

/// A file that is removed in the end.
struct File {
  File(const std::string& text, const std::string& name)
      : path(testing::TempDir() + "circoll_topology_" + std::to_string(getpid()) + name) {
    std::ofstream(path) << text;
  }
  ~File() { std::remove(path.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path;
};

/// Expects an error of `code` that says `what`.
template <typename F>
void expect_error(ErrorCode code, const std::string& what, const F& f) {
  try {
    f();
    ADD_FAILURE() << "no error, where it was to say: " << what;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what() << "\nlacks: " << what;
  }
}

TEST(Topology, WordsAreReadAndWritten) {
  for (const char* words :
       {"flat:nodes=7", "fat_tree:nodes=16,leaves=8,spines=4", "fat_tree:nodes=16,leaves=4,spines=2,up=0.5,hop=1e-07",
        "dragonfly:groups=9,routers=4,hosts=2",
        "dragonfly:groups=3,routers=4,hosts=2,links=2,local=2,global=0.1,hop=0.5", "torus:dims=4x3x2",
        "torus:dims=8,hosts=3,link=0.25,hop=2e-07"})
    EXPECT_EQ(parse_topology(words)->text(), words);
  EXPECT_EQ(parse_topology("flat", 12)->text(), "flat:nodes=12");
  EXPECT_EQ(parse_topology("flat:nodes=1Ki", 12)->nodes(), 1024);
  EXPECT_EQ(parse_topology("fat_tree:oversubscription=2,nodes=64,leaves=8,spines=4")->text(),
            "fat_tree:nodes=64,leaves=8,spines=4");
  EXPECT_EQ(parse_topology("fat_tree:oversubscription=4,nodes=64,leaves=8,spines=4")->capacity(0), 0.5);
  EXPECT_EQ(parse_topology("torus:dims=4x3x2,hosts=5")->nodes(), 120);
  EXPECT_EQ(parse_topology("dragonfly:groups=9,routers=4,hosts=2")->nodes(), 72);
  EXPECT_EQ(parse_topology("torus:dims=2,hop=100ns")->hop_s(), 100 * 1e-9);
}

TEST(Topology, NonsenseIsOneClearError) {
  const auto expect = [](const std::string& words, const std::string& what) {
    expect_error(ErrorCode::parse, what, [&] { (void)parse_topology(words); });
  };
  expect("", "'' is no topology; known are flat, fat_tree, dragonfly, torus");
  expect("fattree:nodes=4", "topology 'fattree:nodes=4': 'fattree' is no topology");
  expect("fat_tree", "fat_tree needs nodes");
  expect("fat_tree:nodes=16,leaves=4", "fat_tree needs spines");
  expect("fat_tree:nodes=16,leaves=5,spines=1", "16 nodes are no multiple of 5 leaves");
  expect("fat_tree:nodes=16,leaves=4,spines=0", "spines is a number from 1 to");
  expect("fat_tree:nodes=16,leaves=4,spines=4,up=0", "up is a number above 0");
  expect("fat_tree:nodes=16,leaves=4,spines=4,up=-1", "up is a number above 0");
  expect("fat_tree:nodes=16,leaves=4,spines=4,up=nan", "up is a number above 0");
  expect("fat_tree:nodes=16,leaves=4,spines=4,up=2x", "not '2x'");
  expect("fat_tree:nodes=16,leaves=4,spines=4,up=1,oversubscription=1", "say the same");
  expect("fat_tree:nodes=16,leaves=4,spines=4,leaves=4", "leaves is given twice");
  expect("fat_tree:nodes=16,leafs=4", "'leafs' is no key of fat_tree; known are nodes leaves");
  expect("fat_tree:nodes=16,leaves", "'leaves' is not key=value");
  expect("fat_tree:nodes=16Mi,leaves=16Mi,spines=4", "at most 2^26 links");
  expect("flat:nodes=1e9", "nodes is a number from 1 to 16777216");
  expect("flat:hop=1us", "'hop' is no key of flat");
  expect("torus:dims=4xx4", "dims are up to 8 numbers");
  expect("torus:dims=", "dims are up to 8 numbers");
  expect("torus:dims=0x4", "dims are up to 8 numbers");
  expect("torus:dims=16Mix16Mi,hosts=16Mi", "at most 2^24 nodes");
  expect("torus:dims=2x2x2x2x2x2x2x2x2", "dims are up to 8 numbers");
  expect("torus:dims=4,hop=2s", "hop is a time of at most 1 s");
  expect("dragonfly:groups=1Mi,routers=1Mi,hosts=1Mi", "at most 2^24 nodes");
  expect("dragonfly:groups=2,routers=8Ki,hosts=1", "at most 2^26 links");
}

TEST(Topology, JsonSaysTheSame) {
  const auto text = [](const std::string& json) { return sim::topology_from_json(json, "file")->text(); };
  EXPECT_EQ(text(R"({"circoll_topology": 1, "kind": "torus", "dims": [4, 3, 2], "link": 0.25, "about": "a test"})"),
            "torus:dims=4x3x2,link=0.25");
  EXPECT_EQ(text(R"({"circoll_topology": 1, "kind": "torus", "dims": "4x3x2", "hop": 1e-7})"),
            "torus:dims=4x3x2,hop=1e-07");
  EXPECT_EQ(text(R"({"circoll_topology": 1, "kind": "fat_tree", "nodes": 16, "leaves": 4, "spines": 2, "up": 1})"),
            "fat_tree:nodes=16,leaves=4,spines=2");
  EXPECT_EQ(sim::topology_from_json(R"({"circoll_topology": 1, "kind": "flat"})", "file", 9)->nodes(), 9);
  const auto expect = [](const std::string& json, const std::string& what) {
    expect_error(ErrorCode::parse, what, [&] { (void)sim::topology_from_json(json, "file"); });
  };
  expect("[]", "file:1: an object");
  expect("{}", "'circoll_topology' is missing");
  expect("{\"circoll_topology\": 2, \"kind\": \"flat\"}", "only version 1");
  expect("{\"circoll_topology\": 1}", "'kind' is missing");
  expect("{\"circoll_topology\": 1,\n\"kind\": \"star\"}", "file:2: 'star' is no topology");
  expect("{\"circoll_topology\": 1,\n\"kind\": \"torus\",\n\"dims\": [4, 0]}", "file:3: dims are up to 8 numbers");
  expect("{\"circoll_topology\": 1,\n\"kind\": \"torus\",\n\"dims\": [4, \"x\"]}",
         "file:3: 'dims' is a number, a text");
  expect("{\"circoll_topology\": 1,\n\"kind\": \"torus\",\n\"dims\": [4],\n\"size\": 3}",
         "file:4: 'size' is no key of torus");
  expect("{\"circoll_topology\": 1, \"kind\": \"flat\",", "file:1: ");
}

TEST(Topology, FilesAreNamedByTheirEnding) {
  const File file(R"({"circoll_topology": 1, "kind": "torus", "dims": [6]})", "ring.json");
  EXPECT_EQ(sim::read_topology(file.path)->text(), "torus:dims=6");
  EXPECT_EQ(sim::read_topology("torus:dims=6")->text(), "torus:dims=6");
  EXPECT_THROW((void)sim::read_topology("/nowhere.json"), Error);
}

TEST(Topology, FatTreesGoOverTheSpineOfTheDestination) {
  const auto tree = parse_topology("fat_tree:nodes=12,leaves=4,spines=2");
  EXPECT_EQ(route(*tree, 0, 2), Names{});
  EXPECT_EQ(route(*tree, 0, 3), (Names{"leaf 0 to spine 1", "spine 1 to leaf 1"}));
  EXPECT_EQ(route(*tree, 11, 4), (Names{"leaf 3 to spine 0", "spine 0 to leaf 1"}));
  EXPECT_EQ(tree->level(3, 3), Level::node);
  EXPECT_EQ(tree->level(3, 5), Level::group);
  EXPECT_EQ(tree->level(3, 6), Level::system);
}

TEST(Topology, DragonfliesGoByOneGlobalLink) {
  // Five groups of two routers: the links of a group to the next two end at its router 0, the others at router 1.
  const auto dragonfly = parse_topology("dragonfly:groups=5,routers=2,hosts=2");
  EXPECT_EQ(route(*dragonfly, 0, 1), Names{});
  EXPECT_EQ(route(*dragonfly, 0, 2), Names{"group 0, router 0 to 1"});
  EXPECT_EQ(route(*dragonfly, 0, 4), (Names{"group 0 to 1", "group 1, router 1 to 0"}));
  EXPECT_EQ(route(*dragonfly, 0, 6), Names{"group 0 to 1"});
  EXPECT_EQ(route(*dragonfly, 3, 4), (Names{"group 0, router 1 to 0", "group 0 to 1", "group 1, router 1 to 0"}));
  EXPECT_EQ(route(*dragonfly, 19, 0), (Names{"group 4, router 1 to 0", "group 4 to 0", "group 0, router 1 to 0"}));
  EXPECT_EQ(dragonfly->level(0, 3), Level::group);
  EXPECT_EQ(dragonfly->level(0, 4), Level::system);
  // If there are several links, the number of the destination chooses one.
  const auto doubled = parse_topology("dragonfly:groups=2,routers=2,hosts=1,links=2,global=0.5");
  EXPECT_EQ(route(*doubled, 0, 2), Names{"group 0 to 1, link 0"});
  EXPECT_EQ(route(*doubled, 0, 3), (Names{"group 0, router 0 to 1", "group 0 to 1, link 1"}));
}

TEST(Topology, EveryRouterOfADragonflyHasItsPartOfTheLinks) {
  // 8 links of a group are for 4 routers, or 12 for 3. To reach each link, the other ends need as many nodes as links.
  for (const auto& [words, of_router] : {std::pair{"dragonfly:groups=9,routers=4,hosts=2", 2U},
                                         std::pair{"dragonfly:groups=5,routers=3,hosts=1,links=3", 4U}}) {
    const auto dragonfly = parse_topology(words);
    for (Node from = 0; from < dragonfly->nodes(); ++from) {
      std::set<std::string> direct;  // links to other groups that the router of this node has itself
      for (Node to = 0; to < dragonfly->nodes(); ++to) {
        const Names names = route(*dragonfly, from, to);
        EXPECT_LE(names.size(), 3U);
        if (dragonfly->level(from, to) == Level::system && names.front().find("router") == std::string::npos)
          direct.insert(names.front());
      }
      EXPECT_EQ(direct.size(), of_router) << words << " node " << from;
    }
  }
}

TEST(Topology, ToriGoDimensionByDimension) {
  const auto torus = parse_topology("torus:dims=4x3");
  EXPECT_EQ(route(*torus, 0, 1), Names{"router (0,0), +0"});
  EXPECT_EQ(route(*torus, 0, 2), (Names{"router (0,0), +0", "router (1,0), +0"}));  // half way round
  EXPECT_EQ(route(*torus, 0, 3), Names{"router (0,0), -0"});
  EXPECT_EQ(route(*torus, 3, 0), Names{"router (3,0), +0"});
  EXPECT_EQ(route(*torus, 1, 11), (Names{"router (1,0), +0", "router (2,0), +0", "router (3,0), -1"}));
  EXPECT_EQ(torus->level(0, 1), Level::system);
  EXPECT_EQ(parse_topology("torus:dims=4x3,hosts=2")->level(0, 1), Level::group);
  // A route has as many links as the rings are apart, in any number of dimensions.
  const auto long_one = parse_topology("torus:dims=5x1x4x2");
  const auto apart = [](int a, int b, int size) { return std::min((a - b + size) % size, (b - a + size) % size); };
  for (int a = 0; a < 40; ++a) {
    for (int b = 0; b < 40; ++b) {
      const int length = apart(a % 5, b % 5, 5) + apart(a / 5 % 4, b / 5 % 4, 4) + apart(a / 20, b / 20, 2);
      EXPECT_EQ(route(*long_one, static_cast<Node>(a), static_cast<Node>(b)).size(), static_cast<std::size_t>(length));
    }
  }
}

TEST(SimPlacement, RulesAreRead) {
  EXPECT_EQ(sim::parse_placement("consecutive"), Placement{});
  EXPECT_EQ(sim::parse_placement("round_robin"), (Placement{.kind = Placement::Kind::round_robin}));
  EXPECT_EQ(sim::parse_placement("random:7"), (Placement{.kind = Placement::Kind::random, .seed = 7}));
  EXPECT_EQ(sim::parse_placement("file:a b"), (Placement{.kind = Placement::Kind::file, .file = "a b"}));
  for (const char* wrong : {"", "random", "random:", "random:-1", "random:x", "file:", "cyclic"})
    expect_error(ErrorCode::parse, "is no placement", [&] { (void)sim::parse_placement(wrong); });
}

TEST(SimPlacement, RanksStandWhereTheRuleSays) {
  EXPECT_EQ(sim::place({}, 5, 2, 4), (std::vector<Node>{0, 0, 1, 1, 2}));
  EXPECT_EQ(sim::place({.kind = Placement::Kind::round_robin}, 5, 2, 4), (std::vector<Node>{0, 1, 2, 0, 1}));
  EXPECT_EQ(sim::place({.kind = Placement::Kind::round_robin}, 3, 1, 4), (std::vector<Node>{0, 1, 2}));
  expect_error(ErrorCode::invalid_argument, "p = 9 with 2 ranks on a node needs 5 nodes, and the network has 4",
               [] { (void)sim::place({}, 9, 2, 4); });
}

TEST(SimPlacement, RandomPlacesAreAllUsedAlike) {
  const auto seeded = [](std::uint64_t seed, Rank p) {
    return sim::place({.kind = Placement::Kind::random, .seed = seed}, p, 3, 5);
  };
  EXPECT_EQ(seeded(1, 15), seeded(1, 15));
  EXPECT_NE(seeded(1, 15), seeded(2, 15));
  std::vector<int> of_rank_0(5, 0);
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    std::vector<int> ranks_on(5, 0);
    for (const Node node : seeded(seed, 15)) ++ranks_on.at(node);
    EXPECT_EQ(ranks_on, std::vector<int>(5, 3));
    ++of_rank_0.at(seeded(seed, 4).front());
  }
  for (const int often : of_rank_0) EXPECT_NEAR(often, 1000, 150);
}

TEST(SimPlacement, FilesNameOneNodeALine) {
  EXPECT_EQ(sim::nodes_from_text("3 # first\n\n0\r\n 3\n", 3, 2, 4, "file"), (std::vector<Node>{3, 0, 3}));
  const auto expect = [](const std::string& text, const std::string& what) {
    expect_error(ErrorCode::parse, what, [&] { (void)sim::nodes_from_text(text, 3, 2, 4, "file"); });
  };
  expect("0\n4\n1\n", "file:2: '4' is no node; nodes are 0 .. 3");
  expect("0\n-1\n1\n", "file:2: '-1' is no node");
  expect("0\n1 2\n1\n", "file:2: '1 2' is no node");
  expect("0\n\n0\n0\n", "file:4: node 0 has more than 2 ranks");
  expect("0\n1\n2\n3\n", "file:4: there are more nodes than 3 ranks");
  expect("0\n1\n", "file:2: the file ends after 2 nodes, and there are 3 ranks");
  expect("", "file:1: the file ends after 0 nodes");
  const File file("1\n1\n0\n", "placement");
  EXPECT_EQ(sim::place({.kind = Placement::Kind::file, .file = file.path}, 3, 2, 4), (std::vector<Node>{1, 1, 0}));
}

}  // namespace
}  // namespace circoll
