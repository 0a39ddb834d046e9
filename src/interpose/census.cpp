#include "interpose/census.hpp"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace circoll::interpose {
namespace {

/// The greatest tag that every MPI has. Its messages go between ranks that are both inside the drop-in's MPI_Init.
constexpr int census_tag = 32767;
/// Ranks that a rank looks at whose MPI_Init went past the drop-in.
constexpr int most_looks = 32;

std::atomic<bool> was_announced{false};
/// From announce() to take_census(). Not freed at the end of the process, when the store's library may have gone.
std::atomic<Store*> opened{nullptr};

/// True if all ranks are present, on a binary tree over the ranks. Each rank looks up its parent and its children only,
/// and waits for those that are there. A rank that is absent cuts the tree in parts, each of which has a rank beside
/// the cut.
bool all_present(Store& store, int rank, int size) {
  int all = 1;
  std::vector<int> children;
  for (const int child : {2 * rank + 1, 2 * rank + 2}) {
    if (child >= size) continue;
    if (store.mark_of(child) == Presence::absent) {
      all = 0;
    } else {
      children.push_back(child);
    }
  }
  for (const int child : children) {
    int below = 0;
    PMPI_Recv(&below, 1, MPI_INT, child, census_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    all = all != 0 && below != 0 ? 1 : 0;
  }
  if (rank > 0) {
    const int parent = (rank - 1) / 2;
    if (store.mark_of(parent) == Presence::absent) {
      all = 0;
    } else {
      PMPI_Send(&all, 1, MPI_INT, parent, census_tag, MPI_COMM_WORLD);
      PMPI_Recv(&all, 1, MPI_INT, parent, census_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  for (const int child : children) PMPI_Send(&all, 1, MPI_INT, child, census_tag, MPI_COMM_WORLD);
  return all != 0;
}

/// The absent ranks, if this is the lowest one that is not; else none.
std::vector<int> absent_ranks(Store& store, int rank, int size) {
  std::vector<int> absent;
  for (int other = 0; other < size; ++other) {
    if (other == rank) continue;
    if (store.mark_of(other) == Presence::absent) {
      absent.push_back(other);
    } else if (other < rank) {
      return {};
    }
  }
  return absent;
}

/// True if some rank has left its mark, of many ranks as far as a sample tells.
bool somebody_present(Store& store, int rank, int size) {
  const int looks = std::min(size, most_looks);
  for (int i = 0; i < looks; ++i) {
    const int other = static_cast<int>(std::int64_t{i} * size / looks);
    if (other != rank && store.mark_of(other) == Presence::present) return true;
  }
  return false;
}

}  // namespace

void announce() noexcept {
  if (was_announced.exchange(true)) return;
  try {
    std::unique_ptr<Store> store = open_store();
    if (store != nullptr && store->put_mark()) opened = store.release();
  } catch (...) {
    return;  // the census is unknown then
  }
}

bool announced() { return was_announced; }

Census take_census(int world_rank, int world_size) {
  if (world_size == 1) return {Attendance::all, {}};
  const bool own = announced();
  const std::unique_ptr<Store> store = own ? std::unique_ptr<Store>(opened.exchange(nullptr)) : open_store();
  if (store == nullptr || !store->shows(world_rank, world_size, own)) return {};
  if (!own) return {somebody_present(*store, world_rank, world_size) ? Attendance::some : Attendance::unknown, {}};
  if (all_present(*store, world_rank, world_size)) return {Attendance::all, {}};
  return {Attendance::some, absent_ranks(*store, world_rank, world_size)};
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::size_t first = i;
    while (i + 1 < ranks.size() && ranks[i + 1] == ranks[i] + 1) ++i;
    if (first > 0) text += ", ";
    text += std::to_string(ranks[first]);
    if (i > first) text += (i > first + 1 ? "-" : ", ") + std::to_string(ranks[i]);
  }
  return text;
}

}  // namespace circoll::interpose
