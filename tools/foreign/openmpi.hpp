// Facts of Open MPI's component coll/tuned: collectives, algorithms by version, and what it does with them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/formats.hpp"

namespace circoll::foreign::openmpi {

/// Versions that read and decide differently. v41 is 4.1.4: later ones of 4.1 take a header besides.
enum class Version { v41, v50, v60 };
[[nodiscard]] Version version_of(const Reader& reader);

/// An algorithm; its number is its place in the list of its collective, from 1 on.
struct KnownAlgorithm {
  std::string_view name;     ///< until 5.0, and what rules call it
  std::string_view newer{};  ///< its name from 6.0 on, if that is another
  Version since = Version::v41;
  /// Wrong for operators that do not commute, for which it is not replaced by another.
  bool commutative_only = false;
  bool two_ranks_only = false;  ///< an error on other numbers of ranks
  bool segments = false;        ///< honours a segment size
  bool fanout = false;          ///< honours a fan-out
};

/// Those of a collective in all versions. Empty for those that coll/tuned leaves to others (gatherv, scatterv).
[[nodiscard]] std::span<const KnownAlgorithm> algorithms_in(Collective collective);
/// The algorithm of a number in a version, or nullptr.
[[nodiscard]] const KnownAlgorithm* algorithm_of(Collective collective, std::int64_t number, Version version);
/// The number of a name; 0 if this version has none of this name. Names of both kinds are known.
[[nodiscard]] int number_of(Collective collective, std::string_view name, Version version);

/// The number of a collective in classic files, and back.
[[nodiscard]] std::optional<int> id_of(Collective collective);
[[nodiscard]] std::optional<Collective> collective_of(std::int64_t id);
inline constexpr std::int64_t collectives_in_files = 22;  ///< COLLCOUNT: ids are below it

/// True if rules can tell sizes of this collective apart, alike on all ranks.
[[nodiscard]] bool sizes_tell(Collective collective, Version version);
/// The bytes that coll/tuned looks a call up by.
[[nodiscard]] Count looked_up_bytes(const Call& call, Version version);
/// True if from so many nodes on HAN takes this collective.
[[nodiscard]] bool han_takes(Collective collective, Version version);

/// Rules as the formats can say them, on ranges of ranks and bytes, whatever the operator. Rules that are left
/// out or narrowed are added to `losses`. With `distributions`, one node and one rank per node can be said, too.
[[nodiscard]] std::vector<Rule> expressible(std::span<const Rule> rules, Version version, const ExportOptions& options,
                                            bool distributions, std::vector<std::string>& losses);
/// Warnings about an algorithm that a file names for a range of ranks.
[[nodiscard]] std::vector<Warning> warnings_of(Collective collective, std::int64_t number, std::int64_t segment_bytes,
                                               const Range& ranks, Version version, std::size_t line);
/// "segment size 65536, fan-out 4" of what a rule gives and the algorithm honours.
[[nodiscard]] std::string parameters_of(const KnownAlgorithm& algorithm, std::int64_t segment_bytes,
                                        std::int64_t fanout);
/// The verdict about a call that a rule gives to the algorithm of this number.
[[nodiscard]] ForeignDecision verdict_of(const Call& call, std::int64_t number, Version version, std::string rule);

/// Options of mpirun that all files of a version need beside their name: HAN's priority, the radix of rules.
[[nodiscard]] std::string more_options(std::span<const Rule> said, Version version);

}  // namespace circoll::foreign::openmpi
