// The processors that processes may use: affinity, and the time that control groups give.
#include <sched.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "control_groups.hpp"
#include "exec/node/limits.hpp"
#include "gtest/gtest.h"
#include "node_processes.hpp"

namespace circoll::node {
namespace {

class NodeProcessors : public ControlGroupsTest {};

/// Binds the calling process to one processor, and returns its number.
int bind_to_one(std::size_t which) {
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all) || which-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return cpu;
  }
  return -1;
}

TEST_F(NodeProcessors, HaveTheLeastTimeOfTheirGroups) {
  write("/membership", "0::/a/b\n");
  write("/a/cpu.max", "150000 100000\n");
  write("/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(own_processors(files()).quota, 2U);
  write("/a/b/cpu.max", "50000 100000\n");
  EXPECT_EQ(own_processors(files()).quota, 1U);
  write("/membership", "4:cpu,cpuacct:/job\n");
  write("/cpu/job/cpu.cfs_quota_us", "100000\n");
  write("/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(own_processors(files()).quota, 1U);
  write("/cpu/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(own_processors(files()).quota, 0U);
}

TEST_F(NodeProcessors, HaveNoLimitThatCannotBeRead) {
  write("/membership", "0::/\n");
  for (const char* const text : {"", "100000 0\n", "100000\n", "x y\n", "max\n"}) {
    write("/cpu.max", text);
    EXPECT_EQ(own_processors(files()).quota, 0U) << text;
  }
  write("/cpu.max", "0 100000\n");
  EXPECT_EQ(own_processors(files()).quota, 1U);
}

TEST_F(NodeProcessors, OwnOnesCanBeCompared) {
  write("/membership", "0::/a\n");
  const OwnProcessors unlimited = own_processors(files());
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(unlimited.count, static_cast<unsigned>(CPU_COUNT(&all)));
  EXPECT_EQ(unlimited.quota, 0U);
  EXPECT_EQ(own_processors(files()), unlimited);
  write("/a/cpu.max", "150000 100000\n");
  EXPECT_EQ(own_processors(files()), (OwnProcessors{.set = unlimited.set, .count = unlimited.count, .quota = 2}));
  if (std::thread::hardware_concurrency() < 2) return;
  for (const std::size_t which : {0U, 1U}) {
    const Process bound([&](const Wire& line) {
      (void)bind_to_one(which);
      line.put(own_processors(files()));
    });
    const auto own = bound.line().get<OwnProcessors>();
    ASSERT_TRUE(own);
    EXPECT_EQ(own->count, 1U);
    EXPECT_NE(own->set, unlimited.set);
  }
}

TEST(CrowdedNode, HasFewerProcessorsThanProcesses) {
  const OwnProcessors pair{.set = 1, .count = 2}, other_pair{.set = 2, .count = 2};
  EXPECT_FALSE(is_crowded(std::vector{pair}));
  EXPECT_FALSE(is_crowded(std::vector{pair, pair}));
  EXPECT_TRUE(is_crowded(std::vector{pair, pair, pair}));
  EXPECT_FALSE(is_crowded(std::vector{pair, other_pair, pair}));
  EXPECT_TRUE(is_crowded(std::vector{pair, other_pair, pair, other_pair, pair}));
  // Processor time is shared, whatever the processes are bound to.
  const OwnProcessors one{.set = 3, .count = 1, .quota = 1}, two{.set = 4, .count = 1, .quota = 1};
  EXPECT_TRUE(is_crowded(std::vector{one, two}));
  EXPECT_FALSE(is_crowded(std::vector{one}));
  // Where one of them cannot say, nothing is known.
  EXPECT_FALSE(is_crowded(std::vector{pair, pair, pair, OwnProcessors{}}));
  EXPECT_FALSE(is_crowded({}));
}

}  // namespace
}  // namespace circoll::node
