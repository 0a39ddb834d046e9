// Any bytes are a record or are refused with a sentence. A job of two such records can be judged and shown.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "record/diagnosis.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace circoll::record;
  const auto bytes = std::as_bytes(std::span(data, size));
  ReadRecord record = parse_record(bytes, bytes, bytes);
  if (!record.complaint.empty()) return 0;
  if (record.calls.size() > ring_calls || record.rank >= record.size) std::abort();
  SeenJob job{.id = record.job, .size = 2};
  for (int rank = 0; rank < 2; ++rank) {
    job.ranks.push_back({.record = record, .state = ProcessState::running});
    job.ranks.back().record.rank = rank;
  }
  const Verdict verdict = judge(job);
  if (verdict.sentence.empty() || text_of(job, verdict).empty()) std::abort();
  return 0;
}
