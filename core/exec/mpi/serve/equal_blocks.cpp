#include "exec/mpi/serve/equal_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "circoll/select.hpp"
#include "exec/mpi/call/datatype.hpp"
#include "exec/mpi/library/library.hpp"
#include "exec/mpi/serve/perform.hpp"

namespace circoll::mpi {
namespace {

/// A word before each block: 0 if the sender has blocks of the agreed size.
using Word = std::uint64_t;

/// Longer blocks take the same time in one message each. Fewer ranks have few messages anyway, and more would need much
/// memory.
constexpr Count most_bytes = 4096;
constexpr Rank fewest_ranks = 4, most_ranks = 4096;

/// One side of an exchange, which is not in place.
class Side {
 public:
  Side(void* buffer, MPI_Datatype type, const MPI_Datatype* types, const CountArray& counts, const CountArray& displs)
      : buffer_(static_cast<char*>(buffer)), types_(types), counts_(counts), displs_(displs) {
    if (types == nullptr) look_at(type);
  }
  /// The bytes of each block, or 0 if they differ. It is 0 also where packing takes a message.
  [[nodiscard]] Count bytes_of_each(Rank size) {
    if (buffer_ == nullptr) return 0;
    Count bytes = 0;
    for (Rank i = 0; i < size; ++i) {
      if (counts_[i] <= 0) return 0;
      const TypeInfo& info = info_of(i);
      const bool dear = !info.dense && library::packs_wrong(type_, info.size_bytes, info.true_extent_bytes);
      if (!info.valid || dear) return 0;
      const Count here = packed_bytes(info, counts_[i]);
      if (i > 0 && here != bytes) return 0;
      bytes = here;
    }
    return bytes;
  }
  /// True if blocks of so many bytes each lie side by side, in the order of the ranks.
  [[nodiscard]] bool adjoins(Rank size, Count bytes) {
    const char* first = nullptr;
    for (Rank i = 0; i < size; ++i) {
      if (!info_of(i).dense) return false;
      if (i == 0) first = block(0);
      if (block(i) != first + i * bytes) return false;
    }
    return true;
  }
  [[nodiscard]] char* first_block() {
    (void)info_of(0);
    return block(0);
  }
  [[nodiscard]] int pack_block(Rank i, void* to) {
    const TypeInfo& info = info_of(i);
    return pack(block(i), counts_[i], type_, info, to);
  }
  [[nodiscard]] int unpack_block(Rank i, const void* from) {
    const TypeInfo& info = info_of(i);
    return unpack(from, block(i), counts_[i], type_, info);
  }

 private:
  void look_at(MPI_Datatype type) {
    type_ = type;
    info_ = describe(type);
  }
  const TypeInfo& info_of(Rank i) {
    if (types_ != nullptr && (i == 0 || types_[i] != type_)) look_at(types_[i]);
    return info_;
  }
  /// Displacements are bytes where each block has a datatype of its own.
  [[nodiscard]] char* block(Rank i) const {
    return buffer_ + displs_[i] * (types_ != nullptr ? 1 : info_.extent_bytes);
  }

  char* buffer_;
  const MPI_Datatype* types_;  ///< of the blocks; nothing: all have one
  const CountArray& counts_;
  const CountArray& displs_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;  ///< of the last block
  TypeInfo info_{};                        ///< of that
};

Side sent(const Call& call) {
  return {const_cast<void*>(call.sendbuf), call.sendtype, call.has_types ? call.sendtypes : nullptr, call.sendcounts,
          call.senddispls};
}

Side received(const Call& call) {
  return {call.recvbuf, call.recvtype, call.has_types ? call.recvtypes : nullptr, call.recvcounts, call.recvdispls};
}

/// True if the alltoall that a policy chooses is predicted to gain a tenth.
bool pays(Count bytes, const InternedChoice& choice, const CommState& state) {
  Signature signature{.head = {.count = bytes, .size = state.size(), .collective = Collective::alltoall}};
  const Decision regular = choice.policy->decide(prepare::facts_of(signature, state.placement()));
  signature.head.collective = Collective::alltoallv;
  const Decision irregular = choice.policy->decide(prepare::facts_of(signature, state.placement()));
  if (!regular.selection || !irregular.selection) return false;
  const auto seconds = [&](const Selection& selection) -> std::optional<double> {
    for (const Candidate& one : regular.candidates) {
      if (one.selection.algorithm->name == selection.algorithm->name) return one.seconds;
    }
    return std::nullopt;
  };
  const auto chosen = seconds(*regular.selection), direct = seconds(*irregular.selection);
  constexpr double gain = 1.1;
  return chosen && direct && *direct > gain * *chosen;
}

}  // namespace

bool may_be_regular(const Call& call, const InternedChoice& choice) {
  return call.collective == Collective::alltoallv && choice.kind == InternedChoice::Kind::automatic &&
         !choice.policy->names_algorithm();
}

Count equal_block_bytes(const Call& call, Rank size) {
  if (call.sendbuf == MPI_IN_PLACE || call.recvbuf == MPI_IN_PLACE || call.sendbuf == call.recvbuf) return 0;
  const Count out = sent(call).bytes_of_each(size);
  return out > 0 && received(call).bytes_of_each(size) == out ? out : 0;
}

namespace {

/// True if the ranks may ask one another. The same on all of them.
bool may_ask(const CommState& state) {
  return state.size() >= fewest_ranks && state.size() <= most_ranks && state.has_carrier() &&
         state.placement().nodes >= 2 && !state.expects_devices() && !state.can_be_interrupted();
}

/// The size of the blocks that all ranks have, 0 if there is none. Returns an MPI error code.
int ask(Count own, MPI_Comm comm, Count* all) {
  const std::array<std::int64_t, 2> mine{own, -own};
  std::array<std::int64_t, 2> least{};
  const int rc = PMPI_Allreduce(mine.data(), least.data(), 2, MPI_INT64_T, MPI_MIN, comm);
  *all = rc == MPI_SUCCESS && least[0] > 0 && least[0] == -least[1] ? least[0] : 0;
  return rc;
}

}  // namespace

int find_regular(const Call& call, const InternedChoice& choice, const CommState& state, std::optional<Call>* found) {
  found->reset();
  if (!may_be_regular(call, choice) || !may_ask(state)) return MPI_SUCCESS;
  Count own = equal_block_bytes(call, state.size());
  Side out = sent(call), in = received(call);
  if (own > 0 && !(out.adjoins(state.size(), own) && in.adjoins(state.size(), own))) own = 0;
  Count bytes = 0;
  if (const int rc = ask(own, call.comm, &bytes); rc != MPI_SUCCESS) return rc;
  if (bytes == 0 || bytes > most_bytes || !pays(bytes, choice, state)) return MPI_SUCCESS;
  *found = Call{.collective = Collective::alltoall,
                .sendbuf = out.first_block(),
                .recvbuf = in.first_block(),
                .sendcount = bytes,
                .recvcount = bytes,
                .sendtype = MPI_BYTE,
                .recvtype = MPI_BYTE,
                .comm = call.comm};
  return MPI_SUCCESS;
}

void EqualBlocks::back_off() {
  agreed_ = 0;
  operation_.reset();
  // A size that has lasted much longer than the ranks had waited for it was worth the question.
  constexpr std::uint32_t much = 16;
  wait_ = served_ / much >= wait_ ? 1 : std::min(2 * wait_, longest_wait);
  left_ = wait_;
  served_ = 0;
}

bool EqualBlocks::prepare(Count bytes, const Call& call, const InternedChoice& choice, CommState& state) {
  const Count block = bytes + static_cast<Count>(sizeof(Word));
  if (!pays(block, choice, state)) return false;
  send_.resize(static_cast<std::size_t>(state.size() * block));
  recv_.resize(send_.size());
  const Call regular{.collective = Collective::alltoall,
                     .sendbuf = send_.data(),
                     .recvbuf = recv_.data(),
                     .sendcount = block,
                     .recvcount = block,
                     .sendtype = MPI_BYTE,
                     .recvtype = MPI_BYTE,
                     .comm = call.comm};
  operation_ = std::make_unique<Operation>(regular, state, counts_);
  if (!operation_->prepare(*intern(Collective::alltoall, *choice.policy))) return false;
  reason_ =
      "all blocks have " + std::to_string(bytes) + " bytes, so that it is an alltoall; " + operation_->plan()->why();
  return true;
}

int EqualBlocks::agree(Count own, const Call& call, const InternedChoice& choice, CommState& state) {
  Count bytes = 0;
  if (const int rc = ask(own, call.comm, &bytes); rc != MPI_SUCCESS) return rc;  // the communicator may have been freed
  if (const int error = state.open(); error != MPI_SUCCESS) return error;
  if (bytes == 0 || bytes > most_bytes || !state.usable() || !prepare(bytes, call, choice, state)) {
    back_off();
    return MPI_SUCCESS;
  }
  agreed_ = bytes;
  choice_ = &choice;
  return MPI_SUCCESS;
}

std::optional<CallResult> EqualBlocks::exchange(Count own, const Call& call, CommState& state, bool timed) {
  const auto bytes = static_cast<std::size_t>(agreed_), block = bytes + sizeof(Word);
  const auto at = [block](std::vector<std::byte>& blocks, Rank i) {
    return &blocks[static_cast<std::size_t>(i) * block];
  };
  const Rank p = state.size();
  const auto pack_all = [&](Side from) {
    bool packed = true;
    for (Rank i = 0; i < p && packed; ++i) packed = from.pack_block(i, at(send_, i) + sizeof(Word)) == MPI_SUCCESS;
    return packed;
  };
  const Word differs = own == agreed_ && pack_all(sent(call)) ? 0 : 1;
  for (Rank i = 0; i < p; ++i) std::memcpy(at(send_, i), &differs, sizeof differs);
  double waited_s = 0;
  int rc = MPI_SUCCESS;
  try {
    if (timed) {
      operation_->start();
      const double begin_s = PMPI_Wtime();
      rc = operation_->wait();
      waited_s = PMPI_Wtime() - begin_s;
    } else {
      rc = operation_->run();
    }
  } catch (...) {
    operation_->fail(MPI_ERR_INTERN);  // messages may be under way
    throw;
  }
  if (rc != MPI_SUCCESS) return CallResult{.error = rc};
  failed_ = false;  // all ranks know the same again
  for (Rank i = 0; i < p; ++i) {
    Word word = 0;
    std::memcpy(&word, at(recv_, i), sizeof word);
    if (word == 0) continue;
    back_off();
    return std::nullopt;
  }
  ++served_;
  Side to = received(call);
  for (Rank i = 0; i < p && rc == MPI_SUCCESS; ++i) rc = to.unpack_block(i, at(recv_, i) + sizeof(Word));
  if (rc != MPI_SUCCESS) return CallResult{.error = rc};
  CallResult result = outcome_of(*operation_, MPI_SUCCESS, true);
  result.reason = reason_;
  result.bytes = p * static_cast<Count>(bytes);
  result.waited_s = waited_s;
  return result;
}

std::optional<CallResult> EqualBlocks::serve(const Call& call, const InternedChoice& choice, CommState& state,
                                             bool timed) {
  if (failed_ || !may_ask(state) || (agreed_ != 0 && choice_ != &choice)) return std::nullopt;
  const bool asks = agreed_ == 0;
  if (asks && --left_ > 0) return std::nullopt;
  const Count own = equal_block_bytes(call, state.size());
  failed_ = true;  // until it is known that all went well, here and at the others
  if (asks) {
    if (const int rc = agree(own, call, choice, state); rc != MPI_SUCCESS)
      return CallResult{.error = rc, .handled = true};
  }
  if (agreed_ != 0) return exchange(own, call, state, timed);
  failed_ = false;
  return std::nullopt;
}

}  // namespace circoll::mpi
