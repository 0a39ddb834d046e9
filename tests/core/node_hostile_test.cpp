// Files, headers and addresses with any contents: Circoll refuses them, and nothing crashes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "exec/node/direct_copy.hpp"
#include "exec/node/segment.hpp"
#include "node_processes.hpp"

namespace circoll::node {

/// For the messages of gtest.
static void PrintTo(Reason reason, std::ostream* out) { *out << '"' << to_string(reason) << '"'; }

namespace {

constexpr std::size_t bytes = 8192;

/// A file that describes itself as a segment does, except where a test makes it wrong. Its peer is this process.
class Forgery {
 public:
  explicit Forgery(const Address& own, std::size_t size = bytes, int seals = F_SEAL_SHRINK | F_SEAL_GROW)
      : file_(memfd_create("forgery", MFD_CLOEXEC | MFD_ALLOW_SEALING)), address_(own) {
    struct stat status {};
    if (!file_ || ftruncate(file_.get(), static_cast<off_t>(size)) != 0 || fstat(file_.get(), &status) != 0 ||
        fcntl(file_.get(), F_ADD_SEALS, seals) != 0) {
      std::abort();
    }
    address_.file = file_.get();
    address_.device = status.st_dev;
    address_.inode = status.st_ino;
    address_.bytes = size;
    header_.pid = address_.pid;
    header_.start_time = address_.start_time;
    header_.bytes = size;
    header_.nonce = address_.nonce;
  }
  [[nodiscard]] Address& address() { return address_; }
  [[nodiscard]] SegmentHeader& header() { return header_; }
  void write_header() { write(&header_, offsetof(SegmentHeader, trial)); }
  void write(const void* data, std::size_t size) const {
    if (pwrite(file_.get(), data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  }
  [[nodiscard]] const FileDescriptor& file() const { return file_; }

 private:
  FileDescriptor file_;
  Address address_;
  SegmentHeader header_{};
};

class NodeForgery : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(own_.reason(), Reason::none); }
  [[nodiscard]] Reason mapped(const Address& address) const { return PeerSegment(own_.address(), address).reason(); }
  Segment own_{bytes};
};

TEST_F(NodeForgery, ThatIsRightInAllIsTaken) {
  Forgery forgery(own_.address());
  forgery.write_header();
  EXPECT_EQ(mapped(forgery.address()), Reason::none);
}

TEST_F(NodeForgery, WithoutAHeader) {
  Forgery forgery(own_.address());
  EXPECT_EQ(mapped(forgery.address()), Reason::other_header);
}

TEST_F(NodeForgery, OfAnotherVersion) {
  Forgery forgery(own_.address());
  ++forgery.header().version;
  forgery.write_header();
  EXPECT_EQ(mapped(forgery.address()), Reason::other_version);
}

TEST_F(NodeForgery, OfAnotherProcess) {
  Forgery forgery(own_.address());
  ++forgery.header().start_time;
  forgery.write_header();
  EXPECT_EQ(mapped(forgery.address()), Reason::other_header);
}

TEST_F(NodeForgery, ShorterThanItSays) {
  Forgery forgery(own_.address(), 4096);
  forgery.header().bytes = forgery.address().bytes = bytes;
  forgery.write_header();
  EXPECT_EQ(mapped(forgery.address()), Reason::other_file);
}

TEST_F(NodeForgery, ShorterThanAHeader) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, sizeof(SegmentHeader) - 1}) {
    Forgery forgery(own_.address(), size);
    EXPECT_EQ(mapped(forgery.address()), Reason::other_file) << size;
  }
}

TEST_F(NodeForgery, ThatCouldBeTruncatedLater) {
  Forgery forgery(own_.address(), bytes, F_SEAL_GROW);
  forgery.write_header();
  EXPECT_EQ(mapped(forgery.address()), Reason::unsealed_file);
}

TEST_F(NodeForgery, ThatCannotBeWritten) {
  Forgery forgery(own_.address());
  forgery.write_header();
  ASSERT_EQ(fcntl(forgery.file().get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  const Reason reason = mapped(forgery.address());
  EXPECT_NE(reason, Reason::none);
}

TEST_F(NodeForgery, ThatIsNoFileIsNotOpened) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  struct stat status {};
  ASSERT_EQ(fstat(ends[1], &status), 0);
  Address address = own_.address();
  address.file = ends[1];
  address.device = status.st_dev;
  address.inode = status.st_ino;
  address.bytes = 0;
  EXPECT_EQ(mapped(address), Reason::other_file);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(NodeForgery, ThatIsADirectory) {
  const FileDescriptor directory(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  ASSERT_EQ(fstat(directory.get(), &status), 0);
  Address address = own_.address();
  address.file = directory.get();
  address.device = status.st_dev;
  address.inode = status.st_ino;
  address.bytes = static_cast<std::uint64_t>(status.st_size);
  EXPECT_EQ(mapped(address), Reason::other_file);
}

TEST_F(NodeForgery, InPlaceOfAFileThatIsClosed) {
  for (const bool replaced : {false, true}) {
    const Process process([replaced](const Wire& line) {
      const Segment segment(bytes);
      close(segment.address().file);
      if (replaced) {
        const int other = memfd_create("other", 0);
        if (other != segment.address().file) (void)dup2(other, segment.address().file);
        (void)ftruncate(segment.address().file, bytes);
      }
      line.put(segment.address());
      line.wait();
    });
    const auto address = process.line().get<Address>();
    ASSERT_TRUE(address);
    EXPECT_EQ(mapped(*address), replaced ? Reason::other_file : Reason::no_file);
  }
}

TEST_F(NodeForgery, WithRandomBytesForAHeader) {
  std::mt19937_64 random(20);
  Forgery forgery(own_.address());
  for (int round = 0; round < 2000; ++round) {
    std::array<std::uint64_t, bytes / 8> page{};
    std::generate(page.begin(), page.end(), random);
    // Every other page begins with the right magic number.
    if (round % 2 == 0) std::memcpy(page.data(), &forgery.header(), sizeof forgery.header().magic);
    forgery.write(page.data(), bytes);
    EXPECT_NE(mapped(forgery.address()), Reason::none);
  }
}

TEST_F(NodeForgery, WithOneWrongBitInTheHeader) {
  Forgery forgery(own_.address());
  constexpr std::size_t used = offsetof(SegmentHeader, nonce) + sizeof(SegmentHeader::nonce);
  std::array<unsigned char, used> header{};
  std::memcpy(header.data(), static_cast<const void*>(&forgery.header()), used);
  for (std::size_t bit = 0; bit < used * 8; ++bit) {
    std::array<unsigned char, used> wrong = header;
    wrong[bit / 8] = static_cast<unsigned char>(wrong[bit / 8] ^ 1U << bit % 8);
    forgery.write(wrong.data(), used);
    EXPECT_NE(mapped(forgery.address()), Reason::none) << bit;
  }
}

TEST_F(NodeForgery, OfRandomAddresses) {
  std::mt19937_64 random(21);
  const std::size_t files = open_files();
  int direct = 0;
  for (int round = 0; round < 20000; ++round) {
    std::array<std::uint64_t, sizeof(Address) / 8> words{};
    std::generate(words.begin(), words.end(), random);
    Address address = __builtin_bit_cast(Address, words);
    // Right fields let some addresses pass the first checks. The pid is never that of another process, which could be
    // anybody's.
    if (round % 8 != 0) address.version = layout_version;
    if (round % 8 > 1) address.place = own_.address().place;
    if (round % 8 > 2) address.reason = Reason::none;
    address.pid = round % 8 > 3 ? own_.address().pid : static_cast<std::int32_t>(address.pid | 1 << 30);
    if (round % 8 > 4) address.start_time = own_.address().start_time;
    if (round % 8 > 5) address.file = static_cast<std::int32_t>(random() % 16);
    if (round % 8 > 6) address.header = own_.address().header - 4096 + random() % (4096 + 2 * bytes);
    EXPECT_NE(mapped(address), Reason::none);
    const DirectCopy copy(own_.address(), address);
    EXPECT_NE(copy.reading(), Reason::none);
    EXPECT_NE(copy.writing(), Reason::none);
    direct += copy.reading() == Reason::other_memory ? 1 : 0;
    EXPECT_FALSE(to_string(address.reason).empty());
    (void)is_alive(address);
  }
  EXPECT_GT(direct, 1000);  // so many came to the nonce
  EXPECT_EQ(open_files(), files);
  EXPECT_EQ(mapped_segments(), 1U);
  EXPECT_FALSE(own_.written_by_a_peer());
}

TEST_F(NodeForgery, OfOneWrongBitInAnAddress) {
  const PeerSegment right(own_.address(), own_.address());
  ASSERT_EQ(right.reason(), Reason::none);
  for (std::size_t bit = 0; bit < sizeof(Address) * 8; ++bit) {
    auto words = __builtin_bit_cast(std::array<unsigned char, sizeof(Address)>, own_.address());
    words[bit / 8] = static_cast<unsigned char>(words[bit / 8] ^ 1U << bit % 8);
    const Address address = __builtin_bit_cast(Address, words);
    if (address.pid != own_.address().pid && address.pid > 0 && is_alive(address)) continue;
    const Reason reason = mapped(address);
    // Mapping does not use two fields: the address of the header serves direct reading, and `users` tells why access
    // failed.
    const bool unused = address.header != own_.address().header || address.place.users != own_.address().place.users;
    EXPECT_EQ(reason == Reason::none, unused) << bit;
  }
}

}  // namespace
}  // namespace circoll::node
