#include <algorithm>
#include <utility>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "schedule/relabelling.hpp"
#include "sim/run.hpp"

namespace circoll::sim {
namespace {

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
  programs_ =
      std::make_unique<Programs>(rotates ? programs_of_rotations(first) : programs_of(p, threads, schedule_of, go_on));
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

Outcome simulate(const Ranks& ranks, double bytes, const Network& network, const Circumstances& circumstances,
                 const Options& options) {
  require(bytes >= 0 && bytes <= 0x1p60, "the vector has 0 to 2^60 bytes");
  check_network(network);
  check_circumstances(circumstances, ranks.size());
  const Programs& programs = ranks.get();
  const auto play = [&]<typename Counter>(Counter) {
    if (options.record) return Run<Counter, true>(programs, bytes, network, circumstances, options).play();
    return Run<Counter, false>(programs, bytes, network, circumstances, options).play();
  };
  return programs.most_waits < 255 ? play(std::uint8_t{}) : play(std::uint32_t{});
}

}  // namespace circoll::sim
