#include "exec/mpi/communicator.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <numeric>
#include <vector>

#include "circoll/error.hpp"
#include "core/environment.hpp"
#include "exec/mpi/globals.hpp"
#include "exec/mpi/kept_operations.hpp"
#include "exec/mpi/placement.hpp"
#include "exec/mpi/recent_calls.hpp"

namespace circoll::mpi {
namespace {

constexpr std::size_t default_cache_bytes = std::size_t{64} << 20;
/// Executions whose tags differ, at least: more may be outstanding only where MPI offers more tags.
constexpr std::uint32_t min_epochs = 32;
constexpr std::uint32_t max_tag_span = 1U << 16;

std::size_t cache_limit() {
  const auto text = environment("CIRCOLL_CACHE_BYTES");
  return text ? parse_bytes(*text).value_or(default_cache_bytes) : default_cache_bytes;
}

/// Private communicators that a process may have at a time, an eighth of all that the MPI library can have: the program
/// must not run out of them because of us.
#ifdef OPEN_MPI
constexpr int max_private = 4096;
#else
constexpr int max_private = 256;
#endif

/// Same group, no attributes or topology copied: MPI_Comm_dup would run the user's copy callbacks.
int private_duplicate(MPI_Comm comm, MPI_Comm* made) {
  // A failure (no context id is left, say) is ours to handle, not the user's error handler's.
  MPI_Errhandler users = MPI_ERRHANDLER_NULL;
  int rc = PMPI_Comm_get_errhandler(comm, &users);
  if (rc != MPI_SUCCESS) return rc;
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Group group = MPI_GROUP_NULL;
  rc = PMPI_Comm_group(comm, &group);
  if (rc == MPI_SUCCESS) {
    rc = PMPI_Comm_create(comm, group, made);
    PMPI_Group_free(&group);
  }
  PMPI_Comm_set_errhandler(comm, users);
  PMPI_Errhandler_free(&users);
  if (rc != MPI_SUCCESS) {
    *made = MPI_COMM_NULL;
    return rc;
  }
  PMPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
  return PMPI_Comm_set_name(*made, "circoll");
}

/// Whether all ranks of a communicator are ranks of our MPI_COMM_WORLD. The same answer on all of them.
bool within_world(MPI_Comm comm, int size) {
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  const auto n = static_cast<std::size_t>(size);
  std::vector<int> ranks(n), in_world(n);
  std::iota(ranks.begin(), ranks.end(), 0);
  PMPI_Group_translate_ranks(group, size, ranks.data(), world, in_world.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return std::find(in_world.begin(), in_world.end(), MPI_UNDEFINED) == in_world.end();
}

/// The states of the communicators that a thread used last: programs use a few in turn.
class Memo {
 public:
  [[nodiscard]] CommState* find(MPI_Comm comm) const {
    for (const Entry& entry : entries_) {
      if (entry.comm == comm && entry.generation == globals().generation.load()) return entry.state;
    }
    return nullptr;
  }
  /// In place of the one that was first. The communicator is not in it.
  void add(MPI_Comm comm, CommState* state) {
    entries_[oldest_] = {comm, globals().generation.load(), state};
    oldest_ = (oldest_ + 1) % entries_.size();
  }

 private:
  struct Entry {
    MPI_Comm comm = MPI_COMM_NULL;
    std::uint64_t generation = 0;
    CommState* state = nullptr;
  };
  std::array<Entry, 4> entries_{};
  std::size_t oldest_ = 0;
};
CIRCOLL_THREAD_LOCAL Memo memo;
/// The communicator whose state went last: it may be just being freed, and used by a callback of an attribute.
CIRCOLL_THREAD_LOCAL MPI_Comm last_forgotten = MPI_COMM_NULL;

}  // namespace

Globals& globals() {
  static auto* const instance = new Globals;
  return *instance;
}

int largest_tag() {
  Globals& global = globals();
  if (const int known = global.largest_tag; known != 0) return known;
  void* value = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
  global.largest_tag = found != 0 ? *static_cast<int*>(value) : 32767;  // what MPI promises
  return global.largest_tag;
}

MPI_Comm self_communicator() {
  Globals& global = globals();
  if (MPI_Comm known = global.self; known != MPI_COMM_NULL) return known;
  const std::lock_guard lock(global.comm_mutex);
  if (global.self == MPI_COMM_NULL) {
    MPI_Comm made = MPI_COMM_NULL;
    private_duplicate(MPI_COMM_SELF, &made);
    global.self = made;
  }
  return global.self;
}

CommState::CommState()
    : plans_(cache_limit()), recent_(std::make_unique<RecentCalls>()), kept_(std::make_unique<KeptOperations>()) {}

CommState::~CommState() { close(); }

int CommState::open(MPI_Comm comm, int most_private) {
  int inter = 0, size = 1, rank = 0;
  int rc = PMPI_Comm_test_inter(comm, &inter);
  if (rc == MPI_SUCCESS) rc = PMPI_Comm_size(comm, &size);
  if (rc == MPI_SUCCESS) rc = PMPI_Comm_rank(comm, &rank);
  if (rc != MPI_SUCCESS) return rc;
  user_comm_ = comm;
  size_ = size;
  rank_ = rank;
  usable_ = inter == 0;
  if (usable_ && globals().own_world_only && !within_world(comm, size)) {
    usable_ = false;
    unusable_reason_ = "ranks of another MPI_COMM_WORLD";
  }
  if (!usable_) return MPI_SUCCESS;
  if (size > 1) {
    // Ranks may have different communicators otherwise, so that they must agree on both questions.
    int mine = globals().private_comms < most_private ? 1 : 0;
    int all = 0;
    rc = PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    if (rc != MPI_SUCCESS) return rc;
    if (all == 0) {
      usable_ = false;
      unusable_reason_ = "too many communicators are in use";
      return MPI_SUCCESS;
    }
    mine = private_duplicate(comm, &comm_) == MPI_SUCCESS ? 1 : 0;
    if (mine != 0) ++globals().private_comms;
    rc = PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    if (rc != MPI_SUCCESS) return rc;
    if (all == 0) {
      usable_ = false;
      unusable_reason_ = "no private communicator to be had";
      free_private();
      return MPI_SUCCESS;
    }
    rc = find_placement(comm, rank, size, &placement_);
    if (rc != MPI_SUCCESS) return rc;
  }
  const auto largest = static_cast<std::uint32_t>(largest_tag());
  tag_span_ = std::min(max_tag_span, (largest + 1) / min_epochs);
  const std::uint32_t epochs = (largest + 1) / tag_span_;
  tag_epochs_ = epochs / 2;
  slots_ = TagSlots(static_cast<int>(epochs - tag_epochs_));
  return MPI_SUCCESS;
}

CommState::Tags CommState::tags_of(std::uint64_t number) const {
  return {static_cast<int>(number % tag_epochs_ * tag_span_), tag_span_};
}

CommState::Tags CommState::reserved_tags(int slot) const {
  return {static_cast<int>((tag_epochs_ + static_cast<std::uint32_t>(slot)) * tag_span_), tag_span_};
}

int CommState::reserve(int count) {
  const auto agree = [this](std::uint64_t mask) {
    if (size_ == 1) return mask;
    std::uint64_t common = 0;
    if (PMPI_Allreduce(&mask, &common, 1, MPI_UINT64_T, MPI_BAND, comm_) != MPI_SUCCESS) {
      throw Error(ErrorCode::transport, "ranks could not agree on tags");
    }
    return common;
  };
  std::unique_lock lock(slots_mutex_);
  return slots_.take(count, agree, lock);
}

void CommState::unreserve(int slot, int count) noexcept {
  const std::lock_guard lock(slots_mutex_);
  slots_.give_back(slot, count);
}

bool CommState::may_start(std::uint64_t number) {
  if (unfinished_count_ == 0) return true;
  const std::lock_guard lock(unfinished_lock_);
  return unfinished_.empty() || number - std::min(number, unfinished_.front()) < tag_epochs_;
}

void CommState::add_unfinished(std::uint64_t number) {
  const std::lock_guard lock(unfinished_lock_);
  unfinished_.push_back(number);
  unfinished_count_ = unfinished_.size();
}

void CommState::remove_unfinished(std::uint64_t number) {
  const std::lock_guard lock(unfinished_lock_);
  const auto place = std::lower_bound(unfinished_.begin(), unfinished_.end(), number);
  if (place != unfinished_.end() && *place == number) unfinished_.erase(place);
  unfinished_count_ = unfinished_.size();
}

std::shared_ptr<BoundPlan> CommState::find_plan(const Signature& signature, MPI_Datatype type, const TypeInfo& info,
                                                bool wait) {
  std::unique_lock lock(plans_mutex_, std::defer_lock);
  if (wait) {
    lock.lock();
  } else if (!lock.try_lock()) {
    return nullptr;
  }
  return plans_.find(signature, [&](std::uint64_t hash) {
    return std::make_shared<BoundPlan>(signature, hash, rank_, type, info, tag_span_, placement_);
  });
}

void CommState::release() {
  if (--users_ > 0) return;
  // Not deleted here: we may be inside the MPI library's progress engine.
  Globals& global = globals();
  const std::lock_guard lock(global.released_mutex);
  global.released.push_back(this);
  global.any_released = true;
}

void CommState::bury_released() {
  Globals& global = globals();
  if (!global.any_released) return;
  std::vector<CommState*> states;
  {
    const std::lock_guard lock(global.released_mutex);
    states.swap(global.released);
    global.any_released = false;
  }
  for (const CommState* state : states) delete state;  // MPI_Comm_free of ours, which waits for nobody
}

void CommState::close() {
  usable_ = false;
  native_calls_.clear();
  recent_->clear();
  kept_->clear();
  plans_.clear();
  free_private();
}

void CommState::free_private() {
  if (comm_ == MPI_COMM_NULL) return;
  PMPI_Comm_free(&comm_);
  comm_ = MPI_COMM_NULL;
  --globals().private_comms;
}

int CommState::forget(MPI_Comm comm, int /*keyval*/, void* value, void* /*extra*/) {
  Globals& global = globals();
  last_forgotten = comm;
  auto* const state = static_cast<CommState*>(value);
  {
    const std::lock_guard lock(global.comm_mutex);
    ++global.generation;
    if (state->position_ != global.states.end()) global.states.erase(state->position_);
    state->position_ = global.states.end();
  }
  state->user_comm_ = MPI_COMM_WORLD;
  state->release();
  bury_released();
  return MPI_SUCCESS;
}

int CommState::finalize(MPI_Comm /*comm*/, int /*keyval*/, void* /*value*/, void* /*extra*/) {
  // MPI deletes the attributes of MPI_COMM_SELF first in MPI_Finalize, while everything still works.
  bury_released();
  Globals& global = globals();
  const std::lock_guard lock(global.comm_mutex);
  global.finalizing = true;
  ++global.generation;
  for (CommState* state : global.states) state->close();
  if (MPI_Comm self = global.self.exchange(MPI_COMM_NULL); self != MPI_COMM_NULL) PMPI_Comm_free(&self);
  return MPI_SUCCESS;
}

int CommState::create_keyvals() {
  Globals& global = globals();
  if (global.comm_keyval != MPI_KEYVAL_INVALID) return MPI_SUCCESS;
  int rc = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &global.comm_keyval, nullptr);
  if (rc == MPI_SUCCESS)
    rc = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize, &global.finalize_keyval, nullptr);
  if (rc == MPI_SUCCESS) rc = PMPI_Comm_set_attr(MPI_COMM_SELF, global.finalize_keyval, &global);
  return rc;
}

CommState* CommState::last_used(MPI_Comm comm) { return memo.find(comm); }

CommState* CommState::of(MPI_Comm comm, int* error, Opening opening) {
  *error = MPI_SUCCESS;
  if (CommState* const known = last_used(comm)) return known;
  Globals& global = globals();
  if (global.finalizing) return nullptr;
  CommState* state = nullptr;
  if (!global.keyvals_made) {
    const std::lock_guard lock(global.comm_mutex);
    *error = create_keyvals();
    if (*error != MPI_SUCCESS) return nullptr;
    global.keyvals_made = true;
  }
  void* known = nullptr;
  int found = 0;
  *error = PMPI_Comm_get_attr(comm, global.comm_keyval, &known, &found);
  if (*error != MPI_SUCCESS) return nullptr;
  state = static_cast<CommState*>(known);
  if (found == 0) {
    if (opening == Opening::local) {
      int size = 1;
      *error = PMPI_Comm_size(comm, &size);
      if (*error != MPI_SUCCESS || size > 1) return nullptr;
    }
    // Not under the mutex: open() communicates, and another thread may be at the same point with another
    // communicator.
    std::unique_ptr<CommState> made(new CommState);
    *error = made->open(comm, opening == Opening::early ? max_private / 2 : max_private);
    if (*error != MPI_SUCCESS) return nullptr;
    if (opening == Opening::early && !made->usable()) return nullptr;  // to be looked at again when it is needed
    const std::lock_guard lock(global.comm_mutex);
    made->position_ = global.states.insert(global.states.end(), made.get());
    *error = PMPI_Comm_set_attr(comm, global.comm_keyval, made.get());
    if (*error != MPI_SUCCESS) {
      global.states.erase(made->position_);
      return nullptr;
    }
    state = made.release();
  }
  // MPI does not delete what is attached to a communicator that it is freeing; another one may get its handle, and must be asked
  // for its state each time.
  if (comm != last_forgotten) memo.add(comm, state);
  return state;
}

}  // namespace circoll::mpi
