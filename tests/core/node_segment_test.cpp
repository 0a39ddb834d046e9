// Segments, and what peers see of them while processes live, end and are killed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "circoll/error.hpp"
#include "exec/node/segment.hpp"
#include "node_processes.hpp"

namespace circoll::node {

/// For the messages of gtest.
static void PrintTo(Reason reason, std::ostream* out) { *out << '"' << to_string(reason) << '"'; }

namespace {

constexpr std::size_t bytes = 1 << 16;

TEST(NodeSegment, IsZeroAlignedAndAsLargeAsItSays) {
  const Segment segment(bytes);
  ASSERT_EQ(segment.reason(), Reason::none);
  EXPECT_EQ(segment.data().size(), bytes - sizeof(SegmentHeader));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(segment.data().data()) % Segment::alignment, 0U);
  EXPECT_TRUE(std::all_of(segment.data().begin(), segment.data().end(), [](std::byte b) { return b == std::byte{}; }));
  EXPECT_EQ(segment.address().pid, getpid());
  EXPECT_EQ(segment.address().bytes, bytes);
  EXPECT_NE(segment.address().nonce, 0U);
  EXPECT_FALSE(segment.written_by_a_peer());
  EXPECT_LE(Segment(Segment::default_bytes).address().bytes, std::uint64_t{2} << 20U);
}

TEST(NodeSegment, IsRoundedUpToPages) {
  const Segment segment(1);
  ASSERT_EQ(segment.reason(), Reason::none);
  EXPECT_EQ(segment.address().bytes, static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

TEST(NodeSegment, RefusesNoBytesAndTooMany) {
  EXPECT_THROW(Segment(0), Error);
  EXPECT_THROW(Segment(Segment::most_bytes + 1), Error);
  EXPECT_THROW(Segment(1, 0), Error);
}

TEST(NodeSegment, HasItsPagesAndKeepsItsSize) {
  const Segment segment(bytes);
  ASSERT_EQ(segment.reason(), Reason::none);
  const int file = segment.address().file;
  struct stat status {};
  ASSERT_EQ(fstat(file, &status), 0);
  EXPECT_GE(static_cast<std::size_t>(status.st_blocks) * 512, bytes);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(status.st_nlink, 0U);
  EXPECT_NE(ftruncate(file, 0), 0);
  EXPECT_NE(fcntl(file, F_GETFD) & FD_CLOEXEC, 0);
}

TEST(NodeSegment, TwoHaveDifferentNonces) {
  const Segment one(bytes);
  const Segment other(bytes);
  EXPECT_NE(one.address().nonce, other.address().nonce);
}

TEST(NodeSegment, TakesAllOfItAwayAgain) {
  const std::size_t files = open_files();
  {
    const Segment segment(bytes);
    ASSERT_EQ(segment.reason(), Reason::none);
    const PeerSegment peer(segment.address(), segment.address());
    ASSERT_EQ(peer.reason(), Reason::none);
    EXPECT_EQ(open_files(), files + 1);
    EXPECT_EQ(mapped_segments(), 2U);
    EXPECT_FALSE(has_a_name(segment.address()));
  }
  EXPECT_EQ(open_files(), files);
  EXPECT_EQ(mapped_segments(), 0U);
}

TEST(NodeSegment, IsTheSameMemoryInAPeer) {
  const Segment own(bytes);
  const Process process([](const Wire& line) {
    const Segment segment(bytes);
    line.put(segment.address());
    line.wait();
    line.put(segment.data()[100] == std::byte{42});
    segment.data().back() = std::byte{7};
    line.go_on();
    line.wait();
  });
  const auto address = process.line().get<Address>();
  ASSERT_TRUE(address);
  PeerSegment moved(own.address(), *address);
  const PeerSegment peer = std::move(moved);
  ASSERT_EQ(peer.reason(), Reason::none);
  ASSERT_EQ(peer.data().size(), bytes - sizeof(SegmentHeader));
  peer.data()[100] = std::byte{42};
  process.line().go_on();
  EXPECT_TRUE(process.line().get<bool>().value_or(false));
  process.line().wait();
  EXPECT_EQ(peer.data().back(), std::byte{7});
}

TEST(NodeSegment, LeavesNothingWhenItsProcessIsKilled) {
  const Segment own(bytes);
  const std::size_t files = open_files();
  Address address;
  {
    Process process(be_a_peer);
    address = process.line().get<Address>().value_or(Address{});
    ASSERT_EQ(address.reason, Reason::none);
    EXPECT_TRUE(is_alive(address));
    const PeerSegment before(own.address(), address);
    ASSERT_EQ(before.reason(), Reason::none);
    before.data()[0] = std::byte{1};
    process.kill_it();
    process.wait_for_end();
    // The parent has not reaped the process yet, so that pid and start time are still there.
    EXPECT_FALSE(is_alive(address));
    EXPECT_EQ(PeerSegment(own.address(), address).reason(), Reason::peer_is_gone);
    process.end();
    EXPECT_FALSE(is_alive(address));
    EXPECT_EQ(PeerSegment(own.address(), address).reason(), Reason::peer_is_gone);
    // The memory stays for those who have it, all pages of it.
    EXPECT_EQ(before.data()[0], std::byte{1});
    std::fill(before.data().begin(), before.data().end(), std::byte{2});
  }
  EXPECT_EQ(open_files(), files);
  EXPECT_EQ(mapped_segments(), 1U);  // our own
  EXPECT_FALSE(has_a_name(address));
}

TEST(NodeSegment, OfAProcessWhoseFirstThreadHasEndedIsAlive) {
  const Process process([](const Wire& line) {
    const Segment segment(bytes);
    line.put(segment.address());
    std::thread([&line, first = getpid()] {
      while (true) {
        const std::string path = "/proc/self/task/" + std::to_string(first) + "/stat";
        std::ifstream file(path);
        const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        if (text.find(") Z") != std::string::npos) break;
        std::this_thread::yield();
      }
      line.go_on();
      line.wait();
      _exit(0);
    }).detach();
    (void)syscall(SYS_exit, 0);
  });
  const auto address = process.line().get<Address>();
  ASSERT_TRUE(address);
  ASSERT_TRUE(process.line().get<char>());
  EXPECT_TRUE(is_alive(*address));
}

TEST(NodeSegment, IsNotInherited) {
  const Segment own(bytes);
  const Process process(be_a_peer);
  const auto address = process.line().get<Address>();
  ASSERT_TRUE(address);
  const PeerSegment peer(own.address(), *address);
  ASSERT_EQ(peer.reason(), Reason::none);
  ASSERT_EQ(mapped_segments(), 2U);
  const Process child([](const Wire& line) { line.put(mapped_segments()); });
  EXPECT_EQ(child.line().get<std::size_t>(), 0U);
}

TEST(NodeSegment, InAChildLeavesAloneWhatHasItsAddressesNow) {
  auto own = std::make_unique<Segment>(bytes);
  ASSERT_EQ(own->reason(), Reason::none);
  const Process child([&own](const Wire& line) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the address that the segment has in the parent
    void* const place = reinterpret_cast<void*>(own->address().header);
    void* const memory =
        mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    line.put(memory == place);
    own.reset();
    std::array<unsigned char, bytes / 4096> resident{};
    line.put(mincore(place, bytes, resident.data()) == 0);
  });
  EXPECT_EQ(child.line().get<bool>(), true);
  EXPECT_EQ(child.line().get<bool>(), true);
}

/// A change to an address, and the reason with which it is refused.
struct Change {
  const char* name;
  void (*change)(Address&);
  Reason reason;
};
const std::vector<Change> changes{
    {"no_segment", [](Address& a) { a.reason = Reason::memory_limit; }, Reason::memory_limit},
    {"version", [](Address& a) { ++a.version; }, Reason::other_version},
    {"boot", [](Address& a) { ++a.place.boot; }, Reason::other_kernel},
    {"network", [](Address& a) { ++a.place.network; }, Reason::other_network_namespace},
    {"pids", [](Address& a) { ++a.place.pids; }, Reason::other_pid_namespace},
    {"time", [](Address& a) { ++a.place.time; }, Reason::other_time_namespace},
    {"start_time", [](Address& a) { --a.start_time; }, Reason::peer_is_gone},
    {"pid", [](Address& a) { a.pid = 1; }, Reason::peer_is_gone},
    {"pid_zero", [](Address& a) { a.pid = 0; }, Reason::peer_is_gone},
    {"pid_negative", [](Address& a) { a.pid = -1; }, Reason::peer_is_gone},
    {"file", [](Address& a) { a.file = 1 << 20; }, Reason::no_file},
    {"file_negative", [](Address& a) { a.file = -1; }, Reason::no_file},
    {"socket", [](Address& a) { a.file = 1000; }, Reason::other_file},
    {"inode", [](Address& a) { ++a.inode; }, Reason::other_file},
    {"device", [](Address& a) { ++a.device; }, Reason::other_file},
    {"bytes", [](Address& a) { a.bytes += 4096; }, Reason::other_file},
    {"nonce", [](Address& a) { ++a.nonce; }, Reason::other_header},
};

class NodeAddress : public testing::TestWithParam<Change> {};

TEST_P(NodeAddress, IsCheckedBeforeItIsUsed) {
  const Segment own(bytes);
  const Process process([](const Wire& line) {
    (void)dup2(line.descriptor(), 1000);
    be_a_peer(line);
  });
  const auto address = process.line().get<Address>();
  ASSERT_TRUE(address);
  ASSERT_EQ(PeerSegment(own.address(), *address).reason(), Reason::none);
  Address changed = *address;
  GetParam().change(changed);
  const std::size_t files = open_files();
  const PeerSegment peer(own.address(), changed);
  EXPECT_EQ(peer.reason(), GetParam().reason);
  EXPECT_TRUE(peer.data().empty());
  EXPECT_EQ(open_files(), files);
  EXPECT_EQ(mapped_segments(), 1U);
}
INSTANTIATE_TEST_SUITE_P(Changes, NodeAddress, testing::ValuesIn(changes),
                         [](const testing::TestParamInfo<Change>& info) { return std::string(info.param.name); });

TEST(NodeAddress, WithALaterStartTimeIsOfAnotherProcess) {
  const Segment own(bytes);
  Address recycled = own.address();
  EXPECT_TRUE(is_alive(recycled));
  ++recycled.start_time;
  EXPECT_FALSE(is_alive(recycled));
}

TEST(NodeAddress, WithoutAPlaceReachesNobody) {
  const Segment peer(bytes);
  EXPECT_EQ(PeerSegment(Address{}, peer.address()).reason(), Reason::no_segment);
  const Segment own(bytes);
  EXPECT_EQ(PeerSegment(own.address(), Address{}).reason(), Reason::no_segment);
  EXPECT_EQ(PeerSegment().reason(), Reason::no_segment);
}

TEST(NodeAddress, OfAProcessWithAForeignProcReachesNobody) {
  const Segment peer(bytes);
  Address own = peer.address();
  own.reason = Reason::foreign_proc;
  EXPECT_EQ(PeerSegment(own, peer.address()).reason(), Reason::foreign_proc);
  // Other reasons for which it has no segment do not keep it from those of others.
  own.reason = Reason::memory_limit;
  EXPECT_EQ(PeerSegment(own, peer.address()).reason(), Reason::none);
}

TEST(NodeReason, EachIsASentenceOfItsOwn) {
  std::set<std::string_view> sentences;
  for (std::uint32_t value = 0; value <= static_cast<std::uint32_t>(Reason::unexpected) + 1; ++value) {
    const std::string_view sentence = to_string(static_cast<Reason>(value));
    EXPECT_GE(std::count(sentence.begin(), sentence.end(), ' '), 3) << sentence;
    EXPECT_TRUE(sentences.insert(sentence).second) << sentence;
  }
  EXPECT_EQ(to_string(static_cast<Reason>(0xffffffffU)), "the peer gives a reason that this version does not know");
}

}  // namespace
}  // namespace circoll::node
