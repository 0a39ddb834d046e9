#include "exec/mpi/call/kept_arguments.hpp"

#include <functional>
#include <mutex>
#include <unordered_map>

#include "circoll/error.hpp"
#include "exec/mpi/call/datatype.hpp"
#include "exec/mpi/call/elements.hpp"
#include "facts/hash.hpp"

namespace circoll::mpi {
namespace {

/// A user's operator that pending operations need.
struct HeldOp {
  int users = 0;
  bool freed = false;  ///< the program has freed it
};

/// Part of the executor's global state (HACKING.md). No MPI call is made under the mutex.
struct HeldOperators {
  std::mutex mutex;
  std::unordered_map<MPI_Op, HeldOp> all;
};

HeldOperators& held_operators() {
  static auto* const instance = new HeldOperators;  // never destroyed: threads of the program may still run at exit
  return *instance;
}

void release_op(MPI_Op op) noexcept {
  HeldOperators& held = held_operators();
  bool free_now = false;
  {
    const std::lock_guard lock(held.mutex);
    const auto found = held.all.find(op);
    if (found == held.all.end() || --found->second.users > 0) return;
    free_now = found->second.freed;
    held.all.erase(found);
  }
  if (free_now) PMPI_Op_free(&op);
}

}  // namespace

bool free_op_later(MPI_Op op) noexcept {
  HeldOperators& held = held_operators();
  const std::lock_guard lock(held.mutex);
  const auto found = held.all.find(op);
  if (found == held.all.end()) return false;
  found->second.freed = true;
  return true;
}

std::array<CountArray, 4> arrays_of(const Call& call, Rank rank) {
  const Collective c = call.collective;
  const bool at_root = !is_rooted(c) || static_cast<Rank>(call.root) == rank;
  if (!at_root) return {};
  const bool sends = !is_exchange(c) || call.sendbuf != MPI_IN_PLACE;
  return {sends ? call.sendcounts : CountArray(), sends ? call.senddispls : CountArray(), call.recvcounts,
          call.recvdispls};
}

std::array<const MPI_Datatype*, 2> types_of(const Call& call) {
  if (!call.has_types) return {};
  return {call.sendbuf == MPI_IN_PLACE ? nullptr : call.sendtypes, call.recvtypes};
}

namespace {

/// The counts that go with the datatypes of `types_of`.
const CountArray& counts_of_types(const Call& call, std::size_t side) {
  return side == 0 ? call.sendcounts : call.recvcounts;
}

/// True if both sides have the same arrays of counts and datatypes, which may be an error (refuses_equal_buffers).
bool has_equal_sides(const Call& call) {
  const std::array<const MPI_Datatype*, 2> types = types_of(call);
  return types[0] != nullptr && types[0] == types[1] && call.sendcounts.data() == call.recvcounts.data();
}

bool same_types(const Call& a, const Call& b, Rank size) {
  const std::array<const MPI_Datatype*, 2> ours = types_of(a), theirs = types_of(b);
  if (has_equal_sides(a) != has_equal_sides(b)) return false;
  for (std::size_t side = 0; side < ours.size(); ++side) {
    if ((ours[side] == nullptr) != (theirs[side] == nullptr)) return false;
    for (Rank r = 0; ours[side] != nullptr && r < size; ++r) {
      const Count count = counts_of_types(a, side)[r];
      if (type_of_block(ours[side], r, count) != type_of_block(theirs[side], r, count)) return false;
    }
  }
  return true;
}

}  // namespace

bool same_arrays(const Call& a, const Call& b, Rank rank, Rank size) {
  const std::array<CountArray, 4> ours = arrays_of(a, rank), theirs = arrays_of(b, rank);
  // Equal arrays may be an error (refuses_equal_buffers).
  if ((ours[0].data() == ours[2].data()) != (theirs[0].data() == theirs[2].data())) return false;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (static_cast<bool>(ours[i]) != static_cast<bool>(theirs[i])) return false;
    for (Rank r = 0; ours[i] && r < size; ++r) {
      if (ours[i][r] != theirs[i][r]) return false;
    }
  }
  return same_types(a, b, size);
}

std::uint64_t hash_of_arrays(const Call& call, Rank rank, Rank size) {
  QuickHash hash;
  for (const CountArray& array : arrays_of(call, rank)) {
    for (Rank r = 0; array && r < size; ++r) hash.add(static_cast<std::uint64_t>(array[r]));
  }
  const std::array<const MPI_Datatype*, 2> types = types_of(call);
  for (std::size_t side = 0; side < types.size(); ++side) {
    const CountArray& counts = counts_of_types(call, side);
    for (Rank r = 0; types[side] != nullptr && counts && r < size; ++r)
      hash.add(std::hash<MPI_Datatype>{}(type_of_block(types[side], r, counts[r])));
  }
  return hash.value();
}

std::vector<Count> keep_arrays(Call& call, Rank rank, Rank size) {
  const std::array<CountArray, 4> theirs = arrays_of(call, rank);
  const bool equal = theirs[0] && theirs[0].data() == theirs[2].data();
  std::vector<Count> numbers;
  numbers.reserve(theirs.size() * static_cast<std::size_t>(size));
  const auto copy = [&](CountArray Call::*array, const CountArray& from) {
    call.*array = {};
    if (!from) return;
    const Count* const begin = numbers.data() + numbers.size();
    for (Rank i = 0; i < size; ++i) numbers.push_back(from[i]);
    call.*array = CountArray::wide(begin);
  };
  copy(&Call::sendcounts, theirs[0]);
  copy(&Call::senddispls, theirs[1]);
  copy(&Call::recvcounts, theirs[2]);
  copy(&Call::recvdispls, theirs[3]);
  // Where that is an error, it must stay one.
  if (equal) call.recvcounts = call.sendcounts;
  return numbers;
}

std::vector<MPI_Datatype> keep_types(Call& call, Rank size) {
  const std::array<const MPI_Datatype*, 2> theirs = types_of(call);
  const bool equal = has_equal_sides(call);
  std::vector<MPI_Datatype> types;
  types.reserve(theirs.size() * static_cast<std::size_t>(size));
  const auto copy = [&](std::size_t side) -> const MPI_Datatype* {
    if (theirs[side] == nullptr) return nullptr;
    const std::size_t begin = types.size();
    for (Rank i = 0; i < size; ++i) types.push_back(type_of_block(theirs[side], i, counts_of_types(call, side)[i]));
    return types.data() + begin;
  };
  call.sendtypes = copy(0);
  call.recvtypes = copy(1);
  // Where that is an error, it must stay one.
  if (equal) call.recvtypes = call.sendtypes;
  return types;
}

KeptArguments::KeptArguments(const Call& call, Rank rank, Rank size) : call_(call) {
  const bool user_operator = is_reducing(call.collective) && call.op != MPI_OP_NULL && !predefined_op(call.op);
  try {
    if (is_irregular(call.collective)) numbers_ = keep_arrays(call_, rank, size);
    call_.sendtype = hold(call_.sendtype, user_operator);
    call_.recvtype = hold(call_.recvtype, user_operator);
    if (call.has_types) {
      hold(&Call::sendtypes, call.sendcounts, size);
      hold(&Call::recvtypes, call.recvcounts, size);
      // Equal arrays stay equal, as those of counts do.
      const bool equal = call.sendtypes == call.recvtypes && call.sendcounts.data() == call.recvcounts.data();
      if (equal && call_.sendtypes != nullptr) call_.recvtypes = call_.sendtypes;
    }
    if (user_operator) {
      HeldOperators& held = held_operators();  // free_op_later() then waits for the last release
      const std::lock_guard lock(held.mutex);
      ++held.all[call.op].users;
      op_ = call.op;
    }
  } catch (...) {
    release();
    throw;
  }
}

KeptArguments::~KeptArguments() { release(); }

/// Dense types are needed only to call a user's operator: all else is bytes.
MPI_Datatype KeptArguments::hold(MPI_Datatype type, bool user_operator) {
  if (type == MPI_DATATYPE_NULL) return type;
  const TypeInfo info = describe(type);
  if (!info.valid || info.named || (info.dense && !user_operator)) return type;
  // Not MPI_Type_dup, which would run the program's copy callbacks. Made anew for each call: a handle that is kept with
  // the program's datatype would keep that one alive.
  MPI_Datatype& made = made_.emplace_back(MPI_DATATYPE_NULL);
  int rc = PMPI_Type_contiguous(1, type, &made);
  if (rc == MPI_SUCCESS) rc = PMPI_Type_commit(&made);
  if (rc != MPI_SUCCESS) throw Error(ErrorCode::transport, "a datatype could not be kept for a pending operation");
  describe_as(made, info);
  return made;
}

void KeptArguments::hold(const MPI_Datatype* Call::*types, const CountArray& counts, Rank size) {
  const MPI_Datatype* const given = call_.*types;
  const bool sent = types == &Call::sendtypes;
  call_.*types = nullptr;
  if (given == nullptr || !counts || (sent && call_.sendbuf == MPI_IN_PLACE)) return;
  std::vector<MPI_Datatype>& kept = blocks_[sent ? 0 : 1];
  for (Rank i = 0; i < size; ++i) {
    const bool same = i > 0 && counts[i] != 0 && counts[i - 1] != 0 && given[i] == given[i - 1];
    kept.push_back(same ? kept.back() : hold(type_of_block(given, i, counts[i]), false));
  }
  call_.*types = kept.data();
}

void KeptArguments::release() noexcept {
  for (MPI_Datatype& type : made_) {
    if (type != MPI_DATATYPE_NULL) PMPI_Type_free(&type);
  }
  if (op_ != MPI_OP_NULL) release_op(op_);
}

}  // namespace circoll::mpi
