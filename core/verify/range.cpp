// Verification of algorithms over ranges of p, roots and parameters, on several threads.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/verify.hpp"

namespace circoll {
namespace {

/// One instance: the selections that share it (one algorithm, several collectives), and a shape. There may be millions.
struct Instance {
  const std::vector<std::size_t>* selections;
  const Params* params;
  Rank size;
  Rank root;
  bool in_place;

  [[nodiscard]] Shape shape() const { return {.size = size, .root = root, .in_place = in_place, .params = *params}; }
};

std::vector<Rank> roots_for(const VerifyRange& range, Collective collective, Rank p) {
  if (!is_rooted(collective)) return {0};
  std::set<Rank> roots;
  if (range.all_roots) {
    for (Rank r = 0; r < p; ++r) roots.insert(r);
  } else if (!range.roots.empty()) {
    for (const Rank r : range.roots) {
      if (r < p) roots.insert(r);
    }
  } else {
    roots = {0, std::min<Rank>(1, p - 1), p / 2, p - 1};
  }
  return {roots.begin(), roots.end()};
}

/// Values of "segments" as asked, else a sample. It is 1, 2, 3, q and q + 2, fewer where that is dear.
std::vector<Params> with_segments(const VerifyRange& range, const Selection& selection, Rank p) {
  std::vector<Params> result;
  const ParamDeclaration* const segments = selection.algorithm->param("segments");
  if (segments == nullptr || selection.params.contains("segments")) return {selection.params};
  std::set<std::int64_t> values(range.segments.begin(), range.segments.end());
  if (values.empty()) {
    std::int64_t q = 0;
    while ((Rank{1} << q) < p) ++q;
    // Where every rank has a block, verification costs p times the segments: at large p only short pipelines.
    const bool one_vector = has_one_vector(selection.collective);
    if (p <= 64) {
      values = {1, 2, 3, std::max<std::int64_t>(q, 1), q + 2};
    } else if (one_vector) {
      values = {1, q + 2};
    } else {
      values = {p <= 128 || p % 16 == 0 ? 2 : 1};
    }
  }
  for (const std::int64_t n : values) {
    if (n < segments->minimum || n > segments->maximum) continue;
    Params params = selection.params;
    params.insert_or_assign("segments", n);
    result.push_back(std::move(params));
  }
  return result;
}

/// The parameters to prove. Up to 64 ranks, each parameter that is not given also has the values 2, 3 and 7, one
/// parameter at a time. Beyond, it has its default.
std::vector<Params> params_for(const VerifyRange& range, const Selection& selection, Rank p) {
  if (range.bytes && selection.params.contains("segment")) {
    return {with_segment_count(selection, p, *range.bytes).params};
  }
  std::vector<Params> result = with_segments(range, selection, p);
  if (p > 64 || result.empty()) return result;
  const Params usual = result[result.size() / 2];
  for (const ParamDeclaration& param : selection.algorithm->params) {
    if (param.name == "segments" || selection.params.contains(param.name)) continue;
    for (const std::int64_t value : {2, 3, 7}) {
      if (value < param.minimum || value > param.maximum || value == param.fallback) continue;
      result.push_back(usual);
      result.back().insert_or_assign(std::string(param.name), value);
    }
  }
  return result;
}

/// Needs that depend on p; any operator will do for symbols.
bool fits(const Algorithm& algorithm, Rank p) {
  return unmet_need(algorithm, p, {.commutative = true, .idempotent = true}).empty();
}

/// True if some rank has a schedule of its own in place.
bool in_place_differs(Collective collective) { return has_in_place_schedule(collective, Shape{.size = 1}); }

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The shared state of the threads.
class Work {
 public:
  Work(const std::vector<Selection>& selections, const VerifyRange& range)
      : selections_(selections), range_(range), verdicts_(selections.size()) {
    for (std::size_t i = 0; i < selections.size(); ++i) verdicts_[i].id = selections[i].id();
    if (range.on_arrival) on_arrival_ = [](Rank, Rank) { return true; };
    list_instances();
  }

  std::vector<RangeVerdict> run() {
    const int jobs = std::max(1, range_.jobs);
    std::vector<std::jthread> threads;
    for (int i = 1; i < jobs; ++i) threads.emplace_back([this] { loop(); });
    loop();
    threads.clear();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(verdicts_);
  }

 private:
  /// Instances come in the order of p, so that the first refutation is nearly the smallest. The total is known
  /// in advance.
  void list_instances() {
    // Selections of twins share instances. An algorithm that serves both writes the same schedule for both, since a
    // builder does not tell which one it is for. So a proof for one holds for the other.
    for (std::size_t i = 0; i < selections_.size(); ++i) {
      const auto group = std::find_if(groups_.begin(), groups_.end(), [&](const std::vector<std::size_t>& g) {
        const Selection& first = selections_[g.front()];
        return first.algorithm == selections_[i].algorithm && first.params == selections_[i].params &&
               are_twins(first.collective, selections_[i].collective);
      });
      group == groups_.end() ? groups_.push_back({i}) : group->push_back(i);
    }
    for (Rank p = range_.first; p <= range_.last; ++p) {
      if (!range_.only.empty() && !std::binary_search(range_.only.begin(), range_.only.end(), p)) continue;
      for (const auto& group : groups_) {
        const Selection& s = selections_[group.front()];
        if (!fits(*s.algorithm, p)) continue;
        if (range_.method == ProofMethod::rotation && !has_rotations(*s.algorithm, s.params)) continue;
        for (const Params& values : params_for(range_, s, p)) {
          const Params* const params = &*params_.insert(values).first;
          for (const Rank root : roots_for(range_, s.collective, p)) {
            instances_.push_back({&group, params, p, root, false});
            if (p <= range_.last_in_place && in_place_differs(s.collective)) {
              instances_.push_back({&group, params, p, root, true});
            }
          }
        }
      }
    }
  }

  void loop() {
    std::size_t index = 0;
    while (take(index)) {
      try {
        prove(instances_[index]);
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        next_ = instances_.size();
        return;
      }
    }
  }

  void prove(const Instance& instance) {
    const Selection& first = selections_[instance.selections->front()];
    const double start = thread_seconds();
    const Verdict verdict = verify_algorithm(*first.algorithm, first.collective, instance.shape(), on_arrival_,
                                             range_.method, range_.watch);
    const double seconds = thread_seconds() - start;
    for (const std::size_t i : *instance.selections) {
      note(i, instance.size, verdict, i == instance.selections->front() ? seconds : 0);
    }
    const std::scoped_lock lock(mutex_);
    ++done_;
    if (range_.progress) range_.progress(done_, static_cast<std::int64_t>(instances_.size()));
  }

  /// The next instance that could still change a verdict.
  bool take(std::size_t& index) {
    const std::scoped_lock lock(mutex_);
    while (next_ < instances_.size()) {
      index = next_++;
      const Instance& instance = instances_[index];
      for (const std::size_t i : *instance.selections) {
        const auto& refuted = verdicts_[i].refutation;
        if (!refuted || refuted->size > instance.size) return true;
      }
      ++done_;
    }
    return false;
  }

  void note(std::size_t selection, Rank size, const Verdict& verdict, double seconds) {
    const std::scoped_lock lock(mutex_);
    RangeVerdict& v = verdicts_[selection];
    v.seconds += seconds;
    if (verdict.proven()) {
      ++v.instances;
      v.by_rotation += verdict.by_rotation ? 1 : 0;
    } else if (!v.refutation || v.refutation->size > size) {
      v.refutation = verdict.refutation;
      v.refutation->id = v.id;
    }
  }

  const std::vector<Selection>& selections_;
  const VerifyRange& range_;
  OnArrival on_arrival_;
  std::vector<std::vector<std::size_t>> groups_;
  std::set<Params> params_;
  std::vector<Instance> instances_;
  std::vector<RangeVerdict> verdicts_;
  std::mutex mutex_;
  std::size_t next_ = 0;
  std::int64_t done_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

std::vector<RangeVerdict> verify_range(const std::vector<Selection>& selections, const VerifyRange& range) {
  require(range.first >= 1 && range.first <= range.last, "p ranges over A..B with 1 <= A <= B");
  return Work(selections, range).run();
}

}  // namespace circoll
