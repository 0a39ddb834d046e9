// circoll plot, from outside: what it draws, and what it refuses.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "support/command.hpp"
#include "support/xml.hpp"

namespace circoll {
namespace {

using nlohmann::json;
using xml::occurrences;

json row(const std::string& collective, const std::string& algorithm, int p, std::int64_t bytes, double median_us) {
  return {{"collective", collective}, {"algorithm", algorithm},
          {"served_by", algorithm},   {"p", p},
          {"bytes", bytes},           {"reps", 9},
          {"median_us", median_us},   {"correct", "yes"}};
}

/// Two collectives at four ranks, three algorithms, three sizes; native twice as slow as auto, and half as
/// slow as linear.
json rows() {
  json rows = json::array();
  for (const std::string collective : {"allreduce", "allgather"}) {
    for (const std::int64_t bytes : {8, 1024, 1 << 20}) {
      const double native_us = 10 + 0.001 * static_cast<double>(bytes);
      rows.push_back(row(collective, "native", 4, bytes, native_us));
      rows.push_back(row(collective, "auto", 4, bytes, native_us / 2));
      rows.push_back(row(collective, "linear", 4, bytes, native_us * 2));
    }
  }
  return rows;
}

std::string launch(const json& rows) {
  return json{{"type", "byte"}, {"op", "bor"}, {"root", 0}, {"sync", "clock"}, {"rows", rows}}.dump();
}

/// What `circoll plot` writes for the arguments; fails the test if it does not succeed.
std::string plotted(const std::string& arguments, const std::string& suffix = ".svg", int exit_code = 0) {
  const TemporaryFile file("", "plot" + suffix);
  const Outcome outcome = run("plot " + arguments + " -o " + file.path + " 2>&1");
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out;
  return content(file.path);
}

TEST(Plot, TimesAreLinesWithPointsPerPanel) {
  const TemporaryFile file(launch(rows()), "launch");
  const std::string svg = plotted(file.path + " --title 'Two & two'");
  EXPECT_EQ(xml::ill_formed(svg), "");
  EXPECT_TRUE(contains(svg, "<title>Two &amp; two</title>"));
  EXPECT_EQ(occurrences(svg, "class=\"heading\""), 2U);
  EXPECT_EQ(occurrences(svg, "<polyline"), 6U);
  EXPECT_EQ(occurrences(svg, "class=\"point\""), 18U);
  EXPECT_EQ(occurrences(svg, "class=\"interval"), 0U) << "of one launch";
  EXPECT_TRUE(contains(svg, "<title>auto, 1 KiB: 5.512 us; native / this 2; 1 launch, 9 repetitions</title>")) << svg;
  EXPECT_TRUE(contains(svg, ">bytes of a rank&#39;s block</text>") || contains(svg, ">bytes of a rank's block</text>"));
}

TEST(Plot, FiltersPanelsAndSeries) {
  const TemporaryFile file(launch(rows()), "launch");
  const std::string svg = plotted("-c allgather -a native,linear " + file.path);
  EXPECT_EQ(occurrences(svg, "class=\"heading\""), 1U);
  EXPECT_EQ(occurrences(svg, "<polyline"), 2U);
  EXPECT_FALSE(contains(svg, ">auto"));
  EXPECT_TRUE(contains(svg, "allgather, p = 4"));
}

TEST(Plot, RatiosAndNormalisedTimesStandBesideNative) {
  const TemporaryFile file(launch(rows()), "launch");
  const std::string ratio = plotted(file.path + " --kind ratio");
  EXPECT_EQ(xml::ill_formed(ratio), "");
  EXPECT_EQ(occurrences(ratio, "<polyline"), 4U) << "native is the line of the ones";
  EXPECT_EQ(occurrences(ratio, "<line class=\"one\""), 2U);
  const std::string bars = plotted(file.path + " --kind normalised");
  EXPECT_EQ(xml::ill_formed(bars), "");
  EXPECT_EQ(occurrences(bars, "class=\"point\""), 12U);
  EXPECT_EQ(occurrences(bars, "<line class=\"one\""), 2U);
  // Native is not filtered away from what is compared with it.
  EXPECT_EQ(occurrences(plotted(file.path + " --kind normalised -a auto"), "class=\"point\""), 6U);
}

TEST(Plot, LaunchesGiveIntervals) {
  std::vector<std::unique_ptr<TemporaryFile>> files;
  std::string paths;
  for (int i = 0; i < 6; ++i) {
    json some = rows();
    for (json& one : some) one["median_us"] = one["median_us"].get<double>() * (1 + 0.01 * i);
    files.push_back(std::make_unique<TemporaryFile>(launch(some), "launch" + std::to_string(i)));
    paths += files.back()->path + " ";
    if (i != 1) continue;
    EXPECT_TRUE(contains(plotted(paths), "lowest to highest launch")) << "two are too few for confidence";
  }
  for (const std::string kind : {"time", "ratio", "normalised"}) {
    const std::string svg = plotted(paths + "--kind " + kind);
    EXPECT_EQ(xml::ill_formed(svg), "");
    EXPECT_EQ(occurrences(svg, "<path class=\"interval"), occurrences(svg, "class=\"point\"")) << kind;
    EXPECT_TRUE(contains(svg, "6 launches; intervals: 95 % confidence<")) << svg;
  }
}

TEST(Plot, PageHasAllKindsAndTheNumbers) {
  const TemporaryFile file(launch(rows()), "launch");
  const std::string page = plotted(file.path + " --title Here", ".html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(occurrences(page, "<section "), 2U);
  for (const std::string kind : {"time", "ratio", "normalised"}) {
    EXPECT_EQ(occurrences(page, "<figure data-kind=\"" + kind + "\""), 2U);
  }
  EXPECT_EQ(occurrences(page, "<td>5.51</td>"), 2U);
  EXPECT_EQ(occurrences(page, "<script>"), 1U);
  EXPECT_TRUE(contains(page, "default-src 'none'"));
  EXPECT_FALSE(contains(page, " src=")) << "nothing is loaded";
  EXPECT_TRUE(contains(plotted(file.path + " --kind ratio", ".html"), "<body data-kind=\"ratio\">"));
}

TEST(Plot, NamesAreText) {
  json some = rows();
  const std::string hostile =
      "\"><img src=x onerror='alert(1)'></text></script><script>alert(2)</script>&amp;\x01\xef\xbf\xbf";
  some.push_back(row("allreduce", hostile, 4, 8, 7));
  some.back()["served_by"] = hostile + "2";
  const TemporaryFile file(launch(some), "hostile<b>&.json");
  const std::string path = "'" + file.path + "'";
  for (const std::string suffix : {".svg", ".html"}) {
    const std::string text = plotted(path + " --title '</title><script>alert(3)</script>'", suffix);
    EXPECT_FALSE(contains(text, "<img"));
    EXPECT_FALSE(contains(text, "<b>"));
    EXPECT_FALSE(contains(text, "<script>alert"));
    EXPECT_FALSE(contains(text, "\x01") || contains(text, "\xef\xbf\xbf")) << "no characters of XML";
    EXPECT_TRUE(contains(text, "&quot;&gt;&lt;img src=x onerror=&#39;"));
    EXPECT_EQ(suffix == ".svg" ? xml::ill_formed(text) : "", "");
  }
}

TEST(Plot, WithoutNativeThereAreTimesOnly) {
  json some = rows();
  some.push_back(row("bcast", "binomial", 4, 8, 3));
  const TemporaryFile file(launch(some), "lacking");
  for (const std::string kind : {"ratio", "normalised"}) {
    const Outcome outcome = run("plot " + file.path + " -o /dev/null/x.svg --kind " + kind + " 2>&1");
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(contains(outcome.out, file.path + " has no times of native for bcast, p = 4")) << outcome.out;
  }
  EXPECT_EQ(occurrences(plotted(file.path), "class=\"heading\""), 3U);
  const std::string page = plotted(file.path, ".html");
  EXPECT_EQ(occurrences(page, "<figure data-kind=\"time\""), 3U);
  EXPECT_EQ(occurrences(page, "<figure data-kind=\"ratio\""), 2U);
  EXPECT_TRUE(contains(page, "has no times of native here"));
  EXPECT_EQ(occurrences(plotted(file.path + " --kind ratio -c allreduce"), "class=\"heading\""), 1U);
}

TEST(Plot, OddMeasurementsAreDrawn) {
  json some = json::array({row("barrier", "native", 4, 0, 3), row("barrier", "linear", 4, 0, 4)});
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 62}) {
    some.push_back(row("bcast", "native", 2, bytes, 1e300));
    some.push_back(row("bcast", "linear", 2, bytes, 1e-300));
  }
  some.push_back(row("scan", "native", 2, 8, 0));
  some.back()["reps"] = 0;
  const TemporaryFile file(launch(some), "odd");
  for (const std::string kind : {"time", "ratio", "normalised"}) {
    const std::string svg = plotted(file.path + " --kind " + kind);
    EXPECT_EQ(xml::ill_formed(svg), "");
    EXPECT_EQ(occurrences(svg, ">nothing to draw<"), 1U) << "no valid repetition";
    EXPECT_LT(svg.size(), 100000U);
  }
}

TEST(Plot, ManyLongBarsAreCut) {
  json some = rows();
  some.push_back(row("allreduce", "slow", 4, 8, 1000));
  const TemporaryFile file(launch(some), "cut");
  const std::string svg = plotted(file.path + " --kind normalised");
  EXPECT_EQ(occurrences(svg, "<line class=\"break\""), 1U);
  EXPECT_TRUE(contains(svg, ">99.9</text>")) << "the number of what is cut";
}

TEST(Plot, WrongResultsAreSaid) {
  json some = rows();
  some[1]["correct"] = "NO";
  const TemporaryFile file(launch(some), "wrong");
  EXPECT_TRUE(contains(plotted(file.path, ".svg", 1), "Some results were wrong"));
  EXPECT_EQ(occurrences(plotted(file.path, ".html", 1), ">WRONG<"), 1U);
}

TEST(Plot, MisuseIsExplained) {
  const TemporaryFile file(launch(rows()), "launch"), empty("{}", "empty"), none(launch(json::array()), "none");
  const auto expect_misuse = [](const std::string& arguments, std::string_view message) {
    const Outcome outcome = run("plot " + arguments + " 2>&1");
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_TRUE(contains(outcome.out, message)) << arguments << "\n" << outcome.out;
  };
  expect_misuse("", "files is required");
  expect_misuse(file.path, "--output is required");
  expect_misuse(file.path + " -o times.png", "'times.png' ends neither in .svg nor in .html");
  expect_misuse("/no/such/file -o x.svg", "cannot be read");
  expect_misuse(empty.path + " -o x.svg", "this is no circoll-bench --json");
  expect_misuse(none.path + " -o x.svg", "nothing of what is to be drawn has been measured");
  expect_misuse(file.path + " -o x.svg -c bcast", "nothing of what is to be drawn has been measured");
  expect_misuse(file.path + " -o x.svg -c bcost", "'bcost' is no collective (did you mean bcast?)");
  expect_misuse(file.path + " -o x.svg -a ring", "'ring' has not been measured; there are native, auto, linear");
  expect_misuse(file.path + " -o x.svg -k bars", "--kind");
  EXPECT_EQ(run("plot " + file.path + " -o /no/such/directory/x.svg 2>&1").exit_code, 1);
}

}  // namespace
}  // namespace circoll
