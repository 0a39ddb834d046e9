// Copies to and from the memory of another process, between forked processes.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "exec/node/direct_copy.hpp"
#include "exec/node/segment.hpp"
#include "node_processes.hpp"

namespace circoll::node {

/// For the messages of gtest.
static void PrintTo(Reason reason, std::ostream* out) { *out << '"' << to_string(reason) << '"'; }

namespace {

constexpr std::size_t most = std::size_t{3} << 20U;
constexpr std::size_t page = 4096;

std::byte pattern(std::size_t i, unsigned kind) { return static_cast<std::byte>((i * 2654435761U >> 7U) + kind); }

std::vector<std::byte> patterned(std::size_t bytes, unsigned kind) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = pattern(i, kind);
  return data;
}

struct Memory {
  Address address;
  std::uint64_t at = 0;
};

/// A peer that has memory with pattern 1. When it is told a number of bytes and an offset, it says whether that range
/// has pattern 2, and no byte beside it. Then it makes the old pattern again.
void have_memory(const Wire& line) {
  (void)let_peers_copy();
  const Segment segment(1 << 16);
  std::vector<std::byte> data = patterned(most + 2 * page, 1);
  line.put(Memory{segment.address(), reinterpret_cast<std::uintptr_t>(data.data())});
  while (true) {
    const auto bytes = line.get<std::size_t>();
    const auto offset = line.get<std::size_t>();
    if (!bytes || !offset) return;
    bool right = segment.written_by_a_peer();
    for (std::size_t i = 0; i < data.size(); ++i) {
      const bool inside = i >= *offset && i < *offset + *bytes;
      right = right && data[i] == (inside ? pattern(i - *offset, 2) : pattern(i, 1));
      data[i] = pattern(i, 1);
    }
    line.put(right);
  }
}

class NodeDirectCopy : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(own_.reason(), Reason::none);
    const DirectCopy self(own_.address(), own_.address());
    if (self.reading() == Reason::filtered || self.reading() == Reason::no_system_call)
      GTEST_SKIP() << "direct copies are not tested: " << to_string(self.reading());
    memory_ = peer_.line().get<Memory>().value_or(Memory{});
    ASSERT_EQ(memory_.address.reason, Reason::none);
    copy_ = DirectCopy(own_.address(), memory_.address);
    if (copy_.reading() == Reason::ptrace_scope)
      GTEST_SKIP() << "direct copies are not tested: " << to_string(copy_.reading());
    ASSERT_EQ(copy_.reading(), Reason::none);
    ASSERT_EQ(copy_.writing(), Reason::none);
  }

  Process peer_{have_memory};
  Segment own_{1 << 16};
  Memory memory_{};
  DirectCopy copy_{};
};

TEST_F(NodeDirectCopy, ReadsAllSizesAtOddAddresses) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, page, most - 1, most}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, page - 1}) {
      std::vector<std::byte> data(bytes + 2, std::byte{99});
      const Copied copied = copy_.read(data.data() + 1, memory_.at + offset, bytes);
      EXPECT_EQ(copied.reason, Reason::none);
      EXPECT_EQ(copied.bytes, bytes);
      EXPECT_EQ(data.front(), std::byte{99});
      EXPECT_EQ(data.back(), std::byte{99});
      bool right = true;
      for (std::size_t i = 0; i < bytes; ++i) right = right && data[i + 1] == pattern(i + offset, 1);
      EXPECT_TRUE(right) << bytes << " at " << offset;
    }
  }
}

TEST_F(NodeDirectCopy, WritesAllSizesAtOddAddresses) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, page, most}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, page - 1}) {
      const std::vector<std::byte> data = patterned(bytes, 2);
      const Copied copied = copy_.write(memory_.at + offset, data.data(), bytes);
      EXPECT_EQ(copied.reason, Reason::none);
      EXPECT_EQ(copied.bytes, bytes);
      peer_.line().put(bytes);
      peer_.line().put(offset);
      EXPECT_EQ(peer_.line().get<bool>(), true) << bytes << " at " << offset;
    }
  }
}

TEST_F(NodeDirectCopy, OfMemoryThatIsNotMappedIsAReason) {
  std::vector<std::byte> data(page);
  for (const std::uint64_t nowhere : {std::uint64_t{0}, std::uint64_t{1} << 46U, std::uint64_t{1} << 63U,
                                      std::numeric_limits<std::uint64_t>::max() - 7}) {
    EXPECT_EQ(copy_.read(data.data(), nowhere, page).reason, Reason::unmapped) << nowhere;
    EXPECT_EQ(copy_.write(nowhere, data.data(), page).reason, Reason::unmapped) << nowhere;
  }
  // Here, too.
  EXPECT_EQ(copy_.read(nullptr, memory_.at, 8).reason, Reason::unmapped);
  EXPECT_EQ(copy_.write(memory_.at, nullptr, 8).reason, Reason::unmapped);
  // A copy of no bytes reads nothing.
  EXPECT_EQ(copy_.read(data.data(), 0, 0).reason, Reason::none);
}

TEST_F(NodeDirectCopy, ComesAsFarAsMemoryIsMapped) {
  void* const pages = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* const memory = static_cast<std::byte*>(pages);
  ASSERT_EQ(munmap(memory + 2 * page, page), 0);
  const DirectCopy self(own_.address(), own_.address());
  std::vector<std::byte> data(3 * page);
  const Copied copied = self.read(data.data(), reinterpret_cast<std::uintptr_t>(memory) + 5, 3 * page - 5);
  EXPECT_EQ(copied.reason, Reason::unmapped);
  EXPECT_EQ(copied.bytes, 2 * page - 5);
  EXPECT_FALSE(copied);
  munmap(memory, 2 * page);
}

TEST_F(NodeDirectCopy, OfMoreThanOneCallCopies) {
  // Addresses for more than 2 GiB map the same 2 MiB again and again, so that they take no more memory.
  constexpr std::size_t piece = std::size_t{2} << 20U;
  constexpr std::size_t pieces = DirectCopy::most_bytes_of_call / piece + 2;
  const FileDescriptor file(memfd_create("piece", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(file.get(), piece), 0);
  void* const addresses = mmap(nullptr, pieces * piece, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(addresses, MAP_FAILED);
  auto* const memory = static_cast<std::byte*>(addresses);
  for (std::size_t i = 0; i < pieces; ++i) {
    ASSERT_NE(mmap(memory + i * piece, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), 0),
              MAP_FAILED);
  }
  constexpr std::size_t bytes = DirectCopy::most_bytes_of_call + piece + 77;
  const DirectCopy self(own_.address(), own_.address());
  // The memory is not touched, so that it holds zeros except at the end.
  void* const source = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(source, MAP_FAILED);
  static_cast<std::byte*>(source)[bytes - 1] = std::byte{55};
  const Copied copied = self.read(memory, reinterpret_cast<std::uintptr_t>(source), bytes);
  EXPECT_EQ(copied.reason, Reason::none);
  EXPECT_EQ(copied.bytes, bytes);
  EXPECT_EQ(memory[bytes - 1], std::byte{55});
  munmap(source, bytes);
  munmap(addresses, pieces * piece);
}

TEST_F(NodeDirectCopy, OfAPeerThatHasEndedIsAReason) {
  std::array<std::byte, 8> data{};
  peer_.kill_it();
  peer_.wait_for_end();
  EXPECT_EQ(copy_.read(data.data(), memory_.at, 8).reason, Reason::peer_is_gone);
  EXPECT_EQ(copy_.write(memory_.at, data.data(), 8).reason, Reason::peer_is_gone);
  EXPECT_EQ(DirectCopy(own_.address(), memory_.address).reading(), Reason::peer_is_gone);
  peer_.end();
  EXPECT_EQ(copy_.read(data.data(), memory_.at, 8).reason, Reason::peer_is_gone);
  EXPECT_EQ(DirectCopy(own_.address(), memory_.address).reading(), Reason::peer_is_gone);
}

TEST_F(NodeDirectCopy, WritesNothingWhereTheNonceIsNot) {
  Address wrong = memory_.address;
  wrong.header = memory_.at;
  const DirectCopy copy(own_.address(), wrong);
  EXPECT_EQ(copy.reading(), Reason::other_memory);
  EXPECT_EQ(copy.writing(), Reason::other_memory);
  wrong.header = 8;
  EXPECT_EQ(DirectCopy(own_.address(), wrong).reading(), Reason::other_memory);
  peer_.line().put(std::size_t{0});
  peer_.line().put(std::size_t{0});
  EXPECT_EQ(peer_.line().get<bool>(), true);  // no byte differs
}

TEST_F(NodeDirectCopy, OfADifferentPlaceIsRefusedWithoutATry) {
  Address elsewhere = memory_.address;
  ++elsewhere.place.network;
  const DirectCopy copy(own_.address(), elsewhere);
  EXPECT_EQ(copy.reading(), Reason::other_network_namespace);
  EXPECT_EQ(copy.writing(), Reason::other_network_namespace);
  std::byte byte{};
  EXPECT_EQ(copy.read(&byte, memory_.at, 1).reason, Reason::other_network_namespace);
  EXPECT_EQ(copy.write(memory_.at, &byte, 1).reason, Reason::other_network_namespace);
}

TEST(NodeDirectCopies, AreNotPossibleByDefault) {
  std::byte byte{};
  EXPECT_EQ(DirectCopy().read(&byte, 0, 1).reason, Reason::no_segment);
  EXPECT_EQ(DirectCopy().write(0, &byte, 1).reason, Reason::no_segment);
}

TEST(NodeDirectCopies, ArePermittedWhereYamaAsks) {
  const Process process([](const Wire& line) {
    line.put(let_peers_copy());
    line.put(let_peers_copy());
    let_no_peers_copy();
  });
  std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
  int scope = 0;
  if (!(file >> scope)) scope = 0;
  const Reason expected = scope >= 2 ? Reason::ptrace_scope : Reason::none;
  EXPECT_EQ(process.line().get<Reason>(), expected);
  EXPECT_EQ(process.line().get<Reason>(), expected);
}

}  // namespace
}  // namespace circoll::node
