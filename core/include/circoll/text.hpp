// Stable text and JSON forms of a schedule, with readers. Both forms are described in docs/lab/formats.md.
//
// Writing and reading again gives the same schedule, entry by entry, once it is normalised. Builder::finish() returns
// normalised schedules. Names in the forms have only the characters [A-Za-z0-9_./:=,+-], and numbers go up to 2^31 - 1
// (values of parameters: 64 bits). The writers refuse a schedule that exceeds this.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "circoll/schedule.hpp"

namespace circoll {

/// The same schedule without details that no reader looks at. Ranges stand in the order of the steps that use them, one
/// entry per use. Unused operands are {0, 0}, and unused peers -1. A buffer with a list has no progression. Throws
/// Error(invalid_argument) if check_structure() does.
[[nodiscard]] Schedule normalised(const Schedule& schedule);

/// The text form: one line per step, ended by "end". Texts may follow one another in a file. Throws
/// Error(invalid_argument) if check_structure() does, or if a name or number cannot be written (see above).
[[nodiscard]] std::string to_text(const Schedule& given);
/// Reads exactly one schedule. Memory is bounded by the length of the text.
/// Throws Error(parse), naming the line, if the text is not of the form. Throws StructureError, with the line of the
/// step, if check_structure() does.
[[nodiscard]] Schedule schedule_from_text(std::string_view text);
/// Reads any number of schedules that follow one another. Errors as above.
[[nodiscard]] std::vector<Schedule> schedules_from_text(std::string_view text);

/// The JSON form: one object. Errors as to_text().
[[nodiscard]] std::string to_json(const Schedule& given);
/// Reads one object. Keys that are missing, unknown or given twice, wrong types and integers out of range are
/// Error(parse) with the path of the value ("steps[3].left[0][2]"). Throws StructureError, with the line of the step,
/// if check_structure() does.
[[nodiscard]] Schedule schedule_from_json(std::string_view text);
/// Reads an array of such objects; paths then begin with "[i]". Errors as above.
[[nodiscard]] std::vector<Schedule> schedules_from_json(std::string_view text);

}  // namespace circoll
