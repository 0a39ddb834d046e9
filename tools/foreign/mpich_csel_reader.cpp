// Tuning files of MPICH, read as MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE is.
#include <algorithm>
#include <optional>

#include "circoll/error.hpp"
#include "foreign/formats.hpp"
#include "foreign/mpich_csel.hpp"

namespace circoll::foreign::mpich {
namespace {

constexpr double most_visits = 1e8;  // a second or so in MPI_Init

/// True for the collectives that ch4's composition level divides among nodes.
bool is_composed(Collective collective) {
  return collective == Collective::allreduce || collective == Collective::bcast || collective == Collective::reduce ||
         collective == Collective::barrier;
}

class SelectionFile final : public TuningFile {
 public:
  SelectionFile(std::string_view text, std::string source, Version version) : source_(std::move(source)) {
    if (!text.empty() && text.size() % page_bytes == 0)
      warn(0,
           "the size is a multiple of 4096, and MPICH reads a mapped file up to a zero that is not there: append a "
           "blank");
    try {
      const Parsed parsed = parse_tree(text, source_);
      if (text.find_first_not_of(" \t\r\n", parsed.end) != std::string_view::npos)
        warn(0, "text behind the tree is not read");
      selection_ = make_selection(parsed.tree, version);
    } catch (const Error& error) {
      selection_.refusal = "the file is no JSON, and MPICH uses a tree that nobody has set";
      warn(line_in(error.what()), std::string(error.what()).substr(text_in(error.what())) + ": " + selection_.refusal);
    }
    warnings_.insert(warnings_.end(), selection_.warnings.begin(), selection_.warnings.end());
    rejected_ = !selection_.refusal.empty();
    if (rejected()) return;
    const std::vector<Warning> more = lint(selection_);
    warnings_.insert(warnings_.end(), more.begin(), more.end());
    if (validation_visits(selection_) > most_visits)
      warn(0,
           "MPI_Init checks the tree by going down twice at each test; it is so deep that this takes seconds or more");
    sort_warnings();
  }

  [[nodiscard]] ForeignDecision decide(const Call& call) const override {
    ForeignDecision verdict;
    if (rejected()) {
      verdict.notes.push_back("MPI_Init ends the program: " + selection_.refusal);
      return verdict;
    }
    const std::string name(circoll::to_string(call.collective));
    Found found = search(selection_, {name, call});
    std::string through;
    if (found.node >= 0 && short_name(selection_.at(found.node).condition.word) == "nb") {
      through = rule_of(found) + "; then for i" + name + " ";
      std::vector<std::string> notes = std::move(found.notes);
      found = search(selection_, {"i" + name, call});
      found.notes.insert(found.notes.begin(), notes.begin(), notes.end());
    }
    verdict.notes = std::move(found.notes);
    if (found.node < 0) {
      verdict.notes.insert(verdict.notes.begin(), "the program ends: " + found.end);
      return verdict;
    }
    const Node& leaf = selection_.at(found.node);
    verdict.algorithm = short_name(leaf.condition.word);
    for (const auto& [key, value] : leaf.parameters)
      verdict.parameters.append(verdict.parameters.empty() ? "" : ", ").append(key).append(" ").append(value);
    verdict.rule = through + rule_of(found);
    for (const std::string& wrong : wrong_calls(needs_of(leaf.condition.word), call))
      verdict.notes.push_back("MPICH calls it without a check, and it is wrong here: " + wrong);
    if (is_composed(call.collective) && call.nodes < call.ranks) verdict.notes.push_back(level_note(call));
    return verdict;
  }

 private:
  [[nodiscard]] std::size_t text_in(std::string_view what) const {
    const std::size_t colon = what.find(": ", std::min(source_.size() + 1, what.size()));
    return colon == std::string_view::npos ? 0 : colon + 2;
  }
  [[nodiscard]] std::size_t line_in(std::string_view what) const {
    std::size_t line = 0;
    for (std::size_t at = source_.size() + 1; at < what.size() && what[at] >= '0' && what[at] <= '9'; ++at)
      line = line * 10 + static_cast<std::size_t>(what[at] - '0');
    return line;
  }

  [[nodiscard]] std::string rule_of(const Found& found) const {
    std::string text = source_ + ":" + std::to_string(selection_.at(found.node).line) + ":";
    for (const int node : found.path) {
      const Node& n = selection_.at(node);
      if (n.condition.test == Test::intra) continue;
      text += (text.back() == ':' ? " " : ", ") + n.key;
    }
    return text.back() == ':' ? text + " no test" : text;
  }

  [[nodiscard]] std::string level_note(const Call& call) const {
    const std::string name(circoll::to_string(call.collective));
    const std::string flat = "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE makes " + name + " flat";
    if (call.nodes == 1)
      return "within a node ch4 may serve it by shared memory before this file is asked, unless " + flat;
    return "ch4 asks this file about the communicators of nodes and of their leaders, not about this one, unless " +
           flat;
  }

  std::string source_;
  SelectionTree selection_{};
};

}  // namespace

std::unique_ptr<const TuningFile> read_selection(std::string_view text, const std::string& source,
                                                 const Reader& reader) {
  const std::optional<Version> version = version_of(reader.id);
  check(version.has_value(), "a reader of MPICH has an unknown version");
  return std::make_unique<SelectionFile>(text, source, *version);
}

std::vector<std::string_view> selection_names(Collective collective, const Reader& reader) {
  const std::optional<Version> version = version_of(reader.id);
  check(version.has_value(), "a reader of MPICH has an unknown version");
  return names_of(collective, *version);
}

}  // namespace circoll::foreign::mpich
