#include "record/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

#include "record/reader.hpp"

namespace circoll::record {
namespace {

namespace fs = std::filesystem;

/// The text of a file of /proc; empty if there is none.
std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end != text.data() ? std::optional(value) : std::nullopt;
}

ProcessState state_of(char letter) {
  switch (letter) {
    case 'R':
      return ProcessState::running;
    case 'T':
    case 't':
      return ProcessState::stopped;
    case 'Z':
    case 'X':
    case 'x':
      return ProcessState::gone;
    default:
      return ProcessState::sleeping;
  }
}

}  // namespace

std::string_view to_string(ProcessState state) {
  constexpr std::array<std::string_view, 5> names{"unknown", "gone", "stopped", "running", "sleeping"};
  return names.at(static_cast<std::size_t>(state));
}

std::optional<ProcessSight> sight_from_stat(std::string_view text) {
  // The name of the program stands in parentheses and may have any characters.
  const std::size_t behind = text.rfind(')');
  if (behind == std::string_view::npos) return std::nullopt;
  std::vector<std::string_view> fields;  // from the third one on
  for (std::size_t at = behind + 1; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \n", at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    fields.push_back(text.substr(begin, end - begin));
    at = end;
  }
  if (fields.size() < 20 || fields[0].size() != 1) return std::nullopt;
  const auto parent = number_in(fields[1]), start = number_in(fields[19]);
  const auto user = number_in(fields[11]), system = number_in(fields[12]);
  if (!user || !system || !start || !parent) return std::nullopt;
  return ProcessSight{.state = state_of(fields[0][0]),
                      .start = *start,
                      .parent = static_cast<pid_t>(*parent),
                      .cpu_ticks = *user + *system};
}

ProcessSight look_at(pid_t pid, std::uint64_t expected_start) {
  if (pid <= 0) return {.state = ProcessState::gone};
  const std::string folder = "/proc/" + std::to_string(pid);
  auto sight = sight_from_stat(text_of(folder + "/stat"));
  if (!sight) return {.state = access("/proc/self/stat", R_OK) == 0 ? ProcessState::gone : ProcessState::unknown};
  if (expected_start != 0 && sight->start != expected_start) return {.state = ProcessState::gone};
  return *sight;
}

std::uint64_t process_start(pid_t pid) { return look_at(pid, 0).start; }

std::string variable_of(pid_t pid, std::string_view name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  }
  return {};
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string boot_id() {
  std::string text = text_of("/proc/sys/kernel/random/boot_id");
  text.resize(std::min(text.size(), text.find('\n')));
  std::array<char, 64> space{};
  const ssize_t length = readlink("/proc/self/ns/pid", space.data(), space.size());
  if (!text.empty() && length > 0) text += "/" + std::string(space.data(), static_cast<std::size_t>(length));
  return text;
}

bool is_same_boot(std::string_view boot, std::string_view other) {
  return !boot.empty() && boot.substr(0, boot.find('/')) == other.substr(0, other.find('/'));
}

bool catches(pid_t pid, int signal) {
  if (signal < 1 || signal > 64) return false;
  const std::string status = text_of("/proc/" + std::to_string(pid) + "/status");
  const std::size_t at = status.find("SigCgt:");
  if (at == std::string::npos) return false;
  const char* const begin = status.c_str() + at + 7;
  const std::uint64_t caught = std::strtoull(begin, nullptr, 16);
  return (caught >> static_cast<unsigned>(signal - 1) & 1U) != 0;
}

std::string usual_directory() {
  const std::string folder = "circoll-records-" + std::to_string(getuid());
  if (access("/dev/shm", W_OK | X_OK) == 0) return "/dev/shm/" + folder;
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");  // NOLINT(concurrency-mt-unsafe)
  return std::string(runtime != nullptr && *runtime == '/' ? runtime : "/tmp") + "/" + folder;
}

std::string record_name(std::uint64_t job, int rank) { return fmt::format("circoll-{:016x}-{}.record", job, rank); }

std::vector<std::string> records_in(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with("circoll-") && name.ends_with(".record")) found.push_back(it->path().string());
  }
  if (error) throw std::runtime_error(fmt::format("'{}' cannot be read: {}", directory, error.message()));
  std::ranges::sort(found);
  return found;
}

void remove_stale(const std::string& directory, std::size_t kept) noexcept {
  try {
    struct Job {
      std::int64_t started_ns = 0;
      bool lives = false;
      std::vector<std::string> files;
    };
    const std::string here = boot_id();
    std::map<std::uint64_t, Job> jobs;
    for (const std::string& path : records_in(directory)) {
      const ReadRecord record = read_record(path);
      if (!record.complaint.empty()) continue;  // perhaps of another version, or one that begins just now
      Job& job = jobs[record.job];
      job.started_ns = std::max(job.started_ns, record.started_ns);
      // Numbers of processes in another container mean nothing here.
      const bool hidden = record.boot != here && is_same_boot(record.boot, here);
      job.lives |= hidden || look_at(static_cast<pid_t>(record.pid), record.process_start).state != ProcessState::gone;
      job.files.push_back(path);
    }
    std::vector<Job> ended;
    for (auto& [name, job] : jobs) {
      if (!job.lives) ended.push_back(std::move(job));
    }
    std::ranges::sort(ended, [](const Job& a, const Job& b) { return a.started_ns > b.started_ns; });
    for (std::size_t i = kept; i < ended.size(); ++i) {
      for (const std::string& path : ended[i].files) (void)unlink(path.c_str());
    }
  } catch (...) {
    return;
  }
}

}  // namespace circoll::record
