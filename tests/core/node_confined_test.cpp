// Processes that may not do everything: limits, filters, users and namespaces. Each process gets a reason, and goes on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "control_groups.hpp"
#include "exec/node/direct_copy.hpp"
#include "exec/node/limits.hpp"
#include "exec/node/segment.hpp"
#include "node_processes.hpp"

namespace circoll::node {

/// For the messages of gtest.
static void PrintTo(Reason reason, std::ostream* out) { *out << '"' << to_string(reason) << '"'; }

namespace {

constexpr std::size_t bytes = 1 << 16;
/// A confined process answers this reason if the machine did not let it become what the test wants.
constexpr Reason not_possible = static_cast<Reason>(1000);

Findings look_at(const Address& own, const Address& peer) {
  const PeerSegment segment(own, peer);
  const DirectCopy copy(own, peer);
  return {segment.reason(), copy.reading(), copy.writing()};
}

/// The reason that a confined process gets for its own segment.
Reason own_reason(const std::function<bool()>& confine) {
  const Process process([&confine](const Wire& line) {
    if (!confine()) return line.put(not_possible);
    line.put(Segment(bytes).reason());
  });
  return process.line().get<Reason>().value_or(Reason::unexpected);
}

bool limit(int resource, rlim_t value) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return false;
  limit.rlim_cur = value;
  return setrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0;
}

/// A filter that answers calls with an error.
bool forbid(const std::vector<long>& calls, int error) {
  std::vector<sock_filter> program{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long call : calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// Becomes a user that may do nothing. Its like can look into the process, as after exec.
bool become_nobody() {
  if (geteuid() == 0 && (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)) return false;
  return prctl(PR_SET_DUMPABLE, 1) == 0;
}

/// Leaves namespaces. A process without privileges over them gets these with a user namespace.
bool leave(int namespaces) { return unshare(namespaces) == 0 || unshare(namespaces | CLONE_NEWUSER) == 0; }

/// The findings of a confined process about this process, whose memory is open to it.
Findings from_inside(const Segment& own, const std::function<bool()>& confine) {
  (void)let_peers_copy();
  const Process process([&](const Wire& line) {
    if (!confine()) return line.put(Findings{.mapping = not_possible});
    line.put(look_at(Segment(bytes).address(), own.address()));
  });
  return process.line().get<Findings>().value_or(Findings{});
}

/// The findings of this process about a confined one.
Findings from_outside(const Segment& own, const std::function<bool()>& confine) {
  const Process process([&](const Wire& line) {
    if (!confine()) return line.put(Address{.reason = not_possible});
    be_a_peer(line);
  });
  const Address address = process.line().get<Address>().value_or(Address{});
  return address.reason == not_possible ? Findings{.mapping = not_possible} : look_at(own.address(), address);
}

TEST(NodeLimits, OfFileSizeIsAReasonAndNoSignal) {
  EXPECT_EQ(own_reason([] { return limit(RLIMIT_FSIZE, bytes - 1); }), Reason::file_size_limit);
  EXPECT_EQ(own_reason([] { return limit(RLIMIT_FSIZE, bytes); }), Reason::none);
}

TEST(NodeLimits, OfAddressesIsAReason) {
#ifdef CIRCOLL_SANITIZED
  GTEST_SKIP() << "a sanitizer needs addresses itself";
#endif
  const Reason reason = own_reason([] {
    // Some memory is left for all that is not a segment.
    std::ifstream file("/proc/self/statm");
    rlim_t pages = 0;
    file >> pages;
    return limit(RLIMIT_AS, pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes / 2);
  });
  EXPECT_EQ(reason, Reason::out_of_memory);
}

TEST(NodeLimits, OfOpenFilesIsAReason) {
  EXPECT_EQ(own_reason([] { return limit(RLIMIT_NOFILE, 0); }), Reason::too_many_files);
  const Segment own(bytes);
  const Findings findings = from_inside(own, [] { return true; });
  ASSERT_EQ(findings.mapping, Reason::none);
  const Process process([&own](const Wire& line) {
    const Segment segment(bytes);
    (void)limit(RLIMIT_NOFILE, 0);
    line.put(PeerSegment(segment.address(), own.address()).reason());
  });
  EXPECT_EQ(process.line().get<Reason>(), Reason::too_many_files);
}

TEST(NodeFilters, OfMemfdIsAReason) {
  for (const int error : {EPERM, ENOSYS}) {
    const Reason reason = own_reason([error] { return forbid({SYS_memfd_create}, error); });
    if (reason == not_possible) GTEST_SKIP() << "the machine permits no filters of system calls";
    EXPECT_EQ(reason, Reason::no_memfd) << error;
  }
}

TEST(NodeFilters, OfDirectCopiesLeaveSegments) {
  const Segment own(bytes);
  const Findings free = from_inside(own, [] { return true; });
  if (free.reading != Reason::none) GTEST_SKIP() << "there are no direct copies: " << to_string(free.reading);
  struct Case {
    std::vector<long> calls;
    int error;
    Reason reading;
    Reason writing;
  };
  for (const Case& c : {
           Case{{SYS_process_vm_readv, SYS_process_vm_writev}, EPERM, Reason::filtered, Reason::filtered},
           Case{{SYS_process_vm_readv, SYS_process_vm_writev}, ENOSYS, Reason::no_system_call, Reason::no_system_call},
           Case{{SYS_process_vm_writev}, EPERM, Reason::none, Reason::filtered},
           Case{{SYS_process_vm_readv}, EPERM, Reason::filtered, Reason::filtered},
       }) {
    const Findings findings = from_inside(own, [&c] { return forbid(c.calls, c.error); });
    if (findings.mapping == not_possible) GTEST_SKIP() << "the machine permits no filters of system calls";
    EXPECT_EQ(findings.mapping, Reason::none);
    EXPECT_EQ(findings.reading, c.reading);
    EXPECT_EQ(findings.writing, c.writing);
  }
}

TEST(NodeUsers, WhoAreNotDumpableAreRefused) {
  for (const int dumpable : {1, 0}) {
    const Process peer([dumpable](const Wire& line) {
      if (!become_nobody()) return line.put(Address{.reason = not_possible});
      (void)prctl(PR_SET_DUMPABLE, dumpable);
      be_a_peer(line);
    });
    const Address address = peer.line().get<Address>().value_or(Address{});
    if (address.reason == not_possible) GTEST_SKIP() << "the machine does not let a process have another user";
    const Process process([&address](const Wire& line) {
      (void)become_nobody();
      line.put(look_at(Segment(bytes).address(), address));
    });
    const Findings findings = process.line().get<Findings>().value_or(Findings{});
    if (dumpable == 1) {
      ASSERT_EQ(findings.mapping, Reason::none);
      if (findings.reading != Reason::none)
        GTEST_SKIP() << "there are no direct copies: " << to_string(findings.reading);
    } else {
      EXPECT_EQ(findings.mapping, Reason::not_permitted);
      EXPECT_TRUE(findings.reading == Reason::not_permitted || findings.reading == Reason::ptracer_unset);
      EXPECT_EQ(findings.writing, findings.reading);
    }
  }
}

TEST(NodeUsers, WhoAreOthersAreRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const Segment own(bytes);
  const Findings findings = from_inside(own, become_nobody);
  if (findings.mapping == not_possible) GTEST_SKIP() << "the machine does not let a process have another user";
  EXPECT_EQ(findings.mapping, Reason::not_permitted);
  EXPECT_NE(findings.reading, Reason::none);
}

TEST(NodeNamespaces, OfNetworksAreNodes) {
  const Segment own(bytes);
  const Findings findings = from_outside(own, [] { return leave(CLONE_NEWNET); });
  if (findings.mapping == not_possible) GTEST_SKIP() << "the machine permits no network namespaces";
  EXPECT_EQ(findings.mapping, Reason::other_network_namespace);
  EXPECT_EQ(findings.reading, Reason::other_network_namespace);
}

TEST(NodeNamespaces, OfUsersMayNotLookOut) {
  const Segment own(bytes);
  const Findings findings = from_inside(own, [] { return unshare(CLONE_NEWUSER) == 0; });
  if (findings.mapping == not_possible) GTEST_SKIP() << "the machine permits no user namespaces";
  EXPECT_EQ(findings.mapping, Reason::other_user_namespace);
  EXPECT_EQ(findings.reading, Reason::other_user_namespace);
  EXPECT_EQ(findings.writing, Reason::other_user_namespace);
}

/// Becomes a child in new namespaces, which only children enter, and passes nothing else on.
bool be_born(int namespaces) {
  if (!leave(namespaces)) return false;
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) return true;
  (void)waitpid(child, nullptr, 0);
  _exit(0);
}

/// Mounts a /proc for this process alone.
bool mount_proc(const char* options) {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("proc", "/proc", "proc", 0, options) == 0;
}

TEST(NodeNamespaces, OfPidsWithTheProcOfAnother) {
  const Segment own(bytes);
  const Findings findings = from_outside(own, [] { return be_born(CLONE_NEWPID); });
  if (findings.mapping == not_possible) GTEST_SKIP() << "the machine permits no pid namespaces";
  EXPECT_EQ(findings.mapping, Reason::other_pid_namespace);
  EXPECT_EQ(own_reason([] { return be_born(CLONE_NEWPID); }), Reason::foreign_proc);
}

TEST(NodeNamespaces, OfPids) {
  const Segment own(bytes);
  const Findings findings = from_outside(own, [] { return be_born(CLONE_NEWPID) && mount_proc(nullptr); });
  if (findings.mapping == not_possible) GTEST_SKIP() << "the machine permits no pid namespaces with a /proc";
  EXPECT_EQ(findings.mapping, Reason::other_pid_namespace);
  EXPECT_EQ(findings.reading, Reason::other_pid_namespace);
  EXPECT_EQ(own_reason([] { return be_born(CLONE_NEWPID) && mount_proc(nullptr); }), Reason::none);
}

#ifdef CLONE_NEWTIME
TEST(NodeNamespaces, OfTimes) {
  const Segment own(bytes);
  const Findings findings = from_outside(own, [] { return be_born(CLONE_NEWTIME); });
  if (findings.mapping == not_possible) GTEST_SKIP() << "the machine permits no time namespaces";
  EXPECT_EQ(findings.mapping, Reason::other_time_namespace);
}
#endif

TEST(NodeProc, ThatHidesOthers) {
  const Segment own(bytes);
  const Findings findings = from_inside(own, [] { return mount_proc("hidepid=2") && become_nobody(); });
  if (findings.mapping == not_possible) GTEST_SKIP() << "the machine permits no /proc with hidepid";
  EXPECT_EQ(findings.mapping, Reason::peer_is_hidden);
  EXPECT_NE(findings.reading, Reason::none);
}

TEST(NodeProc, ThatIsNotThere) {
  const std::string empty = testing::TempDir() + "/circoll_node_" + std::to_string(getpid());
  ASSERT_EQ(mkdir(empty.c_str(), 0700), 0);
  const Reason reason = own_reason([&empty] { return chroot(empty.c_str()) == 0; });
  rmdir(empty.c_str());
  if (reason == not_possible) GTEST_SKIP() << "only root can do without /proc";
  EXPECT_EQ(reason, Reason::no_proc);
}

class NodeMemoryLimit : public ControlGroupsTest {
 protected:
  [[nodiscard]] std::optional<std::uint64_t> room(const std::string& membership) const {
    std::ofstream(root_ + "/membership") << membership;
    return memory_room(files());
  }
};

TEST_F(NodeMemoryLimit, OfVersion2IsTheSmallestAbove) {
  write("/a/memory.max", "1000000\n");
  write("/a/memory.current", "600000\n");
  write("/a/b/memory.max", "max\n");
  write("/a/b/memory.current", "500000\n");
  write("/a/b/c/memory.max", "900000\n");
  write("/a/b/c/memory.current", "400000\n");
  EXPECT_EQ(room("0::/a/b/c\n"), 400000U);
  EXPECT_EQ(room("0::/a\n"), 400000U);
  EXPECT_EQ(room("0::/other\n"), std::nullopt);
}

TEST_F(NodeMemoryLimit, OfVersion1AndCachesThatCanBeDropped) {
  write("/memory/job/memory.limit_in_bytes", "1000000\n");
  write("/memory/job/memory.usage_in_bytes", "900000\n");
  write("/memory/job/memory.stat", "cache 5\ninactive_file 7\ntotal_inactive_file 300000\ntotal_active_file 20000\n");
  EXPECT_EQ(room("9:cpu,cpuacct:/\n4:hugetlb,memory:/job/step\n0::/\n"), 420000U);
  EXPECT_EQ(room("4:memoryless:/job\n"), std::nullopt);
}

TEST_F(NodeMemoryLimit, OfAContainerIsWhereItsGroupIsMounted) {
  write("/memory.max", "5000\n");
  write("/memory.current", "6000\n");
  EXPECT_EQ(room("0::/docker/0123\n"), 0U);
  EXPECT_EQ(room("0::/../../elsewhere\n"), 0U);
  EXPECT_EQ(room("0::/\n"), 0U);
}

TEST_F(NodeMemoryLimit, IsNothingIfTheFilesAreSomethingElse) {
  write("/memory.max", "many\n");
  write("/memory.current", "");
  for (const char* membership : {"", "\n", "::", ":\n:", "0:", "0::", "abc", "4:memory:x\n"})
    EXPECT_EQ(room(membership), std::nullopt) << membership;
  EXPECT_EQ(memory_room({.membership = root_ + "/none", .mount = root_}), std::nullopt);
}

TEST_F(NodeMemoryLimit, IsKeptByHalf) {
  for (const char* file : {"/memory.max", "/memory/memory.limit_in_bytes"}) write(file, std::to_string(8 * bytes));
  for (const char* file : {"/memory.current", "/memory/memory.usage_in_bytes"}) write(file, "0");
  for (const bool fits : {true, false}) {
    const Process process([this, fits](const Wire& line) {
      // The process sees the files of the test in place of its control groups.
      if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          mount(root_.c_str(), "/sys/fs/cgroup", nullptr, MS_BIND, nullptr) != 0) {
        return line.put(not_possible);
      }
      line.put(Segment(bytes, fits ? 4 : 5).reason());
    });
    const Reason reason = process.line().get<Reason>().value_or(Reason::unexpected);
    if (reason == not_possible) GTEST_SKIP() << "the machine permits no mounts";
    EXPECT_EQ(reason, fits ? Reason::none : Reason::memory_limit);
  }
}

}  // namespace
}  // namespace circoll::node
