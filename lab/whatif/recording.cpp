#include "whatif/recording.hpp"

#include <fstream>
#include <iterator>

#include "circoll/error.hpp"
#include "measured/file_kind.hpp"

namespace circoll::whatif {

trace::Trace read_recording(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::invalid_argument, "the file '" + path + "' cannot be read");
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw Error(ErrorCode::invalid_argument, "the file '" + path + "' cannot be read");
  try {
    measured::require_kind(bytes, path, {measured::FileKind::calls});
  } catch (const Error& error) {
    throw Error(error.code(), std::string(error.what()) + "; circoll whatif plays traces of CIRCOLL_TRACE=FILE.calls");
  }
  return trace::read(bytes, path);
}

}  // namespace circoll::whatif
