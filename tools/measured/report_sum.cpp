#include "measured/report_sum.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>

#include "circoll/error.hpp"
#include "measured/file_kind.hpp"
#include "select/text_file.hpp"

namespace circoll {
namespace {

/// Adds numbers of a file, which may be of any size.
void add(std::int64_t& sum, std::int64_t number) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  sum = number > most - sum ? most : sum + number;
}

struct Building {
  CollectiveSum sum;
  std::map<std::string, double> seconds_by;
};

void add_rows(const ProgramReport& report, std::map<CalledCollective, Building>& collectives,
              std::map<std::string, ReasonSum>& reasons) {
  std::set<CalledCollective> called;
  std::set<std::string> given;
  for (const ReportedRow& row : report.rows) {
    auto& [sum, seconds_by] = collectives[row.collective];
    sum.collective = row.collective;
    sum.jobs += called.insert(row.collective).second ? 1 : 0;
    add(sum.calls, row.calls);
    sum.seconds += row.mean_inside_s;
    seconds_by[row.served_by] += row.mean_inside_s;
    if (!row.native()) continue;
    add(sum.native_calls, row.calls);
    const std::string reason = row.why_native.empty() ? "not given" : row.why_native;
    ReasonSum& because = reasons[reason];
    because.reason = reason;
    because.jobs += given.insert(reason).second ? 1 : 0;
    add(because.calls, row.calls);
  }
}

}  // namespace

ReportSum add_up(const std::vector<ProgramReport>& reports) {
  ReportSum all;
  std::map<CalledCollective, Building> collectives;
  std::map<std::string, ReasonSum> reasons;
  for (const ProgramReport& report : reports) {
    all.least_ranks = all.jobs == 0 ? report.ranks : std::min(all.least_ranks, report.ranks);
    all.most_ranks = std::max(all.most_ranks, report.ranks);
    ++all.jobs;
    ++all.mpis[report.mpi];
    add(all.calls, report.calls);
    add(all.native_calls, report.native_calls);
    all.collectives_s += report.collectives_s();
    if (report.program_s) {
      all.program_s += *report.program_s;
      all.program_collectives_s += report.collectives_s();
    }
    add_rows(report, collectives, reasons);
  }
  for (auto& [collective, built] : collectives) {
    built.sum.mostly =
        std::max_element(built.seconds_by.begin(), built.seconds_by.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        })->first;
    all.collectives.push_back(std::move(built.sum));
  }
  for (auto& [reason, sum] : reasons) all.reasons.push_back(std::move(sum));
  std::stable_sort(all.collectives.begin(), all.collectives.end(),
                   [](const CollectiveSum& a, const CollectiveSum& b) { return a.seconds > b.seconds; });
  std::stable_sort(all.reasons.begin(), all.reasons.end(),
                   [](const ReasonSum& a, const ReasonSum& b) { return a.calls > b.calls; });
  return all;
}

std::vector<ProgramReport> read_reports(const std::string& path) {
  if (!path.ends_with(".jsonl")) {
    const std::string text = select::read_text_file(path);
    if (measured::kind_of(text) != measured::FileKind::reports) return {report_from_json(text, path)};
  }
  std::ifstream file(path);
  if (!file) throw Error(ErrorCode::invalid_argument, "the file " + path + " cannot be read");
  std::vector<ProgramReport> reports;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!line.empty()) reports.push_back(report_from_json(line, path + ", line " + std::to_string(number)));
  }
  return reports;
}

}  // namespace circoll
