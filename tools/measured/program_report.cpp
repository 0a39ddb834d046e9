// Reads reports. They come from programs of users, perhaps of other versions: nothing in them is believed unseen.
#include "measured/program_report.hpp"

#include <cmath>

#include "measured/file_kind.hpp"
#include "select/text_file.hpp"

namespace circoll {
namespace {

using select::Json;
using select::Members;

/// A number of the object that is not negative.
std::int64_t count(const Members& members, const Json& at, std::string_view key) {
  const std::int64_t value = members.integer(key);
  if (value < 0) members.fail(at, "'" + std::string(key) + "' must not be negative");
  return value;
}

double seconds(const Members& members, const Json& at, std::string_view key) {
  const double value = members.number(key);
  if (!(value >= 0) || !std::isfinite(value)) members.fail(at, "'" + std::string(key) + "' is no time");
  return value;
}

/// The mean over the ranks; where there is none, what the slowest rank took.
double mean_or_most(const Members& members, const Json& at, std::string_view mean, std::string_view most) {
  return seconds(members, at, members.find(mean) != nullptr ? mean : most);
}

ReportedSize read_report_size(const Json& entry, const std::string& source) {
  const Members size(entry, source);
  return {.bytes_from = count(size, entry, "bytes_from"),
          .calls = count(size, entry, "calls"),
          .bytes = count(size, entry, "bytes"),
          .mean_s = mean_or_most(size, entry, "mean_s", "seconds"),
          .least_s = size.find("least_s") == nullptr ? 0 : seconds(size, entry, "least_s"),
          .algorithm = size.text("algorithm")};
}

ReportedRow read_report_row(const Json& entry, const std::string& source) {
  const Members row(entry, source);
  const std::string name = row.text("collective");
  const auto collective = called_from_string(name);
  if (!collective) row.fail(entry, "'" + name + "' is no collective");
  ReportedRow read{.mode = row.text("mode"),
                   .collective = *collective,
                   .served_by = row.text("served_by"),
                   .calls = count(row, entry, "calls"),
                   .bytes = count(row, entry, "bytes"),
                   .mean_s = mean_or_most(row, entry, "mean_s", "seconds"),
                   .mean_inside_s = mean_or_most(row, entry, "mean_inside_s", "inside_s"),
                   .sizes = {}};
  if (const Json* const why = row.find("why_native"); why != nullptr && why->string() != nullptr) {
    read.why_native = *why->string();
  }
  if (read.mode != "blocking" && read.mode != "nonblocking" && read.mode != "persistent") {
    row.fail(entry, "'" + read.mode + "' is no mode of a call");
  }
  if (!std::holds_alternative<Json::Null>(row.at("comm_size").value)) {
    read.comm_size = count(row, entry, "comm_size");
  }
  const Json& histogram = row.at("histogram");
  if (histogram.array() == nullptr) row.fail(histogram, "'histogram' is no list");
  std::int64_t calls = 0;
  for (const Json& size : *histogram.array()) {
    read.sizes.push_back(read_report_size(size, source));
    if (read.sizes.back().calls > read.calls - calls) row.fail(size, "the sizes have more calls than their row");
    calls += read.sizes.back().calls;
  }
  return read;
}

}  // namespace

double ProgramReport::collectives_s() const {
  double sum = 0;
  for (const ReportedRow& row : rows) sum += row.mean_inside_s;
  return sum;
}

ProgramReport report_from_json(std::string_view json, const std::string& source) {
  measured::require_kind(json, source, {measured::FileKind::report});
  const Json root = select::read_json(json, source);
  if (root.member("circoll_report") == nullptr) {
    select::fail_at(source, root.line, "this is no report; CIRCOLL_REPORT=FILE.json writes one (docs/user/reports.md)");
  }
  const Members members(root, source);
  members.require_version("circoll_report");
  ProgramReport report{.source = source, .mpi = members.text("mpi"), .rows = {}};
  const std::int64_t ranks = members.integer("ranks");
  if (ranks < 1 || ranks > 1 << 30) members.fail(root, "'ranks' is out of range");
  report.ranks = static_cast<int>(ranks);
  report.calls = count(members, root, "calls");
  report.native_calls = count(members, root, "native_calls");
  if (const Json* const program = members.find("program"); program != nullptr && program->object() != nullptr) {
    const Members of_program(*program, source);
    report.program_s = seconds(of_program, *program, "mean_s");
    if (of_program.find("name") != nullptr) report.program = of_program.text("name");
  }
  if (const Json* const load = members.find("load"); load != nullptr && load->object() != nullptr) {
    const Members shares(*load, source);
    report.others = seconds(shares, *load, "others");
    if (shares.find("pressure") != nullptr) report.pressure = seconds(shares, *load, "pressure");
  }
  const Json& rows = members.at("rows");
  if (rows.array() == nullptr) members.fail(rows, "'rows' is no list");
  for (const Json& entry : *rows.array()) report.rows.push_back(read_report_row(entry, source));
  return report;
}

}  // namespace circoll
