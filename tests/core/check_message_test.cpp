// Messages of CIRCOLL_MATCH about calls that do not match.
#include "interpose/check_message.hpp"

#include <gtest/gtest.h>

namespace circoll::interpose {
namespace {

const DescribedComm world{.name = "MPI_COMM_WORLD", .world_ranks = {0, 1, 2, 3}};

DescribedCall bcast(const char* bytes, const char* caller, std::uint64_t hash) {
  return {.call = std::string("MPI_Bcast of ") + bytes + ", root 0", .caller = caller, .hash = hash};
}

TEST(CheckMessage, RanksThatCallAlikeMakeOneLine) {
  const DescribedCall most = bcast("400 bytes", "main+0x1f (./program+0x1139)", 1);
  const std::vector<DescribedCall> calls{most, bcast("200 bytes", "solve+0x80 (./program+0x1200)", 2), most, most};
  EXPECT_EQ(
      mismatch_text(world, 7, calls),
      "circoll: CIRCOLL_MATCH: the 4 ranks of MPI_COMM_WORLD do not make the same collective call (call 7 on it):\n"
      "  ranks 0, 2-3: MPI_Bcast of 400 bytes, root 0, called from main+0x1f (./program+0x1139)\n"
      "  rank 1: MPI_Bcast of 200 bytes, root 0, called from solve+0x80 (./program+0x1200)\n");
}

TEST(CheckMessage, RanksThatSayTheSameOfDifferentCallsAreKeptApart) {
  const std::vector<DescribedCall> calls{bcast("4 bytes", "main", 1), bcast("4 bytes", "main", 2)};
  const std::string text = mismatch_text(world, 1, calls);
  EXPECT_NE(text.find("  rank 0: "), std::string::npos);
  EXPECT_NE(text.find("  rank 1: "), std::string::npos);
}

TEST(CheckMessage, PairsOfRanksAreNamed) {
  std::vector<DescribedCall> calls(3, {.call = "MPI_Alltoallv", .caller = "main", .hash = 5});
  for (Rank i = 0; i < 3; ++i) {
    for (Rank j = 0; j < 3; ++j) {
      calls[static_cast<std::size_t>(i)].sends.push_back({j, 8});
      calls[static_cast<std::size_t>(i)].expects.push_back({j, 8});
    }
  }
  calls[1].sends[2].bytes = 16;
  calls[0].sends[0].bytes = 1;
  EXPECT_EQ(mismatch_text(world, 2, calls),
            "circoll: CIRCOLL_MATCH: the 3 ranks of MPI_COMM_WORLD do not agree on amounts (call 2 on it):\n"
            "  ranks 0-2: MPI_Alltoallv, called from main\n"
            "  rank 0 sends itself 1 byte and expects 8\n"
            "  rank 1 sends 16 bytes to rank 2, which expects 8\n");
}

TEST(CheckMessage, EdgesBetweenTwoRanksAreToldApart) {
  std::vector<DescribedCall> calls(2, {.call = "MPI_Neighbor_alltoallv", .caller = "main", .hash = 5});
  calls[0].sends = {{.peer = 1, .bytes = 4}, {.peer = 1, .bytes = 8, .edge = 1}, {.peer = 1, .bytes = 12, .edge = 2}};
  calls[1].expects = {{.peer = 0, .bytes = 4}, {.peer = 0, .bytes = 8, .edge = 1}, {.peer = 0, .bytes = 9, .edge = 2}};
  calls[1].sends = {{.peer = 1, .bytes = 1}, {.peer = 1, .bytes = 2, .edge = 1}};
  calls[1].expects.insert(calls[1].expects.end(), {{.peer = 1, .bytes = 1}, {.peer = 1, .bytes = 3, .edge = 1}});
  EXPECT_EQ(mismatch_text(world, 2, calls),
            "circoll: CIRCOLL_MATCH: the 2 ranks of MPI_COMM_WORLD do not agree on amounts (call 2 on it):\n"
            "  ranks 0-1: MPI_Neighbor_alltoallv, called from main\n"
            "  rank 0 sends 12 bytes to rank 1, which expects 9, by edge 3 between them\n"
            "  rank 1 sends itself 2 bytes and expects 3, by edge 2 between them\n");
}

TEST(CheckMessage, ThousandsOfPairsAreCounted) {
  constexpr Rank p = 50;
  std::vector<DescribedCall> calls(p, {.call = "MPI_Alltoallv", .caller = "main", .hash = 5});
  for (DescribedCall& call : calls) {
    for (Rank j = 0; j < p; ++j) call.sends.push_back({j, 8});
  }
  const std::string text = mismatch_text(world, 2, calls);
  EXPECT_NE(text.find("of 2500 pairs of ranks"), std::string::npos);
  EXPECT_LT(text.size(), 2000U);
}

TEST(CheckMessage, CommunicatorsAreNamedAsPeopleKnowThem) {
  EXPECT_EQ(comm_text(world), "MPI_COMM_WORLD");
  EXPECT_EQ(comm_text({.name = "rows", .world_ranks = {2, 3, 7}}),
            "a communicator (\"rows\", ranks 2-3, 7 of MPI_COMM_WORLD)");
  EXPECT_EQ(comm_text({.name = "", .world_ranks = {1, 0}}), "a communicator (ranks 1, 0 of MPI_COMM_WORLD)");
}

TEST(CheckMessage, WaitingSaysForWhat) {
  EXPECT_EQ(
      waiting_text(world, 3, 1, 10, bcast("4 bytes", "main", 1)),
      "circoll: CIRCOLL_MATCH: rank 1 of MPI_COMM_WORLD has waited for 10 s for the other ranks to make call 3 on it: "
      "MPI_Bcast of 4 bytes, root 0, called from main\n");
}

TEST(CheckMessage, CallsTravelAsBytes) {
  const DescribedCall call{
      .call = "MPI_Scatterv, root 1", .caller = "main", .hash = 77, .sends = {{0, 4}, {2, 9, 5}}, .expects = {{1, 3}}};
  const std::string bytes = call.serialised();
  const DescribedCall read = DescribedCall::from(bytes);
  EXPECT_EQ(read.call, call.call);
  EXPECT_EQ(read.caller, call.caller);
  EXPECT_EQ(read.hash, call.hash);
  ASSERT_EQ(read.sends.size(), 2U);
  EXPECT_EQ(read.sends[1].peer, 2);
  EXPECT_EQ(read.sends[1].bytes, 9);
  EXPECT_EQ(read.sends[1].edge, 5);
  ASSERT_EQ(read.expects.size(), 1U);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    (void)DescribedCall::from(std::string_view(bytes).substr(0, length));  // reads nothing beyond the end
  }
}

}  // namespace
}  // namespace circoll::interpose
