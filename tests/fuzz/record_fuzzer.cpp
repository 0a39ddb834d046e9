// Any bytes are a record or are refused with a sentence. So is a record in which some bytes have been replaced: the
// input has three bytes for each, its place and its value. A job of two such records can be judged and shown.
#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "record/diagnosis.hpp"
#include "record/writer.hpp"

namespace {

using namespace circoll::record;

/// The bytes of a record that has something of everything.
std::vector<std::byte> whole_record() {
  std::string path = "/tmp/circoll_record_fuzzer_XXXXXX";
  (void)close(mkstemp(path.data()));
  std::string why_not;
  const auto writer = Writer::create(path, {.rank = 1, .size = 2, .job = 7, .mpi = "An MPI", .program = "a"}, &why_not);
  if (writer == nullptr) std::abort();
  const std::vector<int> members{0, 1};
  writer->describe(0, world_id, 2, 1, members, "world", false);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const std::uint64_t call = writer->begin({.number = i, .bytes = 8, .root = 0, .collective = 4, .type = 3, .op = 0});
    if (i < 3) writer->end(call, writer->name("bcast/knomial"));
  }
  const std::vector<circoll::Rank> peers{0};
  writer->note_wait(peers, 1);
  writer->stack().depth = 2;
  writer->stack().taken = 1;
  std::vector<std::byte> bytes(sizeof(Record));
  std::memcpy(bytes.data(), static_cast<const void*>(&writer->record()), bytes.size());
  writer->remove();
  return bytes;
}

void judge_record(std::span<const std::byte> bytes) {
  ReadRecord record = parse_record(bytes, bytes, bytes);
  if (!record.complaint.empty()) return;
  if (record.calls.size() > ring_calls || record.rank >= record.size) std::abort();
  SeenJob job{.id = record.job, .size = 2};
  for (int rank = 0; rank < 2; ++rank) {
    job.ranks.push_back({.record = record, .state = ProcessState::running});
    job.ranks.back().record.rank = rank;
  }
  const Diagnosis verdict = judge(job);
  if (verdict.sentence.empty() || text_of(job, verdict).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::byte> whole = whole_record();
  judge_record(std::as_bytes(std::span(data, size)));
  std::vector<std::byte> patched = whole;
  for (std::size_t i = 0; i + 2 < size; i += 3) {
    const std::size_t place = data[i] + 256U * data[i + 1];
    if (place < patched.size()) patched[place] = std::byte{data[i + 2]};
  }
  judge_record(patched);
  return 0;
}
