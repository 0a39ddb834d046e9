// circoll import writes public results of other benchmarks as files of circoll-bench.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "measured/pico.hpp"

namespace circoll::cli {
namespace {

struct ImportOptions {
  std::string format;
  std::string path;
  std::string output;
  bool inside_as_own = false;
};

void run(const ImportOptions& options) {
  std::map<std::string, std::size_t> left_out;
  const std::vector<measured::PicoTime> times = measured::read_pico(options.path, left_out);
  const measured::PicoImport imported = measured::import_pico(times, options.inside_as_own);
  if (imported.files.empty()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} has no times of algorithms that Circoll has, too", options.path));
  }
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  std::string text;
  for (const auto& [name, json] : imported.files) {
    const std::string path = (std::filesystem::path(options.output) / name).string();
    write_file(path, json);
    text += path + "\n";
  }
  left_out.insert(imported.left_out.begin(), imported.left_out.end());
  for (const auto& [why, count] : left_out) text += fmt::format("left out {:>6}  {}\n", count, why);
  print(text + fmt::format("{} of {} times are in {} files; 'circoll tune FILES' chooses by them\n", imported.rows,
                           times.size(), imported.files.size()));
}

}  // namespace

void add_import(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* const command = app.add_subcommand("import", "Read public results of other benchmarks");
  command->add_option("format", options->format, "What is read: pico")->required()->check(CLI::IsMember({"pico"}));
  command
      ->add_option("path", options->path,
                   "The directory of results, where SYSTEM_metadata.csv is, or a table of medians in CSV")
      ->required()
      ->type_name("DIR");
  command->add_option("-o,--output", options->output, "Write a file for each job here")->required()->type_name("DIR");
  command->add_flag("--inside-as-own", options->inside_as_own,
                    "Count an algorithm inside an MPI library as Circoll's algorithm of the same shape");
  command->footer(
      "The files are as circoll bench --json writes them. PICO: https://github.com/HLC-Lab/pico,\n"
      "whose data are at https://zenodo.org/records/20796082. Unpack STAMP.tar.gz beside the archives.\n"
      "Names: X_over is Circoll's X, X_ompi and X_mpich are inside the library, default_* is native.\n"
      "Examples:\n"
      "  circoll import pico results -o launches\n"
      "  circoll import pico results --inside-as-own -o launches && circoll tune launches/leonardo-*-4.1.6.json "
      "-o rules.json");
  command->callback([options] { run(*options); });
}

}  // namespace circoll::cli
