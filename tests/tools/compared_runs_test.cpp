// Facts about runs that are compared: waiting apart from collectives, and processors that others took.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

#include "measured/machine_load.hpp"
#include "measured/waiting.hpp"

namespace circoll {
namespace {

std::string rank(int number) {
  return ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" + std::to_string(number) + ",\"tid\":0}";
}

std::string call(int rank, double begin_us, double length_us, const char* collective = "allreduce", int comm_size = 2,
                 const char* mode = "blocking") {
  std::ostringstream text;
  text << ",\n{\"ph\":\"X\",\"cat\":\"native\",\"name\":\"x\",\"pid\":" << rank << ",\"tid\":0,\"ts\":" << begin_us
       << ",\"dur\":" << length_us << ",\"args\":{\"collective\":\"" << collective << "\",\"comm_size\":" << comm_size
       << ",\"mode\":\"" << mode << "\"}}";
  return text.str();
}

Waiting waiting_in(const std::string& events) {
  std::istringstream trace("{\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"x\",\"pid\":0}" + rank(0) + rank(1) + events +
                           "\n],\n\"otherData\":{\"clock_error_us\":1}}\n");
  return waiting_of(trace);
}

TEST(Waiting, EndsWhenTheLastRankEnters) {
  // Rank 0 is inside from 0 to 1000, rank 1 from 900 to 1000: the collective takes 100 us on both.
  const Waiting one = waiting_in(call(0, 0, 1000) + call(1, 900, 100));
  EXPECT_EQ(one.calls, 1);
  EXPECT_NEAR(one.inside_s, 550e-6, 1e-12);
  EXPECT_NEAR(one.itself_s, 100e-6, 1e-12);
  // The root of a broadcast leaves before the last rank enters. Nobody knows that it waited.
  const Waiting early = waiting_in(call(0, 0, 50, "bcast") + call(1, 900, 100, "bcast"));
  EXPECT_NEAR(early.inside_s, 75e-6, 1e-12);
  EXPECT_NEAR(early.itself_s, 75e-6, 1e-12);
}

TEST(Waiting, CountsBlockingCallsOfAllRanks) {
  const std::string first = call(0, 0, 10) + call(1, 0, 10);
  EXPECT_EQ(waiting_in(first + first).calls, 2);
  EXPECT_EQ(waiting_in(first + call(0, 20, 5, "bcast", 1) + call(0, 40, 5) + call(1, 40, 5)).calls, 2);
  EXPECT_EQ(waiting_in(first + call(0, 20, 5, "bcast", 2, "nonblocking")).calls, 1);
  EXPECT_EQ(waiting_in(first + call(0, 20, 5)).calls, 1);  // the other one has no such call
  EXPECT_EQ(waiting_in(first + call(0, 20, 5) + call(1, 20, 5, "bcast") + first).calls, 2);  // in order of time
  EXPECT_EQ(waiting_in(call(0, 20, 5) + call(1, 20, 5, "bcast")).calls, 0);
  EXPECT_EQ(waiting_in("").calls, 0);
  std::istringstream nothing("no JSON\n[1]\n{\"ph\": 3}\n{\"ph\":\"X\",\"args\":{\"mode\":\"blocking\"}}\n");
  EXPECT_EQ(waiting_of(nothing).calls, 0);
}

using measured::load_between;
using measured::processors_from;

// Two processors for ten seconds: 20 s in all, 11 s of them busy, 5 s of these ours. The hypervisor took 1 s of the 11.
TEST(MachineLoad, IsWhatIsNotOurs) {
  auto before = processors_from("cpu  100 0 0 200 0 0 0 0 0 0\ncpu0 1 2", "some avg10=1.00 total=1000000\nfull", 100);
  auto after = processors_from("cpu  900 100 100 1000 100 0 0 100 0 0\n", "some avg10=1.00 total=5000000\n", 100);
  ASSERT_TRUE(before && after);
  after->own_s = 5;
  after->at_s = 10;
  const measured::Load load = load_between(*before, *after);
  EXPECT_NEAR(load.others, 6.0 / 20, 1e-12);
  EXPECT_NEAR(load.pressure.value(), 0.4, 1e-12);
  after->pressure_s.reset();
  EXPECT_FALSE(load_between(*before, *after).pressure);
  after->own_s = 50;  // clocks of the kernel are coarse
  EXPECT_EQ(load_between(*before, *after).others, 0);
}

TEST(MachineLoad, TextsThatAreNone) {
  EXPECT_FALSE(processors_from("", "", 100));
  EXPECT_FALSE(processors_from("cpu 1 2 3", "", 100));
  EXPECT_FALSE(processors_from("gpu 1 2 3 4 5 6 7 8", "", 100));
  EXPECT_FALSE(processors_from("cpu 1 2 3 4 5 6 7 8", "full total=5", 100)->pressure_s);
  EXPECT_FALSE(processors_from("cpu 1 2 3 4 5 6 7 8", "some total=x", 100)->pressure_s);
}

TEST(MachineLoad, ReadsTheKernel) {
  const measured::LoadMeter meter;
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(50)) continue;
  EXPECT_EQ(meter.load().has_value(), std::ifstream("/proc/stat").good());
}

}  // namespace
}  // namespace circoll
