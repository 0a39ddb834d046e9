// Parts of a message that both ends copy. Each part is copied once, whoever comes first, even if a peer errs about it.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "exec/node/direct_copy.hpp"
#include "exec/node/segment.hpp"
#include "exec/node/shared_copy.hpp"
#include "gtest/gtest.h"

namespace circoll::node {
namespace {

constexpr std::size_t size = (std::size_t{1} << 20U) + 4321;

std::vector<std::byte> pattern() {
  std::vector<std::byte> data(size);
  for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>((i * 2654435761U >> 7U) + 1);
  return data;
}

/// Memory that no process can read or write.
class Forbidden {
 public:
  Forbidden() : at_(mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  Forbidden(const Forbidden&) = delete;
  Forbidden& operator=(const Forbidden&) = delete;
  ~Forbidden() { (void)munmap(at_, size); }
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(at_); }

 private:
  void* at_;
};

/// Both ends of a message in one process, with room on both sides of the memory that it is written to.
class SharedCopy : public testing::Test {
 protected:
  static constexpr std::size_t margin = 8192;

  void SetUp() override {
    if (copy_.writing() != Reason::none) GTEST_SKIP() << to_string(copy_.writing());
  }
  [[nodiscard]] std::span<std::byte> into() { return std::span(memory_).subspan(margin, size); }
  [[nodiscard]] std::uint64_t destination() { return reinterpret_cast<std::uintptr_t>(into().data()); }
  [[nodiscard]] std::uint64_t source() const { return reinterpret_cast<std::uintptr_t>(data_.data()); }
  [[nodiscard]] bool right() { return std::equal(data_.begin(), data_.end(), into().begin()); }
  [[nodiscard]] bool untouched() { return clear(0, memory_.size()); }
  [[nodiscard]] bool untouched_beside() { return clear(0, margin) && clear(margin + size, margin); }
  [[nodiscard]] bool clear(std::size_t at, std::size_t bytes) {
    const auto part = std::span(memory_).subspan(at, bytes);
    return std::all_of(part.begin(), part.end(), [](std::byte byte) { return byte == std::byte{0}; });
  }

  Segment segment_{1 << 16};
  DirectCopy copy_{segment_.address(), segment_.address()};
  std::vector<std::byte> data_ = pattern();
  std::vector<std::byte> memory_ = std::vector<std::byte>(size + 2 * margin);
  SharedProgress progress_{};
  SharedWrite write_{progress_, data_, destination()};
  SharedRead read_{progress_, into(), source()};
};

TEST(SharedCopyParts, FollowOneAnother) {
  const std::size_t least = CopyPart::least;
  for (const std::size_t all : {std::size_t{1}, least - 1, least, least + 1, 2 * least - 1, 2 * least, size, 8 * size,
                                std::size_t{1} << 40U, std::numeric_limits<std::size_t>::max() / 2}) {
    SharedProgress progress;
    std::size_t at = 0, parts = 0;
    while (const auto part = CopyPart::take(progress, all)) {
      EXPECT_EQ(part->at, at);
      at += part->bytes;
      ++parts;
      EXPECT_TRUE(part->bytes >= std::min(least, all) || (at == all && part->bytes >= least / 2)) << part->bytes;
    }
    EXPECT_EQ(at, all);
    EXPECT_LT(parts, 64U);
  }
}

TEST_F(SharedCopy, InAnyOrder) {
  std::mt19937 random(1);
  std::size_t written = 0;
  for (int round = 0; round < 50; ++round) {
    std::fill(memory_.begin(), memory_.end(), std::byte{0});
    SharedProgress progress;
    SharedWrite write(progress, data_, destination());
    SharedRead read(progress, into(), source());
    while (!read.over()) {
      if (random() % 2 == 0) {
        written += write.go_on(copy_);
      } else {
        (void)read.go_on(copy_);
      }
    }
    EXPECT_FALSE(read.failed());
    EXPECT_TRUE(right() && untouched_beside());
    EXPECT_EQ(write.go_on(copy_), 0U);
  }
  EXPECT_GT(written, 10 * size);
}

TEST_F(SharedCopy, ByTheReceiverAloneIfTheSenderDoesNotCome) {
  int parts = 0;
  while (!read_.over()) parts += read_.go_on(copy_) ? 1 : 0;
  EXPECT_TRUE(right());
  EXPECT_EQ(parts, 3);  // half, and what is left in large parts, of which the sender could have taken one
}

TEST_F(SharedCopy, IsNotOverBeforeTheSendersPart) {
  const auto part = CopyPart::take(progress_, size);
  while (read_.go_on(copy_)) {
  }
  EXPECT_FALSE(read_.over());
  EXPECT_TRUE(clear(margin, part->bytes));
  progress_.written.fetch_add(part->bytes);
  EXPECT_TRUE(read_.over());
}

TEST_F(SharedCopy, ThatTheSenderCannotWriteIsRead) {
  for (int before = 0; before < 3; ++before) {
    std::fill(memory_.begin(), memory_.end(), std::byte{0});
    SharedProgress progress;
    SharedRead read(progress, into(), source());
    for (int i = 0; i < before; ++i) (void)read.go_on(copy_);
    const Forbidden forbidden;
    SharedWrite write(progress, data_, forbidden.address());
    EXPECT_EQ(write.go_on(copy_), 0U);
    for (int turn = 0; turn < 20; ++turn) (void)read.go_on(copy_);
    EXPECT_TRUE(read.over());
    EXPECT_FALSE(read.failed());
    EXPECT_TRUE(right());
  }
}

TEST_F(SharedCopy, ThatTheReceiverCannotReadIsOverWithTheSendersPart) {
  const Forbidden forbidden;
  const auto part = CopyPart::take(progress_, size);
  SharedRead read(progress_, into(), forbidden.address());
  (void)read.go_on(copy_);
  EXPECT_TRUE(read.failed());
  EXPECT_EQ(write_.go_on(copy_), 0U);
  EXPECT_FALSE(read.over());
  progress_.written.fetch_add(part->bytes);
  EXPECT_TRUE(read.over());
  EXPECT_TRUE(untouched());
}

TEST_F(SharedCopy, ThatIsStoppedIsWrittenToNoMore) {
  for (const bool could_write : {true, false}) {
    SharedProgress progress;
    const auto part = CopyPart::take(progress, size);
    SharedWrite write(progress, data_, destination());
    SharedRead read(progress, into(), source());
    read.stop();
    read.stop();
    EXPECT_EQ(write.go_on(copy_), 0U);
    (void)read.go_on(copy_);
    EXPECT_FALSE(read.over());
    if (could_write) {
      progress.written.fetch_add(part->bytes);
    } else {
      progress.returned.store(part->at + 1);
    }
    (void)read.go_on(copy_);
    EXPECT_TRUE(read.over());
    EXPECT_TRUE(read.failed());
    EXPECT_TRUE(untouched());
  }
}

TEST_F(SharedCopy, OfAPeerThatErrsStaysInsideTheMessage) {
  std::mt19937_64 random(2);
  const auto any = [&]() -> std::uint64_t {
    const std::array<std::uint64_t, 8> numbers{0, 1, size - 1, size, size + 1, random() % size, random(), ~0ULL};
    return numbers[random() % numbers.size()];
  };
  for (int round = 0; round < 300; ++round) {
    SharedProgress progress;
    SharedWrite write(progress, data_, destination());
    SharedRead read(progress, into(), source());
    for (int turn = 0; turn < 10; ++turn) {
      if (random() % 2 == 0) progress.taken = any();
      if (random() % 4 == 0) progress.written = any();
      if (random() % 4 == 0) progress.returned = any();
      if (random() % 2 == 0) (void)write.go_on(copy_);
      if (random() % 16 == 0) read.stop();
      (void)read.go_on(copy_);
      (void)read.over();
    }
    ASSERT_TRUE(untouched_beside());
  }
}

}  // namespace
}  // namespace circoll::node
