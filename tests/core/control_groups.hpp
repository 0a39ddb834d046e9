// Files as control groups have them, for tests.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "exec/node/limits.hpp"
#include "gtest/gtest.h"

namespace circoll::node {

/// A test with a directory of such files, which ends with it.
class ControlGroupsTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  [[nodiscard]] ControlGroupFiles files() const { return {.membership = root_ + "/membership", .mount = root_}; }

  std::string root_ = testing::TempDir() + "/circoll_groups_" + std::to_string(getpid());
};

}  // namespace circoll::node
