// circoll-torture makes random sequences of collectives, and compares every result with that of PMPI_.
#include <fmt/format.h>
#include <mpi.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "communicators.hpp"
#include "edits.hpp"
#include "lane.hpp"
#include "options.hpp"
#include "quirks.hpp"
#include "types.hpp"
#include "watchdog.hpp"

extern "C" char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves the declaration to the program

namespace circoll::torture {
namespace {

constexpr std::string_view dropin = "/libcircoll-mpi.so";

/// A word as a shell takes it.
std::string quoted(std::string_view word) {
  if (word.find_first_of(" \t'\"\\$&;|<>()*?[]") == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// Circoll's variables that are set, as they stand before a command.
std::string variables() {
  std::string text;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    if (!variable.starts_with("CIRCOLL_")) continue;
    const std::size_t equals = variable.find('=');
    text += fmt::format("{}={} ", variable.substr(0, equals), quoted(variable.substr(equals + 1)));
  }
  return text;
}

/// The words between launcher and program that put the same libraries in front of MPI.
std::string preloading() {
  const char* const value = std::getenv("LD_PRELOAD");
  const std::string_view preloaded = value == nullptr ? "" : value;
  if (preloaded.empty()) return "";
  const bool alone = preloaded.find_first_of(": ") == std::string_view::npos && preloaded.ends_with(dropin);
  return alone ? "circoll run -- " : fmt::format("env LD_PRELOAD={} ", quoted(preloaded));
}

/// The command that starts these ranks again: "CIRCOLL_CORES=2 mpirun -np 3 circoll run -- circoll-torture.openmpi". It
/// is followed by options.
std::string rerun(int ranks) {
  return fmt::format("{}mpirun -np {} {}{}", variables(), ranks, preloading(), quoted(program_invocation_name));
}

class Run {
 public:
  explicit Run(const Options& options) : options_(options) {
    PMPI_Comm_dup(MPI_COMM_WORLD, &control_);
    prepare_copying();
    (void)forgets_errors_natively();  // makes a communicator, too
    PMPI_Comm_rank(control_, &rank_);
    PMPI_Comm_size(control_, &size_);
  }
  ~Run() { PMPI_Comm_free(&control_); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  int all() {
    const Edits edits = parse_edits(options_.edits);
    const auto begin = std::chrono::steady_clock::now();
    std::int64_t done = 0;
    int code = 0;
    for (; done < options_.cases && code == 0; ++done) {
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      if (anywhere(options_.seconds > 0 && elapsed.count() > options_.seconds)) break;
      const Case c = generate(options_, options_.first + done, size_);
      if (options_.list) {
        if (rank_ == 0) fmt::print("case {}\n{}", c.number, describe(edited(c, edits)));
      } else if (!passes(edited(c, edits), edits, true)) {
        code = 1;
        if (options_.shrink) shrink_case(c, edits);
      }
    }
    if (rank_ == 0 && !options_.list) {
      fmt::print("circoll-torture: {} cases, {} results on rank 0, np {}, {}: {}\n", done, results_, size_,
                 options_.repetition, code == 0 ? "all right" : "FAILED");
      if (native_wrong_ > 0) {
        fmt::print("  wrong native results where MPI_ was right: {}, for example {}\n", native_wrong_, native_example_);
      }
    }
    return code;
  }

 private:
  [[nodiscard]] bool anywhere(bool here) const {
    int mine = here ? 1 : 0, all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, control_);
    return all != 0;
  }

  [[nodiscard]] std::string command(const Case& c, const Edits& edits) const {
    std::string text = fmt::format("{} {} --only {}", rerun(size_), options_.repetition, c.number);
    if (!edits.empty()) text += fmt::format(" --edits '{}'", to_string(edits));
    return fmt::format("case {}; again: {}", c.number, text);
  }

  /// Runs a case on all ranks; the same answer on all.
  bool passes(const Case& c, const Edits& edits, bool talk) {
    std::vector<std::vector<std::string>> steps;
    for (const std::vector<Step>& lane : c.lanes) {
      steps.emplace_back();
      for (const Step& step : lane) steps.back().push_back(describe(c, step));
    }
    watch_case(command(c, edits), std::move(steps));
    if (options_.verbose && talk && rank_ == 0) {
      fmt::print("case {}\n{}", c.number, describe(c));
      std::fflush(stdout);
    }
    const CaseResult outcome = run_case(c, options_.serial);
    results_ += outcome.operations;
    native_wrong_ += static_cast<long>(outcome.native_wrong.size());
    if (!outcome.native_wrong.empty()) native_example_ = command(c, edits) + ": " + outcome.native_wrong[0];
    const bool failed = anywhere(!outcome.failures.empty());
    if (failed && talk) report(c, edits, outcome.failures);
    return !failed;
  }

  void report(const Case& c, const Edits& edits, const std::vector<std::string>& failures) const {
    if (rank_ == 0) fmt::print(stderr, "circoll-torture: FAILED: {}\n{}", command(c, edits), describe(c));
    for (int r = 0; r < size_; ++r) {  // one after the other, as well as that can be had
      PMPI_Barrier(control_);
      if (r != rank_) continue;
      constexpr std::size_t most = 3;
      for (std::size_t i = 0; i < failures.size() && i < most; ++i) {
        fmt::print(stderr, "circoll-torture: rank {}: {}\n", rank_, failures[i]);
      }
      if (failures.size() > most)
        fmt::print(stderr, "circoll-torture: rank {}: and {} more\n", rank_, failures.size() - most);
      std::fflush(stderr);
    }
    PMPI_Barrier(control_);
  }

  void shrink_case(const Case& c, const Edits& edits) {
    const auto fails = [&](const Case& smaller) {
      for (int i = 0; i < options_.attempts; ++i) {
        if (!passes(smaller, {}, false)) return true;
      }
      return false;
    };
    if (rank_ == 0) fmt::print(stderr, "circoll-torture: shrinking\n");
    const Edits smallest = shrink(c, edits, fails);
    const Case smaller = edited(c, smallest);
    bool failed = false;
    for (int i = 0; i < options_.attempts && !failed; ++i) failed = !passes(smaller, smallest, true);
    if (!failed && rank_ == 0) {
      fmt::print(stderr, "circoll-torture: fails now and then: {}\n{}", command(smaller, smallest), describe(smaller));
    }
  }

  const Options& options_;
  MPI_Comm control_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  long results_ = 0, native_wrong_ = 0;
  std::string native_example_;
};

int run_program(int argc, char** argv) {
  // MPI_Init_thread needs the thread level from the options, but only rank 0 may print what is wrong with them, and
  // ranks are known only afterwards. So the options are read twice.
  Options options;
  int code = read_options(argc, argv, false, options);
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, options.threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (code >= 0) {
    Options unused;
    code = read_options(argc, argv, rank == 0, unused);
  }
  if (code < 0 && options.threads && provided != MPI_THREAD_MULTIPLE) {
    if (rank == 0) fmt::print(stderr, "circoll-torture: the MPI library has no MPI_THREAD_MULTIPLE\n");
    code = 2;
  }
  if (code < 0) {
    start_watchdog(rank, options.patience_s);
    try {
      count_stray_errors();
      code = Run(options).all();
    } catch (const std::exception& error) {
      fmt::print(stderr, "circoll-torture: rank {}: {}\n", rank, error.what());
      PMPI_Abort(MPI_COMM_WORLD, 2);
    }
    stop_watchdog();
  }
  MPI_Finalize();
  return code;
}

}  // namespace
}  // namespace circoll::torture

int main(int argc, char** argv) {
  try {
    return circoll::torture::run_program(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "circoll-torture: %s\n", error.what());
    return 2;
  }
}
