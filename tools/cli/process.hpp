// Programs that a command starts and waits for: their output, a limit of their time, and Ctrl-C.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace circoll::cli {

/// A program to be run, found on PATH unless its name has a slash.
struct ChildProgram {
  std::vector<std::string> arguments{};  ///< the first one is its name
  /// Variables that it has otherwise than this process; no value: not at all.
  std::vector<std::pair<std::string, std::optional<std::string>>> environment{};
  std::chrono::milliseconds limit{std::chrono::minutes(1)};  ///< of its time
  std::function<void(std::string_view)> on_line{};           ///< gets its standard output line by line, as it comes
  std::function<void(std::string_view)> on_error_line{};     ///< likewise for standard error
  std::function<void()> on_tick{};                           ///< called about five times in a second
};

/// The end of a program.
struct Ending {
  enum class How {
    exited,       ///< with `code`
    killed,       ///< by signal `code`, not by us
    timed_out,    ///< it took longer than its limit, and was ended
    interrupted,  ///< somebody interrupted this process, and it was ended
    not_started,  ///< `code` is the errno
  };
  How how = How::not_started;
  int code = 0;
  std::string out{};  ///< standard output
  std::string err{};  ///< standard error

  [[nodiscard]] bool good() const { return how == How::exited && code == 0; }
};

/// Runs a program to its end, without a terminal and in a process group of its own. A program that is ended too early
/// has the signal SIGTERM and five seconds, so that a launcher can end its ranks, and then SIGKILL with its group.
[[nodiscard]] Ending run_program(const ChildProgram& program);

/// The end as a part of a sentence: "ended with exit code 1".
[[nodiscard]] std::string how_ended(const Ending& ending);
/// The same with the last line that the program said, if there is one.
[[nodiscard]] std::string described(const Ending& ending);
/// The last lines that the program said, at most so many, each behind a newline and two blanks. They are of standard
/// error if it said something there. Frames of dashes and stars, and empty lines, are left out.
[[nodiscard]] std::string last_lines(const Ending& ending, std::size_t most);

/// Lets this process become a program. Throws Error(invalid_argument) if there is no such program.
[[noreturn]] void become(const std::vector<std::string>& arguments);

/// As long as one lives, Ctrl-C, SIGTERM and SIGHUP end programs of run_program, and not this process. After the first
/// one this process ends by itself, and takes no other: timeout(1) sends two, one of them to the group.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};
/// True if such a signal has come.
[[nodiscard]] bool interrupted();

/// The file that would be run for a name, as the shell finds it; nothing if there is none.
[[nodiscard]] std::optional<std::string> program_file(const std::string& name);

}  // namespace circoll::cli
