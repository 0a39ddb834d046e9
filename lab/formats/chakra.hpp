// Schedules as Chakra execution traces, which ASTRA-sim takes for a collective of its user's own.
#pragma once

#include <string>

#include "circoll/schedule.hpp"

namespace circoll {

/// A rank's schedule as a Chakra execution trace, the whole content of the file PREFIX.<rank>.et.
///
/// It is a sequence of messages of et_def.proto (mlcommons/chakra), each after its length: GlobalMetadata of version
/// 1.0.0, then a Node for each step in program order. Sends and receives are communication nodes with their length,
/// peer, and a tag that numbers the messages from one rank to another. Combinations and copies are compute nodes. All
/// nodes name what they wait for as data dependencies.
///
/// `bytes` is the vector of docs/notation.md (m), of which the user blocks are equal parts but for a byte. Messages
/// have one byte at least, since ASTRA-sim refuses others. A combination takes `gamma_us_per_byte` for each of its
/// bytes, rounded to microseconds, the unit of the format. Throws Error(invalid_argument) if check_structure() does,
/// for negative bytes or prices, and if a rank or tag exceeds 2^31 - 1.
[[nodiscard]] std::string to_chakra(const Schedule& schedule, Count bytes, double gamma_us_per_byte = 0);

}  // namespace circoll
