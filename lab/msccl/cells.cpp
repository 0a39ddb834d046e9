#include "msccl/cells.hpp"

#include <algorithm>

#include "circoll/collectives.hpp"

namespace circoll::msccl {
namespace {

/// An id of the characters that ids may have.
std::string id_of(const Program& program) {
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

}  // namespace

Cells::Cells(const Program& program, Rank rank) : in_place_(program.in_place) {
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
  const CellIndex first = chunk.memory == Memory::input ? input_ : chunk.memory == Memory::output ? output_ : scratch_;
  return first + chunk.offset + i;
}

}  // namespace circoll::msccl
