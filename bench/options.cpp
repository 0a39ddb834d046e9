#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "core/text.hpp"
#include "native/algorithms.hpp"

namespace circoll::bench {
namespace {

/// Names of algorithms. "a,b:x=1,y=2" are two: what has a value and no name belongs to the one before. Throws
/// CLI::ValidationError for what no collective has; of an algorithm inside the MPI library, none that is measured.
std::vector<std::string> split_algorithms(const std::string& text, std::span<const Collective> collectives) {
  std::vector<std::string> names;
  for (const std::string& word : split_list(text)) {
    if (!names.empty() && word.find('=') != std::string::npos && word.find(':') == std::string::npos) {
      names.back() += "," + word;
    } else {
      names.push_back(word);
    }
  }
  for (const std::string& name : names) {
    if (name == "native" || name == "auto" || name == "all") continue;
    std::string why = "no algorithm is named '" + name.substr(0, name.find(':')) + "'";
    const std::span<const Collective> asked = native::names_library(name) ? collectives : all_collectives;
    if (std::none_of(asked.begin(), asked.end(),
                     [&](Collective collective) { return named_by(name, collective, &why).has_value(); })) {
      throw CLI::ValidationError("--algorithm", why);
    }
  }
  return names;
}

/// The value of a name, by one of the parsers of core/text.hpp.
template <typename Parse>
auto named(const std::string& option, const std::string& name, Parse parse) {
  try {
    return parse(name);
  } catch (const Error& error) {
    throw CLI::ValidationError(option, error.what());
  }
}

std::vector<Count> read_sizes(const std::string& option, const std::string& text) {
  std::vector<Count> sizes;
  for (const std::string& word : split_list(text)) {
    std::string digits = word;
    if (const std::string wrong = rewrite_bytes(digits); !wrong.empty()) throw CLI::ValidationError(option, wrong);
    sizes.push_back(*parse_bytes(digits));
  }
  return sizes;
}

void read_lists(const std::string& collectives, const std::string& algorithms, const std::string& bytes,
                const std::string& type, const std::string& op, Options& options) {
  if (collectives == "all") {
    options.collectives.assign(all_collectives.begin(), all_collectives.end());
  } else {
    for (const std::string& name : split_list(collectives)) {
      options.collectives.push_back(named("--collective", name, parse_collective));
    }
  }
  options.algorithms = split_algorithms(algorithms, options.collectives);
  options.bytes = read_sizes("--bytes", bytes);
  options.type = named("--type", type, parse_type);
  options.op = named("--op", op, parse_op);
}

}  // namespace

std::optional<std::string> named_by(const std::string& word, Collective collective, std::string* why) {
  if (native::names_library(word)) return native::named_by(word, collective, why);
  const std::size_t slash = word.find('/');
  if (slash != std::string::npos && word.substr(0, slash) != to_string(collective)) return std::nullopt;
  const std::string name = slash == std::string::npos ? word : word.substr(slash + 1);
  if (find_algorithm(collective, name.substr(0, name.find(':'))) == nullptr) return std::nullopt;
  try {
    (void)parse_selection(collective, name);
    return name;
  } catch (const Error& error) {
    if (why != nullptr) *why = error.what();
    return std::nullopt;
  }
}

std::string to_string(Buffers buffers) { return buffers == Buffers::reuse ? "reuse" : "rewrite"; }

int read_options(int argc, char** argv, bool talk, Options& options) {
  CLI::App app("circoll-bench: collectives of this MPI, native against Circoll");
  app.name("circoll-bench");
  std::string collectives = "all", algorithms = "native,auto", bytes = "8,1Ki,64Ki", type = "byte", op = "bor";
  std::string segments = "4Ki,32Ki,256Ki";
  const CLI::Validator number(rewrite_number, "NUMBER");
  app.add_option("--collective", collectives, "Names separated by commas, or all")->capture_default_str();
  app.add_option("--algorithm", algorithms,
                 "native, auto, all, or names with parameters (name:segments=4,relabel=8), "
                 "of one collective where it is written before them (scatter/linear), of the MPI library itself "
                 "after its name (openmpi/ring:segment=64Ki)")
      ->capture_default_str();
  app.add_flag("--native-algorithms", options.native_algorithms,
               "Measure also the algorithms inside the MPI library, each by its name (openmpi/ring); see "
               "docs/native-algorithms.md");
  app.add_option("--segments", segments, "Sizes of segments for those of them that have segments")
      ->capture_default_str();
  app.add_option("--bytes", bytes, "Sizes (Ki, Mi, Gi): of a rank's block, or of the vector; see docs/measuring.md")
      ->capture_default_str();
  app.add_option("--type", type, "Element type")->capture_default_str();
  app.add_option("--op", op, "Operator of reductions")->capture_default_str();
  app.add_option("--root", options.root, "Root of rooted collectives")->transform(number)->capture_default_str();
  app.add_option("--reps", options.reps, "Repetitions at most")
      ->capture_default_str()
      ->transform(number)
      ->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "Time at most, per algorithm and size")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--sync", options.sync, "How ranks start together: auto, clock, barrier; see docs/measuring.md")
      ->transform(CLI::CheckedTransformer(std::vector<std::pair<std::string, Sync>>{
          {"auto", Sync::automatic}, {"clock", Sync::clock}, {"barrier", Sync::barrier}}))
      ->default_str("auto");
  app.add_option("--buffers", options.buffers,
                 "reuse: the same for all algorithms; rewrite: each has its own, and uses them between repetitions")
      ->transform(CLI::CheckedTransformer(
          std::vector<std::pair<std::string, Buffers>>{{"reuse", Buffers::reuse}, {"rewrite", Buffers::rewrite}}))
      ->default_str("reuse");
  app.add_option("--seed", options.seed, "Of the order in which algorithms take turns")->capture_default_str();
  app.add_flag("--check", options.check, "Compare every result with the native one, element by element");
  app.add_option("--csv", options.csv, "Write one row per repetition to this file");
  app.add_option("--json", options.json, "Write the table to this file");
  app.add_option("--cells", options.cells,
                 "A file of cells, each with its algorithms, instead of --collective, --algorithm and --bytes; see "
                 "docs/measuring.md");
  app.add_option(
         "--policy", options.policy,
         "What auto means: auto (a profile if there is one, else the model), model, classic, openmpi_fixed, native, "
         "file:PATH")
      ->capture_default_str();
  app.add_option("--machine", options.machine, "Machine file of the model; see 'circoll calibrate'");
  app.add_option("--calibrate", options.calibrate,
                 "Measure messages and reductions instead, for 'circoll calibrate'; needs two ranks or more");
  app.add_option("--name", options.machine_name, "Name of the machine that --calibrate measures")
      ->capture_default_str();
  app.add_flag(
      "--guidelines", options.guidelines,
      "Measure both sides of performance guidelines instead, for 'circoll guidelines'; --bytes are of the whole "
      "vector, --collective says whose");
  app.footer(
      "Example:\n  mpirun -np 4 circoll-bench --collective allreduce,bcast --algorithm native,auto --bytes "
      "8,1Mi --check\n  mpirun -np 4 circoll-bench --native-algorithms --collective bcast --algorithm native --json "
      "1.json\n  mpirun -np 4 circoll-bench --guidelines --bytes 1Ki,64Ki --seconds 0.2 --json 1.json");
  try {
    app.parse(argc, argv);
    options.segments = read_sizes("--segments", segments);
    read_lists(collectives, algorithms, bytes, type, op, options);
  } catch (const CLI::ParseError& error) {
    const int code = talk ? app.exit(error) : error.get_exit_code();
    return code == 0 ? 0 : 2;
  }
  return -1;
}

}  // namespace circoll::bench
