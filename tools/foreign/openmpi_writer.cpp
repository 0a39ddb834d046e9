// Writes rules files of Open MPI: classic ones, and in JSON for 6.0.
#include <algorithm>
#include <limits>

#include "foreign/cells.hpp"
#include "foreign/formats.hpp"
#include "foreign/openmpi.hpp"

namespace circoll::foreign {
namespace {

using namespace openmpi;

std::string command(std::span<const Rule> said, Version version) {
  return "mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename {}" +
         more_options(said, version) + " ./program";
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

/// The numbers that stand for the ranges of ranks.
std::vector<Rank> labels_of(const std::vector<RankCell>& cells, Version version) {
  std::vector<Rank> labels;
  // Two ranges with one label mean the same to all versions.
  if (cells.size() == 2) return {cells[1].ranks.from, cells[1].ranks.from};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool last = i + 1 == cells.size();
    const Rank lower = cells[i].ranks.from;
    labels.push_back(version != Version::v60 ? lower : last ? lower + 1 : cells[i].ranks.to + 1);
  }
  return labels;
}

std::string rule_line(Collective collective, const SizeCell& cell, Version version) {
  const int number = cell.rule == nullptr ? 0 : number_of(collective, cell.rule->algorithm, version);
  const KnownAlgorithm* const known = algorithm_of(collective, number, version);
  const std::int64_t fanout = known != nullptr && known->fanout ? cell.rule->radix : 0;
  const std::int64_t segment = cell.rule == nullptr ? 0 : cell.rule->segment_bytes;
  std::string text = std::to_string(cell.bytes.from) + " " + std::to_string(number) + " " + std::to_string(fanout) +
                     " " + std::to_string(segment) + "  # ";
  if (cell.rule == nullptr) return text + "the library decides\n";
  return text + one_line(cell.rule->algorithm + "; " + cell.rule->from) + "\n";
}

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
    const KnownAlgorithm* const known = algorithm_of(collective, number, Version::v60);
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
    const bool named = std::ranges::any_of(rules, [&](const Rule* rule) { return placement.is_of(*rule); });
    if (!named) continue;
    std::vector<const Rule*> there;
    std::ranges::copy_if(rules, std::back_inserter(there),
                         [&](const Rule* rule) { return placement.is_of(*rule) || is_anywhere(*rule); });
    add(ranks_text(collective, cells_of(there), placement.name));
  }
  std::vector<const Rule*> anywhere;
  std::ranges::copy_if(rules, std::back_inserter(anywhere), [](const Rule* rule) { return is_anywhere(*rule); });
  add(ranks_text(collective, cells_of(anywhere), ""));
  return text;
}

}  // namespace

Written write_openmpi_classic(std::span<const Rule> rules, const Reader& reader, const ExportOptions& options) {
  const Version version = version_of(reader);
  Written written;
  std::vector<std::string>& losses = written.exported.losses;
  losses = options.losses;
  written.said = expressible(rules, version, options, false, losses);
  std::string body;
  int collectives = 0;
  bool portable = true;
  for (const Collective collective : all_collectives) {
    const auto id = id_of(collective);
    std::vector<RankCell> cells = cells_of(rules_of(written.said, collective));
    // One rank alone asks nobody: a range of its own would never be reached.
    if (cells.size() > 1 && cells.front().ranks.to < 2) {
      cells.erase(cells.begin());
      cells.front().ranks.from = 1;
    }
    const bool nothing = std::ranges::all_of(cells, [](const RankCell& cell) { return cell.empty(); });
    if (!id || nothing) continue;
    ++collectives;
    portable = portable && cells.size() <= 2;
    const std::vector<Rank> labels = labels_of(cells, version);
    body += std::to_string(*id) + "  # " + std::string(to_string(collective)) + "\n" + std::to_string(cells.size()) +
            "  # ranges of ranks\n";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      body += std::to_string(labels[i]) + "  # " + text_of(cells[i].ranks, 1) + " ranks\n" +
              std::to_string(cells[i].sizes.size()) + "  # sizes: from bytes, algorithm, fan in/out, segment size\n";
      for (const SizeCell& cell : cells[i].sizes) body += rule_line(collective, cell, version);
    }
  }
  if (!portable) {
    add_loss(losses,
             version == Version::v60
                 ? "until Open MPI 5.0 this file means something else: its numbers of ranks are lower bounds there"
                 : "from Open MPI 6.0 on this file means something else: its numbers of ranks are upper bounds there");
  }
  std::vector<std::string> lines;
  std::ranges::transform(losses, std::back_inserter(lines), one_line);
  ExportOptions one = options;
  one.about = one_line(options.about);
  written.exported.files.push_back(
      {.text = head_text(reader, one, lines, "# ") + std::to_string(collectives) + "  # collectives\n" + body});
  written.exported.use.push_back(command(written.said, version));
  return written;
}

Written write_openmpi_json(std::span<const Rule> rules, const Reader& reader, const ExportOptions& options) {
  Written written;
  written.exported.losses = options.losses;
  written.said = expressible(rules, Version::v60, options, true, written.exported.losses);
  std::string lists;
  for (const Collective collective : all_collectives) {
    const bool something = std::ranges::any_of(
        written.said, [&](const Rule& rule) { return rule.collective == collective && !rule.algorithm.empty(); });
    if (!something) continue;
    lists += (lists.empty() ? "" : ",\n") + std::string("    \"") + std::string(to_string(collective)) + "\": [\n" +
             list_text(written.said, collective) + "]";
  }
  written.exported.files.push_back(
      {.text =
           "{\n  \"rule_file_version\": 3,\n  \"module\": \"tuned\",\n  \"collectives\": {\n" + lists + "\n  }\n}\n"});
  add_side_file(written.exported, reader, options);
  written.exported.use.push_back(command(written.said, Version::v60));
  return written;
}

}  // namespace circoll::foreign
