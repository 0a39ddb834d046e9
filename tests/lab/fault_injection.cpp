#include "fault_injection.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "circoll/error.hpp"
#include "circoll/ops.hpp"
#include "exec/local/endpoint.hpp"

namespace circoll::local {
namespace {

constexpr Count extent = sizeof(std::int64_t);

/// The element of a contribution: no two sets of contributions have the same sum.
std::int64_t element(Rank source, Block block, Count i) {
  return (std::int64_t{1} << static_cast<unsigned>(source)) + ((block * 31 + i) << 40);
}

Layout layout_of(const Schedule& s, Count count) { return Layout::uniform(s.user_blocks, s.segments, count); }

/// The bytes of a caller's buffer. The place of each slot in it is added to `offsets`.
Count bytes_of(const Buffer& buffer, const Schedule& s, std::int32_t number, const Layout& layout,
               std::vector<Count>& offsets) {
  Count bytes = 0;
  for (Slot slot = 0; slot < buffer.slots; ++slot) {
    offsets.push_back(bytes);
    bytes += layout.count(s.block_of(number, slot)) * extent;
  }
  return bytes;
}

}  // namespace

StepSet steps_before_stop(const Schedule& schedule, std::size_t steps, std::uint64_t seed) {
  require(steps <= schedule.steps.size(), "a rank stops after no more steps than it has");
  StepSet set(schedule.steps.size(), false);
  const Dependencies dependencies = derive_dependencies(schedule);
  std::vector<std::uint32_t> waiting = dependencies.in_degree;
  std::vector<std::vector<StepIndex>> successors(schedule.steps.size());
  const auto add = [&](StepIndex from, StepIndex to) { successors[from].push_back(to); };
  std::map<std::pair<StepKind, Rank>, StepIndex> last;
  for (StepIndex i = 0; i < schedule.steps.size(); ++i) {
    for (const StepIndex next : dependencies.successors(i)) add(i, next);
    const Step& step = schedule.steps[i];
    if (!is_message(step)) continue;
    const std::pair key{is_receive(step.kind) ? StepKind::recv : StepKind::send, step.peer};
    if (const auto before = last.find(key); before != last.end()) {
      add(before->second, i);
      ++waiting[i];
    }
    last[key] = i;
  }
  std::mt19937_64 random(seed);
  std::vector<StepIndex> ready;
  for (StepIndex i = 0; i < schedule.steps.size(); ++i) {
    if (waiting[i] == 0) ready.push_back(i);
  }
  for (std::size_t done = 0; done < steps; ++done) {
    const auto chosen = seed == 0 ? std::min_element(ready.begin(), ready.end())
                                  : ready.begin() + static_cast<std::ptrdiff_t>(random() % ready.size());
    const StepIndex step = *chosen;
    ready.erase(chosen);
    set[step] = true;
    for (const StepIndex next : successors[step]) {
      if (--waiting[next] == 0) ready.push_back(next);
    }
  }
  return set;
}

/// One rank: its memory, and its current execution.
class FaultInjection::RankMemory {
 public:
  RankMemory(Schedule schedule, Count count) : schedule_(std::move(schedule)), layout_(layout_of(schedule_, count)) {
    send_.resize(size(bytes_of(schedule_.buffers[send_buffer], schedule_, send_buffer, layout_, send_offsets_)));
    recv_.resize(size(bytes_of(schedule_.buffers[recv_buffer], schedule_, recv_buffer, layout_, recv_offsets_)));
    const CollectiveContract contract = contract_of(schedule_.collective, schedule_.shape, schedule_.segments);
    for (Slot slot = contract.input_first; slot < contract.input_first + contract.input_count; ++slot) {
      const Block block = schedule_.block_of(contract.input_buffer, slot);
      const bool in_send = contract.input_buffer == send_buffer;
      for (Count i = 0; i < layout_.count(block); ++i) {
        const std::int64_t value = element(schedule_.shape.rank, block, i);
        std::byte* const place = in_send ? send_.data() + send_offsets_[static_cast<std::size_t>(slot)]
                                         : recv_.data() + recv_offsets_[static_cast<std::size_t>(slot)];
        std::memcpy(place + i * extent, &value, sizeof value);
      }
    }
    sent_ = send_;
  }

  /// Prepares this rank's schedule, or another one whose buffers begin with the same. Only `allowed` steps begin.
  void prepare(const Schedule& schedule, StepSet allowed) {
    const Count before = plan_.scratch_bytes;
    plan_ = bind(schedule, layout_, extent);
    require(plan_.scratch_bytes >= before, "a repair has the scratch memory of what it repairs");
    scratch_.resize(size(plan_.scratch_bytes));
    execution_ = std::make_unique<LocalExecution>(plan_);
    const StepSet none(plan_.steps.size(), false);
    watch_ = {.allowed = std::move(allowed), .begun = none, .ended = none};
    execution_->watch(&watch_);
  }
  void start(Hub& hub) {
    Endpoint& endpoint = *hub.endpoints[static_cast<std::size_t>(schedule_.shape.rank)];
    endpoint.reduction().use(reduce_kernel(Op::sum, Type::int64), nullptr, extent);
    endpoint.start(*execution_, {send_.data(), recv_.data(), scratch_.data()});
  }

  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] const StepSet& ended() const { return watch_.ended; }
  /// True if every step that it may begin has ended, or is a send and has begun.
  [[nodiscard]] bool is_done() const {
    for (std::size_t i = 0; i < watch_.allowed.size(); ++i) {
      const bool is_send = plan_.steps[i].kind == StepKind::send;
      if (watch_.allowed[i] && !(is_send ? watch_.begun[i] : watch_.ended[i])) return false;
    }
    return true;
  }
  [[nodiscard]] bool has_ended() const { return execution_->engine().done(); }
  void overwrite(const StepSet& torn) {
    for (std::size_t i = 0; i < torn.size(); ++i) {
      if (!torn[i] || !is_receive(plan_.steps[i].kind)) continue;
      for (const Piece& piece : plan_.pieces_of(plan_.steps[i])) {
        std::vector<std::byte>& memory = piece.area == Area::scratch ? scratch_
                                         : piece.area == Area::send  ? send_
                                                                     : recv_;
        std::fill_n(memory.begin() + piece.offset_bytes, piece.elements * extent, std::byte{0x5a});
      }
    }
  }
  [[nodiscard]] bool send_intact() const { return send_ == sent_; }

  [[nodiscard]] bool is_result(Block block, std::uint64_t contributions) const {
    const CollectiveContract contract = contract_of(schedule_.collective, schedule_.shape, schedule_.segments);
    for (Slot slot = contract.output_first; slot < contract.output_first + contract.output_count; ++slot) {
      if (schedule_.block_of(contract.output_buffer, slot) != block) continue;
      for (Count i = 0; i < layout_.count(block); ++i) {
        std::int64_t expected = 0;
        for (Rank source = 0; source < schedule_.shape.size; ++source) {
          if ((contributions >> static_cast<unsigned>(source) & 1) != 0) expected += element(source, block, i);
        }
        std::int64_t found = 0;
        std::memcpy(&found, recv_.data() + recv_offsets_[static_cast<std::size_t>(slot)] + i * extent, sizeof found);
        if (found != expected) return false;
      }
      return true;
    }
    return false;
  }

 private:
  static std::size_t size(Count bytes) { return static_cast<std::size_t>(bytes); }

  Schedule schedule_;
  Layout layout_;
  std::vector<std::byte> send_;
  std::vector<std::byte> sent_;  // the original content of the send buffer
  std::vector<std::byte> recv_;
  std::vector<std::byte> scratch_;
  std::vector<Count> send_offsets_;
  std::vector<Count> recv_offsets_;
  Plan plan_;
  std::unique_ptr<LocalExecution> execution_;
  Watch watch_;
};

FaultInjection::FaultInjection(std::vector<Schedule> ranks, Count count) {
  for (Schedule& s : ranks) parts_.push_back(std::make_unique<RankMemory>(std::move(s), count));
}
FaultInjection::~FaultInjection() = default;

Progress FaultInjection::execute(Mode mode, std::span<const bool> stopping) {
  Hub hub;
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (std::size_t r = 0; r < parts_.size(); ++r)
    endpoints.push_back(std::make_unique<Endpoint>(hub, static_cast<Rank>(r)));
  if (mode == Mode::single_thread) {
    hub.single_threaded = true;
    for (const auto& part : parts_) part->start(hub);
    for (const auto& endpoint : endpoints) {
      if (!endpoint->queued) hub.runnable.push_back(endpoint.get());
      endpoint->queued = true;
    }
    while (!hub.runnable.empty()) {
      Endpoint* const endpoint = hub.runnable.front();
      hub.runnable.pop_front();
      endpoint->queued = false;
      const auto rank = static_cast<std::size_t>(endpoint->rank());
      // A rank that has stopped does not answer others.
      if (!(stopping[rank] && parts_[rank]->is_done())) (void)endpoint->poll();
    }
  } else {
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < parts_.size(); ++r) {
      threads.emplace_back([&, r] {
        try {
          parts_[r]->start(hub);
          const auto is_over = [&] { return stopping[r] ? parts_[r]->is_done() : parts_[r]->has_ended(); };
          while (!is_over() && !endpoints[r]->poll() && !is_over()) endpoints[r]->wait();
          // Others may still copy from the memory of a stopped rank, which stays.
          if (stopping[r]) hub.fail();
        } catch (const Error&) {
          // This rank has seen that another one stopped.
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  Progress progress;
  for (const auto& part : parts_) progress.push_back(part->ended());
  return progress;
}

Progress FaultInjection::run(const std::map<Rank, StepSet>& stops, Mode mode) {
  const auto stopping = std::make_unique<bool[]>(parts_.size());
  for (std::size_t r = 0; r < parts_.size(); ++r) {
    const auto stop = stops.find(static_cast<Rank>(r));
    stopping[r] = stop != stops.end();
    const Schedule& all = parts_[r]->schedule();
    parts_[r]->prepare(all, stopping[r] ? stop->second : StepSet(all.steps.size(), true));
  }
  return execute(mode, {stopping.get(), parts_.size()});
}

void FaultInjection::overwrite(const Progress& torn) {
  for (std::size_t r = 0; r < parts_.size(); ++r) parts_[r]->overwrite(torn[r]);
}

void FaultInjection::run(const Repair& repair, Mode mode) {
  require(repair.ranks.size() == parts_.size(), "a repair has a schedule for every rank");
  for (std::size_t r = 0; r < parts_.size(); ++r) {
    const Schedule& s = repair.ranks[r];
    parts_[r]->prepare(s, StepSet(s.steps.size(), true));
  }
  const auto stopping = std::make_unique<bool[]>(parts_.size());
  (void)execute(mode, {stopping.get(), parts_.size()});
  for (std::size_t r = 0; r < parts_.size(); ++r) {
    if (!parts_[r]->has_ended())
      throw Error(ErrorCode::transport, "rank " + std::to_string(r) + " waits forever in a repair");
  }
}

bool FaultInjection::is_result(Rank rank, Block block, std::uint64_t contributions) const {
  return parts_[static_cast<std::size_t>(rank)]->is_result(block, contributions);
}

bool FaultInjection::send_buffers_intact() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->send_intact(); });
}

}  // namespace circoll::local
