// circoll-bench: collectives of this MPI, native against Circoll, in one run.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <fstream>

#include "calibrate.hpp"
#include "circoll/error.hpp"
#include "native/algorithms.hpp"
#include "table.hpp"

namespace circoll::bench {
namespace {

int calibrate(const Options& options, int rank) {
  const Calibration calibration = measure_machine(options.machine_name);
  if (rank != 0) return 0;
  std::ofstream file(options.calibrate);
  if (!(file << to_json(calibration)) || !file.flush()) {
    throw Error(ErrorCode::invalid_argument, "the file " + options.calibrate + " cannot be written");
  }
  std::printf("%zu samples in %s; circoll calibrate %s -o machine.json makes a machine of them\n",
              calibration.samples.size(), options.calibrate.c_str(), options.calibrate.c_str());
  return 0;
}

int measure_guidelines(const Options& options, int rank, int size) {
  StartLine line(MPI_COMM_WORLD, options.sync);
  std::vector<GuidelineCell> guidelines;
  std::vector<Cell> cells;
  if (rank == 0) std::fputs(guideline_header(line).c_str(), stdout);
  if (rank == 0 && options.native_algorithms) std::fputs(without_library_algorithms(options).c_str(), stdout);
  for (const Count bytes : options.bytes) {
    GuidelineCell cell = measure_guidelines(options, line, bytes);
    // Small sizes may become the same when they are rounded up to p blocks.
    if (!guidelines.empty() && guidelines.back().bytes == cell.bytes) continue;
    for (Cell& one : cells_of(cell, size)) cells.push_back(std::move(one));
    guidelines.push_back(std::move(cell));
    if (rank != 0) continue;
    std::fputs(guideline_rows(guidelines.back(), size).c_str(), stdout);
    std::fflush(stdout);
  }
  if (rank == 0 && !options.csv.empty()) write_csv(options.csv, cells, size);
  if (rank == 0 && !options.json.empty()) write_json(options.json, cells, size, options, line, guidelines);
  return 0;
}

int run(const Options& options, int rank, int size) {
  if (!options.calibrate.empty()) return calibrate(options, rank);
  if (options.root < 0 || options.root >= size) throw Error(ErrorCode::invalid_argument, "--root is not a rank");
  if (options.guidelines) return measure_guidelines(options, rank, size);
  StartLine line(MPI_COMM_WORLD, options.sync);
  std::vector<Cell> cells;
  bool correct = true;
  if (rank == 0) std::fputs(table_header(options, line).c_str(), stdout);
  if (rank == 0 && options.native_algorithms) std::fputs(without_library_algorithms(options).c_str(), stdout);
  for (const Collective collective : options.collectives) {
    // A barrier has no size.
    const std::vector<Count> sizes = collective == Collective::barrier ? std::vector<Count>{0} : options.bytes;
    for (const Count bytes : sizes) {
      cells.push_back(measure(options, line, collective, bytes));
      // The library's own algorithms may be wrong where it would not take them.
      for (const Series& series : cells.back().series) {
        correct = correct && (series.correct != "NO" || native::names_library(series.algorithm));
      }
      if (rank != 0) continue;
      std::fputs(table_rows(cells.back(), size).c_str(), stdout);
      std::fflush(stdout);
    }
  }
  if (rank == 0 && !options.csv.empty()) write_csv(options.csv, cells, size);
  if (rank == 0 && !options.json.empty()) write_json(options.json, cells, size, options, line);
  return correct ? 0 : 1;
}

}  // namespace
}  // namespace circoll::bench

// Visible, as smpirun looks it up in a shared library.
[[gnu::visibility("default")]] int main(int argc, char** argv) {
  if (circoll::bench::native::asks_for_library(argc, argv)) circoll::bench::native::prepare_library();
  PMPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  int code = 1;
  try {
    circoll::bench::Options options;
    code = circoll::bench::read_options(argc, argv, rank == 0, options);
    if (code < 0) code = circoll::bench::run(options, rank, size);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "circoll-bench: rank %d: %s\n", rank, error.what());
    PMPI_Abort(MPI_COMM_WORLD, 1);
  }
  PMPI_Finalize();
  return code;
}
