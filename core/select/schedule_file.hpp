// Files of schedules (docs/lab/formats.md) as algorithms: read, proven, and called by "file:PATH" as by a name.
//
// parse_selection() leads here. Programs that have schedules already, from another form, make an algorithm of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/verify.hpp"

namespace circoll::select {

/// Reads the schedules of all ranks in the text or the JSON form, which the first character shows. Throws Error without
/// the name of the file: parse, or invalid_argument unless they are of ranks 0 .. p-1 of one call. XML is unsupported.
[[nodiscard]] std::vector<Schedule> schedules_of_file(std::string_view text);

/// The algorithm that consists of these schedules. It serves their collective, for their number of ranks, for every
/// root, in place and not. Other roots get the schedules of other ranks, in turn. Where the schedules are not in place
/// and a call is, or the other way round, blocks are copied if nothing less is right. Costs are counted. Needs and
/// guarantees are found out. Throws Error(refuted) with rank and step if the schedules are wrong, and
/// Error(invalid_argument) as check_one_call() does. The watch sees each of the proofs.
[[nodiscard]] std::shared_ptr<const Algorithm> algorithm_of(std::vector<Schedule> ranks, std::string name,
                                                            const ProofWatch& watch = {});

}  // namespace circoll::select
