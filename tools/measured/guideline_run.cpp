// Reads files of circoll-bench --guidelines.
#include <algorithm>

#include "measured/guidelines.hpp"
#include "select/text_file.hpp"

namespace circoll {
namespace {

bool is_side(const std::string& name) {
  return std::any_of(guidelines().begin(), guidelines().end(), [&](const Guideline& guideline) {
    return to_string(guideline.left) == name || to_string(guideline.right) == name;
  });
}

SideTime read_side(const select::Json& entry, const std::string& source) {
  const select::Members row(entry, source);
  SideTime one{.side = row.text("side"),
               .algorithm = row.text("algorithm"),
               .served_by = row.text("served_by"),
               .p = row.integer("p"),
               .bytes = row.integer("bytes"),
               .reps = row.integer("reps"),
               .median_s = row.number("median_us") * 1e-6};
  if (!is_side(one.side)) row.fail(row.at("side"), "'" + one.side + "' is no side of a guideline");
  if (one.p < 1 || one.bytes < 0 || one.reps < 0 || !(one.median_s >= 0) || (one.reps > 0 && one.median_s == 0)) {
    row.fail(entry, "'p', 'bytes', 'reps' or 'median_us' is out of range");
  }
  return one;
}

}  // namespace

GuidelineRun guideline_run_from_json(std::string_view json, const std::string& source) {
  GuidelineRun run{.launch = launch_from_json(json, source), .sides = {}};
  const select::Json root = select::read_json(json, source);
  const select::Json* const sides = root.member("sides");
  if (sides == nullptr || sides->array() == nullptr) {
    select::fail_at(source, root.line, "this is no circoll-bench --guidelines --json: it has no 'sides'");
  }
  for (const select::Json& entry : *sides->array()) run.sides.push_back(read_side(entry, source));
  return run;
}

}  // namespace circoll
