// The agreement of survivors: processes make calls in a loop, and some of them are killed at random moments.
//
// A call is two barriers in shared memory here. A rank that has passed the first barrier has its result. A rank that
// has passed both knows that all have theirs. Every other call has the first barrier only, and a rank that leaves it
// keeps its result. Nobody may wait forever, and all survivors must come to the same end of every call, whenever the
// failures strike.
#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX's
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <random>

#include "watch_processes.hpp"
#include "wrappers/survive/watch/peer_monitor.hpp"

namespace circoll::watch {
namespace {

constexpr int most_ranks = 5;
constexpr int most_calls = 40;

/// An end of a call at one rank.
enum class End : std::uint8_t { none, whole, refused, wrong };

/// Memory that all processes of a run see.
struct Board {
  /// Indices: the number of failures that were dealt with, the call, and the rank.
  std::array<std::array<std::array<std::atomic<bool>, most_ranks>, most_calls>, most_ranks> data, committing;
  std::array<std::array<std::atomic<End>, most_ranks>, most_calls> ends;
  /// The failed ranks whose contributions the result of a call lacks.
  std::array<std::array<std::atomic<std::uint64_t>, most_ranks>, most_calls> without;
  std::atomic<int> closed;  ///< ranks that have heard of all others that they are through, or have ended
};

struct Run {
  int ranks = 2;
  int calls = most_calls;
  std::uint64_t seed = 0;
  int kills = 1;
};

/// Memory that forked processes share. Zeros are values of all its atomics.
template <typename T>
class Shared {
 public:
  Shared() {
    void* const memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    it_ = static_cast<T*>(memory);
  }
  ~Shared() { (void)munmap(it_, sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T* operator->() const { return it_; }
  T& operator*() const { return *it_; }

 private:
  T* it_;
};

/// Some calls cannot be made again after a failure.
bool is_kept(int call) { return call % 2 != 0; }

bool is_refused(const Run& plan, int call) { return (plan.seed + static_cast<std::uint64_t>(call)) % 3 == 0; }

class Caller {
 public:
  Caller(const Run& plan, int rank, Mesh& mesh, Board& board)
      : plan_(plan),
        rank_(rank),
        mesh_(mesh),
        board_(board),
        random_(plan.seed * 97 + static_cast<std::uint64_t>(rank)) {
    std::vector<int> members;
    for (int r = 0; r < plan.ranks; ++r) members.push_back(r);
    peer_monitor_ = std::make_unique<PeerMonitor>(mesh, 1, rank, members);
    mesh.watch({.heard =
                    [this](int from, std::span<const std::byte> message) {
                      if (auto statement = statement_from(message)) peer_monitor_->hear(from, *std::move(statement));
                    },
                .now_and_then = [] {}});
    // A victim dies in some call, at its end or after a number of looks at the board.
    std::mt19937_64 common(plan.seed);
    for (int i = 0; i < plan.kills; ++i) {
      const int victim = static_cast<int>(common() % static_cast<std::uint64_t>(plan.ranks));
      const auto call = static_cast<int>(common() % static_cast<std::uint64_t>(plan.calls));
      const auto looks = static_cast<int>(common() % 60);
      if (victim == rank) last_call_ = call;
      if (victim == rank) looks_left_ = looks;
    }
  }

  void make_calls() {
    for (int call = 0; call < plan_.calls; ++call) {
      call_ = call;
      make(call);
      if (call == last_call_) (void)kill(getpid(), SIGKILL);
      peer_monitor_->make_one();
      if (random_() % 4 == 0) sched_yield();
    }
    peer_monitor_->close();
    if (comes([this] { return peer_monitor_->is_closed_by_others(); })) ++board_.closed;
    mesh_.take_leave();
  }

 private:
  void die_if_due() {
    if (call_ == last_call_ && looks_left_-- == 0) (void)kill(getpid(), SIGKILL);
  }
  [[nodiscard]] bool concerned() {
    seen_ = mesh_.ends();
    for (int r = 0; r < plan_.ranks; ++r) {
      if (r != rank_ && !failed_.has(r) && mesh_.has_ended(r)) return true;
    }
    return false;
  }
  /// Returns false if a failure comes in between.
  [[nodiscard]] bool meet(std::array<std::atomic<bool>, most_ranks>& here) {
    here[static_cast<std::size_t>(rank_)] = true;
    for (const int r : failed_.others(plan_.ranks)) {
      while (!here[static_cast<std::size_t>(r)]) {
        die_if_due();
        if (mesh_.ends() != seen_ && concerned()) return false;
        sched_yield();
      }
    }
    return true;
  }
  /// The failed ranks whose contributions a result of this rank does not have.
  [[nodiscard]] std::uint64_t without() const {
    std::uint64_t bits = 0;
    for (const int r : failed_.members(plan_.ranks)) bits |= std::uint64_t{1} << static_cast<unsigned>(r);
    return bits;
  }
  void keep(std::uint64_t result) {
    peer_monitor_->keep([&](std::vector<std::byte>& bytes) {
      bytes.resize(sizeof result);
      std::memcpy(bytes.data(), &result, sizeof result);
    });
  }
  void end(int call, End how) { end(call, how, without()); }
  void end(int call, End how, std::uint64_t without) {
    const auto c = static_cast<std::size_t>(call);
    board_.without[c][static_cast<std::size_t>(rank_)] = without;
    board_.ends[c][static_cast<std::size_t>(rank_)] = how;
  }

  void make(int call) {
    const auto c = static_cast<std::size_t>(call);
    bool refused = false;
    bool decided = false;
    bool fresh = mesh_.ends() != 0 && concerned();
    while (true) {
      const auto epoch = static_cast<std::size_t>(failed_.count());
      CallPart stage = CallPart::data;
      if (!fresh && (refused || meet(board_.data[epoch][c]))) {
        if (is_kept(call) && !decided) {
          keep(without());
          return end(call, End::whole);
        }
        stage = CallPart::committing;
        if (meet(board_.committing[epoch][c])) return end(call, refused ? End::refused : End::whole);
      }
      fresh = false;
      Statement own{
          .communicator = 1, .rank = rank_, .call = peer_monitor_->made() + 1, .stage = stage, .kept = is_kept(call)};
      const NextStep verdict = peer_monitor_->agree(
          own, [](Statement&) {}, [this] { die_if_due(); });
      if (const auto result = peer_monitor_->result_for(own); result && verdict == NextStep::committed) {
        std::uint64_t value = 0;
        std::memcpy(&value, result->data(), sizeof value);
        keep(value);
        return end(call, End::whole, value);
      }
      if (verdict == NextStep::committed)
        return end(call, stage != CallPart::committing ? End::wrong : refused ? End::refused : End::whole);
      failed_ = own.failed;
      decided = true;
      refused = is_refused(plan_, call);
    }
  }

  Run plan_;
  int rank_;
  Mesh& mesh_;
  Board& board_;
  std::mt19937_64 random_;
  std::unique_ptr<PeerMonitor> peer_monitor_;
  RankSet failed_{};
  std::uint32_t seen_ = 0;
  int call_ = 0;
  int last_call_ = -1;
  int looks_left_ = 0;
};

/// Returns the number of ranks that were killed.
int run(const Run& plan) {
  const Shared<Board> board;
  const Watchers all(plan.ranks, [&](int rank, Mesh& mesh, const node::Wire& line) {
    Caller caller(plan, rank, mesh, *board);
    caller.make_calls();
    line.put(true);
    line.wait();
  });
  EXPECT_TRUE(all.connected());
  std::vector<std::size_t> survivors;
  for (int r = 0; r < plan.ranks; ++r) {
    if (all[r].line().get<bool>().value_or(false)) {
      survivors.push_back(static_cast<std::size_t>(r));
    } else {
      const auto has_ended = [&] {
        siginfo_t info{};
        return waitid(P_PID, static_cast<id_t>(all[r].pid()), &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
               info.si_pid == all[r].pid();
      };
      EXPECT_TRUE(comes(has_ended)) << "rank " << r << " hangs, seed " << plan.seed;
    }
  }
  for (int call = 0; call < plan.calls; ++call) {
    const auto c = static_cast<std::size_t>(call);
    for (const std::size_t r : survivors) {
      const End how = board->ends[c][r];
      EXPECT_TRUE(how == End::whole || how == End::refused)
          << "call " << call << ", rank " << r << ", seed " << plan.seed;
      EXPECT_EQ(how, board->ends[c][survivors[0]].load()) << "call " << call << ", seed " << plan.seed;
      EXPECT_EQ(board->without[c][r], board->without[c][survivors[0]].load())
          << "call " << call << ", seed " << plan.seed;
    }
  }
  EXPECT_EQ(board->closed, static_cast<int>(survivors.size())) << "seed " << plan.seed;
  return plan.ranks - static_cast<int>(survivors.size());
}

TEST(PeerMonitor, WithoutFailuresEveryCallIsWhole) { EXPECT_EQ(run({.ranks = 4, .seed = 1, .kills = 0}), 0); }

TEST(PeerMonitor, SurvivorsOfOneFailureAgree) {
  int killed = 0;
  for (std::uint64_t seed = 0; seed < 60 && !testing::Test::HasFailure(); ++seed)
    killed += run({.ranks = 2 + static_cast<int>(seed % 4), .seed = seed, .kills = 1});
  EXPECT_EQ(killed, 60);
}

TEST(PeerMonitor, SurvivorsOfSeveralFailuresAgree) {
  int killed = 0;
  for (std::uint64_t seed = 100; seed < 160 && !testing::Test::HasFailure(); ++seed)
    killed += run({.ranks = 4 + static_cast<int>(seed % 2), .seed = seed, .kills = 3});
  EXPECT_GT(killed, 120);
}

/// Memory in which the ranks of the next test show one another how far they are.
struct Shown {
  std::atomic<bool> told, decided;
  std::array<std::atomic<std::int32_t>, 2> tags;  ///< of rank 0, by which rank 1 has decided first and then
};

/// Rank 0 has stated that rank 3 has failed, and before it can decide, rank 2 fails. Rank 1 has decided meanwhile, and
/// may have sent messages with the tags of rank 0: it must be offered others for the decision about both failures.
TEST(PeerMonitor, TagsThatOthersMayHaveUsedAreNotOfferedAgain) {
  const Shared<Shown> shown;
  const Watchers all(4, [&](int rank, Mesh& mesh, const node::Wire& line) {
    PeerMonitor peer_monitor(mesh, 1, rank, {0, 1, 2, 3});
    mesh.watch({.heard =
                    [&peer_monitor](int from, std::span<const std::byte> message) {
                      if (auto statement = statement_from(message)) peer_monitor.hear(from, *std::move(statement));
                    },
                .now_and_then = [] {}});
    if (rank == 3) (void)kill(getpid(), SIGKILL);
    (void)comes([&] { return mesh.has_failed(3) && (rank == 0 || shown->told); });
    std::int32_t next_tag = 1;
    const auto offer = [&](Statement& statement) { statement.tags = {next_tag++, 0}; };
    const auto agree = [&](const std::function<void()>& meanwhile) {
      Statement own{.communicator = 1, .rank = rank, .call = 1, .stage = CallPart::data};
      return peer_monitor.agree(own, offer, meanwhile) == NextStep::decide;
    };
    const auto die_once_decided = [&] {
      if (rank == 2 && comes([&] { return shown->decided.load(); })) (void)kill(getpid(), SIGKILL);
    };
    const auto wait_for_second = [&] {
      if (rank == 0 && !shown->told.exchange(true)) (void)comes([&] { return mesh.has_failed(2); });
    };
    bool agreed = agree([&] {
      wait_for_second();
      if (shown->decided) die_once_decided();
    });
    die_once_decided();
    if (rank == 1) {
      shown->tags[0] = peer_monitor.statements()[0]->tags[0];
      shown->decided = true;
      agreed = comes([&] { return mesh.has_failed(2); }) && agree([] {}) && agreed;
      shown->tags[1] = peer_monitor.statements()[0]->tags[0];
    }
    line.put(agreed);
    line.wait();
  });
  ASSERT_TRUE(all.connected());
  EXPECT_TRUE(all[0].line().get<bool>().value_or(false));
  EXPECT_TRUE(all[1].line().get<bool>().value_or(false));
  EXPECT_GT(shown->tags[0], 0);
  EXPECT_GT(shown->tags[1], 0);
  EXPECT_NE(shown->tags[0], shown->tags[1]);
}

}  // namespace
}  // namespace circoll::watch
