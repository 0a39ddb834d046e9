#include "chart.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
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
  explicit TemporaryFile(const std::string& text)
      : path_((fs::temp_directory_path() / "circoll-chart-XXXXXX").string()) {
    const int file = mkstemp(path_.data());
    if (file < 0) throw std::runtime_error("there is no place for a temporary file in " + path_);
    close(file);
    write_file(path_, text);
  }
  ~TemporaryFile() {
    std::error_code error;
    fs::remove(path_, error);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

void draw_chart(const std::vector<std::string>& files, const std::string& output, const ChartOptions& options) {
  std::vector<std::string> words{"-B", find_drawer()};
  words.insert(words.end(), files.begin(), files.end());
  words.insert(words.end(), {"--output", output});
  if (!options.kind.empty()) words.insert(words.end(), {"--kind", options.kind});
  if (!options.title.empty()) words.insert(words.end(), {"--title", options.title});
  const Interruptible interruptible;
  // A Python of the user's own may come before the system's, and lack what the system's has.
  for (const char* const python : {"python3", "/usr/bin/python3"}) {
    ChildProgram program{.arguments = {python}, .limit = std::chrono::minutes(10)};
    program.arguments.insert(program.arguments.end(), words.begin(), words.end());
    const Ending ending = run_program(program);
    if (ending.good()) return;
    if (ending.how == Ending::How::not_started) continue;
    if (ending.how == Ending::How::exited && ending.code == needs_matplotlib) continue;
    throw std::runtime_error(fmt::format("no chart: {}{}", how_ended(ending), last_lines(ending, 1)));
  }
  throw Error(
      ErrorCode::unsupported,
      "charts are drawn by matplotlib, and no python3 has it: apt-get install python3-matplotlib, or python3 -m "
      "pip install matplotlib. --json prints the numbers");
}

void draw_chart_of(const std::string& json, const std::string& output) {
  const TemporaryFile file(json);
  draw_chart({file.path()}, output);
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
