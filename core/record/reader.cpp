#include "record/reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "circoll/collectives.hpp"
#include "facts/files.hpp"

namespace circoll::record {
namespace {

/// Values at their places in the bytes of a file. A Record is never made of them: its atomics have no copies.
template <typename T>
T at(std::span<const std::byte> bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string text_at(std::span<const std::byte> bytes, std::size_t offset, std::size_t length) {
  std::string text(reinterpret_cast<const char*>(bytes.data()) + offset, length);
  text.resize(std::min(text.find('\0'), text.size()));
  // The text may be shown on a terminal.
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return text;
}

constexpr std::int64_t most_ranks = std::int64_t{1} << 24U;

/// The last rank of a run, in 64 bits.
std::int64_t last_of(const RankRun& run) {
  return run.first + std::int64_t{run.stride} * (std::int64_t{run.count} - 1);
}

std::vector<RankRun> members_at(std::span<const std::byte> bytes, std::size_t offset, std::uint32_t runs, int size) {
  std::vector<RankRun> members;
  std::int64_t count = 0;
  for (std::uint32_t i = 0; i < runs; ++i) {
    const auto run = at<RankRun>(bytes, offset + i * sizeof(RankRun));
    if (run.count < 1 || run.stride == 0 || run.first < 0 || last_of(run) < 0) return {};
    if (std::max<std::int64_t>(run.first, last_of(run)) > most_ranks) return {};
    count += run.count;
    members.push_back(run);
  }
  return count == size ? members : std::vector<RankRun>{};
}

#define CIRCOLL_FIELD(type, field) (offset + offsetof(type, field))

std::optional<ReadCall> call_at(std::span<const std::byte> bytes, std::size_t offset,
                                const std::vector<std::string>& names) {
  const auto collective = at<std::uint8_t>(bytes, CIRCOLL_FIELD(Call, collective));
  const auto neighbor = at<std::uint8_t>(bytes, CIRCOLL_FIELD(Call, neighbor));
  const auto mode = at<std::uint8_t>(bytes, CIRCOLL_FIELD(Call, mode));
  const auto type = at<std::uint8_t>(bytes, CIRCOLL_FIELD(Call, type));
  const auto op = at<std::uint8_t>(bytes, CIRCOLL_FIELD(Call, op));
  const auto flags = at<std::uint8_t>(bytes, CIRCOLL_FIELD(Call, flags));
  const auto root = at<std::int32_t>(bytes, CIRCOLL_FIELD(Call, root));
  const auto amount = at<std::int64_t>(bytes, CIRCOLL_FIELD(Call, bytes));
  const auto algorithm = at<std::uint16_t>(bytes, CIRCOLL_FIELD(Call, algorithm));
  if (collective >= collective_count || mode > static_cast<std::uint8_t>(CallMode::persistent_start)) return {};
  if (neighbor > all_neighbor_functions.size()) return {};
  ReadCall call;
  call.collective = neighbor == 0 ? CalledCollective(static_cast<Collective>(collective))
                                  : CalledCollective(all_neighbor_functions[neighbor - 1U]);
  if (neighbor == 0 && (flags & with_types) != 0) call.collective = CalledCollective::alltoallw();
  call.sequence = at<std::uint64_t>(bytes, CIRCOLL_FIELD(Call, sequence));
  call.comm = at<std::uint64_t>(bytes, CIRCOLL_FIELD(Call, comm));
  call.number = at<std::uint64_t>(bytes, CIRCOLL_FIELD(Call, number));
  call.mode = static_cast<CallMode>(mode);
  if (root >= 0) call.root = root;
  if (amount >= 0) call.bytes = amount;
  if (type < type_count) call.type = static_cast<Type>(type);
  if (op < op_count) call.op = static_cast<Op>(op);
  call.failed = (flags & failed_call) != 0;
  call.unseen_end = (flags & unseen_end) != 0;
  call.intercomm = (flags & intercomm) != 0;
  call.begin_ns = at<std::int64_t>(bytes, CIRCOLL_FIELD(Call, begin_ns));
  call.end_ns = at<std::int64_t>(bytes, CIRCOLL_FIELD(Call, end_ns));
  if (algorithm < names.size()) call.algorithm = names[algorithm];
  call.thread = at<std::uint32_t>(bytes, CIRCOLL_FIELD(Call, thread));
  return call;
}

std::optional<ReadWait> wait_at(std::span<const std::byte> bytes, std::size_t offset) {
  ReadWait wait;
  wait.call = at<std::uint64_t>(bytes, CIRCOLL_FIELD(Wait, call));
  wait.peers = at<std::uint32_t>(bytes, CIRCOLL_FIELD(Wait, peers));
  wait.message = at<std::uint32_t>(bytes, CIRCOLL_FIELD(Wait, message));
  for (std::size_t i = 0; i < std::min(wait.peers, awaited_ranks); ++i) {
    const auto rank = at<std::int32_t>(bytes, CIRCOLL_FIELD(Wait, ranks) + i * sizeof(std::int32_t));
    if (rank < 0 || rank > most_ranks) return {};
    wait.ranks.push_back(rank);
  }
  return wait;
}

std::string complaint_about(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(Head)) {
    return fmt::format("it has {} bytes, too few for a record of Circoll", bytes.size());
  }
  const Head head = at<Head>(bytes, 0);
  if (head.magic == std::array<char, 8>{}) return "it is empty so far, or its writer died at the beginning";
  if (head.magic != magic) return "it is no record of Circoll";
  if (head.version != layout_version) {
    return fmt::format(
        "it has version {} of the layout, and this circoll reads version {}: use the circoll of the "
        "release whose drop-in wrote it",
        head.version, layout_version);
  }
  if (head.bytes != sizeof(Record)) return "it is damaged: its size is not that of its version";
  if (bytes.size() < sizeof(Record)) {
    return fmt::format("it is cut short: it has {} of {} bytes", bytes.size(), sizeof(Record));
  }
  if (head.pid <= 0 || head.pid > std::numeric_limits<pid_t>::max() || head.size < 1 || head.size > most_ranks ||
      head.rank < 0 || head.rank >= head.size)
    return "it is damaged: its process or rank cannot be";
  return {};
}

/// The sequence number that holds for all three moments; 0: there is none.
std::uint64_t sequence_at(std::size_t offset, std::span<const std::byte> before, std::span<const std::byte> between,
                          std::span<const std::byte> after) {
  const auto sequence = at<std::uint64_t>(between, offset);
  return at<std::uint64_t>(before, offset) == sequence && at<std::uint64_t>(after, offset) == sequence ? sequence : 0;
}

/// All bytes of a file that may be of a record; an error as `errno` has it in `*error`.
std::vector<std::byte> bytes_of(const FileDescriptor& file, int* error) {
  std::vector<std::byte> bytes(sizeof(Record));
  std::size_t length = 0;
  while (length < bytes.size()) {
    const ssize_t got = pread(file.get(), bytes.data() + length, bytes.size() - length, static_cast<off_t>(length));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) *error = errno;
    if (got <= 0) break;
    length += static_cast<std::size_t>(got);
  }
  bytes.resize(length);
  return bytes;
}

}  // namespace

const ReadComm* ReadRecord::comm(std::uint64_t id) const {
  const auto found = std::ranges::find(comms, id, &ReadComm::id);
  return found == comms.end() ? nullptr : &*found;
}

std::optional<Rank> ReadComm::rank_of(Rank world) const {
  std::int64_t before = 0;
  for (const RankRun& run : members) {
    const std::int64_t distance = std::int64_t{world} - run.first;
    const std::int64_t index = distance / run.stride;
    if (distance % run.stride == 0 && index >= 0 && index < run.count) return static_cast<Rank>(before + index);
    before += run.count;
  }
  return std::nullopt;
}

std::optional<Rank> ReadComm::world_rank(Rank rank) const {
  std::int64_t left = rank;
  if (left < 0) return std::nullopt;
  for (const RankRun& run : members) {
    if (left < run.count) return static_cast<Rank>(run.first + run.stride * left);
    left -= run.count;
  }
  return std::nullopt;
}

ReadRecord parse_record(std::span<const std::byte> before, std::span<const std::byte> between,
                        std::span<const std::byte> after) {
  ReadRecord record;
  for (const auto& bytes : {before, between, after}) {
    record.complaint = complaint_about(bytes);
    if (!record.complaint.empty()) return record;
  }
  const Head head = at<Head>(between, 0);
  record.pid = head.pid;
  record.process_start = head.process_start;
  record.job = head.job;
  record.started_ns = head.started_ns;
  record.started_monotonic_ns = head.started_monotonic_ns;
  record.rank = head.rank;
  record.size = head.size;
  record.signal = head.signal;
  record.host = text_at(between, offsetof(Head, host), sizeof head.host);
  record.boot = text_at(between, offsetof(Head, boot), sizeof head.boot);
  record.mpi = text_at(between, offsetof(Head, mpi), sizeof head.mpi);
  record.program = text_at(between, offsetof(Head, program), sizeof head.program);
  const auto phase = at<std::uint32_t>(between, offsetof(Record, phase));
  if (phase < static_cast<std::uint32_t>(Phase::running) || phase > static_cast<std::uint32_t>(Phase::ended)) {
    record.complaint = "it is damaged: the phase of its process cannot be";
    return record;
  }
  record.phase = static_cast<Phase>(phase);
  record.begun = at<std::uint64_t>(between, offsetof(Record, begun));

  std::vector<std::string> names;
  for (std::size_t i = 0; i < name_places; ++i)
    names.push_back(text_at(between, offsetof(Record, names) + i * name_bytes, name_bytes));
  for (std::size_t i = 0; i < comm_places; ++i) {
    const std::size_t offset = offsetof(Record, comms) + i * sizeof(CommPlace);
    if (sequence_at(CIRCOLL_FIELD(CommPlace, sequence), before, between, after) == 0) continue;
    ReadComm comm;
    comm.id = at<std::uint64_t>(between, CIRCOLL_FIELD(CommPlace, id));
    comm.size = at<std::int32_t>(between, CIRCOLL_FIELD(CommPlace, size));
    comm.rank = at<std::int32_t>(between, CIRCOLL_FIELD(CommPlace, rank));
    comm.by_use = at<std::uint32_t>(between, CIRCOLL_FIELD(CommPlace, by_use)) != 0;
    comm.calls = at<std::uint64_t>(between, CIRCOLL_FIELD(CommPlace, calls));
    if (comm.size < 1 || comm.size > most_ranks) continue;
    const auto runs = at<std::uint32_t>(between, CIRCOLL_FIELD(CommPlace, runs));
    if (runs > comm_runs) continue;
    comm.members = members_at(between, CIRCOLL_FIELD(CommPlace, members), runs, comm.size);
    comm.name = text_at(between, CIRCOLL_FIELD(CommPlace, name), sizeof CommPlace::name);
    record.comms.push_back(std::move(comm));
  }
  for (std::size_t i = 0; i < ring_calls; ++i) {
    const std::size_t offset = offsetof(Record, calls) + i * sizeof(Call);
    const std::uint64_t sequence = sequence_at(CIRCOLL_FIELD(Call, sequence), before, between, after);
    if (sequence == 0) {
      // An entry that was never used is no torn one.
      if (record.begun >= (i == 0 ? ring_calls : i)) ++record.torn;
      continue;
    }
    if (sequence % ring_calls != i) {
      ++record.torn;
      continue;
    }
    if (auto call = call_at(between, offset, names)) {
      record.calls.push_back(std::move(*call));
    } else {
      ++record.torn;
    }
  }
  std::ranges::sort(record.calls, {}, &ReadCall::sequence);
  // Nothing is older than a whole ring.
  if (!record.calls.empty()) {
    const std::uint64_t last = record.calls.back().sequence;
    std::erase_if(record.calls, [&](const ReadCall& call) { return call.sequence + ring_calls <= last; });
  }
  if (const auto s = sequence_at(offsetof(Record, wait), before, between, after); s != 0 && s % 2 == 0)
    record.wait = wait_at(between, offsetof(Record, wait));
  constexpr std::size_t stack = offsetof(Record, stack);
  record.stacks = sequence_at(stack, before, between, after);
  if (record.stacks != 0) {
    const auto depth =
        std::min(at<std::uint64_t>(between, stack + offsetof(Stack, depth)), std::uint64_t{stack_frames});
    for (std::size_t i = 0; i < depth; ++i)
      record.stack.push_back(
          at<std::uint64_t>(between, stack + offsetof(Stack, addresses) + i * sizeof(std::uint64_t)));
  }
  return record;
}

#undef CIRCOLL_FIELD

ReadRecord read_record(const std::string& path) {
  ReadRecord record;
  int error = 0;
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) {
    error = errno;
  } else if (!S_ISREG(status.st_mode)) {
    record.complaint = "it is no file";
  } else {
    std::array<std::vector<std::byte>, 3> moments;
    for (auto& bytes : moments) bytes = bytes_of(file, &error);
    if (error == 0) record = parse_record(moments[0], moments[1], moments[2]);
  }
  if (error != 0) record.complaint = std::string("it cannot be read: ") + std::strerror(error);
  record.path = path;
  if (!record.complaint.empty()) record.complaint = fmt::format("'{}': {}", path, record.complaint);
  return record;
}

}  // namespace circoll::record
