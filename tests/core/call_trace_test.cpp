// Traces of calls: what is written is read, and anything else is refused with one sentence.
#include "facts/call_trace.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "circoll/error.hpp"

namespace circoll::trace {
namespace {

RunFacts three_ranks() {
  return {.ranks = 3,
          .cores = 2,
          .clock_error_ns = 1234,
          .program = "a program",
          .mpi = "an MPI",
          .machine = "{\"circoll_machine\": 1}"};
}

Shape allreduce() {
  return {.collective = Collective::allreduce,
          .count = 1000,
          .element_bytes = 8,
          .op = {.exact = false},
          .served = "circulant_pipelined:segments=8"};
}

/// Writes the trace of ranks with the same calls, each by `fill`.
template <typename Fill>
std::string written(const RunFacts& facts, std::size_t most_bytes, const Fill& fill) {
  std::string file;
  FileWriter writer(facts, [&](std::string_view part) { file += part; });
  for (Rank rank = 0; rank < facts.ranks; ++rank) {
    RankWriter calls(testing::TempDir(), most_bytes);
    fill(calls, rank);
    calls.write({.rank = rank, .begin_ns = 10 * rank, .end_ns = 5000 + rank, .clock_rate = 1 + 1e-6},
                [&](std::string_view part) { writer.part(part); });
  }
  writer.finish();
  return file;
}

std::string small_file() {
  return written(three_ranks(), 1 << 20, [](RankWriter& calls, Rank /*rank*/) {
    calls.add_communicator(std::vector<Rank>{0, 1, 2}, 3);
    calls.add_shape(allreduce());
    calls.add_call({.shape = 0, .begin_ns = 100, .end_ns = 250});
  });
}

std::string message_of(const std::string& bytes) {
  try {
    (void)read(bytes, "FILE");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::parse);
    return error.what();
  }
  return "it was read";
}

TEST(CallTrace, IsReadAsItWasWritten) {
  std::vector<Shape> shapes{allreduce()};
  shapes.push_back({.collective = Collective::bcast,
                    .mode = CallMode::nonblocking,
                    .communicator = 1,
                    .count = 3,
                    .root = 1,
                    .served = "native"});
  shapes.push_back({.collective = Collective::barrier,
                    .mode = CallMode::persistent,
                    .communicator = 2,
                    .request = 7,
                    .served = "dissemination"});
  shapes.push_back({.collective = CalledCollective::alltoallw(), .count = Count{1} << 40U, .served = "native"});
  shapes.push_back({.collective = NeighborFunction::alltoallw,
                    .op = {.commutative = false, .idempotent = true, .exact = true, .predefined = false},
                    .served = "direct"});
  std::vector<Call> calls;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const auto shape = static_cast<std::uint32_t>(i % 5);
    calls.push_back({.shape = shape, .begin_ns = 1000 * i - 5, .end_ns = 1000 * i + i % 7});
  }
  // One that began before the last one had returned, as another thread's does.
  calls.push_back({.shape = 0, .begin_ns = 5, .end_ns = 2'000'000});
  const std::string file = written(three_ranks(), 100, [&](RankWriter& to, Rank rank) {
    EXPECT_EQ(to.add_communicator(std::vector<Rank>{0, 1, 2}, 3), 0U);
    EXPECT_EQ(to.add_communicator(std::vector<Rank>{2, rank == 2 ? 0 : rank}, 3), 1U);
    EXPECT_EQ(to.add_communicator(std::vector<Rank>{0, 1, 2}, 3), 2U);
    EXPECT_EQ(to.add_foreign_communicator(), 3U);
    for (const Shape& shape : shapes) to.add_shape(shape);
    for (const Call& call : calls) to.add_call(call);
    EXPECT_EQ(to.dropped(), 0);
  });
  const Trace trace = read(file, "FILE");
  EXPECT_EQ(trace.facts, three_ranks());
  ASSERT_EQ(trace.ranks.size(), 3U);
  for (Rank rank = 0; rank < 3; ++rank) {
    const RankTrace& of = trace.ranks[static_cast<std::size_t>(rank)];
    const RankFacts facts{.rank = rank, .begin_ns = 10 * rank, .end_ns = 5000 + rank, .clock_rate = 1 + 1e-6};
    EXPECT_EQ(of.facts, facts);
    const std::vector<Communicator> communicators{
        {},
        {.kind = Communicator::Kind::some, .members = {2, rank == 2 ? 0 : rank}},
        {.instance = 1},
        {.kind = Communicator::Kind::foreign}};
    EXPECT_EQ(of.communicators, communicators);
    EXPECT_EQ(of.shapes, shapes);
    EXPECT_EQ(of.calls, calls);
  }
}

TEST(CallTrace, TakesFewBytesForAMillionCallsAndLittleMemory) {
  RankWriter calls(testing::TempDir(), std::size_t{1} << 20U);
  calls.add_communicator(std::vector<Rank>{0}, 1);
  calls.add_shape(allreduce());
  constexpr std::int64_t count = 1'000'000;
  for (std::int64_t i = 0; i < count; ++i) {
    // A call of 20 us after a millisecond.
    calls.add_call({.shape = 0, .begin_ns = i * 1'020'000 + i % 1000, .end_ns = i * 1'020'000 + 20'000 + i % 1000});
  }
  EXPECT_LT(calls.bytes(), 12U * count);
  std::string file;
  FileWriter writer({}, [&](std::string_view part) { file += part; });
  std::size_t longest = 0;
  calls.write({}, [&](std::string_view part) {
    longest = std::max(longest, part.size());
    writer.part(part);
  });
  writer.finish();
  EXPECT_LE(longest, std::size_t{1} << 21U);
  const Trace trace = read(file, "FILE");
  ASSERT_EQ(trace.ranks.front().calls.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(trace.ranks.front().calls.back().begin_ns, (count - 1) * 1'020'000 + (count - 1) % 1000);
}

TEST(CallTrace, CountsCallsForWhichThereIsNoPlace) {
  // No file in such a directory, and none in that for temporary files while this limit holds.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4096;
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  RankWriter calls(testing::TempDir(), 1024);
  calls.add_communicator(std::vector<Rank>{0}, 1);
  calls.add_shape(allreduce());
  for (std::int64_t i = 0; i < 10000; ++i) calls.add_call({.shape = 0, .begin_ns = i, .end_ns = i});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  (void)std::signal(SIGXFSZ, handler);
  EXPECT_GT(calls.dropped(), 0);
  std::string file;
  FileWriter writer({}, [&](std::string_view part) { file += part; });
  calls.write({}, [&](std::string_view part) { writer.part(part); });
  writer.finish();
  const RankTrace of = read(file, "FILE").ranks.front();
  EXPECT_EQ(of.facts.dropped, calls.dropped());
  ASSERT_EQ(static_cast<std::int64_t>(of.calls.size()), 10000 - calls.dropped());
  EXPECT_EQ(of.calls.back().begin_ns, static_cast<std::int64_t>(of.calls.size()) - 1);
}

TEST(CallTrace, RefusesOtherFilesInOneSentence) {
  const std::string file = small_file();
  EXPECT_EQ(message_of(file), "it was read");
  EXPECT_EQ(message_of(""), "FILE: this is no trace of CIRCOLL_TRACE=FILE.calls");
  EXPECT_EQ(message_of("{}"), "FILE: this is no trace of CIRCOLL_TRACE=FILE.calls");
  EXPECT_EQ(message_of("circoll-calls 2\n" + file.substr(16)),
            "FILE: the trace has version '2', and this is Circoll for version 1");
  const std::string cut = "FILE: the trace is cut off; was the job ended while it was written?";
  EXPECT_EQ(message_of("circoll-calls "), cut);
  for (std::size_t length = 17; length < file.size(); ++length) EXPECT_EQ(message_of(file.substr(0, length)), cut);
  EXPECT_EQ(message_of(file + "x"), cut);
}

TEST(CallTrace, NoticesEveryChangedByte) {
  const std::string file = small_file();
  for (std::size_t i = 0; i < file.size(); ++i) {
    std::string changed = file;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    EXPECT_NE(message_of(changed), "it was read") << i;
  }
}

TEST(CallTrace, RefusesWrongNumbersWithARightChecksum) {
  // Damage that a checksum does not show: the body is changed, and the checksum is computed anew.
  const auto forged = [](const std::string& records, Rank ranks = 1) {
    std::string file;
    FileWriter writer({.ranks = ranks}, [&](std::string_view part) { file += part; });
    writer.part(records);
    writer.finish();
    return message_of(file);
  };
  const std::string clock("\0\0\0\0\0\0\xf0\x3f", 8);  // 1.0
  const std::string rank = std::string("\0\0\0\0", 4) + clock;
  const std::string end(1, '\0');
  EXPECT_EQ(forged(rank + end), "it was read");
  const std::string damaged = "FILE: the trace is damaged: ";
  EXPECT_EQ(forged(""), damaged + "it ends inside a record");
  EXPECT_EQ(forged(rank + end, 1000), damaged + "the number of ranks is out of range");
  EXPECT_EQ(forged(rank + end, 0), damaged + "it has no ranks");
  EXPECT_EQ(forged(rank + end + end), damaged + "something follows the last rank");
  EXPECT_EQ(forged(rank + "\x03" + end), damaged + "a call has no shape");
  EXPECT_EQ(forged(rank + std::string("\x02\x00\x00", 3) + end), damaged + "a call has no communicator");
  EXPECT_EQ(forged(rank + "\x01\x03" + end), damaged + "the kind of a communicator is out of range");
  EXPECT_EQ(forged(rank + std::string("\x01\x01\x00\x01\x04", 5) + end),
            damaged + "a member of a communicator is out of range");
  EXPECT_EQ(forged(rank + std::string("\x01\x01\x00\x7f", 4) + end),
            damaged + "the number of members of a communicator is out of range");
  EXPECT_EQ(forged(rank + std::string(11, '\xff') + end), damaged + "a number is too long");
  EXPECT_EQ(forged("\x01" + rank.substr(1) + end), damaged + "the ranks do not stand in order");
  EXPECT_EQ(forged(std::string("\0\0\0\0", 4) + std::string(8, '\xff') + end),
            damaged + "the rate of a clock is out of range");
  // A communicator of all ranks, then a shape with root 1 of 1.
  EXPECT_EQ(forged(rank + std::string("\x01\x00\x00\x02\x0a\x00\x00\x01\x08\x0f\x01\x00\x00", 13) + end),
            damaged + "a root is out of range");
  EXPECT_EQ(forged(rank + std::string("\x01\x00\x00\x02\x70", 5) + end), damaged + "a collective is out of range");
}

}  // namespace
}  // namespace circoll::trace
