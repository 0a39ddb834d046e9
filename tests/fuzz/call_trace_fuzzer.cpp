// Any bytes are a trace of calls whose numbers fit together, or an error in one sentence. The bytes are read as a file,
// and as the body of a file with a right checksum.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "circoll/error.hpp"
#include "facts/call_trace.hpp"

namespace {

using namespace circoll;

bool fits(const trace::Trace& trace, const trace::RankTrace& rank) {
  for (const trace::Communicator& communicator : rank.communicators) {
    for (const Rank member : communicator.members) {
      if (member < 0 || member >= trace.facts.ranks) return false;
    }
  }
  for (const trace::Shape& shape : rank.shapes) {
    if (shape.communicator >= rank.communicators.size() || shape.bytes() < 0 || shape.root < 0) return false;
    if (to_string(shape.collective).empty() || to_string(shape.mode).empty()) return false;
  }
  for (const trace::Call& call : rank.calls) {
    if (call.shape >= rank.shapes.size() || call.end_ns < call.begin_ns) return false;
  }
  return true;
}

void read(std::string_view bytes) {
  try {
    const trace::Trace trace = trace::read(bytes, "file");
    if (static_cast<Rank>(trace.ranks.size()) != trace.facts.ranks || trace.facts.cores < 1) std::abort();
    for (const trace::RankTrace& rank : trace.ranks) {
      if (!fits(trace, rank)) std::abort();
    }
  } catch (const Error& error) {
    const std::string_view what = error.what();
    if (error.code() != ErrorCode::parse || !what.starts_with("file: ") || what.find('\n') != what.npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  read(input);
  for (const Rank ranks : {1, 3}) {
    std::string file;
    trace::FileWriter writer({.ranks = ranks}, [&](std::string_view part) { file += part; });
    writer.part(input);
    writer.finish();
    read(file);
  }
  return 0;
}
