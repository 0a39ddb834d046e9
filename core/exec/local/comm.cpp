#include "exec/local/comm.hpp"

#include <algorithm>
#include <cstring>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"

namespace circoll::local {
namespace {

Count element_bytes(const Call& call) {
  return call.record_bytes > 0 ? call.record_bytes : static_cast<Count>(extent_bytes(call.type));
}

}  // namespace

std::byte* AlignedBytes::reserve(std::size_t bytes) {
  if (bytes > size_) {
    bytes_.reset();
    size_ = 0;
    bytes_.reset(static_cast<std::byte*>(::operator new(bytes, alignment)));
    size_ = bytes;
  }
  return bytes_.get();
}

void Comm::Impl::check_arguments(const Call& call) const {
  const Rank p = endpoint_.size();
  const bool at_root = endpoint_.rank() == call.root;
  require(call.root >= 0 && call.root < p, "the root must be in 0 .. p-1");
  require(call.count >= 0, "counts are not negative");
  const bool counts_significant = is_irregular(call.collective) && (at_root || !is_rooted(call.collective));
  if (counts_significant) {
    require(static_cast<Rank>(call.counts.size()) == p, "p counts are needed");
    require(call.displs.empty() || call.displs.size() == call.counts.size(), "p displacements, or none, are needed");
  }
  if (call.collective == Collective::alltoallv && !call.in_place) {
    require(static_cast<Rank>(call.send_counts.size()) == p, "p counts to send are needed");
    require(call.send_displs.empty() || call.send_displs.size() == call.send_counts.size(),
            "p displacements, or none, are needed");
    require(call.send_counts[own()] == call.counts[own()], "a rank sends itself as much as it receives from itself");
  }
  require(!call.in_place || is_reduce_scatter(call.collective) || is_exchange(call.collective) ||
              has_in_place_schedule(call.collective, Shape{.size = p, .rank = endpoint_.rank(), .root = call.root}),
          "this collective cannot be called in place at this rank");
  if (is_reducing(call.collective)) {
    require(call.record_bytes == 0 || call.op.user() != nullptr, "a predefined operator needs a predefined type");
    require(call.op.user() != nullptr ? call.op.user()->function != nullptr
                                      : reduce_kernel(call.op.predefined(), call.type) != nullptr,
            "the operator is not defined on this type");
  }
}

prepare::Signature Comm::Impl::signature_of(const Call& call, const prepare::InternedChoice& choice) const {
  prepare::Signature s;
  s.head = {.choice = &choice,
            .extent_bytes = element_bytes(call),
            .message_bytes = element_bytes(call),
            .labels = placement_.labels.get(),
            .size = endpoint_.size(),
            .rank = endpoint_.rank(),
            .cores = placement_.cores,
            .nodes = placement_.nodes,
            .collective = call.collective,
            .root = is_rooted(call.collective) ? static_cast<int>(call.root) : 0,
            .in_place = call.in_place && !is_reduce_scatter(call.collective) && !is_exchange(call.collective),
            .prologue = has_unknown_size(call.collective)};
  require(s.head.choice->kind != prepare::InternedChoice::Kind::native,
          "within one process there is no native collective");
  if (is_reducing(call.collective)) {
    if (const UserOperator* user = call.op.user()) {
      s.head.exact = s.head.predefined = false;
      s.head.commutative = user->commutative;
    } else {
      const Op op = call.op.predefined();
      s.head.exact = is_order_free(op, call.type);
      s.head.commutative = is_commutative(op);
      s.head.idempotent = is_idempotent(op);
      s.head.on_arrival = prepare::CombineOnArrival::all;
    }
  }
  if (s.head.prologue || call.collective == Collective::barrier) return s;
  if (!is_irregular(call.collective)) {
    s.head.count = call.count;
    return s;
  }
  s.counts = prepare::numbers_of(call.counts);
  if (call.collective == Collective::allgatherv) s.recv_displs = prepare::numbers_of(call.displs);
  return s;
}

std::shared_ptr<BoundCall> Comm::Impl::bound(const prepare::Signature& s) {
  return cache_.find(s, [&](std::uint64_t hash) { return std::make_shared<BoundCall>(s, hash, placement_); });
}

Comm::Impl::Buffers Comm::Impl::place_buffers(const Call& call) {
  // Plans never write to the send area.
  Buffers b{static_cast<std::byte*>(const_cast<void*>(call.sendbuf)), static_cast<std::byte*>(call.recvbuf)};
  if (!call.in_place) return b;
  if (is_reduce_scatter(call.collective)) {
    const Count received = call.collective == Collective::reduce_scatter ? call.counts[own()] : call.count;
    b.send = b.recv;
    b.recv = staging_.reserve(static_cast<std::size_t>(received * element_bytes(call)));
  } else if (is_exchange(call.collective)) {
    // The blocks to send lie where those received will: they leave from a copy.
    const Count elements = call.collective == Collective::alltoall ? call.count * endpoint_.size()
                                                                   : end_of_blocks(call.counts, call.displs);
    const auto bytes = static_cast<std::size_t>(elements * element_bytes(call));
    b.send = staging_.reserve(bytes);
    if (bytes > 0) std::memcpy(b.send, call.recvbuf, bytes);
  }
  return b;
}

void Comm::Impl::start(std::shared_ptr<BoundCall> bound, const AreaAddresses& memory) {
  running_ = std::move(bound);
  try {
    endpoint_.start(running_->execution(), memory);
  } catch (...) {
    endpoint_.abandon();
    throw;
  }
}

void Comm::Impl::begin(const Call& call, const prepare::InternedChoice& choice) {
  endpoint_.check_world();  // after a failure a peer may still look at the plan of the call before: keep it
  check_arguments(call);
  call_ = call;
  signature_ = signature_of(call, choice);
  std::shared_ptr<BoundCall> plan = bound(signature_);
  buffers_ = place_buffers(call);
  if (signature_.head.prologue && plan->prologue() == nullptr) {
    // The algorithm needs no other counts than the caller's.
    signature_.head.prologue = false;
    if (is_exchange(call.collective)) {
      signature_.counts = prepare::numbers_of(call.counts);
      signature_.send_counts = prepare::numbers_of(call.in_place ? call.counts : call.send_counts);
      place_exchange();
    } else {
      counts_.assign(static_cast<std::size_t>(endpoint_.size()), 0);
      counts_[own()] = call.count;
      if (endpoint_.rank() == call.root) counts_.assign(call.counts.begin(), call.counts.end());
      place_blocks();
    }
    plan = bound(signature_);
  }
  in_prologue_ = signature_.head.prologue;
  const bool reduces = is_reducing(call.collective);
  endpoint_.reduction().use(
      reduces && call.op.user() == nullptr ? reduce_kernel(call.op.predefined(), call.type) : nullptr,
      reduces ? call.op.user() : nullptr, signature_.head.extent_bytes);
  if (!in_prologue_) {
    start_data(std::move(plan));
    return;
  }
  const CountPrologue& prologue = *plan->prologue();
  std::byte* const scratch = scratch_.reserve(static_cast<std::size_t>(plan->plan().scratch_bytes));
  prologue_send_.resize(std::max(prologue_send_.size(), prologue.send_counts()));
  prologue_recv_.resize(std::max(prologue_recv_.size(), prologue.recv_counts()));
  const bool exchange = call.collective == Collective::alltoallv && !call.in_place;
  prologue.fill(call.count, exchange ? call.send_counts : call.counts, prologue_send_, prologue_recv_,
                {reinterpret_cast<Count*>(scratch), prologue.scratch_counts()});
  start(std::move(plan), AreaAddresses{reinterpret_cast<std::byte*>(prologue_send_.data()),
                                       reinterpret_cast<std::byte*>(prologue_recv_.data()), scratch});
}

void Comm::Impl::place_blocks() {
  require(call_.in_place || counts_[own()] == call_.count, "a rank's count differs from that of the root");
  signature_.counts = prepare::numbers_of(counts_);
  if (endpoint_.rank() != call_.root) return;
  (call_.collective == Collective::scatterv ? signature_.send_displs : signature_.recv_displs) =
      prepare::numbers_of(call_.displs);
}

void Comm::Impl::place_exchange() {
  signature_.recv_displs = prepare::numbers_of(call_.displs);
  signature_.send_displs = prepare::numbers_of(call_.in_place ? call_.displs : call_.send_displs);
}

void Comm::Impl::start_data(std::shared_ptr<BoundCall> bound) {
  std::byte* const scratch = scratch_.reserve(static_cast<std::size_t>(bound->plan().scratch_bytes));
  start(std::move(bound), AreaAddresses{buffers_.send, buffers_.recv, scratch});
}

void Comm::Impl::start_data_after_prologue() {
  const std::shared_ptr<BoundCall> told = running_;  // keeps the blocks that the signature refers to
  const CountPrologue& prologue = *told->prologue();
  in_prologue_ = false;
  const std::span<const Count> in_scratch{reinterpret_cast<const Count*>(scratch_.reserve(0)),
                                          prologue.scratch_counts()};
  signature_.head.prologue = false;
  if (call_.collective == Collective::alltoallv) {
    const std::vector<Block>& known = prologue.known_blocks();
    counts_.resize(known.size());
    prologue.collect(prologue_send_, prologue_recv_, in_scratch, counts_);
    const Rank p = endpoint_.size();
    for (std::size_t i = 0; i < known.size(); ++i) {
      require(known[i] % p != endpoint_.rank() || counts_[i] == call_.counts[static_cast<std::size_t>(known[i] / p)],
              "a rank sends another number of elements than this one receives from it");
    }
    signature_.blocks = known;
    signature_.counts = prepare::numbers_of(counts_);
    place_exchange();
  } else {
    counts_.resize(static_cast<std::size_t>(endpoint_.size()));
    prologue.collect(prologue_send_, prologue_recv_, in_scratch, counts_);
    const bool at_root = endpoint_.rank() == call_.root;
    require(!at_root || std::ranges::equal(counts_, call_.counts), "the ranks' counts differ from those of the root");
    place_blocks();
  }
  start_data(bound(signature_));
}

bool Comm::Impl::poll() {
  try {
    while (endpoint_.poll()) {
      if (in_prologue_) {
        start_data_after_prologue();
        continue;
      }
      if (call_.in_place && is_reduce_scatter(call_.collective)) {
        const Count received = call_.collective == Collective::reduce_scatter ? call_.counts[own()] : call_.count;
        if (received > 0) {
          std::memcpy(call_.recvbuf, buffers_.recv, static_cast<std::size_t>(received * element_bytes(call_)));
        }
      }
      running_.reset();
      return true;
    }
  } catch (...) {
    endpoint_.abandon();
    throw;
  }
  return false;
}

Comm::Comm() = default;
Comm::~Comm() = default;
Rank Comm::rank() const { return impl_->endpoint().rank(); }
Rank Comm::size() const { return impl_->endpoint().size(); }

void Comm::execute(const Call& call, const Choice& choice) {
  impl_->pending().finish();
  impl_->begin(call, choice);
  while (!impl_->poll()) impl_->wait();
}

Request Comm::begin(const Call& call, const Choice& choice) {
  auto work = std::make_unique<PendingCall>(*impl_, call, choice, PendingCall::Kind::nonblocking);
  work->start();
  return Request(std::move(work));
}

Request Comm::init(const Call& call, const Choice& choice) {
  return Request(std::make_unique<PendingCall>(*impl_, call, choice, PendingCall::Kind::persistent));
}

}  // namespace circoll::local
