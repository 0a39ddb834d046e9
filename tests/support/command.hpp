// Running the circoll binary: for tests that have CIRCOLL_CLI.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace circoll {

struct CommandResult {
  int exit_code = -1;
  std::string out;  ///< standard output; with 2>&1 in the arguments also standard error
};

inline CommandResult run(const std::string& arguments) {
  CommandResult outcome;
  std::FILE* pipe = popen((std::string(CIRCOLL_CLI) + " " + arguments).c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) outcome.out.append(buffer, n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

inline bool contains(const std::string& text, std::string_view what) { return text.find(what) != text.npos; }

inline std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A file that is removed in the end.
struct TemporaryFile {
  explicit TemporaryFile(const std::string& text, const std::string& name)
      : path(testing::TempDir() + "circoll_test_" + std::to_string(getpid()) + name) {
    std::ofstream(path) << text;
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path;
};

}  // namespace circoll
