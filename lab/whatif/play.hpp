// Plays a recorded program: computation as recorded, collectives by their schedules in the simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sim/sim.hpp"
#include "whatif/program.hpp"

namespace circoll::whatif {

/// Chooses the algorithm of a kind of collectives.
using Choose = std::function<Selection(const Kind& kind)>;

/// The chooser of a policy. Where the policy leaves a call to the MPI library, the algorithm that the library is known
/// or thought to take: Open MPI's fixed decision for an allreduce, and the policy classic otherwise.
[[nodiscard]] Choose by_policy(const std::string& name, const Machine& machine, const std::string& mpi);
/// The algorithms that served the recorded run, and the native collectives as by_policy() says. `unknown` counts kinds
/// whose algorithm does not exist here. They are played as native ones.
[[nodiscard]] Choose as_served(const Machine& machine, const std::string& mpi, std::int64_t* unknown = nullptr);
/// One algorithm for a collective where its needs hold, and `otherwise` for all else.
[[nodiscard]] Choose by_algorithm(const Selection& selection, const Machine& machine, Choose otherwise);

/// Plays programs on one machine. Schedules are kept between runs.
class Player {
 public:
  /// `go_on` is asked now and then; false: stop, and throw sim::Stopped.
  explicit Player(Machine machine, std::function<bool()> go_on = {});
  /// Prices messages by LogGOPS from now on, on nodes and between them. A machine file has fewer numbers.
  void set_link(const sim::LogGops& link) { link_ = link; }

  /// Lets each collective of several ranks take so much longer.
  void set_call_time(double call_s) { call_s_ = call_s; }

  /// Plays a program. A rank goes on behind a nonblocking call. Before its next blocking call on the same communicator,
  /// and before its end, it waits for that call. The recording does not see where the program waits itself, so this is
  /// a part of the time between calls already.
  ///
  /// Throws Error(parse) if ranks wait for one another forever, and as build_schedule().
  [[nodiscard]] Times play(const Program& program, const Choose& choose);
  /// The time of one collective of a kind to which all ranks come together.
  [[nodiscard]] double time_of(const Kind& kind, const Selection& selection);

  [[nodiscard]] const Machine& machine() const { return machine_; }

 private:
  using Key = std::tuple<std::string, Rank, Rank>;

  [[nodiscard]] sim::Network network_for(const Kind& kind, const Selection& selection) const;
  [[nodiscard]] sim::Options options() const;
  [[nodiscard]] std::shared_ptr<const sim::Ranks> ranks_of(const Selection& selection, Rank p, Rank root);

  Machine machine_;
  std::function<bool()> go_on_;
  std::optional<sim::LogGops> link_;
  double call_s_ = 0;
  std::map<Key, std::shared_ptr<const sim::Ranks>> ranks_;
  std::int64_t kept_steps_ = 0;
};

}  // namespace circoll::whatif
