#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "native/algorithms.hpp"
#include "options/bench.hpp"

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

Sync sync_named(const std::string& word) {
  return word == "clock" ? Sync::clock : word == "barrier" ? Sync::barrier : Sync::automatic;
}

/// Takes over what the command line says. Throws CLI::ValidationError.
void take(const options::BenchWords& words, Options& options) {
  options.collectives = options::read_collectives(words.collectives);
  options.algorithms = split_algorithms(words.algorithms, options.collectives);
  options.native_algorithms = words.native_algorithms;
  options.segments = options::read_sizes(words.segments);
  options.bytes = options::read_sizes(words.bytes);
  options.type = parse_type(words.type);
  options.op = parse_op(words.op);
  options.root = words.root;
  options.reps = words.reps;
  options.warm_up = words.warm_up;
  options.seconds = words.seconds;
  options.sync = sync_named(words.sync);
  options.buffers = words.buffers == "rewrite" ? Buffers::rewrite : Buffers::reuse;
  options.seed = words.seed;
  options.check = words.check;
  options.wide = words.wide;
  options.csv = words.csv;
  options.json = words.json;
  options.cells = words.cells;
  options.policy = words.policy;
  options.machine = words.machine;
  options.calibrate = words.calibrate;
  options.machine_name = words.machine_name;
  options.guidelines = words.guidelines;
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
  options::BenchWords words;
  options::add_bench_options(app, words);
  app.footer("'circoll bench' starts the one for the MPI in use.\nExamples:\n" + options::bench_examples());
  try {
    app.parse(argc, argv);
    take(words, options);
  } catch (const CLI::ParseError& error) {
    const int code = talk ? app.exit(error) : error.get_exit_code();
    return code == 0 ? 0 : 2;
  }
  return -1;
}

}  // namespace circoll::bench
