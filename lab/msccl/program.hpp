// An algorithm as MSCCL's XML says it, and its text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/error.hpp"
#include "circoll/types.hpp"

namespace circoll::msccl {

/// Throws an error that names the line of the XML.
[[noreturn]] void fail(int line, const std::string& what, ErrorCode code = ErrorCode::parse);

/// The things that a step does.
enum class Instruction : std::uint8_t {
  nop,   ///< waits for another threadblock, no more
  s,     ///< src -> peer
  r,     ///< peer -> dst
  rcs,   ///< peer -> dst, and dst -> peer
  rrs,   ///< src op what arrives -> peer
  rrc,   ///< dst = src op what arrives
  rrcs,  ///< dst = src op what arrives, and dst -> peer
  cpy,   ///< dst = src
  re,    ///< dst = dst op src
};
[[nodiscard]] std::string_view to_string(Instruction kind);

[[nodiscard]] inline bool receives(Instruction kind) {
  return kind == Instruction::r || kind == Instruction::rcs || kind == Instruction::rrs || kind == Instruction::rrc ||
         kind == Instruction::rrcs;
}
[[nodiscard]] inline bool sends(Instruction kind) {
  return kind == Instruction::s || kind == Instruction::rcs || kind == Instruction::rrs || kind == Instruction::rrcs;
}
/// True if it combines what arrives with src.
[[nodiscard]] inline bool combines_message(Instruction kind) {
  return kind == Instruction::rrs || kind == Instruction::rrc || kind == Instruction::rrcs;
}
/// True if src is this rank's own memory, and it is read.
[[nodiscard]] inline bool reads_src(Instruction kind) {
  return kind == Instruction::s || kind == Instruction::cpy || kind == Instruction::re || combines_message(kind);
}
/// True if dst is this rank's own memory, and it is written.
[[nodiscard]] inline bool writes_dst(Instruction kind) {
  return kind != Instruction::nop && kind != Instruction::s && kind != Instruction::rrs;
}

/// The buffers, by their letters i, o, s.
enum class ChunkBuffer : std::uint8_t { input, output, scratch };
[[nodiscard]] std::string_view name_of(ChunkBuffer memory);

/// A chunk, the first of those that a step names.
struct Chunk {
  ChunkBuffer memory = ChunkBuffer::input;
  std::int32_t offset = -1;
};

struct Step {
  Instruction kind = Instruction::nop;
  Chunk src{};
  Chunk dst{ChunkBuffer::output};
  std::int32_t count = 0;
  std::int32_t depends_tb = -1;  ///< it waits for a step of another threadblock; -1: for none
  std::int32_t depends_step = -1;
  bool has_dependent = false;  ///< others wait for it
  int line = 0;
};

struct Threadblock {
  Rank send = -1;
  Rank recv = -1;
  std::int32_t channel = 0;
  std::vector<Step> steps{};  ///< executed in order
  int line = 0;
};

struct Gpu {
  std::int32_t input_chunks = 0;
  std::int32_t output_chunks = 0;
  std::int32_t scratch_chunks = 0;
  std::vector<Threadblock> threadblocks{};  ///< by id
};

struct MscclProgram {
  std::string name{};
  Collective collective = Collective::allreduce;
  bool in_place = false;
  std::int32_t chunks = 1;  ///< nchunksperloop: parts of the larger buffer of a rank
  std::vector<Gpu> gpus{};  ///< by id
};

/// Parts that a user block is cut into.
[[nodiscard]] std::int64_t segments_of(const MscclProgram& program);

[[nodiscard]] std::string to_xml(const MscclProgram& program);
/// Reads the text. Chunks lie within their buffers, peers and dependences exist. Throws Error, naming the line.
[[nodiscard]] MscclProgram from_xml(std::string_view xml);

}  // namespace circoll::msccl
