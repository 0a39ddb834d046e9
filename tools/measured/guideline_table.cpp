// The guidelines, as data. Sources: docs/admin/measuring.md.
#include "measured/guidelines.hpp"

namespace circoll {
namespace {

using enum Collective;

GuidelineSide side(std::initializer_list<Collective> collectives, VectorPart part = VectorPart::whole,
                   Local local = Local::none) {
  GuidelineSide side{.calls = {}, .local = local};
  for (const Collective collective : collectives) side.calls.push_back({collective, part});
  return side;
}

std::vector<Guideline> all() {
  constexpr VectorPart whole = VectorPart::whole;
  constexpr Local block = Local::copy_block, vector = Local::copy_vector;
  std::vector<Guideline> list;
  const auto add = [&](std::string_view source, GuidelineSide left, GuidelineSide right,
                       std::string_view counterpart = {}) {
    list.push_back({Relation::mock_up, source, std::move(left), std::move(right), counterpart});
  };
  add("(2)", side({reduce_scatter}), side({allreduce}, whole, block));
  add("(2)", side({reduce_scatter_block}), side({allreduce}, whole, block));
  add("(3)", side({reduce_scatter}), side({reduce, scatterv}), "nonoverlapping");
  add("(3)", side({reduce_scatter_block}), side({reduce, scatter}), "nonoverlapping");
  add("(4)", side({allreduce}), side({reduce_scatter, allgatherv}), "circulant_rsag");
  add("(4)", side({allreduce}), side({reduce_scatter_block, allgather}), "circulant_rsag");
  add("(5)", side({reduce}), side({allreduce}));
  // Printed as an equivalence: both ways.
  add("(6)", side({reduce}), side({reduce_scatter}, VectorPart::at_root));
  add("(6)", side({reduce_scatter}, VectorPart::at_root), side({reduce}));

  add("", side({allgather}), side({gather, bcast}), "gather_bcast");
  add("", side({allgather}), side({alltoall}, whole, vector), "linear");
  add("", side({allgather}), side({allreduce}, whole, vector));
  add("", side({allgather}), side({allgatherv}));
  add("", side({allgatherv}), side({gatherv, bcast}), "gather_bcast");
  add("", side({allreduce}), side({reduce, bcast}), "nonoverlapping");
  add("", side({alltoall}), side({alltoallv}));
  add("", side({bcast}), side({scatter, allgather}), "scatter_allgather");
  add("", side({bcast}), side({allgatherv}, VectorPart::at_root));
  add("", side({gather}), side({allgather}));
  add("", side({gather}), side({gatherv}));
  add("", side({gather}), side({reduce}, whole, vector));
  add("", side({reduce}), side({reduce_scatter_block, gather}), "rabenseifner");
  add("", side({reduce}), side({reduce_scatter, gatherv}), "rabenseifner");
  add("", side({reduce_scatter_block}), side({reduce_scatter}));
  add("", side({scan}), side({exscan}, whole, Local::reduce));
  add("", side({scatter}), side({bcast}, whole, block));
  add("", side({scatter}), side({scatterv}));
  for (const Collective collective : all_collectives) {
    if (collective == barrier) continue;
    const GuidelineSide one = side({collective});
    list.push_back({Relation::split, {}, one, side({collective, collective}, VectorPart::half), {}});
    list.push_back({Relation::monotony, {}, one, one, {}});
  }
  return list;
}

}  // namespace

std::string to_string(const GuidelineSide& side) {
  std::string text;
  for (const GuidelineCall& call : side.calls) {
    if (!text.empty()) text += "+";
    text += to_string(call.collective);
    if (call.part == VectorPart::half) text += "/2";
    if (call.part == VectorPart::at_root) text += "@root";
  }
  switch (side.local) {
    case Local::none:
      return text;
    case Local::copy_block:
      return text + "+copy_block";
    case Local::copy_vector:
      return text + "+copy_vector";
    case Local::reduce:
      return text + "+reduce_local";
  }
  return text;
}

std::string to_string(const Guideline& guideline) {
  if (guideline.relation == Relation::monotony) return to_string(guideline.left) + "(m) <= (next m)";
  return to_string(guideline.left) + " <= " + to_string(guideline.right);
}

std::string_view to_string(GuidelineVerdict verdict) {
  switch (verdict) {
    case GuidelineVerdict::holds:
      return "holds";
    case GuidelineVerdict::violated:
      return "violated";
    case GuidelineVerdict::too_few:
      return "too few launches";
  }
  return {};
}

const std::vector<Guideline>& guidelines() {
  static const std::vector<Guideline> list = all();
  return list;
}

}  // namespace circoll
