#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/plan.hpp"
#include "plan/addresses.hpp"

namespace circoll {
namespace {

class Binder {
 public:
  Binder(const Schedule& schedule, const Layout& layout, Count extent_bytes, const Displacements& displacements)
      : schedule_(schedule), addresses_(schedule, layout, extent_bytes, displacements) {
    plan_.extent_bytes = extent_bytes;
  }

  Plan bind() && {
    plan_.scratch_bytes = addresses_.scratch_bytes();
    plan_.steps.reserve(schedule_.steps.size());
    plan_.pieces.reserve(schedule_.ranges.size());
    for (const Step& step : schedule_.steps) add(step);
    plan_.dependencies = derive_dependencies(schedule_);
    plan_.pieces.shrink_to_fit();
    plan_.runs.shrink_to_fit();
    return std::move(plan_);
  }

 private:
  void add(const Step& step) {
    PlanStep bound;
    bound.kind = step.kind;
    bound.peer = step.peer;
    bound.arrives_left = step.arrives_left;
    if (is_message(step)) {
      const bool sends = step.kind == StepKind::send;
      bound.tag = ordinals_[step.peer][sends ? 1 : 0]++;
      plan_.tags = std::max(plan_.tags, bound.tag + 1);
      bound.first = position(plan_.pieces.size());
      bound.elements = append_pieces(message_operand(step), plan_.pieces);
      bound.length = position(plan_.pieces.size()) - bound.first;
    }
    if (!is_message(step) || step.kind == StepKind::recv_reduce) {
      bound.first_run = position(plan_.runs.size());
      bound.elements = append_runs(step);
      bound.run_count = position(plan_.runs.size()) - bound.first_run;
    }
    // The messages of a barrier have a block of no bytes, and the answers of windows no block. Both are sent.
    const bool answers = is_message(step) && schedule_.count(message_operand(step)) == 0;
    bound.empty = bound.elements == 0 && traits_of(schedule_.collective).moves_data && !answers;
    plan_.steps.push_back(bound);
  }

  /// Appends the merged pieces of an operand; gives its elements.
  Count append_pieces(Operand operand, std::vector<Piece>& pieces) {
    const std::size_t begin = pieces.size();
    Count elements = 0;
    for (const Range& range : schedule_.operand(operand)) {
      addresses_.pieces(range, [&](const Piece& piece) {
        if (piece.elements == 0) return;
        elements += piece.elements;
        if (pieces.size() > begin) {
          Piece& last = pieces.back();
          if (last.area == piece.area && last.offset_bytes + last.elements * plan_.extent_bytes == piece.offset_bytes) {
            last.elements += piece.elements;
            return;
          }
        }
        pieces.push_back(piece);
      });
    }
    return elements;
  }

  Count append_runs(const Step& step) {
    const bool reduces = is_reduction(step.kind);
    for (std::vector<Piece>& pieces : operands_) pieces.clear();
    const Count elements = append_pieces(step.dst, operands_[0]);
    const Count left_elements = append_pieces(step.left, operands_[1]);
    const Count right_elements = reduces ? append_pieces(step.right, operands_[2]) : elements;
    check(elements == left_elements && elements == right_elements, "bind: operands of a local step differ in size");
    Cursor dst(operands_[0], plan_.extent_bytes);
    Cursor left(operands_[1], plan_.extent_bytes);
    Cursor right(operands_[2], plan_.extent_bytes);
    while (!dst.at_end()) {
      Count length = std::min(dst.available(), left.available());
      if (reduces) length = std::min(length, right.available());
      plan_.runs.push_back(
          Run{dst.take(length), left.take(length), reduces ? right.take(length) : Piece{0, 0, Area::scratch}});
    }
    return elements;
  }

  static std::uint32_t position(std::size_t size) {
    require(size <= std::numeric_limits<std::uint32_t>::max(), "bind: the plan has more than 2^32 pieces");
    return static_cast<std::uint32_t>(size);
  }

  const Schedule& schedule_;
  Addresses addresses_;
  Plan plan_;
  std::array<std::vector<Piece>, 3> operands_;                       // reused from step to step
  std::unordered_map<Rank, std::array<std::uint32_t, 2>> ordinals_;  // messages so far per peer: received, sent
};

template <typename Element>
std::size_t bytes_of(const std::vector<Element>& elements) {
  return elements.capacity() * sizeof(Element);
}

}  // namespace

std::size_t Plan::memory_bytes() const {
  return sizeof(Plan) + bytes_of(steps) + bytes_of(pieces) + bytes_of(runs) + bytes_of(dependencies.offsets) +
         bytes_of(dependencies.targets) + bytes_of(dependencies.in_degree);
}

Plan bind(const Schedule& schedule, const Layout& layout, Count extent_bytes, const Displacements& displacements) {
  return Binder(schedule, layout, extent_bytes, displacements).bind();
}

}  // namespace circoll
