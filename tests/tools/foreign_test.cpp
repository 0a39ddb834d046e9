// Tuning files: translation from Circoll's rules, and properties that all formats have.
#include <gtest/gtest.h>

#include <random>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "foreign/formats.hpp"
#include "foreign_files.hpp"

namespace circoll::foreign {
namespace {

using C = Collective;

TEST(Foreign, UnknownReadersAreNamed) {
  try {
    (void)find_reader("openmpi-4");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unknown_name);
    EXPECT_NE(std::string(error.what()).find("openmpi-4.1"), std::string::npos) << error.what();
  }
}

TEST(Translation, OfARulesFile) {
  const std::string rules = R"({"circoll_rules": 1,
    "allreduce": [
      {"op": "exact", "p": [8, 9], "use": "ring_x"}]})";
  EXPECT_THROW((void)translate_rules(rules, "r", find_reader("openmpi-4.1")), Error);
  const Translated translated = translate_rules(R"({"circoll_rules": 1,
    "reduce": [
      {"op": "exact", "p": [8, 9], "use": "linear"},
      {"op": "inexact", "p": [8, 9], "use": "rabenseifner"},
      {"op": "exact", "p": [9, 10], "use": "binomial"},
      {"op": "inexact", "p": [9, 10], "use": "binomial"},
      {"otherwise": "linear"}],
    "bcast": [
      {"p": [2, 5], "bytes": [0, "64Ki"], "use": "chain:segment=4Ki,fanout=2"},
      {"p": [2, 5], "bytes": ["64Ki"], "use": "native"},
      {"p": [5], "use": "circulant_pipelined"},
      {"otherwise": "binomial"}],
    "allgather": [{"p": [4, 5], "use": "ring:relabel=2"}, {"otherwise": "ring"}]})",
                                                "r", find_reader("openmpi-4.1"));
  const auto at = [&](const Call& call) {
    const Rule* rule = first_rule(translated.rules, call);
    return rule == nullptr ? std::string("none") : rule->algorithm;
  };
  EXPECT_EQ(at(call_of(C::reduce, 8, 64)), "");  // neither exact nor inexact can be said, and linear is not for these
  EXPECT_EQ(at(call_of(C::reduce, 9, 64)), "binomial");
  EXPECT_EQ(at(call_of(C::reduce, 7, 64)), "linear");
  EXPECT_EQ(at(call_of(C::bcast, 4, 65535)), "chain");
  EXPECT_EQ(first_rule(translated.rules, call_of(C::bcast, 4, 8))->segment_bytes, 4096);
  EXPECT_EQ(first_rule(translated.rules, call_of(C::bcast, 4, 8))->radix, 2);
  EXPECT_EQ(at(call_of(C::bcast, 4, 65536)), "");
  EXPECT_EQ(at(call_of(C::bcast, 5, 8)), "");
  EXPECT_EQ(at(call_of(C::allgather, 4, 8)), "");
  EXPECT_EQ(at(call_of(C::allgather, 8, 8)), "ring");
  EXPECT_EQ(first_rule(translated.rules, call_of(C::bcast, 4, 8))->from, "r:9: chain:segment=4Ki,fanout=2");
  const Exported lost_ones{.losses = translated.losses};
  EXPECT_TRUE(lost(lost_ones, "no format knows exact, inexact or idempotent operators"));
  EXPECT_TRUE(lost(lost_ones, "no other library relabels ranks"));
  EXPECT_TRUE(lost(lost_ones, "has no algorithm like bcast/circulant_pipelined"));
}

TEST(Translation, PlacementBecomesNumbersOfRanks) {
  const Translated translated = translate_rules(R"({"circoll_rules": 1, "bcast": [
      {"nodes": [2, 4], "use": "binomial"}, {"nodes": [1, 2], "ranks_per_node": [3], "use": "chain"},
      {"otherwise": "auto"}]})",
                                                "r", find_reader("openmpi-4.1"), {.ranks_per_node = 8});
  ASSERT_EQ(translated.rules.size(), 2U);
  EXPECT_EQ(translated.rules[0].ranks, (Range{9, 24}));
  EXPECT_EQ(translated.rules[1].ranks, (Range{3, 8}));
  EXPECT_EQ(translated.rules[0].nodes, Range{1});
}

TEST(Translation, OfMeasuredCells) {
  const std::vector<RuleCell> cells{
      {.collective = C::bcast, .p = 4, .bytes = 1024, .use = "binomial"},
      {.collective = C::bcast, .p = 4, .bytes = 4096, .use = "openmpi/pipeline:segment=1Ki"},
      {.collective = C::bcast, .p = 8, .bytes = 1024, .use = "native"},
      {.collective = C::allreduce, .p = 4, .bytes = 8, .use = "openmpi/ring"},
      {.collective = C::allreduce, .p = 4, .bytes = 64, .use = "mpich/nb"}};
  const Translated translated =
      translate_cells(cells, {.op = Op::sum, .type = Type::float64}, find_reader("openmpi-4.1"));
  const Rule* rule = first_rule(translated.rules, call_of(C::bcast, 4, 2047));
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->algorithm, "binomial");
  rule = first_rule(translated.rules, call_of(C::bcast, 4, 2048));
  EXPECT_EQ(rule->algorithm, "pipeline");
  EXPECT_EQ(rule->segment_bytes, 1024);
  EXPECT_EQ(first_rule(translated.rules, call_of(C::bcast, 5, 2048)), nullptr);
  EXPECT_EQ(first_rule(translated.rules, call_of(C::allreduce, 4, 8))->operators, Operators::commutative);
  EXPECT_TRUE(lost({.losses = translated.losses}, "mpich/nb is of another library"));
  const Translated wide =
      translate_cells(cells, {.op = Op::sum, .type = Type::float64}, find_reader("openmpi-4.1"), true);
  EXPECT_EQ(first_rule(wide.rules, call_of(C::bcast, 7, 2048))->algorithm, "pipeline");
  EXPECT_EQ(first_rule(wide.rules, call_of(C::bcast, 99, 2048))->algorithm, "");
}

TEST(Translation, OfTheModelHasOnlyWhatCanBeSaid) {
  const ModelGrid grid{.collectives = {C::allreduce, C::bcast, C::barrier}, .ranks = {4, 16}, .bytes = {64, 1 << 20}};
  for (const Reader& reader : readers()) {
    if (reader.library == "mpich") continue;
    const Translated translated = translate_model(default_machine(), grid, reader);
    const Exported exported = export_rules(translated.rules, reader);
    const auto file = read(exported.files.front().text, "file", reader);
    EXPECT_NE(algorithm(file, C::allreduce, 16, 64), "") << reader.id;
    EXPECT_NE(algorithm(file, C::barrier, 16, 0), "") << reader.id;
  }
}

/// Random rules, with algorithms that a reader knows and some that it does not.
std::vector<Rule> random_rules(std::mt19937& random, const Format& format) {
  const auto below = [&](std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random); };
  std::vector<Rule> rules;
  for (int i = 0; i < 6; ++i) {
    Rule rule{.collective = all_collectives[static_cast<std::size_t>(below(collective_count))],
              .from = "rule " + std::to_string(i)};
    // There are few collectives, so that rules meet.
    if (below(2) == 0) rule.collective = C::allreduce;
    const auto names = format.names(rule.collective, format.reader);
    if (!names.empty() && below(8) != 0)
      rule.algorithm = std::string(names[static_cast<std::size_t>(below(static_cast<std::int64_t>(names.size())))]);
    else if (below(2) == 0)
      rule.algorithm = "unheard_of";
    if (below(3) != 0) rule.ranks = {1 + below(40), 41 + below(200)};
    if (below(4) == 0) rule.ranks.to = Range{}.to;
    if (below(3) != 0 && size_decides(rule.collective)) rule.bytes = {below(5000), 5000 + below(100000)};
    if (below(4) == 0 && size_decides(rule.collective)) rule.bytes.to = Range{}.to;
    if (is_reducing(rule.collective)) rule.operators = static_cast<Operators>(below(3));
    if (below(6) == 0) rule.nodes = {1, 1};
    if (below(6) == 0) rule.ranks_per_node = {1, 1};
    if (below(4) == 0) rule.segment_bytes = 1 + below(9000);
    if (below(6) == 0) rule.radix = 2 + below(4);
    rules.push_back(std::move(rule));
  }
  return rules;
}

Call random_call(std::mt19937& random, std::span<const Rule> rules) {
  const auto below = [&](std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random); };
  const Rule& near = rules[static_cast<std::size_t>(below(static_cast<std::int64_t>(rules.size())))];
  Call call{.collective = near.collective, .ranks = 2 + below(250)};
  call.ranks_per_node = below(3) == 0 ? 1 : below(2) == 0 ? call.ranks : 1 + below(call.ranks);
  call.nodes = (call.ranks + call.ranks_per_node - 1) / call.ranks_per_node;
  call.element_bytes = 1;
  call.bytes = size_decides(call.collective) ? below(2) == 0 ? below(120000) : below(200) : 0;
  call.bytes = Amounts::of_block(call.collective, call.ranks,
                                 Amounts::of_vector(call.collective, call.ranks, call.bytes).block_bytes())
                   .vector_bytes();
  call.commutative = !is_reducing(call.collective) || below(3) != 0;
  call.predefined_op = call.commutative;
  return call;
}

/// A file decides as its exported rules say, and never otherwise than the given rules.
TEST(Foreign, FilesDoWhatTheRulesSay) {
  for (const Format& format : formats()) {
    if (format.reader.library == "mpich") continue;  // it has a test of its own
    std::mt19937 random(21);                         // NOLINT(cert-msc32-c,cert-msc51-cpp): the same in every run
    int decided = 0;
    for (int round = 0; round < 80; ++round) {
      const std::vector<Rule> rules = random_rules(random, format);
      const ExportOptions options{.operators = round % 2 == 0 ? Operators::any : Operators::commutative};
      const Written written = format.write(rules, format.reader, options);
      ASSERT_EQ(read_back_difference(written, format.reader), "") << format.reader.id << " round " << round << "\n"
                                                                  << written.exported.files.front().text;
      const auto file = format.read(written.exported.files.front().text, "file", format.reader);
      for (int i = 0; i < 40; ++i) {
        const Call call = random_call(random, rules);
        const std::string got = file->decide(call).algorithm;
        const Rule* const said = first_rule(written.said, call);
        ASSERT_EQ(got, said == nullptr ? "" : said->algorithm) << format.reader.id << " round " << round;
        if (!call.commutative || got.empty()) continue;
        ++decided;
        const Rule* const rule = first_rule(rules, call);
        ASSERT_NE(rule, nullptr) << format.reader.id << " round " << round;
        ASSERT_EQ(got, rule->algorithm) << format.reader.id << " round " << round;
      }
    }
    EXPECT_GT(decided, 250) << format.reader.id;
  }
}

/// Readers accept any bytes: right files in which bytes were changed, left out and put in.
TEST(Foreign, DamagedFilesNeverHurtTheReader) {
  for (const Format& format : formats()) {
    std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same in every run
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    std::vector<std::string> texts;
    for (const Format& writer : formats()) {
      if (writer.reader.library == "mpich") continue;
      texts.push_back(writer.write(random_rules(random, writer), writer.reader, {}).exported.files.front().text);
    }
    constexpr std::string_view pieces = "0123456789-:;@#=[]{}\",\n kKxinfhost.";
    for (int round = 0; round < 600; ++round) {
      std::string text = texts[below(texts.size())];
      for (std::size_t changes = 1 + below(6); changes > 0 && !text.empty(); --changes) {
        const std::size_t at = below(text.size());
        if (below(3) == 0)
          text.erase(at, 1 + below(8));
        else if (below(2) == 0)
          text[at] = pieces[below(pieces.size())];
        else
          text.insert(at, text.substr(below(text.size()), below(12)));
      }
      const auto file = format.read(text, "file", format.reader);
      for (const Collective collective : all_collectives) (void)file->decide(call_of(collective, 8, 4096));
    }
  }
}

}  // namespace
}  // namespace circoll::foreign
