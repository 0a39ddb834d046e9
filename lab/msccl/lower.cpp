// Schedules made into an algorithm of MSCCL.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "circoll/collectives.hpp"
#include "circoll/dependencies.hpp"
#include "circoll/error.hpp"
#include "circoll/transform.hpp"
#include "msccl/msccl.hpp"
#include "msccl/program.hpp"
#include "schedule/matching.hpp"

namespace circoll::msccl {
namespace {

/// A step of MSCCL moves fewer than 72 chunks. A run of more adjacent chunks becomes several steps.
constexpr std::int32_t most_in_step = 64;

using Chunks = std::vector<Chunk>;

bool follows(const Chunk& a, const Chunk& b) { return a.memory == b.memory && a.offset + 1 == b.offset; }
bool same(const Chunk& a, const Chunk& b) { return a.memory == b.memory && a.offset == b.offset; }

/// The chunks of a rank's slots. Storages stand one after another in scratch memory, as far as steps use them.
class Places {
 public:
  explicit Places(const Schedule& s) : schedule_(s), used_(s.buffers.size(), 0), base_(s.buffers.size(), 0) {
    for (const circoll::Step& step : s.steps) {
      // A message that is combined as it arrives needs no memory.
      const bool on_arrival = step.kind == StepKind::recv_reduce;
      note(on_arrival ? own_operand(step) : step.left);
      if (!on_arrival) note(step.right);
      note(step.dst);
    }
    Slot next = 0;
    for (std::size_t i = first_scratch_buffer; i < s.buffers.size(); ++i) {
      base_[i] = next;
      next += used_[i];
    }
    scratch_chunks_ = next;
  }

  [[nodiscard]] Slot scratch_chunks() const { return scratch_chunks_; }
  [[nodiscard]] Chunks of(Operand operand) const {
    Chunks chunks;
    each(operand, [&](std::int32_t buffer, Slot slot) {
      const auto storage = static_cast<std::size_t>(schedule_.buffers[static_cast<std::size_t>(buffer)].storage);
      const ChunkBuffer memory = buffer == send_buffer   ? ChunkBuffer::input
                                 : buffer == recv_buffer ? ChunkBuffer::output
                                                         : ChunkBuffer::scratch;
      chunks.push_back(
          {memory, static_cast<std::int32_t>(memory == ChunkBuffer::scratch ? base_[storage] + slot : slot)});
    });
    return chunks;
  }

 private:
  template <typename F>
  void each(Operand operand, F&& f) const {
    for (const Range& range : schedule_.operand(operand)) {
      const Slot slots = schedule_.buffers[static_cast<std::size_t>(range.buffer)].slots;
      for (Slot i = 0; i < range.count; ++i) f(range.buffer, (range.first + i) % slots);
    }
  }
  void note(Operand operand) {
    each(operand, [&](std::int32_t buffer, Slot slot) {
      Slot& used = used_[static_cast<std::size_t>(schedule_.buffers[static_cast<std::size_t>(buffer)].storage)];
      used = std::max(used, slot + 1);
    });
  }

  const Schedule& schedule_;
  std::vector<Slot> used_;  // of each storage
  std::vector<Slot> base_;
  Slot scratch_chunks_ = 0;
};

/// A step of a schedule, in chunks.
struct Moved {
  Chunks dst{};
  Chunks src{};                         ///< sent, copied, the left operand, or what is combined with the message
  Chunks right{};                       ///< of a reduction
  std::vector<std::int32_t> lengths{};  ///< of the steps that it becomes
};

/// Adds a rank's threadblocks, step by step.
class RankLowering {
 public:
  RankLowering(const Schedule& s, const std::vector<Moved>& moved, Gpu& gpu)
      : schedule_(s), moved_(moved), gpu_(gpu), waits_for_(s.steps.size()), place_(s.steps.size()) {
    const Dependencies dependencies = derive_dependencies(s);
    for (StepIndex i = 0; i < s.steps.size(); ++i) {
      for (const StepIndex next : dependencies.successors(i)) waits_for_[next].push_back(i);
    }
  }

  /// `others`: the chunks at the other end of each message.
  void run(const std::vector<const Chunks*>& others) {
    for (StepIndex i = 0; i < schedule_.steps.size(); ++i) {
      const circoll::Step& step = schedule_.steps[i];
      const Moved& m = moved_[i];
      begin(i, threadblock_for(i));
      std::size_t first = 0;
      for (const std::int32_t length : m.lengths) {
        const Chunks& other = others[i] == nullptr ? m.src : *others[i];
        switch (step.kind) {
          case StepKind::send:
            add(Instruction::s, m.src[first], other[first], length);
            break;
          case StepKind::recv:
            add(Instruction::r, other[first], m.dst[first], length);
            break;
          case StepKind::recv_reduce:
            add(Instruction::rrc, m.src[first], m.dst[first], length);
            break;
          case StepKind::copy:
            add(Instruction::cpy, m.src[first], m.dst[first], length);
            break;
          case StepKind::reduce:
            add_reduction(m, first, length);
            break;
        }
        first += static_cast<std::size_t>(length);
      }
      place_[i] = {tb_, static_cast<std::int32_t>(steps().size()) - 1};
      last_of_[static_cast<std::size_t>(tb_)] = i;
    }
  }

 private:
  struct ThreadblockStep {
    std::int32_t tb = -1;
    std::int32_t step = -1;
  };

  [[nodiscard]] std::vector<Step>& steps() { return gpu_.threadblocks[static_cast<std::size_t>(tb_)].steps; }

  std::int32_t new_threadblock(Rank send, Rank recv) {
    gpu_.threadblocks.push_back({.send = send, .recv = recv});
    last_of_.emplace_back();
    waited_.emplace_back();
    return static_cast<std::int32_t>(gpu_.threadblocks.size()) - 1;
  }

  /// The threadblock of a step. Messages have threadblocks by peer. A local step goes to a threadblock whose last step
  /// it waits for anyway, so that it waits for nothing else. If there is none, a new one is opened.
  std::int32_t threadblock_for(StepIndex i) {
    const circoll::Step& step = schedule_.steps[i];
    if (is_message(step)) {
      const bool sends = step.kind == StepKind::send;
      const auto [at, is_new] = by_peer_.try_emplace({sends, step.peer}, 0);
      if (is_new) at->second = new_threadblock(sends ? step.peer : -1, sends ? -1 : step.peer);
      return at->second;
    }
    std::optional<std::int32_t> found;
    for (const StepIndex before : waits_for_[i]) {
      const std::int32_t tb = place_[before].tb;
      const bool for_sends = gpu_.threadblocks[static_cast<std::size_t>(tb)].send >= 0;
      if (!for_sends && last_of_[static_cast<std::size_t>(tb)] == before) found = tb;
    }
    return found ? *found : new_threadblock(-1, -1);
  }

  /// Begins step i in a threadblock. Nops wait for all but one of the steps that step i waits for, and the next step
  /// for that one.
  void begin(StepIndex i, std::int32_t tb) {
    tb_ = tb;
    std::map<std::int32_t, std::int32_t> last;  // of each other threadblock
    for (const StepIndex before : waits_for_[i]) {
      const ThreadblockStep place = place_[before];
      if (place.tb == tb) continue;
      std::int32_t& step = last.try_emplace(place.tb, -1).first->second;
      step = std::max(step, place.step);
    }
    std::map<std::int32_t, std::int32_t>& waited = waited_[static_cast<std::size_t>(tb)];
    for (const auto& [other, step] : last) {
      std::int32_t& before = waited.try_emplace(other, -1).first->second;
      if (before >= step) continue;
      before = step;
      gpu_.threadblocks[static_cast<std::size_t>(other)].steps[static_cast<std::size_t>(step)].has_dependent = true;
      if (pending_.tb >= 0) steps().push_back({.depends_tb = pending_.tb, .depends_step = pending_.step});
      pending_ = {other, step};
    }
  }

  void add(Instruction kind, const Chunk& src, const Chunk& dst, std::int32_t count) {
    steps().push_back({.kind = kind,
                       .src = src,
                       .dst = dst,
                       .count = count,
                       .depends_tb = pending_.tb,
                       .depends_step = pending_.step});
    pending_ = {};
  }

  /// dst = left op right, where MSCCL has dst = dst op src only, and operators that commute.
  void add_reduction(const Moved& m, std::size_t first, std::int32_t length) {
    if (same(m.dst[first], m.right[first])) {
      add(Instruction::re, m.src[first], m.dst[first], length);
      return;
    }
    if (!same(m.dst[first], m.src[first])) add(Instruction::cpy, m.src[first], m.dst[first], length);
    add(Instruction::re, m.right[first], m.dst[first], length);
  }

  const Schedule& schedule_;
  const std::vector<Moved>& moved_;
  Gpu& gpu_;
  std::vector<std::vector<StepIndex>> waits_for_;
  std::vector<ThreadblockStep> place_;  // the last step that each became
  std::map<std::pair<bool, Rank>, std::int32_t> by_peer_;
  std::vector<std::optional<StepIndex>> last_of_;             // of each threadblock
  std::vector<std::map<std::int32_t, std::int32_t>> waited_;  // threadblock: for what steps of others it has waited
  std::int32_t tb_ = -1;
  ThreadblockStep pending_{};
};

/// Cuts a step into parts whose chunks are adjacent in every one of these lists.
std::vector<std::int32_t> cut(const std::vector<const Chunks*>& lists, const Moved* reduction) {
  std::vector<std::int32_t> lengths;
  const std::size_t chunks = lists.front()->size();
  for (std::size_t i = 0; i < chunks; ++i) {
    bool goes_on = i > 0 && lengths.back() < most_in_step;
    for (const Chunks* const list : lists) goes_on = goes_on && follows((*list)[i - 1], (*list)[i]);
    // Parts of a reduction are of one kind (add_reduction).
    for (const Chunks* const own :
         {reduction == nullptr ? nullptr : &reduction->src, reduction == nullptr ? nullptr : &reduction->right}) {
      if (own != nullptr && goes_on)
        goes_on = same(reduction->dst[i], (*own)[i]) == same(reduction->dst[i - 1], (*own)[i - 1]);
    }
    if (goes_on) {
      ++lengths.back();
    } else {
      lengths.push_back(1);
    }
  }
  return lengths;
}

std::vector<Moved> chunks_of(const Schedule& s, const Places& places) {
  std::vector<Moved> moved;
  for (const circoll::Step& step : s.steps) {
    const bool on_arrival = step.kind == StepKind::recv_reduce;
    moved.push_back({.dst = places.of(step.dst),
                     .src = places.of(on_arrival ? own_operand(step) : step.left),
                     .right = on_arrival ? Chunks{} : places.of(step.right)});
  }
  return moved;
}

/// The chunks of a step as a list of lists, all of which move together.
std::vector<const Chunks*> lists_of(const Moved& m) {
  std::vector<const Chunks*> lists;
  for (const Chunks* const list : {&m.dst, &m.src, &m.right}) {
    if (!list->empty()) lists.push_back(list);
  }
  return lists;
}

void check_expressible(const Schedule& s) {
  const std::string_view name = to_string(s.collective);
  const auto refuse = [&](std::string_view why) {
    throw Error(ErrorCode::unsupported, fmt::format("MSCCL's XML cannot say {}: {}", name, why));
  };
  if (is_rooted(s.collective)) refuse("it has no word for a root");
  if (s.collective == Collective::barrier) refuse("it moves chunks, and a barrier has none");
  if (traits_of(s.collective).prefix) refuse("it has no prefix reductions");
  if (traits_of(s.collective).regular_twin) refuse("its chunks are of one size; take the collective of equal blocks");
  if (s.shape.in_place && !has_in_place_schedule(s.collective, s.shape))
    refuse("a schedule has no form of it in place; leave that out");
}

/// A name that needs no quoting, as long as MSCCL keeps it.
std::string name_of(const Schedule& s) {
  std::string name = s.id.substr(0, 63);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c <= ' ' || c > '~' || c == '"' || c == '&' || c == '<'; }, '_');
  return name;
}

/// Throws as to_msccl(). `ranks` are sound.
MscclProgram lower(std::span<const Schedule> ranks) {
  const Schedule& first = ranks.front();
  check_expressible(first);
  const Matching matching = [&] {
    try {
      return Matching(ranks);
    } catch (const Unmatched& end) {
      throw Error(ErrorCode::invalid_argument, fmt::format("rank {}, step {}: {}", end.rank, end.step, end.what));
    }
  }();
  MscclProgram program{.name = name_of(first), .collective = first.collective, .in_place = first.shape.in_place};
  program.gpus.resize(ranks.size());
  std::vector<std::vector<Moved>> moved;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const Places places(ranks[r]);
    moved.push_back(chunks_of(ranks[r], places));
    Gpu& gpu = program.gpus[r];
    gpu.output_chunks = static_cast<std::int32_t>(ranks[r].buffers[recv_buffer].slots);
    const CollectiveContract contract = contract_of(first.collective, ranks[r].shape, first.segments);
    gpu.input_chunks = static_cast<std::int32_t>(contract.input_count);
    gpu.scratch_chunks = static_cast<std::int32_t>(places.scratch_chunks());
    program.chunks = std::max({program.chunks, gpu.input_chunks, gpu.output_chunks});
  }
  std::vector<std::vector<const Chunks*>> others(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    others[r].resize(ranks[r].steps.size());
    for (StepIndex i = 0; i < ranks[r].steps.size(); ++i) {
      Moved& own = moved[r][i];
      const circoll::Step& step = ranks[r].steps[i];
      std::vector<const Chunks*> lists = lists_of(own);
      if (lists.empty()) throw Error(ErrorCode::unsupported, "MSCCL's XML cannot say a message of no chunks");
      if (is_message(step)) {
        // Both ends are cut at the same places, where the chunks of either end are not adjacent.
        const StepOfRank end = matching.of({static_cast<Rank>(r), i});
        const Moved& other = moved[static_cast<std::size_t>(end.rank)][end.step];
        for (const Chunks* const list : lists_of(other)) lists.push_back(list);
        others[r][i] = step.kind == StepKind::send ? &other.dst : &other.src;
      }
      own.lengths = cut(lists, step.kind == StepKind::reduce ? &own : nullptr);
    }
  }
  for (std::size_t r = 0; r < ranks.size(); ++r) RankLowering(ranks[r], moved[r], program.gpus[r]).run(others[r]);
  return program;
}

}  // namespace
}  // namespace circoll::msccl

namespace circoll {

std::string to_msccl(std::span<const Schedule> ranks) {
  require(!ranks.empty(), "an algorithm has at least one rank");
  std::vector<Schedule> combined;
  combined.reserve(ranks.size());
  for (const Schedule& s : ranks) {
    check_structure(s);
    require(s.collective == ranks.front().collective && s.shape.size == static_cast<Rank>(ranks.size()) &&
                s.shape.rank == static_cast<Rank>(combined.size()),
            "the schedules are those of all ranks of one call, in order");
    combined.push_back(combined_on_arrival(s, [](Rank) { return true; }));
  }
  return msccl::to_xml(msccl::lower(combined));
}

}  // namespace circoll
