// Message passing by rendezvous in given memory, between processes that see it at different addresses.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "circoll/algorithm.hpp"
#include "exec/rendezvous/post.hpp"
#include "plan/engine.hpp"

namespace circoll::rendezvous {
namespace {

constexpr Count count = 7;  // elements of a vector
constexpr std::size_t scratch_bytes = 1 << 12;
constexpr std::size_t letters_per_rank = 256;

/// One rank's part of the shared memory. Data is here, too, because a receiver copies it from its sender's part.
struct alignas(64) Part {
  alignas(Mailbox::alignment) std::array<std::byte, sizeof(Mailbox)> mailbox;
  std::array<Letter, letters_per_rank> letters;
  std::array<std::array<std::byte, scratch_bytes>, 3> areas;  // by Area
};

struct Shared {
  std::atomic<bool> stop{false};
  std::array<Part, 8> parts;
};

/// Memory that forked processes share. attach() gives it a second address, which exposes any pointer in it.
class Segment {
 public:
  Segment() : file_(memfd_create("rendezvous_test", 0)) {
    if (file_ < 0 || ftruncate(file_, sizeof(Shared)) != 0) throw std::bad_alloc();
    new (attach()) Shared;
  }
  ~Segment() { close(file_); }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  [[nodiscard]] Shared* attach() const {
    void* const at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    return static_cast<Shared*>(at);
  }

 private:
  int file_;
};

/// A rank that runs plans of sums of int64 in the segment. It is the least that an executor needs.
class Runner {
 public:
  Runner(Shared& shared, Rank rank, Rank size) : shared_(&shared), rank_(rank), post_(rank, mailboxes_) {
    for (Rank r = 0; r < size; ++r) {
      mailboxes_.push_back(std::launder(reinterpret_cast<Mailbox*>(part(r).mailbox.data())));
    }
    post_.use_letters(part(rank).letters);
  }

  void run(const Plan& plan, Receives& receives) {
    plan_ = &plan;
    engine_ = std::make_unique<Engine>(plan);
    post_.begin(receives);
    engine_->start(*this);
    while (!engine_->done()) {
      Mailbox& own = *mailboxes_[static_cast<std::size_t>(rank_)];
      own.wait(shared_->stop);
      post_.poll(*this);
    }
  }

  [[nodiscard]] std::byte* area(Rank rank, Area area) const {
    return part(rank).areas[static_cast<std::size_t>(area)].data();
  }

  bool begin(StepIndex step) {
    const PlanStep& s = plan_->steps[step];
    if (s.kind == StepKind::send) {
      // The step in a letter usually leads to the data through the sender's plan, which the receiver does not have
      // here. All messages of these plans have one piece, so the letter has the place of that piece in place of the
      // step.
      const Piece& piece = plan_->pieces_of(s).front();
      post_.send(static_cast<StepIndex>(piece.offset_bytes) << 2U | static_cast<StepIndex>(piece.area), s.peer, s.tag,
                 s.elements);
      sends_.push_back(step);
      return false;
    }
    if (s.kind == StepKind::recv) {
      if (!post_.receive(step)) return false;
      copy(step);
      return true;
    }
    for (const Run& run : plan_->runs_of(s)) {
      for (Count i = 0; i < run.dst.elements; ++i) {
        const std::int64_t left = read(run.left, i);
        const std::int64_t value = s.kind == StepKind::copy ? left : left + read(run.right, i);
        std::memcpy(at(run.dst, i), &value, sizeof value);
      }
    }
    return true;
  }
  void sent(StepIndex place) {
    for (std::size_t i = 0; i < sends_.size(); ++i) {
      const Piece& piece = plan_->pieces_of(plan_->steps[sends_[i]]).front();
      if ((static_cast<StepIndex>(piece.offset_bytes) << 2U | static_cast<StepIndex>(piece.area)) != place) continue;
      const StepIndex step = sends_[i];
      sends_.erase(sends_.begin() + static_cast<std::ptrdiff_t>(i));
      engine_->completed(*this, step);
      return;
    }
    FAIL() << "a message has ended that this rank has not sent";
  }
  void arrived(StepIndex step) {
    copy(step);
    engine_->completed(*this, step);
  }

 private:
  [[nodiscard]] Part& part(Rank rank) const { return shared_->parts[static_cast<std::size_t>(rank)]; }
  template <typename P>
  [[nodiscard]] std::byte* at(const P& piece, Count i) const {
    return area(rank_, piece.area) + piece.offset_bytes + i * 8;
  }
  template <typename P>
  [[nodiscard]] std::int64_t read(const P& piece, Count i) const {
    std::int64_t value = 0;
    std::memcpy(&value, at(piece, i), sizeof value);
    return value;
  }
  void copy(StepIndex step) {
    const PlanStep& s = plan_->steps[step];
    const StepIndex place = post_.letter_of(step).step;
    const std::byte* const from = area(s.peer, static_cast<Area>(place & 3U)) + (place >> 2U);
    std::memcpy(at(plan_->pieces_of(s).front(), 0), from, static_cast<std::size_t>(s.elements * 8));
    post_.answer(step);
  }

  Shared* shared_;
  Rank rank_;
  std::vector<Mailbox*> mailboxes_;
  Post post_;
  const Plan* plan_ = nullptr;
  std::unique_ptr<Engine> engine_;
  std::vector<StepIndex> sends_;
};

/// Many allreduces one after another, in which ranks run ahead of one another. The exit status of a process.
int reduce_many(Shared& shared, Rank rank, Rank size) {
  Runner runner(shared, rank, size);
  const Schedule schedule =
      build_schedule("allreduce/recursive_doubling", Shape{.size = size, .rank = rank, .root = 0, .in_place = false});
  const Plan plan = bind(schedule, Layout::uniform(schedule.user_blocks, schedule.segments, count), 8, {});
  if (static_cast<std::size_t>(plan.scratch_bytes) > scratch_bytes) return 2;
  Receives receives(plan);
  for (std::int64_t round = 0; round < 2000; ++round) {
    for (Count i = 0; i < count; ++i) {
      const std::int64_t mine = round * 1000 + rank * 10 + i;
      std::memcpy(runner.area(rank, Area::send) + i * 8, &mine, sizeof mine);
    }
    runner.run(plan, receives);
    for (Count i = 0; i < count; ++i) {
      const std::int64_t expected = size * (round * 1000 + i) + 10 * size * (size - 1) / 2;
      std::int64_t sum = 0;
      std::memcpy(&sum, runner.area(rank, Area::recv) + i * 8, sizeof sum);
      if (sum != expected) return 1;
    }
  }
  return 0;
}

}  // namespace

TEST(Rendezvous, ProcessesShareMailboxesAtDifferentAddresses) {
  for (const Rank size : {2, 3, 4, 8}) {
    const Segment segment;
    Shared* const first = segment.attach();
    for (Rank r = 0; r < size; ++r) Mailbox::create(first->parts[static_cast<std::size_t>(r)].mailbox.data());
    std::vector<pid_t> children;
    for (Rank r = 0; r < size; ++r) {
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        alarm(60);                                                        // nobody waits forever
        for (Rank other = 0; other < r; ++other) (void)segment.attach();  // at an address of its own
        _exit(reduce_many(*segment.attach(), r, size));
      }
      children.push_back(child);
    }
    for (const pid_t child : children) {
      int status = -1;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "p = " << size << ", status " << status;
    }
    munmap(first, sizeof(Shared));
  }
}

namespace {

/// Two ranks whose steps are driven by hand. It notes what has happened.
struct Hand {
  std::vector<StepIndex> sent_steps, arrived_steps;
  void sent(StepIndex step) { sent_steps.push_back(step); }
  void arrived(StepIndex step) { arrived_steps.push_back(step); }
};

struct Pair {
  Pair() {
    for (std::size_t r = 0; r < 2; ++r) {
      mailboxes.push_back(Mailbox::create(memory[r].bytes.data()));
      posts[r] = std::make_unique<Post>(static_cast<Rank>(r), mailboxes);
    }
    for (std::size_t r = 0; r < 2; ++r) {
      const Schedule schedule = build_schedule(
          "bcast/pipeline:segments=3", Shape{.size = 2, .rank = static_cast<Rank>(r), .root = 0, .in_place = false});
      plans[r] = bind(schedule, Layout::uniform(schedule.user_blocks, schedule.segments, 3), 8, {});
      receives[r] = std::make_unique<Receives>(plans[r]);
      posts[r]->use_letters(letters[r]);
    }
  }
  /// The steps of one kind at a rank.
  [[nodiscard]] std::vector<StepIndex> steps(std::size_t rank, StepKind kind) const {
    std::vector<StepIndex> found;
    for (StepIndex i = 0; i < plans[rank].steps.size(); ++i) {
      if (plans[rank].steps[i].kind == kind) found.push_back(i);
    }
    return found;
  }
  void send(StepIndex step) {
    const PlanStep& s = plans[0].steps[step];
    posts[0]->send(step, s.peer, s.tag, s.elements);
  }

  struct alignas(Mailbox::alignment) Memory {
    std::array<std::byte, sizeof(Mailbox)> bytes{};
  };
  std::array<Memory, 2> memory;
  std::array<std::array<Letter, 16>, 2> letters{};
  std::vector<Mailbox*> mailboxes;
  std::array<std::unique_ptr<Post>, 2> posts;
  std::array<Plan, 2> plans;
  std::array<std::unique_ptr<Receives>, 2> receives;
  Hand root, other;
};

}  // namespace

TEST(Rendezvous, ALetterMayComeBeforeAndAfterItsReceiveAndAnExecutionEarly) {
  Pair pair;
  const std::vector<StepIndex> sends = pair.steps(0, StepKind::send);
  const std::vector<StepIndex> recvs = pair.steps(1, StepKind::recv);
  ASSERT_EQ(sends.size(), 3U);
  ASSERT_EQ(recvs.size(), 3U);
  pair.posts[0]->begin(*pair.receives[0]);
  for (const StepIndex step : sends) pair.send(step);  // the other rank has not begun
  pair.posts[1]->begin(*pair.receives[1]);
  EXPECT_FALSE(pair.posts[1]->receive(recvs[0]));  // nobody has looked into the mailbox
  pair.posts[1]->poll(pair.other);
  EXPECT_EQ(pair.other.arrived_steps, std::vector<StepIndex>{recvs[0]});
  EXPECT_TRUE(pair.posts[1]->receive(recvs[1]));  // it came first
  pair.posts[1]->answer(recvs[1]);
  pair.posts[0]->poll(pair.root);
  EXPECT_EQ(pair.root.sent_steps, std::vector<StepIndex>{sends[1]});
  pair.posts[1]->answer(recvs[0]);
  EXPECT_TRUE(pair.posts[1]->receive(recvs[2]));
  pair.posts[1]->answer(recvs[2]);
  pair.posts[0]->poll(pair.root);
  EXPECT_EQ(pair.root.sent_steps, (std::vector<StepIndex>{sends[1], sends[0], sends[2]}));

  // The root is an execution ahead, so that its letters wait.
  pair.posts[0]->begin(*pair.receives[0]);
  pair.send(sends[0]);
  pair.posts[1]->poll(pair.other);
  EXPECT_EQ(pair.other.arrived_steps.size(), 1U);
  pair.posts[1]->begin(*pair.receives[1]);
  EXPECT_TRUE(pair.posts[1]->receive(recvs[0]));
}

TEST(Rendezvous, WhatNobodyExpectsIsRefused) {
  Pair pair;
  const std::vector<StepIndex> sends = pair.steps(0, StepKind::send);
  pair.posts[0]->begin(*pair.receives[0]);
  pair.posts[1]->begin(*pair.receives[1]);
  const PlanStep& s = pair.plans[0].steps[sends[0]];
  pair.posts[0]->send(sends[0], 1, s.tag, s.elements + 1);
  EXPECT_THROW(pair.posts[1]->poll(pair.other), Error);
  Pair twice;
  twice.posts[0]->begin(*twice.receives[0]);
  twice.posts[1]->begin(*twice.receives[1]);
  twice.send(sends[0]);
  twice.send(sends[0]);
  EXPECT_THROW(twice.posts[1]->poll(twice.other), Error);
}

TEST(Rendezvous, LettersOfAnExecutionUnderWayAreNotReplaced) {
  Pair pair;
  pair.posts[0]->begin(*pair.receives[0]);
  pair.send(pair.steps(0, StepKind::send)[0]);
  std::array<Letter, 32> more{};
  EXPECT_THROW(pair.posts[0]->use_letters(more), Error);
}

}  // namespace circoll::rendezvous
