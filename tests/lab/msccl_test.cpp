// Algorithms of MSCCL: schedules written as XML and read back, programs from elsewhere, and wrong ones.
#include "msccl/msccl.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "circoll/verify.hpp"
#include "exec/local/job.hpp"
#include "oracle/oracle.hpp"

namespace circoll {
namespace {

/// The proof of schedules that were read, with their claims.
Verdict proof_of(const MscclSchedules& read, const Needs& needs = {.commutative = true},
                 const Guarantees& guarantees = {}) {
  Verdict verdict = verify_schedules(read.ranks, {.needs = needs, .guarantees = guarantees});
  if (read.race) verdict.refutation = read.race;  // even if one order gives the right result
  return verdict;
}

std::string why(const Verdict& verdict) { return verdict.proven() ? "proven" : verdict.refutation->to_string(); }

/// The error that a text is refused with.
std::string refusal(const std::string& xml, ErrorCode code) {
  try {
    (void)schedules_from_msccl(xml);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "read";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

// Programs, as other tools write them.

std::string algo(int gpus, int chunks, std::string_view coll, bool in_place, const std::string& inside) {
  return fmt::format(
      "<algo name=\"test\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"{}\" ngpus=\"{}\" coll=\"{}\" "
      "inplace=\"{}\" redop=\"sum\">\n{}</algo>\n",
      chunks, gpus, coll, in_place ? 1 : 0, inside);
}

std::string gpu(int id, int input, int output, int scratch, const std::string& inside) {
  return fmt::format("<gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n{}</gpu>\n", id, input, output,
                     scratch, inside);
}

/// Threadblocks of a gpu, step by step, a line each.
class Threadblocks {
 public:
  Threadblocks& tb(int send, int recv) {
    if (count_ > 0) text_ += "</tb>\n";
    text_ += fmt::format("<tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"0\">\n", count_++, send, recv);
    step_ = 0;
    return *this;
  }
  Threadblocks& step(std::string_view type, char src, int srcoff, char dst, int dstoff, int count = 1, int depid = -1,
                     int deps = -1, bool hasdep = false) {
    text_ += fmt::format(
        "<step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{}\" depid=\"{}\" "
        "deps=\"{}\" hasdep=\"{}\"/>\n",
        step_++, type, src, srcoff, dst, dstoff, count, depid, deps, hasdep ? 1 : 0);
    return *this;
  }
  [[nodiscard]] std::string text() const { return count_ > 0 ? text_ + "</tb>\n" : text_; }

 private:
  std::string text_;
  int count_ = 0;
  int step_ = 0;
};

/// A ring that reduces and passes on as messages arrive, in place: one threadblock on each gpu.
std::string ring(int p, const std::function<void(int gpu, int step, std::string& type, int& chunk)>& change = {}) {
  std::string gpus;
  for (int g = 0; g < p; ++g) {
    Threadblocks all;
    all.tb((g + 1) % p, (g + p - 1) % p);
    for (int k = 0; k < 2 * p - 1; ++k) {
      std::string type = k == 0 ? "s" : k < p - 1 ? "rrs" : k == p - 1 ? "rrcs" : k < 2 * p - 2 ? "rcs" : "r";
      int chunk = ((g - k) % p + p) % p;
      if (change) change(g, k, type, chunk);
      all.step(type, 'i', chunk, 'i', chunk);
    }
    gpus += gpu(g, p, p, 0, all.text());
  }
  return algo(p, p, "allreduce", true, gpus);
}

/// Every rank sends its parts to all. Parts meet in scratch memory, are reduced there, and the result goes to all.
std::string all_pairs(int p, bool with_dependences) {
  std::string gpus;
  for (int g = 0; g < p; ++g) {
    Threadblocks all;
    for (int peer = 0, t = 0; peer < p; ++peer) {
      if (peer == g) continue;
      all.tb(peer, peer);
      all.step("s", 'i', peer, 's', g);
      all.step("r", 'i', g, 's', peer, 1, -1, -1, true);
      // The result of the last threadblock's reductions.
      const int reducer = p - 2;
      if (t == reducer) {
        for (int other = 0, u = 0; other < p; ++other) {
          if (other == g) continue;
          const bool waits = u != t && with_dependences;
          all.step("re", 's', other, 'i', g, 1, waits ? u : -1, waits ? 1 : -1, u == p - 2);
          ++u;
        }
      }
      const bool waits = t != reducer && with_dependences;
      all.step("s", 'i', g, 'i', g, 1, waits ? reducer : -1, waits ? 2 + reducer : -1);
      all.step("r", 'i', peer, 'i', peer);
      ++t;
    }
    gpus += gpu(g, p, p, p, all.text());
  }
  return algo(p, p, "allreduce", true, gpus);
}

TEST(Msccl, RoundTripsEveryAlgorithm) {
  int seen = 0;
  std::map<std::string, std::int64_t> more;  // rounds than the original
  for (const Collective collective :
       {Collective::allreduce, Collective::allgather, Collective::reduce_scatter_block, Collective::alltoall}) {
    for (const Algorithm* algorithm : algorithms_of(collective)) {
      for (Rank p = 2; p <= 9; ++p) {
        if (!unmet_need(*algorithm, p, {true, true}).empty()) continue;
        for (const bool in_place : {false, true}) {
          const Shape shape{.size = p, .in_place = in_place};
          if (in_place && !has_in_place_schedule(collective, shape)) continue;
          const std::vector<Schedule> ranks = build_all_ranks(*algorithm, collective, shape);
          const std::string what =
              fmt::format("{}/{} p = {}{}", to_string(collective), algorithm->name, p, in_place ? " in place" : "");
          Claims claims{.needs = algorithm->needs, .guarantees = {.same_bits = algorithm->guarantees.same_bits}};
          claims.needs.commutative = true;  // as MSCCL's operators do
          const Verdict original = verify_schedules(ranks, claims);
          ASSERT_TRUE(original.proven()) << what << why(original);
          const MscclSchedules read = schedules_from_msccl(to_msccl(ranks));
          const Verdict verdict = proof_of(read, claims.needs, claims.guarantees);
          ASSERT_TRUE(verdict.proven()) << what << ": " << why(verdict);
          // The same messages, and the same work but for copies.
          EXPECT_LE(verdict.messages, original.messages) << what;
          EXPECT_EQ(verdict.counted.sent, original.counted.sent) << what;
          EXPECT_EQ(verdict.counted.received, original.counted.received) << what;
          EXPECT_EQ(verdict.counted.reduced, original.counted.reduced) << what;
          EXPECT_EQ(verdict.reductions, original.reductions) << what;
          // A greedy search finds the rounds, or a few more.
          std::int64_t& most = more[fmt::format("{}/{}", to_string(collective), algorithm->name)];
          most = std::max(most, verdict.counted.rounds - original.counted.rounds);
          EXPECT_EQ(read.ranks[0].id, ranks[0].id);
          EXPECT_EQ(read.ranks[0].shape.in_place, in_place);
          ++seen;
        }
      }
    }
  }
  std::erase_if(more, [](const auto& one) { return one.second <= 1; });
  EXPECT_EQ(more, (std::map<std::string, std::int64_t>{{"allgather/recursive_multiplying", 2},
                                                       {"allreduce/recursive_multiplying", 3}}));
  EXPECT_GT(seen, 200);
}

TEST(Msccl, ReadsARingThatReducesOnTheWay) {
  for (const int p : {2, 3, 4, 8}) {
    const MscclSchedules read = schedules_from_msccl(ring(p));
    const Verdict verdict = proof_of(read, {.commutative = true}, {.same_bits = true});
    ASSERT_TRUE(verdict.proven()) << why(verdict);
    EXPECT_EQ(verdict.counted.rounds, 2 * p - 2);
    EXPECT_EQ(verdict.counted.sent, 2 * p - 2);
    EXPECT_EQ(verdict.counted.reduced, p - 1);
    EXPECT_EQ(read.ranks[1].id, "allreduce/test");
    EXPECT_EQ(read.ranks[1].segments, p);
    EXPECT_TRUE(read.ranks[1].shape.in_place);
  }
}

TEST(Msccl, ReadsScratchMemoryAndDependences) {
  for (const int p : {2, 3, 4, 8}) {
    const Verdict verdict = proof_of(schedules_from_msccl(all_pairs(p, true)));
    ASSERT_TRUE(verdict.proven()) << why(verdict);
    EXPECT_EQ(verdict.counted.reduced, p - 1);
    EXPECT_EQ(verdict.messages, 2 * p * (p - 1));
  }
}

TEST(Msccl, RefutesWhatNothingOrders) {
  const Verdict verdict = proof_of(schedules_from_msccl(all_pairs(4, false)));
  ASSERT_FALSE(verdict.proven());
  EXPECT_EQ(verdict.refutation->claim, Claim::no_race) << why(verdict);
  EXPECT_EQ(verdict.refutation->rank, 0);
  EXPECT_TRUE(contains(verdict.refutation->what, "nothing orders it and threadblock 0, step 1 (line 5)"))
      << why(verdict);
}

TEST(Msccl, OrderByMessagesCounts) {
  // The answer of gpu 1 comes after the chunk that it answers, so that threadblock 1 may overwrite the chunk that
  // threadblock 0 has sent.
  const std::string zero =
      Threadblocks().tb(1, -1).step("s", 'i', 0, 's', 0).tb(-1, 1).step("r", 'i', 0, 'i', 0).text();
  const std::string one = Threadblocks().tb(0, 0).step("rrcs", 'i', 0, 'i', 0).text();
  const Verdict verdict =
      proof_of(schedules_from_msccl(algo(2, 1, "allreduce", true, gpu(0, 1, 1, 0, zero) + gpu(1, 1, 1, 0, one))));
  EXPECT_TRUE(verdict.proven()) << why(verdict);
}

TEST(Msccl, ExchangesWithoutWaitingForOneself) {
  // Both gpus send a chunk and combine the arriving chunk into it. The message arrives before their chunk has left.
  std::string gpus;
  for (const int g : {0, 1})
    gpus += gpu(g, 2, 2, 0,
                Threadblocks().tb(1 - g, 1 - g).step("s", 'i', 0, 'i', 0, 2).step("rrc", 'i', 0, 'i', 0, 2).text());
  const MscclSchedules read = schedules_from_msccl(algo(2, 2, "allreduce", true, gpus));
  const Verdict verdict = proof_of(read, {.commutative = true}, {.same_bits = true});
  ASSERT_TRUE(verdict.proven()) << why(verdict);
  EXPECT_EQ(verdict.counted.rounds, 1);
}

// In place the chunks of an alltoall hold one block after another, and those of a reduce-scatter partial results.
TEST(Msccl, ReadsInPlaceWhatSchedulesAreNot) {
  std::string gpus;
  for (const int g : {0, 1}) {
    gpus += gpu(g, 2, 2, 1,
                Threadblocks()
                    .tb(1 - g, 1 - g)
                    .step("s", 'i', 1 - g, 's', 0)
                    .step("r", 'i', g, 's', 0)
                    .step("cpy", 's', 0, 'o', 1 - g)
                    .text());
  }
  const Verdict exchange = proof_of(schedules_from_msccl(algo(2, 2, "alltoall", true, gpus)));
  EXPECT_TRUE(exchange.proven()) << why(exchange);

  gpus.clear();
  for (int g = 0; g < 3; ++g) {
    Threadblocks all;
    all.tb((g + 1) % 3, (g + 2) % 3);
    all.step("s", 'i', (g + 2) % 3, 'i', (g + 2) % 3);
    all.step("rrcs", 'i', (g + 1) % 3, 'i', (g + 1) % 3);
    all.step("rrc", 'i', g, 'o', 0);
    gpus += gpu(g, 3, 1, 0, all.text());
  }
  const MscclSchedules read = schedules_from_msccl(algo(3, 3, "reducescatter", true, gpus));
  const Verdict scatter = proof_of(read);
  EXPECT_TRUE(scatter.proven()) << why(scatter);
  EXPECT_FALSE(read.ranks[0].shape.in_place);
  EXPECT_EQ(read.ranks[0].collective, Collective::reduce_scatter_block);
}

TEST(Msccl, BlocksPassThroughSlotsOfTheResult) {
  // Out of place, gpu 0 keeps the chunk of gpu 1 at the place of its own chunk for a while.
  const std::string zero = Threadblocks()
                               .tb(1, 1)
                               .step("r", 'i', 0, 'o', 0)
                               .step("cpy", 'o', 0, 'o', 1)
                               .step("cpy", 'i', 0, 'o', 0)
                               .step("s", 'i', 0, 'o', 0)
                               .text();
  const std::string one =
      Threadblocks().tb(0, 0).step("s", 'i', 0, 'o', 0).step("cpy", 'i', 0, 'o', 1).step("r", 'i', 0, 'o', 0).text();
  const auto xml = [&](const std::string& first) {
    return algo(2, 2, "allgather", false, gpu(0, 1, 2, 0, first) + gpu(1, 1, 2, 0, one));
  };
  const Verdict verdict = proof_of(schedules_from_msccl(xml(zero)));
  EXPECT_TRUE(verdict.proven()) << why(verdict);
  // If the chunk stays there, the program is wrong at the step where the chunk arrives.
  std::string wrong = zero;
  wrong.erase(wrong.find("<step s=\"2\""));
  wrong +=
      "<step s=\"2\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" "
      "deps=\"-1\" hasdep=\"0\"/>\n</tb>\n";
  const MscclSchedules read = schedules_from_msccl(xml(wrong));
  const Verdict refuted = proof_of(read);
  ASSERT_FALSE(refuted.proven());
  EXPECT_EQ(refuted.refutation->claim, Claim::matching) << why(refuted);
  EXPECT_EQ(refuted.refutation->rank, 0);
  const MscclPlace& place = read.places[0][static_cast<std::size_t>(refuted.refutation->step)];
  EXPECT_EQ(place.line, 4);
  EXPECT_EQ(place.step, 0);
}

TEST(Msccl, RefutesWrongRings) {
  const auto changed = [](int at_gpu, int at_step, const std::string& new_type, int by) {
    return schedules_from_msccl(ring(4, [=](int g, int k, std::string& type, int& chunk) {
      if (g != at_gpu || k != at_step) return;
      if (!new_type.empty()) type = new_type;
      chunk = (chunk + by) % 4;
    }));
  };
  // A contribution is forgotten.
  const MscclSchedules forgotten = changed(2, 1, "rcs", 0);
  Verdict verdict = proof_of(forgotten);
  ASSERT_FALSE(verdict.proven());
  EXPECT_TRUE(verdict.refutation->claim == Claim::exactly_once || verdict.refutation->claim == Claim::result)
      << why(verdict);
  // Another chunk is combined with what arrives.
  const MscclSchedules shifted = changed(2, 2, "", 1);
  verdict = proof_of(shifted);
  ASSERT_FALSE(verdict.proven());
  ASSERT_GE(verdict.refutation->rank, 0);
  ASSERT_GE(verdict.refutation->step, 0);
  const MscclPlace& place = shifted.places[2].at(static_cast<std::size_t>(verdict.refutation->step));
  EXPECT_EQ(verdict.refutation->rank, 2) << why(verdict);
  EXPECT_EQ(place.step, 2) << why(verdict);
  EXPECT_EQ(place.line, 1 + 2 * 11 + 2 + 3);
}

// The proof notices every change of a chunk or of the kind of a step, because a ring needs each of its steps.
TEST(Msccl, RefutesEveryMutationOfARing) {
  const int p = 4;
  int refused = 0;
  for (int at_gpu = 0; at_gpu < p; ++at_gpu) {
    for (int at_step = 0; at_step < 2 * p - 1; ++at_step) {
      for (const int by : {0, 1, 2}) {
        std::string before;
        const auto change = [&](int g, int k, std::string& type, int& chunk) {
          if (g != at_gpu || k != at_step) return;
          before = type;
          if (by == 0)
            type = type == "s" ? "s" : type == "rrs" ? "rrcs" : type == "rrcs" ? "rrs" : type == "rcs" ? "rrcs" : "rrc";
          chunk = (chunk + by) % p;
        };
        const std::string xml = ring(p, change);
        // These steps have no wrong kind: the first step has no other one, and a block that is stored as well as passed
        // on is overwritten later.
        if (by == 0 && (before == "s" || before == "rrs")) continue;
        try {
          EXPECT_FALSE(proof_of(schedules_from_msccl(xml)).proven()) << at_gpu << " " << at_step << " " << by;
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::refuted) << error.what();
        }
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 60);
}

// The proof notices dependences that are left out, unless others say the same.
TEST(Msccl, MissingDependencesAreRaces) {
  const Selection selection = parse_selection("allreduce/rabenseifner");
  const std::string xml = to_msccl(build_all_ranks(*selection.algorithm, selection.collective, {.size = 6}));
  ASSERT_TRUE(proof_of(schedules_from_msccl(xml)).proven());
  int races = 0;
  int dependences = 0;
  for (std::size_t at = 0; (at = xml.find("depid=\"", at)) != xml.npos; at += 8) {
    if (xml[at + 7] == '-') continue;
    ++dependences;
    std::string without = xml;
    const std::size_t end = without.find(" hasdep", at);
    without.replace(at, end - at, "depid=\"-1\" deps=\"-1\"");
    try {
      const Verdict verdict = proof_of(schedules_from_msccl(without));
      if (verdict.proven()) continue;
      EXPECT_EQ(verdict.refutation->claim, Claim::no_race) << why(verdict);
    } catch (const Error& error) {  // in one order nothing has been written yet
      EXPECT_TRUE(contains(error.what(), "holds nothing")) << error.what();
    }
    ++races;
  }
  EXPECT_GT(dependences, 10);
  EXPECT_GT(races, dependences / 2);
}

TEST(Msccl, IsExecuted) {
  for (const std::string& xml : {ring(4), all_pairs(4, true)}) {
    const MscclSchedules read = schedules_from_msccl(xml);
    ASSERT_TRUE(proof_of(read).proven());
    local::Job job;
    job.collective = Collective::allreduce;
    job.size = 4;
    job.counts = {37};
    job.type = Type::int32;
    job.in_place = true;
    job.op = Op::sum;
    job.fill = [](Rank rank, std::span<std::byte> bytes) { oracle::fill(Type::int32, rank, bytes); };
    for (const local::Mode mode : {local::Mode::single_thread, local::Mode::threads})
      EXPECT_EQ(oracle::check(job, local::execute_schedules(job, read.ranks, mode), true), "");
  }
}

TEST(Msccl, SaysWhereATextIsWrong) {
  const std::string good = ring(2);
  ASSERT_EQ(refusal(good, ErrorCode::parse), "read");
  const auto replaced = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return text.replace(at, from.size(), to);
  };
  const auto parse_error = [&](const std::string& text, const std::string& what) {
    const std::string why = refusal(text, ErrorCode::parse);
    EXPECT_TRUE(contains(why, what)) << why;
  };
  parse_error("", "line 1: it is no XML");
  parse_error("<algo", "line 1: it is no XML");
  parse_error("<graph/>", "line 1: an algorithm of MSCCL begins with <algo>");
  parse_error(replaced("</tb>", "</td>"), "it is no XML");
  parse_error(replaced(" nchunksperloop=\"2\"", ""), "line 1: <algo> has no nchunksperloop");
  parse_error(replaced("nchunksperloop=\"2\"", "nchunksperloop=\"two\""), "nchunksperloop=\"two\" is no whole number");
  parse_error(replaced("nchunksperloop=\"2\"", "nchunksperloop=\"0\""), "is not within 1 .. 65536");
  parse_error(replaced("ngpus=\"2\"", "ngpus=\"3\""), "ngpus=\"3\", but 2 stand here");
  parse_error(replaced("ngpus=\"2\"", "ngpus=\"1\""), "is not within");
  parse_error(replaced("gpu id=\"1\"", "gpu id=\"2\""), "line 9: gpu 1 is expected here");
  parse_error(replaced("tb id=\"0\"", "tb id=\"1\""), "line 3: threadblock 0 is expected here");
  parse_error(replaced("send=\"1\"", "send=\"0\""), "line 3: gpu 0 is a peer of itself");
  parse_error(replaced("send=\"1\"", "send=\"-1\""), "line 4: a step sends");
  parse_error(replaced("recv=\"1\"", "recv=\"-1\""), "line 5: a step receives");
  parse_error(replaced("step s=\"1\"", "step s=\"2\""), "line 5: step 1 is expected here");
  parse_error(replaced("type=\"rrcs\"", "type=\"put\""), "line 5: type=\"put\" is none of");
  parse_error(replaced("srcbuf=\"i\"", "srcbuf=\"x\""), "line 4: srcbuf=\"x\" is none of i, o, s");
  parse_error(replaced("srcoff=\"0\"", "srcoff=\"2\""), "line 4: chunks 2 .. 2 of buffer i are named, which has 2");
  parse_error(replaced("cnt=\"1\"", "cnt=\"0\""), "line 4: cnt=\"0\" is not within");
  parse_error(replaced("depid=\"-1\"", "depid=\"3\""), "line 4: depid=\"3\": there is no such threadblock");
  parse_error(replaced("depid=\"-1\"", "depid=\"0\""), "line 4: a step waits for one of its own threadblock");
  parse_error(replaced("<step ", "<op "), "line 4: <op> stands where <step> is expected");
  EXPECT_TRUE(contains(refusal(replaced("allreduce", "broadcast"), ErrorCode::unsupported), "has a root"));
  EXPECT_TRUE(contains(refusal(replaced("allreduce", "custom"), ErrorCode::unsupported), "is none of allreduce"));
  EXPECT_TRUE(contains(
      refusal(algo(2, 3, "allgather", false, gpu(0, 1, 3, 0, "") + gpu(1, 1, 3, 0, "")), ErrorCode::unsupported),
      "no multiple"));
}

TEST(Msccl, SaysWhatNeverEnds) {
  const auto two = [](const Threadblocks& zero, const Threadblocks& one) {
    return algo(2, 2, "allreduce", true, gpu(0, 2, 2, 1, zero.text()) + gpu(1, 2, 2, 1, one.text()));
  };
  const auto refuted = [](const std::string& xml, const std::string& what) {
    const std::string why = refusal(xml, ErrorCode::refuted);
    EXPECT_TRUE(contains(why, what)) << why;
  };
  refuted(two(Threadblocks().tb(1, 1).step("s", 'i', 0, 'i', 0), Threadblocks()),
          "line 4: nothing at gpu 1 receives what is sent here on channel 0");
  refuted(two(Threadblocks().tb(1, 1).step("r", 'i', 0, 'i', 0), Threadblocks()),
          "line 4: it waits forever: gpu 1 sends no message");
  refuted(two(Threadblocks().tb(1, 1).step("r", 'i', 0, 'i', 0).step("s", 'i', 0, 'i', 0),
              Threadblocks().tb(0, 0).step("r", 'i', 0, 'i', 0).step("s", 'i', 0, 'i', 0)),
          "deadlock: gpu ");
  refuted(
      two(Threadblocks().tb(1, 1).step("s", 'i', 0, 'i', 0, 2), Threadblocks().tb(0, 0).step("r", 'i', 0, 'i', 0, 1)),
      "1 chunks are received, and 2 are sent for it (line 4)");
  refuted(two(Threadblocks().tb(1, 1).step("s", 's', 0, 'i', 0), Threadblocks().tb(0, 0).step("r", 'i', 0, 'i', 0)),
          "line 4: gpu 0, threadblock 0, step 0 reads a chunk of buffer s that holds nothing");
  refuted(two(Threadblocks().tb(1, -1).step("s", 'i', 0, 'i', 0).tb(-1, -1).step("cpy", 'i', 0, 'i', 1, 1, 0, 0),
              Threadblocks().tb(0, 0).step("r", 'i', 0, 'i', 0)),
          "it would wait forever: the step that it waits for has hasdep=\"0\" (line 4)");
}

TEST(Msccl, RefusesToSayWhatItCannot) {
  const auto refused = [](const char* id, const std::string& what, bool in_place = false) {
    const Selection selection = parse_selection(id);
    auto ranks = build_all_ranks(*selection.algorithm, selection.collective, {.size = 4});
    for (Schedule& s : ranks) s.shape.in_place = in_place;
    try {
      (void)to_msccl(ranks);
      ADD_FAILURE() << id;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_TRUE(contains(error.what(), what)) << error.what();
    }
  };
  refused("bcast/binomial", "no word for a root");
  refused("barrier/dissemination", "a barrier has none");
  refused("alltoallv/pairwise", "chunks are of one size");
  refused("scan/linear", "no prefix reductions");
  refused("reduce_scatter_block/ring", "no form of it in place", true);
  std::vector<Schedule> lost =
      build_all_ranks(*parse_selection("allreduce/ring").algorithm, Collective::allreduce, {.size = 3});
  lost[1].steps.clear();
  EXPECT_THROW((void)to_msccl(lost), Error);
}

TEST(Msccl, LongRowsOfChunksAreSeveralStepsAndOneMessage) {
  std::string gpus;
  for (const int g : {0, 1}) {
    Threadblocks all;
    all.tb(1 - g, -1);
    for (const int at : {0, 64, 128}) all.step("s", 'i', at, 'o', 192 * g + at, 64);
    all.tb(-1, 1 - g);
    for (const int at : {0, 64, 128}) all.step("r", 'i', at, 'o', 192 * (1 - g) + at, 64);
    all.tb(-1, -1);
    for (const int at : {0, 64, 128}) all.step("cpy", 'i', at, 'o', 192 * g + at, 64);
    gpus += gpu(g, 192, 384, 0, all.text());
  }
  const MscclSchedules read = schedules_from_msccl(algo(2, 384, "allgather", false, gpus));
  const Verdict verdict = proof_of(read);
  ASSERT_TRUE(verdict.proven()) << why(verdict);
  EXPECT_EQ(verdict.messages, 2);
  const std::string again = to_msccl(read.ranks);
  EXPECT_TRUE(contains(again, "cnt=\"64\""));
  EXPECT_FALSE(contains(again, "cnt=\"192\""));
  const Verdict second = proof_of(schedules_from_msccl(again));
  EXPECT_TRUE(second.proven()) << why(second);
  EXPECT_EQ(second.messages, 2);
}

/// An interpreter of the XML that knows nothing of schedules: threadblocks take turns at random, sends never wait.
class Interpreter {
 public:
  explicit Interpreter(const std::string& xml) {
    for (std::size_t at = 0; (at = xml.find('<', at)) != xml.npos; ++at) {
      const std::string tag = xml.substr(at + 1, xml.find('>', at) - at - 1);
      if (tag.starts_with("algo ")) {
        coll_ = attribute(tag, "coll");
        chunks_ = number(tag, "nchunksperloop");
        in_place_ = number(tag, "inplace") == 1;
        p_ = number(tag, "ngpus");
      } else if (tag.starts_with("gpu ")) {
        scratch_.push_back(number(tag, "s_chunks"));
        tbs_.emplace_back();
      } else if (tag.starts_with("tb ")) {
        tbs_.back().push_back({number(tag, "send"), number(tag, "recv"), {}});
      } else if (tag.starts_with("step ")) {
        tbs_.back().back().steps.push_back(tag);
      }
    }
  }

  /// True if it ends with the result of the collective.
  bool run(std::mt19937_64& random) const {
    const std::size_t p = static_cast<std::size_t>(p_);
    const std::size_t n = static_cast<std::size_t>(chunks_);
    const std::size_t part = n / p;
    const bool gathers = coll_ == "allgather";
    const bool scatters = coll_ == "reducescatter";
    std::vector<std::vector<std::uint64_t>> memory(p);  // i, o, s; in place o or i lies in the other
    std::vector<std::array<std::size_t, 3>> base(p);
    std::vector<std::vector<std::uint64_t>> given(p);
    for (std::size_t g = 0; g < p; ++g) {
      const std::size_t inputs = gathers ? part : n;
      const std::size_t outputs = scatters ? part : n;
      base[g] = {0, inputs, inputs + outputs};
      if (in_place_) base[g] = {gathers ? g * part : 0, scatters ? g * part : 0, n};
      memory[g].resize(base[g][2] + static_cast<std::size_t>(scratch_[g]));
      for (std::uint64_t& garbage : memory[g]) garbage = random();
      for (std::size_t i = 0; i < inputs; ++i) given[g].push_back(random());
      std::copy(given[g].begin(), given[g].end(), memory[g].begin() + static_cast<std::ptrdiff_t>(base[g][0]));
    }
    std::map<std::pair<std::size_t, std::size_t>, std::deque<std::uint64_t>> fifo;
    std::vector<std::vector<std::size_t>> done(p);
    std::vector<std::pair<std::size_t, std::size_t>> open;
    for (std::size_t g = 0; g < p; ++g) {
      done[g].resize(tbs_[g].size(), 0);
      for (std::size_t t = 0; t < tbs_[g].size(); ++t) open.emplace_back(g, t);
    }
    for (std::size_t failed = 0; !open.empty() && failed < 1000 * open.size();) {
      const std::size_t which = random() % open.size();
      const auto g = open[which].first;  // no structured binding: clang 14 cannot capture one
      const auto t = open[which].second;
      const Tb& tb = tbs_[g][t];
      if (done[g][t] == tb.steps.size()) {
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
        continue;
      }
      const std::string& step = tb.steps[done[g][t]];
      const std::string type = attribute(step, "type");
      const int depid = number(step, "depid");
      const auto count = static_cast<std::size_t>(number(step, "cnt"));
      auto& in = fifo[{static_cast<std::size_t>(tb.recv), g}];
      const bool receives = type[0] == 'r' && type != "re";
      if ((depid >= 0 && done[g][static_cast<std::size_t>(depid)] <= static_cast<std::size_t>(number(step, "deps"))) ||
          (receives && in.size() < count)) {
        ++failed;
        continue;
      }
      failed = 0;
      const auto place = [&](const char* buffer, const char* offset, std::size_t c) -> std::uint64_t& {
        const std::string name = attribute(step, buffer);
        const std::size_t first = base[g][name == "i" ? 0 : name == "o" ? 1 : 2];
        return memory[g][first + static_cast<std::size_t>(number(step, offset)) + c];
      };
      for (std::size_t c = 0; c < count && type != "nop"; ++c) {
        std::uint64_t value = 0;
        if (receives) {
          value = in.front();
          in.pop_front();
        }
        if (type != "r" && type != "rcs") value += place("srcbuf", "srcoff", c);
        if (type == "re") value += place("dstbuf", "dstoff", c);
        if (type != "s" && type != "rrs") place("dstbuf", "dstoff", c) = value;
        if (type.back() == 's') fifo[{g, static_cast<std::size_t>(tb.send)}].push_back(value);
      }
      ++done[g][t];
    }
    if (!open.empty()) return false;
    for (std::size_t g = 0; g < p; ++g) {
      for (std::size_t i = 0; i < (scatters ? part : n); ++i) {
        std::uint64_t expected = 0;
        if (coll_ == "allreduce" || scatters) {
          for (std::size_t r = 0; r < p; ++r) expected += given[r][scatters ? g * part + i : i];
        } else {
          expected = given[i / part][gathers ? i % part : g * part + i % part];
        }
        if (memory[g][base[g][1] + i] != expected) return false;
      }
    }
    return true;
  }

 private:
  struct Tb {
    int send;
    int recv;
    std::vector<std::string> steps;
  };
  static std::string attribute(const std::string& tag, const std::string& name) {
    const std::size_t at = tag.find(" " + name + "=\"") + name.size() + 3;
    return tag.substr(at, tag.find('"', at) - at);
  }
  static int number(const std::string& tag, const std::string& name) { return std::stoi(attribute(tag, name)); }

  std::string coll_;
  int chunks_ = 0;
  int p_ = 0;
  bool in_place_ = false;
  std::vector<int> scratch_;
  std::vector<std::vector<Tb>> tbs_;
};

// Proofs hold for the XML in whatever order threadblocks go on.
TEST(Msccl, WhatIsProvenGivesTheResultInEveryOrder) {
  std::mt19937_64 random(1);
  std::vector<std::string> programs{ring(3), ring(4), all_pairs(3, true), all_pairs(4, true)};
  for (const char* id :
       {"allreduce/recursive_doubling", "allreduce/rabenseifner", "allreduce/circulant", "allgather/bruck",
        "allgather/ring", "reduce_scatter_block/ring", "alltoall/bruck", "alltoall/pairwise"}) {
    const Selection s = parse_selection(id);
    for (const Rank p : {3, 4}) programs.push_back(to_msccl(build_all_ranks(*s.algorithm, s.collective, {.size = p})));
  }
  int wrong = 0;
  int right = 0;
  for (const std::string& xml : programs) {
    ASSERT_TRUE(proof_of(schedules_from_msccl(xml)).proven());
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(Interpreter(xml).run(random)) << xml;
    for (int mutation = 0; mutation < 60; ++mutation) {
      // The number of a step, a dependence, or the kind of a step changes.
      std::string mutant = xml;
      const std::array<std::string_view, 6> names{"srcoff=\"", "dstoff=\"", "deps=\"", "depid=\"", "type=\"", "cnt=\""};
      const std::string_view name = names[random() % names.size()];
      std::vector<std::size_t> places;
      for (std::size_t at = 0; (at = mutant.find(name, at)) != mutant.npos; ++at) places.push_back(at + name.size());
      const std::size_t at = places[random() % places.size()];
      const std::array<std::string_view, 6> kinds{"s", "r", "rrc", "rrcs", "cpy", "re"};
      const std::array<std::string_view, 5> numbers{"-1", "0", "1", "2", "3"};
      mutant.replace(at, mutant.find('"', at) - at,
                     name == "type=\"" ? kinds[random() % kinds.size()] : numbers[random() % numbers.size()]);
      bool proven = false;
      try {
        proven = proof_of(schedules_from_msccl(mutant)).proven();
      } catch (const Error&) {  // refused, or refuted by the reader
      }
      ++(proven ? right : wrong);
      for (int i = 0; proven && i < 10; ++i)
        ASSERT_TRUE(Interpreter(mutant).run(random)) << mutant << "\nfrom\n" << xml;
    }
  }
  EXPECT_GT(wrong, 300);
  EXPECT_GT(right, 100);
}

}  // namespace
}  // namespace circoll
