// circoll hang, on records that the test writes for processes of its own.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "record/process.hpp"
#include "record/writer.hpp"
#include "support/command.hpp"
#include "support/profiles.hpp"

namespace circoll {
namespace {

/// A process that writes a record, makes its calls, and waits until it is ended.
class Rank {
 public:
  Rank(const std::string& directory, int rank, int size, std::uint64_t job, int barriers) {
    int ready[2] = {-1, -1};
    if (pipe(ready) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      std::string why_not;
      auto writer = record::Writer::create(
          directory + "/" + record::record_name(job, rank),
          {.rank = rank, .size = size, .job = job, .mpi = "An MPI", .program = "made_up"}, &why_not);
      if (writer == nullptr) _exit(1);
      for (int i = 1; i <= barriers; ++i) {
        const std::uint64_t call = writer->begin(
            {.number = static_cast<std::uint64_t>(i), .collective = static_cast<std::uint8_t>(Collective::barrier)});
        if (i < barriers) writer->end(call, record::native_name);
      }
      // The last one ends where the rank is not one that waits.
      if (barriers == 1) writer->end(1, record::native_name);
      (void)!write(ready[1], "x", 1);
      for (;;) pause();
    }
    char made = 0;
    (void)!read(ready[0], &made, 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
  }
  ~Rank() { end(); }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  void end() {
    if (pid_ <= 0) return;
    (void)kill(pid_, SIGKILL);
    int status = 0;
    (void)waitpid(pid_, &status, 0);
    pid_ = -1;
  }
  void stop() const {
    (void)kill(pid_, SIGSTOP);
    int status = 0;
    (void)waitpid(pid_, &status, WUNTRACED);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

class CliHang : public testing::Test {
 protected:
  /// Ranks 0 and 2 are in their second barrier, and rank 1 has ended the first.
  void begin(std::uint64_t job = 1) {
    for (int rank = 0; rank < 3; ++rank)
      ranks_.push_back(std::make_unique<Rank>(folder_.path(), rank, 3, job, rank == 1 ? 1 : 2));
  }
  [[nodiscard]] CommandResult hang(const std::string& options) const {
    return run("hang " + folder_.path() + " --pause 20 " + options + " 2>&1");
  }

  TemporaryDirectory folder_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

TEST_F(CliHang, TheVerdictIsTheFirstLine) {
  begin();
  const CommandResult result = hang("");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(
      result.out.starts_with("rank 1 has not come to MPI_Barrier (call 2 on MPI_COMM_WORLD), in which ranks 0, 2 "
                             "wait: it is asleep outside of collective calls\n"
                             "3 of 3 ranks of made_up (An MPI) on "))
      << result.out;
  EXPECT_TRUE(
      contains(result.out, "\nlast calls of rank 1:\n  ended     MPI_Barrier, call 1 on MPI_COMM_WORLD, native\n"))
      << result.out;
}

TEST_F(CliHang, JsonHasTheSame) {
  begin();
  ranks_[1]->stop();
  const CommandResult result = hang("--json");
  EXPECT_EQ(result.exit_code, 1);
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("reason"), "stopped");
  EXPECT_EQ(json.at("ranks"), nlohmann::json::array({1}));
  EXPECT_EQ(json.at("size"), 3);
  EXPECT_EQ(json.at("program"), "made_up");
  ASSERT_EQ(json.at("processes").size(), 3U);
  const auto& first = json.at("processes")[0];
  EXPECT_EQ(first.at("pid"), ranks_[0]->pid());
  EXPECT_EQ(first.at("in").at("collective"), "barrier");
  EXPECT_EQ(first.at("in").at("number"), 2);
  EXPECT_EQ(first.at("last").size(), 2U);
  EXPECT_EQ(json.at("processes")[1].at("state"), "stopped");
  EXPECT_TRUE(json.at("processes")[1].at("in").is_null());
}

TEST_F(CliHang, ARankThatIsKilledIsNamedUntilAllAreGone) {
  begin();
  ranks_[1]->end();
  EXPECT_TRUE(hang("").out.starts_with("the process of rank 1 is gone")) << hang("").out;
  ranks_[0]->end();
  ranks_[2]->end();
  EXPECT_TRUE(contains(hang("").out, "ranks 0, 2 wait: all processes are gone by now")) << hang("").out;
}

TEST_F(CliHang, AJobThatLivesComesBeforeALaterOneThatIsGone) {
  begin();
  auto later = std::make_unique<Rank>(folder_.path(), 0, 1, 2, 2);
  later->end();
  EXPECT_TRUE(hang("").out.starts_with("rank 1 has not come")) << hang("").out;
  const Rank another(folder_.path(), 0, 1, 3, 2);
  EXPECT_TRUE(contains(hang("").out, "1 other job has records here; name a process: circoll hang PID")) << hang("").out;
}

TEST_F(CliHang, DamageIsASentence) {
  begin();
  std::ofstream(folder_.path() + "/circoll-damaged.record") << "no record at all";
  const CommandResult result = hang("");
  EXPECT_TRUE(result.out.starts_with("rank 1 has not come")) << result.out;
  EXPECT_TRUE(contains(result.out, "/circoll-damaged.record': it has 16 bytes, too few for a record of Circoll\n"))
      << result.out;
  EXPECT_EQ(nlohmann::json::parse(hang("--json").out).at("unreadable").size(), 1U);
}

TEST_F(CliHang, WithoutRecordsItSaysHowToGetSome) {
  const CommandResult result = hang("");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(result.out.starts_with("there is no record in ")) << result.out;
  EXPECT_TRUE(contains(result.out, "start the program with CIRCOLL_RECORD=on")) << result.out;
  EXPECT_EQ(nlohmann::json::parse(hang("--json").out).at("reason"), "none");
  const CommandResult process = run("hang " + std::to_string(getpid()) + " 2>&1");
  EXPECT_EQ(process.exit_code, 1);
  EXPECT_TRUE(contains(process.out, "there is no record of process")) << process.out;
}

TEST_F(CliHang, Misuse) {
  EXPECT_EQ(run("hang /nonexistent_circoll 2>&1").exit_code, 2);
  EXPECT_TRUE(contains(run("hang /nonexistent_circoll 2>&1").out, "is neither a process nor a directory of records"));
  EXPECT_EQ(run("hang --pause 0 2>&1").exit_code, 2);
}

}  // namespace
}  // namespace circoll
