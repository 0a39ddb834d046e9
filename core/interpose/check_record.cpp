#include "interpose/check_record.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cstddef>
#include <string_view>

#include "circoll/collectives.hpp"
#include "exec/mpi/call/caller_buffers.hpp"
#include "exec/mpi/call/datatype.hpp"
#include "exec/mpi/call/elements.hpp"
#include "exec/mpi/library/library.hpp"
#include "facts/hash.hpp"

namespace circoll::interpose {
namespace {

/// An address of this library.
void here() {}

/// The address of the call itself, since another function may follow it.
const void* call_before(const void* return_address) { return static_cast<const char*>(return_address) - 1; }

std::ptrdiff_t distance(const void* from, const void* to) {
  return static_cast<const char*>(to) - static_cast<const char*>(from);
}

/// True if it lies in the drop-in, in libmpi, in libmpich, or in a Fortran binding (libmpi_mpifh, libmpichfort).
bool lies_in_mpi(const void* return_address) {
  Dl_info found{}, ours{};
  if (dladdr(call_before(return_address), &found) == 0 || found.dli_fname == nullptr) return false;
  if (dladdr(reinterpret_cast<const void*>(&here), &ours) != 0 && ours.dli_fbase == found.dli_fbase) return true;
  std::string_view file(found.dli_fname);
  file.remove_prefix(file.rfind('/') + 1);  // of none: npos + 1 is 0
  return file.starts_with("libmpi");
}

/// Blocks that one message names.
constexpr std::size_t most_blocks = 16;

std::uint64_t transfer_hash(Rank from, Rank to, const PeerBytes& transfer) {
  Hash hash;
  hash.add(static_cast<std::uint64_t>(from));
  hash.add(static_cast<std::uint64_t>(to));
  hash.add(static_cast<std::uint64_t>(transfer.bytes)).add(static_cast<std::uint64_t>(transfer.edge));
  // The values are added up, so that equal parts of them must not cancel out.
  return mixed_bits(hash.value());
}

std::string name_of_type(MPI_Datatype type) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  PMPI_Type_get_name(type, name.data(), &length);
  return {name.data(), static_cast<std::size_t>(length)};
}

std::string upper(std::string_view text) {
  std::string made;
  for (const char c : text) made += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return made;
}

Count bytes_of(Count count, MPI_Datatype type) { return count * mpi::describe(type).size_bytes; }

}  // namespace

std::string place_text(const void* return_address) {
  const void* const call = call_before(return_address);
  Dl_info found{};
  if (dladdr(call, &found) == 0 || found.dli_fname == nullptr) return fmt::format("{}", call);
  std::string in_file = fmt::format("{}+{:#x}", found.dli_fname, distance(found.dli_fbase, call));
  if (found.dli_sname == nullptr) return in_file;
  return fmt::format("{}+{:#x} ({})", found.dli_sname, distance(found.dli_saddr, call), in_file);
}

const void* Callers::outside_mpi(const void* return_address) {
  bool known = false, inside = false;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = in_mpi_.find(return_address); found != in_mpi_.end()) {
      known = true;
      inside = found->second;
    }
  }
  if (!known) {
    inside = lies_in_mpi(return_address);
    const std::lock_guard lock(mutex_);
    in_mpi_.emplace(return_address, inside);
  }
  if (!inside) return return_address;
  std::array<void*, 32> stack{};
  const int depth = backtrace(stack.data(), static_cast<int>(stack.size()));
  for (int i = 0; i < depth; ++i) {
    if (!lies_in_mpi(stack[static_cast<std::size_t>(i)])) return stack[static_cast<std::size_t>(i)];
  }
  return return_address;
}

Participation part_of(const mpi::Call& call, Rank rank, Rank size) {
  const mpi::CallerBuffers buffers(call, rank, size);
  if (!buffers.erroneous()) {
    // Only the library knows whether MPI has this operator for this type.
    const bool known =
        !is_reducing(call.collective) || !mpi::predefined_op(call.op) || buffers.elements().kernel != nullptr;
    return known ? Participation::makes : Participation::unknown;
  }
  // The rank's own blocks may differ in the amounts that it sends and expects. No library looks at that before it
  // begins.
  const Collective c = call.collective;
  if (is_reducing(c) || c == Collective::bcast || call.sendbuf == MPI_IN_PLACE || call.recvbuf == MPI_IN_PLACE) {
    return Participation::refused;
  }
  if (is_rooted(c) && rank != call.root) return Participation::refused;
  // The bytes of this rank's own block; -1: an argument of this side is wrong.
  const auto own = [&](Count count, const mpi::CountArray& counts, bool is_array, MPI_Datatype type,
                       const MPI_Datatype* types) -> Count {
    if ((is_array && !counts) || (call.has_types && types == nullptr)) return -1;
    for (Rank i = 0; is_array && i < size; ++i) {
      if (counts[i] < 0) return -1;
      if (call.has_types && !mpi::describe(mpi::type_of_block(types, i, counts[i])).valid) return -1;
    }
    const Count elements = is_array ? counts[rank] : count;
    const mpi::TypeInfo info = mpi::describe(call.has_types ? mpi::type_of_block(types, rank, elements) : type);
    return info.valid && elements >= 0 ? elements * info.size_bytes : -1;
  };
  const Count sent = own(call.sendcount, call.sendcounts, has_sendcounts(c), call.sendtype, call.sendtypes);
  const Count received = own(call.recvcount, call.recvcounts, has_recvcounts(c), call.recvtype, call.recvtypes);
  return sent >= 0 && received >= 0 && sent != received ? Participation::makes : Participation::refused;
}

CheckRecord::CheckRecord(const mpi::Call& call, Mode mode, Rank rank, Rank size, const void* caller)
    : called_(mpi::called(call)), mode_(mode), rank_(rank), caller_(caller) {
  if (is_rooted(call.collective)) root_ = call.root;
  if (is_reducing(call.collective)) {
    read_reduction(call, size);
  } else if (traits_of(call.collective).moves_data) {
    read_movement(call, size);
  }
}

CheckRecord::CheckRecord(const mpi::NeighborCall& call, const Neighborhood& neighborhood,
                         const mpi::NeighborSides& sides, Mode mode, const void* caller)
    : called_(call.function), mode_(mode), rank_(neighborhood.rank), caller_(caller) {
  const bool gathers = contract_of(call.function) == NeighborContract::allgather;
  const auto read = [](std::vector<PeerBytes>& to, const std::vector<NeighborEdge>& edges, const auto& bytes_of_edge) {
    std::unordered_map<Rank, int> met;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      to.push_back({.peer = edges[i].peer, .bytes = bytes_of_edge(i), .edge = met[edges[i].peer]++});
    }
  };
  read(sends_, neighborhood.out, [&](std::size_t i) { return sides.send.bytes_of(gathers ? 0 : i); });
  read(expects_, neighborhood.in, [&](std::size_t i) { return sides.recv.bytes_of(i); });
}

CheckRecord::CheckRecord(const mpi::MadeCall& call)
    : called_(call.has_types ? CalledCollective::alltoallw() : call.collective),
      mode_(call.blocking ? Mode::blocking : Mode::nonblocking),
      bytes_(call.bytes) {
  if (is_rooted(call.collective)) root_ = call.root;
  if (!is_reducing(call.collective)) return;
  user_op_ = call.op >= mpi::MadeCall::user_op;
  commutes_ = call.op != mpi::MadeCall::user_op;
  if (!user_op_) op_ = static_cast<Op>(call.op - 1);
}

void CheckRecord::read_reduction(const mpi::Call& call, Rank size) {
  const mpi::TypeInfo info = mpi::describe(call.sendtype);
  if (info.named) element_ = call.sendtype;
  op_ = mpi::predefined_op(call.op);
  user_op_ = !op_;
  if (user_op_) {
    int commutes = 0;
    PMPI_Op_commutative(call.op, &commutes);
    commutes_ = commutes != 0;
  }
  if (has_recvcounts(call.collective)) {
    for (Rank i = 0; i < size; ++i) blocks_.push_back(call.recvcounts[i] * info.size_bytes);
    return;
  }
  const bool block = call.collective == Collective::reduce_scatter_block;
  bytes_ = (block ? call.recvcount : call.sendcount) * info.size_bytes;
}

void CheckRecord::read_movement(const mpi::Call& call, Rank size) {
  const CollectiveTraits& traits = traits_of(call.collective);
  if (is_exchange(call.collective) || has_unknown_size(call.collective)) return read_exchange(call, size);
  if (traits.regular_twin) {  // allgatherv
    for (Rank i = 0; i < size; ++i) blocks_.push_back(bytes_of(call.recvcounts[i], call.recvtype));
    if (call.sendbuf == MPI_IN_PLACE) return;
    sends_.push_back({rank_, bytes_of(call.sendcount, call.sendtype)});
    expects_.push_back({rank_, blocks_[static_cast<std::size_t>(rank_)]});
    return;
  }
  // The side with all blocks counts where it is significant, the side with one elsewhere.
  const bool sends_all = traits.send.holds == Holds::all && is_significant(traits.send, rank_, call.root);
  const bool gets_all = traits.recv.holds == Holds::all && is_significant(traits.recv, rank_, call.root);
  const bool by_send = sends_all || (!gets_all && traits.send.holds == Holds::own_block);
  bytes_ = by_send ? bytes_of(call.sendcount, call.sendtype) : bytes_of(call.recvcount, call.recvtype);
  if (traits.blocks != Blocks::one && (sends_all || gets_all)) read_own_block(call);
}

/// The block that a rank of a regular collective sends itself.
void CheckRecord::read_own_block(const mpi::Call& call) {
  if (call.sendbuf == MPI_IN_PLACE || call.recvbuf == MPI_IN_PLACE) return;
  sends_.push_back({rank_, bytes_of(call.sendcount, call.sendtype)});
  expects_.push_back({rank_, bytes_of(call.recvcount, call.recvtype)});
}

/// The collectives in which amounts are known to pairs of ranks only, and alltoall.
void CheckRecord::read_exchange(const mpi::Call& call, Rank size) {
  const auto all = [&](std::vector<PeerBytes>& to, const mpi::CountArray& counts, MPI_Datatype type, bool self,
                       const MPI_Datatype* types = nullptr) {
    for (Rank i = 0; i < size; ++i) {
      MPI_Datatype of_block = types == nullptr ? type : mpi::type_of_block(types, i, counts[i]);
      if (self || i != rank_) to.push_back({i, bytes_of(counts[i], of_block)});
    }
  };
  const bool in_place = call.sendbuf == MPI_IN_PLACE || call.recvbuf == MPI_IN_PLACE;
  const bool at_root = rank_ == call.root;
  switch (call.collective) {
    case Collective::gatherv:
      if (at_root) all(expects_, call.recvcounts, call.recvtype, !in_place);
      if (!at_root || !in_place) sends_.push_back({call.root, bytes_of(call.sendcount, call.sendtype)});
      break;
    case Collective::scatterv:
      if (at_root) all(sends_, call.sendcounts, call.sendtype, !in_place);
      if (!at_root || !in_place) expects_.push_back({call.root, bytes_of(call.recvcount, call.recvtype)});
      break;
    case Collective::alltoallv:
      in_place_ = in_place;
      all(expects_, call.recvcounts, call.recvtype, true, call.recvtypes);
      if (in_place) {
        sends_ = expects_;
      } else {
        all(sends_, call.sendcounts, call.sendtype, true, call.sendtypes);
      }
      break;
    default:
      in_place_ = in_place;
      bytes_ = bytes_of(call.recvcount, call.recvtype);
      read_own_block(call);
  }
}

std::uint64_t CheckRecord::hash() const {
  if (!called_) return Hash().add("MPI_Finalize").value();
  Hash hash;
  hash.add(static_cast<std::uint64_t>(called_->collective)).add(static_cast<std::uint64_t>(mode_));
  hash.add(static_cast<std::uint64_t>(root_)).add(static_cast<std::uint64_t>(bytes_)).add(in_place_ ? 1 : 0);
  if (called_->neighbor || called_->has_types) hash.add(to_string(*called_));
  for (const Count bytes : blocks_) hash.add(static_cast<std::uint64_t>(bytes));
  if (!is_reducing(called_->collective)) return hash.value();
  hash.add(op_ ? static_cast<std::uint64_t>(*op_) : ~std::uint64_t{commutes_ ? 1U : 0U});
  if (element_ == MPI_DATATYPE_NULL) return hash.value();
  // Names of one type, MPI_LONG and MPI_INT64_T say, are not told apart.
  const auto element = mpi::describe(element_).element;
  return (element ? hash.add(static_cast<std::uint64_t>(*element)) : hash.add(name_of_type(element_))).value();
}

std::uint64_t CheckRecord::balance() const {
  std::uint64_t sum = 0;
  for (const PeerBytes& one : sends_) sum += transfer_hash(rank_, one.peer, one);
  for (const PeerBytes& one : expects_) sum -= transfer_hash(one.peer, rank_, one);
  return sum;
}

DescribedCall CheckRecord::described() const {
  return {.call = text(), .caller = place_text(caller_), .hash = hash(), .sends = sends_, .expects = expects_};
}

std::string CheckRecord::name() const {
  if (!called_) return "MPI_Finalize";
  const std::string lower(to_string(*called_));
  if (mode_ == Mode::nonblocking) return "MPI_I" + lower;
  const std::string capital = static_cast<char>(std::toupper(static_cast<unsigned char>(lower[0]))) + lower.substr(1);
  if (mode_ == Mode::blocking) return "MPI_" + capital;
  return (mpi::library::persistent_is_extension ? "MPIX_" : "MPI_") + capital + "_init";
}

std::string CheckRecord::amount_text() const {
  if (called_->neighbor || !size_decides(called_->collective)) return {};
  const CollectiveTraits& traits = traits_of(called_->collective);
  if (!traits.regular_twin) {
    switch (traits.blocks) {
      case Blocks::one:
        return " of " + bytes_text(bytes_);
      case Blocks::per_rank:
        return " of " + bytes_text(bytes_) + (traits.recv.holds == Holds::all ? " from" : " to") + " each rank";
      case Blocks::per_pair:
        return " of " + bytes_text(bytes_) + " from each rank to each";
    }
  }
  if (blocks_.empty()) return bytes_ < 0 ? std::string() : " of " + bytes_text(bytes_) + " in all";
  std::string text = " of blocks of ";
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (i == most_blocks) return text + ", ... bytes";
    text += fmt::format("{}{}", i == 0 ? "" : ", ", blocks_[i]);
  }
  return text + " bytes";
}

std::string CheckRecord::operator_text() const {
  std::string text = ", ";
  text += op_ ? "MPI_" + upper(to_string(*op_)) : "a user's operator";
  if (user_op_ && !commutes_) text += " that does not commute";
  if (element_ != MPI_DATATYPE_NULL) text += " on " + name_of_type(element_);
  return text;
}

std::string CheckRecord::text() const {
  if (!called_) return name();
  std::string text = name() + amount_text();
  if (is_reducing(called_->collective)) text += operator_text();
  if (in_place_) text += ", in place";
  if (root_ >= 0) text += fmt::format(", root {}", root_);
  return text;
}

}  // namespace circoll::interpose
