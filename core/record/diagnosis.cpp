// The judgement has three parts, and the first that finds something speaks:
//   - calls that have the same number on a communicator, and differ,
//   - processes that are gone or stopped while others wait for them,
//   - the graph of who waits for whom: its ends, or its cycle.
#include "record/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "circoll/collectives.hpp"
#include "facts/rank_list.hpp"
#include "facts/text.hpp"
#include "record/words.hpp"

namespace circoll::record {
namespace {

/// A rank that waits in a call.
struct Waiting {
  const SeenRank* rank = nullptr;
  const ReadCall* call = nullptr;
  [[nodiscard]] Place place() const { return {call->comm, call->number}; }
};

/// The first difference of two calls that should be alike; Reason::none if they may be.
Reason difference(const ReadCall& a, const ReadCall& b) {
  const bool same_mode = a.mode == b.mode;
  if (a.collective != b.collective || !same_mode) return Reason::collective;
  if (a.intercomm || b.intercomm) return Reason::none;
  if (a.root && b.root && *a.root != *b.root) return Reason::root;
  const bool reducing = !a.collective.neighbor && is_reducing(a.collective.collective);
  if (reducing && a.op && b.op && *a.op != *b.op) return Reason::op;
  const bool types = a.type && b.type && *a.type != *b.type;
  if (reducing && types) return Reason::type;
  if (!a.bytes || !b.bytes || *a.bytes == *b.bytes) return Reason::none;
  // Bytes may describe any type.
  const bool raw = a.type == Type::byte || b.type == Type::byte;
  return types && !raw ? Reason::type : Reason::count;
}

class Judgement {
 public:
  explicit Judgement(const SeenJob& job) : job_(&job), lives_(job.lives()) {
    for (const SeenRank& rank : job.ranks) {
      for (const ReadCall& call : rank.record.calls) {
        if (call.comm == unknown_comm) continue;
        if (call.counts()) add(rank, call);
        auto& last = last_[{number_of(rank), call.comm}];
        last = std::max(last, call.number);
      }
    }
    find_waiting();
  }

  [[nodiscard]] Diagnosis verdict() const {
    if (waiting_.empty()) return nobody_waits();
    if (auto found = mismatch()) return *found;
    if (auto found = lost()) return *found;
    return awaited();
  }

 private:
  /// A call that was refused for its arguments has the number of the next one, which takes its place.
  void add(const SeenRank& rank, const ReadCall& call) {
    std::vector<Waiting>& calls = calls_[{call.comm, call.number}];
    if (!calls.empty() && calls.back().rank == &rank) calls.pop_back();
    calls.push_back({&rank, &call});
  }

  void find_waiting() {
    for (const SeenRank& rank : job_->ranks) {
      const auto& calls = rank.record.calls;
      const auto open = std::find_if(calls.rbegin(), calls.rend(), [&](const ReadCall& call) {
        const bool has_waited = job_->since_ns == 0 || rank.elsewhere || call.begin_ns <= job_->since_ns;
        return call.blocks() && call.comm != unknown_comm && has_waited;
      });
      if (open != calls.rend()) waiting_.push_back({&rank, &*open});
    }
    // Ranks outside may wait for an operation that they have begun, and that some other rank has not.
    for (const SeenRank& rank : job_->ranks) {
      if (is_over(rank) || waiting_of(rank) != nullptr) continue;
      const std::string function = rank.mpi_function();
      const bool waits =
          function.empty() || function.find("Wait") != std::string::npos || function.find("Test") != std::string::npos;
      const auto& calls = rank.record.calls;
      const auto open = std::find_if(calls.rbegin(), calls.rend(), [&](const ReadCall& call) {
        return call.mode == CallMode::nonblocking && call.comm != unknown_comm && call.end_ns == 0 &&
               !missing({call.comm, call.number}).empty();
      });
      if (waits && open != calls.rend()) waiting_.push_back({&rank, &*open});
    }
  }

  [[nodiscard]] const Waiting* waiting_of(const SeenRank& rank) const {
    const auto found = std::ranges::find(waiting_, &rank, &Waiting::rank);
    return found == waiting_.end() ? nullptr : &*found;
  }

  /// A description of a communicator by any rank.
  [[nodiscard]] const ReadComm* comm(std::uint64_t id) const {
    const ReadComm* best = nullptr;
    for (const SeenRank& rank : job_->ranks) {
      const ReadComm* const one = rank.record.comm(id);
      if (one != nullptr && (best == nullptr || best->members.empty())) best = one;
    }
    return best;
  }

  /// The ranks of MPI_COMM_WORLD that belong to a communicator, as far as they are known.
  [[nodiscard]] std::vector<Rank> members(std::uint64_t id) const {
    std::vector<Rank> all;
    const ReadComm* const known = comm(id);
    const bool listed = id == world_id || (known != nullptr && !known->members.empty());
    if (!listed) {
      for (const SeenRank& rank : job_->ranks) {
        if (rank.record.comm(id) != nullptr) all.push_back(number_of(rank));
      }
      return all;
    }
    for (Rank world = 0; world < job_->size; ++world) {
      if (id == world_id || known->rank_of(world)) all.push_back(world);
    }
    return all;
  }

  /// True if the rank has made a call, as far as its record tells. That has the last calls only, and the numbers of
  /// calls on the communicators that it describes.
  [[nodiscard]] bool has_made(const SeenRank& rank, const Place& place) const {
    const auto found = last_.find({number_of(rank), place.comm});
    if (found != last_.end()) return found->second >= place.number;
    if (const ReadComm* const known = rank.record.comm(place.comm)) return known->calls >= place.number;
    return rank.record.begun > ring_calls;
  }

  /// The ranks that have not made a call, those without a record among them.
  [[nodiscard]] const std::vector<Rank>& missing(const Place& place) const {
    const auto [known, is_new] = missing_.try_emplace(place);
    std::vector<Rank>& all = known->second;
    if (!is_new) return all;
    for (const Rank member : members(place.comm)) {
      const SeenRank* const rank = job_->rank(member);
      if (rank == nullptr || !has_made(*rank, place)) all.push_back(member);
    }
    return all;
  }

  [[nodiscard]] Diagnosis nobody_waits() const {
    Diagnosis verdict{.sentence = "no rank waits in a collective call"};
    if (job_->ranks.empty()) verdict.sentence = "there is no record of any rank";
    std::vector<Rank> gone;
    for (const SeenRank& rank : job_->ranks) {
      if (rank.state == ProcessState::gone && !is_over(rank)) gone.push_back(number_of(rank));
    }
    if (!gone.empty() && lives_) {
      verdict.reason = Reason::killed;
      verdict.sentence += fmt::format("; the process of {} is gone", ranks_text(gone));
      verdict.ranks = std::move(gone);
    }
    return verdict;
  }

  /// The ranks that make one call in the same way.
  struct Group {
    const ReadCall* call = nullptr;
    const ReadRecord* record = nullptr;
    std::vector<Rank> ranks{};
  };

  [[nodiscard]] std::vector<Group> groups_at(const std::vector<Waiting>& calls) const {
    std::vector<Group> groups;
    for (const Waiting& one : calls) {
      const auto same = std::ranges::find_if(
          groups, [&](const Group& group) { return difference(*group.call, *one.call) == Reason::none; });
      Group& group = same != groups.end() ? *same : groups.emplace_back();
      if (group.call == nullptr) group = {.call = one.call, .record = &one.rank->record};
      group.ranks.push_back(number_of(*one.rank));
    }
    std::ranges::stable_sort(groups, [](const Group& a, const Group& b) { return a.ranks.size() < b.ranks.size(); });
    return groups;
  }

  /// The earliest calls at one place that differ: what follows may be their consequence.
  [[nodiscard]] std::optional<Diagnosis> mismatch() const {
    std::vector<Group> worst;
    Place where;
    std::int64_t earliest_ns = 0;
    for (const auto& [place, calls] : calls_) {
      std::vector<Group> groups = groups_at(calls);
      if (groups.size() < 2) continue;
      // Clocks of nodes agree on the time of day only.
      const ReadRecord& first = calls.front().rank->record;
      const std::int64_t begin_ns = first.started_ns + (calls.front().call->begin_ns - first.started_monotonic_ns);
      if (!worst.empty() && begin_ns >= earliest_ns) continue;
      worst = std::move(groups);
      where = place;
      earliest_ns = begin_ns;
    }
    if (worst.empty()) return std::nullopt;
    const Group& few = worst.front();
    const Group& most = worst.back();
    Diagnosis verdict{.reason = difference(*few.call, *most.call)};
    // Where no side has more ranks, each may be the wrong one.
    for (const Group& group : worst) {
      if (group.ranks.size() == few.ranks.size())
        verdict.ranks.insert(verdict.ranks.end(), group.ranks.begin(), group.ranks.end());
    }
    std::ranges::sort(verdict.ranks);
    verdict.sentence =
        fmt::format("{} {} {} where {} {} {} ({})", ranks_text(few.ranks), few.ranks.size() == 1 ? "calls" : "call",
                    arguments_text(*few.call), ranks_text(most.ranks), most.ranks.size() == 1 ? "calls" : "call",
                    arguments_text(*most.call), place_text(where, *few.record));
    for (std::size_t i = 1; i + 1 < worst.size(); ++i)
      verdict.more.push_back(fmt::format("{}: {}", ranks_text(worst[i].ranks), arguments_text(*worst[i].call)));
    return verdict;
  }

  /// The places at which somebody waits, with those who do.
  [[nodiscard]] std::map<Place, std::vector<Rank>> waits() const {
    std::map<Place, std::vector<Rank>> all;
    for (const Waiting& one : waiting_) all[one.place()].push_back(number_of(*one.rank));
    return all;
  }

  [[nodiscard]] std::string waits_text(const Place& place, const std::vector<Rank>& ranks) const {
    const auto& calls = calls_.at(place);
    return fmt::format("{} {} in {} ({})", ranks_text(ranks), ranks.size() == 1 ? "waits" : "wait",
                       function_name(*calls.front().call), place_text(place, calls.front().rank->record));
  }

  /// Processes that are gone or stopped, where others wait for them. Where all are gone, somebody has ended the job.
  [[nodiscard]] std::optional<Diagnosis> lost() const {
    if (!lives_) return std::nullopt;
    for (const ProcessState state : {ProcessState::gone, ProcessState::stopped}) {
      for (const auto& [place, ranks] : waits()) {
        Diagnosis verdict{.reason = state == ProcessState::gone ? Reason::killed : Reason::stopped};
        for (const Rank member : members(place.comm)) {
          const SeenRank* const rank = job_->rank(member);
          if (rank != nullptr && rank->state == state && !is_over(*rank) && !has_ended(*rank, place))
            verdict.ranks.push_back(member);
        }
        // One that is itself all that waits keeps nobody waiting.
        const bool others = std::ranges::any_of(
            ranks, [&](Rank rank) { return std::ranges::find(verdict.ranks, rank) == verdict.ranks.end(); });
        if (verdict.ranks.empty() || !others) continue;
        const char* const what = state == ProcessState::gone ? "is gone (killed, or it ended without MPI_Finalize)"
                                                             : "is stopped by a signal (kill -CONT lets it go on)";
        verdict.sentence = fmt::format("the process of {} {}; {}", ranks_text(verdict.ranks), what,
                                       waits_text(place, without(ranks, verdict.ranks)));
        return verdict;
      }
    }
    return std::nullopt;
  }

  /// The same of ranks for which nobody is known to wait.
  [[nodiscard]] std::optional<Diagnosis> lost_anywhere() const {
    if (!lives_) return std::nullopt;
    for (const SeenRank& rank : job_->ranks) {
      const bool gone = rank.state == ProcessState::gone;
      if (is_over(rank) || (!gone && rank.state != ProcessState::stopped)) continue;
      const auto all = waits();
      return Diagnosis{.reason = gone ? Reason::killed : Reason::stopped,
                       .ranks = {number_of(rank)},
                       .sentence = fmt::format("the process of rank {} is {}; {}", number_of(rank),
                                               gone ? "gone" : "stopped by a signal",
                                               waits_text(all.begin()->first, all.begin()->second))};
    }
    return std::nullopt;
  }

  [[nodiscard]] static std::vector<Rank> without(const std::vector<Rank>& ranks, const std::vector<Rank>& some) {
    std::vector<Rank> rest;
    std::ranges::set_difference(ranks, some, std::back_inserter(rest));
    return rest;
  }

  [[nodiscard]] bool has_ended(const SeenRank& rank, const Place& place) const {
    if (!has_made(rank, place)) return false;
    const auto& calls = rank.record.calls;
    const auto found = std::ranges::find_if(
        calls, [&](const ReadCall& call) { return call.comm == place.comm && call.number == place.number; });
    return found == calls.end() || found->end_ns != 0;
  }

  /// The reason for which a rank that waits nowhere does not come.
  [[nodiscard]] Reason where_is(Rank world) const {
    const SeenRank* const rank = job_->rank(world);
    if (rank == nullptr) return Reason::unknown;
    if (is_over(*rank)) return Reason::finalized;
    if (rank->state == ProcessState::gone) return lives_ ? Reason::killed : Reason::absent;
    if (rank->state == ProcessState::stopped) return Reason::stopped;
    if (!rank->mpi_function().empty()) return Reason::point_to_point;
    return rank->burns ? Reason::computing : Reason::absent;
  }

  [[nodiscard]] std::string where_text(Reason reason, const std::vector<Rank>& ranks) const {
    const bool one = ranks.size() == 1;
    const SeenRank* const rank = job_->rank(ranks.front());
    const std::string is = one ? "it is" : "they are";
    switch (reason) {
      case Reason::unknown:
        return "there is no record here";
      case Reason::finalized:
        return is + " in MPI_Finalize, or behind it";
      case Reason::point_to_point:
        return fmt::format("{} in {}", is, rank->mpi_function());
      case Reason::computing:
        return rank->stack.empty() ? is + " busy outside of collective calls"
                                   : fmt::format("{} computing outside of MPI, in {}", is, rank->stack.front());
      case Reason::absent:
        if (rank->state == ProcessState::gone) return "all processes are gone by now";
        if (rank->state == ProcessState::unknown) return is + " outside of collective calls";
        return rank->stack.empty() ? is + " asleep outside of collective calls"
                                   : fmt::format("{} asleep outside of MPI, in {}", is, rank->stack.front());
      case Reason::killed:
        return fmt::format("{} process{} gone", one ? "its" : "their", one ? " is" : "es are");
      case Reason::stopped:
        return is + " stopped by a signal";
      default:
        return {};
    }
  }

  /// Of several ranks that do not come, the others wait for the one with the greatest weight.
  [[nodiscard]] static int weight(Reason reason) {
    switch (reason) {
      case Reason::killed:
      case Reason::stopped:
        return 5;
      case Reason::computing:
        return 4;
      case Reason::absent:
        return 3;
      case Reason::finalized:
        return 2;
      case Reason::point_to_point:
        return 1;
      default:
        return 0;
    }
  }

  /// The ends of the graph of who waits for whom.
  [[nodiscard]] Diagnosis awaited() const {
    const auto all = waits();
    std::map<Reason, std::vector<Rank>> ends;
    std::map<Rank, Place> ends_at;
    for (const auto& [place, ranks] : all) {
      for (const Rank rank : missing(place)) {
        const SeenRank* const seen = job_->rank(rank);
        if (seen != nullptr && waiting_of(*seen) != nullptr) continue;
        if (ends_at.emplace(rank, place).second) ends[where_is(rank)].push_back(rank);
      }
    }
    if (ends.empty()) return in_a_circle(all);
    const auto worst = std::ranges::max_element(ends, {}, [](const auto& end) { return weight(end.first); });
    // One that receives or has ended may itself wait for a process that cannot answer.
    if (weight(worst->first) <= weight(Reason::finalized)) {
      if (auto found = lost_anywhere()) return *found;
    }
    Diagnosis verdict{.reason = worst->first, .ranks = worst->second};
    std::ranges::sort(verdict.ranks);
    const Place place = ends_at.at(verdict.ranks.front());
    if (verdict.reason == Reason::unknown) {
      verdict.sentence = fmt::format(
          "{}, and there is no record of {} here: look on another node, or have all nodes share a directory "
          "(CIRCOLL_RECORD)",
          waits_text(place, all.at(place)), ranks_text(verdict.ranks));
      return verdict;
    }
    const bool one = verdict.ranks.size() == 1;
    verdict.sentence =
        fmt::format("{} {} not come to {}, in which {} {}: {}", ranks_text(verdict.ranks), one ? "has" : "have",
                    call_text(place), ranks_text(all.at(place)), all.at(place).size() == 1 ? "waits" : "wait",
                    where_text(worst->first, verdict.ranks));
    for (const auto& [reason, ranks] : ends) {
      if (reason != worst->first)
        verdict.more.push_back(fmt::format("{}: {}", ranks_text(ranks), where_text(reason, ranks)));
    }
    return verdict;
  }

  [[nodiscard]] std::string call_text(const Place& place) const {
    const auto& calls = calls_.at(place);
    return fmt::format("{} ({})", function_name(*calls.front().call), place_text(place, calls.front().rank->record));
  }

  [[nodiscard]] Diagnosis in_a_circle(const std::map<Place, std::vector<Rank>>& all) const {
    std::vector<std::pair<Place, std::vector<Rank>>> circle;
    for (const auto& [place, ranks] : all) {
      if (!missing(place).empty()) circle.emplace_back(place, ranks);
    }
    if (circle.empty()) return all_inside(all);
    std::ranges::stable_sort(circle, {}, [](const auto& one) { return one.second.size(); });
    Diagnosis verdict{.reason = Reason::communicator};
    const std::size_t fewest = circle.front().second.size();
    for (const auto& [place, ranks] : circle) {
      if (ranks.size() == fewest) verdict.ranks.insert(verdict.ranks.end(), ranks.begin(), ranks.end());
      verdict.more.push_back(waits_text(place, ranks) + " for " + ranks_text(missing(place)));
    }
    std::ranges::sort(verdict.ranks);
    verdict.sentence = fmt::format("the ranks call on communicators in different orders: {}, while {}",
                                   waits_text(circle.front().first, circle.front().second),
                                   waits_text(circle.back().first, circle.back().second));
    return verdict;
  }

  [[nodiscard]] Diagnosis all_inside(const std::map<Place, std::vector<Rank>>& all) const {
    const auto& [place, ranks] = *all.begin();
    return {.reason = Reason::inside,
            .sentence =
                fmt::format("{}, which all of its ranks have called; no rank is missing", waits_text(place, ranks))};
  }

  const SeenJob* job_;
  bool lives_;
  std::map<Place, std::vector<Waiting>> calls_;                   ///< by place, of all ranks
  std::map<std::pair<Rank, std::uint64_t>, std::uint64_t> last_;  ///< number of the last call, by rank and communicator
  std::vector<Waiting> waiting_;
  mutable std::map<Place, std::vector<Rank>> missing_;  ///< as missing() has found them
};

}  // namespace

std::string SeenRank::mpi_function() const {
  // The outermost one is the program's call. Functions inside the library have other names, or these with a P.
  for (auto it = stack.rbegin(); it != stack.rend(); ++it) {
    std::string_view name = *it;
    name = name.substr(0, name.find('+'));
    if (name.starts_with("PMPI_")) name.remove_prefix(1);
    if (name.starts_with("MPI_")) return std::string(name);
    const bool fortran = name.starts_with("mpi_") && name.ends_with('_');
    if (fortran)
      return "MPI_" + std::string(1, static_cast<char>(std::toupper(name[4]))) +
             std::string(name.substr(5, name.find_last_not_of('_') - 4));
  }
  return {};
}

const SeenRank* SeenJob::rank(Rank world) const {
  const auto found = std::ranges::lower_bound(ranks, world, {}, [](const SeenRank& one) { return number_of(one); });
  return found == ranks.end() || number_of(*found) != world ? nullptr : &*found;
}

bool SeenJob::lives() const {
  // A process of another node may live.
  return std::ranges::any_of(ranks, [](const SeenRank& rank) { return rank.state != ProcessState::gone; });
}

std::string_view to_string(Reason reason) {
  constexpr std::array<std::string_view, 15> names{
      "none",    "collective",     "root",      "count",  "type",      "operator", "communicator", "killed",
      "stopped", "point_to_point", "computing", "absent", "finalized", "unknown",  "inside"};
  return names.at(static_cast<std::size_t>(reason));
}

Diagnosis judge(const SeenJob& job) { return Judgement(job).verdict(); }

}  // namespace circoll::record
