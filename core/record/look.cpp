// Gathers the records of jobs, and looks at their processes on this node.
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX's
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "record/diagnosis.hpp"
#include "record/symbols.hpp"
#include "record/writer.hpp"

namespace circoll::record {
namespace {

/// True if the process of a record is one that /proc here shows.
bool is_here(const ReadRecord& record) {
  return !record.boot.empty() && record.boot == boot_id() && record.host == host_name();
}

/// True if the file and the process have one owner, so that nobody's record has the signal sent to others.
bool has_same_owner(const std::string& path, pid_t pid) {
  struct stat file {
  }, process{};
  return stat(path.c_str(), &file) == 0 && stat(("/proc/" + std::to_string(pid)).c_str(), &process) == 0 &&
         file.st_uid == process.st_uid;
}

/// Has living processes write their stacks, and reads them.
void take_stacks(std::vector<SeenRank*>& ranks) {
  using namespace std::chrono_literals;
  std::vector<SeenRank*> asked;
  for (SeenRank* const rank : ranks) {
    const auto pid = static_cast<pid_t>(rank->record.pid);
    // The handler is the drop-in's own. A process that has none would be ended by the signal.
    const int signal = rank->record.signal;
    if (rank->state == ProcessState::stopped || signal <= SIGRTMIN || !catches(pid, signal)) continue;
    if (!has_same_owner(rank->record.path, pid)) continue;
    if (kill(pid, signal) == 0) asked.push_back(rank);
  }
  for (int attempt = 0; attempt < 30 && !asked.empty(); ++attempt) {
    std::this_thread::sleep_for(10ms);
    std::erase_if(asked, [](SeenRank* rank) {
      ReadRecord now = read_record(rank->record.path);
      if (!now.complaint.empty() || now.stacks <= rank->record.stacks) return false;
      rank->stack = symbols_at(static_cast<pid_t>(now.pid), now.stack);
      rank->record = std::move(now);
      return true;
    });
  }
}

}  // namespace

std::vector<SeenJob> jobs_in(const std::string& directory, std::vector<std::string>* complaints) {
  std::map<std::uint64_t, SeenJob> jobs;
  for (const std::string& path : records_in(directory)) {
    ReadRecord record = read_record(path);
    if (!record.complaint.empty()) {
      complaints->push_back(std::move(record.complaint));
      continue;
    }
    SeenJob& job = jobs[record.job];
    job.id = record.job;
    job.size = std::max(job.size, record.size);
    job.ranks.push_back({.record = std::move(record)});
  }
  std::vector<SeenJob> all;
  for (auto& [id, job] : jobs) {
    std::ranges::sort(job.ranks, {}, [](const SeenRank& rank) { return rank.record.rank; });
    // clang 14 cannot compile std::ranges::unique with libstdc++ 12.
    const auto same = [](const SeenRank& a, const SeenRank& b) { return a.record.rank == b.record.rank; };
    job.ranks.erase(std::unique(job.ranks.begin(), job.ranks.end(), same), job.ranks.end());
    all.push_back(std::move(job));
  }
  std::ranges::stable_sort(all, std::ranges::greater{},
                           [](const SeenJob& job) { return job.ranks.front().record.started_ns; });
  return all;
}

void look(SeenJob& job, const LookOptions& options) {
  std::vector<SeenRank*> living;
  std::vector<std::uint64_t> ticks;
  for (SeenRank& rank : job.ranks) {
    rank.elsewhere = !is_here(rank.record);
    if (rank.elsewhere) continue;
    job.now_ns = job.since_ns = coarse_ns();
    const ProcessSight sight = look_at(static_cast<pid_t>(rank.record.pid), rank.record.process_start);
    rank.state = sight.state;
    if (sight.state == ProcessState::gone || sight.state == ProcessState::unknown) continue;
    living.push_back(&rank);
    ticks.push_back(sight.cpu_ticks);
  }
  if (living.empty()) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(options.pause_ms));
  for (std::size_t i = 0; i < living.size(); ++i) {
    const ReadRecord& record = living[i]->record;
    const ProcessSight sight = look_at(static_cast<pid_t>(record.pid), record.process_start);
    living[i]->state = sight.state;
    // Where processes outnumber the processors, one that is ready to run may have had no turn.
    living[i]->burns = sight.state == ProcessState::running || sight.cpu_ticks >= ticks[i] + 3;
  }
  // Records once more, so that calls and states are of one time.
  for (SeenRank* const rank : living) {
    ReadRecord now = read_record(rank->record.path);
    if (now.complaint.empty()) rank->record = std::move(now);
  }
  job.now_ns = coarse_ns();
  std::erase_if(living, [](const SeenRank* rank) { return rank->state == ProcessState::gone; });
  if (options.stacks) take_stacks(living);
}

}  // namespace circoll::record
