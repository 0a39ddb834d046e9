// Schedules in Python: steps, messages and blocks as NumPy arrays, and the forms that files have.
#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "circoll/error.hpp"
#include "circoll/text.hpp"
#include "circoll/verify.hpp"
#include "formats/formats.hpp"
#include "measured/file_kind.hpp"
#include "msccl/msccl.hpp"
#include "python/bindings.hpp"
#include "select/schedule_file.hpp"
#include "show/picture.hpp"
#include "verify/given.hpp"

namespace circoll::python {
namespace {

struct StepRow {
  std::uint8_t kind;
  bool arrives_left;
  std::uint32_t round;
  Rank peer;
  std::int64_t blocks;
  std::uint32_t dst, dst_ranges, left, left_ranges, right, right_ranges;
};
struct RangeRow {
  std::int32_t buffer;
  Slot first, count;
};
struct MessageRow {
  std::uint32_t round;
  Rank source, destination;
  std::int64_t blocks;
};

/// The operand that says how many blocks a step has.
Operand counted(const Step& step) { return is_message(step) ? message_operand(step) : step.dst; }

py::array_t<StepRow> steps_of(const Schedule& schedule) {
  std::vector<StepRow> rows;
  rows.reserve(schedule.steps.size());
  for (const Step& s : schedule.steps)
    rows.push_back({static_cast<std::uint8_t>(s.kind), s.arrives_left, s.round, s.peer, schedule.count(counted(s)),
                    s.dst.offset, s.dst.length, s.left.offset, s.left.length, s.right.offset, s.right.length});
  return array_of(rows);
}

py::array_t<RangeRow> ranges_of(const Schedule& schedule) {
  std::vector<RangeRow> rows;
  rows.reserve(schedule.ranges.size());
  for (const Range& r : schedule.ranges) rows.push_back({r.buffer, r.first, r.count});
  return array_of(rows);
}

void append_messages(const Schedule& schedule, bool sent_only, std::vector<MessageRow>& rows) {
  const Rank here = schedule.shape.rank;
  for (const Step& s : schedule.steps) {
    if (!is_message(s) || (sent_only && s.kind != StepKind::send)) continue;
    const bool sends = s.kind == StepKind::send;
    rows.push_back({s.round, sends ? here : s.peer, sends ? s.peer : here, schedule.count(message_operand(s))});
  }
}

/// The blocks of an operand, "dst", "left" or "right", of a step.
std::vector<Block> blocks_of(const Schedule& schedule, std::int64_t step, const std::string& operand) {
  if (step < 0 || step >= static_cast<std::int64_t>(schedule.steps.size()))
    throw Error(ErrorCode::invalid_argument, fmt::format("step {} is none of {} steps", step, schedule.steps.size()));
  const Step& s = schedule.steps[static_cast<std::size_t>(step)];
  const Operand* const which = operand == "dst"     ? &s.dst
                               : operand == "left"  ? &s.left
                               : operand == "right" ? &s.right
                                                    : nullptr;
  if (which == nullptr)
    throw Error(ErrorCode::invalid_argument, fmt::format("operand '{}' is none of dst, left, right", operand));
  std::vector<Block> blocks;
  for (const Range& range : schedule.operand(*which)) {
    const Slot slots = schedule.buffers[static_cast<std::size_t>(range.buffer)].slots;
    for (Slot i = 0; i < range.count; ++i) blocks.push_back(schedule.block_of(range.buffer, (range.first + i) % slots));
  }
  return blocks;
}

/// Reads schedules in text, JSON, or XML of MSCCL.
std::vector<Schedule> from_text(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '<') return select::schedules_of_file(text);
  MscclSchedules read = schedules_from_msccl(text);
  for (const Schedule& schedule : read.ranks) check_structure(schedule);
  check_one_call(read.ranks);
  // A race of the XML would be lost in schedules, whose steps are ordered by the memory that they use.
  if (read.race) throw Error(ErrorCode::refuted, read.race->to_string());
  return std::move(read.ranks);
}

template <class Write>
std::string each(const std::vector<Schedule>& ranks, Write&& write) {
  require(!ranks.empty(), "there are no schedules");
  std::string text;
  for (const Schedule& schedule : ranks) text += write(schedule);
  return text;
}

/// Refuses lists in which a rank is missing or stands elsewhere: pictures and programs follow messages to their peers.
const std::vector<Schedule>& all_ranks(const std::vector<Schedule>& ranks) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const Shape& shape = ranks[r].shape;
    require(shape.size == static_cast<Rank>(ranks.size()) && shape.rank == static_cast<Rank>(r),
            "the schedules of all ranks are needed, in the order of ranks");
  }
  return ranks;
}

std::string json_of(const std::vector<Schedule>& ranks) {
  std::string text = each(ranks, [](const Schedule& s) { return ",\n" + to_json(s); });
  text.replace(0, 1, "[");
  return text + "]\n";
}

void add_forms(py::module_& module) {
  using Ranks = const std::vector<Schedule>&;
  const auto lock_free = py::call_guard<py::gil_scoped_release>();
  module.def("read", &schedules_of, py::arg("path"), lock_free,
             "The schedules of a file: Circoll's text or JSON, or XML of MSCCL.");
  module.def("parse", &from_text, py::arg("text"), lock_free, "The same of a text.");
  module.def(
      "to_text", [](Ranks ranks) { return each(ranks, [](const Schedule& s) { return to_text(s); }); },
      py::arg("schedules"), lock_free, "Schedules in Circoll's text form.");
  module.def("to_json", &json_of, py::arg("schedules"), lock_free, "Schedules in JSON, as files have them.");
  module.def(
      "to_msccl", [](Ranks ranks) { return to_msccl(all_ranks(ranks)); }, py::arg("schedules"), lock_free,
      "An algorithm of MSCCL in XML.");
  module.def(
      "to_goal",
      [](Ranks ranks, Count bytes, double gamma_s_per_byte) {
        return goal_head(static_cast<Rank>(ranks.size())) +
               each(all_ranks(ranks), [&](const Schedule& s) { return to_goal(s, bytes, gamma_s_per_byte * 1e9); });
      },
      py::arg("schedules"), py::arg("bytes"), py::arg("gamma_s_per_byte") = 0.0, lock_free,
      "A program in GOAL for LogGOPSim, ATLAHS and htsim.");
  module.def(
      "to_dot", [](Ranks ranks) { return to_dot(all_ranks(ranks)); }, py::arg("schedules"), lock_free,
      "A graph for Graphviz.");
  module.def(
      "to_svg", [](Ranks ranks) { return to_svg(all_ranks(ranks)); }, py::arg("schedules"), lock_free,
      "The picture of the rounds, as circoll show draws it.");
  module.def(
      "messages",
      [](Ranks ranks) {
        return array_of(unlocked([&] {
          std::vector<MessageRow> rows;
          for (const Schedule& schedule : ranks) append_messages(schedule, true, rows);
          return rows;
        }));
      },
      py::arg("schedules"), "All messages of a collective: round, source, destination, blocks.");
}

}  // namespace

std::vector<Schedule> schedules_of(const std::filesystem::path& path) {
  const std::string name = path.string();
  return naming(name, [&] { return from_text(measured::read_file_of(name, {measured::FileKind::schedules})); });
}

void add_schedules(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(StepRow, kind, arrives_left, round, peer, blocks, dst, dst_ranges, left, left_ranges, right,
                       right_ranges);
  PYBIND11_NUMPY_DTYPE(RangeRow, buffer, first, count);
  PYBIND11_NUMPY_DTYPE(MessageRow, round, source, destination, blocks);
  py::class_<Buffer>(module, "Buffer", "A row of slots, and the block that each holds.")
      .def_readonly("slots", &Buffer::slots)
      .def_readonly("first_block", &Buffer::first_block)
      .def_readonly("stride", &Buffer::stride)
      .def_readonly("list", &Buffer::list)
      .def_readonly("storage", &Buffer::storage);
  py::class_<Schedule>(module, "Schedule", "One rank's part of a collective: steps on ranges of blocks.")
      .def_readonly("id", &Schedule::id)
      .def_property_readonly("collective", [](const Schedule& s) { return std::string(to_string(s.collective)); })
      .def_property_readonly("size", [](const Schedule& s) { return s.shape.size; })
      .def_property_readonly("rank", [](const Schedule& s) { return s.shape.rank; })
      .def_property_readonly("root", [](const Schedule& s) { return s.shape.root; })
      .def_property_readonly("in_place", [](const Schedule& s) { return s.shape.in_place; })
      .def_property_readonly("params", [](const Schedule& s) { return s.shape.params; })
      .def_readonly("user_blocks", &Schedule::user_blocks)
      .def_readonly("segments", &Schedule::segments)
      .def_property_readonly("blocks", &Schedule::blocks)
      .def_readonly("rounds", &Schedule::rounds)
      .def_readonly("buffers", &Schedule::buffers)
      .def_readonly("edges", &Schedule::edges)
      .def_property_readonly("steps", &steps_of, "A row for each step; operands are rows of ranges.")
      .def_property_readonly("ranges", &ranges_of, "Slots of buffers, which steps read and write.")
      .def_property_readonly(
          "messages",
          [](const Schedule& s) {
            std::vector<MessageRow> rows;
            append_messages(s, false, rows);
            return array_of(rows);
          },
          "Messages of this rank: round, source, destination, blocks.")
      .def(
          "blocks_of",
          [](const Schedule& s, std::int64_t step, const std::string& operand) {
            return array_of(blocks_of(s, step, operand));
          },
          py::arg("step"), py::arg("operand") = "left", "The blocks of a step's operand: dst, left or right.")
      .def("__len__", [](const Schedule& s) { return s.steps.size(); })
      .def(
          "__eq__", [](const Schedule& a, const Schedule& b) { return a == b; }, py::is_operator())
      .def("__repr__", [](const Schedule& s) {
        return fmt::format("<Schedule {}, rank {} of {}: {} rounds, {} steps>", s.id, s.shape.rank, s.shape.size,
                           s.rounds, s.steps.size());
      });
  add_forms(module);
}

}  // namespace circoll::python
