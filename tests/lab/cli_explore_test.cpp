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

TEST(CliExplore, RefusesWhatIsNoPlace) {
  for (const char* const wrong : {"allreduce/rong", "allreduce/ring --root 1", "bcast/binomial -p 4 --root 4",
                                  "--root 1", "allgather/ring:segment=64"}) {
    EXPECT_EQ(explored(wrong), "") << wrong;
  }
}

TEST(CliExplore, SaysWhatBuildsThePage) {
  const TemporaryFile other("<html></html>", "_other.html");
  const CommandResult outcome = run("explore --page " + other.path + " 2>&1");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(contains(outcome.out, "is no page of the explorer")) << outcome.out;
  EXPECT_TRUE(contains(run("explore --help").out, "Examples:\n  circoll explore\n"));
}

}  // namespace
}  // namespace circoll
