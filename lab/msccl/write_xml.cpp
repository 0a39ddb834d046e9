// The text of an algorithm, and its words.
#include <fmt/format.h>

#include <iterator>

#include "circoll/collectives.hpp"
#include "msccl/program.hpp"

namespace circoll::msccl {
namespace {

std::string_view name_of(Collective collective) {
  return regular_of(collective) == Collective::reduce_scatter_block ? "reducescatter" : to_string(collective);
}

}  // namespace

std::string_view to_string(Kind kind) {
  constexpr std::string_view names[] = {"nop", "s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Memory memory) { return memory == Memory::input ? "i" : memory == Memory::output ? "o" : "s"; }

std::int64_t segments_of(const Program& program) {
  return has_one_vector(program.collective) ? program.chunks
                                            : program.chunks / static_cast<std::int64_t>(program.gpus.size());
}

// One blank between attributes, and no declaration: MSCCL's own reader knows no more.
std::string to_xml(const Program& program) {
  std::string text = fmt::format(
      "<algo name=\"{}\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"{}\" ngpus=\"{}\" coll=\"{}\" "
      "inplace=\"{}\" "
      "outofplace=\"{}\" minBytes=\"0\" maxBytes=\"9223372036854775807\">\n",
      program.name, program.chunks, program.gpus.size(), name_of(program.collective), program.in_place ? 1 : 0,
      program.in_place ? 0 : 1);
  const auto out = std::back_inserter(text);
  for (std::size_t g = 0; g < program.gpus.size(); ++g) {
    const Gpu& gpu = program.gpus[g];
    fmt::format_to(out, "  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", g, gpu.input_chunks,
                   gpu.output_chunks, gpu.scratch_chunks);
    for (std::size_t t = 0; t < gpu.threadblocks.size(); ++t) {
      const Threadblock& tb = gpu.threadblocks[t];
      fmt::format_to(out, "    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", t, tb.send, tb.recv, tb.channel);
      for (std::size_t i = 0; i < tb.steps.size(); ++i) {
        const Step& step = tb.steps[i];
        fmt::format_to(out,
                       "      <step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" "
                       "cnt=\"{}\" depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>\n",
                       i, to_string(step.kind), name_of(step.src.memory), step.src.offset, name_of(step.dst.memory),
                       step.dst.offset, step.count, step.depends_tb, step.depends_step, step.has_dependent ? 1 : 0);
      }
      text += "    </tb>\n";
    }
    text += "  </gpu>\n";
  }
  return text + "</algo>\n";
}

}  // namespace circoll::msccl
