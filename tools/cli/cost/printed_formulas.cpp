#include "cost/printed_formulas.hpp"

#include <array>

namespace circoll::cli {
namespace {

constexpr std::string_view thakur = "Thakur, Rabenseifner, Gropp 2005";
constexpr std::string_view after_thakur = "after Thakur, Rabenseifner, Gropp 2005";
constexpr std::string_view rabenseifner = "after Rabenseifner 2004";
constexpr std::string_view traff_uniform = "Traff et al., Uniform Algorithms";
constexpr std::string_view traff_optimal = "Traff, arXiv 2410.14234";
constexpr std::string_view traff_bcast = "Traff, arXiv 2407.18004";

constexpr std::string_view one_way_tree =
    "The counts are right, but in no round does a rank both send and receive: the prices are alpha_uni and beta_uni.";

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

}  // namespace

std::span<const PrintedFormula> printed_formulas() { return formulas; }

}  // namespace circoll::cli
