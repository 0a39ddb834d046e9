#include "select/schedule_file.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/text.hpp"
#include "circoll/verify.hpp"
#include "schedule/registry.hpp"
#include "schedule/relabelling.hpp"
#include "select/text_file.hpp"
#include "verify/given.hpp"

namespace circoll::select {
namespace {

/// Schedules of one call, from which those of the calls with other roots, in place and not, are made.
class GivenCall {
 public:
  GivenCall(std::vector<Schedule> ranks, std::string name, const ProofWatch& watch)
      : ranks_(std::move(ranks)), name_(std::move(name)) {
    for (Schedule& s : ranks_) {
      s.shape.in_place = s.shape.in_place && has_in_place_schedule(s.collective, s.shape);
      require(s.shape.in_place == is_in_place() || !has_in_place_schedule(s.collective, s.shape),
              "some ranks are in place, and others are not");
    }
    const GivenProof proof = prove_given(ranks_, watch);
    require_proven(proof.verdict);
    claims_ = proof.claims;
    find_guarantees(watch);
    verdicts_[is_in_place() ? 1 : 0] = proof.verdict;
    if (!has_two_forms()) return;
    // The other form without copies is wrong if schedules write a block over before they have read it.
    Verdict& other = verdicts_[is_in_place() ? 0 : 1];
    other = prove_other_form(watch);
    if (other.proven()) return;
    copies_ = true;
    other = prove_other_form(watch);
    require_proven(other);
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Collective collective() const { return ranks_.front().collective; }
  [[nodiscard]] Rank size() const { return static_cast<Rank>(ranks_.size()); }
  [[nodiscard]] const Claims& claims() const { return claims_; }
  [[nodiscard]] const Verdict& verdict(const Shape& shape) const {
    return verdicts_[has_two_forms() && shape.in_place ? 1 : 0];
  }

  void build(Builder& b) const {
    Schedule own = for_root(b.rank(), b.root());
    if (own.shape.in_place == b.shape().in_place) return b.take(std::move(own));
    b.cut(own.segments);
    b.shape().in_place ? in_place(b, own) : not_in_place(b, own);
  }

  /// The most messages from one rank to another.
  [[nodiscard]] std::int64_t pair_messages() const {
    std::int64_t most = 1;
    for (const Schedule& s : ranks_) {
      std::map<Rank, std::int64_t> sent;
      for (const Step& step : s.steps) {
        if (step.kind == StepKind::send) most = std::max(most, ++sent[step.peer]);
      }
    }
    return most;
  }

 private:
  [[nodiscard]] bool is_in_place() const {
    return std::ranges::any_of(ranks_, [](const Schedule& s) { return s.shape.in_place; });
  }
  [[nodiscard]] bool has_two_forms() const {
    return std::ranges::any_of(ranks_, [&](const Schedule& s) { return has_in_place_schedule(collective(), s.shape); });
  }
  void require_proven(const Verdict& verdict) const {
    if (verdict.proven()) return;
    Refutation refutation = *verdict.refutation;
    refutation.id = ranks_.front().id;
    throw Error(ErrorCode::refuted, "it is wrong ('circoll verify'): " + refutation.to_string());
  }
  [[nodiscard]] bool guarantees(const Guarantees& wanted, const ProofWatch& watch) const {
    Claims stronger{.needs = claims_.needs};
    stronger.guarantees = wanted;
    return verify_schedules(ranks_, stronger, {}, watch).proven();
  }
  void find_guarantees(const ProofWatch& watch) {
    Guarantees& found = claims_.guarantees;
    if (is_reducing(collective())) {
      // Another root changes the order of ranks.
      found.rank_order = !is_rooted(collective()) && guarantees({.rank_order = true}, watch);
      found.same_bits = guarantees({.same_bits = true}, watch);
      claims_.needs.commutative = !found.rank_order;
    } else {
      const bool to_one = is_exchange(collective()) || is_gather(collective()) || is_scatter(collective());
      found.direct = to_one && guarantees({.direct = true}, watch);
      claims_.needs.commutative = false;
    }
  }

  /// The schedule of a rank in the call with this root. The ranks take the parts of the file in turn.
  [[nodiscard]] Schedule for_root(Rank rank, Rank root) const {
    const Rank distance = is_rooted(collective()) ? (root - ranks_.front().shape.root + size()) % size() : 0;
    const Schedule& part = ranks_[static_cast<std::size_t>((rank - distance + size()) % size())];
    if (distance == 0) return part;
    std::vector<Rank> labels(ranks_.size());
    for (Rank r = 0; r < size(); ++r) labels[static_cast<std::size_t>(r)] = (r - distance + size()) % size();
    return relabelled(part, Relabelling(std::move(labels)));
  }

  /// Lays a schedule that is not in place into an in-place call.
  void in_place(Builder& b, const Schedule& part) const {
    const bool gives = part.buffers[send_buffer].slots > 0, gets = part.buffers[recv_buffer].slots > 0;
    Region send = gives ? b.input() : Region();
    Region recv = gets ? b.output() : Region();
    if (copies_ && replaces_recvbuf(collective()) && gets) recv = b.region(b.scratch_like(recv));
    if (copies_ && !replaces_recvbuf(collective()) && gives) {
      send = b.region(b.scratch_like(b.input()));
      b.copy(send, b.input());
    }
    b.embed(part, {.send = send, .recv = recv});
  }

  /// Lays a schedule that is in place into a call that is not.
  void not_in_place(Builder& b, const Schedule& part) const {
    const CollectiveContract there = contract_of(part.collective, part.shape, part.segments);
    if (replaces_recvbuf(part.collective)) {  // the result stays in the send buffer
      b.embed(part, {.send = b.input()});
      b.copy(b.output(), b.part(b.input(), there.output_first, there.output_count));
      return;
    }
    // Exscan's rank 0 has no result, but a contribution.
    const Region recv = b.output().empty() ? b.region(b.scratch_like(b.input())) : b.output();
    b.copy(b.part(recv, there.input_first, there.input_count), b.input());
    b.embed(part, {.recv = recv});
  }

  [[nodiscard]] Verdict prove_other_form(const ProofWatch& watch) const {
    std::vector<Schedule> other;
    for (const Schedule& s : ranks_) {
      Shape shape = s.shape;
      shape.in_place = !is_in_place();
      Builder b(s.id, collective(), shape);
      build(b);
      other.push_back(std::move(b).finish());
    }
    return verify_schedules(other, claims_, {}, watch);
  }

  std::vector<Schedule> ranks_;
  std::string name_;
  Claims claims_;                    ///< proven of all forms
  std::array<Verdict, 2> verdicts_;  ///< not in place, and in place
  bool copies_ = false;              ///< in the form that the file has not
};

}  // namespace

std::vector<Schedule> schedules_of_file(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  std::vector<Schedule> ranks;
  switch (first == std::string_view::npos ? '\0' : text[first]) {
    case '[':
      ranks = schedules_from_json(text);
      break;
    case '{':
      ranks.push_back(schedule_from_json(text));
      break;
    case '<':
      throw Error(ErrorCode::unsupported,
                  "XML is not read here; write it as JSON by 'circoll show FILE --format json'");
    default:
      ranks = schedules_from_text(text);
  }
  check_one_call(ranks);
  return ranks;
}

std::shared_ptr<const Algorithm> algorithm_of(std::vector<Schedule> ranks, std::string name, const ProofWatch& watch) {
  check_one_call(ranks);
  const auto call = std::make_shared<const GivenCall>(std::move(ranks), std::move(name), watch);
  Needs needs = call->claims().needs;
  needs.only_size = call->size();
  return std::make_shared<const Algorithm>(
      Algorithm{.collectives = {call->collective()},
                .name = call->name(),
                .summary = "schedules from a file",
                .source = call->name(),
                .needs = needs,
                .guarantees = call->claims().guarantees,
                .pair_messages = call->pair_messages(),
                .cost = [call](const Shape& shape) { return call->verdict(shape).counted; },
                .path = [call](const Shape& shape) { return call->verdict(shape).path; },
                .build = [call](Builder& builder) { call->build(builder); }});
}

}  // namespace circoll::select

namespace circoll {

const Algorithm& algorithm_of_file(const std::string& path) {
  static std::mutex mutex;
  static auto* const known = new std::map<std::string, std::shared_ptr<const Algorithm>>;
  const std::lock_guard lock(mutex);
  if (const auto found = known->find(path); found != known->end()) return *found->second;
  try {
    const std::string text = select::read_text_file(path);
    return *(*known)
                .emplace(path, select::algorithm_of(select::schedules_of_file(text), std::string(file_prefix) + path))
                .first->second;
  } catch (const Error& error) {
    const std::string what = error.what();
    throw Error(error.code(), what.find(path) == std::string::npos ? path + ": " + what : what);
  }
}

}  // namespace circoll
