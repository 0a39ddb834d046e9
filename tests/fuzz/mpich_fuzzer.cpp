// Any bytes are read as a tuning file of MPICH, with warnings and never with an error. As the base of an export they
// are either refused or good.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "circoll/error.hpp"
#include "foreign/foreign.hpp"

namespace {

using namespace circoll;
using namespace circoll::foreign;

void decide_all(const TuningFile& file) {
  for (std::size_t c = 0; c < collective_count; ++c) {
    for (const Rank nodes : {1, 3, 8}) {
      const Call call{.collective = static_cast<Collective>(c), .ranks = 8, .nodes = nodes, .bytes = 4096};
      const ForeignDecision verdict = file.decide(call);
      if (verdict.algorithm.empty() && verdict.notes.empty()) std::abort();
      if (file.rejected() && !verdict.algorithm.empty()) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr std::string_view ids[] = {"mpich-4.0", "mpich-4.1", "mpich-4.2", "mpich-4.3", "mpich-5.0"};
  const Reader& reader = find_reader(ids[data[0] % 5]);
  const auto file = read(text, "f.json", reader);
  if (file->rejected() && file->warnings().empty()) std::abort();
  decide_all(*file);
  const Rule rule{.collective = Collective::bcast, .ranks = {2, 8}, .bytes = {100, 200}, .algorithm = "binomial"};
  try {
    const Exported exported = export_rules({&rule, 1}, reader, {.base = std::string(text)});
    decide_all(*read(exported.files.front().text, "g.json", reader));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;  // the export does not say what the rules mean
  }
  return 0;
}
