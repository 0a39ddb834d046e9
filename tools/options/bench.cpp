#include "options/bench.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "options/ranges.hpp"

namespace circoll::options {
namespace {

/// A check of a value that is kept as it is written.
template <typename Read>
CLI::Validator readable(Read read, const std::string& kind) {
  return {[read](std::string& text) {
            try {
              (void)read(text);
              return std::string();
            } catch (const Error& error) {
              return std::string(error.what());
            }
          },
          kind};
}

Count read_bytes(const std::string& word) {
  std::string digits = word;
  if (const std::string wrong = rewrite_bytes(digits); !wrong.empty()) {
    throw Error(ErrorCode::invalid_argument, wrong);
  }
  return *parse_bytes(digits);
}

void add_run_options(CLI::App& app, BenchWords& words) {
  app.add_option("--root", words.root, "Root of rooted collectives")
      ->transform(CLI::Validator(rewrite_number, "NUMBER"))
      ->capture_default_str();
  app.add_option("--reps", words.reps, "Repetitions at most")
      ->capture_default_str()
      ->transform(CLI::Validator(rewrite_number, "NUMBER"))
      ->check(options::at_least(1));
  app.add_option("--warm-up", words.warm_up, "Repetitions of each before those, which do not count")
      ->capture_default_str()
      ->transform(CLI::Validator(rewrite_number, "NUMBER"))
      ->check(options::at_least(0));
  app.add_option("--seconds", words.seconds, "Time at most, per algorithm and size")
      ->capture_default_str()
      ->check(options::above_zero());
  app.add_option("--sync", words.sync, "How ranks start together; see docs/admin/measuring.md")
      ->check(CLI::IsMember({"auto", "clock", "barrier"}))
      ->capture_default_str();
  app.add_option(
         "--buffers", words.buffers,
         "rewrite: each algorithm has its own, and uses them between repetitions; reuse: the same for all, unchanged; "
         "auto: rewrite for two algorithms at most")
      ->check(CLI::IsMember({"auto", "reuse", "rewrite"}))
      ->capture_default_str();
  app.add_option("--between", words.between_s,
                 "Seconds in which each rank works on other memory before each repetition, as programs do")
      ->check(options::at_least(0))
      ->capture_default_str();
  app.add_option("--spread", words.spread_s,
                 "Seconds in which ranks arrive at random; time counts from the last one. Needs --sync clock")
      ->check(options::at_least(0))
      ->capture_default_str();
  app.add_option("--seed", words.seed, "Seed of the order in which algorithms take turns, and of arrivals")
      ->capture_default_str();
  app.add_flag("--wide", words.wide, "Print all columns: intervals, minimum, 95th percentile, bandwidths");
  app.add_flag("--check", words.check, "Compare every result with the native one, element by element");
}

void add_file_options(CLI::App& app, BenchWords& words) {
  app.add_option("--csv", words.csv, "Write one row per repetition to this file")->type_name("FILE");
  app.add_option("--json", words.json, "Write the table to this file")->type_name("FILE");
  app.add_option("--cells", words.cells,
                 "A file of cells, each with its algorithms, instead of --collective, --algorithm and --bytes; see "
                 "docs/admin/measuring.md")
      ->type_name("FILE");
  app.add_option("--policy", words.policy,
                 "The meaning of auto: auto (a profile if there is one, else the model), model, classic, "
                 "openmpi_fixed, native, file:PATH")
      ->type_name("POLICY")
      ->capture_default_str();
  app.add_option("--machine", words.machine, "Machine file of the model; see 'circoll calibrate'")->type_name("FILE");
  app.add_option("--calibrate", words.calibrate,
                 "Measure messages and reductions instead, for 'circoll calibrate'; needs two ranks or more")
      ->type_name("FILE");
  app.add_option("--name", words.machine_name, "Name of the machine that --calibrate measures")->capture_default_str();
  app.add_flag(
      "--guidelines", words.guidelines,
      "Measure both sides of performance guidelines instead, for 'circoll guidelines'; --bytes are of the whole "
      "vector, --collective says whose");
}

}  // namespace

std::vector<Collective> read_collectives(const std::string& text) {
  if (text == "all") return {all_collectives.begin(), all_collectives.end()};
  std::vector<Collective> collectives;
  for (const std::string& name : split_list(text)) collectives.push_back(parse_collective(name));
  return collectives;
}

std::vector<Count> read_sizes(const std::string& text) {
  std::vector<Count> sizes;
  for (const std::string& word : split_list(text)) {
    const std::size_t dots = word.find("..");
    const Count first = read_bytes(word.substr(0, dots));
    const Count last = dots == std::string::npos ? first : read_bytes(word.substr(dots + 2));
    if (dots != std::string::npos && (first < 1 || last < first)) {
      throw Error(ErrorCode::invalid_argument, fmt::format("'{}' is not A..B with 1 <= A <= B", word));
    }
    for (Count size = first; size <= last; size *= 2) {
      sizes.push_back(size);
      if (dots == std::string::npos || size > last / 2) break;
    }
  }
  return sizes;
}

void add_bench_options(CLI::App& app, BenchWords& words) {
  app.add_option("--collective", words.collectives, "Names separated by commas, or all")
      ->check(readable(read_collectives, "COLLECTIVE"))
      ->capture_default_str();
  app.add_option("--algorithm", words.algorithms,
                 "native, auto, all, or names with parameters (name:segments=4,relabel=8), "
                 "of one collective where it is written before them (scatter/linear), of the MPI library itself "
                 "after its name (openmpi/ring:segment=64Ki), or your own schedules in a file (file:tt.json)")
      ->type_name("ALGORITHM")
      ->capture_default_str();
  app.add_flag("--native-algorithms", words.native_algorithms,
               "Measure also the algorithms inside the MPI library, each by its name (openmpi/ring); see "
               "docs/admin/other-mpis.md");
  app.add_option("--segments", words.segments, "Sizes of segments for those of them that have segments")
      ->check(readable(read_sizes, "BYTES"))
      ->capture_default_str();
  app.add_option("--bytes", words.bytes,
                 "Sizes of a rank's block, or of the vector, separated by commas; 8..1Mi doubles from 8 to 1Mi; see "
                 "docs/admin/measuring.md")
      ->check(readable(read_sizes, "BYTES"))
      ->capture_default_str();
  app.add_option("--type", words.type, "Element type")
      ->transform(CLI::Validator(rewrite_type, "TYPE"))
      ->capture_default_str();
  app.add_option("--op", words.op, "Operator of reductions")
      ->transform(CLI::Validator(rewrite_op, "OP"))
      ->capture_default_str();
  add_run_options(app, words);
  add_file_options(app, words);
}

std::string bench_examples() {
  return "  circoll bench --np 2 --collective allreduce --bytes 8..1Mi --check\n"
         "  mpirun -np 4 circoll bench --collective allreduce,bcast --algorithm native,auto --bytes 8,1Mi --json "
         "1.json\n"
         "  mpirun -np 4 circoll bench --native-algorithms --collective bcast --algorithm native --json 1.json\n"
         "  mpirun -np 4 circoll bench --guidelines --bytes 1Ki,64Ki --seconds 0.2 --json 1.json";
}

}  // namespace circoll::options
