// Reads and writes the variables I_MPI_ADJUST_* of Intel MPI.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "circoll/collectives.hpp"
#include "foreign/blocks.hpp"
#include "foreign/cells.hpp"
#include "foreign/intelmpi.hpp"
#include "foreign/variables.hpp"

namespace circoll::foreign {
namespace {

using namespace intelmpi;

struct Adjustment {
  std::int64_t preset = 0;
  Range ranks{1};
  Range bytes{};
  std::size_t line = 0;
  std::string text{};
};

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// "l" or "l-m".
std::optional<Range> range_in(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto from = number_in(text.substr(0, dash));
  const auto to = dash == std::string_view::npos ? from : number_in(text.substr(dash + 1));
  if (!from || !to) return std::nullopt;
  return Range{*from, *to};
}

Count counted_bytes(const Call& call) {
  if (!sizes_tell(call.collective)) return 0;
  const auto amounts = Amounts::of_vector(call.collective, call.ranks, call.bytes);
  return counts_blocks(call.collective) ? amounts.block_bytes() : amounts.vector_bytes();
}

class IntelTuning final : public TuningFile {
 public:
  IntelTuning(std::string_view text, std::string source) : source_(std::move(source)) {
    const Variables variables = read_variables(text);
    for (const StrangeLine& line : variables.strange) warn(line.line, quoted(line.text) + " is no NAME=VALUE");
    for (const Variable& variable : variables.all) take(variable);
    std::stable_sort(warnings_.begin(), warnings_.end(),
                     [](const Warning& a, const Warning& b) { return a.line < b.line; });
  }

  [[nodiscard]] Verdict decide(const Call& call) const override {
    const auto found = lists_.find(call.collective);
    if (found == lists_.end() || call.ranks < 1) return {};
    const Count bytes = counted_bytes(call);
    const auto holds = [&](const Adjustment& one) { return one.ranks.holds(call.ranks) && one.bytes.holds(bytes); };
    const auto rule = std::find_if(found->second.begin(), found->second.end(), holds);
    if (rule == found->second.end()) return {};
    Verdict verdict{.rule = source_ + ":" + std::to_string(rule->line) + ": " + rule->text};
    const auto presets = presets_of(call.collective);
    if (rule->preset == 0) {
      verdict.notes.emplace_back("preset 0: the library decides");
      return verdict;
    }
    const auto number = static_cast<std::size_t>(rule->preset);
    if (number > presets.size()) {
      verdict.algorithm = "preset " + std::to_string(rule->preset);
      verdict.notes.emplace_back("its number is not documented alike in all releases");
      return verdict;
    }
    verdict.algorithm = presets[number - 1].name;
    if (presets[number - 1].commutative_only && is_reducing(call.collective) && !call.commutative) {
      verdict.notes.emplace_back("nothing says that it is right for an operator that does not commute");
    }
    return verdict;
  }

  [[nodiscard]] const std::vector<Warning>& warnings() const override { return warnings_; }
  [[nodiscard]] bool rejected() const override { return false; }

 private:
  void warn(std::size_t line, std::string text, bool grave = true) {
    warnings_.push_back({.line = line, .text = std::move(text), .grave = grave});
  }

  void take(const Variable& variable) {
    if (!variable.name.starts_with("I_MPI_ADJUST_")) {
      if (variable.name == "I_MPI_TUNING" || variable.name == "I_MPI_TUNING_BIN") {
        warn(variable.line, variable.name + " names a file that is not read here", false);
      }
      return;
    }
    const auto collective = std::find_if(all_collectives.begin(), all_collectives.end(),
                                         [&](Collective one) { return variable_of(one) == variable.name; });
    if (collective == all_collectives.end())
      return warn(variable.line, quoted(variable.name) + " is about no collective known here");
    std::vector<Adjustment>& list = lists_[*collective];
    if (!list.empty()) {
      warn(list.front().line,
           variable.name + " is set again in line " + std::to_string(variable.line) + ", which counts");
      list.clear();
    }
    for (const std::string_view part : split(variable.value, ';')) take_part(*collective, part, variable.line, list);
    check(*collective, list);
  }

  void take_part(Collective collective, std::string_view part, std::size_t line, std::vector<Adjustment>& list) {
    part = trimmed(part);
    if (part.empty()) return warn(line, "an empty part between semicolons");
    const std::size_t colon = part.find(':');
    const auto preset = number_in(trimmed(part.substr(0, colon)));
    if (!preset) return warn(line, quoted(part) + " does not begin with a preset, which is a number");
    Adjustment adjustment{.preset = *preset, .line = line, .text = std::string(part)};
    if (colon == std::string_view::npos) return list.push_back(std::move(adjustment));
    for (const std::string_view condition : split(part.substr(colon + 1), ',')) {
      const std::string_view said = trimmed(condition);
      const std::size_t at = said.find('@');
      const auto bytes = range_in(said.substr(0, at));
      const auto ranks = at == std::string_view::npos ? Range{1} : range_in(said.substr(at + 1)).value_or(Range{1, 0});
      if (!bytes || bytes->from > bytes->to || ranks.from > ranks.to) {
        warn(line, quoted(said) + " is no condition: l, l-m, l@p or l-m@p-q, of whole numbers without units");
        continue;
      }
      adjustment.bytes = *bytes;
      adjustment.ranks = ranks;
      adjustment.text = std::to_string(*preset) + ":" + std::string(said);
      list.push_back(adjustment);
    }
    (void)collective;
  }

  void check(Collective collective, const std::vector<Adjustment>& list) {
    if (list.size() > longest_searched) return;
    const auto presets = presets_of(collective);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Adjustment& one = list[i];
      if (one.preset > static_cast<std::int64_t>(presets.size())) {
        warn(one.line, "preset " + std::to_string(one.preset) + " of " + std::string(to_string(collective)) +
                           " is beyond the documented ones, and differs by release");
      } else if (one.preset > 0 && presets[static_cast<std::size_t>(one.preset - 1)].commutative_only) {
        warn(one.line,
             std::string(presets[static_cast<std::size_t>(one.preset - 1)].name) + " of " +
                 std::string(to_string(collective)) + " is not known to be right for operators that do not commute",
             false);
      }
      if (!sizes_tell(collective) && one.bytes.from > 0) {
        warn(one.line,
             quoted(one.text) + " never holds: " + std::string(to_string(collective)) + " is looked up with 0 bytes");
      }
      for (std::size_t k = 0; k < i; ++k) {
        const bool ranks = list[k].ranks.from <= one.ranks.to && one.ranks.from <= list[k].ranks.to;
        const bool bytes = list[k].bytes.from <= one.bytes.to && one.bytes.from <= list[k].bytes.to;
        if (!ranks || !bytes) continue;
        warn(one.line, quoted(one.text) + " overlaps " + quoted(list[k].text) + ": which counts is not documented");
        break;
      }
    }
  }

  std::string source_;
  std::map<Collective, std::vector<Adjustment>> lists_{};
  std::vector<Warning> warnings_{};
};

std::vector<Rule> sayable(std::span<const Rule> rules, const ExportOptions& options, std::vector<std::string>& losses) {
  std::vector<Rule> said;
  for (Rule rule : rules) {
    const bool reducing = is_reducing(rule.collective);
    std::string why;
    const int number = number_of(rule.collective, rule.algorithm);
    if (reducing && rule.operators == Operators::noncommutative) {
      if (!rule.algorithm.empty())
        add_loss(losses,
                 rule.from + ": left out: the format knows no operators, and it is for those that do not commute");
      continue;
    }
    if (!rule.algorithm.empty()) {
      if (number == 0)
        why = "no documented preset is " + rule.algorithm;
      else if (reducing && presets_of(rule.collective)[static_cast<std::size_t>(number - 1)].commutative_only &&
               options.operators == Operators::any) {
        why = "nothing says that " + rule.algorithm +
              " is right for operators that do not commute, and the format knows none";
      } else if (!rule.nodes.is_any() || !rule.ranks_per_node.is_any())
        why = "the format does not know where ranks are";
      else if (counts_blocks(rule.collective) && !sayable_in_blocks(rule.ranks, rule.bytes)) {
        why = "the format counts the bytes of a block, and the rule those of the vector, for more than " +
              std::to_string(most_single_ranks) + " numbers of ranks";
      }
      if (why.empty() && reducing && rule.operators == Operators::commutative && options.operators == Operators::any) {
        add_loss(losses, rule.from + ": holds for operators that do not commute, too: the format knows none");
      }
      if (why.empty() && (rule.segment_bytes > 0 || rule.radix > 0)) {
        add_loss(losses, rule.from + ": segments, radix and fan-out are the library's");
        rule.segment_bytes = rule.radix = 0;
      }
    }
    if (!why.empty()) add_loss(losses, rule.from + ": left out: " + why);
    rule.operators = Operators::any;
    if (!why.empty()) rule.algorithm.clear();
    if (rule.algorithm.empty()) rule.nodes = rule.ranks_per_node = Range{1};
    if (counts_blocks(rule.collective) && !sayable_in_blocks(rule.ranks, rule.bytes)) rule.bytes = {};
    said.push_back(std::move(rule));
  }
  return said;
}

std::string text_of(const Condition& condition) {
  const auto bounded = [](std::int64_t bound) { return std::to_string(std::min(bound, most_bytes)); };
  std::string text = bounded(condition.bytes.from) + "-" + bounded(condition.bytes.to);
  if (condition.ranks.from <= 1 && condition.ranks.to == unbounded) return text;
  return text + "@" + bounded(condition.ranks.from) + "-" + bounded(condition.ranks.to);
}

}  // namespace

std::unique_ptr<const TuningFile> read_intelmpi(std::string_view text, const std::string& source,
                                                const Reader& /*reader*/) {
  return std::make_unique<IntelTuning>(text, source);
}

Written write_intelmpi(std::span<const Rule> rules, const Reader& reader, const ExportOptions& options) {
  Written written;
  std::vector<std::string>& losses = written.exported.losses;
  losses = options.losses;
  std::vector<Rule> narrowed = sayable(rules, options, losses);
  std::string body;
  for (const Collective collective : all_collectives) {
    std::string value;
    for (const RankCell& ranks : cells_of(rules_of(narrowed, collective))) {
      for (const SizeCell& cell : ranks.sizes) {
        if (cell.rule == nullptr) continue;
        for (const Condition& condition : conditions_of(ranks.ranks, cell.bytes, counts_blocks(collective))) {
          if (condition.bytes.from > most_bytes) continue;
          value += (value.empty() ? "" : ";") + std::to_string(number_of(collective, cell.rule->algorithm)) + ":" +
                   text_of(condition);
        }
      }
    }
    if (!value.empty()) body += "export " + variable_of(collective) + "='" + value + "'\n";
  }
  if (!body.empty()) add_loss(losses, "sizes above " + std::to_string(most_bytes) + " bytes are left to the library");
  // What is above the largest size that can be said is the library's.
  for (const Collective collective : all_collectives) {
    Rule above{.collective = collective, .bytes = {most_bytes + 1}};
    if (counts_blocks(collective)) continue;
    written.said.push_back(above);
  }
  written.said.insert(written.said.end(), narrowed.begin(), narrowed.end());
  std::string head = "# " + std::string(reader.title) + "; written by circoll export\n";
  if (!options.about.empty()) head += "# " + std::string(options.about.substr(0, options.about.find('\n'))) + "\n";
  if (options.operators != Operators::any)
    head += "# FOR PROGRAMS WHOSE OPERATORS COMMUTE: it may be wrong for others\n";
  for (std::string loss : losses) {
    std::replace(loss.begin(), loss.end(), '\n', ' ');
    head += "# - " + loss + "\n";
  }
  written.exported.files.push_back({.text = head + "export I_MPI_TUNING_MODE='none'\n" + body});
  written.exported.use = {". {}", "mpirun ./program"};
  return written;
}

}  // namespace circoll::foreign
