// Records of calls: what is written is read, and what is damaged is refused with a sentence.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "record/process.hpp"
#include "record/reader.hpp"
#include "record/symbols.hpp"
#include "record/writer.hpp"

namespace circoll::record {
namespace {

namespace fs = std::filesystem;

/// A directory of its own, which goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "circoll_record_XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() {
    (void)chmod(path_.c_str(), 0700);
    fs::remove_all(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::unique_ptr<Writer> make(const std::string& path, Facts facts = {.rank = 1, .size = 4, .job = 77}) {
  std::string why_not;
  auto writer = Writer::create(path, facts, &why_not);
  EXPECT_NE(writer, nullptr) << why_not;
  return writer;
}

std::vector<std::byte> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::byte> bytes;
  for (std::istreambuf_iterator<char> it(file), end; it != end; ++it) bytes.push_back(static_cast<std::byte>(*it));
  return bytes;
}

ReadRecord parsed(const std::vector<std::byte>& bytes) { return parse_record(bytes, bytes, bytes); }

Begun allreduce(std::uint64_t number) {
  return {.number = number,
          .bytes = 8 * static_cast<std::int64_t>(number),
          .collective = static_cast<std::uint8_t>(Collective::allreduce),
          .type = static_cast<std::uint8_t>(Type::float64),
          .op = static_cast<std::uint8_t>(Op::sum)};
}

TEST(Record, WhatIsWrittenIsRead) {
  const Folder folder;
  const auto writer = make(folder.file("a"), {.rank = 1, .size = 4, .job = 77, .mpi = "Open MPI", .program = "solver"});
  const std::vector<int> members{0, 2, 3};
  writer->describe(5, 1234, 3, 2, members, "rows", false);
  const std::uint64_t first = writer->begin(allreduce(1));
  writer->end(first, writer->name("allreduce/ring"));
  const std::uint64_t second = writer->begin(
      {.comm = 1234, .number = 1, .bytes = 40, .root = 2, .collective = static_cast<std::uint8_t>(Collective::bcast)});
  const std::vector<Rank> peers{2};
  writer->note_wait(peers, 3);

  const ReadRecord record = read_record(folder.file("a"));
  ASSERT_EQ(record.complaint, "");
  EXPECT_EQ(record.pid, getpid());
  EXPECT_EQ(record.process_start, process_start(getpid()));
  EXPECT_EQ(record.rank, 1);
  EXPECT_EQ(record.size, 4);
  EXPECT_EQ(record.job, 77U);
  EXPECT_EQ(record.mpi, "Open MPI");
  EXPECT_EQ(record.program, "solver");
  EXPECT_EQ(record.host, host_name());
  EXPECT_EQ(record.phase, Phase::running);
  EXPECT_EQ(record.torn, 0U);
  ASSERT_EQ(record.calls.size(), 2U);
  EXPECT_EQ(record.calls[0].sequence, first);
  EXPECT_EQ(record.calls[0].collective, Collective::allreduce);
  EXPECT_EQ(record.calls[0].type, Type::float64);
  EXPECT_EQ(record.calls[0].op, Op::sum);
  EXPECT_EQ(record.calls[0].bytes, 8);
  EXPECT_EQ(record.calls[0].algorithm, "allreduce/ring");
  EXPECT_EQ(record.calls[0].root, std::nullopt);
  EXPECT_GT(record.calls[0].end_ns, 0);
  EXPECT_FALSE(record.calls[0].blocks());
  EXPECT_TRUE(record.calls[1].blocks());
  EXPECT_EQ(record.calls[1].root, 2);
  EXPECT_EQ(record.calls[1].algorithm, "");
  const ReadComm* const comm = record.comm(1234);
  ASSERT_NE(comm, nullptr);
  EXPECT_EQ(comm->name, "rows");
  EXPECT_EQ(comm->rank_of(2), 1);
  EXPECT_EQ(comm->rank_of(1), std::nullopt);
  EXPECT_EQ(comm->world_rank(2), 3);
  EXPECT_EQ(comm->world_rank(3), std::nullopt);
  ASSERT_TRUE(record.wait);
  EXPECT_EQ(record.wait->call, second);
  EXPECT_EQ(record.wait->ranks, peers);
  EXPECT_EQ(record.wait->message, 3U);
}

TEST(Record, TheRingHasTheLastCallsInOrder) {
  const Folder folder;
  const auto writer = make(folder.file("a"));
  for (std::uint64_t i = 1; i <= 1000; ++i) writer->end(writer->begin(allreduce(i)), native_name);
  const ReadRecord record = read_record(folder.file("a"));
  ASSERT_EQ(record.calls.size(), ring_calls);
  EXPECT_EQ(record.begun, 1000U);
  for (std::size_t i = 0; i < ring_calls; ++i) {
    EXPECT_EQ(record.calls[i].number, 1000 - ring_calls + 1 + i);
    EXPECT_EQ(record.calls[i].algorithm, "native");
  }
}

TEST(Record, TheEndOfACallThatLostItsEntryIsNobodys) {
  const Folder folder;
  const auto writer = make(folder.file("a"));
  const std::uint64_t lost = writer->begin(allreduce(1));
  for (std::uint64_t i = 2; i <= 1 + ring_calls; ++i) (void)writer->begin(allreduce(i));
  writer->end(lost, native_name, failed_call);
  for (const ReadCall& call : read_record(folder.file("a")).calls) {
    EXPECT_EQ(call.end_ns, 0);
    EXPECT_FALSE(call.failed);
  }
}

TEST(Record, ThreadsShareTheRing) {
  const Folder folder;
  const auto writer = make(folder.file("a"), {.size = 1});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) writer->end(writer->begin(allreduce(1)), native_name);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const ReadRecord record = read_record(folder.file("a"));
  EXPECT_EQ(record.begun, 4000U);
  std::set<std::uint64_t> sequences;
  for (const ReadCall& call : record.calls) sequences.insert(call.sequence);
  EXPECT_EQ(sequences.size(), ring_calls);
}

/// A writer that is interrupted anywhere must never leave a whole entry of two calls. The calls here have numbers that
/// agree with one another, and a reader looks all the time.
TEST(Record, AReaderThatRacesWithTheWriterSeesWholeCalls) {
  const Folder folder;
  const auto writer = make(folder.file("a"));
  std::atomic<bool> over{false};
  std::thread writes([&] {
    for (std::uint64_t i = 1; !over; ++i) {
      Begun call = allreduce(i);
      call.comm = 2 + i * 3;
      call.root = static_cast<std::int32_t>(i % 1000);
      writer->end(writer->begin(call), native_name);
    }
  });
  std::size_t seen = 0;
  for (int i = 0; i < 2000; ++i) {
    for (const ReadCall& call : read_record(folder.file("a")).calls) {
      ++seen;
      ASSERT_EQ(call.number, call.sequence);
      ASSERT_EQ(call.comm, 2 + call.number * 3);
      ASSERT_EQ(call.bytes, static_cast<Count>(call.number * 8));
      ASSERT_EQ(call.root, static_cast<Rank>(call.number % 1000));
    }
  }
  over = true;
  writes.join();
  EXPECT_GT(seen, 0U);
}

TEST(Record, AnEntryIsTakenOnlyIfItsNumberIsTheSameBeforeAndAfter) {
  const Folder folder;
  const auto writer = make(folder.file("a"));
  const std::uint64_t sequence = writer->begin(allreduce(1));
  const std::vector<std::byte> old = bytes_of(folder.file("a"));
  for (std::uint64_t i = 0; i < ring_calls; ++i) (void)writer->begin(allreduce(100 + i));
  const std::vector<std::byte> now = bytes_of(folder.file("a"));
  const auto has_first = [&](const ReadRecord& record) {
    return std::ranges::any_of(record.calls, [&](const ReadCall& call) { return call.sequence == sequence; });
  };
  EXPECT_TRUE(has_first(parse_record(old, old, old)));
  EXPECT_FALSE(has_first(parse_record(old, old, now)));
  EXPECT_FALSE(has_first(parse_record(old, now, now)));
}

TEST(Record, AProcessThatDiesWhileItWritesLeavesATornEntry) {
  const Folder folder;
  const auto writer = make(folder.file("a"));
  writer->end(writer->begin(allreduce(1)), native_name);
  (void)writer->begin(allreduce(2));
  std::vector<std::byte> bytes = bytes_of(folder.file("a"));
  const std::uint64_t none = 0;
  std::memcpy(bytes.data() + offsetof(Record, calls) + 2 * sizeof(Call), &none, sizeof none);
  const ReadRecord record = parsed(bytes);
  EXPECT_EQ(record.complaint, "");
  EXPECT_EQ(record.calls.size(), 1U);
  EXPECT_EQ(record.torn, 1U);
}

TEST(Record, DamagedRecordsAreRefusedWithASentence) {
  const Folder folder;
  const auto writer = make(folder.file("a"));
  const std::vector<std::byte> whole = bytes_of(folder.file("a"));
  ASSERT_EQ(parsed(whole).complaint, "");
  const auto complaint = [&](std::size_t offset, std::uint32_t value) {
    std::vector<std::byte> bytes = whole;
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    return parsed(bytes).complaint;
  };
  EXPECT_EQ(complaint(offsetof(Head, magic), 1), "it is no record of Circoll");
  EXPECT_NE(complaint(offsetof(Head, version), 9).find("it has version 9 of the layout"), std::string::npos);
  EXPECT_NE(complaint(offsetof(Head, bytes), 9).find("damaged"), std::string::npos);
  EXPECT_NE(complaint(offsetof(Head, rank), 4).find("damaged"), std::string::npos);
  EXPECT_NE(complaint(offsetof(Head, size), 0).find("damaged"), std::string::npos);
  EXPECT_NE(complaint(offsetof(Record, phase), 0).find("damaged"), std::string::npos);
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, sizeof(Head) - 1})
    EXPECT_NE(parsed({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}).complaint.find("too few"),
              std::string::npos);
  EXPECT_NE(parsed({whole.begin(), whole.end() - 1}).complaint.find("cut short"), std::string::npos);
  EXPECT_NE(parsed(std::vector<std::byte>(sizeof(Record))).complaint.find("empty so far"), std::string::npos);
  EXPECT_NE(read_record(folder.file("none")).complaint.find("cannot be read: No such file"), std::string::npos);
  EXPECT_NE(read_record(folder.path()).complaint.find("no file"), std::string::npos);
}

TEST(Record, DamagedEntriesAreLeftOut) {
  const Folder folder;
  const auto writer = make(folder.file("a"));
  for (std::uint64_t i = 1; i <= 3; ++i) (void)writer->begin(allreduce(i));
  const std::vector<int> members{0, 1};
  writer->describe(3, 99, 2, 0, members, "", false);
  std::vector<std::byte> bytes = bytes_of(folder.file("a"));
  bytes[offsetof(Record, calls) + 2 * sizeof(Call) + offsetof(Call, collective)] = std::byte{200};
  bytes[offsetof(Record, comms) + 3 * sizeof(CommPlace) + offsetof(CommPlace, runs)] = std::byte{100};
  const ReadRecord record = parsed(bytes);
  EXPECT_EQ(record.complaint, "");
  EXPECT_EQ(record.calls.size(), 2U);
  EXPECT_EQ(record.torn, 1U);
  EXPECT_EQ(record.comm(99), nullptr);
}

TEST(Record, ManyNamesAndManyRunsOfMembersDoNotFit) {
  const Folder folder;
  const auto writer = make(folder.file("a"));
  std::uint16_t last = 0;
  for (std::size_t i = 1; i < name_places; ++i) last = writer->name("allreduce/a" + std::to_string(i));
  EXPECT_EQ(last, name_places - 1);
  EXPECT_EQ(writer->name("allreduce/one_more"), unknown_name);
  EXPECT_EQ(writer->name("allreduce/a1"), 1);
  EXPECT_EQ(writer->name("native"), native_name);
  const std::vector<int> scattered{0, 1, 3, 7, 8, 20, 21, 40, 41, 90, 91, 300, 301, 777};
  writer->describe(1, 5, static_cast<int>(scattered.size()), 0, scattered, "", false);
  const ReadRecord record = read_record(folder.file("a"));
  ASSERT_NE(record.comm(5), nullptr);
  EXPECT_TRUE(record.comm(5)->members.empty());
  EXPECT_EQ(record.comm(5)->size, 14);
}

TEST(Record, EveryThirdRankIsOneRun) {
  const Folder folder;
  const auto writer = make(folder.file("a"), {.size = 100000});
  std::vector<int> members;
  for (int i = 99999; i >= 0; i -= 3) members.push_back(i);
  writer->describe(1, 5, static_cast<int>(members.size()), 0, members, "", false);
  const ReadRecord record = read_record(folder.file("a"));
  const ReadComm* const comm = record.comm(5);
  ASSERT_NE(comm, nullptr);
  EXPECT_EQ(comm->members.size(), 1U);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, members.size() - 1}) {
    EXPECT_EQ(comm->rank_of(members[i]), static_cast<Rank>(i));
    EXPECT_EQ(comm->world_rank(static_cast<Rank>(i)), members[i]);
  }
  EXPECT_EQ(comm->rank_of(1), std::nullopt);
}

TEST(Record, ADirectoryThatCannotBeWrittenIsASentence) {
  std::string why_not;
  EXPECT_EQ(Writer::create("/nonexistent_circoll/a", {}, &why_not), nullptr);
  EXPECT_EQ(why_not, "'/nonexistent_circoll/a' cannot be made: No such file or directory");
  EXPECT_EQ(Writer::create("/proc/circoll_a", {}, &why_not), nullptr);  // read-only for root, too
  EXPECT_NE(why_not.find("cannot be made"), std::string::npos);
}

TEST(Record, ALimitOnTheSizeOfFilesIsASentence) {
  // The kernel would send SIGXFSZ, whose default ends the process.
  const Folder folder;
  const pid_t child = fork();
  if (child == 0) {
    const rlimit small{.rlim_cur = 4096, .rlim_max = 4096};
    (void)setrlimit(RLIMIT_FSIZE, &small);
    std::string why_not;
    const bool refused = Writer::create(folder.file("a"), {}, &why_not) == nullptr;
    const bool left = access(folder.file("a").c_str(), F_OK) == 0;
    _exit(refused && !left && why_not.find("ulimit -f") != std::string::npos ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

/// The refusal of a record in a file system of its own with these options. "skipped" where none may be mounted.
std::string refusal_in(const char* options, unsigned long flags) {
  const Folder folder;
  std::array<int, 2> pipes{};
  if (pipe(pipes.data()) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    std::string why_not = "skipped";
    const bool apart = unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
    if (apart && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        mount("tmpfs", folder.path().c_str(), "tmpfs", flags, options) == 0) {
      if (Writer::create(folder.file("a"), {}, &why_not) != nullptr) why_not = "written";
      if (access(folder.file("a").c_str(), F_OK) == 0) why_not += ", and a file is left";
    }
    _exit(write(pipes[1], why_not.data(), why_not.size()) > 0 ? 0 : 1);
  }
  (void)close(pipes[1]);
  std::array<char, 1000> text{};
  const ssize_t length = read(pipes[0], text.data(), text.size());
  (void)close(pipes[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : "killed";
}

TEST(Record, AFullDiskIsASentence) {
  const std::string refusal = refusal_in("size=8k", 0);
  if (refusal == "skipped") GTEST_SKIP() << "no file system may be mounted";
  EXPECT_NE(refusal.find("' has no room: No space left on device"), std::string::npos) << refusal;
  EXPECT_EQ(refusal.find("a file is left"), std::string::npos) << refusal;
}

TEST(Record, AReadOnlyDirectoryIsASentence) {
  const std::string refusal = refusal_in("size=1m", MS_RDONLY);
  if (refusal == "skipped") GTEST_SKIP() << "no file system may be mounted";
  EXPECT_NE(refusal.find("' cannot be made: Read-only file system"), std::string::npos) << refusal;
}

TEST(Record, OutlivesItsProcess) {
  const Folder folder;
  const pid_t child = fork();
  if (child == 0) {
    std::string why_not;
    const auto writer = Writer::create(folder.file("a"), {.rank = 2, .size = 3}, &why_not);
    if (writer == nullptr) _exit(1);
    (void)writer->begin(allreduce(1));
    (void)raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const ReadRecord record = read_record(folder.file("a"));
  EXPECT_EQ(record.complaint, "");
  ASSERT_EQ(record.calls.size(), 1U);
  EXPECT_TRUE(record.calls[0].blocks());
  EXPECT_EQ(look_at(static_cast<pid_t>(record.pid), record.process_start).state, ProcessState::gone);
}

TEST(Record, OldJobsGoAndLivingOnesStay) {
  const Folder folder;
  for (std::uint64_t job = 1; job <= 5; ++job) {
    const pid_t child = fork();
    if (child == 0) {
      std::string why_not;
      const auto writer = Writer::create(folder.file(record_name(job, 0)), {.job = job}, &why_not);
      _exit(writer == nullptr ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
  }
  const auto alive = make(folder.file(record_name(9, 0)), {.job = 9});
  std::ofstream(folder.file("circoll-other.record")) << "no record";
  remove_stale(folder.path(), 2);
  std::vector<std::string> names;
  for (const std::string& path : records_in(folder.path())) names.push_back(fs::path(path).filename());
  EXPECT_EQ(names, (std::vector<std::string>{record_name(4, 0), record_name(5, 0), record_name(9, 0),
                                             "circoll-other.record"}));
  EXPECT_THROW((void)records_in(folder.file("none")), std::runtime_error);
}

TEST(Record, StatesOfProcessesAreReadFromStat) {
  const auto sight =
      sight_from_stat("12 (a) b) (c) T 11 12 12 0 -1 4194560 1 0 0 0 70 30 0 0 20 0 1 0 5555 1 1 18446744073709551615");
  ASSERT_TRUE(sight);
  EXPECT_EQ(sight->state, ProcessState::stopped);
  EXPECT_EQ(sight->parent, 11);
  EXPECT_EQ(sight->cpu_ticks, 100U);
  EXPECT_EQ(sight->start, 5555U);
  EXPECT_FALSE(sight_from_stat(""));
  EXPECT_FALSE(sight_from_stat("12 (a) T 1 2"));
  EXPECT_EQ(look_at(getpid(), process_start(getpid()) + 1).state, ProcessState::gone);
  EXPECT_EQ(look_at(getpid(), process_start(getpid())).state, ProcessState::running);
  EXPECT_EQ(look_at(0, 0).state, ProcessState::gone);
}

TEST(Record, AStoppedProcessIsSeen) {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  (void)kill(child, SIGSTOP);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT_EQ(look_at(child, 0).state, ProcessState::stopped);
  (void)kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(look_at(child, 0).state, ProcessState::gone);
}

TEST(Record, ASignalThatIsCaughtIsKnown) {
  EXPECT_FALSE(catches(getpid(), SIGUSR2));
  struct sigaction action {};
  action.sa_handler = [](int) {};
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGUSR2, &action, &before), 0);
  EXPECT_TRUE(catches(getpid(), SIGUSR2));
  (void)sigaction(SIGUSR2, &before, nullptr);
  EXPECT_FALSE(catches(getpid(), 0));
  EXPECT_FALSE(catches(getpid(), 65));
}

TEST(Record, AddressesHaveNames) {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&fclose)) + 1;
  const std::vector<std::uint64_t> addresses{address, 16};
  const std::vector<std::string> names = symbols_at(getpid(), addresses);
  ASSERT_EQ(names.size(), 2U);
  EXPECT_NE(names[0].find("fclose"), std::string::npos) << names[0];
  EXPECT_NE(names[0].find("+0x1 ("), std::string::npos) << names[0];
  EXPECT_EQ(names[1], "0x10");
}

}  // namespace
}  // namespace circoll::record
