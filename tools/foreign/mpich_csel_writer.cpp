// Tuning files of MPICH: a base tree whose collectives are replaced where rules say something about them.
#include <algorithm>
#include <array>

#include "circoll/error.hpp"
#include "foreign/formats.hpp"
#include "foreign/mpich_csel.hpp"
#include "foreign/mpich_writer.hpp"

namespace circoll::foreign::mpich {
namespace {

constexpr std::array<Collective, 4> composed{Collective::allreduce, Collective::bcast, Collective::reduce,
                                             Collective::barrier};

/// A text that leaves a part of its last page, whose zeros end the mapped file for MPICH.
std::string without_whole_pages(std::string text) {
  if (text.size() % page_bytes == 0) text += "\n";
  return text;
}

/// Puts rules into the tree of a collective; true if that changed it.
bool replace(Tree& selection, std::span<const Expressible> rules, Collective collective, bool nonblocking,
             Version version) {
  const std::string key =
      "collective=" + std::string(nonblocking ? "i" : "") + std::string(circoll::to_string(collective));
  const auto found = std::ranges::find_if(selection.members, [&](const Tree& member) { return member.key == key; });
  check(found != selection.members.end(), "a base tree that was checked lacks a collective");
  const Tree* const intra = found->find("comm_type=intra");
  std::vector<Tree> made =
      cells(rules, collective, nonblocking, intra == nullptr ? found->members : intra->members, version);
  if (made.empty()) return false;
  const Tree* const inter = found->find("comm_type=inter");
  std::vector<Tree> others = inter != nullptr   ? inter->members
                             : intra == nullptr ? found->members
                                                : std::vector<Tree>{};
  std::vector<Tree> members{branch("comm_type=intra", std::move(made))};
  if (!others.empty()) members.push_back(branch("comm_type=inter", std::move(others)));
  found->members = std::move(members);
  return true;
}

/// Adds what makes ch4 ask the tree about the user's communicators, or says that it does not.
void add_levels(const Base& base, const std::vector<Collective>& replaced, std::span<const Expressible> rules,
                Exported& exported) {
  std::vector<Collective> divided;
  for (const Collective collective : replaced) {
    const bool is_composed = std::ranges::find(composed, collective) != composed.end();
    const bool shared = std::ranges::any_of(rules, [&](const Expressible& s) {
      return s.rule.collective == collective && s.leaves && s.rule.ranks_per_node.to > 1;
    });
    if (is_composed && shared) divided.push_back(collective);
  }
  if (divided.empty()) return;
  std::string names;
  for (const Collective collective : divided)
    names += (names.empty() ? "" : ", ") + std::string(circoll::to_string(collective));
  if (base.composition) {
    Tree composition = *base.composition;
    bool all = true;
    for (const Collective collective : divided) {
      const std::string flat = flat_composition(composition, circoll::to_string(collective));
      const std::string key = "collective=" + std::string(circoll::to_string(collective));
      for (Tree& member : composition.members) {
        if (member.key == key && !flat.empty())
          member.members = {branch("comm_type=intra", {leaf("composition=" + flat)})};
      }
      all = all && !flat.empty();
    }
    if (all) {
      exported.files.push_back({".composition.json", without_whole_pages(to_json(composition))});
      exported.use.emplace_back("export MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE={}.composition.json");
      exported.losses.push_back("Where nodes have several ranks, ch4 divides " + names +
                                " among nodes and asks the tree about the parts. The file .composition.json makes them "
                                "flat, as rules mean them: without it the rules see other communicators.");
      return;
    }
  }
  for (const Collective collective : divided) {
    exported.use.push_back("export MPIR_CVAR_" + variable_part(collective) + "_POSIX_INTRA_ALGORITHM=mpir");
  }
  exported.losses.push_back(
      "Where nodes have several ranks, ch4 divides " + names +
      " among nodes and asks the tree about the parts, so that rules see the communicators of nodes "
      "and of their leaders. Give the library as base to get a file that makes them flat.");
}

/// The decisions that the file must come to: the rule's algorithm where it is right, else the base's.
std::function<std::string(const Call&)> meaning(std::vector<Expressible> rules, const Base& base,
                                                const Reader& reader) {
  std::shared_ptr<const TuningFile> before = read_selection(to_json(base.selection), "the base", reader);
  return [rules = std::move(rules), before](const Call& call) {
    const auto found =
        std::ranges::find_if(rules, [&](const Expressible& expressible) { return holds(expressible.rule, call); });
    const bool right = found != rules.end() && found->leaves && wrong_calls(found->needs, call).empty();
    if (!right) return before->decide(call).algorithm;
    const Leaves& leaves = *found->leaves;
    return short_name(leaves.nonblocking.empty() ? leaves.blocking : leaves.nonblocking);
  };
}

}  // namespace

Written write_selection(std::span<const Rule> rules, const Reader& reader, const ExportOptions& options) {
  const std::optional<Version> version = version_of(reader.id);
  check(version.has_value(), "a reader of MPICH has an unknown version");
  const Base base = base_of(options.base, *version);
  ExpressibleRules said = expressible(rules, *version);

  Written written;
  Exported& exported = written.exported;
  exported.losses = options.losses;
  exported.losses.insert(exported.losses.end(), said.losses.begin(), said.losses.end());
  Tree selection = base.selection;
  std::vector<Collective> replaced;
  for (const Collective collective : all_collectives) {
    const bool blocking = replace(selection, said.rules, collective, false, *version);
    const bool through = std::ranges::any_of(said.rules, [&](const Expressible& s) {
      return s.rule.collective == collective && s.leaves && !s.leaves->nonblocking.empty();
    });
    if (through) replace(selection, said.rules, collective, true, *version);
    if (blocking) replaced.push_back(collective);
  }
  exported.files.push_back({"", without_whole_pages(to_json(selection))});
  exported.use.emplace_back("export MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE={}");
  add_levels(base, replaced, said.rules, exported);
  exported.use.insert(exported.use.end(), said.settings.begin(), said.settings.end());
  if (base.plain)
    exported.losses.emplace_back(
        "The file takes the place of MPICH's whole tree. Calls that no rule holds are served by a plain tree, not by "
        "MPICH's own choices; give the library as base to keep these.");
  add_side_file(exported, reader, options);

  for (const Expressible& expressible : said.rules) {
    written.said.push_back(expressible.rule);
    if (!expressible.leaves && !expressible.by_variable) written.said.back().algorithm.clear();
  }
  written.meant = meaning(std::move(said.rules), base, reader);
  return written;
}

}  // namespace circoll::foreign::mpich
