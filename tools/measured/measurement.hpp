// Measurements of circoll-bench are read here, and several launches are put together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"

namespace circoll {

/// A median with its 95 % confidence interval, in seconds.
struct MedianTime {
  double median_s = 0;  ///< over the repetitions
  double low_s = 0;     ///< the lower end of the interval
  double high_s = 0;    ///< its upper end
};
/// True if `fast` is less than `slow` by more than the margin, a share. The intervals must be apart, too.
[[nodiscard]] inline bool surely_less(const MedianTime& fast, const MedianTime& slow, double margin) {
  return fast.median_s * (1 + margin) < slow.median_s && fast.high_s < slow.low_s;
}

/// A row of a file that circoll-bench --json wrote (docs/admin/measuring.md). Times in seconds.
struct Measurement {
  Collective collective = Collective::barrier;  ///< the one that was called
  std::string algorithm;  ///< as circoll-bench was asked: "auto", "native", a name with parameters, or "LIBRARY/NAME"
  std::string served_by;  ///< what ran
  Rank p = 1;             ///< ranks
  Count bytes = 0;        ///< as circoll-bench counts them
  Count reps = 0;         ///< repetitions
  double median_s = 0;    ///< over the repetitions
  bool wrong = false;     ///< the result was compared, and differed
  double low_s = 0;       ///< the 95 % confidence interval of median_s; 0: unknown, as in old files
  double high_s = 0;      ///< its upper end

  [[nodiscard]] MedianTime time() const {
    return {.median_s = median_s, .low_s = low_s > 0 ? low_s : median_s, .high_s = high_s > 0 ? high_s : median_s};
  }
};

/// One run of circoll-bench.
struct Launch {
  std::string source{};        ///< its file
  std::string setting{};       ///< type, operator, root, synchronisation, MPI, policy, as text: comparable if equal
  std::string type{};          ///< of the elements, by name
  std::string op{};            ///< the operator of reductions, by name
  Rank root = 0;               ///< 0 <= root < p; of rooted collectives
  std::string mpi{};           ///< the MPI library and its version, "openmpi 4.1.4"; empty if the file does not say
  bool default_policy = true;  ///< "auto" was the model's choice
  std::string library{};       ///< the MPI library with its version, the processor and the node; empty in old files
  std::string processor{};     ///< empty in old files
  std::string host{};          ///< empty in old files
  std::vector<Measurement> rows{};  ///< in the file's order
};

/// Reads such a file. Throws Error(parse), naming the line, on anything else.
[[nodiscard]] Launch launch_from_json(std::string_view json, const std::string& source);
/// The launches in files of these paths.
[[nodiscard]] std::vector<Launch> read_launches(const std::vector<std::string>& files);

/// Throws unless launches of several numbers of ranks may be put together. Type, operator and root must be equal in all
/// of them, and the rest of the setting, as the way in which ranks start together, wherever they measured the same
/// number of ranks. Throws Error(invalid_argument) naming the first that differs, or if there are none.
void require_comparable(const std::vector<const Launch*>& launches);

/// One algorithm in one cell over several launches. A launch counts by its median: repetitions of one launch have more
/// in common than launches have.
struct Combined {
  Measurement row;           ///< of the first launch; median_s: the median of the launches' medians; reps: all of them
  int launches = 0;          ///< that have measured it
  double low_s = 0;          ///< the 95 % confidence interval of median_s, which takes six launches
  double high_s = 0;         ///< its upper end
  double speedup = 0;        ///< the median over the launches of native's median / this median; 0: native is missing
  double speedup_low = 0;    ///< the lower end of its 95 % confidence interval
  double speedup_high = 0;   ///< its upper end
  double least_speedup = 0;  ///< the least of these ratios
};

/// In the order of their first appearance. Throws Error(invalid_argument) if the launches have different settings,
/// naming the first that differs.
[[nodiscard]] std::vector<Combined> combine(const std::vector<Launch>& launches);

}  // namespace circoll
