// Networks that are measured where a job starts: the plan of messages, the fit of few times, and the file that is kept.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "circoll/select.hpp"
#include "facts/network_name.hpp"
#include "model/fit.hpp"
#include "model/probe.hpp"
#include "select/machine.hpp"
#include "select/network.hpp"

namespace circoll {
namespace {

namespace fs = std::filesystem;

TEST(Probe, PairsAreDisjointAndEveryHostHasOne) {
  for (const Rank hosts : {2, 3, 5, 8, 11, 16, 1000}) {
    std::set<Rank> met;
    for (int step = 0; step < probe_steps(hosts); ++step) {
      for (Rank host = 0; host < hosts; ++host) {
        const Rank partner = probe_partner(host, step, hosts);
        if (partner < 0) continue;
        EXPECT_LT(partner, hosts);
        EXPECT_NE(partner, host);
        EXPECT_EQ(probe_partner(partner, step, hosts), host) << "both hosts of a pair know it";
        met.insert(host);
      }
    }
    EXPECT_EQ(static_cast<Rank>(met.size()), hosts);
  }
  EXPECT_EQ(probe_steps(1), 0);
  EXPECT_EQ(probe_steps(16), 4);
  EXPECT_EQ(probe_steps(1000), 10);
}

/// Plays the trials of all steps on a network whose messages take alpha + bytes beta. Returns the time of the longest
/// step, from its first counted trial on.
double longest_step(double alpha_s, double beta_s_per_byte, Rank hosts, std::set<Count>* lengths) {
  ProbePlan plan(probe_seconds(hosts));
  double longest_s = 0;
  for (int step = 0; step < probe_steps(hosts); ++step) {
    plan.begin_step();
    double now_s = 0;
    int trials = 0;
    while (const auto trial = plan.next(now_s)) {
      EXPECT_LT(++trials, 20);
      if (!trial->counts) continue;
      const Count bytes = probe_bytes[trial->size];
      lengths->insert(bytes);
      const int messages = 2 + trial->exchanges + (trial->bursts ? 2 : 0);  // others of a burst do not wait
      now_s += messages * (alpha_s + static_cast<double>(bytes) * beta_s_per_byte);
    }
    longest_s = std::max(longest_s, now_s);
  }
  return longest_s;
}

TEST(Probe, TakesItsTimeOnEveryNetwork) {
  for (const Rank hosts : {2, 8, 16, 1000}) {
    for (const auto& [alpha_s, beta_s_per_byte] :
         {std::pair(1e-6, 0.04e-9), std::pair(20e-6, 0.8e-9), std::pair(50e-6, 8e-9), std::pair(100e-6, 80e-9)}) {
      std::set<Count> lengths;
      EXPECT_LE(longest_step(alpha_s, beta_s_per_byte, hosts, &lengths), probe_seconds(hosts))
          << hosts << " hosts, " << alpha_s;
      EXPECT_GE(lengths.size(), 2U) << "a line needs two lengths";
    }
  }
  // A fast network takes the longest messages, a slow one does not.
  std::set<Count> fast, slow;
  (void)longest_step(1e-6, 0.04e-9, 16, &fast);
  (void)longest_step(100e-6, 80e-9, 16, &slow);
  EXPECT_EQ(*fast.rbegin(), probe_bytes.back());
  EXPECT_LT(*slow.rbegin(), 65536);
  // 1 Mbit/s: the first long trial is made, and no other one follows in its step.
  ProbePlan plan(probe_seconds(2));
  double now_s = 0;
  int long_trials = 0;
  while (const auto trial = plan.next(now_s)) {
    now_s += trial->counts ? 40e-3 : 0;
    long_trials += trial->size > 0 ? 1 : 0;
  }
  EXPECT_EQ(long_trials, 1);
}

std::vector<TimedBytes> line_of(double intercept_s, double slope_s_per_byte) {
  std::vector<TimedBytes> times;
  for (const Count bytes : probe_bytes) {
    times.push_back({.bytes = bytes, .seconds = intercept_s + static_cast<double>(bytes) * slope_s_per_byte});
  }
  return times;
}

TEST(RoughNumbers, AreThoseOfTheLines) {
  std::vector<TimedBytes> exchanges = line_of(50e-6, 8e-9);
  exchanges.push_back({.bytes = 8, .seconds = 51e-6});
  exchanges.push_back({.bytes = 8, .seconds = 9});  // an outlier
  const auto numbers = rough_numbers(exchanges, line_of(40e-6, 6e-9));
  ASSERT_TRUE(numbers);
  EXPECT_NEAR(numbers->alpha_s, 50e-6, 1.5e-6);
  EXPECT_NEAR(numbers->beta_s_per_byte, 8e-9, 1e-11);
  EXPECT_NEAR(numbers->f_alpha, 0.8, 0.03);
  EXPECT_NEAR(numbers->f_beta, 0.75, 0.01);
}

TEST(RoughNumbers, OverheadsAreThoseOfMessagesBehindTheFirst) {
  // alpha 50 us, 40 us one way. Seven more messages take 4 us each; two more exchanges take 20 us each.
  const TimedBurst burst{.messages = 8, .seconds = 0.8 * (50e-6 + 7 * 5e-6)};
  const TimedBurst round{.messages = 3, .seconds = 50e-6 + 2 * 20e-6};
  const auto numbers = rough_numbers(line_of(50e-6, 8e-9), line_of(40e-6, 8e-9), burst, round);
  ASSERT_TRUE(numbers);
  EXPECT_NEAR(numbers->overhead_s, 5e-6, 1e-9);
  EXPECT_NEAR(numbers->overhead_both_s, 40e-6, 1e-9);
  // Noise makes it neither more than alpha nor nothing, and exchanges no cheaper than messages one way.
  const TimedBurst long_burst{.messages = 8, .seconds = 1}, short_one{.messages = 8, .seconds = 1e-6};
  const auto most = rough_numbers(line_of(50e-6, 8e-9), line_of(40e-6, 8e-9), long_burst, short_one);
  EXPECT_NEAR(most->overhead_s, 50e-6, 1e-9);
  EXPECT_NEAR(most->overhead_both_s, 50e-6, 1e-9);
  EXPECT_GT(rough_numbers(line_of(50e-6, 8e-9), line_of(40e-6, 8e-9), short_one)->overhead_s, 0);
  // One partner tells nothing.
  const TimedBurst one_partner{.messages = 1, .seconds = 50e-6};
  EXPECT_EQ(rough_numbers(line_of(50e-6, 8e-9), line_of(40e-6, 8e-9), burst, one_partner)->overhead_both_s, 0);
}

TEST(WithNetwork, ShortMessagesFromOneRankNeedNotWait) {
  // Sixteen hosts: a root's messages take 10 us each behind the first.
  const NetworkNumbers numbers{
      .alpha_s = 100e-6, .beta_s_per_byte = 1e-9, .overhead_s = 10e-6, .overhead_both_s = 80e-6};
  const Machine machine = with_network(default_machine(), numbers, "net");
  const auto policy = make_policy("auto", {.machine = machine});
  const auto chosen = [&](Collective collective) {
    return policy->decide(facts_of(collective, 16, 8, Op::sum, Type::float64)).selection->algorithm->name;
  };
  EXPECT_EQ(chosen(Collective::gather), "linear");
  EXPECT_EQ(chosen(Collective::scatter), "linear");
  EXPECT_NE(chosen(Collective::allgather), "linear") << "exchanges with many ranks cost more";
  // Two hosts cannot measure it.
  EXPECT_EQ(with_network(default_machine(), {.alpha_s = 100e-6, .overhead_s = 10e-6}, "net").overhead_both_s, 100e-6);
}

TEST(WithNetwork, LongSegmentsOfTreesGoInOrder) {
  const auto chosen = [](double beta_s_per_byte, double alpha_s, Collective collective, Count bytes, Rank cores) {
    const NetworkNumbers numbers{.alpha_s = alpha_s, .beta_s_per_byte = beta_s_per_byte, .overhead_s = alpha_s / 4};
    const auto policy = make_policy("auto", {.machine = with_network(default_machine(), numbers, "net")});
    CallFacts facts = facts_of(collective, 8, bytes, Op::sum, Type::float64);
    facts.cores = cores;
    const Decision decision = policy->decide(facts);
    EXPECT_EQ(decision.selection->params.contains("window"),
              decision.candidates.front().selection.params.contains("window"));
    return decision.selection->text();
  };
  // 100 Mbit/s: a segment of 8 KiB takes ten alphas.
  for (const Rank cores : {Rank{1}, Rank{2}}) {
    for (const Collective collective : {Collective::bcast, Collective::reduce})
      EXPECT_NE(chosen(80e-9, 60e-6, collective, 256 << 10, cores).find("window=1"), std::string::npos);
    EXPECT_EQ(chosen(80e-9, 60e-6, Collective::bcast, 8 << 10, cores).find("window"), std::string::npos);
  }
  EXPECT_EQ(chosen(80e-9, 60e-6, Collective::bcast, 256 << 10, 8).find("window"), std::string::npos) << "one node";
  EXPECT_EQ(chosen(80e-9, 60e-6, Collective::allreduce, 256 << 10, 1).find("window"), std::string::npos);
  // 100 Gbit/s is no network of sockets, and nobody has measured order there.
  EXPECT_EQ(chosen(0.08e-9, 2e-6, Collective::bcast, 256 << 20, 1).find("window"), std::string::npos);
}

TEST(RoughNumbers, AreAboveZeroWhateverTheNoise) {
  const std::vector<TimedBytes> flat{{.bytes = 8, .seconds = 20e-6}, {.bytes = 4096, .seconds = 10e-6}};
  const auto numbers = rough_numbers(flat, flat);
  ASSERT_TRUE(numbers);
  EXPECT_GT(numbers->alpha_s, 0);
  EXPECT_DOUBLE_EQ(numbers->beta_s_per_byte, 10e-6 / 4096);
  EXPECT_EQ(numbers->f_alpha, 1);
  EXPECT_FALSE(rough_numbers({flat.front()}, flat)) << "one size gives no line";
  EXPECT_FALSE(rough_numbers({}, {}));
}

TEST(PartBytes, PartsPayWhereTheirBytesTakeFourOverheads) {
  const auto parts = [](double beta_s_per_byte, double alpha_s, double overhead_s) {
    return part_bytes({.alpha_s = alpha_s, .beta_s_per_byte = beta_s_per_byte, .overhead_s = overhead_s});
  };
  EXPECT_EQ(parts(80e-9, 65e-6, 26e-6), 16320) << "100 Mbit/s";
  EXPECT_EQ(parts(0.8e-9, 20e-6, 2.5e-6), 16320) << "10 Gbit/s";
  EXPECT_EQ(parts(0.08e-9, 2e-6, 0.5e-6), 0) << "100 Gbit/s";
  // Without an overhead alpha is the price of a message.
  EXPECT_EQ(parts(8e-9, 25e-6, 0), 16320);
  EXPECT_EQ(parts(0.8e-9, 20e-6, 0), 0);
}

TEST(WithNetwork, ChangesNothingInsideANode) {
  const Machine before = default_machine();
  const Machine after = with_network(before, {.alpha_s = 60e-6, .beta_s_per_byte = 80e-9}, "net");
  EXPECT_EQ(after.alpha_s, 60e-6);
  EXPECT_EQ(after.within_alpha_s(), before.alpha_s);
  EXPECT_EQ(after.within_beta_s_per_byte(), before.beta_s_per_byte);
  const auto here = make_policy("auto", {.machine = before}), there = make_policy("auto", {.machine = after});
  CallFacts inside = facts_of(Collective::allreduce, 4, 32768, Op::sum, Type::float64);
  inside.cores = 4;
  inside.nodes = 1;
  EXPECT_EQ(here->decide(inside).candidates.front().seconds, there->decide(inside).candidates.front().seconds);
  Machine mpi_only = before;  // CIRCOLL_NODE=off
  mpi_only.node_ways.clear();
  const Machine mpi_only_after = with_network(mpi_only, {.alpha_s = 60e-6, .beta_s_per_byte = 80e-9}, "net");
  EXPECT_EQ(machines_inside(mpi_only_after).front().machine.alpha_s, before.alpha_s);
  CallFacts across = facts_of(Collective::allreduce, 4, 32768, Op::sum, Type::float64);
  EXPECT_GT(there->decide(across).candidates.front().seconds, 1e-3);
}

/// A cache directory of its own.
class KeptNetwork : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("circoll_network_" + std::to_string(std::random_device{}()));
    fs::create_directories(directory_);
    setenv("XDG_CACHE_HOME", directory_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    fs::remove_all(directory_);
  }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(file).parent_path());
    std::ofstream(file) << text;
  }

  fs::path directory_;
  const NetworkNumbers numbers_{.alpha_s = 61e-6,
                                .beta_s_per_byte = 0.085e-9,
                                .f_alpha = 0.7,
                                .f_beta = 0.9,
                                .overhead_s = 4e-6,
                                .overhead_both_s = 9e-6};
};

TEST_F(KeptNetwork, IsReadAsItWasWritten) {
  const std::string file = *select::network_file("net A");
  EXPECT_TRUE(file.starts_with((directory_ / "circoll/networks/").string()));
  EXPECT_NE(file, *select::network_file("net B"));
  const select::KeptNetwork none = select::read_network(file, "net A");
  EXPECT_FALSE(none.numbers || !none.complaint.empty()) << "a network that nobody has measured is no complaint";
  EXPECT_EQ(select::keep_network(file, "net A", numbers_, "a test"), "");
  const select::KeptNetwork kept = select::read_network(file, "net A");
  ASSERT_TRUE(kept.numbers);
  EXPECT_EQ(kept.complaint, "");
  EXPECT_DOUBLE_EQ(kept.numbers->alpha_s, numbers_.alpha_s);
  EXPECT_DOUBLE_EQ(kept.numbers->beta_s_per_byte, numbers_.beta_s_per_byte);
  EXPECT_DOUBLE_EQ(kept.numbers->f_alpha, numbers_.f_alpha);
  EXPECT_DOUBLE_EQ(kept.numbers->f_beta, numbers_.f_beta);
  EXPECT_DOUBLE_EQ(kept.numbers->overhead_s, numbers_.overhead_s);
  EXPECT_DOUBLE_EQ(kept.numbers->overhead_both_s, numbers_.overhead_both_s);
  EXPECT_EQ(read_machine(file).node_ways, default_machine().node_ways) << "it serves as --machine as well";
}

TEST_F(KeptNetwork, IsMeasuredAnewIfItHasNoOverhead) {
  const std::string file = *select::network_file("net A");
  ASSERT_EQ(select::keep_network(file, "net A", {.alpha_s = 1, .beta_s_per_byte = 1}, "an older version"), "");
  const select::KeptNetwork kept = select::read_network(file, "net A");
  EXPECT_FALSE(kept.numbers);
  EXPECT_EQ(kept.complaint, "");
}

TEST_F(KeptNetwork, IsNotUsedWhereItIsDamagedOrAnothers) {
  const std::string file = *select::network_file("net A");
  ASSERT_EQ(select::keep_network(file, "net A", numbers_, "a test"), "");
  std::ifstream in(file);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, whole.size() / 2, whole.size() - 3}) {
    write(file, whole.substr(0, length));
    const select::KeptNetwork kept = select::read_network(file, "net A");
    EXPECT_FALSE(kept.numbers) << length;
    EXPECT_NE(kept.complaint.find(file), std::string::npos) << kept.complaint;
  }
  std::string negative = whole;
  negative.replace(negative.find("\"alpha_s\": "), 11, "\"alpha_s\": -");
  write(file, negative);
  EXPECT_FALSE(select::read_network(file, "net A").numbers);
  write(file, whole);
  EXPECT_TRUE(select::read_network(file, "net A").numbers);
  EXPECT_NE(select::read_network(file, "net B").complaint.find("is of 'net A'"), std::string::npos);
  fs::remove(file);
  fs::create_directories(file);
  EXPECT_NE(select::read_network(file, "net A").complaint, "") << "a directory";
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_NE(select::read_network(file, "net A").complaint, "") << "a pipe, which would wait for a writer";
}

TEST_F(KeptNetwork, SaysWhyItCannotBeWritten) {
  write((directory_ / "circoll").string(), "a file where a directory belongs");
  EXPECT_NE(select::keep_network(*select::network_file("net A"), "net A", numbers_, "a test"), "");
  const char* const home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/h", 1);
  EXPECT_TRUE(select::network_file("net A")->starts_with("/h/.cache/circoll/networks/"));
  unsetenv("HOME");
  EXPECT_FALSE(select::network_file("net A"));
  if (home != nullptr) setenv("HOME", before.c_str(), 1);
}

TEST(Network, VariablesSwitchItOff) {
  std::string complaint;
  EXPECT_EQ(select::no_network_because(&complaint), "");
  setenv("CIRCOLL_MACHINE", "file", 1);
  EXPECT_EQ(select::no_network_because(&complaint), "CIRCOLL_MACHINE names a machine");
  setenv("CIRCOLL_MEASURE", "off", 1);
  EXPECT_EQ(select::no_network_because(&complaint), "CIRCOLL_MEASURE is off");
  EXPECT_EQ(complaint, "");
  unsetenv("CIRCOLL_MACHINE");
  setenv("CIRCOLL_MEASURE", "often", 1);
  EXPECT_EQ(select::no_network_because(&complaint), "");
  EXPECT_NE(complaint.find("'often'"), std::string::npos);
  unsetenv("CIRCOLL_MEASURE");
}

TEST(Network, KeysDifferByLibraryAndHosts) {
  EXPECT_EQ(network_name(), network_name());
  const std::string key = select::network_key("A 1");
  EXPECT_NE(key, select::network_key("A 2"));
  setenv("CIRCOLL_CORES", "2", 1);
  const std::string declared = select::network_key("A 1");
  setenv("CIRCOLL_CORES", "64", 1);
  EXPECT_NE(declared, select::network_key("A 1"));
  unsetenv("CIRCOLL_CORES");
  EXPECT_NE(key, declared);
  EXPECT_TRUE(is_local_interface("lo"));
  EXPECT_TRUE(is_local_interface("docker0"));
  EXPECT_FALSE(is_local_interface("eth0"));
  EXPECT_FALSE(is_local_interface("ib0"));
}

}  // namespace
}  // namespace circoll
