// CIRCOLL_BITS_RECORD=DIRECTORY: each rank writes a line for each collective, with hashes of what it gave and got.
//
// circoll bits-compare makes such records of several runs, and compares them (tools/measured/bits_of_runs.hpp reads
// them, and has the format). The wrapper changes no call. A nonblocking call has its line when it ends.
// The end of one that the MPI library serves is not known here, so that its result is not either. Calls
// without a line are counted.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "circoll/ops.hpp"
#include "exec/mpi/call/caller_buffers.hpp"
#include "exec/mpi/call/elements.hpp"
#include "exec/mpi/comm/placement.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/pending/nonblocking.hpp"
#include "facts/environment.hpp"
#include "facts/hash.hpp"
#include "interpose/check_record.hpp"
#include "interpose/event.hpp"
#include "wrappers/bits/call_bits.hpp"
#include "wrappers/wrappers.hpp"

namespace circoll::interpose {
namespace {

namespace fs = std::filesystem;

/// The entry point of the call that this thread is about to make.
thread_local const void* current_caller = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
/// The number of the nonblocking call that this thread is about to make; 0: it is not recorded.
thread_local std::uint64_t current_ticket = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// A communicator in the record: its place in it, and the calls on it so far.
struct RecordedComm {
  std::size_t index = 0;
  std::uint64_t calls = 0;
};
using CommPointer = std::shared_ptr<RecordedComm>;

class BitsRecord final : public Serving {
 public:
  BitsRecord(std::ofstream file, std::unique_ptr<Serving> next) : Serving(std::move(next)), file_(std::move(file)) {
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval_, nullptr);
    int rank = 0, size = 1;
    Rank own = 0, all = 0;
    PMPI_Comm_rank(mpi::base_world(), &rank);
    PMPI_Comm_size(mpi::base_world(), &size);
    file_ << fmt::format("circoll_bits 1 rank {} of {}\n", rank, size);
    // It is the first one of its ranks.
    if (!mpi::base_is_made()) (void)find(MPI_COMM_WORLD, &own, &all);
  }

  [[nodiscard]] int admit(const mpi::Call& call, Mode mode, const void* caller) override {
    current_caller = callers_.outside_mpi(caller);
    const int refused = Serving::admit(call, mode, caller);
    current_ticket = 0;
    if (refused != MPI_SUCCESS || mode == Mode::blocking) return refused;
    std::optional<Begun> begun;
    if (mode == Mode::nonblocking) begun = begin(call);
    if (!begun) {
      ++unseen_;
      return MPI_SUCCESS;
    }
    begun->bits->keep();
    const std::lock_guard lock(mutex_);
    current_ticket = ++tickets_;
    under_way_.emplace(current_ticket, *std::move(begun));
    return MPI_SUCCESS;
  }
  [[nodiscard]] int admit(const mpi::NeighborCall& call, Mode mode, const void* caller) override {
    ++unseen_;
    return Serving::admit(call, mode, caller);
  }

  [[nodiscard]] mpi::CallResult perform(const mpi::Call& call, const mpi::InternedChoice& choice, bool timed) override {
    const std::optional<Begun> begun = begin(call);
    mpi::CallResult result = Serving::perform(call, choice, timed);
    if (!begun) {
      ++unseen_;
      return result;
    }
    const bool good = result.error == MPI_SUCCESS;
    write(*begun, good ? std::optional(begun->bits->result()) : std::nullopt,
          name_of(mpi::called(call), result.served()));
    return result;
  }

  void made(MPI_Comm comm) noexcept override {
    Serving::made(comm);
    try {
      Rank rank = 0, size = 0;
      (void)find(comm, &rank, &size);
    } catch (const std::bad_alloc&) {
      return;  // its first call gives it a line
    }
  }

  [[nodiscard]] std::uint64_t ticket() override { return current_ticket; }

  void ended(const mpi::Ended& ended) noexcept override {
    try {
      std::optional<Begun> begun;
      {
        const std::lock_guard lock(mutex_);
        if (auto found = under_way_.extract(ended.ticket); !found.empty()) begun = std::move(found.mapped());
      }
      if (!begun) return;
      const bool seen = ended.outcome.served() != nullptr && ended.outcome.error == MPI_SUCCESS;
      write(*begun, seen ? std::optional(begun->bits->result()) : std::nullopt,
            name_of(ended.collective, ended.outcome.served()));
    } catch (const std::bad_alloc&) {
      ++unseen_;  // the reader says that a line is missing
    }
  }

  void finish(const void* caller) noexcept override {
    const std::lock_guard lock(mutex_);
    for (const auto& [ticket, begun] : under_way_) {
      file_ << fmt::format("{} {:016x} - native\n", begun.line, begun.given);
      ++lines_;
    }
    file_ << fmt::format("end {} unseen {}\n", lines_, unseen_.load());
    file_.close();
    Serving::finish(caller);
  }

 private:
  /// A call before it is made.
  struct Begun {
    std::unique_ptr<CallBits> bits{};
    std::string line{};
    std::uint64_t given = 0;
  };

  /// Nothing: the call is not recorded.
  std::optional<Begun> begin(const mpi::Call& call) {
    Rank rank = 0, size = 0;
    const CommPointer comm = find(call.comm, &rank, &size);
    if (comm == nullptr) return std::nullopt;
    const mpi::CallerBuffers buffers(call, rank, size);
    if (buffers.erroneous() || mpi::has_device_buffer(call, rank, size)) return std::nullopt;
    Begun begun{.bits = std::make_unique<CallBits>(call, rank, size)};
    begun.given = begun.bits->contribution();
    begun.line = describe(call, *comm, buffers.own_bytes());
    return begun;
  }

  /// Nothing: the result is not known.
  void write(const Begun& begun, std::optional<std::uint64_t> result, const std::string& served_by) {
    const std::string got = result ? fmt::format("{:016x}", *result) : "-";
    const std::lock_guard lock(mutex_);
    file_ << fmt::format("{} {:016x} {} {}\n", begun.line, begun.given, got, served_by);
    ++lines_;
  }

  static int forget(MPI_Comm /*comm*/, int /*keyval*/, void* value, void* /*extra*/) {
    delete static_cast<CommPointer*>(value);
    return MPI_SUCCESS;
  }

  /// nullptr: calls on it are not recorded.
  CommPointer find(MPI_Comm handle, Rank* rank, Rank* size) {
    if (handle == MPI_COMM_NULL) return nullptr;
    int number = 0, own = 0, known = 0;
    if (PMPI_Comm_size(handle, &number) != MPI_SUCCESS || PMPI_Comm_rank(handle, &own) != MPI_SUCCESS) return nullptr;
    *size = number;
    *rank = own;
    void* value = nullptr;
    if (PMPI_Comm_get_attr(handle, keyval_, static_cast<void*>(&value), &known) != MPI_SUCCESS) return nullptr;
    if (known != 0) return *static_cast<CommPointer*>(value);
    int inter = 0;
    mpi::RankMap in_world;
    PMPI_Comm_test_inter(handle, &inter);
    if (inter != 0 || !mpi::find_world_ranks(handle, &in_world)) return nullptr;
    CommPointer made = enter(in_world, *size);
    auto kept = std::make_unique<CommPointer>(made);
    if (PMPI_Comm_set_attr(handle, keyval_, kept.get()) != MPI_SUCCESS) return nullptr;
    (void)kept.release();  // forget() deletes it
    return made;
  }

  /// Gives a communicator a line. Its ranks, and how many had the same before it, are its name in all records. All
  /// ranks make communicators in one order.
  CommPointer enter(const mpi::RankMap& in_world, Rank size) {
    Hash hash;
    std::string some;
    constexpr Rank most_named = 8;
    for (Rank r = 0; r < size; ++r) {
      hash.add(static_cast<std::uint64_t>(in_world(r)));
      if (r < most_named) some += fmt::format("{}{}", r == 0 ? "" : ",", in_world(r));
    }
    if (size > most_named) some += ",...";
    const std::lock_guard lock(mutex_);
    auto made = std::make_shared<RecordedComm>(RecordedComm{.index = comms_++});
    const int before = of_ranks_[hash.value()]++;
    file_ << fmt::format("comm {} {:016x}.{} {} {}\n", made->index, hash.value(), before, size, some);
    return made;
  }

  /// The beginning of the call's line. The call gets its number here.
  std::string describe(const mpi::Call& call, RecordedComm& comm, Count bytes) {
    std::string type = "-", op = "-";
    if (is_reducing(call.collective)) {
      const std::optional<Type> element = mpi::describe(call.sendtype).element;
      const std::optional<Op> known = mpi::predefined_op(call.op);
      type = element ? std::string(to_string(*element)) : "other";
      op = known ? std::string(to_string(*known)) : "user";
    }
    const int root = is_rooted(call.collective) ? call.root : -1;
    const std::lock_guard lock(mutex_);
    const std::size_t site = site_of(current_caller);
    return fmt::format("call {} {} {} {} {} {} {} {}", comm.index, ++comm.calls, site, to_string(mpi::called(call)),
                       type, op, bytes, root);
  }

  /// The number of a place in the program, which gets a line of its own. Under mutex_.
  std::size_t site_of(const void* caller) {
    const auto [at, is_new] = sites_.emplace(caller, sites_.size());
    if (is_new) file_ << fmt::format("site {} {}\n", at->second, place_text(caller));
    return at->second;
  }

  std::mutex mutex_;
  std::ofstream file_;  ///< never destroyed, so that a child process does not write what is in its buffer
  std::unordered_map<const void*, std::size_t> sites_;
  std::map<std::uint64_t, int> of_ranks_;  ///< communicators so far, by the hash of their ranks
  std::size_t comms_ = 0;
  std::uint64_t lines_ = 0;
  std::map<std::uint64_t, Begun> under_way_;  ///< nonblocking calls, by ticket
  std::uint64_t tickets_ = 0;
  std::atomic<std::uint64_t> unseen_{0};
  Callers callers_;
  int keyval_ = MPI_KEYVAL_INVALID;
};

}  // namespace

std::unique_ptr<Serving> wrap_in_bits_record(const Wish& wish, std::unique_ptr<Serving> next) {
  const auto directory = environment("CIRCOLL_BITS_RECORD");
  if (!directory) return next;
  MPI_Comm parent = MPI_COMM_NULL;
  if (!mpi::base_is_made()) PMPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    wish.warn("CIRCOLL_BITS_RECORD is off: spawned processes have a world of their own, and are not recorded");
    return next;
  }
  std::error_code failed;
  fs::create_directories(*directory, failed);
  const std::string path = fmt::format("{}/rank-{}.bits", *directory, wish.world_rank);
  std::ofstream file(path, std::ios::trunc);
  if (!file) {
    std::fputs(fmt::format("circoll: CIRCOLL_BITS_RECORD: {} cannot be written; rank {} is not recorded\n", path,
                           wish.world_rank)
                   .c_str(),
               stderr);
    return next;
  }
  return std::make_unique<BitsRecord>(std::move(file), std::move(next));
}

}  // namespace circoll::interpose
