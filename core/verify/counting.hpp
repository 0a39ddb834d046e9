// Counted cost, and the proof that it is the declared one.
#pragma once

#include "verify/subject.hpp"

namespace circoll::verify {

/// Counts rounds, blocks, messages and the critical path into a verdict, and compares them with what is
/// claimed. `levels` (CriticalPath) are those of its execution. Throws Refuted.
void count(const Subject& subject, std::int64_t levels, Verdict& verdict);

}  // namespace circoll::verify
