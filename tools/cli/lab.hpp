// The part of the tool that only the lab has: commands, forms of schedules, and a reader of files.
//
// tools/cli/without_lab.cpp says that there is nothing; where the lab is built, lab/cli/with_lab.cpp takes its place.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/model.hpp"
#include "commands.hpp"
#include "measured/calibration.hpp"
#include "schedule_file.hpp"

namespace circoll::cli {

/// The schedules of all ranks, generated rank by rank, or those of a file.
struct Shown {
  Rank size = 0;
  std::function<Schedule(Rank)> of{};

  [[nodiscard]] std::vector<Schedule> all() const {
    std::vector<Schedule> ranks;
    for (Rank rank = 0; rank < size; ++rank) ranks.push_back(of(rank));
    return ranks;
  }
};

/// The most ranks of a picture. Of more nobody could tell one from another, and their schedules would fill the memory.
inline constexpr Rank most_drawn = 512;

/// A form of `circoll show` for other tools. It has all ranks in it.
struct LabForm {
  std::string_view name;
  std::string_view note;      ///< for the help of --format
  bool needs_bytes = false;   ///< --bytes
  bool needs_output = false;  ///< --output: a file for each rank
  Rank most_ranks = 0;        ///< 0: any number
  struct Request {
    const Shown& shown;
    Count bytes = 0;
    double gamma_s_per_byte = 0;
    std::string output{};
  };
  void (*write)(const Request& request) = nullptr;
};

/// Options of circoll simulate, without the dashes.
struct SimulatedBy {
  std::string exchange{};
  bool shared = false;
};

struct Lab {
  std::span<const AddCommand> commands{};
  std::span<const LabForm> forms{};
  std::span<const std::string_view> examples_of_show{};
  /// Reads a file that begins with '<' into ranks, places and race.
  void (*read_xml)(const std::string& text, ScheduleFile& file) = nullptr;
  /// The simulated time of a measured row, a rank on each node.
  double (*simulated_s)(const Comparison& row, const Machine& machine, const SimulatedBy& options) = nullptr;
};
[[nodiscard]] const Lab& lab();

}  // namespace circoll::cli
