// Recognises the files that Circoll writes. Every reader can name the kind of a file that is none of its own.
//
// All readers of the tools call require_kind() or read_file_of() before they read. Files of people and of other
// programs are not recognised. Their readers say what is wrong with them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "circoll/model.hpp"

namespace circoll::measured {

enum class FileKind : std::uint8_t {
  unknown,      ///< none of the others, or damaged
  report,       ///< of CIRCOLL_REPORT
  reports,      ///< of CIRCOLL_REPORT=FILE.jsonl, with two lines or more
  report_sum,   ///< of circoll report --json
  trace,        ///< of CIRCOLL_TRACE
  calls,        ///< of CIRCOLL_TRACE=FILE.calls
  comparison,   ///< of circoll compare --json
  launch,       ///< of circoll bench --json
  sides,        ///< of circoll bench --guidelines --json; it is a launch, too
  merged,       ///< of circoll merge --json
  calibration,  ///< of circoll bench --calibrate
  machine,      ///< of circoll calibrate
  rules,        ///< of circoll tune
  profile,      ///< of circoll tune --here
  learned,      ///< of CIRCOLL_LEARN
  cells,        ///< for circoll bench --cells
  campaign,     ///< a shard of circoll tune --for
  shard,        ///< a shard of circoll verify
  topology,     ///< for circoll simulate
  schedules,    ///< in text, JSON or XML
  doctor,       ///< of circoll doctor --json
};

[[nodiscard]] FileKind kind_of(std::string_view text);

/// Throws Error(parse) if a text is recognised and is none of `wanted`. The error names the kind, and the command that
/// reads it.
void require_kind(std::string_view text, const std::string& path, std::initializer_list<FileKind> wanted);

/// The text of a file, after require_kind(). Throws Error(invalid_argument) if it cannot be read.
[[nodiscard]] std::string read_file_of(const std::string& path, std::initializer_list<FileKind> wanted);

/// The path itself, or the installed file of a machine with this name. Throws Error(invalid_argument) with the
/// installed names if there is neither.
[[nodiscard]] std::string path_of_machine(const std::string& path);
/// The machine of such a path or name, as read_machine() reads it.
[[nodiscard]] Machine read_machine_file(const std::string& path);
/// Looks at the file of a policy "file:PATH". Other policies pass.
void require_rules(std::string_view policy);

}  // namespace circoll::measured
