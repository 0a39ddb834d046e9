// Writes JSON rules files of Open MPI 6.0.
#include <algorithm>
#include <limits>

#include "foreign/cells.hpp"
#include "foreign/formats.hpp"
#include "foreign/openmpi.hpp"

namespace circoll::foreign {
namespace {

using namespace openmpi;

constexpr Range one{1, 1};

/// A placement that the format knows, and the rules that hold for it.
struct NamedPlacement {
  std::string_view name;
  bool (*is_of)(const Rule& rule);
};
bool is_single_node(const Rule& rule) { return rule.nodes == one; }
bool is_one_per_node(const Rule& rule) { return rule.ranks_per_node == one; }
bool is_anywhere(const Rule& rule) { return !is_single_node(rule) && !is_one_per_node(rule); }

std::string sizes_text(Collective collective, const std::vector<SizeCell>& sizes) {
  std::string text;
  for (const SizeCell& cell : sizes) {
    if (cell.rule == nullptr) continue;
    const int number = number_of(collective, cell.rule->algorithm, Version::v60);
    const Known* const known = algorithm_of(collective, number, Version::v60);
    text += text.empty() ? "\n        {" : ",\n        {";
    if (cell.bytes.from > 0) text += "\"msg_size_min\": " + std::to_string(cell.bytes.from) + ", ";
    if (cell.bytes.to != unbounded) {
      text += "\"msg_size_max\": " + std::to_string(cell.bytes.to) + ", ";
    }
    text += "\"alg\": " + std::to_string(number);
    if (cell.rule->segment_bytes > 0) text += ", \"seg_size\": " + std::to_string(cell.rule->segment_bytes);
    if (known != nullptr && known->fanout && cell.rule->radix > 0)
      text += ", \"faninout\": " + std::to_string(cell.rule->radix);
    text += "}";
  }
  return text.empty() ? "{\"alg\": 0}" : text;
}

/// The list of a collective for a placement; a placement of its own names all numbers of ranks.
std::string ranks_text(Collective collective, const std::vector<RankCell>& cells, std::string_view placement) {
  std::string text;
  for (const RankCell& cell : cells) {
    if (cell.empty() && placement.empty()) continue;
    text += text.empty() ? "" : ",\n";
    text += "      {\"comm_size_min\": " + std::to_string(cell.ranks.from);
    // "inf" is kept as -1: without the key there is no end.
    if (cell.ranks.to != std::numeric_limits<Rank>::max())
      text += ", \"comm_size_max\": " + std::to_string(cell.ranks.to);
    if (!placement.empty()) text += ", \"comm_rank_distribution\": \"" + std::string(placement) + "\"";
    text += ", \"rules\": [" + sizes_text(collective, cell.sizes) + "]}";
  }
  return text;
}

std::string list_text(std::span<const Rule> said, Collective collective) {
  const std::vector<const Rule*> rules = rules_of(said, collective);
  std::string text;
  const auto add = [&](const std::string& more) {
    if (!more.empty()) text += (text.empty() ? "" : ",\n") + more;
  };
  for (const NamedPlacement& placement :
       {NamedPlacement{"single-node", is_single_node}, NamedPlacement{"one-per-node", is_one_per_node}}) {
    const bool named =
        std::any_of(rules.begin(), rules.end(), [&](const Rule* rule) { return placement.is_of(*rule); });
    if (!named) continue;
    std::vector<const Rule*> there;
    std::copy_if(rules.begin(), rules.end(), std::back_inserter(there),
                 [&](const Rule* rule) { return placement.is_of(*rule) || is_anywhere(*rule); });
    add(ranks_text(collective, cells_of(there), placement.name));
  }
  std::vector<const Rule*> anywhere;
  std::copy_if(rules.begin(), rules.end(), std::back_inserter(anywhere),
               [](const Rule* rule) { return is_anywhere(*rule); });
  add(ranks_text(collective, cells_of(anywhere), ""));
  return text;
}

}  // namespace

Written write_openmpi_json(std::span<const Rule> rules, const Reader& reader, const ExportOptions& options) {
  Written written;
  written.exported.losses = options.losses;
  written.said = sayable(rules, Version::v60, options, true, written.exported.losses);
  std::string lists;
  for (const Collective collective : all_collectives) {
    const bool something = std::any_of(written.said.begin(), written.said.end(), [&](const Rule& rule) {
      return rule.collective == collective && !rule.algorithm.empty();
    });
    if (!something) continue;
    lists += (lists.empty() ? "" : ",\n") + std::string("    \"") + std::string(to_string(collective)) + "\": [\n" +
             list_text(written.said, collective) + "]";
  }
  written.exported.files.push_back(
      {.text =
           "{\n  \"rule_file_version\": 3,\n  \"module\": \"tuned\",\n  \"collectives\": {\n" + lists + "\n  }\n}\n"});
  add_side_file(written.exported, reader, options);
  written.exported.use.push_back(
      "mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename {}" +
      more_options(written.said, Version::v60) + " ./program");
  return written;
}

}  // namespace circoll::foreign
