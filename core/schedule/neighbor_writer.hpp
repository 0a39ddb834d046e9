// Writes the steps of a neighbourhood collective's schedule whose buffers are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "circoll/schedule.hpp"
#include "schedule/neighborhood.hpp"

namespace circoll {

/// The two buffers of the caller.
[[nodiscard]] inline std::vector<Buffer> caller_buffers(const NeighborBlocks& blocks) {
  return {{.slots = static_cast<Slot>(blocks.sent.size()), .list = blocks.sent, .storage = send_buffer},
          {.slots = static_cast<Slot>(blocks.received.size()), .list = blocks.received, .storage = recv_buffer}};
}
[[nodiscard]] inline Range slot_of(std::int32_t buffer, std::size_t slot) {
  return {.buffer = buffer, .first = static_cast<Slot>(slot), .count = 1};
}

/// Messages of two ranks that come after `neighbor_tags` others wait for these, and may have their tags. At most
/// `window` of those that are `windowed` are under way each way.
class NeighborWriter {
 public:
  NeighborWriter(Schedule& schedule, std::size_t window) : schedule_(schedule), window_(window) {}

  void copy(const Range& from, const Range& to) {
    const Operand left = operand({&from, 1});
    add({.kind = StepKind::copy, .round = round_, .dst = operand({&to, 1}), .left = left});
  }
  void send(Rank to, std::span<const Range> from, bool windowed = true) {
    add({.kind = StepKind::send, .round = round_, .peer = to, .left = operand(from)});
    await(sends_, to, windowed);
  }
  void receive(Rank from, std::span<const Range> to, bool windowed = true) {
    add({.kind = StepKind::recv, .round = round_, .peer = from, .dst = operand(to)});
    await(receives_, from, windowed);
  }
  /// The round of the steps that come. It must not decrease.
  void set_round(std::uint32_t round) { round_ = round; }

 private:
  struct Way {
    std::vector<StepIndex> windowed{};
    std::map<Rank, std::vector<StepIndex>> of_peer{};
  };

  Operand operand(std::span<const Range> ranges) {
    const auto offset = static_cast<std::uint32_t>(schedule_.ranges.size());
    for (const Range& range : ranges) {
      const bool follows = schedule_.ranges.size() > offset && schedule_.ranges.back().buffer == range.buffer &&
                           schedule_.ranges.back().first + schedule_.ranges.back().count == range.first;
      if (follows) {
        schedule_.ranges.back().count += range.count;
      } else {
        schedule_.ranges.push_back(range);
      }
    }
    return {.offset = offset, .length = static_cast<std::uint32_t>(schedule_.ranges.size() - offset)};
  }
  void add(const Step& step) { schedule_.steps.push_back(step); }
  /// Makes the last step wait for the step that stands `distance` before it, and adds it.
  void follow(std::vector<StepIndex>& steps, std::size_t distance) {
    const auto last = static_cast<StepIndex>(schedule_.steps.size() - 1);
    if (steps.size() >= distance) {
      const std::pair edge{steps[steps.size() - distance], last};
      if (schedule_.edges.empty() || schedule_.edges.back() != edge) schedule_.edges.push_back(edge);
    }
    steps.push_back(last);
  }
  void await(Way& way, Rank peer, bool windowed) {
    if (windowed) follow(way.windowed, window_);
    follow(way.of_peer[peer], neighbor_tags);
  }

  Schedule& schedule_;
  std::size_t window_;
  std::uint32_t round_ = 0;
  Way sends_;
  Way receives_;
};

}  // namespace circoll
