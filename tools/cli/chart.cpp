#include "chart.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "process.hpp"

namespace circoll::cli {
namespace {

namespace fs = std::filesystem;

/// The exit code of the program that draws if Python has no matplotlib.
constexpr int needs_matplotlib = 3;

/// The program that draws, in the build tree or the prefix of this executable.
std::string find_drawer() {
  const fs::path tree = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  const fs::path program = tree / "share" / "circoll" / "plot";
  std::error_code error;
  if (fs::is_directory(program, error)) return program.string();
  throw Error(ErrorCode::unsupported,
              fmt::format("the program that draws charts is not at {}, where it is installed", program.string()));
}

/// A file that vanishes with this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) : TemporaryFile() { write_file(path_, text); }
  ~TemporaryFile() {
    std::error_code error;
    fs::remove(path_, error);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  TemporaryFile() : path_((fs::temp_directory_path() / "circoll-chart-XXXXXX").string()) {
    const int file = mkstemp(path_.data());
    if (file < 0) throw std::runtime_error("there is no place for a temporary file in " + path_);
    close(file);
  }

  std::string path_;
};

Ending run_drawer(const std::string& python, const std::vector<std::string>& words) {
  ChildProgram program{.arguments = {python, "-B", find_drawer()}, .limit = std::chrono::minutes(10)};
  program.arguments.insert(program.arguments.end(), words.begin(), words.end());
  return run_program(program);
}

[[noreturn]] void fail(const Ending& ending) {
  throw std::runtime_error(fmt::format("no chart: {}{}", how_ended(ending), last_lines(ending, 1)));
}

}  // namespace

Chart::Chart(std::string output) : output_(std::move(output)) {
  std::error_code error;
  const fs::path folder = fs::absolute(output_).parent_path();
  const fs::path place = fs::exists(output_, error) ? fs::path(output_) : folder;
  if (access(place.c_str(), W_OK) != 0)
    throw std::runtime_error(fmt::format("'{}' cannot be written: {}", output_, std::strerror(errno)));
  // A Python of the user's own may come before the system's, and lack what the system's has.
  for (const char* const python : {"python3", "/usr/bin/python3"}) {
    const Ending ending = run_drawer(python, {"--output=" + output_});
    python_ = python;
    if (ending.good()) return;
    const bool lacks = ending.how == Ending::How::exited && ending.code == needs_matplotlib;
    if (ending.how != Ending::How::not_started && !lacks) fail(ending);
  }
  throw Error(
      ErrorCode::unsupported,
      "charts are drawn by matplotlib, and no python3 has it: apt-get install python3-matplotlib, or python3 -m "
      "pip install matplotlib. --json prints the numbers");
}

void Chart::draw(const std::vector<std::string>& files, const ChartOptions& options) const {
  std::vector<std::string> words{"--output=" + output_};
  if (!options.kind.empty()) words.push_back("--kind=" + options.kind);
  if (!options.title.empty()) words.push_back("--title=" + options.title);
  words.emplace_back("--");
  words.insert(words.end(), files.begin(), files.end());
  if (interrupted()) throw std::runtime_error("no chart: stopped before");
  if (const Ending ending = run_drawer(python_, words); !ending.good()) fail(ending);
}

void Chart::draw_json(const std::string& json) const { draw({TemporaryFile(json).path()}); }

std::optional<Chart> chart_for(const std::string& output) {
  return output.empty() ? std::nullopt : std::optional<Chart>(output);
}

CLI::Validator chart_file() {
  return {[](std::string& path) {
            for (const char* const ending : {".svg", ".pdf", ".png"}) {
              if (path.ends_with(ending)) return std::string();
            }
            return "'" + path + "' ends in none of .svg, .pdf, .png";
          },
          ""};
}

void add_plot_option(CLI::App& command, std::string& output) {
  command.add_option("--plot", output, "Draw a chart by matplotlib: .svg, .pdf or .png")
      ->type_name("FILE.svg")
      ->check(chart_file());
}

}  // namespace circoll::cli
