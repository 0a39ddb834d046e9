// Machines made from samples, machines in files, and measured times against predicted ones.
#include "measured/calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "model/sharing.hpp"
#include "select/allocation.hpp"
#include "select/machine.hpp"

namespace circoll {
namespace {

const Machine truth{.name = "truth",
                    .alpha_s = 3e-6,
                    .beta_s_per_byte = 0.5e-9,
                    .gamma_s_per_byte = 0.2e-9,
                    .f_alpha = 0.6,
                    .f_beta = 0.8};

double time_of(SampleKind kind, Count bytes) {
  const auto b = static_cast<double>(bytes);
  switch (kind) {
    case SampleKind::exchange:
      return truth.alpha_s + b * truth.beta_s_per_byte;
    case SampleKind::ping_pong:
      return truth.alpha_s * truth.f_alpha + b * truth.beta_s_per_byte * truth.f_beta;
    default:
      return 5e-9 + b * truth.gamma_s_per_byte;
  }
}

Calibration synthetic() {
  Calibration calibration{.name = "synthetic", .about = "a test", .samples = {}};
  for (const SampleKind kind : {SampleKind::exchange, SampleKind::ping_pong, SampleKind::reduction}) {
    for (Count bytes = 1; bytes <= 4 << 20; bytes *= 2) {
      calibration.samples.push_back({.kind = kind, .bytes = bytes, .seconds = time_of(kind, bytes)});
    }
  }
  return calibration;
}

void expect_truth(const Machine& machine, double tolerance) {
  EXPECT_NEAR(machine.alpha_s, truth.alpha_s, truth.alpha_s * tolerance);
  EXPECT_NEAR(machine.beta_s_per_byte, truth.beta_s_per_byte, truth.beta_s_per_byte * tolerance);
  EXPECT_NEAR(machine.gamma_s_per_byte, truth.gamma_s_per_byte, truth.gamma_s_per_byte * tolerance);
  EXPECT_NEAR(machine.f_alpha, truth.f_alpha, truth.f_alpha * 2 * tolerance);
  EXPECT_NEAR(machine.f_beta, truth.f_beta, truth.f_beta * 2 * tolerance);
}

TEST(Fit, FindsAnExactMachine) {
  const Fit fit = fit_machine(synthetic());
  expect_truth(fit.machine, 1e-9);
  EXPECT_EQ(fit.machine.name, "synthetic");
  EXPECT_LT(fit.exchange.largest_error, 1e-9);
  EXPECT_EQ(fit.exchange.samples, 23U);
}

TEST(Fit, FindsExchangesOfLongMessagesThatShareSomething) {
  EXPECT_EQ(fit_machine(synthetic()).slow_exchange.from_bytes, 0);
  Calibration calibration = synthetic();
  for (Sample& sample : calibration.samples) {
    if (sample.kind == SampleKind::exchange && sample.bytes >= 512 << 10) sample.seconds *= 2.2;
  }
  const Fit fit = fit_machine(calibration);
  expect_truth(fit.machine, 1e-9);
  EXPECT_EQ(fit.slow_exchange.from_bytes, 512 << 10);
  EXPECT_NEAR(fit.slow_exchange.factor, 2.2, 1e-9);
  // One long exchange is no slower than a message one way, so the length is not what slows messages down.
  calibration.samples[22].seconds = time_of(SampleKind::exchange, 4 << 20);
  ASSERT_EQ(calibration.samples[22].bytes, 4 << 20);
  EXPECT_EQ(fit_machine(calibration).slow_exchange.from_bytes, 0);
}

TEST(Fit, FindsTheLevelInsideNodes) {
  Calibration calibration = synthetic();
  EXPECT_FALSE(fit_machine(calibration).node_exchange.has_value());
  EXPECT_EQ(fit_machine(calibration).machine.node_alpha_s, 0);
  for (const Count bytes : {1, 1000, 1000000}) {
    calibration.samples.push_back(
        {.kind = SampleKind::node_exchange, .bytes = bytes, .seconds = 1e-6 + 0.1e-9 * static_cast<double>(bytes)});
  }
  const Fit fit = fit_machine(calibration_from_json(to_json(calibration), "file"));
  expect_truth(fit.machine, 1e-9);
  EXPECT_NEAR(fit.machine.node_alpha_s, 1e-6, 1e-12);
  EXPECT_NEAR(fit.machine.node_beta_s_per_byte, 0.1e-9, 1e-16);
}

// The times are those that the model gives for the measured calls, on a machine with two ways of memory.
TEST(Fit, FindsTheWaysOfMemory) {
  Machine with_ways = truth;
  with_ways.node_ways = {{.name = "stored",
                          .alpha_s = 0.2e-6,
                          .beta_s_per_byte = 0.15e-9,
                          .gamma_s_per_byte = 0.02e-9,
                          .overhead_s = 0.05e-6},
                         {.name = "direct",
                          .from_bytes = 20000,
                          .alpha_s = 5e-6,
                          .beta_s_per_byte = 0.08e-9,
                          .gamma_s_per_byte = 0.04e-9,
                          .overhead_s = 3e-6,
                          .read = true}};
  with_ways.crowded_s = 4e-6;
  const auto predicted = [&](Collective collective, const char* algorithm, Rank p, Count bytes) {
    return seconds(terms_of(parse_selection(collective, algorithm), p, bytes), machines_inside(with_ways, p > 2));
  };
  Calibration calibration = synthetic();
  const auto add = [&](SampleKind kind, Count bytes, double seconds, Rank ranks = 2) {
    calibration.samples.push_back({.kind = kind, .bytes = bytes, .seconds = seconds, .ranks = ranks});
  };
  calibration.ways = {{.name = "stored", .from_bytes = 0}, {.name = "direct", .from_bytes = 20000, .read = true}};
  for (Count bytes = 8; bytes <= 4 << 20; bytes *= 2) {
    add(SampleKind::memory_exchange, bytes, predicted(Collective::allgather, "recursive_doubling", 2, 2 * bytes));
    add(SampleKind::memory_reduction, bytes, predicted(Collective::allreduce, "recursive_doubling", 2, bytes));
    add(SampleKind::memory_burst, bytes, predicted(Collective::bcast, "pipeline:segments=8", 2, burst * bytes));
  }
  add(SampleKind::memory_crowded, 8, predicted(Collective::allgather, "linear", 5, 40), 5);

  const Fit fit = fit_machine(calibration_from_json(to_json(calibration), "file"));
  expect_truth(fit.machine, 1e-9);
  ASSERT_EQ(fit.machine.node_ways.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const NodeWay &way = fit.machine.node_ways[i], &expected = with_ways.node_ways[i];
    EXPECT_EQ(way.name, expected.name);
    EXPECT_EQ(way.from_bytes, expected.from_bytes);
    EXPECT_EQ(way.read, expected.read);
    EXPECT_NEAR(way.alpha_s, expected.alpha_s, 1e-9 * expected.alpha_s);
    EXPECT_NEAR(way.beta_s_per_byte, expected.beta_s_per_byte, 1e-9 * expected.beta_s_per_byte);
    EXPECT_NEAR(way.gamma_s_per_byte, expected.gamma_s_per_byte, 1e-6 * expected.gamma_s_per_byte);
    EXPECT_NEAR(way.overhead_s, expected.overhead_s, 1e-6 * expected.overhead_s);
  }
  EXPECT_NEAR(fit.machine.crowded_s, with_ways.crowded_s, 1e-6 * with_ways.crowded_s);
  EXPECT_EQ(fit.ways.size(), 2U);
  // Noise makes a reduction or a burst cheaper than its messages. The fitted machine can be read again nevertheless.
  for (Sample& sample : calibration.samples) {
    if (sample.kind == SampleKind::memory_reduction || sample.kind == SampleKind::memory_burst) sample.seconds /= 100;
  }
  EXPECT_EQ(machine_from_json(to_json(fit_machine(calibration).machine, ""), "m").node_ways.size(), 2U);
  // The same holds if longer messages take no longer, or no longer than their bytes.
  for (const double intercept : {1e-6, 0.0}) {
    for (Sample& sample : calibration.samples) {
      if (sample.kind != SampleKind::memory_exchange) continue;
      sample.seconds = intercept > 0 ? intercept : 1e-10 * static_cast<double>(sample.bytes);
    }
    EXPECT_EQ(machine_from_json(to_json(fit_machine(calibration).machine, ""), "m").node_ways.size(), 2U);
  }
  // A way without two sizes has no line.
  calibration.ways.push_back({.name = "longest", .from_bytes = 4 << 20});
  EXPECT_THROW((void)fit_machine(calibration), Error);
}

TEST(Fit, OutliersDoNotPull) {
  // A quarter of the sizes is disturbed by a factor of up to 100, the others by up to 1 %.
  std::mt19937 random(3);
  Calibration calibration = synthetic();
  for (std::size_t i = 0; i < calibration.samples.size(); ++i) {
    const double noise = 1 + 0.01 * (static_cast<double>(random() % 2001) / 1000.0 - 1);
    calibration.samples[i].seconds *= i % 4 == 1 ? 2 + static_cast<double>(random() % 98) : noise;
  }
  const Fit fit = fit_machine(calibration);
  expect_truth(fit.machine, 0.03);
  EXPECT_LT(fit.exchange.median_error, 0.02);
  EXPECT_GT(fit.exchange.largest_error, 0.4);  // it is reported, not hidden
}

TEST(Fit, SeveralSamplesOfASizeCountByTheirMedian) {
  Calibration calibration = synthetic();
  const std::vector<Sample> once = calibration.samples;
  for (const Sample& sample : once) {
    calibration.samples.push_back(sample);
    calibration.samples.push_back({.kind = sample.kind, .bytes = sample.bytes, .seconds = sample.seconds * 1000});
  }
  expect_truth(fit_machine(calibration).machine, 1e-9);
}

TEST(Fit, CoefficientsAreNotNegative) {
  const std::vector<Sample> falling{{SampleKind::exchange, 1, 4e-6}, {SampleKind::exchange, 1000, 1e-6}};
  const Line line = fit_line(falling, SampleKind::exchange);
  EXPECT_GE(line.intercept_s, 0);
  EXPECT_GE(line.slope_s_per_byte, 0);
}

TEST(Fit, TooLittleIsAnError) {
  Calibration calibration = synthetic();
  EXPECT_THROW((void)fit_line({{SampleKind::exchange, 8, 1e-6}, {SampleKind::exchange, 8, 2e-6}}, SampleKind::exchange),
               Error);
  EXPECT_THROW((void)fit_line({{SampleKind::exchange, 8, 0}, {SampleKind::exchange, 9, 2e-6}}, SampleKind::exchange),
               Error);
  std::erase_if(calibration.samples, [](const Sample& s) { return s.kind == SampleKind::reduction; });
  EXPECT_THROW((void)fit_machine(calibration), Error);
}

TEST(Calibration, RoundTrip) {
  const Calibration calibration = synthetic();
  const Calibration read = calibration_from_json(to_json(calibration), "memory");
  EXPECT_EQ(read.name, calibration.name);
  EXPECT_EQ(read.about, calibration.about);
  ASSERT_EQ(read.samples.size(), calibration.samples.size());
  for (std::size_t i = 0; i < read.samples.size(); ++i) {
    EXPECT_EQ(read.samples[i].kind, calibration.samples[i].kind);
    EXPECT_EQ(read.samples[i].bytes, calibration.samples[i].bytes);
    EXPECT_EQ(read.samples[i].seconds, calibration.samples[i].seconds);
  }
}

template <typename Read>
void expect_parse_error(Read&& read, const std::string& where, const std::string& what) {
  try {
    read();
    ADD_FAILURE() << "accepted: " << what;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::parse);
    EXPECT_TRUE(std::string(error.what()).starts_with(where + ": ")) << error.what();
    EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
  }
}

TEST(Calibration, ErrorsNameTheLine) {
  const auto expect = [](const std::string& sample, const std::string& what) {
    const std::string text =
        "{\"circoll_calibration\": 1, \"name\": \"x\", \"about\": \"\",\n\"samples\": [\n" + sample + "]}";
    expect_parse_error([&] { (void)calibration_from_json(text, "raw"); }, "raw:3", what);
  };
  expect(R"({"kind": "exchange", "bytes": 8})", "'seconds' is missing");
  expect(R"({"kind": "exchanges", "bytes": 8, "seconds": 1})", "none of exchange");
  expect(R"({"kind": "exchange", "bytes": -8, "seconds": 1})", "not be negative");
  expect(R"({"kind": "exchange", "bytes": 8, "seconds": 0})", "above 0");
  expect(R"({"kind": "exchange", "bytes": 8.5, "seconds": 1})", "integer");
  expect(R"({"kind": "exchange", "bytes": 8, "seconds": "1"})", "number");
  expect(R"({"kind": "exchange", "bytes": 8, "seconds": 1, "by": 2})", "'by' is not known");
  expect(R"({"kind": "memory_crowded", "bytes": 8, "seconds": 1, "ranks": 1})", "at least 2");
}

TEST(Calibration, WaysAreInOrder) {
  const auto expect = [](const std::string& ways, const std::string& what) {
    const std::string text =
        "{\"circoll_calibration\": 1, \"name\": \"x\", \"about\": \"\", \"samples\": [],\n\"node_ways\": " + ways + "}";
    expect_parse_error([&] { (void)calibration_from_json(text, "raw"); }, "raw:2", what);
  };
  expect("{}", "must be an array");
  expect(R"([{"name": "a", "from_bytes": -1}])", "must grow");
  expect(R"([{"name": "a", "from_bytes": 0}, {"name": "b", "from_bytes": 0}])", "must grow");
  expect(R"([{"from_bytes": 0}])", "'name' is missing");
}

/// Eight hosts, of which h4 has half the rate.
std::vector<HostTime> hosts_with_a_slow_one() {
  std::vector<HostTime> hosts;
  for (int i = 0; i < 8; ++i)
    hosts.push_back({.name = "h" + std::to_string(i), .seconds = i == 4 ? 0.168 : 0.084 + 0.001 * i});
  return hosts;
}

TEST(SlowHosts, TakeHalfAsLongAgainAsTheMedian) {
  const std::vector<SlowHost> slow = slow_hosts(hosts_with_a_slow_one());
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].name, "h4");
  EXPECT_NEAR(slow[0].times, 0.168 / 0.088, 1e-9);
  std::vector<HostTime> alike = hosts_with_a_slow_one();
  alike[4].seconds = 0.12;
  EXPECT_TRUE(slow_hosts(alike).empty()) << "0.12 is less than 1.5 times the median";
  EXPECT_TRUE(slow_hosts({}).empty());
}

TEST(SlowHosts, AreSwitchesOfTheirOwn) {
  std::vector<HostTime> hosts = hosts_with_a_slow_one();
  hosts[7].seconds = 1;
  const std::string text = topology_of_slow(slow_hosts(hosts), hosts);
  const select::SwitchTree tree(text, "slow");
  EXPECT_EQ(tree.hosts(), 8U);
  EXPECT_EQ(tree.path_of("h4"), (select::Path{"all", "slow_h4", "h4"}));
  EXPECT_EQ(tree.path_of("h7"), (select::Path{"all", "slow_h7", "h7"}));
  EXPECT_EQ(tree.path_of("h0"), (select::Path{"all", "others", "h0"}));
  EXPECT_EQ(topology_of_slow({}, hosts), "");
  // Nodes that CIRCOLL_CORES says are of one host.
  for (HostTime& host : hosts) host.name = "h";
  EXPECT_EQ(topology_of_slow(slow_hosts(hosts), hosts), "");
}

TEST(SlowHosts, GoFromACalibrationIntoTheMachineFile) {
  Calibration calibration = synthetic();
  calibration.hosts = hosts_with_a_slow_one();
  const Calibration read = calibration_from_json(to_json(calibration), "memory");
  ASSERT_EQ(read.hosts.size(), 8U);
  EXPECT_EQ(read.hosts[4].name, "h4");
  EXPECT_EQ(read.hosts[4].seconds, 0.168);
  const Machine machine = machine_from_json(to_json(fit_machine(read).machine), "memory");
  ASSERT_EQ(machine.slow_hosts.size(), 1U);
  EXPECT_EQ(machine.slow_hosts[0].name, "h4");
  const auto refused = [](const std::string& hosts, const std::string& what) {
    const std::string text =
        "{\"circoll_calibration\": 1, \"name\": \"x\", \"about\": \"\", \"samples\": [],\n\"hosts\": " + hosts + "}";
    expect_parse_error([&] { (void)calibration_from_json(text, "raw"); }, "raw:2", what);
  };
  refused("{}", "must be an array");
  refused(R"([{"name": "a", "seconds": 0}])", "above 0");
  refused(R"([{"seconds": 1}])", "'name' is missing");
}

TEST(MachineFile, RoundTrip) {
  const Machine read = machine_from_json(to_json(truth, "measured somewhere"), "memory");
  EXPECT_EQ(read.name, truth.name);
  EXPECT_EQ(read.alpha_s, truth.alpha_s);
  EXPECT_EQ(read.beta_s_per_byte, truth.beta_s_per_byte);
  EXPECT_EQ(read.gamma_s_per_byte, truth.gamma_s_per_byte);
  EXPECT_EQ(read.f_alpha, truth.f_alpha);
  EXPECT_EQ(read.f_beta, truth.f_beta);
}

TEST(MachineFile, ErrorsNameTheLine) {
  const auto expect = [](const std::string& text, const std::string& where, const std::string& what) {
    expect_parse_error([&] { (void)machine_from_json(text, "m"); }, where, what);
  };
  const std::string head = "{\"circoll_machine\": 1,\n\"name\": \"x\",\n";
  const std::string rest = "\"beta_s_per_byte\": 1e-9, \"gamma_s_per_byte\": 1e-10";
  EXPECT_EQ(machine_from_json(head + "\"alpha_s\": 1e-6, " + rest + "}", "m").f_alpha, 1.0);
  expect(head + "\"alpha_s\": 0,\n" + rest + "}", "m:3", "above 0");
  expect(head + "\"alpha_s\": \"1\",\n" + rest + "}", "m:3", "must be a number");
  expect(head + rest + "}", "m:1", "'alpha_s' is missing");
  expect(head + "\"alpha\": 1e-6,\n" + rest + "}", "m:3", "'alpha' is not known");
  expect(head + "\"alpha_s\": 1e-6,\n\"f_beta\": -1,\n" + rest + "}", "m:4", "above 0");
  expect(head + "\"alpha_s\": 1e-6,\n\"slow_hosts\": 1,\n" + rest + "}", "m:4", "must be a list");
  expect(head + "\"alpha_s\": 1e-6,\n\"slow_hosts\": [{\"name\": \"a\"}],\n" + rest + "}", "m:4", "'times' is missing");
  expect(head + "\"alpha_s\": 1e308,\n" + rest + "}", "m:3", "at most 1e9");
  EXPECT_THROW((void)read_machine("/no/such/file"), Error);
}

TEST(MachineFile, DecidesForTheModel) {
  const auto policy = make_policy("model", {.machine = truth, .allow_rank_divergence = false});
  EXPECT_EQ(policy->machine().name, "truth");
  const Decision decision = policy->decide({.collective = Collective::bcast, .p = 4, .bytes = 1000});
  EXPECT_NE(decision.reason.find("'truth'"), std::string::npos);
}

/// A tree's messages share the root's port, and policies price them so.
TEST(Compare, ScatterIsPricedAsPoliciesDo) {
  const std::string bench = R"({"type": "byte", "op": "bor", "root": 0, "p": 16, "rows": [
    {"collective": "scatter", "algorithm": "binomial", "served_by": "binomial", "p": 16, "bytes": 1000, "reps": 9,
     "median_us": 5.0, "correct": "-"}]})";
  const Selection binomial = parse_selection("scatter/binomial");
  const double priced = between_hosts(binomial, 16, 16000, truth).time_s;
  EXPECT_GT(priced, 1.01 * seconds(terms_of(binomial, 16, 16000), truth));
  EXPECT_DOUBLE_EQ(compare(bench, "bench", truth).at(0).predicted_s, priced);
}

TEST(Compare, MeasuredAgainstPredicted) {
  const std::string bench = R"({"type": "byte", "op": "bor", "root": 0, "p": 4, "rows": [
    {"collective": "allgather", "algorithm": "native", "served_by": "native", "p": 4, "bytes": 1000, "reps": 9,
     "median_us": 5.0, "min_us": 4, "p95_us": 9, "algbw_GBps": 1, "speedup": 1, "correct": "-"},
    {"collective": "allgather", "algorithm": "ring:segment=500", "served_by": "ring", "p": 4, "bytes": 1000, "reps": 9,
     "median_us": 7.0, "min_us": 4, "p95_us": 9, "algbw_GBps": 1, "speedup": 1, "correct": "-"},
    {"collective": "bcast", "algorithm": "auto", "served_by": "binomial", "p": 4, "bytes": 1000, "reps": 9,
     "median_us": 8.0, "min_us": 4, "p95_us": 9, "algbw_GBps": 1, "speedup": 1, "correct": "-"}]})";
  const std::vector<Comparison> rows = compare(bench, "bench", truth);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].predicted_s, 0);
  EXPECT_EQ(rows[1].served_by, "ring:segments=2");  // a rank's block of 1000 bytes
  EXPECT_DOUBLE_EQ(rows[1].measured_s, 7e-6);
  EXPECT_DOUBLE_EQ(rows[1].predicted_s,
                   seconds(terms_of(parse_selection("allgather/ring:segments=2"), 4, 4000), truth));
  EXPECT_DOUBLE_EQ(rows[2].predicted_s, seconds(terms_of(parse_selection("bcast/binomial"), 4, 1000), truth));
  expect_parse_error([] { (void)compare("{}", "b", truth); }, "b:1", "no circoll-bench");
  const std::string head = R"({"type": "byte", "op": "bor", "root": 0, "rows": [)";
  expect_parse_error([&] { (void)compare(head + "\n{\"collective\": 3}]}", "b", truth); }, "b:2", "string");
}

}  // namespace
}  // namespace circoll
