#include "process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "circoll/error.hpp"

extern "C" char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves the declaration to the program

namespace circoll::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds grace{5};
constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t signal_came = 0;
void take_signal(int /*number*/) { signal_came = 1; }
std::array<struct sigaction, ending_signals.size()> actions_before;

/// Both ends of a pipe. Each is closed at the latest when this ends.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  [[nodiscard]] int end(std::size_t which) const { return ends_.at(which); }
  void close_end(std::size_t which) {
    if (ends_.at(which) >= 0) close(ends_.at(which));
    ends_.at(which) = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// The environment of this process with a program's changes.
std::vector<std::string> environment_of(const ChildProgram& program) {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    bool changed = false;
    for (const auto& [name, value] : program.environment) changed = changed || text.starts_with(name + "=");
    if (!changed) all.emplace_back(text);
  }
  for (const auto& [name, value] : program.environment) {
    if (value) all.push_back(name + "=" + *value);
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// Becomes the program; in the child, where only what signal handlers may call may be called. Writes the errno of what
/// fails into a pipe that the program does not get.
[[noreturn]] void become(const char* file, char** argv, char** variables, int out, int err, int report, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  for (const int number : ending_signals) std::signal(number, SIG_DFL);
  const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (in >= 0) dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execve(file, argv, variables);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(report, &error, sizeof error);
  _exit(127);
}

/// A program under way.
class Running {
 public:
  explicit Running(const ChildProgram& program) : program_(program) {}

  Ending run() {
    if (start()) {
      watch();
      reap();
    }
    return std::move(ending_);
  }

 private:
  bool start() {
    const auto file = program_file(program_.arguments.front());
    if (!file) {
      ending_.code = ENOENT;
      return false;
    }
    std::vector<std::string> arguments = program_.arguments, variables = environment_of(program_);
    std::vector<char*> argv = pointers(arguments), envp = pointers(variables);
    const pid_t parent = getpid();
    Pipe report;
    child_ = fork();
    if (child_ == 0) become(file->c_str(), argv.data(), envp.data(), out_.end(1), err_.end(1), report.end(1), parent);
    if (child_ < 0) {
      ending_.code = errno;
      return false;
    }
    setpgid(child_, child_);  // as the child does, whoever comes first
    report.close_end(1);
    out_.close_end(1);
    err_.close_end(1);
    int error = 0;
    if (read(report.end(0), &error, sizeof error) != sizeof error) return true;
    waitpid(child_, nullptr, 0);
    ending_.code = error;
    return false;
  }

  /// Reads what the program writes until it has closed both pipes or has to be killed.
  void watch() {
    const auto begin = Clock::now();
    auto last_tick = begin;
    while (out_.end(0) >= 0 || err_.end(0) >= 0) {
      std::array<pollfd, 2> waits{pollfd{out_.end(0), POLLIN, 0}, pollfd{err_.end(0), POLLIN, 0}};
      (void)poll(waits.data(), waits.size(), 200);
      if (waits[0].revents != 0 && !take(out_, ending_.out)) finish_line(ending_.out, passed_out_, program_.on_line);
      if (waits[1].revents != 0 && !take(err_, ending_.err))
        finish_line(ending_.err, passed_err_, program_.on_error_line);
      pass_lines();
      const auto now = Clock::now();
      if (program_.on_tick && now - last_tick >= std::chrono::milliseconds(200)) {
        last_tick = now;
        program_.on_tick();
      }
      if (!ended_at_ && interrupted()) end(Ending::How::interrupted);
      if (!ended_at_ && now - begin > program_.limit) end(Ending::How::timed_out);
      if (ended_at_ && now - *ended_at_ > grace) {
        kill(-child_, SIGKILL);
        return;
      }
      if (exited()) return take_rest();
    }
  }

  /// Daemons that a launcher leaves behind may hold the pipes open.
  bool exited() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child_;
  }

  void take_rest() {
    for (Pipe* pipe : {&out_, &err_}) {
      if (pipe->end(0) < 0) continue;
      fcntl(pipe->end(0), F_SETFL, O_NONBLOCK);
      while (pipe->end(0) >= 0 && take(*pipe, pipe == &out_ ? ending_.out : ending_.err)) continue;
    }
    pass_lines();
    finish_line(ending_.out, passed_out_, program_.on_line);
    finish_line(ending_.err, passed_err_, program_.on_error_line);
  }

  /// False at the end.
  static bool take(Pipe& pipe, std::string& text) {
    std::array<char, 4096> buffer{};
    const ssize_t n = read(pipe.end(0), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) return true;
    if (n > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(n));
      return true;
    }
    pipe.close_end(0);
    return false;
  }

  using OnLine = std::function<void(std::string_view)>;

  void pass_lines() {
    pass_lines(ending_.out, passed_out_, program_.on_line);
    pass_lines(ending_.err, passed_err_, program_.on_error_line);
  }

  /// `passed` are the bytes of the text that `on_line` has got.
  static void pass_lines(const std::string& text, std::size_t& passed, const OnLine& on_line) {
    if (!on_line) return;
    for (std::size_t end = 0; (end = text.find('\n', passed)) != std::string::npos; passed = end + 1) {
      on_line(std::string_view(text).substr(passed, end - passed));
    }
  }

  static void finish_line(const std::string& text, std::size_t& passed, const OnLine& on_line) {
    pass_lines(text, passed, on_line);
    if (!on_line || passed >= text.size()) return;
    on_line(std::string_view(text).substr(passed));
    passed = text.size();
  }

  void end(Ending::How how) {
    early_ = how;
    ended_at_ = Clock::now();
    kill(child_, SIGTERM);
  }

  void reap() {
    int status = 0;
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) continue;
    if (early_) {
      kill(-child_, SIGKILL);  // what is left of it
      ending_.how = *early_;
    } else if (WIFEXITED(status)) {
      ending_.how = Ending::How::exited;
      ending_.code = WEXITSTATUS(status);
    } else {
      ending_.how = Ending::How::killed;
      ending_.code = WTERMSIG(status);
    }
  }

  const ChildProgram& program_;
  Ending ending_{};
  Pipe out_, err_;
  pid_t child_ = -1;
  std::size_t passed_out_ = 0, passed_err_ = 0;
  std::optional<Ending::How> early_{};
  std::optional<Clock::time_point> ended_at_{};
};

/// The last lines with letters in them, the first one first; launchers frame their messages by dashes or stars.
std::vector<std::string> last_lines_of(std::string_view text, std::size_t most) {
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() < most) {
    const std::size_t end = text.find_last_not_of("\n\r \t");
    if (end == std::string_view::npos) break;
    text = text.substr(0, end + 1);
    const std::size_t begin = text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1;
    const std::string_view line = text.substr(begin);
    if (line.find_first_not_of("-=* \t") != std::string_view::npos) lines.insert(lines.begin(), std::string(line));
    text = text.substr(0, begin);
  }
  return lines;
}

}  // namespace

Ending run_program(const ChildProgram& program) { return Running(program).run(); }

std::string how_ended(const Ending& ending) {
  switch (ending.how) {
    case Ending::How::exited:
      return fmt::format("ended with exit code {}", ending.code);
    case Ending::How::killed:
      return fmt::format("was ended by signal {} ({})", ending.code, strsignal(ending.code));
    case Ending::How::timed_out:
      return "took too long and was ended";
    case Ending::How::interrupted:
      return "was interrupted";
    case Ending::How::not_started:
      break;
  }
  return fmt::format("could not be started: {}", std::strerror(ending.code));
}

std::string described(const Ending& ending) {
  const std::vector<std::string> lines = last_lines_of(ending.err.empty() ? ending.out : ending.err, 1);
  return how_ended(ending) + (lines.empty() || ending.good() ? "" : ": " + lines.front());
}

std::string last_lines(const Ending& ending, std::size_t most) {
  std::string text;
  for (const std::string& line : last_lines_of(ending.err.empty() ? ending.out : ending.err, most))
    text += "\n  " + line;
  return text;
}

void become(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  std::vector<char*> argv = pointers(words);
  execvp(argv[0], argv.data());
  throw Error(ErrorCode::invalid_argument, fmt::format("'{}' cannot be run: {}", argv[0], std::strerror(errno)));
}

Interruptible::Interruptible() {
  struct sigaction action {};
  action.sa_handler = take_signal;
  sigemptyset(&action.sa_mask);
  signal_came = 0;
  for (std::size_t i = 0; i < ending_signals.size(); ++i) sigaction(ending_signals[i], &action, &actions_before[i]);
}

Interruptible::~Interruptible() {
  if (interrupted()) return;
  for (std::size_t i = 0; i < ending_signals.size(); ++i) sigaction(ending_signals[i], &actions_before[i], nullptr);
}

bool interrupted() { return signal_came != 0; }

std::optional<std::string> program_file(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    rest = directory.size() == rest.size() ? std::string_view{} : rest.substr(directory.size() + 1);
    std::string candidate = fmt::format("{}/{}", directory.empty() ? "." : directory, name);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return std::nullopt;
}

}  // namespace circoll::cli
