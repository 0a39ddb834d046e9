// Launches of circoll-bench, their results, and their progress on a terminal and elsewhere.
#include "launches.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "facts/environment.hpp"
#include "facts/hash.hpp"
#include "process.hpp"
#include "select/text_file.hpp"
#include "tune/here.hpp"

namespace circoll::cli {
namespace {

namespace fs = std::filesystem;

/// A kept result; nothing if there is none, or if it is damaged.
std::optional<Launch> kept(const std::string& file, Rank ranks) {
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  try {
    Launch launch = launch_from_json(select::read_text_file(file), file);
    if (!launch.rows.empty() && launch.rows.front().p == ranks) return launch;
  } catch (const Error&) {
    return std::nullopt;  // it is measured anew
  }
  return std::nullopt;
}

/// Circoll's variables would change what is measured.
std::vector<std::pair<std::string, std::optional<std::string>>> clean_environment() {
  std::vector<std::pair<std::string, std::optional<std::string>>> all;
  for (const EnvironmentVariable& variable : environment_variables()) {
    all.emplace_back(std::string(variable.name),
                     variable.name == "CIRCOLL_PROFILE" ? std::optional<std::string>("off") : std::nullopt);
  }
  return all;
}

std::runtime_error failure(const LaunchPlan& plan, const Ending& ending) {
  if (ending.how == Ending::How::interrupted) return std::runtime_error("interrupted");
  return std::runtime_error(fmt::format("{} {} {} of {} {}", plan.launcher.file,
                                        plan.launcher.mpi == &openmpi_library ? "-np" : "-n", plan.ranks,
                                        fs::path(plan.bench).filename().string(), described(ending)));
}

/// The name of a result in the directory: the same for the same cells, ranks, times and library. The order of
/// candidates does not count, which a profile that was written meanwhile changes.
std::string result_file(const LaunchPlan& plan, std::vector<measured::AskedChoice> cells, int number) {
  for (measured::AskedChoice& cell : cells) std::ranges::sort(cell.candidates);
  const std::uint64_t digest = Hash()
                                   .add(cells_json(cells, 0))
                                   .add(fmt::format("{:.6f} {}", plan.seconds, plan.sync))
                                   .add(library_of(plan.launcher))
                                   .value();
  return fmt::format("{}-{}ranks-{:08x}-{}.json", plan.launcher.mpi->id, plan.ranks, digest & 0xffffffffU, number);
}

}  // namespace

ResultDirectory::ResultDirectory(const std::string& keep) : path_(keep), temporary_(keep.empty()) {
  if (!temporary_) {
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) throw std::runtime_error(fmt::format("the directory '{}' cannot be made: {}", path_, error.message()));
    return;
  }
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  path_ = ((error ? fs::path("/tmp") : parent) / "circoll-tune-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) {
    throw std::runtime_error(
        fmt::format("no temporary directory '{}' can be made ({}); name one by --keep", path_, std::strerror(errno)));
  }
}

ResultDirectory::~ResultDirectory() {
  std::error_code error;
  if (temporary_) fs::remove_all(path_, error);
}

Launch measure(const LaunchPlan& plan, const std::vector<measured::AskedChoice>& cells, int number,
               const std::string& what, const ResultDirectory& directory, Progress& progress) {
  const std::string file = (fs::path(directory.path()) / result_file(plan, cells, number)).string();
  const std::size_t series = series_in(cells);
  if (auto before = kept(file, plan.ranks)) {
    progress.skip(series);
    return *std::move(before);
  }
  progress.step(what);
  const std::string asked = file + ".cells", result = file + ".new";
  write_file(asked, cells_json(cells, static_cast<std::uint64_t>(number)));
  std::size_t lines = 0;
  const double expected_s = static_cast<double>(series) * plan.seconds;
  const Ending ending = run_program(
      {.arguments = launch_command(
           plan.launcher, plan.ranks, plan.how,
           {plan.bench, "--cells", asked, "--json", result, "--policy", "model", "--sync", plan.sync, "--seconds",
            fmt::format("{:.6f}", plan.seconds), "--seed", std::to_string(number), "--type",
            std::string(to_string(tuned_operator.type)), "--op", std::string(to_string(tuned_operator.op))}),
       .environment = clean_environment(),
       .limit = std::chrono::milliseconds(static_cast<long>((60 + 8 * expected_s) * 1000)),
       .on_line =
           [&](std::string_view line) {
             if (line.starts_with('#') || lines >= series) return;
             ++lines;
             progress.advance(1);
           },
       .on_tick = [&] { progress.show(); }});
  progress.clear();
  std::remove(asked.c_str());
  if (!ending.good()) {
    std::remove(result.c_str());
    throw failure(plan, ending);
  }
  Launch launch = launch_from_json(select::read_text_file(result), result);
  if (!launch.rows.empty() && launch.rows.front().p != plan.ranks) {
    std::remove(result.c_str());
    throw std::runtime_error(
        fmt::format("{} started {} ranks of {} that do not find each other: it is the launcher of "
                    "another MPI than the one that circoll-bench is linked to",
                    plan.launcher.file, plan.ranks, plan.bench));
  }
  // As a whole, or not at all: whoever goes on later takes what is there.
  fs::rename(result, file);
  return launch;
}

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}
Progress::~Progress() { clear(); }

void Progress::expect(std::size_t units, double seconds) {
  units_ = units;
  expected_s_ = seconds;
  done_ = left_out_ = 0;
  begin_ = Clock::now();
}

void Progress::step(const std::string& what) {
  what_ = what;
  if (terminal_) return show();
  fmt::print(stderr, "{}; about {} left\n", what_, readable_duration(left_s()));
}

double Progress::left_s() const {
  const std::size_t all = units_ - std::min(units_, left_out_);
  if (all == 0) return 0;
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(all));
  const double guess_s = expected_s_ * static_cast<double>(all) / static_cast<double>(units_);
  if (done_ == 0) return std::max(0.0, guess_s - elapsed_s);
  // The expected time counts less and less.
  const double trust = std::min(1.0, 4 * share);
  return (1 - share) * (trust * elapsed_s / share + (1 - trust) * guess_s);
}

void Progress::show() {
  if (!terminal_) return;
  const std::size_t all = std::max<std::size_t>(units_, 1);
  const std::size_t percent = std::min<std::size_t>(100, (done_ + left_out_) * 100 / all);
  fmt::print(stderr, "\r\033[K{}, {} %, about {} left", what_, percent, readable_duration(left_s()));
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

std::string readable_duration(double seconds) {
  const auto whole = static_cast<long>(std::lround(std::max(seconds, 0.0)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} min", (whole + 30) / 60);
}

}  // namespace circoll::cli
