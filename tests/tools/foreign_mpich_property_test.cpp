// Random rules go into MPICH's trees and come back; damaged files never break the reader.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <random>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "foreign/formats.hpp"
#include "foreign/mpich_csel.hpp"
#include "foreign/mpich_writer.hpp"

namespace circoll::foreign {
namespace {

using mpich::Version;

constexpr Version all_versions[] = {Version::v4_0, Version::v4_1, Version::v4_2, Version::v4_3, Version::v5_0};

const Reader& reader_of(Version version) { return find_reader("mpich-" + std::string(mpich::to_string(version))); }

template <typename Random>
Count between(Random& random, Count least, Count most) {
  return std::uniform_int_distribution<Count>(least, most)(random);
}

/// A size whose binary logarithm is uniform.
template <typename Random>
Count size(Random& random) {
  const Count top = Count{1} << between(random, 0, 24);
  return between(random, top / 2, top);
}

Collective random_collective(std::mt19937& random) {
  return all_collectives[static_cast<std::size_t>(between(random, 0, static_cast<Count>(all_collectives.size()) - 1))];
}

/// A rule that the tree can express: sizes only where MPICH tells them, and only one node or several.
Rule random_rule(std::mt19937& random, Version version) {
  Rule rule{.collective = random_collective(random)};
  const auto names = mpich::names_of(rule.collective, version);
  do {
    rule.algorithm = names[static_cast<std::size_t>(between(random, 0, static_cast<Count>(names.size()) - 1))];
  } while (rule.algorithm == "linear" && names.size() > 1);
  if (between(random, 0, 3) > 0) {
    rule.ranks.from = between(random, 1, 20);
    rule.ranks.to = rule.ranks.from + between(random, 0, 20);
  }
  const Collective c = rule.collective;
  const bool sized = size_decides(c) && !is_gather(c) && !is_scatter(c) && !is_prefix(c);
  if (sized && between(random, 0, 3) > 0) {
    rule.bytes.from = size(random);
    if (between(random, 0, 1) == 0) rule.bytes.to = rule.bytes.from + size(random);
  }
  if (is_reducing(c) && !is_prefix(c)) rule.operators = static_cast<Operators>(between(random, 0, 2));
  const Count placed = between(random, 0, 5);
  if (placed == 0) rule.nodes = {1, 1};
  if (placed == 1) rule.nodes = {2};
  if (placed == 2) rule.ranks_per_node = {between(random, 1, 3), between(random, 3, 4)};
  if (between(random, 0, 9) == 0) rule.algorithm.clear();
  return rule;
}

Call random_call(std::mt19937& random) {
  Call call{.collective = random_collective(random)};
  call.ranks_per_node = between(random, 1, 4);
  call.nodes = between(random, 1, 10);
  call.ranks = call.nodes * call.ranks_per_node;
  call.element_bytes = Count{1} << between(random, 0, 3);
  if (size_decides(call.collective)) {
    const Count elements = between(random, 0, 3) == 0 ? between(random, 0, 40) : size(random) / call.element_bytes;
    const Count blocks = user_blocks(call.collective, call.ranks);
    const Count parts = has_one_vector(call.collective) ? 1 : call.ranks;
    call.bytes = blocks > 0 ? elements / parts * parts * call.element_bytes : 0;
  }
  call.commutative = between(random, 0, 2) > 0;
  call.predefined_op = call.commutative && between(random, 0, 1) == 0;
  call.in_place = call.collective == Collective::alltoall && between(random, 0, 3) == 0;
  return call;
}

bool can_be_said(const Rule& rule, Version version) {
  const auto leaves = mpich::leaves_of(rule.collective, rule.algorithm, version);
  if (!leaves) return false;
  const std::string& last = leaves->nonblocking.empty() ? leaves->blocking : leaves->nonblocking;
  const bool counted = rule.collective == Collective::reduce_scatter_block && !leaves->nonblocking.empty() &&
                       (rule.bytes.from > 0 || rule.bytes.to < std::numeric_limits<Count>::max());
  const bool replaced = rule.collective == Collective::alltoallv && rule.algorithm == "pairwise_sendrecv_replace";
  return mpich::unsettable(last, version).empty() && !counted && !replaced;
}

std::string installed() {
  static const std::string text = [] {
    const auto found = find_base(reader_of(Version::v4_0));
    return found ? found->text : std::string();
  }();
  return text;
}

TEST(ForeignMpichProperty, RulesComeBackAndEveryCallHasAnAlgorithm) {
  std::mt19937 random(20);
  std::size_t by_rule = 0;
  for (int round = 0; round < 150; ++round) {
    const Version version = all_versions[round % 5];
    const std::string base = version == Version::v4_0 && round % 2 == 0 ? installed() : "";
    std::vector<Rule> rules;
    for (Count n = between(random, 1, 8); n > 0; --n) rules.push_back(random_rule(random, version));
    const bool any = std::any_of(rules.begin(), rules.end(), [&](const Rule& r) { return can_be_said(r, version); });
    if (!any) continue;
    const Exported exported = export_rules(rules, reader_of(version), {.base = base});
    const auto file = read(exported.files[0].text, "f", reader_of(version));
    ASSERT_FALSE(file->rejected());
    const auto before = read(mpich::to_json(mpich::base_of(base, version).selection), "base", reader_of(version));
    for (int i = 0; i < 200; ++i) {
      const Call call = random_call(random);
      if (call.ranks == 1) continue;  // whose one node the tree does not know as such
      const ForeignDecision verdict = file->decide(call);
      ASSERT_FALSE(verdict.algorithm.empty()) << (verdict.notes.empty() ? "" : verdict.notes.front());
      const Rule* const rule = first_rule(rules, call);
      std::string wanted = before->decide(call).algorithm;
      if (rule != nullptr && can_be_said(*rule, version)) {
        const auto leaves = mpich::leaves_of(rule->collective, rule->algorithm, version);
        const mpich::Needs needs =
            mpich::needs_of(leaves->nonblocking.empty() ? leaves->blocking : leaves->nonblocking);
        const bool sized_in_place =
            call.in_place && (rule->bytes.from > 0 || rule->bytes.to < std::numeric_limits<Count>::max());
        // MPICH tells no size of calls in place, so that a later rule for all sizes may hold.
        if (call.in_place && !sized_in_place && rule != &*std::find_if(rules.begin(), rules.end(), [&](const Rule& r) {
                                                  return r.collective == call.collective;
                                                }))
          continue;
        if (sized_in_place) continue;
        if (mpich::wrong_calls(needs, call).empty()) {
          wanted = mpich::short_name(leaves->nonblocking.empty() ? leaves->blocking : leaves->nonblocking);
          ++by_rule;
        }
      } else if (call.in_place) {
        continue;
      }
      ASSERT_EQ(verdict.algorithm, wanted) << to_string(call.collective) << " p " << call.ranks << " nodes "
                                           << call.nodes << " bytes " << call.bytes << "\n"
                                           << exported.files[0].text;
    }
  }
  EXPECT_GT(by_rule, 1000U);
}

TEST(ForeignMpichProperty, EverySubtreeIsTotalAndShallow) {
  std::mt19937 random(21);
  for (int round = 0; round < 25; ++round) {
    const Version version = all_versions[round % 5];
    std::vector<Rule> rules{{.collective = Collective::allreduce, .algorithm = "recursive_doubling"}};
    for (int n = 0; n < 30; ++n) rules.push_back(random_rule(random, version));
    const Exported exported =
        export_rules(rules, reader_of(version), {.base = version == Version::v4_0 ? installed() : ""});
    const mpich::SelectionTree selection =
        mpich::make_selection(mpich::parse_tree(exported.files[0].text, "f").tree, version);
    ASSERT_EQ(selection.refusal, "");
    EXPECT_LT(mpich::validation_visits(selection), 1e7);
    for (const std::string_view name : mpich::tree_collectives()) {
      for (int i = 0; i < 50; ++i) {
        const mpich::Found found = mpich::search(selection, {std::string(name), random_call(random)});
        ASSERT_GE(found.node, 0) << name << ": " << found.end;
        EXPECT_EQ(mpich::collective_of(selection.at(found.node).condition.word), name);
      }
    }
  }
}

TEST(ForeignMpichProperty, WhatIsWrittenHasNoWarningsOfItsOwn) {
  std::mt19937 random(22);
  for (int round = 0; round < 50; ++round) {
    const Version version = all_versions[round % 5];
    std::vector<Rule> rules{{.collective = Collective::allreduce, .algorithm = "recursive_doubling"}};
    for (int n = 0; n < 6; ++n) rules.push_back(random_rule(random, version));
    const auto file = read(
        export_rules(rules, reader_of(version), {.base = version == Version::v4_0 ? installed() : ""}).files[0].text,
        "f", reader_of(version));
    for (const Warning& warning : file->warnings()) {
      // Parts of the base under other tests may have tests that hold always or never.
      EXPECT_FALSE(warning.grave) << warning.line << ": " << warning.text;
    }
  }
}

TEST(ForeignMpichProperty, DamagedFilesNeverBreakTheReader) {
  std::mt19937 random(23);
  const Rule rule{.collective = Collective::bcast, .ranks = {4, 20}, .bytes = {100, 200}, .algorithm = "tsp_tree"};
  const std::string whole = export_rules(std::span(&rule, 1), reader_of(Version::v4_0)).files[0].text;
  constexpr std::string_view letters = "{}[]\",:=<>0123456789anyp \n\\u\0x";
  std::size_t rejected = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text = whole;
    for (Count n = between(random, 1, 6); n > 0 && !text.empty(); --n) {
      const auto at = static_cast<std::size_t>(between(random, 0, static_cast<Count>(text.size()) - 1));
      const Count kind = between(random, 0, 3);
      if (kind == 0) text.erase(at, static_cast<std::size_t>(between(random, 1, 40)));
      if (kind == 1) text[at] = letters[static_cast<std::size_t>(between(random, 0, letters.size() - 1))];
      if (kind == 2) text.insert(at, text.substr(at, static_cast<std::size_t>(between(random, 1, 60))));
      if (kind == 3) text.resize(at);
    }
    const auto file = read(text, "f.json", reader_of(all_versions[round % 5]));
    if (file->rejected()) {
      ++rejected;
      EXPECT_FALSE(file->warnings().empty());
    }
    for (int i = 0; i < 3; ++i) (void)file->decide(random_call(random));
  }
  EXPECT_GT(rejected, 100U);
  EXPECT_LT(rejected, 3000U);
}

}  // namespace
}  // namespace circoll::foreign
