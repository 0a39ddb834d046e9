// Processes that are killed, are stopped, or leave. The other processes notice by their connections.
#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX's
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "watch_processes.hpp"

namespace circoll::watch {
namespace {

const Mesh::Listener nobody{.heard = [](int, std::span<const std::byte>) {}, .now_and_then = [] {}};

/// Tells the test what happened to rank 0, once it has ended or left.
void tell_of_rank_0(Mesh& mesh, const node::Wire& line) {
  const bool heard = comes([&] { return mesh.has_ended(0) || mesh.has_left(0); });
  line.put(heard && comes([&] { return mesh.has_ended(0); }));
  line.put(mesh.has_failed(0));
  line.put(mesh.has_left(0));
  line.wait();
}

TEST(Mesh, NoticesAProcessThatIsKilled) {
  const Watchers all(4, [](int rank, Mesh& mesh, const node::Wire& line) {
    mesh.watch(nobody);
    if (rank == 0) line.wait();
    tell_of_rank_0(mesh, line);
  });
  ASSERT_TRUE(all.connected());
  all[0].kill_it();
  for (int r = 1; r < 4; ++r) {
    EXPECT_TRUE(all[r].line().get<bool>().value_or(false)) << "its end is seen";
    EXPECT_TRUE(all[r].line().get<bool>().value_or(false)) << "as a failure";
    EXPECT_FALSE(all[r].line().get<bool>().value_or(true)) << "not as a leave";
  }
}

TEST(Mesh, KnowsALeaveFromAFailure) {
  const Watchers all(3, [](int rank, Mesh& mesh, const node::Wire& line) {
    mesh.watch(nobody);
    if (rank != 0) return tell_of_rank_0(mesh, line);
    mesh.take_leave();
  });
  ASSERT_TRUE(all.connected());
  for (int r = 1; r < 3; ++r) {
    EXPECT_TRUE(all[r].line().get<bool>().value_or(false));
    EXPECT_FALSE(all[r].line().get<bool>().value_or(true));
    EXPECT_TRUE(all[r].line().get<bool>().value_or(false));
  }
}

// A debugger stops a process, and nobody takes it for dead.
TEST(Mesh, WaitsForAProcessThatIsStopped) {
  std::atomic<int> heard{0};
  const Watchers all(2, [&](int rank, Mesh& mesh, const node::Wire& line) {
    mesh.watch({.heard = [&](int, std::span<const std::byte>) { ++heard; }, .now_and_then = [] {}});
    if (rank == 0) {
      line.wait();
      mesh.send(1, std::vector(1, std::byte{7}));
      line.wait();
    }
    line.wait();
    line.put(mesh.has_ended(0));
    line.put(comes([&] { return heard == 1; }));
    line.wait();
  });
  ASSERT_TRUE(all.connected());
  ASSERT_EQ(kill(all[0].pid(), SIGSTOP), 0);
  all[0].line().go_on();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  all[1].line().go_on();
  EXPECT_FALSE(all[1].line().get<bool>().value_or(true)) << "it is stopped, not dead";
  ASSERT_EQ(kill(all[0].pid(), SIGCONT), 0);
  EXPECT_TRUE(all[1].line().get<bool>().value_or(false)) << "what it has to say comes later";
}

TEST(Mesh, HearsAllThatAProcessSaidBeforeItsEnd) {
  constexpr int messages = 2000;
  const Watchers all(2, [](int rank, Mesh& mesh, const node::Wire& line) {
    std::atomic<int> heard{0};
    std::atomic<bool> in_order{true};
    mesh.watch({.heard =
                    [&](int, std::span<const std::byte> message) {
                      int number = -1;
                      std::memcpy(&number, message.data(), sizeof number);
                      in_order = in_order && number == heard && message.size() == sizeof number + heard % 300;
                      ++heard;
                    },
                .now_and_then = [] {}});
    if (rank == 0) {
      for (int i = 0; i < messages; ++i) {
        std::vector<std::byte> message(sizeof i + static_cast<std::size_t>(i % 300));
        std::memcpy(message.data(), &i, sizeof i);
        mesh.send(1, message);
      }
      _exit(1);
    }
    line.put(comes([&] { return mesh.has_ended(0); }) && in_order);
    line.put(heard.load());
    line.wait();
  });
  ASSERT_TRUE(all.connected());
  EXPECT_TRUE(all[1].line().get<bool>().value_or(false));
  EXPECT_EQ(all[1].line().get<int>(), messages);
}

// A child that lives longer has the descriptors of its parent, and must not keep the parent's connections open.
TEST(Mesh, NoticesAKilledProcessWhoseChildLives) {
  const Watchers all(2, [](int rank, Mesh& mesh, const node::Wire& line) {
    mesh.watch(nobody);
    if (rank != 0) return tell_of_rank_0(mesh, line);
    const pid_t child = fork();
    if (child == 0) {
      line.wait();  // until the test is over
      _exit(0);
    }
    line.put(child);
    while (true) pause();
  });
  ASSERT_TRUE(all.connected());
  const auto child = all[0].line().get<pid_t>();
  ASSERT_TRUE(child);
  all[0].kill_it();
  EXPECT_TRUE(all[1].line().get<bool>().value_or(false));
  EXPECT_TRUE(all[1].line().get<bool>().value_or(false)) << "a failure";
  (void)kill(*child, SIGKILL);
}

// Two jobs on one machine may use the same address.
TEST(Mesh, TurnsAwayWhoDoesNotKnowTheSecret) {
  std::vector<Address> all(2);
  Mesh first;
  Mesh second;
  all[0] = first.address();
  all[1] = second.address();
  ASSERT_NE(all[0].port, 0);
  bool answered = true;
  std::thread other([&] { answered = first.connect(0, all, 1, std::chrono::milliseconds(700)); });
  EXPECT_FALSE(second.connect(1, all, 2, std::chrono::milliseconds(700)));
  other.join();
  EXPECT_FALSE(answered);
}

}  // namespace
}  // namespace circoll::watch
