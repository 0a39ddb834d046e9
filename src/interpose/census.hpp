// The census says which ranks of MPI_COMM_WORLD run with the drop-in. It asks the key-value store of the launcher, in
// which MPI_Init exchanges addresses, so that a rank without the drop-in is found without waiting (docs/adr/0011).
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace circoll::interpose {

/// The store's answer about a rank's mark.
enum class Presence {
  present,
  absent,
  unsure,  ///< an answer that is not understood
};

/// The launcher's store, in which every rank with the drop-in leaves a mark before MPI_Init.
class Store {
 public:
  Store() = default;
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Leaves the mark of this rank; false if that cannot be known. Before MPI_Init.
  [[nodiscard]] virtual bool put_mark() = 0;
  /// True if MPI_Init has made the marks of all ranks of MPI_COMM_WORLD visible. `own`: this rank has left one.
  [[nodiscard]] virtual bool shows(int world_rank, int world_size, bool own) = 0;
  /// True if a rank has left its mark. After MPI_Init.
  [[nodiscard]] virtual Presence mark_of(int rank) = 0;
};

/// The store of this process's launcher; nullptr if it is none that the drop-in can speak to.
[[nodiscard]] std::unique_ptr<Store> open_store();

enum class Attendance {
  unknown,  ///< there is no store, or it cannot say
  all,      ///< all ranks run with the drop-in
  some,     ///< some do not; equally known on all that do
};

struct Census {
  Attendance attendance = Attendance::unknown;
  /// The ranks without the drop-in, on the lowest rank that has it and is to speak of them. It is empty on all others.
  std::vector<int> absent;
};

/// Leaves this rank's mark. Before MPI_Init, which it never makes fail.
void announce() noexcept;
/// True if announce() was called: MPI_Init was not called past the drop-in.
[[nodiscard]] bool announced();
/// The count, after MPI_Init and once, on all ranks that have called announce(). It takes at most four requests to the
/// store and six messages for each rank, unless a rank is absent. A rank that has not called announce() sees only
/// whether others have.
[[nodiscard]] Census take_census(int world_rank, int world_size);

/// "rank 2", "ranks 2, 5-7"
[[nodiscard]] std::string ranks_text(const std::vector<int>& ranks);

}  // namespace circoll::interpose
