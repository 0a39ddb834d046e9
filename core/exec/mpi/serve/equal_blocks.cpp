#include "exec/mpi/serve/equal_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "circoll/select.hpp"
#include "exec/mpi/call/datatype.hpp"
#include "exec/mpi/serve/perform.hpp"

namespace circoll::mpi {
namespace {

/// A word before each block: 0 if the sender has blocks of the agreed size.
using Word = std::uint64_t;

/// Longer blocks take the same time in one message each. Fewer ranks have few messages anyway, and more would need much
/// memory.
constexpr Count most_bytes = 4096;
constexpr Rank fewest_ranks = 4, most_ranks = 4096;

/// One side of an exchange.
struct Side {
  char* buffer = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const MPI_Datatype* types = nullptr;  ///< of the blocks, in place of `type`
  const CountArray& counts;
  const CountArray& displs;

  [[nodiscard]] TypeInfo info(Rank block) const {
    return describe(types != nullptr ? type_of_block(types, block, counts[block]) : type);
  }
  /// Bytes of a displacement.
  [[nodiscard]] Count unit() const { return types != nullptr ? 1 : describe(type).extent_bytes; }
};

Side sent(const Call& call) {
  return {static_cast<char*>(const_cast<void*>(call.sendbuf)), call.sendtype, call.has_types ? call.sendtypes : nullptr,
          call.sendcounts, call.senddispls};
}

Side received(const Call& call) {
  return {static_cast<char*>(call.recvbuf), call.recvtype, call.has_types ? call.recvtypes : nullptr, call.recvcounts,
          call.recvdispls};
}

/// The bytes of each block of a side; 0: they differ.
Count bytes_of(const Side& side, Rank size) {
  if (side.buffer == nullptr) return 0;
  Count bytes = 0;
  TypeInfo info;
  for (Rank i = 0; i < size; ++i) {
    if (side.counts[i] <= 0) return 0;
    if (side.types != nullptr || i == 0) info = side.info(i);
    if (!info.valid || !info.dense) return 0;
    const Count here = side.counts[i] * info.size_bytes;
    if (i > 0 && here != bytes) return 0;
    bytes = here;
  }
  return bytes;
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

Count equal_block_bytes(const Call& call, Rank size) {
  if (call.sendbuf == MPI_IN_PLACE || call.recvbuf == MPI_IN_PLACE || call.sendbuf == call.recvbuf) return 0;
  const Count out = bytes_of(sent(call), size);
  return out > 0 && bytes_of(received(call), size) == out ? out : 0;
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
  const std::array<std::int64_t, 2> mine{own, -own};
  std::array<std::int64_t, 2> least{};
  const int rc = PMPI_Allreduce(mine.data(), least.data(), 2, MPI_INT64_T, MPI_MIN, call.comm);
  if (rc != MPI_SUCCESS) return rc;  // the error handler may have freed the communicator
  if (const int error = state.open(); error != MPI_SUCCESS) return error;
  const bool alike = least[0] > 0 && least[0] == -least[1] && least[0] <= most_bytes;
  if (!alike || !state.usable() || !prepare(least[0], call, choice, state)) {
    back_off();
    return MPI_SUCCESS;
  }
  agreed_ = least[0];
  choice_ = &choice;
  return MPI_SUCCESS;
}

std::optional<CallResult> EqualBlocks::exchange(Count own, const Call& call, CommState& state, bool timed) {
  const auto p = static_cast<std::size_t>(state.size());
  const auto bytes = static_cast<std::size_t>(agreed_), block = bytes + sizeof(Word);
  const bool mine = own == agreed_;
  const Word differs = mine ? 0 : 1;
  const Side from = sent(call), to = received(call);
  const Count out_unit = mine ? from.unit() : 0, in_unit = mine ? to.unit() : 0;
  for (std::size_t i = 0; i < p; ++i) {
    std::memcpy(&send_[i * block], &differs, sizeof differs);
    if (!mine) continue;
    const char* const data = from.buffer + from.displs[static_cast<Rank>(i)] * out_unit;
    std::memcpy(&send_[i * block + sizeof differs], data, bytes);
  }
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
  for (std::size_t i = 0; i < p; ++i) {
    Word word = 0;
    std::memcpy(&word, &recv_[i * block], sizeof word);
    if (word == 0) continue;
    back_off();
    return std::nullopt;
  }
  for (std::size_t i = 0; i < p; ++i)
    std::memcpy(to.buffer + to.displs[static_cast<Rank>(i)] * in_unit, &recv_[i * block + sizeof(Word)], bytes);
  ++served_;
  CallResult result = outcome_of(*operation_, MPI_SUCCESS, true);
  result.reason = reason_;
  result.bytes = static_cast<Count>(p * bytes);
  result.waited_s = waited_s;
  return result;
}

std::optional<CallResult> EqualBlocks::serve(const Call& call, const InternedChoice& choice, CommState& state,
                                             bool timed) {
  if (failed_ || state.size() < fewest_ranks || state.size() > most_ranks || !state.has_carrier() ||
      state.placement().nodes < 2 || state.expects_devices() || state.can_be_interrupted() ||
      (agreed_ != 0 && choice_ != &choice))
    return std::nullopt;
  const bool asks = agreed_ == 0;
  if (asks && --left_ > 0) return std::nullopt;
  const Count own = equal_block_bytes(call, state.size());
  failed_ = true;  // until it is known that all went well, here and at the others
  if (asks) {
    if (const int rc = agree(own, call, choice, state); rc != MPI_SUCCESS)
      return CallResult{.error = rc, .handled = true};
  }
  std::optional<CallResult> result;
  if (agreed_ != 0) result = exchange(own, call, state, timed);
  failed_ = result && result->error != MPI_SUCCESS;
  return result;
}

}  // namespace circoll::mpi
