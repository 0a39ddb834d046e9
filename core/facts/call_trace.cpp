#include "facts/call_trace.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "circoll/error.hpp"
#include "facts/hash.hpp"

namespace circoll::trace {
namespace {

constexpr std::string_view version = "1";
constexpr std::string_view trailer = "\nend ";
constexpr std::uint64_t empty_checksum = 0xcbf29ce484222325ULL;
constexpr std::size_t checksum_bytes = 8;

// The records of a rank. Greater numbers are calls.
constexpr std::uint64_t end_of_rank = 0;
constexpr std::uint64_t new_communicator = 1;
constexpr std::uint64_t new_shape = 2;
constexpr std::uint64_t first_call = 3;

constexpr std::int64_t most_ns = std::int64_t{1} << 60U;  // 36 years
constexpr Count most_bytes_of_call = Count{1} << 60U;

std::uint64_t checksum_of(std::string_view bytes, std::uint64_t before) {
  for (const char c : bytes) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return before;
}

/// Seven bits in a byte, the low ones first.
void put(std::string& to, std::uint64_t number) {
  for (; number >= 0x80U; number >>= 7U) to += static_cast<char>((number & 0x7fU) | 0x80U);
  to += static_cast<char>(number);
}

/// Small magnitudes of either sign become small numbers.
void put_signed(std::string& to, std::int64_t number) {
  put(to, static_cast<std::uint64_t>(number) << 1U ^ static_cast<std::uint64_t>(number >> 63));
}

void put(std::string& to, std::string_view text) {
  put(to, text.size());
  to += text;
}

void put_fixed(std::string& to, std::uint64_t number) {
  for (unsigned shift = 0; shift < 64; shift += 8) to += static_cast<char>(number >> shift & 0xffU);
}

std::uint64_t bits_of(const OperatorFacts& op) {
  return (op.commutative ? 1U : 0U) | (op.idempotent ? 2U : 0U) | (op.exact ? 4U : 0U) | (op.predefined ? 8U : 0U);
}

/// Collectives among all ranks come first, then alltoallw, then those of neighbours.
std::uint64_t number_of(const CalledCollective& called) {
  if (called.neighbor) return collective_count + 1 + static_cast<std::uint64_t>(*called.neighbor);
  return called.has_types ? collective_count : static_cast<std::uint64_t>(called.collective);
}

/// Thrown inside this file; the reader adds the name of the file.
struct Damage {
  std::string what;
};

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = static_cast<unsigned char>(next());
      if (shift == 63 && byte > 1) break;
      value |= (byte & 0x7fU) << shift;
      if (byte < 0x80U) return value;
    }
    throw Damage{"a number is too long"};
  }
  std::uint64_t number(std::uint64_t most, const char* what) {
    const std::uint64_t value = number();
    if (value > most) throw Damage{std::string(what) + " is out of range"};
    return value;
  }
  std::int64_t time(const char* what) {
    const std::uint64_t coded = number();
    const auto value = static_cast<std::int64_t>(coded >> 1U ^ (~(coded & 1U) + 1U));
    if (value > most_ns || value < -most_ns) throw Damage{std::string(what) + " is out of range"};
    return value;
  }
  std::uint64_t fixed() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 8)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(next())) << shift;
    return value;
  }
  std::string text() {
    const auto length = static_cast<std::size_t>(number(left(), "the length of a text"));
    if (length > left()) throw Damage{"a text goes beyond the end"};
    const std::string_view found = bytes_.substr(at_, length);
    at_ += length;
    return std::string(found);
  }

 private:
  char next() {
    if (at_end()) throw Damage{"it ends inside a record"};
    return bytes_[at_++];
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

CalledCollective called_of(std::uint64_t number) {
  if (number < collective_count) return static_cast<Collective>(number);
  if (number == collective_count) return CalledCollective::alltoallw();
  return static_cast<NeighborFunction>(number - collective_count - 1);
}

Rank size_of(const Communicator& communicator, Rank ranks) {
  return communicator.kind == Communicator::Kind::all ? ranks : static_cast<Rank>(communicator.members.size());
}

Communicator read_communicator(Decoder& in, Rank ranks, Rank rank) {
  Communicator read;
  read.kind = static_cast<Communicator::Kind>(in.number(2, "the kind of a communicator"));
  read.instance = static_cast<std::uint32_t>(in.number(0xffffffffU, "the number of a communicator"));
  if (read.kind != Communicator::Kind::some) return read;
  // Each member has a byte at least.
  const std::uint64_t members = in.number(in.left(), "the number of members of a communicator");
  read.members.reserve(static_cast<std::size_t>(members));
  Rank before = -1;
  for (std::uint64_t i = 0; i < members; ++i) {
    before += 1 + in.time("a member of a communicator");
    if (before < 0 || before >= ranks) throw Damage{"a member of a communicator is out of range"};
    read.members.push_back(before);
  }
  std::vector<Rank> sorted = read.members;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    throw Damage{"a rank is twice in a communicator"};
  if (!std::binary_search(sorted.begin(), sorted.end(), rank)) throw Damage{"a rank calls on a communicator of others"};
  return read;
}

Shape read_shape(Decoder& in, const RankTrace& of, Rank ranks) {
  Shape read;
  read.collective = called_of(in.number(collective_count + all_neighbor_functions.size(), "a collective"));
  read.mode = static_cast<CallMode>(in.number(2, "the mode of a call"));
  if (of.communicators.empty()) throw Damage{"a call has no communicator"};
  read.communicator = static_cast<std::uint32_t>(in.number(of.communicators.size() - 1, "a communicator"));
  read.count = static_cast<Count>(in.number(most_bytes_of_call, "the count of a call"));
  read.element_bytes = static_cast<Count>(in.number(most_bytes_of_call, "the size of an element"));
  if (read.element_bytes > 0 && read.count > most_bytes_of_call / read.element_bytes)
    throw Damage{"the bytes of a call are out of range"};
  const std::uint64_t op = in.number(15, "an operator");
  read.op = {.commutative = (op & 1U) != 0,
             .idempotent = (op & 2U) != 0,
             .exact = (op & 4U) != 0,
             .predefined = (op & 8U) != 0};
  const Communicator& communicator = of.communicators[read.communicator];
  const bool foreign = communicator.kind == Communicator::Kind::foreign;
  const auto most = foreign ? 0 : static_cast<std::uint64_t>(size_of(communicator, ranks) - 1);
  read.root = static_cast<Rank>(in.number(most, "a root"));
  read.request = static_cast<std::uint32_t>(in.number(0xffffffffU, "the number of a request"));
  read.served = in.text();
  return read;
}

RankTrace read_rank(Decoder& in, Rank ranks, Rank rank) {
  RankTrace of;
  of.facts.rank = static_cast<Rank>(in.number(static_cast<std::uint64_t>(ranks), "a rank"));
  if (of.facts.rank != rank) throw Damage{"the ranks do not stand in order"};
  of.facts.dropped = static_cast<std::int64_t>(in.number(most_ns, "the number of dropped calls"));
  of.facts.begin_ns = in.time("the begin of a program");
  of.facts.end_ns = in.time("the end of a program");
  of.facts.clock_rate = std::bit_cast<double>(in.fixed());
  if (!(of.facts.clock_rate > 0.5 && of.facts.clock_rate < 2)) throw Damage{"the rate of a clock is out of range"};
  std::int64_t last = 0;
  for (std::uint64_t record = in.number(); record != end_of_rank; record = in.number()) {
    if (record == new_communicator) {
      of.communicators.push_back(read_communicator(in, ranks, rank));
    } else if (record == new_shape) {
      of.shapes.push_back(read_shape(in, of, ranks));
    } else {
      if (record - first_call >= of.shapes.size()) throw Damage{"a call has no shape"};
      Call call{.shape = static_cast<std::uint32_t>(record - first_call)};
      call.begin_ns = last + in.time("the begin of a call");
      call.end_ns = call.begin_ns + static_cast<std::int64_t>(in.number(most_ns, "the time of a call"));
      if (call.begin_ns < -most_ns || call.end_ns > most_ns) throw Damage{"the time of a call is out of range"};
      last = call.end_ns;
      of.calls.push_back(call);
    }
  }
  return of;
}

Trace read_all(Decoder& in) {
  Trace trace;
  RunFacts& facts = trace.facts;
  // Each rank has some bytes.
  facts.ranks = static_cast<Rank>(in.number(in.left(), "the number of ranks"));
  if (facts.ranks < 1) throw Damage{"it has no ranks"};
  facts.cores = static_cast<Rank>(in.number(static_cast<std::uint64_t>(facts.ranks), "the number of ranks of a node"));
  if (facts.cores < 1) throw Damage{"a node has no ranks"};
  facts.clock_error_ns = static_cast<std::int64_t>(in.number(most_ns, "the error of the clocks"));
  facts.program = in.text();
  facts.mpi = in.text();
  facts.machine = in.text();
  for (Rank rank = 0; rank < facts.ranks; ++rank) trace.ranks.push_back(read_rank(in, facts.ranks, rank));
  if (!in.at_end()) throw Damage{"something follows the last rank"};
  return trace;
}

/// An open file without a name, which goes with the process.
FileDescriptor unnamed_file(const std::string& directory) {
  FileDescriptor file;
  if (!directory.empty()) file = FileDescriptor(open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  // Some file systems cannot do that.
  if (std::FILE* const temporary = std::tmpfile(); temporary != nullptr) {
    file = FileDescriptor(fcntl(fileno(temporary), F_DUPFD_CLOEXEC, 0));
    (void)std::fclose(temporary);
  }
  return file;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Trace read(std::string_view bytes, const std::string& source) {
  const auto fail = [&](const std::string& what) { throw Error(ErrorCode::parse, source + ": " + what); };
  if (!is_call_trace(bytes)) fail("this is no trace of CIRCOLL_TRACE=FILE" + std::string(file_suffix));
  const std::size_t line = bytes.substr(0, 64).find('\n');
  const std::string_view head = bytes.substr(0, line);
  if (line == std::string_view::npos) fail("the trace is cut off; was the job ended while it was written?");
  if (head.substr(file_magic.size()) != version) {
    fail("the trace has version '" + std::string(head.substr(file_magic.size())) +
         "', and this is Circoll for version " + std::string(version));
  }
  const std::size_t tail = trailer.size() + checksum_bytes;
  if (bytes.size() < line + 1 + tail || bytes.substr(bytes.size() - tail, trailer.size()) != trailer)
    fail("the trace is cut off; was the job ended while it was written?");
  const std::string_view whole = bytes.substr(0, bytes.size() - checksum_bytes);
  if (Decoder(bytes.substr(whole.size())).fixed() != checksum_of(whole, empty_checksum))
    fail("the trace is damaged: its checksum differs");
  Trace trace;
  try {
    Decoder in(bytes.substr(line + 1, bytes.size() - tail - line - 1));
    trace = read_all(in);
  } catch (const Damage& damage) {
    fail("the trace is damaged: " + damage.what);
  }
  return trace;
}

RankWriter::RankWriter(std::string directory, std::size_t most_bytes)
    : directory_(std::move(directory)), most_bytes_(most_bytes) {
  buffer_.reserve(std::min<std::size_t>(most_bytes, std::size_t{1} << 16U));
}

bool RankWriter::make_room() {
  if (full_) return false;
  if (buffer_.size() < most_bytes_) return true;
  if (!spilled_) spilled_ = unnamed_file(directory_);
  full_ = !spilled_ || exceeds_file_size_limit(spilled_bytes_ + buffer_.size()) || !write_all(spilled_.get(), buffer_);
  if (full_) return false;  // the part that was written is not counted, and the buffer still has it
  spilled_bytes_ += buffer_.size();
  buffer_.clear();
  return true;
}

std::uint32_t RankWriter::add(const Communicator& communicator) {
  if (full_) return communicators_++;
  put(buffer_, new_communicator);
  put(buffer_, static_cast<std::uint64_t>(communicator.kind));
  put(buffer_, communicator.instance);
  if (communicator.kind == Communicator::Kind::some) {
    put(buffer_, communicator.members.size());
    Rank before = -1;
    for (const Rank member : communicator.members) {
      put_signed(buffer_, member - before - 1);
      before = member;
    }
  }
  return communicators_++;
}

std::uint32_t RankWriter::add_communicator(std::span<const Rank> members, Rank ranks_of_world) {
  Communicator made{.kind = static_cast<Rank>(members.size()) == ranks_of_world ? Communicator::Kind::all
                                                                                : Communicator::Kind::some};
  Hash hash;
  for (std::size_t i = 0; i < members.size(); ++i) {
    hash.add(static_cast<std::uint64_t>(members[i]));
    if (members[i] != static_cast<Rank>(i)) made.kind = Communicator::Kind::some;
  }
  if (made.kind == Communicator::Kind::some) made.members.assign(members.begin(), members.end());
  made.instance = instances_[hash.value()]++;
  return add(made);
}

std::uint32_t RankWriter::add_foreign_communicator() { return add({.kind = Communicator::Kind::foreign}); }

std::uint32_t RankWriter::add_shape(const Shape& shape) {
  if (full_) return shapes_++;
  put(buffer_, new_shape);
  put(buffer_, number_of(shape.collective));
  put(buffer_, static_cast<std::uint64_t>(shape.mode));
  put(buffer_, shape.communicator);
  put(buffer_, static_cast<std::uint64_t>(shape.count));
  put(buffer_, static_cast<std::uint64_t>(shape.element_bytes));
  put(buffer_, bits_of(shape.op));
  put(buffer_, static_cast<std::uint64_t>(shape.root));
  put(buffer_, shape.request);
  put(buffer_, shape.served);
  return shapes_++;
}

void RankWriter::add_call(const Call& call) {
  if (!make_room()) {
    ++dropped_;
    return;
  }
  put(buffer_, first_call + call.shape);
  put_signed(buffer_, call.begin_ns - last_end_ns_);
  put(buffer_, static_cast<std::uint64_t>(std::max<std::int64_t>(call.end_ns - call.begin_ns, 0)));
  last_end_ns_ = std::max(call.end_ns, call.begin_ns);
}

void RankWriter::write(RankFacts facts, const Sink& sink) const {
  std::string text;
  put(text, static_cast<std::uint64_t>(facts.rank));
  put(text, static_cast<std::uint64_t>(dropped_));
  put_signed(text, facts.begin_ns);
  put_signed(text, facts.end_ns);
  put_fixed(text, std::bit_cast<std::uint64_t>(facts.clock_rate));
  sink(text);
  text.resize(std::size_t{1} << 20U);
  for (std::size_t at = 0; at < spilled_bytes_;) {
    const ssize_t got =
        pread(spilled_.get(), text.data(), std::min(text.size(), spilled_bytes_ - at), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;  // without the end of the rank the reader says that the file is damaged
    sink(std::string_view(text).substr(0, static_cast<std::size_t>(got)));
    at += static_cast<std::size_t>(got);
  }
  sink(buffer_);
  text.clear();
  put(text, end_of_rank);
  sink(text);
}

FileWriter::FileWriter(const RunFacts& facts, Sink sink) : sink_(std::move(sink)), checksum_(empty_checksum) {
  std::string text(file_magic);
  text.append(version).append("\n");
  put(text, static_cast<std::uint64_t>(facts.ranks));
  put(text, static_cast<std::uint64_t>(facts.cores));
  put(text, static_cast<std::uint64_t>(facts.clock_error_ns));
  put(text, facts.program);
  put(text, facts.mpi);
  put(text, facts.machine);
  part(text);
}

void FileWriter::part(std::string_view text) {
  checksum_ = checksum_of(text, checksum_);
  sink_(text);
}

void FileWriter::finish() {
  part(trailer);
  std::string text;
  put_fixed(text, checksum_);
  sink_(text);
}

}  // namespace circoll::trace
