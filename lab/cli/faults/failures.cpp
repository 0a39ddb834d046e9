// The failures of a request, as a table over rounds and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "cli/faults/failures.hpp"
#include "commands.hpp"
#include "faults/faults_json.hpp"

namespace circoll::cli {
namespace {

using nlohmann::ordered_json;

/// Searches for the least pieces are long where thousands of states are looked at.
FailureBounds bounds_for(const FailureRequest& request) {
  FailureBounds bounds;
  if (request.size > 16 && request.failures.size() > 1) bounds.to_minimize = 200;
  return bounds;
}

/// "0 2-4 7": ranks in rising order.
std::string runs_of(const std::vector<Rank>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (!text.empty()) text += ' ';
    const auto first = ranks.begin() + static_cast<std::ptrdiff_t>(i);
    const auto last = ranks.begin() + static_cast<std::ptrdiff_t>(end);
    text += end - i > 2 ? fmt::format("{}-{}", *first, *(last - 1)) : fmt::format("{}", fmt::join(first, last, " "));
    i = end;
  }
  return text;
}

/// The classes of a round's failures: one name, or each with the failed ranks.
std::string classes_of(const std::vector<const Failure*>& round) {
  std::map<FailureClass, std::vector<Rank>> by_class;
  for (const Failure* f : round) by_class[f->outcome.what].push_back(f->failed.front());
  if (by_class.size() == 1) return std::string(to_string(by_class.begin()->first));
  std::string text;
  for (const auto& [what, ranks] : by_class) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{}: {}", to_string(what), runs_of(ranks));
  }
  return text;
}

/// The classes that the orders of delivery within the round lead to, the worst first.
std::string orders_of(const std::vector<const Failure*>& round) {
  std::set<FailureClass> classes;
  for (const Failure* f : round) {
    for (const Delivery& d : f->deliveries) classes.insert(d.outcome.what);
  }
  std::string text;
  for (const FailureClass what : classes) text += fmt::format("{}{}", text.empty() ? "" : " or ", to_string(what));
  return text;
}

/// The worst numbers of a round.
struct Worst {
  int copies = -1;
  std::int64_t lost = 0;
  std::int64_t of = 0;
  int pieces = 0;
};

Worst worst_of(const std::vector<const Failure*>& round) {
  Worst worst;
  for (const Failure* f : round) {
    const FailureOutcome& o = f->outcome;
    if (o.copies >= 0) worst.copies = worst.copies < 0 ? o.copies : std::min(worst.copies, o.copies);
    if (o.lost > worst.lost || worst.of == 0) {
      worst.lost = o.lost;
      worst.of = o.contributed;
    }
    const bool possible = o.what == FailureClass::surv || is_full(o.what);
    if (possible) worst.pieces = worst.pieces < 0 || o.pieces < 0 ? -1 : std::max(worst.pieces, o.pieces);
  }
  return worst;
}

}  // namespace

std::string subject_of(const FailureRequest& request) {
  return request.schedules.empty() ? with_params(request.selection) : request.schedules.front().id;
}

FaultAnalysis analysis_of(const FailureRequest& request, FailureBounds bounds) {
  if (!request.schedules.empty()) return {request.schedules, request.keep, request.idempotent, bounds};
  const Shape shape{
      .size = request.size, .root = request.root, .in_place = request.in_place, .params = request.selection.params};
  return {*request.selection.algorithm, request.selection.collective, shape, request.keep, bounds};
}

std::vector<std::uint32_t> rounds_of(const FailureRequest& request, const FaultAnalysis& analysis) {
  if (!request.rounds.empty()) return request.rounds;
  std::vector<std::uint32_t> rounds(std::size_t{analysis.rounds()} + 1);
  std::iota(rounds.begin(), rounds.end(), 0U);
  return rounds;
}

ordered_json head_of(const FailureRequest& request) {
  return {{"id", request.schedules.empty() ? request.selection.id() : request.schedules.front().id},
          {"params", request.selection.params},
          {"p", request.size},
          {"root", request.root},
          {"in_place", request.in_place},
          {"keep", to_string(request.keep)}};
}

Failures find_failures(const FailureRequest& request) {
  const FaultAnalysis analysis = analysis_of(request, bounds_for(request));
  Failures failures{.rounds = analysis.rounds(), .blocks = analysis.blocks()};
  for (const std::uint32_t k : rounds_of(request, analysis)) {
    for (const std::vector<Rank>& failed : request.failures) {
      Failure failure{
          .failed = failed, .k = k, .outcome = request.ahead ? analysis.ahead(k, failed) : analysis.after(k, failed)};
      if (request.orders && k < analysis.rounds()) failure.deliveries = analysis.within(k, failed);
      failures.all.push_back(std::move(failure));
    }
  }
  return failures;
}

std::string failures_table(const FailureRequest& request, const Failures& failures) {
  const bool single = request.failures.size() > 1;
  std::string text =
      fmt::format("{}, p = {}, {} block{}, {}, keep = {}{}\n", subject_of(request), request.size, failures.blocks,
                  failures.blocks == 1 ? "" : "s",
                  single ? "one rank fails" : fmt::format("failed: {}", fmt::join(request.failures.front(), ", ")),
                  to_string(request.keep), request.ahead ? ", survivors go on" : "");
  std::vector<std::vector<const Failure*>> rounds;
  for (const Failure& f : failures.all) {
    if (rounds.empty() || rounds.back().front()->k != f.k) rounds.emplace_back();
    rounds.back().push_back(&f);
  }
  std::size_t width = 8;  // of the column of classes
  for (const auto& round : rounds) width = std::max(width, classes_of(round).size() + 2);
  text += fmt::format("{:>4}  {:<{}}{:>6}{:>12}{:>8}{}\n", "k", "class", width, "copies", "lost", "pieces",
                      request.orders ? "  within round k" : "");
  for (const auto& round : rounds) {
    const Worst worst = worst_of(round);
    std::string line = fmt::format("{:>4}  {:<{}}{:>6}{:>12}{:>8}", round.front()->k, classes_of(round), width,
                                   worst.copies < 0 ? "-" : fmt::format("{}", worst.copies),
                                   worst.of == 0 ? "-" : fmt::format("{} of {}", worst.lost, worst.of),
                                   worst.pieces < 0    ? "?"
                                   : worst.pieces == 0 ? "-"
                                                       : fmt::format("{}", worst.pieces));
    if (request.orders) line += "  " + orders_of(round);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string failures_json(const FailureRequest& request, const Failures& failures) {
  ordered_json json = head_of(request);
  json.update({{"ahead", request.ahead}, {"rounds", failures.rounds}, {"blocks", failures.blocks}});
  json["failures"] = ordered_json::array();
  for (const Failure& f : failures.all) {
    ordered_json entry{{"failed", f.failed}, {"k", f.k}};
    entry.update(as_json(f.outcome));
    if (!f.deliveries.empty()) {
      entry["within"] = ordered_json::array();
      for (const Delivery& d : f.deliveries) {
        ordered_json delivery{{"arrived_from", d.arrived_from}};
        delivery.update(as_json(d.outcome));
        entry["within"].push_back(std::move(delivery));
      }
    }
    json["failures"].push_back(std::move(entry));
  }
  return json.dump(2) + "\n";
}

}  // namespace circoll::cli
