#include "exec/mpi/message/node_channel.hpp"

#include <mutex>
#include <utility>

#include "exec/mpi/message/staging.hpp"

namespace circoll::mpi {
namespace {

std::uint64_t key_of(std::uint32_t carrier, int tag) {
  return std::uint64_t{carrier} << 32U | static_cast<std::uint32_t>(tag);
}

}  // namespace

void NodeChannel::start(const Binding& binding) {
  binding_ = &binding;
  error_ = truncation_ = MPI_SUCCESS;
  active_ = 0;
}

NodeChannel::Transfer& NodeChannel::take_transfer() {
  if (active_ == transfers_.size()) {
    transfers_.push_back(std::make_unique<Transfer>());
    completed_.resize(transfers_.size());
  }
  return *transfers_[active_];
}

std::size_t NodeChannel::packed_size(const PlanStep& step) const {
  Count bytes = 0;
  for (const Piece& piece : plan_->pieces_of(step)) bytes += packed_bytes(binding_->elements.info, piece.elements);
  return static_cast<std::size_t>(bytes);
}

bool NodeChannel::begin(StepIndex step) {
  const PlanStep& s = plan_->steps[step];
  const Route& route = binding_->route;
  Transfer& transfer = take_transfer();
  const Neighbour& neighbour = (*route.neighbours)[route.rank(s.peer)];
  transfer.step = step;
  transfer.peer = neighbour.peer;
  if (s.kind == StepKind::send) {
    transfer.out.key = key_of(neighbour.carrier, route.send_tag(s.peer, s.tag));
    send(transfer, s);
  } else {
    transfer.in.key = key_of(route.neighbours->carrier(), route.receive_tag(s.tag));
    receive(transfer, s);
  }
  if (over(transfer)) {
    end(transfer);
    return true;
  }
  ++active_;
  return false;
}

void NodeChannel::send(Transfer& transfer, const PlanStep& step) {
  const std::span<const Piece> pieces = plan_->pieces_of(step);
  const auto memory = [this](const Piece& piece) {
    return std::span(reinterpret_cast<const std::byte*>(binding_->address(piece.area, piece.offset_bytes)),
                     static_cast<std::size_t>(piece.elements * plan_->extent_bytes));
  };
  if (binding_->elements.typed) {
    transfer.packed.resize(packed_size(step));
    if (const int rc = pack_pieces(*plan_, step, *binding_, transfer.packed.data()); rc != MPI_SUCCESS) fail(rc);
    transfer.out.data = std::span<const std::byte>(transfer.packed);
  } else if (pieces.size() == 1) {
    transfer.out.data = memory(pieces[0]);
  } else {
    transfer.from.clear();
    for (const Piece& piece : pieces) transfer.from.push_back(memory(piece));
    transfer.out.data = node::Pieces<const std::byte>::of(transfer.from);
  }
  const std::lock_guard lock(transfer.peer->lock);
  transfer.peer->connection->send(transfer.out);
}

void NodeChannel::receive(Transfer& transfer, const PlanStep& step) {
  const std::span<const Piece> pieces = plan_->pieces_of(step);
  const auto memory = [this](const Piece& piece) {
    return std::span(reinterpret_cast<std::byte*>(binding_->address(piece.area, piece.offset_bytes)),
                     static_cast<std::size_t>(piece.elements * plan_->extent_bytes));
  };
  if (binding_->elements.typed) {
    transfer.packed.resize(packed_size(step));
    transfer.in.into = std::span<std::byte>(transfer.packed);
  } else if (pieces.size() == 1) {
    transfer.in.into = memory(pieces[0]);
  } else {
    transfer.into.clear();
    for (const Piece& piece : pieces) transfer.into.push_back(memory(piece));
    transfer.in.into = node::Pieces<std::byte>::of(transfer.into);
  }
  const std::lock_guard lock(transfer.peer->lock);
  transfer.peer->connection->receive(transfer.in);
}

/// A message that is over, one way or another.
void NodeChannel::end(Transfer& transfer) {
  if (is_send(transfer)) return;
  if (transfer.in.reason != node::Reason::none) fail(MPI_ERR_OTHER);
  if (transfer.in.truncated) truncation_ = MPI_ERR_TRUNCATE;
  if (!binding_->elements.typed || transfer.in.reason != node::Reason::none) return;
  const PlanStep& step = plan_->steps[transfer.step];
  // A message that is shorter than expected leaves what was there.
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
  node::Peer* asked = nullptr;
  for (std::size_t i = 0; i < active_;) {
    Transfer& transfer = *transfers_[i];
    // Another thread may be at it; then its news are ours, too, the next time.
    if (!transfer.peer->lock.try_lock()) {
      ++i;
      continue;
    }
    if (transfer.peer != asked) (void)transfer.peer->connection->poll();
    asked = transfer.peer;
    const bool is_over = over(transfer);
    transfer.peer->lock.unlock();
    if (!is_over) {
      ++i;
      continue;
    }
    completed_[ended++] = transfer.step;
    end(transfer);
    std::swap(transfers_[i], transfers_[--active_]);
  }
  return {completed_.data(), ended};
}

void NodeChannel::abandon() noexcept {
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

void NodeChannel::look_for_peers() {
  for (std::size_t i = 0; i < active_; ++i) {
    if (!node::is_alive(transfers_[i]->peer->address)) fail(MPI_ERR_OTHER);
  }
}

}  // namespace circoll::mpi
