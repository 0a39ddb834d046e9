// Hosts of jobs and switches of clusters, as files say them.
#include "select/allocation.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "circoll/error.hpp"
#include "facts/hostlist.hpp"
#include "select/machine_path.hpp"

namespace circoll {
namespace {

using select::levels_from_text;
using select::path_of_xname;
using select::SwitchTree;
using Names = std::vector<std::string>;

/// The message of the error that a function throws, of code `parse`.
template <typename F>
std::string parse_error(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::parse);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(Hostlist, NamesAndBrackets) {
  EXPECT_EQ(hosts_of_list("login1"), (Names{"login1"}));
  EXPECT_EQ(hosts_of_list("nid[001000-001002,001007],x"),
            (Names{"nid001000", "nid001001", "nid001002", "nid001007", "x"}));
  EXPECT_EQ(hosts_of_list("r[1-2]n[9-10]-ib"), (Names{"r1n9-ib", "r1n10-ib", "r2n9-ib", "r2n10-ib"}));
  EXPECT_EQ(hosts_of_list("a[098-101]"), (Names{"a098", "a099", "a100", "a101"}));
  EXPECT_EQ(hosts_of_list("a[7]"), (Names{"a7"}));
}

TEST(Hostlist, RefusesDamage) {
  for (const std::string list : {"",
                                 ",",
                                 "a,",
                                 ",a",
                                 "a,,b",
                                 "a[",
                                 "a]",
                                 "a[]",
                                 "a[1",
                                 "a[-]",
                                 "a[1-]",
                                 "a[-1]",
                                 "a[1-2-3]",
                                 "a[2-1]",
                                 "a[x]",
                                 "a[1,]",
                                 "a[1][",
                                 "a b",
                                 "a=b",
                                 "a[1-9999999999999999999]",
                                 "a[0-999999999]",
                                 "a[[1]]",
                                 "a[0-1023]b[0-1024]",
                                 "\x01",
                                 "a[1 -2]"}) {
    EXPECT_NE(parse_error([&] { (void)hosts_of_list(list); }), "") << list;
  }
  EXPECT_NE(parse_error([] { (void)hosts_of_list("a[1-4]", 3); }), "");
  EXPECT_EQ(hosts_of_list("a[1-4]", 4).size(), 4U);
  EXPECT_NE(parse_error([] { (void)hosts_of_list(std::string(300, 'a')); }), "");
}

constexpr const char* conf =
    "# two groups\n"
    "SwitchName=top Switches=g[0-1]\n"
    "SwitchName=g0 Switches=s[0-1] LinkSpeed=100\n"
    "switchname=g1 switches=s2\n"
    "\n"
    "SwitchName=s0 Nodes=n[0-3]\n"
    "SwitchName=s1 Nodes=n[4-5],login  # a comment\n"
    "SwitchName=s2 Nodes=n[6-9]\r\n";

TEST(SwitchTree, ReadsTopologyConf) {
  const SwitchTree tree(conf, "topology.conf");
  EXPECT_EQ(tree.hosts(), 11U);
  EXPECT_EQ(tree.path_of("n5"), (Names{"top", "g0", "s1", "n5"}));
  EXPECT_EQ(tree.path_of("n9"), (Names{"top", "g1", "s2", "n9"}));
  EXPECT_THROW((void)tree.path_of("n10"), Error);
}

TEST(SwitchTree, RefusesDamageWithItsLine) {
  const auto error = [](const std::string& text) { return parse_error([&] { SwitchTree(text, "conf"); }); };
  for (const auto& [text, place] : std::vector<std::pair<std::string, std::string>>{
           {"", "conf:1: "},
           {"# nothing\n", "conf:1: "},
           {"SwitchName=a Nodes=n1\nNodes=n2\n", "conf:2: "},
           {"SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "conf:2: "},
           {"SwitchName=a Nodes=n1\nSwitchName=b Nodes=n[1-2]\n", "conf:2: "},
           {"SwitchName=a Nodes=n1 Switches=b\n", "conf:1: "},
           {"SwitchName=a\n", "conf:1: "},
           {"SwitchName= Nodes=n1\n", "conf:1: "},
           {"SwitchName=a Nodes=n[1-\n", "conf:1: "},
           {"SwitchName=a Nodes\n", "conf:1: "},
           {"SwitchName=a Nodes=n1\nSwitchName=b Switches=a,c\n", "conf:2: "},
           {"SwitchName=a Nodes=n1\nSwitchName=b Switches=a\nSwitchName=c Switches=a\n", "conf:3: "},
           {"SwitchName=a Switches=b\nSwitchName=b Switches=a\nSwitchName=c Nodes=n\n", "conf:1: "},
           {"SwitchName=a Switches=a\nSwitchName=c Nodes=n\n", "conf:1: "},
           {"SwitchName=a Switches=b\n", "conf:1: "},
           {"Include other.conf\n", "conf:1: "},
           {"SwitchName=a Nodes=n[0-1048576]\n", "conf:1: "}}) {
    EXPECT_EQ(error(text).substr(0, place.size()), place) << text << "\n" << error(text);
  }
}

TEST(Xname, IsAPath) {
  EXPECT_EQ(path_of_xname("x1000c0s7b1n0"), (Names{"x1000", "x1000c0", "x1000c0s7", "x1000c0s7b1", "x1000c0s7b1n0"}));
  for (const std::string_view other : {"", "x", "x1000", "x1000c0s0b0", "x1000c0s0b0n", "x1000c0s0b0n0a", "nid001000",
                                       "x1000c0s0b0n0123456789", "xc0s0b0n0"}) {
    EXPECT_FALSE(path_of_xname(other).has_value()) << other;
  }
}

TEST(Allocation, HostsWithTheirRanks) {
  const Levels levels = levels_from_text("n[6-7]\n# comment\n n1:3 \nn4\r\n", "hosts", 2, nullptr);
  EXPECT_EQ(levels.size(), 9);
  EXPECT_EQ(levels.depth(), 1) << "nothing is known above the hosts";
  EXPECT_EQ(levels.part_name(0, levels.part(0, 6)), "n1");
  const SwitchTree tree(conf, "topology.conf");
  const Levels in_tree = levels_from_text("n[6-7]\nn1:3\nn4\n", "hosts", 2, &tree);
  ASSERT_EQ(in_tree.depth(), 3) << "all ranks are below the top switch";
  EXPECT_EQ(in_tree.parts(0), 2);
  EXPECT_EQ(in_tree.name(0), "level 1 switches");
  EXPECT_EQ(in_tree.name(1), "leaf switches");
  EXPECT_EQ(in_tree.shared(4, 7), 1) << "n1 and n4 are below g0";
  EXPECT_EQ(levels_from_text("n[6-7]\nn1:3\nn4\n", "hosts", 2, &tree, 3).size(), 3) << "the first ranks";
}

TEST(Allocation, AHostMayHaveSeveralLines) {
  const Levels levels = levels_from_text("n1\nn2\nn1\n", "hosts", 1, nullptr);
  EXPECT_EQ(levels.size(), 3);
  EXPECT_EQ(levels.parts(0), 2);
  EXPECT_EQ(levels.part(0, 0), levels.part(0, 2));
}

TEST(Allocation, PathsAndXnames) {
  const Levels paths = levels_from_text("cell1/s4/n1\ncell1/s5/n2:2\ncell2/s4/n3\n", "hosts", 1, nullptr);
  ASSERT_EQ(paths.depth(), 3);
  EXPECT_EQ(paths.parts(0), 2);
  EXPECT_EQ(paths.parts(1), 3);
  EXPECT_EQ(paths.shared(1, 2), 3);
  const Levels cray = levels_from_text("x1000c0s0b0n0\nx1000c0s0b0n1\nx1001c0s0b0n0\n", "hosts", 1, nullptr);
  EXPECT_EQ(cray.parts(0), 2);
  EXPECT_EQ(cray.name(0), "cabinets");
  EXPECT_EQ(cray.shared(0, 1), 4);
  EXPECT_EQ(cray.shared(0, 2), 0);
}

TEST(Allocation, OfSlurmsVariables) {
  using select::allocation_of_slurm;
  EXPECT_EQ(allocation_of_slurm("n[1-3],login", "2(x3),1"), "n1:2\nn2:2\nn3:2\nlogin:1\n");
  EXPECT_EQ(allocation_of_slurm("n[1-2]", "4,8"), "n1:4\nn2:8\n");
  EXPECT_EQ(allocation_of_slurm("n[1-2]", ""), "n1\nn2\n");
  EXPECT_TRUE(parse_error([] { (void)allocation_of_slurm("n[1-", "2"); }).starts_with("SLURM_JOB_NODELIST: "));
  EXPECT_TRUE(parse_error([] { (void)allocation_of_slurm("", "2"); }).starts_with("SLURM_JOB_NODELIST: "));
  for (const std::string_view tasks : {"2", "2(x3)", "2(x2),", ",2,2", "2(x2", "2(x)", "2()", "0(x2)", "2(x0),2", "x",
                                       "-1,2", "2 ,2", "1(x1048577)", "99999999999999999999,1", "2;2"}) {
    const std::string error = parse_error([&] { (void)allocation_of_slurm("n[1-2]", tasks); });
    EXPECT_TRUE(error.starts_with("SLURM_TASKS_PER_NODE: ")) << tasks << "\n" << error;
  }
}

TEST(Allocation, RefusesDamageWithItsLine) {
  const SwitchTree tree(conf, "topology.conf");
  const auto error = [&](const std::string& text, const SwitchTree* switches = nullptr) {
    return parse_error([&] { (void)levels_from_text(text, "hosts", 1, switches); });
  };
  for (const auto& [text, place] :
       std::vector<std::pair<std::string, std::string>>{{"", "hosts:1: "},
                                                        {"# none\n\n", "hosts:2: "},
                                                        {"n1\nn[2\n", "hosts:2: "},
                                                        {"n1:\n", "hosts:1: "},
                                                        {"n1:0\n", "hosts:1: "},
                                                        {"n1:-1\n", "hosts:1: "},
                                                        {"n1:x\n", "hosts:1: "},
                                                        {":4\n", "hosts:1: "},
                                                        {"a//n1\n", "hosts:1: "},
                                                        {"/n1\n", "hosts:1: "},
                                                        {"a/n1/\n", "hosts:1: "},
                                                        {"a/n 1\n", "hosts:1: "},
                                                        {"a/n[1-2]\n", "hosts:1: "},
                                                        {"n1\na/n2\n", "hosts:2: "},
                                                        {"x1000c0s0b0n0\nn2\n", "hosts:2: "},
                                                        {"n1:1048576\nn2\n", "hosts:2: "},
                                                        {"n[1-2]:9223372036854775807\n", "hosts:1: "},
                                                        {"1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17\n", "hosts:1: "}}) {
    EXPECT_EQ(error(text).substr(0, place.size()), place) << text << "\n" << error(text);
  }
  EXPECT_EQ(error("n1\nn77\n", &tree).substr(0, 9), "hosts:2: ");
  EXPECT_NE(parse_error([] { (void)levels_from_text("n[1-3]\n", "hosts", 1, nullptr, 4); }), "");
}

/// A file for one test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) { std::ofstream(path_) << text; }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "circoll_topology";
};

TEST(MachinePath, OfATopologyFile) {
  const TemporaryFile file("SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-4]\nSwitchName=top Switches=s[1-2]\n");
  unsetenv("SLURMD_NODENAME");
  EXPECT_EQ(select::path_above(file.path(), {.host = "n3.cluster.org"}), (Names{"top", "s2"}));
  EXPECT_THROW((void)select::path_above(file.path(), {.host = "n9"}), Error);
  setenv("SLURMD_NODENAME", "n1", 1);
  EXPECT_EQ(select::path_above(file.path(), {.host = "login"}), (Names{"top", "s1"})) << "as Slurm calls the host";
  EXPECT_EQ(select::path_above(file.path(), {.host = "n4"}), (Names{"top", "s2"})) << "its own name goes first";
  unsetenv("SLURMD_NODENAME");
  EXPECT_THROW((void)select::path_above(file.path() + ".none", {.host = "n1"}), Error);
}

TEST(MachinePath, TellsTopologyFilesFromLists) {
  EXPECT_TRUE(select::describes_switches("# hosts\n\n switchname=s1 Nodes=n1\n"));
  EXPECT_FALSE(select::describes_switches("n1 # below SwitchName=s1\nn2\n"));
  EXPECT_FALSE(select::describes_switches(""));
}

TEST(MachinePath, OfAListOfHosts) {
  const TemporaryFile file("a/s1/n1:2\nb/s2/n2\nb/s3/n3\n");
  const auto path = [&](Rank rank) { return select::path_above(file.path(), {.host = "", .rank = rank, .size = 4}); };
  EXPECT_EQ(path(0), (Names{"a", "s1"}));
  EXPECT_EQ(path(1), path(0));
  EXPECT_EQ(path(3), (Names{"b", "s3"}));
  EXPECT_THROW((void)select::path_above(file.path(), {.host = "", .rank = 4, .size = 5}), Error)
      << "the file has four ranks";
}

TEST(MachinePath, OfTheJob) {
  const std::string none = "/nonexistent/xname";
  unsetenv("SLURM_TOPOLOGY_ADDR");
  EXPECT_EQ(select::path_above("off", {}, none), Names{});
  EXPECT_EQ(select::path_above("auto", {}, none), Names{});
  const TemporaryFile xname("x1000c0s3b1n0\n");
  EXPECT_EQ(select::path_above("auto", {}, xname.path()), (Names{"x1000", "x1000c0", "x1000c0s3", "x1000c0s3b1"}));
  const TemporaryFile other("nid001\n");
  EXPECT_EQ(select::path_above("auto", {}, other.path()), Names{});
  setenv("SLURM_TOPOLOGY_ADDR", "s0.s4.nid000007", 1);
  const select::JobProcess here{.host = "nid000007.cluster.org"};
  EXPECT_EQ(select::path_above("auto", here, xname.path()), (Names{"s0", "s4"}));
  EXPECT_EQ(select::path_above("auto", {.host = "nid000008"}, none), Names{}) << "the variable is of another host";
  setenv("SLURM_TOPOLOGY_ADDR", "nid000007", 1);
  EXPECT_EQ(select::path_above("auto", here, none), Names{}) << "a cluster without switches";
  unsetenv("SLURM_TOPOLOGY_ADDR");
}

}  // namespace
}  // namespace circoll
