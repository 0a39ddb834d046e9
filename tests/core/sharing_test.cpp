// The price of messages that share a port between hosts, and what the model chooses by it.
#include "model/sharing.hpp"

#include <gtest/gtest.h>

#include <string>

#include "circoll/select.hpp"
#include "model/traffic.hpp"

namespace circoll {
namespace {

constexpr Count m = 1 << 20;
const Machine network{
    .alpha_s = 50e-6, .beta_s_per_byte = 80e-9, .gamma_s_per_byte = 0.1e-9, .f_alpha = 1, .f_beta = 1};

/// Bytes that follow one another, in parts of `blocks`.
double parts(const std::string& id, Rank p, double blocks) {
  return terms_between_hosts(parse_selection(id), p, m).bytes_uni / m * blocks;
}

Decision decision_for(Collective collective, Rank p, Count bytes, Rank cores = 1) {
  PolicyOptions options;
  options.machine = network;
  return make_policy("model", options)->decide({.collective = collective, .p = p, .bytes = bytes, .cores = cores});
}

TEST(Sharing, ALevelOfATreeTakesTheTimeOfAllItsMessages) {
  EXPECT_DOUBLE_EQ(parts("scatter/binomial", 8, 8), 7 + 3 + 1);
  EXPECT_DOUBLE_EQ(parts("scatter/circulant", 8, 8), 7 + 3 + 1);
  EXPECT_DOUBLE_EQ(parts("scatter/binomial", 4, 4), 3 + 1);
}

TEST(Sharing, WithAWindowTheyFollowOneAnother) {
  EXPECT_DOUBLE_EQ(parts("scatter/binomial:window=1", 8, 8), 7);
  EXPECT_DOUBLE_EQ(terms_between_hosts(parse_selection("scatter/binomial:window=1"), 8, m).alpha_uni, 6);
}

TEST(Sharing, NothingElseChanges) {
  for (const char* id : {"scatter/linear", "bcast/binomial", "bcast/circulant_pipelined:segments=8", "gather/binomial",
                         "reduce/binomial", "allgather/ring", "alltoall/linear"}) {
    const Selection selection = parse_selection(id);
    const Terms plain = terms_of(selection, 13, m);
    const Terms shared = terms_between_hosts(selection, 13, m);
    EXPECT_DOUBLE_EQ(shared.bytes_uni, plain.bytes_uni) << id;
    EXPECT_DOUBLE_EQ(shared.bytes, plain.bytes) << id;
    EXPECT_EQ(between_hosts(selection, 13, m, network).selection.text(), selection.text());
  }
}

TEST(Sharing, OnNodesTheirPortsAreShared) {
  // The first two of four rounds leave the root's node, with 8 blocks and 4. The 4 are sent once more, by the node that
  // got the 8.
  EXPECT_DOUBLE_EQ(traffic_of(parse_selection("scatter/binomial"), 16, 4).shared, 4);
  EXPECT_DOUBLE_EQ(traffic_of(parse_selection("scatter/binomial:window=1"), 16, 4).shared, 0);
  EXPECT_DOUBLE_EQ(traffic_of(parse_selection("gather/binomial"), 16, 4).shared, 0);
}

TEST(Sharing, LongBlocksGoStraight) {
  // All of them pass the root's port in any case, and a tree sends some of them twice.
  EXPECT_EQ(decision_for(Collective::scatter, 8, 8 * (128 << 10)).selection->text(), "linear");
  EXPECT_EQ(decision_for(Collective::scatter, 8, 8 * 100).selection->text(), "circulant");
}

TEST(Sharing, OneNodeHasThePricesOfBefore) {
  for (const Count bytes : {Count{8}, Count{1} << 14, Count{1} << 22}) {
    const Decision decision = decision_for(Collective::scatter, 8, bytes, 8);
    ASSERT_FALSE(decision.candidates.empty());
    for (const Candidate& one : decision.candidates)
      EXPECT_EQ(one.seconds, seconds(terms_of(one.selection, 8, bytes), machines_inside(network)))
          << one.selection.id();
  }
}

}  // namespace
}  // namespace circoll
