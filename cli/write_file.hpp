// Files that commands write.
#pragma once

#include <fstream>
#include <string>

#include "circoll/error.hpp"

namespace circoll::cli {

/// Throws Error(invalid_argument) if it can not be written.
inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  if (!(file << text) || !file.flush()) {
    throw Error(ErrorCode::invalid_argument, "the file " + path + " can not be written");
  }
}

}  // namespace circoll::cli
