// Writes classic rules files of Open MPI.
#include <algorithm>

#include "foreign/cells.hpp"
#include "foreign/openmpi.hpp"

namespace circoll::foreign {
namespace {

using namespace openmpi;

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
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
  const Known* const known = algorithm_of(collective, number, version);
  const std::int64_t fanout = known != nullptr && known->fanout ? cell.rule->radix : 0;
  const std::int64_t segment = cell.rule == nullptr ? 0 : cell.rule->segment_bytes;
  std::string text = std::to_string(cell.bytes.from) + " " + std::to_string(number) + " " + std::to_string(fanout) +
                     " " + std::to_string(segment) + "  # ";
  if (cell.rule == nullptr) return text + "the library decides\n";
  return text + one_line(cell.rule->algorithm + "; " + cell.rule->from) + "\n";
}

}  // namespace

Written write_openmpi_classic(std::span<const Rule> rules, const Reader& reader, const ExportOptions& options) {
  const Version version = version_of(reader);
  Written written;
  std::vector<std::string>& losses = written.exported.losses;
  losses = options.losses;
  written.said = sayable(rules, version, options, false, losses);
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
    const bool nothing = std::all_of(cells.begin(), cells.end(), [](const RankCell& cell) { return cell.empty(); });
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
  std::transform(losses.begin(), losses.end(), std::back_inserter(lines), one_line);
  ExportOptions one = options;
  one.about = one_line(options.about);
  written.exported.files.push_back(
      {.text = head_text(reader, one, lines, "# ") + std::to_string(collectives) + "  # collectives\n" + body});
  written.exported.use.push_back(
      "mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename {}" +
      more_options(written.said, version) + " ./program");
  return written;
}

}  // namespace circoll::foreign
