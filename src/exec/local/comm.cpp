#include "exec/local/comm.hpp"

#include <algorithm>
#include <cstring>

#include "circoll/collectives.hpp"
#include "circoll/select.hpp"

namespace circoll::local {
namespace {

bool needs_prologue(Collective collective) {
  return collective == Collective::gatherv || collective == Collective::scatterv || collective == Collective::alltoallv;
}

Count element_bytes(const Call& call) {
  return call.record_bytes > 0 ? call.record_bytes : static_cast<Count>(extent_bytes(call.type));
}

/// Bytes of the vector that decide about algorithm and segments; equal on all ranks.
Count deciding_bytes(const Signature& s, Rank size) {
  Count elements = s.count;
  switch (s.collective) {
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::bcast:
    case Collective::scan:
    case Collective::exscan:
      break;
    case Collective::reduce_scatter_block:
    case Collective::allgather:
    case Collective::gather:
    case Collective::scatter:
    case Collective::alltoall:
      elements *= size;
      break;
    case Collective::reduce_scatter:
    case Collective::allgatherv:
      elements = 0;
      for (const Count count : s.counts) elements += count;
      break;
    case Collective::gatherv:
    case Collective::scatterv:
    case Collective::alltoallv:
    case Collective::barrier:
      elements = 0;
      break;
  }
  return elements * s.element_bytes;
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
          "this collective can not be called in place at this rank");
  if (is_reducing(call.collective)) {
    require(call.record_bytes == 0 || call.op.user() != nullptr, "a predefined operator needs a predefined type");
    require(call.op.user() != nullptr ? call.op.user()->function != nullptr
                                      : reduce_kernel(call.op.predefined(), call.type) != nullptr,
            "the operator is not defined on this type");
  }
}

Signature Comm::Impl::signature_of(const Call& call, const Choice& choice) const {
  Signature s;
  s.collective = call.collective;
  s.choice = choice;
  s.in_place = call.in_place && !is_reduce_scatter(call.collective) && !is_exchange(call.collective);
  s.root = is_rooted(call.collective) ? call.root : 0;
  s.element_bytes = element_bytes(call);
  if (is_reducing(call.collective)) {
    if (const UserOperator* user = call.op.user()) {
      s.exact_op = s.predefined_op = false;
      s.op = {.commutative = user->commutative, .idempotent = false};
    } else {
      const Op op = call.op.predefined();
      s.exact_op = is_order_free(op, call.type);
      s.op = {.commutative = is_commutative(op), .idempotent = is_idempotent(op)};
    }
  }
  if (needs_prologue(call.collective)) {
    s.prologue = true;
  } else if (is_irregular(call.collective)) {
    s.counts = call.counts;
    s.displs = call.collective == Collective::allgatherv ? call.displs : std::span<const Count>{};
  } else if (call.collective != Collective::barrier) {
    s.count = call.count;
  }
  return s;
}

Selection Comm::Impl::select(const Signature& s) const {
  const Rank p = endpoint_.size();
  return resolve(s.choice, {.collective = s.collective,
                            .p = p,
                            .bytes = deciding_bytes(s, p),
                            .op = s.op,
                            .exact_op = s.exact_op,
                            .predefined_op = s.predefined_op});
}

Schedule Comm::Impl::build(const Signature& s, const Selection& selection) const {
  return build_schedule(*selection.algorithm, s.collective,
                        Shape{.size = endpoint_.size(),
                              .rank = endpoint_.rank(),
                              .root = s.root,
                              .in_place = s.in_place,
                              .params = selection.params});
}

Layout Comm::Impl::layout_of(const Signature& s, const Schedule& schedule, const BoundCall* told) const {
  if (s.collective == Collective::alltoallv) {
    if (told->prologue == nullptr) {
      return Layout::exchange(endpoint_.rank(), s.send_counts, s.counts, schedule.segments);
    }
    return Layout::sparse(schedule.user_blocks, told->prologue->known_blocks(), {s.counts.begin(), s.counts.end()},
                          schedule.segments);
  }
  return s.counts.empty() ? Layout::uniform(schedule.user_blocks, schedule.segments, s.count)
                          : Layout::irregular({s.counts.begin(), s.counts.end()}, schedule.segments);
}

std::shared_ptr<BoundCall> Comm::Impl::bound(const Signature& s, const BoundCall* told) {
  if (std::shared_ptr<BoundCall> found = cache_.find(s)) return found;
  auto made = std::make_shared<BoundCall>(s);
  if (s.prologue) {
    const Selection selection = select(s);
    made->schedule = build(s, selection);
    if (!selection.algorithm->guarantees.direct) {
      made->prologue = std::make_unique<CountPrologue>(made->schedule);
      made->execution = std::make_unique<Execution>(made->prologue->plan());
    }
  } else {
    const Schedule built = told == nullptr ? build(s, select(s)) : Schedule{};
    const Schedule& use = told == nullptr ? built : told->schedule;
    Displacements displacements{.send = s.send_displs, .recv = s.displs};
    if (s.collective == Collective::scatterv) displacements = {.send = s.displs, .recv = {}};
    made->execution = std::make_unique<Execution>(bind(use, layout_of(s, use, told), s.element_bytes, displacements));
  }
  cache_.insert(s, made);
  return made;
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
                                                                   : detail::end_of(call.counts, call.displs);
    const auto bytes = static_cast<std::size_t>(elements * element_bytes(call));
    b.send = staging_.reserve(bytes);
    if (bytes > 0) std::memcpy(b.send, call.recvbuf, bytes);
  }
  return b;
}

void Comm::Impl::start(std::shared_ptr<BoundCall> bound, const Memory& memory) {
  running_ = std::move(bound);
  try {
    endpoint_.start(*running_->execution, memory);
  } catch (...) {
    endpoint_.abandon();
    throw;
  }
}

void Comm::Impl::begin(const Call& call, const Choice& choice) {
  endpoint_.check_world();  // after a failure a peer may still look at the plan of the call before: keep it
  check_arguments(call);
  call_ = call;
  signature_ = signature_of(call, choice);
  std::shared_ptr<BoundCall> plan = bound(signature_, nullptr);
  buffers_ = place_buffers(call);
  if (signature_.prologue && plan->prologue == nullptr) {
    // alltoallv by an algorithm that needs no other counts than the caller's.
    const std::shared_ptr<BoundCall> told = std::move(plan);
    signature_.prologue = false;
    signature_.counts = call.counts;
    signature_.displs = call.displs;
    signature_.send_counts = call.in_place ? call.counts : call.send_counts;
    signature_.send_displs = call.in_place ? call.displs : call.send_displs;
    plan = bound(signature_, told.get());
  }
  in_prologue_ = signature_.prologue;
  const bool reduces = is_reducing(call.collective);
  endpoint_.reduction().use(
      reduces && call.op.user() == nullptr ? reduce_kernel(call.op.predefined(), call.type) : nullptr,
      reduces ? call.op.user() : nullptr, signature_.element_bytes);
  std::byte* const scratch = scratch_.reserve(static_cast<std::size_t>(plan->execution->plan().scratch_bytes));
  if (!in_prologue_) {
    start(std::move(plan), Memory{buffers_.send, buffers_.recv, scratch});
    return;
  }
  const CountPrologue& prologue = *plan->prologue;
  prologue_send_.resize(std::max(prologue_send_.size(), prologue.send_counts()));
  prologue_recv_.resize(std::max(prologue_recv_.size(), prologue.recv_counts()));
  const bool exchange = call.collective == Collective::alltoallv && !call.in_place;
  prologue.fill(call.count, exchange ? call.send_counts : call.counts, prologue_send_, prologue_recv_,
                {reinterpret_cast<Count*>(scratch), prologue.scratch_counts()});
  start(std::move(plan), Memory{reinterpret_cast<std::byte*>(prologue_send_.data()),
                                reinterpret_cast<std::byte*>(prologue_recv_.data()), scratch});
}

void Comm::Impl::start_data_after_prologue() {
  const std::shared_ptr<BoundCall> told = running_;
  in_prologue_ = false;
  const std::span<const Count> in_scratch{reinterpret_cast<const Count*>(scratch_.reserve(0)),
                                          told->prologue->scratch_counts()};
  signature_.prologue = false;
  if (call_.collective == Collective::alltoallv) {
    const std::vector<Block>& known = told->prologue->known_blocks();
    counts_.resize(known.size());
    told->prologue->collect_known(prologue_send_, prologue_recv_, in_scratch, counts_);
    const Rank p = endpoint_.size();
    for (std::size_t i = 0; i < known.size(); ++i) {
      require(known[i] % p != endpoint_.rank() || counts_[i] == call_.counts[static_cast<std::size_t>(known[i] / p)],
              "a rank sends another number of elements than this one receives from it");
    }
    signature_.displs = call_.displs;
    signature_.send_displs = call_.in_place ? call_.displs : call_.send_displs;
  } else {
    counts_.resize(static_cast<std::size_t>(endpoint_.size()));
    told->prologue->collect(prologue_send_, prologue_recv_, in_scratch, counts_);
    const bool at_root = endpoint_.rank() == call_.root;
    require(!at_root || std::ranges::equal(counts_, call_.counts), "the ranks' counts differ from those of the root");
    require(call_.in_place || counts_[own()] == call_.count, "a rank's count differs from that of the root");
    signature_.displs = at_root ? call_.displs : std::span<const Count>{};
  }
  signature_.counts = counts_;
  std::shared_ptr<BoundCall> data = bound(signature_, told.get());
  std::byte* const scratch = scratch_.reserve(static_cast<std::size_t>(data->execution->plan().scratch_bytes));
  start(std::move(data), Memory{buffers_.send, buffers_.recv, scratch});
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
  impl_->begin(call, choice);
  while (!impl_->poll()) impl_->wait();
}

}  // namespace circoll::local
