// The programs of all ranks, made from their schedules by several threads. Those that are alike are kept once.
#include "sim/programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "circoll/collectives.hpp"
#include "circoll/dependencies.hpp"
#include "circoll/error.hpp"
#include "facts/hash.hpp"
#include "schedule/relabelling.hpp"
#include "sim/sim.hpp"

namespace circoll::sim {
namespace {

/// Sorts the steps of one direction by rounds. The builder writes them so; a schedule from elsewhere may be otherwise.
std::vector<StepIndex> by_round(const StepGraph& program, bool sends) {
  std::vector<StepIndex> list;
  for (StepIndex i = 0; i < program.steps(); ++i) {
    const StepKind kind = program.ops[i].kind;
    if (sends ? kind == StepKind::send : is_receive(kind)) list.push_back(i);
  }
  std::stable_sort(list.begin(), list.end(),
                   [&](StepIndex a, StepIndex b) { return program.ops[a].round < program.ops[b].round; });
  return list;
}

/// The program of a schedule.
StepGraph program_of(const Schedule& schedule) {
  const Dependencies dependencies = derive_dependencies(schedule);
  const auto steps = static_cast<StepIndex>(schedule.steps.size());
  StepGraph program;
  program.ops.resize(std::size_t{steps} + 1);
  program.successors = dependencies.targets;
  for (StepIndex i = 0; i < steps; ++i) {
    const Step& step = schedule.steps[i];
    Op& op = program.ops[i];
    op = {.kind = step.kind,
          .is_first = dependencies.in_degree[i] == 0,
          .round = step.round,
          .first_successor = dependencies.offsets[i],
          .waits = std::max(1U, dependencies.in_degree[i]) + (is_receive(step.kind) ? 1U : 0U),
          .blocks = static_cast<double>(schedule.count(is_message(step) ? message_operand(step) : step.dst))};
    if (is_message(step)) op.message = program.messages++;
    const auto first = program.successors.begin() + dependencies.offsets[i];
    const auto end = program.successors.begin() + dependencies.offsets[i + 1];
    std::sort(first, end);  // steps that become ready at the same time begin in program order
    op.releases_receives_only =
        std::all_of(first, end, [&](StepIndex s) { return is_receive(schedule.steps[s].kind); });
  }
  program.ops.back().first_successor = static_cast<std::uint32_t>(program.successors.size());
  program.receives = by_round(program, false);
  program.sends = by_round(program, true);
  return program;
}

using Key = std::vector<std::uint64_t>;
struct KeyHash {
  std::size_t operator()(const Key& key) const {
    QuickHash hash;
    for (const std::uint64_t word : key) hash.add(word);
    return hash.value();
  }
};

/// Writes all that the program of a schedule depends on. Blocks and peers are not part of it.
void write_key(const Schedule& s, Key& key) {
  key.clear();
  key.push_back(s.rounds);
  key.push_back(s.steps.size());
  const auto operand = [&](Operand o) { key.push_back(std::uint64_t{o.offset} << 32U | o.length); };
  for (const Step& step : s.steps) {
    key.push_back(std::uint64_t{step.round} << 32U | static_cast<std::uint64_t>(step.kind) << 1U |
                  (step.arrives_left ? 1U : 0U));
    operand(step.dst);
    operand(step.left);
    operand(step.right);
  }
  for (const Range& range : s.ranges) {
    key.push_back(static_cast<std::uint64_t>(range.buffer));
    key.push_back(static_cast<std::uint64_t>(range.first));
    key.push_back(static_cast<std::uint64_t>(range.count));
  }
  for (const Buffer& buffer : s.buffers) {
    key.push_back(static_cast<std::uint64_t>(buffer.slots));
    key.push_back(static_cast<std::uint64_t>(buffer.storage));
  }
  for (const auto& [earlier, later] : s.edges) key.push_back(std::uint64_t{earlier} << 32U | later);
}

void write_key(const StepGraph& program, Key& key) {
  key.clear();
  for (const Op& op : program.ops) {
    key.push_back(std::uint64_t{op.round} << 32U | static_cast<std::uint64_t>(op.kind));
    key.push_back(std::uint64_t{op.first_successor} << 32U | op.waits);
    key.push_back(std::bit_cast<std::uint64_t>(op.blocks));
  }
  for (const StepIndex s : program.successors) key.push_back(s);
}

/// The programs that differ, common to all threads.
class Distinct {
 public:
  explicit Distinct(std::deque<StepGraph>& programs) : programs_(programs) {}

  const StepGraph* find_or_add(StepGraph&& program, Key& scratch) {
    write_key(program, scratch);
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = known_.try_emplace(scratch, nullptr);
    if (is_new) at->second = &programs_.emplace_back(std::move(program));
    return at->second;
  }

 private:
  std::mutex mutex_;
  std::deque<StepGraph>& programs_;
  std::unordered_map<Key, const StepGraph*, KeyHash> known_;
};

/// The most schedules that are remembered. Where ranks differ in ranges, remembering does not help.
constexpr std::size_t most_remembered = 1024;
/// All ranks together have at most so many steps, which take about 4 bytes each.
constexpr std::int64_t most_steps = std::int64_t{1} << 29;

[[noreturn]] void refuse_size(const Schedule& schedule) {
  throw Error(ErrorCode::unsupported, fmt::format("{} has more than 2^29 steps for p = {}, too many to be simulated",
                                                  schedule.id, schedule.shape.size));
}

/// Refuses schedules at once that would be refused after a long time. If three ranks have too much to do, most have.
void check_size(Rank p, const std::function<Schedule(Rank)>& schedule_of) {
  for (const Rank rank : {Rank{0}, p / 2, p - 1}) {
    const Schedule schedule = schedule_of(rank);
    if (static_cast<std::int64_t>(schedule.steps.size()) <= most_steps / p) return;
    if (rank == p - 1) refuse_size(schedule);
  }
}

/// The work that all threads have done together.
struct Progress {
  std::atomic<Rank> generated{0};
  std::atomic<bool> stopped{false};
};

/// Fills the programs of ranks [first, last), of `most` steps at most. Throws Stopped if somebody has stopped.
void fill(Programs& all, Distinct& distinct, std::vector<std::uint32_t>& peers, Rank first, Rank last,
          std::int64_t most, const std::function<Schedule(Rank)>& schedule_of, Progress& progress,
          const std::function<bool(Rank)>& go_on) {
  std::unordered_map<Key, const StepGraph*, KeyHash> remembered;
  Key key;
  Key scratch;
  std::vector<std::size_t> offset;
  for (Rank r = first; r < last; ++r) {
    const Schedule schedule = schedule_of(r);
    if (const Rank generated = ++progress.generated; go_on && !go_on(generated)) progress.stopped = true;
    if (progress.stopped) throw Stopped{};
    most -= static_cast<std::int64_t>(schedule.steps.size());
    if (most < 0) refuse_size(schedule);
    write_key(schedule, key);
    const auto known = remembered.find(key);
    const StepGraph* program = known != remembered.end() ? known->second : nullptr;
    if (program == nullptr) {
      program = distinct.find_or_add(program_of(schedule), scratch);
      if (remembered.size() < most_remembered) remembered.emplace(key, program);
    }
    all.ranks[static_cast<std::size_t>(r)].program = program;
    offset.push_back(peers.size());
    for (const Step& step : schedule.steps) {
      if (!is_message(step)) continue;
      require(step.peer >= 0 && step.peer < static_cast<Rank>(all.ranks.size()), "a peer is a rank of the collective");
      peers.push_back(static_cast<std::uint32_t>(step.peer));
    }
  }
  for (Rank r = first; r < last; ++r)
    all.ranks[static_cast<std::size_t>(r)].peers = peers.data() + offset[static_cast<std::size_t>(r - first)];
}

/// A message is known by its round and its two ends. Throws Error(unsupported) where that is not enough.
void check_one_per_round(const StepGraph& program, const std::uint32_t* peers, Rank rank) {
  for (const auto* list : {&program.sends, &program.receives}) {
    for (std::size_t i = 1; i < list->size(); ++i) {
      const Op& op = program.ops[(*list)[i]];
      for (std::size_t j = i; j-- > 0 && program.ops[(*list)[j]].round == op.round;) {
        if (peers[program.ops[(*list)[j]].message] != peers[op.message]) continue;
        throw Error(
            ErrorCode::unsupported,
            fmt::format("rank {} has two messages with rank {} in round {}, which the simulator does not tell apart",
                        rank, peers[op.message], op.round));
      }
    }
  }
}

void count(Programs& all) {
  for (const RankProgram& rank : all.ranks) {
    all.steps += static_cast<std::int64_t>(rank.program->steps());
    all.messages += static_cast<std::int64_t>(rank.program->sends.size());
  }
  for (const StepGraph& program : all.distinct) {
    for (const Op& op : program.ops) all.most_waits = std::max(all.most_waits, op.waits);
  }
}

/// The programs of p ranks, whose schedules `schedule_of` makes, from several threads at the same time. `go_on`, which
/// may be empty, is asked as by Ranks.
Programs programs_of(Rank p, int threads, const std::function<Schedule(Rank)>& schedule_of,
                     const std::function<bool(Rank)>& go_on) {
  check_size(p, schedule_of);
  Programs all;
  all.ranks.resize(static_cast<std::size_t>(p));
  Distinct distinct(all.distinct);
  const auto chunks = static_cast<std::size_t>(std::clamp<Rank>(p / 64, 1, std::max(1, threads)));
  all.peers.resize(chunks);
  std::vector<std::exception_ptr> failures(chunks);
  Progress progress;
  const auto work = [&](std::size_t chunk) {
    const auto begin = static_cast<Rank>(chunk) * p / static_cast<Rank>(chunks);
    const auto end = static_cast<Rank>(chunk + 1) * p / static_cast<Rank>(chunks);
    try {
      fill(all, distinct, all.peers[chunk], begin, end, most_steps / static_cast<std::int64_t>(chunks), schedule_of,
           progress, chunk == 0 ? go_on : std::function<bool(Rank)>{});
    } catch (...) {
      failures[chunk] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t chunk = 1; chunk < chunks; ++chunk) others.emplace_back(work, chunk);
  work(0);
  for (std::thread& other : others) other.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  for (Rank r = 0; r < p; ++r) {
    const RankProgram& rank = all.ranks[static_cast<std::size_t>(r)];
    check_one_per_round(*rank.program, rank.peers, r);
  }
  count(all);
  return all;
}

/// The programs of all ranks whose schedules are rotations of rank 0's. O(messages of all ranks). Asks `go_on` as
/// Ranks does.
Programs programs_of_rotations(const Schedule& first, const std::function<bool(Rank)>& go_on) {
  const Rank p = first.shape.size;
  if (static_cast<std::int64_t>(first.steps.size()) > most_steps / p) refuse_size(first);
  Programs all;
  const StepGraph& program = all.distinct.emplace_back(program_of(first));
  std::vector<std::uint32_t>& peers = all.peers.emplace_back();
  peers.reserve(std::size_t{program.messages} * static_cast<std::size_t>(p));
  for (Rank r = 0; r < p; ++r) {
    if (go_on && !go_on(r)) throw Stopped{};
    for (const Step& step : first.steps) {
      if (is_message(step)) peers.push_back(static_cast<std::uint32_t>((step.peer + r) % p));
    }
  }
  for (Rank r = 0; r < p; ++r) {
    all.ranks.push_back({&program, peers.data() + static_cast<std::size_t>(r) * program.messages});
  }
  check_one_per_round(program, peers.data(), 0);
  count(all);
  return all;
}

/// Sets the unit of bytes. In an exchange the vector of a rank is the blocks that it sends.
void set_vector(Programs& programs, const Schedule& of_first) {
  const std::int64_t share = is_exchange(of_first.collective) ? of_first.shape.size : 1;
  const Block blocks = of_first.blocks() / share;
  programs.vector_blocks = static_cast<double>(blocks);
  programs.moves_data = traits_of(of_first.collective).moves_data;
}

}  // namespace

Ranks::Ranks(const Selection& selection, Rank p, Rank root, int threads,
             const std::function<bool(Rank generated)>& go_on) {
  require(selection.algorithm != nullptr && p >= 1 && p < (Rank{1} << 31U), "an algorithm, and 1 to 2^31 - 1 ranks");
  Shape shape{.size = p, .root = root, .params = selection.params};
  // Once for all ranks.
  if (const auto on_node = shape.params.find("relabel"); on_node != shape.params.end()) {
    shape.labels = std::make_shared<const Relabelling>(Relabelling::across_nodes(p, on_node->second));
  }
  const auto schedule_of = [&](Rank r) {
    Shape of_rank = shape;
    of_rank.rank = r;
    return build_schedule(*selection.algorithm, selection.collective, of_rank);
  };
  const Schedule first = schedule_of(0);
  const bool rotates = selection.algorithm->rotation != Rotation::none && shape.labels == nullptr;
  programs_ = std::make_unique<Programs>(rotates ? programs_of_rotations(first, go_on)
                                                 : programs_of(p, threads, schedule_of, go_on));
  set_vector(*programs_, first);
}

Ranks::Ranks(std::span<const Schedule> schedules) {
  require(!schedules.empty(), "there is at least one rank");
  for (const Schedule& schedule : schedules) check_structure(schedule);
  const auto schedule_of = [&](Rank r) { return schedules[static_cast<std::size_t>(r)]; };
  programs_ = std::make_unique<Programs>(programs_of(static_cast<Rank>(schedules.size()), 1, schedule_of, {}));
  set_vector(*programs_, schedules.front());
}

Ranks::Ranks(Ranks&&) noexcept = default;
Ranks& Ranks::operator=(Ranks&&) noexcept = default;
Ranks::~Ranks() = default;

Rank Ranks::size() const { return static_cast<Rank>(programs_->ranks.size()); }
std::int64_t Ranks::steps() const { return programs_->steps; }
std::int64_t Ranks::messages() const { return programs_->messages; }
std::int64_t Ranks::programs() const { return static_cast<std::int64_t>(programs_->distinct.size()); }

}  // namespace circoll::sim
