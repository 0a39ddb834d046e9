// The pen of algorithms in Python, with the words of circoll/builder.hpp.
#include <fmt/format.h>
#include <pybind11/operators.h>
#include <pybind11/stl.h>

#include "circoll/builder.hpp"
#include "circoll/error.hpp"
#include "python/bindings.hpp"

namespace circoll::python {
namespace {

/// All schedules that Python can have are within bounds: finish() checks them, and so do the readers of files.
void embed(Builder& builder, const Schedule& part, std::vector<Rank> ranks, Block first_block,
           std::int64_t block_stride, const Region& send, const Region& recv) {
  builder.embed(part, {.ranks = std::move(ranks),
                       .first_block = first_block,
                       .block_stride = block_stride,
                       .send = send,
                       .recv = recv});
}

void add_region(py::module_& module) {
  py::class_<Region>(module, "Region", "An ordered list of slots that a step reads or writes; + joins two.")
      .def(py::init<>())
      .def_property_readonly("count", &Region::count)
      .def_property_readonly("empty", &Region::empty)
      .def("__len__", [](const Region& r) { return static_cast<std::size_t>(r.count()); })
      .def(py::self + py::self)
      .def("__repr__", [](const Region& r) {
        std::string text;
        for (const Range& range : r.ranges())
          text += fmt::format("{}[buffer {}: {}+{}]", text.empty() ? "" : " ", range.buffer, range.first, range.count);
        return fmt::format("<Region {}>", text);
      });
}

}  // namespace

void add_builder(py::module_& module) {
  add_region(module);
  using StrideOrOne = std::int64_t;
  py::class_<Builder>(module, "Builder", "Writes one rank's schedule, step by step, in program order.")
      .def(py::init([](std::string id, Rank size, Rank rank, Rank root, bool in_place, const Params& params) {
             const Collective collective = collective_of(id.substr(0, id.find('/')));
             if (size < 1 || rank < 0 || rank >= size)
               throw Error(ErrorCode::invalid_argument, fmt::format("rank {} is none of {} ranks", rank, size));
             check_root(root, size);
             return std::make_unique<Builder>(
                 std::move(id), collective,
                 Shape{.size = size, .rank = rank, .root = root, .in_place = in_place, .params = params});
           }),
           py::arg("id"), py::arg("size"), py::arg("rank"), py::arg("root") = 0, py::arg("in_place") = false,
           py::arg("params") = Params{})
      .def_property_readonly("size", &Builder::size)
      .def_property_readonly("rank", &Builder::rank)
      .def_property_readonly("root", &Builder::root)
      .def_property_readonly("blocks", &Builder::blocks)
      .def_property_readonly("segments", &Builder::segments)
      .def_property_readonly("input_slots", &Builder::input_slots)
      .def_property_readonly("output_slots", &Builder::output_slots)
      .def_property_readonly("step_count", &Builder::step_count)
      .def_property_readonly("round", &Builder::round)
      .def("param", &Builder::param, py::arg("name"), py::arg("fallback"), "A parameter, or `fallback`.")
      .def("cut", &Builder::cut, py::arg("segments"), "Cuts every user block; before everything else.")
      .def("input", py::overload_cast<>(&Builder::input, py::const_), "This rank's contribution.")
      .def("input", py::overload_cast<Slot, Slot>(&Builder::input, py::const_), py::arg("first"), py::arg("count"))
      .def("output", py::overload_cast<>(&Builder::output, py::const_), "This rank's result.")
      .def("output", py::overload_cast<Slot, Slot>(&Builder::output, py::const_), py::arg("first"), py::arg("count"))
      .def("scratch", py::overload_cast<Slot, Block, std::int64_t>(&Builder::scratch), py::arg("slots"),
           py::arg("first_block"), py::arg("stride") = StrideOrOne{1}, "A new scratch buffer, by its number.")
      .def("scratch", py::overload_cast<std::vector<Block>>(&Builder::scratch), py::arg("blocks"))
      .def("scratch_like", &Builder::scratch_like, py::arg("like"), "A scratch buffer for the blocks of a region.")
      .def("region", py::overload_cast<std::int32_t>(&Builder::region, py::const_), py::arg("buffer"),
           "All slots of a buffer, or some of them.")
      .def("region", py::overload_cast<std::int32_t, Slot, Slot>(&Builder::region, py::const_), py::arg("buffer"),
           py::arg("first"), py::arg("count"))
      .def("part", &Builder::part, py::arg("of"), py::arg("first"), py::arg("count"), "A part of a region.")
      .def("send", &Builder::send, py::arg("to"), py::arg("out"))
      .def("recv", &Builder::recv, py::arg("source"), py::arg("to"))
      .def("sendrecv", &Builder::sendrecv, py::arg("to"), py::arg("out"), py::arg("source"), py::arg("into"))
      .def("reduce", &Builder::reduce, py::arg("dst"), py::arg("left"), py::arg("right"), "dst = left op right.")
      .def("recv_reduce", &Builder::recv_reduce, py::arg("source"), py::arg("dst"), py::arg("left"), py::arg("right"),
           py::arg("arrives_left"))
      .def("copy", &Builder::copy, py::arg("dst"), py::arg("src"))
      .def(
          "next_round", [](Builder& b, std::uint32_t rounds) { b.next_round(rounds); }, py::arg("rounds") = 1U,
          "The next steps belong to the next round.")
      .def("embed", &embed, py::arg("part"), py::arg("ranks") = std::vector<Rank>{}, py::arg("first_block") = Block{0},
           py::arg("block_stride") = StrideOrOne{1}, py::arg("send") = Region{}, py::arg("recv") = Region{},
           "Adds a schedule that was built on its own.")
      .def(
          "finish",
          [](Builder b) {
            Schedule schedule = std::move(b).finish();
            check_structure(schedule);
            return schedule;
          },
          "The schedule, whose slots, peers and rounds are within bounds. More steps may follow.");
}

}  // namespace circoll::python
