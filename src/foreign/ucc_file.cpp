// A configuration file of UCC decides about calls.
#include <algorithm>
#include <charconv>
#include <map>

#include "circoll/collectives.hpp"
#include "foreign/cells.hpp"
#include "foreign/ucc.hpp"
#include "foreign/variables.hpp"

namespace circoll::foreign {
namespace {

using namespace ucc;

/// Where a section is for: keys and their values, of which only numbers of ranks and nodes are known here.
struct Section {
  std::string text{};
  std::size_t line = 0;
  std::optional<Rank> team_size{};
  std::optional<Rank> nodes{};
  std::optional<Rank> ranks_per_node{};
  bool unknown = false;  ///< it asks for a processor, or something else that is not known here
  std::vector<Token> tokens{};
  std::map<std::string, std::string> radixes{};

  [[nodiscard]] bool holds(const Call& call) const {
    return !unknown && team_size.value_or(call.ranks) == call.ranks && nodes.value_or(call.nodes) == call.nodes &&
           ranks_per_node.value_or(call.ranks_per_node) == call.ranks_per_node;
  }
};

bool holds(const std::vector<Range>& ranges, std::int64_t value) {
  return ranges.empty() ||
         std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) { return range.holds(value); });
}

bool overlap(const std::vector<Range>& a, const std::vector<Range>& b) {
  if (a.empty() || b.empty()) return true;
  return std::any_of(a.begin(), a.end(), [&](const Range& x) {
    return std::any_of(b.begin(), b.end(), [&](const Range& y) { return x.from <= y.to && y.from <= x.to; });
  });
}

bool is_for(const Token& token, Collective collective) {
  return token.all_collectives ||
         std::find(token.collectives.begin(), token.collectives.end(), collective) != token.collectives.end();
}

class UccTuning final : public TuningFile {
 public:
  UccTuning(std::string_view text, std::string source) : source_(std::move(source)) {
    // A file with one line of tokens alone is what the variable holds.
    const Variables variables = read_variables(text);
    sections_.emplace_back();
    for (const StrangeLine& line : variables.strange) warn(line.line, quoted(line.text) + " is no NAME=VALUE");
    for (const Variable& variable : variables.all) take(variable);
    for (const Section& section : sections_) check(section);
    std::stable_sort(warnings_.begin(), warnings_.end(),
                     [](const Warning& a, const Warning& b) { return a.line < b.line; });
  }

  [[nodiscard]] Verdict decide(const Call& call) const override {
    if (rejected_ || name_of(call.collective).empty() || call.ranks < 1) return {};
    const Section* section = &sections_.front();
    for (const Section& one : sections_) {
      if (&one != &sections_.front() && one.holds(call)) section = &one;
    }
    const Count bytes = counted_bytes(call);
    const auto token = std::find_if(section->tokens.begin(), section->tokens.end(), [&](const Token& one) {
      return one.host && is_for(one, call.collective) && foreign::holds(one.bytes, bytes) &&
             foreign::holds(one.teams, call.ranks);
    });
    if (token == section->tokens.end()) return {};
    Verdict verdict{.rule = source_ + ":" + std::to_string(section->line) + ": " + token->text};
    if (token->score == 0) {
      verdict.notes.emplace_back("score 0: TL/UCP does not serve it");
      return verdict;
    }
    if (token->algorithm.empty()) {
      verdict.notes.emplace_back("a score only: the component chooses the algorithm");
      return verdict;
    }
    verdict.algorithm = named(call.collective, token->algorithm);
    const std::string variable(radix_variable(call.collective, verdict.algorithm));
    for (const Section* one : {section, &sections_.front()}) {
      const auto radix = one->radixes.find(variable);
      if (radix == one->radixes.end()) continue;
      verdict.parameters = "radix " + radix->second;
      break;
    }
    if (is_reducing(call.collective) && !call.predefined_op) {
      verdict.notes.emplace_back("a user's operator never gets to UCC: the MPI library serves it");
    }
    return verdict;
  }

  [[nodiscard]] const std::vector<Warning>& warnings() const override { return warnings_; }
  [[nodiscard]] bool rejected() const override { return rejected_; }

 private:
  void warn(std::size_t line, std::string text, bool grave = true) {
    warnings_.push_back({.line = line, .text = std::move(text), .grave = grave});
  }

  Section& section_of(const Variable& variable) {
    const auto found = std::find_if(sections_.begin(), sections_.end(),
                                    [&](const Section& one) { return one.text == variable.section; });
    if (found != sections_.end()) return *found;
    Section section{.text = variable.section, .line = variable.line};
    for (const std::string_view word : split(variable.section, ' ')) {
      if (word.empty()) continue;
      const std::size_t equals = word.find('=');
      const std::string_view key = word.substr(0, equals);
      Rank value = 0;
      const std::string_view digits = equals == std::string_view::npos ? "" : word.substr(equals + 1);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      const bool number = error == std::errc{} && end == digits.data() + digits.size() && !digits.empty();
      if (key == "team_size" && number)
        section.team_size = value;
      else if (key == "nnodes" && number)
        section.nodes = value;
      else if (key == "ppn" && number)
        section.ranks_per_node = value;
      else {
        section.unknown = true;
        warn(variable.line, quoted(word) + " of the section is not known here: calls are decided as if it did not hold",
             false);
      }
    }
    sections_.push_back(std::move(section));
    return sections_.back();
  }

  void take(const Variable& variable) {
    constexpr std::string_view prefix = "UCC_TL_UCP_";
    Section& section = section_of(variable);
    if (!variable.name.starts_with(prefix)) return;
    const std::string name = variable.name.substr(prefix.size());
    if (name.ends_with("_RADIX")) {
      const std::string value = variable.value;
      section.radixes.insert_or_assign(name,
                                       value.substr(value.rfind(':') == std::string::npos ? 0 : value.rfind(':') + 1));
      return;
    }
    if (name != "TUNE") return;
    if (!section.tokens.empty())
      warn(section.line, "UCC_TL_UCP_TUNE is set again in line " + std::to_string(variable.line) + ", which counts");
    section.tokens.clear();
    section.line = variable.line;
    if (variable.value.empty()) return;
    for (const std::string_view part : split(variable.value, '#')) {
      std::string why;
      auto token = parse_token(trimmed(part), why);
      if (!token) {
        warn(variable.line, "the whole of UCC_TL_UCP_TUNE is ignored: " + why);
        rejected_ = rejected_ || variable.section.empty();
        section.tokens.clear();
        return;
      }
      section.tokens.push_back(*std::move(token));
    }
  }

  void check(const Section& section) {
    if (section.tokens.size() > longest_searched) return;
    for (std::size_t i = 0; i < section.tokens.size(); ++i) {
      const Token& token = section.tokens[i];
      for (const Collective collective : all_collectives) {
        if (!token.host || !is_for(token, collective) || name_of(collective).empty()) continue;
        check_sizes(section, token, collective);
        for (std::size_t k = 0; k < i; ++k) {
          const Token& before = section.tokens[k];
          if (!before.host || !is_for(before, collective) || !overlap(before.bytes, token.bytes) ||
              !overlap(before.teams, token.teams))
            continue;
          // One score for all, and algorithms for some, is a usual way to write it.
          if (before.algorithm.empty() != token.algorithm.empty()) continue;
          warn(section.line,
               quoted(token.text) + " overlaps " + quoted(before.text) + ": which counts is not documented");
          return;
        }
      }
    }
  }

  void check_sizes(const Section& section, const Token& token, Collective collective) {
    if (token.bytes.empty() || token.all_collectives) return;
    const std::string name(name_of(collective));
    if (!size_decides(collective) && !foreign::holds(token.bytes, 0)) {
      warn(section.line, quoted(token.text) + " never holds: " + name + " is looked up with 0 bytes");
    } else if (size_decides(collective) && !sizes_tell(collective) && token.bytes != std::vector<Range>{Range{}}) {
      warn(section.line, quoted(token.text) + ": sizes of " + name +
                             " differ between the root and others, so that ranks may choose differently");
    } else if (!token.bytes.empty() && token.bytes.back().to != unbounded && token.bytes.back().to % 1024 == 0 &&
               token.bytes.back().to > 0) {
      note_bounds(section, token);
    }
  }

  void note_bounds(const Section& section, const Token& token) {
    const auto next = [&](const Token& other) {
      return std::any_of(other.bytes.begin(), other.bytes.end(),
                         [&](const Range& range) { return range.from == token.bytes.back().to; });
    };
    if (std::any_of(section.tokens.begin(), section.tokens.end(), next)) {
      warn(section.line, quoted(token.text) + " ends where another begins: both ends of a range are in it", false);
    }
  }

  std::string source_;
  std::vector<Section> sections_{};
  std::vector<Warning> warnings_{};
  bool rejected_ = false;
};

}  // namespace

std::unique_ptr<const TuningFile> read_ucc(std::string_view text, const std::string& source, const Reader& /*reader*/) {
  return std::make_unique<UccTuning>(text, source);
}

}  // namespace circoll::foreign
