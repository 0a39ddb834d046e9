// The judgement about a hanging job, from records that the tests make up.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "record/diagnosis.hpp"

namespace circoll::record {
namespace {

constexpr std::uint64_t rows = 1234, columns = 5678;

/// A job whose ranks are outside of calls and alive.
struct Job {
  explicit Job(int size) {
    seen.size = size;
    seen.now_ns = seen.since_ns = 20'000'000'000;
    for (int rank = 0; rank < size; ++rank) {
      SeenRank one;
      one.record.rank = rank;
      one.record.size = size;
      one.record.pid = 1000 + rank;
      one.state = ProcessState::running;
      seen.ranks.push_back(one);
    }
  }

  SeenRank& rank(int number) { return seen.ranks.at(static_cast<std::size_t>(number)); }

  /// The rank makes a call of a communicator, which ends at once or not at all.
  ReadCall& call(int number, Collective collective, bool ends, std::uint64_t comm = world_id) {
    ReadRecord& record = rank(number).record;
    ReadCall call;
    call.sequence = ++record.begun;
    call.comm = comm;
    call.number = ++numbers[{number, comm}];
    call.collective = collective;
    call.begin_ns = 1'000'000'000 * static_cast<std::int64_t>(record.begun);
    call.end_ns = ends ? call.begin_ns + 1 : 0;
    record.calls.push_back(call);
    return record.calls.back();
  }
  void everybody(Collective collective, bool ends, std::uint64_t comm = world_id) {
    for (int number = 0; number < seen.size; ++number) call(number, collective, ends, comm);
  }
  void describe(std::uint64_t comm, std::vector<RankRun> members, int size) {
    for (SeenRank& one : seen.ranks) {
      ReadComm known{.id = comm, .size = size, .members = members};
      if (!known.rank_of(one.record.rank)) continue;
      known.rank = static_cast<int>(*known.rank_of(one.record.rank));
      one.record.comms.push_back(known);
    }
  }

  SeenJob seen;
  std::map<std::pair<int, std::uint64_t>, std::uint64_t> numbers;
};

using Ranks = std::vector<Rank>;

void expect(const Job& job, Reason reason, const Ranks& ranks, const std::string& words) {
  const Diagnosis verdict = judge(job.seen);
  EXPECT_EQ(to_string(verdict.reason), to_string(reason)) << verdict.sentence;
  EXPECT_EQ(verdict.ranks, ranks) << verdict.sentence;
  EXPECT_NE(verdict.sentence.find(words), std::string::npos) << verdict.sentence;
}

TEST(Hang, ARankIsMissing) {
  Job job(4);
  job.everybody(Collective::bcast, true);
  for (const int rank : {0, 1, 3}) job.call(rank, Collective::barrier, false);
  job.rank(2).burns = true;
  expect(
      job, Reason::computing, {2},
      "rank 2 has not come to MPI_Barrier (call 2 on MPI_COMM_WORLD), in which ranks 0-1, 3 wait: it is busy outside "
      "of collective calls");
  job.rank(2).burns = false;
  expect(job, Reason::absent, {2}, "it is asleep outside of collective calls");
  job.rank(2).stack = {"poll+0x1 (libc.so)", "progress+0x10 (libmpi.so)", "PMPI_Recv+0x20 (libmpi.so)", "main+0x1 (a)"};
  expect(job, Reason::point_to_point, {2}, "it is in MPI_Recv");
  job.rank(2).record.phase = Phase::finalizing;
  expect(job, Reason::finalized, {2}, "it is in MPI_Finalize, or behind it");
  job.seen.ranks.erase(job.seen.ranks.begin() + 2);
  expect(job, Reason::unknown, {2},
         "ranks 0-1, 3 wait in MPI_Barrier (call 2 on MPI_COMM_WORLD), and there is no record of rank 2 here");
}

TEST(Hang, RanksThatAreGoneOrStopped) {
  Job job(3);
  for (const int rank : {0, 1}) job.call(rank, Collective::allreduce, false);
  job.rank(2).state = ProcessState::gone;
  expect(job, Reason::killed, {2}, "the process of rank 2 is gone");
  job.rank(2).state = ProcessState::stopped;
  expect(job, Reason::stopped, {2}, "the process of rank 2 is stopped by a signal");
  // It has come, and cannot go on.
  job.call(2, Collective::allreduce, false);
  expect(job, Reason::stopped, {2}, "ranks 0-1 wait in MPI_Allreduce");
  // It had left, and is of no interest.
  job.rank(2).record.calls.back().end_ns = 5;
  expect(job, Reason::inside, {}, "no rank is missing");
}

TEST(Hang, WhereAllAreGoneTheLastCallsTell) {
  Job job(3);
  for (const int rank : {0, 2}) job.call(rank, Collective::barrier, false);
  for (SeenRank& rank : job.seen.ranks) rank.state = ProcessState::gone;
  expect(job, Reason::absent, {1}, "rank 1 has not come to MPI_Barrier");
}

TEST(Hang, CallsThatDiffer) {
  Job job(4);
  job.everybody(Collective::barrier, true);
  job.everybody(Collective::bcast, false);
  for (SeenRank& rank : job.seen.ranks) {
    rank.record.calls.back().root = 0;
    rank.record.calls.back().bytes = 400;
  }
  ReadCall& odd = job.rank(1).record.calls.back();
  odd.root = 1;
  expect(
      job, Reason::root, {1},
      "rank 1 calls MPI_Bcast of 400 bytes, root 1 where ranks 0, 2-3 call MPI_Bcast of 400 bytes, root 0 (call 2 on "
      "MPI_COMM_WORLD)");
  odd.root = 0;
  odd.bytes = 200;
  expect(job, Reason::count, {1}, "of 200 bytes");
  for (SeenRank& rank : job.seen.ranks) rank.record.calls.back().type = Type::int32;
  odd.type = Type::float64;
  expect(job, Reason::type, {1}, "as float64");
  odd.type = Type::byte;
  expect(job, Reason::count, {1}, "as byte");
  odd.collective = Collective::gather;
  expect(job, Reason::collective, {1}, "MPI_Gather");
  odd.collective = Collective::bcast;
  odd.bytes = 400;
  odd.mode = CallMode::nonblocking;
  expect(job, Reason::collective, {1}, "MPI_Ibcast");
}

TEST(Hang, OperatorsAndTypesOfReductions) {
  Job job(3);
  job.everybody(Collective::allreduce, false);
  for (SeenRank& rank : job.seen.ranks) {
    ReadCall& call = rank.record.calls.back();
    call.bytes = 8;
    call.op = Op::sum;
    call.type = Type::float64;
  }
  ReadCall& odd = job.rank(2).record.calls.back();
  odd.op = Op::max;
  expect(job, Reason::op, {2}, "MPI_MAX");
  odd.op.reset();  // a user's operator may be anything
  expect(job, Reason::inside, {}, "no rank is missing");
  odd.type = Type::int64;
  expect(job, Reason::type, {2}, "int64");
}

TEST(Hang, ADifferenceInACallThatEndedExplainsAHangBehindIt) {
  Job job(3);
  job.everybody(Collective::bcast, true);
  for (SeenRank& rank : job.seen.ranks) rank.record.calls.back().root = 0;
  job.rank(2).record.calls.back().root = 1;
  for (const int rank : {0, 1}) job.call(rank, Collective::barrier, false);
  expect(job, Reason::root, {2}, "call 1 on MPI_COMM_WORLD");
}

TEST(Hang, NoMajorityNamesBothSides) {
  Job job(2);
  job.everybody(Collective::bcast, false);
  job.rank(1).record.calls.back().collective = Collective::barrier;
  expect(job, Reason::collective, {0, 1}, "rank");
}

TEST(Hang, CommunicatorsInDifferentOrders) {
  Job job(4);
  job.describe(rows, {{.first = 0, .stride = 1, .count = 4}}, 4);
  job.describe(columns, {{.first = 0, .stride = 1, .count = 4}}, 4);
  for (const int rank : {0, 1, 3}) job.call(rank, Collective::barrier, false, rows);
  job.call(2, Collective::barrier, false, columns);
  expect(job, Reason::communicator, {2}, "the ranks call on communicators in different orders: rank 2 waits in");
}

TEST(Hang, WaitingRanksAreFollowedToTheOneThatWaitsForNobody) {
  Job job(4);
  job.describe(rows, {{.first = 0, .stride = 2, .count = 2}}, 2);
  // Ranks 1 and 3 wait for rank 0, which waits for rank 2 on another communicator.
  for (const int rank : {1, 3}) job.call(rank, Collective::barrier, false);
  job.call(0, Collective::allreduce, false, rows);
  job.rank(2).burns = true;
  expect(job, Reason::computing, {2}, "rank 2 has not come to");
}

TEST(Hang, RanksOutsideOfACommunicatorAreNotMissed) {
  Job job(4);
  job.describe(rows, {{.first = 0, .stride = 1, .count = 2}}, 2);
  job.call(0, Collective::barrier, false, rows);
  expect(job, Reason::absent, {1}, "rank 1 has not come");
}

TEST(Hang, ARankThatComputesOutweighsOneThatReceives) {
  Job job(3);
  job.call(0, Collective::barrier, false);
  job.rank(1).stack = {"MPI_Recv+0x1 (libmpi.so)"};
  job.rank(2).burns = true;
  job.rank(2).stack = {"spin+0x1 (a)"};
  expect(job, Reason::computing, {2}, "computing outside of MPI, in spin");
  EXPECT_EQ(judge(job.seen).more, std::vector<std::string>{"rank 1: it is in MPI_Recv"});
}

TEST(Hang, ARankInAReceiveMayWaitForOneThatIsStopped) {
  Job job(3);
  job.describe(rows, {{.first = 0, .stride = 1, .count = 2}}, 2);
  job.call(0, Collective::barrier, false, rows);
  job.rank(1).stack = {"MPI_Recv+0x1 (libmpi.so)"};
  job.rank(2).state = ProcessState::stopped;
  expect(job, Reason::stopped, {2}, "rank 2 is stopped");
}

TEST(Hang, AnOperationThatSomebodyHasNotBegun) {
  Job job(3);
  for (const int rank : {0, 1}) {
    job.call(rank, Collective::allreduce, false).mode = CallMode::nonblocking;
    job.rank(rank).stack = {"MPI_Wait+0x1 (libmpi.so)"};
  }
  expect(job, Reason::absent, {2}, "rank 2 has not come to MPI_Iallreduce");
  // All have begun it: it may be over.
  job.call(2, Collective::allreduce, false).mode = CallMode::nonblocking;
  job.rank(2).stack = {"MPI_Wait+0x1 (libmpi.so)"};
  expect(job, Reason::none, {}, "no rank waits");
}

TEST(Hang, ARefusedCallIsNotComparedOnceItIsMadeAnew) {
  Job job(3);
  job.call(0, Collective::bcast, true).root = 99;
  job.rank(0).record.calls.back().failed = true;
  --job.numbers[{0, world_id}];
  for (int number = 0; number < 3; ++number) job.call(number, Collective::bcast, true).root = 1;
  job.call(1, Collective::barrier, false);
  job.call(2, Collective::barrier, false);
  job.rank(0).burns = true;
  expect(job, Reason::computing, {0}, "rank 0 has not come to");
}

TEST(Hang, ClocksOfOtherNodesAreNotCompared) {
  Job job(2);
  job.call(0, Collective::barrier, false).begin_ns = job.seen.since_ns + 1;  // of a node that has run for longer
  job.rank(0).elsewhere = true;
  expect(job, Reason::absent, {1}, "rank 1");
  EXPECT_EQ(text_of(job.seen, judge(job.seen)).find(", for "), std::string::npos);
}

TEST(Hang, CallsThatBeganAfterTheFirstLookGoOn) {
  Job job(2);
  job.call(0, Collective::barrier, false).begin_ns = job.seen.since_ns + 1;
  expect(job, Reason::none, {}, "no rank waits in a collective call");
  job.rank(0).record.calls.back().begin_ns = job.seen.since_ns;
  expect(job, Reason::absent, {1}, "rank 1");
}

TEST(Hang, ARankThatMadeTheCallLongAgoIsNotMissing) {
  Job job(2);
  job.call(0, Collective::barrier, false, rows);
  job.describe(rows, {{.first = 0, .stride = 1, .count = 2}}, 2);
  job.rank(1).record.begun = 10 * ring_calls;  // its ring has no call on this communicator any more
  job.rank(1).record.comms.front().calls = 1;
  expect(job, Reason::inside, {}, "no rank is missing");
}

TEST(Hang, ARankThatCallsElsewhereForLongIsMissing) {
  Job job(2);
  job.everybody(Collective::barrier, true, rows);
  job.call(0, Collective::barrier, false, rows);
  job.describe(rows, {{.first = 0, .stride = 1, .count = 2}}, 2);
  // Its ring has calls on a communicator of its own only. Of this one it has made the first call, and not the second.
  ReadRecord& record = job.rank(1).record;
  record.comms.front().calls = 1;
  record.calls.clear();
  record.begun = 10 * ring_calls;
  job.rank(1).burns = true;
  expect(job, Reason::computing, {1}, "rank 1 has not come to");
  job.rank(1).state = ProcessState::gone;
  expect(job, Reason::killed, {1}, "the process of rank 1 is gone");
}

TEST(Hang, NothingHangsWhereNobodyWaits) {
  Job job(2);
  job.everybody(Collective::barrier, true);
  expect(job, Reason::none, {}, "no rank waits in a collective call");
  job.rank(1).state = ProcessState::gone;
  expect(job, Reason::killed, {1}, "the process of rank 1 is gone");
  expect(Job(0), Reason::none, {}, "there is no record of any rank");
}

TEST(Hang, TheTextHasTheVerdictFirst) {
  Job job(2);
  job.call(0, Collective::barrier, false);
  job.rank(1).stack = {"spin+0x1 (a)"};
  job.rank(1).burns = true;
  job.rank(0).record.wait = ReadWait{.call = 1, .peers = 1, .message = 1, .ranks = {1}};
  const std::string text = text_of(job.seen, judge(job.seen));
  EXPECT_TRUE(text.starts_with("rank 1 has not come to MPI_Barrier")) << text;
  EXPECT_NE(text.find("  rank 0    pid 1000    idle    MPI_Barrier"), std::string::npos) << text;
  EXPECT_NE(text.find("for 19.0 s\n    waits for message 1 of rank 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("last calls of rank 1: none"), std::string::npos) << text;
  EXPECT_NE(text.find("stack of rank 1:\n  spin+0x1 (a)"), std::string::npos) << text;
}

TEST(Hang, CallsOnUnknownCommunicatorsAreNotCompared) {
  Job job(3);
  for (int rank = 0; rank < 3; ++rank) {
    ReadCall& call = job.call(rank, rank == 1 ? Collective::barrier : Collective::bcast, rank != 2, unknown_comm);
    call.number = 0;
  }
  expect(job, Reason::none, {}, "no rank waits");
  for (const int rank : {0, 1}) job.call(rank, Collective::barrier, false);
  job.rank(2).stack = {"MPI_Bcast+0x1 (libmpi.so)"};
  expect(job, Reason::point_to_point, {2}, "it is in MPI_Bcast");
  EXPECT_NE(text_of(job.seen, judge(job.seen)).find("MPI_Bcast, on a communicator that was not known"),
            std::string::npos);
}

TEST(Hang, ManyRanksAreShownInPart) {
  Job job(1000);
  for (int rank = 0; rank < 999; ++rank) job.call(rank, Collective::barrier, false);
  const Diagnosis verdict = judge(job.seen);
  EXPECT_EQ(verdict.ranks, Ranks{999});
  const std::string some = text_of(job.seen, verdict), all = text_of(job.seen, verdict, true);
  EXPECT_NE(some.find("\n  rank 999 "), std::string::npos);
  EXPECT_EQ(some.find("\n  rank 500 "), std::string::npos);
  EXPECT_NE(some.find("\n  and 967 more ranks (--wide)\n"), std::string::npos) << some;
  EXPECT_NE(all.find("\n  rank 500 "), std::string::npos);
}

TEST(Hang, ManyNativeOperationsAreJudgedAtOnce) {
  Job job(300);
  for (int i = 0; i < 250; ++i) {
    job.everybody(Collective::allreduce, false);
    for (SeenRank& rank : job.seen.ranks) rank.record.calls.back().mode = CallMode::nonblocking;
  }
  expect(job, Reason::none, {}, "no rank waits");
}

TEST(Hang, FortransNamesAreFunctionsOfMpi) {
  SeenRank rank;
  rank.stack = {"poll+0x1", "mpi_recv_+0x10 (libmpi_mpifh.so)", "MAIN__+0x1"};
  EXPECT_EQ(rank.mpi_function(), "MPI_Recv");
  rank.stack = {"MPI_Test+0x1", "MPI_Wait+0x10 (libmpi.so)", "main+0x1"};
  EXPECT_EQ(rank.mpi_function(), "MPI_Wait");
  rank.stack = {"main+0x1"};
  EXPECT_EQ(rank.mpi_function(), "");
}

}  // namespace
}  // namespace circoll::record
