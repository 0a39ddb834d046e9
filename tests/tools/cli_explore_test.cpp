// circoll explore, from outside: a page is written, with its place in it.
#include <gtest/gtest.h>

#include <string>

#include "support/command.hpp"

namespace circoll {
namespace {

const std::string slot = R"(<meta name="circoll-place" content="">)";

/// The page that the command makes from a small page; empty if it refuses.
std::string explored(const std::string& arguments) {
  const TemporaryFile built("<html>" + slot + "</html>", "_built.html");
  const TemporaryFile page("", "_page.html");
  const CommandResult outcome = run("explore " + arguments + " --page " + built.path + " -o " + page.path + " 2>&1");
  EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 2) << outcome.out;
  return content(page.path);
}

TEST(CliExplore, WritesThePageAtAPlace) {
  EXPECT_EQ(explored(""), "<html>" + slot + "</html>");
  EXPECT_EQ(explored("allreduce/ring -p 1Ki"),
            R"(<html><meta name="circoll-place" content="id=allreduce/ring&amp;p=1024"></html>)");
  EXPECT_EQ(explored("bcast/circulant_pipelined:segments=4 -p 20 --root 3 --in-place"),
            R"(<html><meta name="circoll-place" content="id=bcast/circulant_pipelined:segments=4)"
            R"(&amp;p=20&amp;root=3&amp;inPlace=true"></html>)");
}

TEST(CliExplore, OpensAFileOfSchedules) {
  const TemporaryFile file(run("show allgather/ring -p 2 --format json").out, "_own.json");
  const TemporaryFile built(R"(<meta name="circoll-place" content=""><meta name="circoll-schedules" content="">)",
                            ".html");
  const TemporaryFile page("", "_page.html");
  const std::string files = " --page " + built.path + " -o " + page.path + " 2>&1";
  EXPECT_EQ(run("explore " + file.path + files).exit_code, 0);
  EXPECT_TRUE(contains(content(page.path), R"(content="[
{)")) << content(page.path);
  EXPECT_TRUE(contains(content(page.path), "&quot;id&quot;: &quot;allgather/ring&quot;")) << content(page.path);
  EXPECT_EQ(run("explore " + file.path + " -p 2" + files).exit_code, 2);
  EXPECT_EQ(explored(file.path), "") << "that page takes no schedules";
}

TEST(CliExplore, RefusesWhatIsNoPlace) {
  for (const char* const wrong : {"allreduce/rong", "allreduce/ring --root 1", "bcast/binomial -p 4 --root 4",
                                  "--root 1", "allgather/ring:segment=64"}) {
    EXPECT_EQ(explored(wrong), "") << wrong;
  }
}

TEST(CliExplore, FindsThePageThatComesWithTheSources) {
  const TemporaryFile page("", "_page.html");
  const CommandResult outcome = run("explore allgather/ring -p 5 -o " + page.path + " 2>&1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  const std::string text = content(page.path);
  EXPECT_TRUE(contains(text, R"(<meta name="circoll-place" content="id=allgather/ring&amp;p=5">)"));
  EXPECT_TRUE(contains(text, R"(<script type="text/plain" id="wasm">)"));
}

TEST(CliExplore, RefusesAFileThatIsNoPage) {
  const TemporaryFile other("<html></html>", "_other.html");
  const CommandResult outcome = run("explore --page " + other.path + " 2>&1");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(contains(outcome.out, "is no page of the explorer")) << outcome.out;
  EXPECT_TRUE(contains(run("explore --help").out, "Examples:\n  circoll explore\n"));
}

}  // namespace
}  // namespace circoll
