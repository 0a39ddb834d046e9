// The blocks in the memory of all ranks, followed through all units of a program.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "circoll/collectives.hpp"
#include "msccl/actions.hpp"
#include "msccl/units.hpp"

namespace circoll::msccl {
namespace {

/// An id of the characters that ids may have.
std::string id_of(const MscclProgram& program) {
  const std::string collective(to_string(program.collective));
  std::string name = program.name.substr(0, 100);
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        return !letter && c != '_' && c != '.' && c != '/' && c != '-';
      },
      '_');
  if (name.empty()) name = "unnamed";
  return name.starts_with(collective + "/") ? name : collective + "/" + name;
}

/// Steps that a threadblock has ended whenever it goes on. Sends are not among them.
using Ended = std::vector<std::uint32_t>;

/// A cell at the moment.
struct CellState {
  Block block = -1;
  bool initial = false;
  UnitIndex writer = no_unit;
  std::vector<UnitIndex> readers{};
};

struct RankState {
  std::vector<CellState> cells{};
  std::vector<Ended> ended{};          ///< of each threadblock
  std::vector<std::int32_t> staged{};  ///< the number of times that each threadblock has used staging memory
};

/// Staging memories of a threadblock, which it uses in turn. The contents of one may still be on their way out.
constexpr std::int32_t stagings_of_threadblock = 2;

class Tracer {
 public:
  Tracer(const Units& units, const std::vector<Cells>& cells, const MscclProgram& program)
      : units_(units),
        cells_(cells),
        program_(program),
        states_(cells.size()),
        ended_after_(units.all().size()),
        messages_(units.all().size()),
        send_action_(units.all().size(), 0) {
    actions_.ranks.resize(cells.size());
    for (std::size_t r = 0; r < cells.size(); ++r) {
      const std::size_t threadblocks = program.gpus[r].threadblocks.size();
      states_[r].cells.resize(cells[r].size());
      states_[r].ended.resize(threadblocks);
      states_[r].staged.resize(threadblocks, 0);
      actions_.ranks[r].lives.resize(cells[r].size());
      for (std::size_t i = 0; i < cells[r].size(); ++i) {
        const Cell& cell = cells[r][static_cast<CellIndex>(i)];
        if (cell.from.exists()) states_[r].cells[i] = {.block = cells[r].block_of(cell.from), .initial = true};
      }
    }
  }

  Actions run() {
    for (UnitIndex u = 0; u < units_.all().size(); ++u) play(u);
    return std::move(actions_);
  }

 private:
  /// The pieces of a chunk that each step of the unit names, read or written.
  template <typename F>
  Pieces pieces(Chunk Step::*chunk, F&& f) {
    const Unit& unit = units_[unit_];
    Pieces all;
    for (std::int32_t i = unit.first; i <= unit.last; ++i) {
      const Step& step = units_.step(unit, i);
      for (std::int32_t c = 0; c < step.count; ++c)
        all.push_back(f(cells_[rank_].of(step.*chunk, c), step, all.size()));
    }
    return all;
  }

  void check_order(const CellState& state, UnitIndex earlier) {
    if (actions_.race || earlier == no_unit || units_.ordered(earlier, unit_)) return;
    actions_.race = Race{static_cast<Rank>(rank_), next_action(), earlier, unit_, state.block};
  }

  Pieces read(Chunk Step::*chunk) {
    return pieces(chunk, [&](CellIndex cell, const Step& step, std::size_t) {
      CellState& state = states_[rank_].cells[static_cast<std::size_t>(cell)];
      if (state.block < 0)
        fail(step.line,
             fmt::format(
                 "gpu {}, threadblock {}, step {} reads a chunk of buffer {} that holds nothing that it waits for",
                 rank_, units_[unit_].tb, units_[unit_].first, name_of((step.*chunk).memory)),
             ErrorCode::refuted);
      check_order(state, state.writer);
      if (state.readers.empty() || state.readers.back() != unit_) state.readers.push_back(unit_);
      CellLife& life = actions_.ranks[rank_].lives[static_cast<std::size_t>(cell)];
      life.initial_read = life.initial_read || state.initial;
      note(life, state.block);
      return Piece{cell, state.block};
    });
  }

  /// Writes these blocks into the chunks, one after another.
  Pieces write(Chunk Step::*chunk, const Pieces& values) {
    return pieces(chunk, [&](CellIndex cell, const Step&, std::size_t i) {
      CellState& state = states_[rank_].cells[static_cast<std::size_t>(cell)];
      check_order(state, state.writer);
      for (const UnitIndex reader : state.readers) check_order(state, reader);
      state = {.block = values[i].block, .writer = unit_};
      CellLife& life = actions_.ranks[rank_].lives[static_cast<std::size_t>(cell)];
      life.written = true;
      life.last = state.block;
      note(life, state.block);
      return Piece{cell, state.block};
    });
  }

  static void note(CellLife& life, Block block) {
    if (std::find(life.blocks.begin(), life.blocks.end(), block) == life.blocks.end()) life.blocks.push_back(block);
  }

  /// True if a chunk that is received into may still be on its way out. The receive would wait for that.
  [[nodiscard]] bool is_leaving(Chunk Step::*chunk) {
    bool leaving = false;
    (void)pieces(chunk, [&](CellIndex cell, const Step&, std::size_t) {
      for (const UnitIndex reader : states_[rank_].cells[static_cast<std::size_t>(cell)].readers) {
        leaving = leaving || (reader != unit_ && sends(units_.step(units_[reader]).kind) &&
                              !units_.received_before(reader, unit_));
      }
      return Piece{};
    });
    return leaving;
  }

  static Pieces staged(Pieces pieces) {
    for (Piece& piece : pieces) piece.cell = -1;
    return pieces;
  }

  [[nodiscard]] std::uint32_t next_action() const {
    return static_cast<std::uint32_t>(actions_.ranks[rank_].actions.size());
  }

  std::uint32_t add(Action action) {
    action.unit = unit_;
    if (first_) action.after = waits_for_;
    first_ = false;
    const std::uint32_t index = next_action();
    if (action.kind != StepKind::send) last_ended_ = index;
    actions_.ranks[rank_].actions.push_back(std::move(action));
    return index;
  }

  void send(Pieces from, std::int32_t staging = -1) {
    messages_[unit_] = from;
    send_action_[unit_] = add({.kind = StepKind::send, .peer = tb().send, .left = std::move(from), .staging = staging});
  }

  [[nodiscard]] const Threadblock& tb() const {
    return program_.gpus[rank_].threadblocks[static_cast<std::size_t>(units_[unit_].tb)];
  }

  /// The message that comes, in staging memory or in place.
  Pieces receive(Pieces to, std::int32_t staging) {
    const UnitIndex sender = units_[unit_].sender;
    Action& sent = actions_.ranks[static_cast<std::size_t>(units_[sender].gpu)].actions[send_action_[sender]];
    sent.other = next_action();
    add({.kind = StepKind::recv, .peer = tb().recv, .other = send_action_[sender], .dst = to, .staging = staging});
    return to;
  }

  std::int32_t next_staging() {
    const auto t = static_cast<std::size_t>(units_[unit_].tb);
    const std::int32_t turn = states_[rank_].staged[t]++ % stagings_of_threadblock;
    return static_cast<std::int32_t>(t) * stagings_of_threadblock + turn;
  }

  void play(UnitIndex u) {
    unit_ = u;
    const Unit& unit = units_[u];
    rank_ = static_cast<std::size_t>(unit.gpu);
    const Instruction kind = units_.step(unit).kind;
    Ended& ended = states_[rank_].ended[static_cast<std::size_t>(unit.tb)];
    waits_for_ = ended;
    for (const UnitIndex before : unit.depends_on) {
      const Ended& more = ended_after_[before];
      waits_for_.insert(waits_for_.end(), more.begin(), more.end());
    }
    keep_latest(waits_for_);
    first_ = true;
    last_ended_.reset();
    if (combines_message(kind)) {
      combine_message(kind);
    } else if (receives(kind)) {
      const Pieces& message = messages_[unit.sender];
      if (is_leaving(&Step::dst)) {
        const std::int32_t staging = next_staging();
        const Pieces arrived = receive(staged(message), staging);
        add({.kind = StepKind::copy, .dst = write(&Step::dst, arrived), .left = arrived, .staging = staging});
      } else {
        receive(write(&Step::dst, message), -1);
      }
      if (sends(kind)) send(read(&Step::dst));
    } else if (kind == Instruction::s) {
      send(read(&Step::src));
    } else if (kind == Instruction::cpy) {
      Pieces from = read(&Step::src);
      Pieces to = write(&Step::dst, from);
      add({.kind = StepKind::copy, .dst = std::move(to), .left = std::move(from)});
    } else if (kind == Instruction::re) {
      Pieces left = read(&Step::dst);
      Pieces right = read(&Step::src);
      Pieces to = write(&Step::dst, left);
      add({.kind = StepKind::reduce, .dst = std::move(to), .left = std::move(left), .right = std::move(right)});
    }
    ended = last_ended_ ? Ended{*last_ended_} : waits_for_;
    for (std::int32_t i = unit.first; i <= unit.last; ++i) {
      if (units_.step(unit, i).has_dependent) ended_after_[u] = ended;
    }
  }

  /// Keeps the latest action of each threadblock, which has waited for those before it.
  void keep_latest(Ended& all) const {
    const auto threadblock = [&](std::uint32_t action) {
      return units_[actions_.ranks[rank_].actions[action].unit].tb;
    };
    std::sort(all.begin(), all.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair{threadblock(a), b} < std::pair{threadblock(b), a};
    });
    const auto same = [&](std::uint32_t a, std::uint32_t b) { return threadblock(a) == threadblock(b); };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
  }

  void combine_message(Instruction kind) {
    const std::int32_t staging = next_staging();
    const Pieces arrived = receive(staged(messages_[units_[unit_].sender]), staging);
    Pieces own = read(&Step::src);
    const Pieces to = kind == Instruction::rrs ? staged(own) : write(&Step::dst, own);
    add({.kind = StepKind::reduce, .dst = to, .left = own, .right = arrived, .staging = staging});
    if (kind == Instruction::rrs) send(to, staging);
    if (kind == Instruction::rrcs) send(read(&Step::dst));
  }

  const Units& units_;
  const std::vector<Cells>& cells_;
  const MscclProgram& program_;
  Actions actions_;
  std::vector<RankState> states_;
  std::vector<Ended> ended_after_;  // units that others wait for: what has ended then
  std::vector<Pieces> messages_;    // by the unit that sends
  std::vector<std::uint32_t> send_action_;

  // The unit that is played.
  UnitIndex unit_ = 0;
  std::size_t rank_ = 0;
  Ended waits_for_;
  bool first_ = true;
  std::optional<std::uint32_t> last_ended_;
};

}  // namespace

Cells::Cells(const MscclProgram& program, Rank rank) : in_place_(program.in_place) {
  const std::int64_t segments = segments_of(program);
  frame_.id = id_of(program);
  frame_.collective = program.collective;
  frame_.shape = {.size = static_cast<Rank>(program.gpus.size()), .rank = rank};
  frame_.shape.in_place = program.in_place && has_in_place_schedule(program.collective, frame_.shape);
  const CollectiveContract contract = contract_of(program.collective, frame_.shape, segments);
  frame_.user_blocks = contract.user_blocks;
  frame_.segments = segments;
  frame_.buffers = {contract.send, contract.recv};

  const auto inputs = static_cast<CellIndex>(contract.input_count);
  const auto outputs = static_cast<CellIndex>(contract.output_count);
  // In place, the smaller buffer lies at the rank's own part of the larger one.
  const auto part = static_cast<CellIndex>(rank * segments);
  if (!program.in_place) {
    output_ = inputs;
    scratch_ = inputs + outputs;
  } else {
    if (inputs < outputs) input_ = part;
    if (outputs < inputs) output_ = part;
    scratch_ = std::max(inputs, outputs);
  }
  const auto index = [](CellIndex cell) { return static_cast<std::size_t>(cell); };
  cells_.resize(index(scratch_) + index(program.gpus[static_cast<std::size_t>(rank)].scratch_chunks));
  for (CellIndex i = 0; i < inputs; ++i)
    cells_[index(input_) + index(i)].from = {contract.input_buffer, contract.input_first + i};
  for (CellIndex i = 0; i < outputs; ++i)
    cells_[index(output_) + index(i)].to = {contract.output_buffer, contract.output_first + i};
}

CellIndex Cells::of(const Chunk& chunk, std::int32_t i) const {
  const CellIndex first = chunk.memory == ChunkBuffer::input    ? input_
                          : chunk.memory == ChunkBuffer::output ? output_
                                                                : scratch_;
  return first + chunk.offset + i;
}

Actions trace(const Units& units, const std::vector<Cells>& cells, const MscclProgram& program) {
  return Tracer(units, cells, program).run();
}

}  // namespace circoll::msccl
