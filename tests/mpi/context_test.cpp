// Ranges of tags, translated ranks, and numbers of operations tell messages of communicators apart.
#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "circoll/mpi.hpp"
#include "exec/mpi/comm/carrier.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/comm/placement.hpp"
#include "harness.hpp"

namespace circoll::test {
namespace {

/// Ranges of a small space, taken and returned at random, against a plain array of units.
void check_space(unsigned seed) {
  constexpr int units = 200;
  mpi::TagSpace space(units);
  std::mt19937 random(seed);
  std::vector<bool> taken(units, false);
  std::vector<std::pair<int, int>> ranges;
  for (int turn = 0; turn < 3000; ++turn) {
    if (random() % 2 == 0 || ranges.empty()) {
      const int wanted = static_cast<int>(random() % 12) + 1;
      int lowest = -1;
      for (int first = 0; first + wanted <= units && lowest < 0; ++first) {
        const auto begin = taken.begin() + first;
        if (std::none_of(begin, begin + wanted, [](bool t) { return t; })) lowest = first;
      }
      const int got = space.take(wanted);
      expect(got == lowest, "take: " + std::to_string(got) + " instead of " + std::to_string(lowest));
      if (got < 0) continue;
      ranges.emplace_back(got, wanted);
      std::fill_n(taken.begin() + got, wanted, true);
    } else {
      const std::size_t which = random() % ranges.size();
      const auto [first, length] = ranges[which];
      space.give_back(first, length);
      std::fill_n(taken.begin() + first, length, false);
      ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(which));
    }
    expect(space.free_units() == std::count(taken.begin(), taken.end(), false), "the free units are counted wrong");
  }
}

}  // namespace

TEST_MPI(tag_space_is_an_array_of_units) {
  for (unsigned seed = 0; seed < 20; ++seed) check_space(seed);
  mpi::TagSpace space(10);
  expect(space.take(4, 7) == -1 && space.take(4, 6) == 0, "the spare units are not left");
}

// No two kinds of executions that may be under way at once share a tag, whatever MPI_TAG_UB is.
TEST_MPI(tag_layouts) {
  for (const int largest : {32767, 65535, (1 << 20) - 1, (1 << 21), (1 << 28) - 1, 2147483647}) {
    const mpi::TagLayout layout = mpi::TagLayout::of(largest);
    const std::int64_t context = std::int64_t{mpi::TagLayout::context_units} * layout.unit;
    const std::string what = "MPI_TAG_UB " + std::to_string(largest);
    expect((std::int64_t{largest} + 1) / context >= 64, what + ": fewer than 64 contexts");
    const int last = static_cast<int>(all_collectives.size()) - 1;
    expect(last * layout.blocking_stride() + layout.most_tags() <= layout.blocking_tags(),
           what + ": blocking calls have tags of nonblocking ones");
    expect(layout.units_for(layout.most_tags()) <= mpi::TagLayout::epochs,
           what + ": an operation has more than all numbers");
    expect(layout.units_for(1) == 1, what + ": a small operation has more than one unit");
  }
}

TEST_MPI(rank_maps) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<int> ranks(1 + random() % 9);
    std::iota(ranks.begin(), ranks.end(), static_cast<int>(random() % 5));
    const bool regular = turn % 3 != 0;
    const int stride = static_cast<int>(random() % 4) - 2;
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = regular ? 20 + stride * static_cast<int>(i) : ranks[i];
    if (!regular) std::shuffle(ranks.begin(), ranks.end(), random);
    const mpi::RankMap map(ranks);
    for (std::size_t i = 0; i < ranks.size(); ++i) expect(map(static_cast<Rank>(i)) == ranks[i], "a rank is another");
    expect(!regular || map.memory_bytes() == 0, "a regular map takes memory");
  }
}

// Nonblocking operations whose tags might meet are never under way together, and numbers are the same on all ranks.
TEST_MPI(numbers_of_operations) {
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int error = MPI_SUCCESS;
  mpi::CommState& state = *mpi::CommState::of(comm, &error);
  if (!state.has_carrier()) (void)state.make_carrier();
  (void)state.open();
  std::mt19937 random(11);
  std::map<std::uint64_t, int> under_way;
  for (int turn = 0; turn < 2000; ++turn) {
    const int units = static_cast<int>(random() % 10) + 1;
    const std::uint64_t number = state.take_numbers(units);
    constexpr std::uint64_t epochs = mpi::TagLayout::epochs;
    expect(number % epochs + static_cast<std::uint64_t>(units) <= epochs, "a range of tags is in two parts");
    while (!state.may_start(number, units)) {
      const auto oldest = under_way.begin();
      state.remove_unfinished(oldest->first);
      under_way.erase(oldest);
    }
    std::set<std::uint64_t> tags;
    for (const auto& [first, count] : under_way) {
      for (int i = 0; i < count; ++i) tags.insert((first + static_cast<std::uint64_t>(i)) % epochs);
    }
    for (int i = 0; i < units; ++i) {
      expect(tags.count((number + static_cast<std::uint64_t>(i)) % epochs) == 0, "two operations have the same tags");
    }
    state.add_unfinished(number);
    under_way.emplace(number, units);
    if (under_way.size() > 3 && random() % 2 == 0) {
      const auto some = std::next(under_way.begin(), static_cast<std::ptrdiff_t>(random() % under_way.size()));
      state.remove_unfinished(some->first);
      under_way.erase(some);
    }
  }
  for (const auto& [number, units] : under_way) state.remove_unfinished(number);
  PMPI_Comm_free(&comm);
}

// Ranks whose numbers of communicators differ take different tags for the next one.
TEST_MPI(ranks_take_different_tags) {
  std::vector<MPI_Comm> own;
  for (int i = 0; i < 8; ++i) {
    MPI_Comm made = MPI_COMM_NULL;
    PMPI_Comm_split(MPI_COMM_WORLD, world_rank() < i % 4 ? 0 : MPI_UNDEFINED, -world_rank(), &made);
    if (made == MPI_COMM_NULL) continue;
    int one = 1, sum = 0;
    mpi::allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
    expect(sum == std::min(i % 4, world_size()), "a sum over some ranks");
    own.push_back(made);
  }
  MPI_Comm all = MPI_COMM_NULL;
  PMPI_Comm_split(MPI_COMM_WORLD, 0, world_rank() * 5 % 7, &all);
  for (const char* algorithm : {"ring", "recursive_doubling", "circulant", "linear"}) {
    std::vector<int> in(50, world_rank()), sum(50);
    mpi::allreduce(in.data(), sum.data(), 50, MPI_INT, MPI_SUM, all, algorithm);
    expect(sum == std::vector<int>(50, world_size() * (world_size() - 1) / 2),
           std::string("a sum over all by ") + algorithm);
  }
  PMPI_Comm_free(&all);
  for (MPI_Comm& comm : own) PMPI_Comm_free(&comm);
}

}  // namespace circoll::test
