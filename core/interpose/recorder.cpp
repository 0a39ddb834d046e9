#include "interpose/recorder.hpp"

#include <execinfo.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX's
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>

#include "circoll/collectives.hpp"
#include "exec/mpi/call/datatype.hpp"
#include "exec/mpi/call/elements.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/comm/long_waits.hpp"
#include "exec/mpi/comm/placement.hpp"
#include "exec/mpi/library/base.hpp"
#include "facts/environment.hpp"
#include "facts/hash.hpp"
#include "facts/program_name.hpp"
#include "interpose/hang_watch.hpp"
#include "record/process.hpp"

namespace circoll::interpose {
namespace {

/// Jobs that were killed leave their records behind, for `circoll hang`. The next jobs take away those of older ones.
constexpr std::size_t kept_jobs = 8;

/// The writer of this process, for functions without arguments.
std::atomic<record::Writer*> own_writer{nullptr};

void note_wait(std::span<const Rank> peers, std::uint32_t message) noexcept {
  if (record::Writer* const writer = own_writer.load(std::memory_order_relaxed)) writer->note_wait(peers, message);
}

/// Writes the stack of the thread that gets the signal.
void write_stack(int /*signal*/) {
  const int error = errno;
  if (record::Writer* const writer = own_writer.load(std::memory_order_relaxed)) {
    std::array<void*, record::stack_frames> frames{};
    const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
    record::Stack& stack = writer->stack();
    // The first two are this function and the system's frame around it.
    stack.depth = static_cast<std::uint64_t>(std::max(0, depth - 2));
    for (int i = 2; i < depth; ++i)
      stack.addresses[static_cast<std::size_t>(i - 2)] =
          reinterpret_cast<std::uintptr_t>(frames[static_cast<std::size_t>(i)]);
    stack.taken.fetch_add(1, std::memory_order_release);
  }
  errno = error;
}

/// A signal that nobody uses has the stack written. Returns it; 0 if there is none.
int install_handler() {
  for (int signal = SIGRTMAX - 2; signal > SIGRTMIN + 8; --signal) {
    struct sigaction before {};
    if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction ours {};
    ours.sa_handler = write_stack;
    ours.sa_flags = SA_RESTART;
    sigfillset(&ours.sa_mask);
    // The first call of backtrace() loads a library, which a handler must not do.
    std::array<void*, 2> frames{};
    (void)backtrace(frames.data(), static_cast<int>(frames.size()));
    return sigaction(signal, &ours, nullptr) == 0 ? signal : 0;
  }
  return 0;
}

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  PMPI_Get_library_version(version.data(), &length);
  std::string text(version.data(), static_cast<std::size_t>(length));
  text.resize(std::min(text.find_first_of(",\n"), text.size()));
  std::ranges::replace(text, '\t', ' ');
  return text;
}

/// The members of a communicator in MPI_COMM_WORLD; empty if one is not in it.
std::vector<int> members_of(MPI_Comm comm, bool inter) {
  MPI_Group local = MPI_GROUP_NULL, remote = MPI_GROUP_NULL;
  std::vector<int> members, others;
  PMPI_Comm_group(comm, &local);
  bool known = mpi::find_world_ranks(local, &members);
  PMPI_Group_free(&local);
  if (inter) {
    PMPI_Comm_remote_group(comm, &remote);
    known = mpi::find_world_ranks(remote, &others) && known;
    PMPI_Group_free(&remote);
    // Both groups give the same order.
    const bool after = known && others.front() < members.front();
    members.insert(after ? members.begin() : members.end(), others.begin(), others.end());
  }
  if (!known) members.clear();
  return members;
}

record::CallMode mode_of(Mode mode) {
  switch (mode) {
    case Mode::blocking:
      return record::CallMode::blocking;
    case Mode::nonblocking:
      return record::CallMode::nonblocking;
    case Mode::persistent:
      break;
  }
  return record::CallMode::persistent_init;
}

/// The elements of a call that all ranks know to be as many, at this rank.
struct Amount {
  Count count = -1;  ///< -1: there are none such
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

Amount amount_of(const mpi::Call& call, int rank) {
  switch (call.collective) {
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::scan:
    case Collective::exscan:
      return {call.sendcount, call.sendtype};
    case Collective::reduce_scatter_block:
      return {call.recvcount, call.sendtype};
    case Collective::reduce_scatter:
      return {-1, call.sendtype};
    case Collective::bcast:
    case Collective::allgather:
    case Collective::alltoall:
      return {call.recvcount, call.recvtype};
    case Collective::gather:
      return rank == call.root ? Amount{call.recvcount, call.recvtype} : Amount{call.sendcount, call.sendtype};
    case Collective::scatter:
      return rank == call.root ? Amount{call.sendcount, call.sendtype} : Amount{call.recvcount, call.recvtype};
    default:
      return {};
  }
}

}  // namespace

Recorder::Recorder(std::unique_ptr<record::Writer> writer) : writer_(std::move(writer)) {}
Recorder::~Recorder() = default;

std::string Recorder::directory_setting() {
  const std::string value = environment("CIRCOLL_RECORD").value_or(environment("CIRCOLL_HANG_AFTER") ? "on" : "off");
  if (value == "off") return {};
  return value == "on" ? record::usual_directory() : value;
}

std::unique_ptr<Recorder> Recorder::make(const std::string& directory, std::uint64_t job, std::string* why_not) {
  const bool usual = directory == record::usual_directory();
  if (usual && mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    *why_not = "'" + directory + "' cannot be made: " + std::strerror(errno);
    return nullptr;
  }
  struct stat status {};
  // Another user may have made a directory of that name in /dev/shm.
  if (usual && (lstat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != getuid())) {
    *why_not = "'" + directory + "' is not a directory of this user";
    return nullptr;
  }
  int rank = 0, size = 1;
  PMPI_Comm_rank(mpi::base_world(), &rank);
  PMPI_Comm_size(mpi::base_world(), &size);
  if (usual) record::remove_stale(directory, kept_jobs);
  const std::string mpi = mpi_version(), program = program_name();
  const int signal = install_handler();
  auto writer = record::Writer::create(
      directory + "/" + record::record_name(job, rank),
      {.rank = rank, .size = size, .job = job, .mpi = mpi, .program = program, .signal = signal}, why_not);
  if (writer == nullptr) return nullptr;
  own_writer = writer.get();
  auto recorder = std::unique_ptr<Recorder>(new Recorder(std::move(writer)));
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Recorder::forget, &recorder->keyval_, recorder.get()) !=
      MPI_SUCCESS)
    recorder->keyval_ = MPI_KEYVAL_INVALID;
  KnownComm& world = recorder->comms_.emplace_back();
  world.id = record::world_id;
  world.rank = rank;
  recorder->describe(world, mpi::base_world());
  world.handle.store(MPI_COMM_WORLD, std::memory_order_release);
  recorder->last_ = &world;
  mpi::long_waits() = note_wait;
  recorder->watch_ = HangWatch::begin(directory, rank, recorder->writer_->path());
  return recorder;
}

void Recorder::describe(KnownComm& comm, MPI_Comm handle) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0, size = 1;
  PMPI_Comm_get_name(handle, name.data(), &length);
  PMPI_Comm_size(handle, &size);
  const std::vector<int> members = members_of(handle, comm.inter);
  const std::scoped_lock lock(mutex_);
  owners_[comm.place] = &comm;
  writer_->describe(comm.place, comm.id, members.empty() ? size : static_cast<int>(members.size()), comm.rank, members,
                    {name.data(), static_cast<std::size_t>(length)}, comm.by_use);
  writer_->count(comm.place, comm.calls);
}

Recorder::KnownComm* Recorder::add(MPI_Comm comm, bool by_use) {
  // MPI holds locks of its own where it calls forget(). So no function of MPI is called under the mutex.
  int inter = 0, rank = 0;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_rank(comm, &rank);
  const std::vector<int> members = members_of(comm, inter != 0);
  Hash hash;
  for (const int member : members) hash.add(static_cast<std::uint64_t>(member));
  if (members.empty()) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    hash.add("of ranks outside").add(static_cast<std::uint64_t>(size));
  }
  hash.add(inter != 0 ? 1U : 0U).add(by_use ? 1U : 0U);
  std::unique_lock lock(mutex_);
  hash.add(static_cast<std::uint64_t>(++made_of_[hash.value()]));
  auto place = std::ranges::find_if(comms_, [](const KnownComm& one) { return one.handle.load() == MPI_COMM_NULL; });
  KnownComm& known = place != comms_.end() ? *place : comms_.emplace_back();
  known.id = std::max(hash.value(), record::world_id + 1);
  known.calls = 0;
  known.inter = inter != 0;
  known.by_use = by_use;
  known.memo = {};
  known.rank = rank;
  known.place = next_place_;
  next_place_ = next_place_ + 1 == record::comm_places ? 1 : next_place_ + 1;
  known.handle.store(comm, std::memory_order_release);
  lock.unlock();
  describe(known, comm);
  return &known;
}

Recorder::KnownComm* Recorder::find_slowly(MPI_Comm comm) noexcept {
  if (comm == MPI_COMM_NULL) return nullptr;
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(comms_, [&](const KnownComm& one) { return one.handle.load() == comm; });
  if (found == comms_.end()) return nullptr;
  last_.store(&*found, std::memory_order_release);
  return &*found;
}

void Recorder::meet_slowly(MPI_Comm comm) noexcept {
  try {
    // Nothing can be attached any more to one that is being freed.
    if (keyval_ == MPI_KEYVAL_INVALID || find_slowly(comm) != nullptr || mpi::Freeing::is(comm)) return;
    KnownComm* const known = add(comm, true);
    known->calls = 1;
    writer_->count(known->place, known->calls);
    (void)PMPI_Comm_set_attr(comm, keyval_, known);
  } catch (...) {
    return;
  }
}

void Recorder::failed(MPI_Comm comm, int error) noexcept {
  int of_class = MPI_SUCCESS;
  if (PMPI_Error_class(error, &of_class) != MPI_SUCCESS) return;
  const bool refused = of_class == MPI_ERR_COUNT || of_class == MPI_ERR_TYPE || of_class == MPI_ERR_OP ||
                       of_class == MPI_ERR_ROOT || of_class == MPI_ERR_BUFFER || of_class == MPI_ERR_ARG;
  if (!refused) return;
  KnownComm* const known = find(comm);
  if (known == nullptr || known->calls == 0) return;
  writer_->count(known->place, --known->calls);
}

void Recorder::made(MPI_Comm comm) noexcept {
  try {
    if (comm == MPI_COMM_NULL || keyval_ == MPI_KEYVAL_INVALID) return;
    (void)PMPI_Comm_set_attr(comm, keyval_, add(comm, false));
  } catch (...) {
    return;
  }
}

int Recorder::forget(MPI_Comm /*comm*/, int /*keyval*/, void* value, void* extra) {
  auto& recorder = *static_cast<Recorder*>(extra);
  auto* const known = static_cast<KnownComm*>(value);
  const std::scoped_lock lock(recorder.mutex_);
  known->handle.store(MPI_COMM_NULL, std::memory_order_release);
  return MPI_SUCCESS;
}

void Recorder::describe_again(KnownComm& comm, MPI_Comm handle) noexcept {
  try {
    describe(comm, handle);
  } catch (...) {
    return;  // no memory: its members are not known
  }
}

Recorder::Memo Recorder::read(MPI_Datatype type, MPI_Op op) {
  Memo memo{.type = type, .op = op};
  const mpi::TypeInfo info = mpi::describe(type);
  memo.type_bytes = info.valid ? info.size_bytes : -1;
  if (info.named && info.element) memo.element = static_cast<std::uint8_t>(*info.element);
  const auto predefined = op == MPI_OP_NULL ? std::nullopt : mpi::predefined_op(op);
  if (predefined) memo.op_code = static_cast<std::uint8_t>(*predefined);
  // The handles of others may become those of new objects.
  memo.known = info.named && (predefined || op == MPI_OP_NULL);
  return memo;
}

const Recorder::Memo& Recorder::read_into(Memo& memo, MPI_Datatype type, MPI_Op op) noexcept {
  try {
    memo = read(type, op);
  } catch (...) {
    memo = {};
    memo.type_bytes = -1;
  }
  return memo;
}

std::uint64_t Recorder::begin(const mpi::Call& call, Mode mode) noexcept {
  KnownComm* const known = enter(call.comm);
  const auto collective = static_cast<std::uint8_t>(call.collective);
  const auto types = static_cast<std::uint8_t>(call.has_types ? record::with_types : 0);
  if (known == nullptr || known->inter) [[unlikely]]
    return begin_without_amount(known, {.collective = collective, .mode = mode_of(mode), .flags = types});
  const Amount amount = amount_of(call, known->rank);
  MPI_Op op = is_reducing(call.collective) ? call.op : MPI_Op{MPI_OP_NULL};
  const bool has_type = amount.type != MPI_DATATYPE_NULL;
  const Memo* memo = &no_type_;
  if (has_type) {
    Memo& place = known->memo[static_cast<std::size_t>(call.collective) % memos];
    const bool same = place.known && place.type == amount.type && place.op == op;
    memo = same ? &place : &read_into(place, amount.type, op);
  }
  return writer_->begin({.comm = known->id,
                         .number = known->calls,
                         .bytes = amount.count >= 0 && memo->type_bytes >= 0 ? amount.count * memo->type_bytes : -1,
                         .root = is_rooted(call.collective) ? call.root : -1,
                         .collective = collective,
                         .mode = mode_of(mode),
                         .type = memo->element,
                         .op = memo->op_code,
                         .flags = types,
                         .thread = static_cast<std::uint32_t>(thread_number())});
}

std::uint64_t Recorder::begin(const mpi::NeighborCall& call, Mode mode) noexcept {
  return begin_without_amount(enter(call.comm),
                              {.collective = static_cast<std::uint8_t>(among_all(call.function)),
                               .neighbor = static_cast<std::uint8_t>(1 + static_cast<int>(call.function)),
                               .mode = mode_of(mode)});
}

std::uint64_t Recorder::begin_without_amount(const KnownComm* known, record::Begun begun) noexcept {
  begun.comm = known == nullptr ? record::unknown_comm : known->id;
  begun.number = known == nullptr ? 0 : known->calls;
  begun.thread = static_cast<std::uint32_t>(thread_number());
  if (known != nullptr && known->inter) begun.flags |= record::intercomm;
  return writer_->begin(begun);
}

std::uint16_t Recorder::name_of(const Selection& served) noexcept {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(served.algorithm));
  // Addresses of users have 48 bits at most.
  std::atomic<std::uint64_t>& memo = names_[address / alignof(Algorithm) % names_.size()];
  const std::uint64_t word = memo.load(std::memory_order_relaxed);
  if (address != 0 && word >> 16U == address) return static_cast<std::uint16_t>(word & 0xffffU);
  try {
    const std::scoped_lock lock(mutex_);
    const std::uint16_t place = writer_->name(served.algorithm == nullptr ? "direct" : served.id());
    memo.store(address << 16U | place, std::memory_order_relaxed);
    return place;
  } catch (...) {
    return record::unknown_name;
  }
}

void Recorder::end(std::uint64_t sequence, const Selection* served, int error) noexcept {
  writer_->end(sequence, served == nullptr ? record::native_name : name_of(*served),
               error == MPI_SUCCESS ? std::uint8_t{0} : std::uint8_t{record::failed_call});
}

void Recorder::leave(std::uint64_t sequence) noexcept { writer_->leave(sequence); }

void Recorder::made(MPI_Request request, std::uint64_t sequence, bool served) noexcept {
  try {
    const record::Call& entry = writer_->record().calls[sequence % record::ring_calls];
    if (entry.sequence.load() != sequence) return;
    KnownRequest known{.begun = {.comm = entry.comm,
                                 .number = entry.number,
                                 .bytes = entry.bytes,
                                 .root = entry.root,
                                 .collective = entry.collective,
                                 .neighbor = entry.neighbor,
                                 .mode = record::CallMode::persistent_start,
                                 .type = entry.type,
                                 .op = entry.op,
                                 .flags = static_cast<std::uint8_t>(entry.flags.load() & ~record::failed_call),
                                 .thread = entry.thread},
                       .init = sequence,
                       .served = served};
    const std::scoped_lock lock(mutex_);
    requests_[number_of(request)] = known;
    handles_[sequence] = number_of(request);
  } catch (...) {
    return;
  }
}

void Recorder::started(MPI_Request request) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = requests_.find(number_of(request));
  if (found == requests_.end()) return;
  found->second.start = writer_->begin(found->second.begun);
  if (!found->second.served) writer_->leave(found->second.start);
}

void Recorder::freed(MPI_Request request) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = requests_.find(number_of(request));
  if (found == requests_.end()) return;
  handles_.erase(found->second.init);
  requests_.erase(found);
}

void Recorder::ended(std::uint64_t maker, bool persistent, const Selection* served, int error) noexcept {
  std::uint64_t sequence = maker;
  if (persistent) {
    const std::scoped_lock lock(mutex_);
    const auto handle = handles_.find(maker);
    const auto request = handle == handles_.end() ? requests_.end() : requests_.find(handle->second);
    if (request == requests_.end() || request->second.init != maker) return;
    sequence = request->second.start;
  }
  if (sequence != 0) end(sequence, served, error);
}

void Recorder::finalizing() noexcept {
  watch_.reset();
  writer_->enter(record::Phase::finalizing);
}

void Recorder::finalized() noexcept {
  writer_->enter(record::Phase::ended);
  writer_->remove();
  mpi::long_waits() = nullptr;
}

}  // namespace circoll::interpose
