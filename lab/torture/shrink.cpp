#include "shrink.hpp"

#include <algorithm>
#include <string>

namespace circoll::torture {
namespace {

class Shrinker {
 public:
  Shrinker(const Case& c, Edits edits, const std::function<bool(const Case&)>& fails)
      : case_(c), edits_(std::move(edits)), fails_(fails) {}

  Edits run() {
    attempt({"join"});
    attempt({"quiet"});
    attempt({"unused"});
    drop("m-", left(StepKind::message));
    drop("e-", left(StepKind::mistake));
    drop("k-", left(StepKind::create_comm));
    drop("-", left_operations());
    for (const int id : left_operations()) simplify(id);
    drop("-", left_operations());
    return edits_;
  }

 private:
  [[nodiscard]] Case current() const { return edited(case_, edits_); }

  bool attempt(const Edits& more) {
    Edits candidate = edits_;
    candidate.insert(candidate.end(), more.begin(), more.end());
    const std::string before = describe(current());
    const Case smaller = edited(case_, candidate);
    if (describe(smaller) == before && smaller.busy == current().busy) return false;
    if (!fails_(smaller)) return false;
    edits_ = std::move(candidate);
    return true;
  }

  [[nodiscard]] std::vector<int> left(StepKind kind) const {
    const Case c = current();
    std::vector<int> ids;
    for (const std::vector<Step>& lane : c.lanes) {
      for (const Step& step : lane) {
        if (step.kind == kind) ids.push_back(step.index);
      }
    }
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  }
  [[nodiscard]] std::vector<int> left_operations() const { return left(StepKind::start); }

  /// Without halves, quarters, ... of them.
  void drop(const std::string& verb, std::vector<int> ids) {
    for (std::size_t part = ids.size(); part > 0; part /= 2) {
      for (std::size_t at = 0; at < ids.size();) {
        const std::size_t end = std::min(at + part, ids.size());
        Edits edits;
        for (std::size_t i = at; i < end; ++i) edits.push_back(verb + std::to_string(ids[i]));
        if (attempt(edits)) {
          ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at), ids.begin() + static_cast<std::ptrdiff_t>(end));
        } else {
          at = end;
        }
      }
    }
  }

  void simplify(int id) {
    const std::string number = std::to_string(id);
    for (const char* verb : {"b", "t", "w", "s", "o", "r", "x", "a"}) attempt({verb + number});
    Count count = current().operations[static_cast<std::size_t>(id)].count;
    for (const Count smallest : {0, 1, 2, 3}) {
      if (smallest < count && attempt({"c" + number + "=" + std::to_string(smallest)})) return;
    }
    while (count > 1 && attempt({"c" + number + "=" + std::to_string(count / 2)})) count /= 2;
  }

  const Case& case_;
  Edits edits_;
  const std::function<bool(const Case&)>& fails_;
};

}  // namespace

Edits shrink(const Case& c, Edits edits, const std::function<bool(const Case&)>& fails) {
  return Shrinker(c, std::move(edits), fails).run();
}

}  // namespace circoll::torture
