#include "exec/mpi/message/node_channel.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "exec/mpi/library/failures.hpp"

namespace circoll::mpi {
namespace {

std::uint64_t key_of(std::uint32_t carrier, int tag) {
  return std::uint64_t{carrier} << 32U | static_cast<std::uint32_t>(tag);
}

}  // namespace

void NodeChannel::start(const Binding& binding) {
  binding_ = &binding;
  error_ = truncation_ = MPI_SUCCESS;
  active_ = receiving_ = 0;
  lost_.clear();
  const Route& route = binding.route;
  if (route.node_peers != nullptr && (route.range->id() != range_ || route.span != span_)) find_ends();
}

void NodeChannel::find_ends() {
  const Route& route = binding_->route;
  ends_.assign(plan_->steps.size(), End{});
  bool several_sent = false, several_received = false;
  std::size_t messages = 0;
  for (StepIndex step = 0; step < ends_.size(); ++step) {
    const PlanStep& s = plan_->steps[step];
    if (!is_message(s.kind)) continue;
    const int rank = route.rank(s.peer);
    if (!route.node_peers->has(rank)) continue;
    ++messages;
    const bool sent = s.kind == StepKind::send;
    const NodePeer& other = (*route.node_peers)[rank];
    const int tag = (sent ? route.send_tag(s.peer, s.tag) : route.receive_tag(s.tag)) - route.offset;
    ends_[step] = {.peer = other.peer,
                   .key = key_of(sent ? other.carrier : route.node_peers->carrier(), tag),
                   .helps = sent ? !receives_next(step) : !is_combined(step)};
    if (s.length > 1) (sent ? several_sent : several_received) = true;
  }
  while (transfers_.size() < messages) transfers_.push_back(std::make_unique<Transfer>());
  completed_.resize(transfers_.size());
  if (several_sent) from_.resize(plan_->pieces.size());
  if (several_received) into_.resize(plan_->pieces.size());
  ++changes_;
  range_ = route.range->id();
  span_ = route.span;
}

/// A process that receives at the same time has no time to help.
bool NodeChannel::receives_next(StepIndex step) const {
  return step + 1 < plan_->steps.size() && is_receive(plan_->steps[step + 1].kind);
}

/// Data that another processor has written is slow to combine.
bool NodeChannel::is_combined(StepIndex step) const {
  const std::span<const StepIndex> next = plan_->dependencies.successors(step);
  return std::any_of(next.begin(), next.end(),
                     [&](StepIndex one) { return plan_->steps[one].kind == StepKind::reduce; });
}

std::size_t NodeChannel::packed_size(const PlanStep& step) const {
  Count bytes = 0;
  for (const Piece& piece : plan_->pieces_of(step)) bytes += packed_bytes(binding_->elements.info, piece.elements);
  return static_cast<std::size_t>(bytes);
}

bool NodeChannel::begin(StepIndex step) {
  const PlanStep& s = plan_->steps[step];
  const End& other = ends_[step];
  const std::uint64_t key = other.key + static_cast<std::uint64_t>(binding_->route.offset);
  const bool sent = s.kind == StepKind::send;
  if (sent && send_at_once(s, *other.peer, key)) return true;
  Transfer& transfer = *transfers_[active_];
  transfer.step = step;
  transfer.peer = other.peer;
  (sent ? transfer.out.key : transfer.in.key) = key;
  const bool is_over = sent ? send(transfer, s) : receive(transfer, s);
  if (is_over && is_lost(transfer)) {
    lost_.push_back(step);
    return false;
  }
  if (is_over) {
    end(transfer);
  } else {
    ++active_;
    if (!sent) ++receiving_;
  }
  return is_over;
}

bool NodeChannel::send_at_once(const PlanStep& step, node::ConnectedPeer& peer, std::uint64_t key) {
  if (step.length > 1 || binding_->elements.typed) return false;
  std::span<const std::byte> data;
  if (step.length == 1) data = memory<const std::byte>(plan_->pieces[step.first]);
  const std::lock_guard lock(peer.lock);
  return peer.connection->send_whole(key, data);
}

template <typename Byte>
node::Pieces<Byte> NodeChannel::memory_of(const PlanStep& step, std::vector<std::span<Byte>>& list) {
  const std::span<const Piece> pieces = plan_->pieces_of(step);
  if (pieces.empty()) return {};
  if (pieces.size() == 1) return memory<Byte>(pieces[0]);
  for (std::size_t i = 0; i < pieces.size(); ++i) list[step.first + i] = memory<Byte>(pieces[i]);
  return node::Pieces<Byte>::of(std::span(list).subspan(step.first, step.length));
}

bool NodeChannel::send(Transfer& transfer, const PlanStep& step) {
  if (binding_->elements.typed) {
    transfer.packed.resize(packed_size(step));
    if (const int rc = pack_pieces(*plan_, step, *binding_, transfer.packed.data()); rc != MPI_SUCCESS) fail(rc);
    transfer.out.data = std::span<const std::byte>(transfer.packed);
  } else {
    transfer.out.data = memory_of(step, from_);
  }
  transfer.out.may_help = idle() && ends_[transfer.step].helps;
  const std::lock_guard lock(transfer.peer->lock);
  transfer.peer->connection->send(transfer.out);
  return transfer.out.over;
}

bool NodeChannel::receive(Transfer& transfer, const PlanStep& step) {
  if (binding_->elements.typed) {
    transfer.packed.resize(packed_size(step));
    transfer.in.into = std::span<std::byte>(transfer.packed);
  } else {
    transfer.in.into = memory_of(step, into_);
  }
  transfer.in.taker = nullptr;
  if (combines(step)) {
    transfer.combiner.begin(*plan_, step, *binding_);
    transfer.in.taker = &transfer.combiner;
  }
  transfer.in.may_be_helped = transfer.in.taker == nullptr && ends_[transfer.step].helps;
  const std::lock_guard lock(transfer.peer->lock);
  transfer.peer->connection->receive(transfer.in);
  return transfer.in.over;
}

/// A message that is over, one way or another.
void NodeChannel::end(Transfer& transfer) {
  if (is_send(transfer)) return;
  if (transfer.in.reason != node::Reason::none) fail(library::process_failed);
  if (transfer.in.truncated) truncation_ = MPI_ERR_TRUNCATE;
  if (binding_->exact && transfer.in.bytes < transfer.in.into.size()) truncation_ = MPI_ERR_OTHER;
  if (transfer.in.reason != node::Reason::none) return;
  const PlanStep& step = plan_->steps[transfer.step];
  if (binding_->elements.typed) unpack(transfer, step);
  if (transfer.in.taker != nullptr) {
    if (transfer.combiner.error() != MPI_SUCCESS) fail(transfer.combiner.error());
  } else if (step.kind == StepKind::recv_reduce) {
    if (const int rc = combine(*plan_, step, *binding_); rc != MPI_SUCCESS) fail(rc);
  }
}

void NodeChannel::unpack(Transfer& transfer, const PlanStep& step) {
  // A message that is shorter than expected leaves the rest of the buffer as it was.
  if (transfer.in.bytes < transfer.packed.size()) {
    std::vector<std::byte> before(transfer.packed.size());
    if (const int rc = pack_pieces(*plan_, step, *binding_, before.data()); rc != MPI_SUCCESS) return fail(rc);
    std::copy(before.begin() + static_cast<std::ptrdiff_t>(transfer.in.bytes), before.end(),
              transfer.packed.begin() + static_cast<std::ptrdiff_t>(transfer.in.bytes));
  }
  if (const int rc = unpack_pieces(*plan_, step, *binding_, transfer.packed.data()); rc != MPI_SUCCESS) fail(rc);
}

std::span<const StepIndex> NodeChannel::poll() {
  std::size_t ended = 0;
  node::ConnectedPeer* asked = nullptr;
  for (std::size_t i = 0; i < active_;) {
    Transfer& transfer = *transfers_[i];
    // Another thread may poll this connection. Then this channel sees the results at its next poll.
    if (!transfer.peer->lock.try_lock()) {
      ++i;
      continue;
    }
    if (transfer.peer != asked) (void)transfer.peer->connection->poll(idle());
    asked = transfer.peer;
    const bool is_over = over(transfer);
    transfer.peer->lock.unlock();
    if (!is_over) {
      ++i;
      continue;
    }
    if (is_lost(transfer)) {
      lost_.push_back(transfer.step);
    } else {
      completed_[ended++] = transfer.step;
      end(transfer);
    }
    if (!is_send(transfer)) --receiving_;
    std::swap(transfers_[i], transfers_[--active_]);
  }
  return {completed_.data(), ended};
}

void NodeChannel::abandon() noexcept {
  receiving_ = 0;
  for (; active_ > 0; --active_) {
    Transfer& transfer = *transfers_[active_ - 1];
    const std::lock_guard lock(transfer.peer->lock);
    if (over(transfer)) continue;
    if (is_send(transfer)) {
      transfer.peer->connection->abandon(transfer.out);
    } else {
      transfer.peer->connection->abandon(transfer.in);
    }
  }
}

void NodeChannel::halt(Halt& halt, const IsDead& /*is_dead*/) {
  for (const StepIndex step : lost_) {
    halt.ended[step] = false;
    halt.torn[step] = true;
  }
  for (std::size_t i = 0; i < active_; ++i) {
    halt.ended[transfers_[i]->step] = false;
    halt.torn[transfers_[i]->step] = !is_send(*transfers_[i]);
  }
  abandon();
}

void NodeChannel::look_for_peers() {
  // A wrapper that interrupts the call knows better.
  if (binding_->route.interruption != nullptr) return;
  for (std::size_t i = 0; i < active_; ++i) {
    if (!node::is_alive(transfers_[i]->peer->address)) fail(library::process_failed);
  }
}

}  // namespace circoll::mpi
