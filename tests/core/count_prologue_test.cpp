// gatherv and scatterv: counts that only the root knows travel ahead of the data. The chains here would expose an error
// of the prologue: every block passes through many ranks, and views share one memory.
#include <gtest/gtest.h>

#include "exec/local/job.hpp"
#include "oracle/oracle.hpp"

namespace circoll {
namespace {

Rank wrap(Rank r, Rank p) { return (r % p + p) % p; }

/// Rank v (relative to the root) collects the blocks of v .. p-1 and passes them to v - 1.
void build_gather_chain(Builder& b) {
  const Rank p = b.size();
  const Rank v = wrap(b.rank() - b.root(), p);
  const std::int64_t n = b.segments();
  if (v == 0) {
    b.copy(b.output(b.rank() * n, n), b.input());
    if (p > 1) b.recv(wrap(b.rank() + 1, p), b.output(wrap(b.rank() + 1, p) * n, (p - 1) * n));
    return;
  }
  Region out = b.input();
  if (v < p - 1) {
    const std::int32_t pass = b.scratch((p - 1 - v) * n, wrap(b.rank() + 1, p) * n);
    b.recv(wrap(b.rank() + 1, p), b.region(pass));
    out = out + b.region(pass);
  }
  b.send(wrap(b.rank() - 1, p), out);
  // A view that overwrites the memory in which the blocks passed through.
  if (v < p - 1) {
    const std::int32_t view = b.view(2, n, b.rank() * n);
    b.copy(b.region(view), b.input());
  }
}

/// The root passes the blocks of v+1 .. p-1 to v + 1, and so on.
void build_scatter_chain(Builder& b) {
  const Rank p = b.size();
  const Rank v = wrap(b.rank() - b.root(), p);
  const Rank next = wrap(b.rank() + 1, p);
  if (v == 0) {
    b.copy(b.output(), b.input(b.rank(), 1));
    if (p > 1) b.send(next, b.input(next, p - 1));
    return;
  }
  Region in = b.output();
  if (v < p - 1) {
    const Region pass = b.region(b.scratch(p - 1 - v, next));
    b.recv(wrap(b.rank() - 1, p), in + pass);
    b.send(next, pass);
  } else {
    b.recv(wrap(b.rank() - 1, p), in);
  }
}

const Algorithm& gather_chain() {
  static const Algorithm algorithm{.collectives = {Collective::gather, Collective::gatherv},
                                   .name = "chain",
                                   .summary = "for tests",
                                   .source = "",
                                   .build = [](Builder& b) { build_gather_chain(b); }};
  return algorithm;
}
const Algorithm& cut_gather_chain() {
  static const Algorithm algorithm{.collectives = {Collective::gather, Collective::gatherv},
                                   .name = "cut_chain",
                                   .summary = "for tests",
                                   .source = "",
                                   .build = [](Builder& b) {
                                     b.cut(3);
                                     build_gather_chain(b);
                                   }};
  return algorithm;
}
const Algorithm& scatter_chain() {
  static const Algorithm algorithm{.collectives = {Collective::scatter, Collective::scatterv},
                                   .name = "chain",
                                   .summary = "for tests",
                                   .source = "",
                                   .build = [](Builder& b) { build_scatter_chain(b); }};
  return algorithm;
}

TEST(CountPrologue, CountsReachEveryRankThatABlockPasses) {
  for (const Selection& selection :
       {Selection{&gather_chain(), Collective::gather, {}}, Selection{&gather_chain(), Collective::gatherv, {}},
        Selection{&cut_gather_chain(), Collective::gatherv, {}}, Selection{&scatter_chain(), Collective::scatter, {}},
        Selection{&scatter_chain(), Collective::scatterv, {}}}) {
    for (const Rank p : {1, 2, 3, 5, 8}) {
      for (Rank root = 0; root < p; ++root) {
        for (const bool in_place : {false, true}) {
          for (const local::Mode mode : {local::Mode::single_thread, local::Mode::threads}) {
            local::Job job;
            job.collective = selection.collective;
            job.size = p;
            job.root = root;
            job.type = Type::int32;
            job.in_place = in_place;
            job.counts = {10};
            if (is_irregular(selection.collective)) {
              job.counts.clear();
              for (Rank r = 0; r < p; ++r) job.counts.push_back((r * 5 + 2) % 7 * (r % 3));
            }
            job.fill = [](Rank rank, std::span<std::byte> bytes) { oracle::fill(Type::int32, rank, bytes); };
            EXPECT_EQ(oracle::check(job, local::execute_all(job, selection, mode), false), "")
                << selection.id() << " p=" << p << " root=" << root << (in_place ? " in place" : "");
          }
        }
      }
    }
  }
}

TEST(CountPrologue, RepeatedCallsWithOtherCounts) {
  const Selection selection{&gather_chain(), Collective::gatherv, {}};
  local::World world(4);
  world.run([&](local::Comm& comm) {
    for (int repetition = 0; repetition < 20; ++repetition) {
      std::vector<Count> counts;
      for (int r = 0; r < 4; ++r) counts.push_back((r + repetition) % 3);
      const Count total = counts[0] + counts[1] + counts[2] + counts[3];
      const std::vector<int> mine(static_cast<std::size_t>(counts[static_cast<std::size_t>(comm.rank())]),
                                  static_cast<int>(comm.rank()));
      const bool at_root = comm.rank() == 1;
      std::vector<int> all(at_root ? static_cast<std::size_t>(total) : 0);
      gatherv(mine, all, at_root ? std::span<const Count>(counts) : std::span<const Count>{}, {}, 1, comm, selection);
      if (!at_root) continue;
      std::vector<int> expected;
      for (int r = 0; r < 4; ++r)
        expected.insert(expected.end(), static_cast<std::size_t>(counts[static_cast<std::size_t>(r)]), r);
      EXPECT_EQ(all, expected);
    }
  });
}

TEST(CountPrologue, DisagreeingCountsAreFound) {
  const Selection selection{&gather_chain(), Collective::gatherv, {}};
  local::World world(3);
  EXPECT_THROW(world.run([&](local::Comm& comm) {
    const std::vector<Count> counts{1, 1, 1};
    const std::vector<int> mine(comm.rank() == 2 ? 2 : 1);
    std::vector<int> all(3);
    gatherv(mine, all, counts, {}, 0, comm, selection);
  }),
               Error);
}

/// The elements that rank s sends to rank d in a repetition.
Count exchanged(Rank s, Rank d, int repetition) { return (s * 3 + d * 5 + repetition) % 4; }

TEST(CountPrologue, AlltoallvWithDisplacements) {
  // Blocks lie in reverse order, with a hole of one element after each.
  for (const char* algorithm : {"linear", "pairwise", "bruck", "circulant"}) {
    local::World world(6);
    world.run([&](local::Comm& comm) {
      const Rank p = comm.size();
      const Rank r = comm.rank();
      for (int repetition = 0; repetition < 12; ++repetition) {
        std::vector<Count> send_counts, counts;
        for (Rank other = 0; other < p; ++other) {
          send_counts.push_back(exchanged(r, other, repetition / 2));  // every second call finds its plan
          counts.push_back(exchanged(other, r, repetition / 2));
        }
        const auto place = [](const std::vector<Count>& c) {
          std::vector<Count> displs(c.size());
          Count next = 0;
          for (std::size_t i = c.size(); i-- > 0;) {
            displs[i] = next;
            next += c[i] + 1;
          }
          displs.push_back(next);
          return displs;
        };
        std::vector<Count> send_displs = place(send_counts);
        std::vector<Count> displs = place(counts);
        std::vector<int> out(static_cast<std::size_t>(send_displs.back()), -1);
        std::vector<int> in(static_cast<std::size_t>(displs.back()), -1);
        std::vector<int> expected(in);
        send_displs.pop_back();
        displs.pop_back();
        for (Rank other = 0; other < p; ++other) {
          const auto i = static_cast<std::size_t>(other);
          for (Count e = 0; e < send_counts[i]; ++e)
            out[static_cast<std::size_t>(send_displs[i] + e)] = static_cast<int>(100 * r + 10 * other + e);
          for (Count e = 0; e < counts[i]; ++e)
            expected[static_cast<std::size_t>(displs[i] + e)] = static_cast<int>(100 * other + 10 * r + e);
        }
        alltoallv(out, send_counts, send_displs, in, counts, displs, comm, algorithm);
        EXPECT_EQ(in, expected) << algorithm << " rank " << r << " repetition " << repetition;
      }
    });
  }
}

TEST(CountPrologue, AlltoallvInPlace) {
  for (const char* algorithm : {"linear", "circulant"}) {
    local::World world(5);
    world.run([&](local::Comm& comm) {
      const Rank p = comm.size();
      const Rank r = comm.rank();
      std::vector<Count> counts;
      std::vector<int> data, expected;
      for (Rank other = 0; other < p; ++other) {
        counts.push_back((r + other) % 3);
        data.insert(data.end(), static_cast<std::size_t>(counts.back()), static_cast<int>(10 * r + other));
        expected.insert(expected.end(), static_cast<std::size_t>(counts.back()), static_cast<int>(10 * other + r));
      }
      alltoallv(in_place, {}, {}, data, counts, {}, comm, algorithm);
      EXPECT_EQ(data, expected) << algorithm;
    });
  }
}

TEST(CountPrologue, AlltoallvFindsDisagreeingCounts) {
  local::World world(3);
  EXPECT_THROW(world.run([&](local::Comm& comm) {
    std::vector<Count> send_counts(3, 2), counts(3, 2);
    if (comm.rank() == 1) send_counts[2] = 1;  // rank 2 expects two
    const std::vector<int> out(6);
    std::vector<int> in(6);
    alltoallv(out, send_counts, {}, in, counts, {}, comm, "circulant");
  }),
               Error);
}

}  // namespace
}  // namespace circoll
