#include "interpose/hang_watch.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): pthread_sigmask is POSIX's

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <vector>

#include "facts/environment.hpp"
#include "facts/text.hpp"
#include "record/diagnosis.hpp"
#include "record/process.hpp"
#include "record/writer.hpp"

namespace circoll::interpose {
namespace {

/// The time after which a call counts as one that hangs. Nothing if there is no limit, or a wrong one, with a warning.
std::optional<std::chrono::seconds> hang_limit(int rank) {
  const auto text = environment("CIRCOLL_HANG_AFTER");
  if (!text || *text == "off") return std::nullopt;
  const bool unit = text->ends_with('s');
  const auto seconds = parse_number(std::string_view(*text).substr(0, text->size() - (unit ? 1 : 0)));
  constexpr std::int64_t most = 1'000'000'000;  // in nanoseconds it is a number, too
  if (seconds && *seconds > 0) return std::chrono::seconds(std::min(*seconds, most));
  if (rank == 0) {
    std::fprintf(stderr, "circoll: CIRCOLL_HANG_AFTER: '%s' is not a number of seconds; nothing is watched\n",
                 text->c_str());
  }
  return std::nullopt;
}

/// True if the process of a record has ended, or is stopped.
bool cannot_speak(const record::ReadRecord& record) {
  const record::ProcessState state = record::look_at(static_cast<pid_t>(record.pid), record.process_start).state;
  return state == record::ProcessState::gone || state == record::ProcessState::stopped;
}

/// Looks after which a rank leaves it to the others for good.
constexpr int most_left_to_others = 5;

}  // namespace

std::unique_ptr<HangWatch> HangWatch::begin(const std::string& directory, int rank, const std::string& path) {
  const auto limit = hang_limit(rank);
  if (!limit) return nullptr;
  try {
    return std::make_unique<HangWatch>(directory, rank, path, *limit);
  } catch (const std::system_error&) {
    return nullptr;
  }
}

HangWatch::HangWatch(std::string directory, int rank, std::string path, std::chrono::seconds limit)
    : directory_(std::move(directory)), path_(std::move(path)), rank_(rank), limit_(limit) {
  // Signals are for the program's threads.
  sigset_t all{}, before{};
  sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

HangWatch::~HangWatch() {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  thread_.join();
}

void HangWatch::run() noexcept {
  std::unique_lock lock(mutex_);
  while (!over_.wait_for(lock, std::chrono::seconds(1), [this] { return is_over_; })) {
    try {
      if (looks_hung() && tell()) return;
    } catch (...) {
      return;  // it is no reason to disturb the program
    }
  }
}

std::optional<std::int64_t> HangWatch::hangs_since(const record::ReadRecord& record) const {
  const std::int64_t latest_ns = record::coarse_ns() - std::chrono::nanoseconds(limit_).count();
  const auto found = std::ranges::find_if(
      record.calls, [&](const record::ReadCall& call) { return call.blocks() && call.begin_ns <= latest_ns; });
  return found == record.calls.end() ? std::nullopt : std::optional(found->begin_ns);
}

bool HangWatch::tell() {
  std::vector<std::string> complaints;
  for (record::SeenJob& job : record::jobs_in(directory_, &complaints)) {
    const record::SeenRank* const own = job.rank(rank_);
    if (own == nullptr || own->record.path != path_) continue;
    const auto since = hangs_since(own->record);
    if (!since) return false;
    const bool another = std::ranges::any_of(job.ranks, [&](const record::SeenRank& rank) {
      if (rank.record.host != own->record.host || cannot_speak(rank.record)) return false;
      const auto its = hangs_since(rank.record);
      return its && (*its < *since || (*its == *since && rank.record.rank < rank_));
    });
    if (another) return ++left_to_others_ >= most_left_to_others;
    record::look(job, {});
    const std::string text = record::text_of(job, record::judge(job));
    std::fprintf(stderr, "circoll: rank %d has been in a call for %lld s: %s", rank_,
                 static_cast<long long>(limit_.count()), text.c_str());
    return true;
  }
  return true;
}

}  // namespace circoll::interpose
