// The answer of circoll whatif: a recorded program as it ran, as it is played, and with changes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "circoll/model.hpp"
#include "whatif/play.hpp"

namespace circoll::whatif {

struct Question {
  std::optional<Machine> machine{};       ///< another one than that of the recording
  Rank ranks = 0;                         ///< 0: as many as were recorded
  Rank cores = 0;                         ///< ranks on a node; 0: as many as were recorded
  bool balanced = false;                  ///< the load is balanced in all that is played
  std::vector<Selection> algorithms{};    ///< each is a change
  std::vector<std::string> policies{};    ///< likewise
  bool fit = true;                        ///< fits the recorded machine\'s prices to the recorded times
  std::function<bool()> go_on{};          ///< as Player
  std::function<void(double part)> at{};  ///< is told the part of the work that is done
};

struct Row {
  std::string what;
  Times times;
};

struct Answer {
  Row recorded;              ///< the program as it ran
  Row today;                 ///< the same in the simulator
  std::optional<Row> asked;  ///< with the other machine, number of ranks or balanced load of the question
  std::vector<Row> changes;  ///< of `asked`, or of `today`
  std::vector<std::string> notes;
  std::string verdict;

  [[nodiscard]] const Row& base() const { return asked ? *asked : today; }
};

/// The machine by which `auto` decided in the recorded run.
[[nodiscard]] Machine recorded_machine(const trace::Trace& trace);
/// The program with the ranks, nodes and load of the question.
[[nodiscard]] Program program_of(const trace::Trace& trace, const Question& question);

/// Plays a trace in all ways of the question. Without another machine it is the recorded one, with fitted prices
/// (fit.hpp). Policies and parameters are chosen without the fit, as they would be in a job. Throws as program_of() and
/// Player::play().
[[nodiscard]] Answer answer(const trace::Trace& trace, const Question& question);

/// The algorithm that serves a collective of the program, and its irregular twin, in the least time. Ranks come
/// together then. Nothing if no algorithm is faster than what `base` chooses by half a percent. `deciding` is the
/// machine by which algorithms get their parameters.
[[nodiscard]] std::optional<Selection> best_algorithm(Player& player, const Program& program, Collective collective,
                                                      const Choose& base, const Machine& deciding);

}  // namespace circoll::whatif
