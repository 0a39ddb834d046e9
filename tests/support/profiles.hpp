// Profiles and directories of them, for tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "select/profile.hpp"

namespace circoll {

inline const select::ProfileKey here{.library = "Open MPI 4.1.4", .processor = "AMD EPYC"};

/// A profile of two ranks, in which an allreduce uses `use`.
inline std::string profile_text(const select::ProfileKey& key = here, const std::string& use = "ring") {
  return R"({
  "circoll_rules": 1,
  "profile": {
    "version": 1,
    "library": ")" +
         key.library + R"(",
    "processor": ")" +
         key.processor + R"(",
    "measured": [
      {"ranks": 2, "processors": 2, "launches": 5, "circoll": "0.1", "date": "2026-01-02", "host": "n1"}
    ]
  },
  "allreduce": [
    {"op": "commutative", "p": [2, 3], "nodes": [1, 2], "bytes": [0, 1024], "use": ")" +
         use + R"("},
    {"op": "exact", "p": [2, 3], "nodes": [1, 2], "bytes": [1024, 4096], "use": "native"},
    {"op": "inexact", "p": [2, 3], "nodes": [1, 2], "bytes": [1024, 4096], "use": "native"},
    {"otherwise": "auto"}
  ]
}
)";
}

/// A directory that is removed in the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = testing::TempDir() + "circoll_profiles_XXXXXX";
    path_ = mkdtemp(name.data()) == nullptr ? "" : name;
    EXPECT_FALSE(path_.empty());
  }
  ~TemporaryDirectory() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Writes a file below it.
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file.string();
  }

 private:
  std::string path_;
};

/// A variable that has another value for a while.
class Variable {
 public:
  Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      setenv(name_, value->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> before_{};
};

}  // namespace circoll
