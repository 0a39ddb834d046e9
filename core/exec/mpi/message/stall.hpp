// Looks after an execution that has no news. It asks the ranks that are waited for, and ends what can never end.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "exec/mpi/comm/stalls.hpp"
#include "exec/mpi/message/channel.hpp"

namespace circoll::mpi {

/// The wait of one execution. Used by who advances it.
class Stall {
 public:
  /// Polls without news from one look to the next.
  static constexpr std::uint64_t polls = 256;

  /// Looks at the clock and at what others have answered. `first`: there has been news since the last look. `awaited`
  /// says whom the execution waits for. Returns an MPI error code if the calls are certain not to match.
  [[nodiscard]] int look(const Binding& binding, bool first,
                         const std::function<std::vector<Rank>()>& awaited) noexcept;

 private:
  [[nodiscard]] int judge(const Binding& binding, const StallAnswer& answer);
  [[nodiscard]] int conclude(const Binding& binding, const StallAnswer& answer);

  Stalls::Clock::time_point since_{};
  Stalls::Clock::time_point next_question_{};
  std::uint64_t questions_before_ = 0;
  StallAnswer suspect_{};  ///< the first answer that speaks of the end, if its verdict is not `unknown`
};

}  // namespace circoll::mpi
