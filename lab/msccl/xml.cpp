// MSCCL's XML, read and written.
#include <fmt/format.h>
#include <tinyxml2.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <limits>

#include "circoll/collectives.hpp"
#include "msccl/program.hpp"

namespace circoll::msccl {
namespace {

using tinyxml2::XMLElement;

constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
/// The most chunks of a buffer, and the most that all steps move. MSCCL's own limits are far below.
constexpr std::int32_t most_chunks = 1 << 16;
constexpr std::int64_t most_moved = std::int64_t{1} << 24;

/// Foreign text for a message: short, and printable.
std::string excerpt(const char* text) {
  std::string part(text, std::min<std::size_t>(std::strlen(text), 40));
  std::replace_if(
      part.begin(), part.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return part;
}

const char* text_of(const XMLElement& element, const char* name) {
  const char* const value = element.Attribute(name);
  if (value == nullptr) fail(element.GetLineNum(), fmt::format("<{}> has no {}", excerpt(element.Name()), name));
  return value;
}

std::int32_t number_of(const XMLElement& element, const char* name, std::int32_t least, std::int32_t largest = most) {
  const char* const text = text_of(element, name);
  const char* const end = text + std::strlen(text);
  std::int32_t value = 0;
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || stop != end || stop == text)
    fail(element.GetLineNum(), fmt::format("{}=\"{}\" is no whole number", name, excerpt(text)));
  if (value < least || value > largest)
    fail(element.GetLineNum(), fmt::format("{}=\"{}\" is not within {} .. {}", name, value, least, largest));
  return value;
}

bool flag_of(const XMLElement& element, const char* name) { return number_of(element, name, 0, 1) == 1; }

Collective collective_of(const XMLElement& algo) {
  const std::string_view name = text_of(algo, "coll");
  if (name == "allreduce") return Collective::allreduce;
  if (name == "allgather") return Collective::allgather;
  if (name == "reducescatter" || name == "reduce_scatter") return Collective::reduce_scatter_block;
  if (name == "alltoall") return Collective::alltoall;
  for (const char* const rooted : {"broadcast", "reduce", "gather", "scatter"}) {
    if (name == rooted)
      fail(algo.GetLineNum(), fmt::format("coll=\"{}\" has a root, which the format does not say", rooted),
           ErrorCode::unsupported);
  }
  fail(algo.GetLineNum(),
       fmt::format("coll=\"{}\" is none of allreduce, allgather, reducescatter, alltoall", excerpt(name.data())),
       ErrorCode::unsupported);
}

Instruction kind_of(const XMLElement& step) {
  const std::string_view name = text_of(step, "type");
  for (const Instruction kind : {Instruction::nop, Instruction::s, Instruction::r, Instruction::rcs, Instruction::rrs,
                                 Instruction::rrc, Instruction::rrcs, Instruction::cpy, Instruction::re}) {
    if (name == to_string(kind)) return kind;
  }
  fail(step.GetLineNum(),
       fmt::format("type=\"{}\" is none of s, r, rcs, rrs, rrc, rrcs, cpy, re, nop", excerpt(name.data())));
}

Chunk chunk_of(const XMLElement& step, const char* buffer, const char* offset) {
  const std::string_view name = text_of(step, buffer);
  for (const ChunkBuffer memory : {ChunkBuffer::input, ChunkBuffer::output, ChunkBuffer::scratch}) {
    if (name == name_of(memory)) return {memory, number_of(step, offset, -1)};
  }
  fail(step.GetLineNum(), fmt::format("{}=\"{}\" is none of i, o, s", buffer, excerpt(name.data())));
}

/// One walk over an XML document.
class Reader {
 public:
  explicit Reader(std::string_view xml) {
    const tinyxml2::XMLError error = document_.Parse(xml.data(), xml.size());
    if (error != tinyxml2::XML_SUCCESS)
      fail(std::max(document_.ErrorLineNum(), 1),
           fmt::format("it is no XML ({})", tinyxml2::XMLDocument::ErrorIDToName(error)));
  }

  MscclProgram run() {
    const XMLElement* const algo = document_.RootElement();
    if (algo == nullptr || std::strcmp(algo->Name(), "algo") != 0)
      fail(algo == nullptr ? 1 : algo->GetLineNum(), "an algorithm of MSCCL begins with <algo>");
    program_.name = text_of(*algo, "name");
    program_.collective = collective_of(*algo);
    program_.chunks = number_of(*algo, "nchunksperloop", 1, most_chunks);
    program_.in_place = flag_of(*algo, "inplace");
    const std::int32_t ranks = number_of(*algo, "ngpus", 1);
    for (const XMLElement* gpu = child(*algo, "gpu"); gpu != nullptr; gpu = next(*gpu, "gpu")) {
      const auto expected = static_cast<std::int32_t>(program_.gpus.size());
      if (number_of(*gpu, "id", 0) != expected)
        fail(gpu->GetLineNum(), fmt::format("gpu {} is expected here: they stand in the order of their ids", expected));
      if (expected == ranks) fail(gpu->GetLineNum(), fmt::format("there are more gpus than ngpus=\"{}\"", ranks));
      program_.gpus.emplace_back();
      read_gpu(*gpu, ranks);
    }
    if (static_cast<std::int32_t>(program_.gpus.size()) != ranks)
      fail(algo->GetLineNum(), fmt::format("ngpus=\"{}\", but {} stand here", ranks, program_.gpus.size()));
    if (!has_one_vector(program_.collective) && program_.chunks % ranks != 0)
      fail(algo->GetLineNum(),
           fmt::format("nchunksperloop=\"{}\" is no multiple of the {} ranks, each of which has an equal part of them",
                       program_.chunks, ranks),
           ErrorCode::unsupported);
    return std::move(program_);
  }

 private:
  const XMLElement* child(const XMLElement& of, const char* name) {
    check_name(of.FirstChildElement(), name);
    return of.FirstChildElement();
  }
  const XMLElement* next(const XMLElement& after, const char* name) {
    check_name(after.NextSiblingElement(), name);
    return after.NextSiblingElement();
  }
  static void check_name(const XMLElement* element, const char* name) {
    if (element != nullptr && std::strcmp(element->Name(), name) != 0)
      fail(element->GetLineNum(), fmt::format("<{}> stands where <{}> is expected", excerpt(element->Name()), name));
  }

  /// The chunks that a buffer has by the collective; scratch memory has what is declared.
  [[nodiscard]] std::int32_t chunks_in(ChunkBuffer memory, std::int32_t ranks) const {
    const std::int32_t part = program_.chunks / ranks;
    if (memory == ChunkBuffer::input) return program_.collective == Collective::allgather ? part : program_.chunks;
    if (memory == ChunkBuffer::output)
      return program_.collective == Collective::reduce_scatter_block ? part : program_.chunks;
    return program_.gpus.back().scratch_chunks;
  }

  void read_gpu(const XMLElement& element, std::int32_t ranks) {
    Gpu& gpu = program_.gpus.back();
    gpu.input_chunks = number_of(element, "i_chunks", 0, most_chunks);
    gpu.output_chunks = number_of(element, "o_chunks", 0, most_chunks);
    gpu.scratch_chunks = number_of(element, "s_chunks", 0, most_chunks);
    cells_ += chunks_in(ChunkBuffer::input, ranks) + chunks_in(ChunkBuffer::output, ranks) + gpu.scratch_chunks;
    if (cells_ > most_moved) fail(element.GetLineNum(), "there are more than 16 Mi chunks", ErrorCode::unsupported);
    for (const XMLElement* tb = child(element, "tb"); tb != nullptr; tb = next(*tb, "tb")) {
      const auto expected = static_cast<std::int32_t>(gpu.threadblocks.size());
      if (number_of(*tb, "id", 0) != expected)
        fail(tb->GetLineNum(),
             fmt::format("threadblock {} is expected here: they stand in the order of their ids", expected));
      gpu.threadblocks.emplace_back();
      read_threadblock(*tb, ranks);
    }
    for (const Threadblock& tb : gpu.threadblocks) {
      for (const Step& step : tb.steps) check_dependence(gpu, tb, step);
    }
  }

  void read_threadblock(const XMLElement& element, std::int32_t ranks) {
    Gpu& gpu = program_.gpus.back();
    Threadblock& tb = gpu.threadblocks.back();
    const auto rank = static_cast<Rank>(program_.gpus.size()) - 1;
    tb.line = element.GetLineNum();
    tb.send = number_of(element, "send", -1, ranks - 1);
    tb.recv = number_of(element, "recv", -1, ranks - 1);
    tb.channel = number_of(element, "chan", -1);
    if (tb.send == rank || tb.recv == rank) fail(tb.line, fmt::format("gpu {} is a peer of itself", rank));
    for (const Threadblock& other : gpu.threadblocks) {
      if (&other == &tb || other.channel != tb.channel) continue;
      if ((tb.send >= 0 && tb.send == other.send) || (tb.recv >= 0 && tb.recv == other.recv))
        fail(tb.line,
             fmt::format("another threadblock has the same peer on channel {} (line {})", tb.channel, other.line));
    }
    for (const XMLElement* step = child(element, "step"); step != nullptr; step = next(*step, "step")) {
      const auto expected = static_cast<std::int32_t>(tb.steps.size());
      if (number_of(*step, "s", 0) != expected)
        fail(step->GetLineNum(), fmt::format("step {} is expected here: they stand in order", expected));
      read_step(*step, tb, ranks);
    }
  }

  void read_step(const XMLElement& element, Threadblock& tb, std::int32_t ranks) {
    Step step{.kind = kind_of(element), .line = element.GetLineNum()};
    step.src = chunk_of(element, "srcbuf", "srcoff");
    step.dst = chunk_of(element, "dstbuf", "dstoff");
    step.count = number_of(element, "cnt", step.kind == Instruction::nop ? 0 : 1, most_chunks);
    step.depends_tb = number_of(element, "depid", -1);
    step.depends_step = number_of(element, "deps", -1);
    step.has_dependent = flag_of(element, "hasdep");
    if (sends(step.kind) && tb.send < 0) fail(step.line, "a step sends, and its threadblock has no peer to send to");
    if (receives(step.kind) && tb.recv < 0)
      fail(step.line, "a step receives, and its threadblock has no peer to receive from");
    if (reads_src(step.kind)) check_chunks(step, step.src, ranks);
    if (writes_dst(step.kind)) check_chunks(step, step.dst, ranks);
    moved_ += step.count;
    if (moved_ > most_moved) fail(step.line, "the steps move more than 16 Mi chunks", ErrorCode::unsupported);
    tb.steps.push_back(step);
  }

  void check_chunks(const Step& step, const Chunk& chunk, std::int32_t ranks) const {
    const std::int32_t chunks = chunks_in(chunk.memory, ranks);
    if (chunk.offset < 0 || chunk.offset + std::int64_t{step.count} > chunks)
      fail(step.line, fmt::format("chunks {} .. {} of buffer {} are named, which has {}", chunk.offset,
                                  chunk.offset + std::int64_t{step.count} - 1, name_of(chunk.memory), chunks));
  }

  static void check_dependence(const Gpu& gpu, const Threadblock& tb, const Step& step) {
    if (step.depends_tb < 0) return;
    if (step.depends_tb >= static_cast<std::int32_t>(gpu.threadblocks.size()))
      fail(step.line, fmt::format("depid=\"{}\": there is no such threadblock", step.depends_tb));
    const Threadblock& other = gpu.threadblocks[static_cast<std::size_t>(step.depends_tb)];
    if (&other == &tb)
      fail(step.line, "a step waits for one of its own threadblock, whose steps stand in order anyway");
    if (step.depends_step < 0 || step.depends_step >= static_cast<std::int32_t>(other.steps.size()))
      fail(step.line, fmt::format("deps=\"{}\": threadblock {} has no such step", step.depends_step, step.depends_tb));
    const Step& before = other.steps[static_cast<std::size_t>(step.depends_step)];
    if (!before.has_dependent)
      fail(step.line,
           fmt::format("it would wait forever: the step that it waits for has hasdep=\"0\" (line {})", before.line),
           ErrorCode::refuted);
  }

  tinyxml2::XMLDocument document_;
  MscclProgram program_;
  std::int64_t cells_ = 0;
  std::int64_t moved_ = 0;
};

std::string_view name_of(Collective collective) {
  return regular_of(collective) == Collective::reduce_scatter_block ? "reducescatter" : to_string(collective);
}

}  // namespace

std::string_view to_string(Instruction kind) {
  constexpr std::string_view names[] = {"nop", "s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(ChunkBuffer memory) {
  return memory == ChunkBuffer::input ? "i" : memory == ChunkBuffer::output ? "o" : "s";
}

std::int64_t segments_of(const MscclProgram& program) {
  return has_one_vector(program.collective) ? program.chunks
                                            : program.chunks / static_cast<std::int64_t>(program.gpus.size());
}

// One blank between attributes, and no declaration: MSCCL's own reader knows no more.
std::string to_xml(const MscclProgram& program) {
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

void fail(int line, const std::string& what, ErrorCode code) {
  throw Error(code, fmt::format("line {}: {}", line, what));
}

MscclProgram from_xml(std::string_view xml) { return Reader(xml).run(); }

}  // namespace circoll::msccl
