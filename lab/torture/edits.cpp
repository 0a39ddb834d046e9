// Changes that make a case simpler, and the search for the smallest case that fails.
#include "edits.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace circoll::torture {
namespace {

struct Word {
  std::string verb;  ///< "-", "m-", "c", ...
  int index = -1;
  Count value = 0;
};

Word parse(const std::string& text) {
  Word word;
  if (text == "quiet" || text == "join" || text == "unused") return {.verb = text};
  const std::size_t digits = text.find_first_of("0123456789");
  word.verb = text.substr(0, digits);
  const std::set<std::string_view> verbs{"-", "m-", "e-", "k-", "c", "t", "w", "b", "o", "r", "x", "s", "a"};
  if (digits == std::string::npos || !verbs.contains(word.verb)) throw std::invalid_argument("no edit: " + text);
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + digits, end, word.index);
  if (error != std::errc()) throw std::invalid_argument("no edit: " + text);
  if (word.verb == "c") {
    if (rest == end || *rest != '=' || std::from_chars(rest + 1, end, word.value).ptr != end) {
      throw std::invalid_argument("no edit: " + text);
    }
  } else if (rest != end) {
    throw std::invalid_argument("no edit: " + text);
  }
  return word;
}

template <typename Drop>
void drop_steps(Case& c, Drop&& drop) {
  for (std::vector<Step>& lane : c.lanes) std::erase_if(lane, drop);
}

bool concerns_operation(const Step& step, int id) {
  const bool kind = step.kind == StepKind::init || step.kind == StepKind::start || step.kind == StepKind::finish ||
                    step.kind == StepKind::free_request;
  return kind && step.index == id;
}

void keep_one_start(Case& c, int id) {
  c.operations[static_cast<std::size_t>(id)].executions = 1;
  drop_steps(c, [&](const Step& step) {
    return (step.kind == StepKind::start || step.kind == StepKind::finish) && step.index == id && step.execution > 0;
  });
}

void make_blocking(Case& c, int id) {
  keep_one_start(c, id);
  Operation& o = c.operations[static_cast<std::size_t>(id)];
  o.mode = Mode::blocking;
  o.freed_early = false;
  o.arrays = Arrays::kept;
  drop_steps(c, [&](const Step& step) { return concerns_operation(step, id) && step.kind != StepKind::start; });
}

void join(Case& c) {
  if (c.lanes.size() < 2) return;
  // The main thread made communicators before the threads began, unless a thread made them. Now the first steps make
  // them.
  std::vector<Step> steps;
  for (std::size_t i = 2; i < c.comms.size(); ++i) {
    if (!c.comms[i].in_lane) steps.push_back({StepKind::create_comm, static_cast<int>(i)});
  }
  for (const std::vector<Step>& lane : c.lanes) steps.insert(steps.end(), lane.begin(), lane.end());
  for (CommSpec& spec : c.comms) spec.lane = 0;
  c.lanes = {steps};
}

void make_plain(Operation& o) {
  o.plain = true;
  o.differ = false;
  o.absolute = false;
  if (o.base == base_words) {
    o.layout = 0;
  } else if (o.base == base_record) {
    o.base = 0;
  }
  o.unit = 1;
  o.places = 0;
}

void drop_comm(Case& c, int comm) {
  std::set<int> dropped{comm};
  for (std::size_t i = 0; i < c.comms.size(); ++i) {
    if (c.comms[i].parent != static_cast<int>(i) && dropped.contains(c.comms[i].parent)) {
      dropped.insert(static_cast<int>(i));
    }
  }
  drop_steps(c, [&](const Step& step) { return dropped.contains(comm_of(c, step)); });
}

void apply(Case& c, const Word& word) {
  if (word.verb == "quiet") {
    c.busy = false;
    return drop_steps(c, [](const Step& step) { return step.kind == StepKind::idle; });
  }
  if (word.verb == "join") return join(c);
  if (word.verb == "unused") {
    c.keeps_unused = false;
    return;
  }
  const auto index = static_cast<std::size_t>(word.index);
  const std::size_t limit = word.verb == "m-"   ? c.messages.size()
                            : word.verb == "e-" ? c.mistakes.size()
                            : word.verb == "k-" ? c.comms.size()
                                                : c.operations.size();
  if (index >= limit || (word.verb == "k-" && index < 2)) {
    throw std::invalid_argument("the case has no number " + std::to_string(word.index));
  }
  if (word.verb == "m-" || word.verb == "e-") {
    const StepKind kind = word.verb == "m-" ? StepKind::message : StepKind::mistake;
    return drop_steps(c, [&](const Step& s) { return s.kind == kind && s.index == word.index; });
  }
  if (word.verb == "k-") return drop_comm(c, word.index);
  Operation& o = c.operations[index];
  switch (word.verb[0]) {
    case '-':
      return drop_steps(c, [&](const Step& step) { return concerns_operation(step, word.index); });
    case 'c':
      o.count = word.value;
      break;
    case 't':
      make_plain(o);
      break;
    case 'w':
      if (o.neighbor) break;  // it needs its own graph
      if (c.lanes.size() > 1) throw std::invalid_argument("an operation changes communicators in one thread only");
      o.comm = 0;
      break;
    case 'b':
      make_blocking(c, word.index);
      break;
    case 'o':
      o.in_place = false;
      break;
    case 'r':
      o.root = 0;
      break;
    case 'a':
      o.arrays = Arrays::kept;
      break;
    case 'x':
      keep_one_start(c, word.index);
      break;
    default:
      o.freed_early = o.sloppy = o.absolute = o.large = false;
  }
}

/// Communicators that nothing uses any more.
void drop_unused_comms(Case& c) {
  if (c.lanes.size() > 1 || c.keeps_unused) return;
  const auto only_lives = [](const Step& step) {
    return step.kind == StepKind::create_comm || step.kind == StepKind::free_comm;
  };
  std::set<int> used;
  for (const Step& step : c.lanes[0]) {
    if (!only_lives(step)) used.insert(comm_of(c, step));
  }
  // Parents are made before their children.
  for (auto step = c.lanes[0].rbegin(); step != c.lanes[0].rend(); ++step) {
    if (step->kind == StepKind::create_comm && used.contains(step->index)) {
      used.insert(c.comms[static_cast<std::size_t>(step->index)].parent);
    }
  }
  drop_steps(c, [&](const Step& step) { return only_lives(step) && !used.contains(step.index); });
}

/// Tries edits, the largest first, and keeps those with which the case still fails.
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

  /// Tries the case without halves, quarters, ... of these.
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

Edits parse_edits(const std::string& text) {
  Edits edits;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    static_cast<void>(parse(word));
    edits.push_back(word);
  }
  return edits;
}

std::string to_string(const Edits& edits) {
  std::string text;
  for (const std::string& edit : edits) text += (text.empty() ? "" : " ") + edit;
  return text;
}

Case edited(Case c, const Edits& edits) {
  for (const std::string& edit : edits) apply(c, parse(edit));
  drop_unused_comms(c);
  return c;
}

Edits shrink(const Case& c, Edits edits, const std::function<bool(const Case&)>& fails) {
  return Shrinker(c, std::move(edits), fails).run();
}

}  // namespace circoll::torture
