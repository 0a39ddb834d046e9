// The page of all costs, docs/costs.md.
#include "cost/cost.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "circoll/model.hpp"
#include "circoll/verify.hpp"
#include "list/list.hpp"
#include "oracle/formula.hpp"

namespace circoll::cli {
namespace {

constexpr std::array<Rank, 15> shown_sizes{2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 32, 33, 48, 63, 64};
constexpr std::int64_t shown_segments = 4;

constexpr std::string_view costs_introduction = R"(# Costs

Written by `circoll cost --page`. Per algorithm: what it needs, the predicted time of a
vector of m bytes, what its schedules count, and what others print.

The letters are those of [notation](lab/notation.md): q = ceil(log2 p), L = floor(log2 p), P = 2^L, r = p - P, n
segments, [a > b] is 1 or 0. All ranks go from round to round together. A round in which some rank both sends and
receives costs alpha, and beta per byte of its longest message; a one-way round costs alpha_uni = f_alpha alpha, and
beta_uni = f_beta beta per byte. gamma is paid per byte for the rank that combines the most in the round.

The tables are counted from the schedules of all ranks by the verifier, root 0, not in place; `n = 4` where there are
segments. The unit of the volumes is the block: m / blocks bytes. "sent" and "reduced" are the most that one rank does
in all, "levels" the rounds that wait for one another. Rows of zeros are left out. For all p = 2 .. 64, and for roots
and segments, tests hold the counts against the declared closed forms, and these against the formulas; `circoll verify
all -p 1..64 --root all` does the first.
)";

/// A printed time formula. The coefficients of alpha, alpha_uni, m beta, m beta_uni and m gamma are formulas in p, q,
/// L, P, r and n (docs/lab/notation.md). "lg p" is log2 p.
struct PrintedFormula {
  std::string_view id;       ///< the algorithm that it is about
  std::string_view printed;  ///< as it stands there, with m for the vector
  std::string_view where;
  std::string_view alpha;
  std::string_view alpha_uni;
  std::string_view bytes;
  std::string_view bytes_uni;
  std::string_view combined;
  std::string_view remark;  ///< why it differs from what the algorithm does; empty if it does not
};

constexpr std::string_view thakur = "Thakur, Rabenseifner, Gropp 2005";
constexpr std::string_view after_thakur = "after Thakur, Rabenseifner, Gropp 2005";
constexpr std::string_view rabenseifner = "after Rabenseifner 2004";
constexpr std::string_view traff_uniform = "Traff et al., Uniform Algorithms";
constexpr std::string_view traff_optimal = "Traff, arXiv 2410.14234";
constexpr std::string_view traff_bcast = "Traff, arXiv 2407.18004";

constexpr std::string_view one_way_tree =
    "The counts are right, but in no round does a rank both send and receive: the prices are alpha_uni and beta_uni.";

/// Formulas as papers, lectures and other libraries print them, to be compared with what the algorithms do.
constexpr auto formulas = std::to_array<PrintedFormula>({
    {"allreduce/binomial", "lg p (alpha + m beta + m gamma)", rabenseifner, "log2 p", "0", "log2 p", "0", "log2 p",
     "It counts one of the two trees: the reduction. The broadcast takes the same rounds and bytes once more, without "
     "combining. And messages go one way: the prices are alpha_uni and beta_uni."},
    {"allreduce/recursive_doubling", "lg p alpha + lg p m beta + lg p m gamma", after_thakur, "log2 p", "0", "log2 p",
     "0", "log2 p",
     "For other p there are L such rounds, not lg p, and two one-way rounds of the whole "
     "vector around them; the first one combines, too."},
    {"allreduce/ring", "(p-1) alpha + (p-1)/p m beta", after_thakur, "p-1", "0", "(p-1)/p", "0", "0",
     "It is the allgather half alone, often quoted for the allreduce. The reduce_scatter before it takes as many "
     "rounds "
     "and bytes, and combines (p-1)/p m: 2p - 2 steps in all (2p - 1 according to the description there)."},
    {"allreduce/ring", "2(p-1) alpha + 2m beta + m gamma - 1/p (2m beta + m gamma)", rabenseifner, "2(p-1)", "0",
     "2 - 2/p", "0", "1 - 1/p", ""},
    {"allreduce/rabenseifner", "2 lg p alpha + 2(p-1)/p m beta + (p-1)/p m gamma", after_thakur, "2 log2 p", "0",
     "2(p-1)/p", "0", "(p-1)/p",
     "For other p the vector is cut into P parts, not p, and pairs are folded before and told "
     "the result after."},
    {"allreduce/rabenseifner", "2 lg p alpha + 2m beta + m gamma, p = 2^k; (3 + 2L) alpha + 4m beta + 3/2 m gamma else",
     rabenseifner, "2L + 3[r>0]", "0", "2 + 2[r>0]", "0", "1 + 1/2 [r>0]",
     "Upper bounds: 1/p is neglected for powers of two. Else the volume is (4 - 2/P) m and (3/2 - 1/P) m is combined. "
     "The number of rounds is right; two of them, with 3/2 m of the volume, go one way. The folding of pairs alone, "
     "(1 + f_alpha) alpha + m/2 (1 + f_beta) beta + m/2 gamma, is printed as it is."},
    {"allreduce/circulant", "q alpha + q m beta + (2q-1) m gamma", traff_uniform, "q", "0", "q", "0", "2q-1",
     "Both sums are kept in every round there. Here a sum is formed only where it is sent or the result."},
    {"allreduce/circulant_optimal", "2q alpha + 2(p-1)/p m beta + (p-1)/p m gamma", traff_optimal, "2q", "0",
     "2(p-1)/p", "0", "(p-1)/p", ""},
    {"reduce/binomial", "lg p (alpha + m beta + m gamma)", rabenseifner, "q", "0", "q", "0", "q", one_way_tree},
    {"reduce/rabenseifner", "lg p (alpha + alpha_uni) + (p-1)/p m (beta + beta_uni + gamma), p = 2^k", rabenseifner,
     "log2 p", "log2 p", "(p-1)/p", "(p-1)/p", "(p-1)/p",
     "The sum of the printed reduce_scatter and gather. For other p put L and P for lg p and p, and add alpha + "
     "alpha_uni + m/2 (beta + beta_uni + gamma) for the pairs, as printed there; nothing more if the root is removed."},
    {"reduce/ring", "(p-1)(alpha + alpha_uni) + m (beta + beta_uni) + m gamma - 1/p (m (beta + beta_uni) + m gamma)",
     rabenseifner, "p-1", "p-1", "1 - 1/p", "1 - 1/p", "1 - 1/p", ""},
    {"reduce_scatter_block/recursive_halving", "lg p alpha + (p-1)/p m beta + (p-1)/p m gamma", thakur, "log2 p", "0",
     "(p-1)/p", "0", "(p-1)/p",
     "For other p the pairs cost two one-way rounds, of the vector and of a block, and places "
     "that stand for two ranks have longer messages."},
    {"reduce_scatter_block/recursive_doubling", "lg p alpha + (lg p - (p-1)/p) m beta + (lg p - (p-1)/p) m gamma",
     thakur, "log2 p", "0", "log2 p - (p-1)/p", "0", "log2 p - (p-1)/p",
     "More than is sent here: there a rank also gets the blocks of the other members of its own group, which it has no "
     "use for. Here it is (L(p+1) - 2(p-1))/p m for powers of two."},
    {"reduce_scatter_block/pairwise", "(p-1) alpha + (p-1)/p m beta + (p-1)/p m gamma", rabenseifner, "p-1", "0",
     "(p-1)/p", "0", "(p-1)/p", ""},
    {"reduce_scatter_block/ring", "(p-1) alpha + (p-1)/p m beta + (p-1)/p m gamma", rabenseifner, "p-1", "0", "(p-1)/p",
     "0", "(p-1)/p",
     "That is n = 1. With segments there are n times as many rounds; the volume stays. What they are good for, the "
     "overlap of a segment's combination with the next one's transfer, the round model does not see."},
    {"reduce_scatter_block/circulant", "q alpha + (2^q-1)/p m beta + (p-1)/p m gamma", traff_uniform, "q", "0",
     "(2^q-1)/p", "0", "(p-1)/p", ""},
    {"reduce_scatter_block/circulant_optimal", "q alpha + (p-1)/p m beta + (p-1)/p m gamma", traff_optimal, "q", "0",
     "(p-1)/p", "0", "(p-1)/p", ""},
    {"allgather/ring", "(p-1) alpha + (p-1)/p m beta", thakur, "p-1", "0", "(p-1)/p", "0", "0",
     "That is n = 1; with segments there are n times as many rounds."},
    {"allgather/recursive_doubling", "lg p alpha + (p-1)/p m beta", thakur, "log2 p", "0", "(p-1)/p", "0", "0",
     "Else it takes q exchanges, of (2^q-1)/p m on the longest way, and one-way rounds that "
     "pass "
     "on what ranks without a partner miss."},
    {"allgather/bruck", "ceil(lg p) alpha + (p-1)/p m beta", thakur, "q", "0", "(p-1)/p", "0", "0", ""},
    {"allgather/circulant", "q alpha + (p-1)/p m beta", traff_uniform, "q", "0", "(p-1)/p", "0", "0", ""},
    {"allgather/circulant_optimal", "q alpha + (p-1)/p m beta", traff_optimal, "q", "0", "(p-1)/p", "0", "0", ""},
    {"gather/binomial", "lg p alpha_uni + (p-1)/p m beta_uni, p = 2^k", rabenseifner, "0", "log2 p", "0", "(p-1)/p",
     "0",
     "For other p put q for lg p. (Printed for the gather of a reduction, whose p is a power "
     "of "
     "two.)"},
    {"bcast/binomial", "ceil(lg p)(alpha + m beta)", thakur, "q", "0", "q", "0", "0", one_way_tree},
    {"bcast/scatter_allgather", "(lg p + p - 1) alpha + 2(p-1)/p m beta", thakur, "log2 p + p - 1", "0", "2(p-1)/p",
     "0", "0", "The scatter takes q rounds, and its messages go one way: q alpha_uni and (p-1)/p m beta_uni of it."},
    {"bcast/circulant_pipelined", "(n-1+q)(alpha + m beta/n)", traff_bcast, "n-1+q", "0", "(n-1+q)/n", "0", "0",
     "The number of rounds is right; in some of the first 2q no rank both sends and receives."},
    {"bcast/pipeline", "(n+p-2)(alpha + m beta/n)", "folklore", "n+p-2", "0", "(n+p-2)/n", "0", "0",
     "The first and the last message travel alone."},
    {"barrier/dissemination", "ceil(lg p) alpha", "Hensgen, Finkel, Manber 1988", "q", "0", "0", "0", "0", ""},
    {"alltoall/bruck", "lg p alpha + m/2 lg p beta", thakur, "log2 p", "0", "1/2 log2 p", "0", "0",
     "Else it takes q rounds, and the last one carries less than half of the blocks."},
    {"alltoall/pairwise", "(p-1) alpha + m beta", thakur, "p-1", "0", "1", "0", "0",
     "The own block does not travel: (p-1)/p m."},
});

OperatorTraits any_operator() { return {.commutative = true, .idempotent = true}; }

/// Parameters of the tables.
Params params_of(const Algorithm& algorithm) {
  return algorithm.param("segments") != nullptr ? Params{{"segments", shown_segments}} : Params{};
}

struct CountedRow {
  std::string_view name;
  std::vector<std::int64_t> values;
  bool always = false;
};

std::string table_of(const Algorithm& algorithm, Collective collective) {
  std::vector<CountedRow> rows{{"rounds", {}, true}, {"one-way rounds", {}}, {"blocks", {}, true},
                               {"volume", {}},       {"one-way volume", {}}, {"combined", {}},
                               {"sent", {}},         {"reduced", {}},        {"levels", {}}};
  std::string head = "| p |";
  std::string line = "|---|";
  for (const Rank p : shown_sizes) {
    if (!unmet_need(algorithm, p, any_operator()).empty()) continue;
    head += fmt::format(" {} |", p);
    line += "--:|";
    const Verdict verdict = verify_algorithm(algorithm, collective, {.size = p, .params = params_of(algorithm)});
    if (verdict.refutation) throw std::runtime_error(verdict.refutation->to_string());
    const Cost& cost = verdict.counted;
    const CriticalPath& path = verdict.path;
    const std::array values{cost.rounds,   path.one_way, path.blocks,  path.volume, path.one_way_volume,
                            path.combined, cost.sent,    cost.reduced, path.levels};
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].values.push_back(values[i]);
  }
  std::string table = head + "\n" + line + "\n";
  for (const CountedRow& row : rows) {
    if (!row.always && std::ranges::all_of(row.values, [](std::int64_t v) { return v == 0; })) continue;
    table += fmt::format("| {} | {} |\n", row.name, fmt::join(row.values, " | "));
  }
  return table;
}

/// The values of p and the letters that follow from it.
formula::Names names_for(Rank size) {
  const auto p = static_cast<double>(size);
  const double power = std::exp2(std::floor(std::log2(p)));
  return {{"p", p},         {"q", std::ceil(std::log2(p))}, {"L", std::log2(power)}, {"P", power},
          {"r", p - power}, {"n", shown_segments}};
}

/// True if a printed formula has the terms that the algorithm has, for a vector of one byte.
bool holds(const PrintedFormula& printed, const Selection& selection, Rank p) {
  constexpr Count vector_bytes = Count{1} << 40;
  const Terms terms = terms_of(selection, p, vector_bytes);
  const formula::Names names = names_for(p);
  const auto same = [&](std::string_view text, double actual) {
    return std::abs(formula::evaluate(text, names) - actual) < 1e-9;
  };
  const auto m = static_cast<double>(vector_bytes);
  return same(printed.alpha, terms.alpha) && same(printed.alpha_uni, terms.alpha_uni) &&
         same(printed.bytes, terms.bytes / m) && same(printed.bytes_uni, terms.bytes_uni / m) &&
         same(printed.combined, terms.combined / m);
}

/// For which p = 2 .. 64 a printed formula holds, in words.
std::string agreement(const PrintedFormula& printed) {
  Selection selection = parse_selection(printed.id);
  // A formula without n is about unsegmented messages.
  const std::int64_t n = printed.alpha.find('n') == std::string_view::npos ? 1 : shown_segments;
  if (!params_of(*selection.algorithm).empty()) selection.params = {{"segments", n}};
  std::vector<Rank> right;
  bool powers = true;
  int tried = 0;
  for (Rank p = 2; p <= 64; ++p) {
    if (!unmet_need(*selection.algorithm, p, any_operator()).empty()) continue;
    ++tried;
    const bool power = (p & (p - 1)) == 0;
    const bool now = holds(printed, selection, p);
    if (now) right.push_back(p);
    powers = powers && now == power;
  }
  if (right.empty()) return "holds for no p";
  if (static_cast<int>(right.size()) == tried) return "holds for all p";
  if (powers) return "holds for powers of two";
  return fmt::format("holds for p = {}", fmt::join(right, ", "));
}

std::string section(const Algorithm& algorithm) {
  const Collective collective = algorithm.collectives.front();
  std::string text = fmt::format("\n### {}\n\n", algorithm.id(collective));
  std::string summary(algorithm.summary);
  summary[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(summary[0])));
  text += summary + ".";
  if (const auto needs = needs_in_words(algorithm, true); !needs.empty())
    text += fmt::format(" Needs {}.", fmt::join(needs, ", "));
  if (algorithm.collectives.size() > 1) {
    std::vector<std::string_view> others;
    for (std::size_t i = 1; i < algorithm.collectives.size(); ++i)
      others.push_back(to_string(algorithm.collectives[i]));
    text += fmt::format(" Serves {} too.", fmt::join(others, ", "));
  }
  text += fmt::format("\n\n```\n{}\n```\n\n", time_formula(algorithm, collective));
  text += table_of(algorithm, collective);
  bool first = true;
  for (const PrintedFormula& printed : formulas) {
    if (parse_selection(printed.id).algorithm != &algorithm) continue;
    if (first) text += "\n";
    first = false;
    text += fmt::format("- Printed: `{}` ({}); {}.", printed.printed, printed.where, agreement(printed));
    if (!printed.remark.empty()) text += fmt::format(" {}", printed.remark);
    text += "\n";
  }
  return text;
}

}  // namespace

std::string cost_page() {
  std::string page(costs_introduction);
  for (const Collective collective : all_collectives) {
    std::string sections;
    for (const Algorithm* a : algorithms_of(collective)) {
      if (a->collectives.front() == collective) sections += section(*a);
    }
    if (!sections.empty()) page += fmt::format("\n## {}\n{}", to_string(collective), sections);
  }
  return page;
}

}  // namespace circoll::cli
