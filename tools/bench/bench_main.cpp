// circoll-bench: collectives of this MPI, native against Circoll, in one run.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <fstream>

#include "calibrate.hpp"
#include "circoll/error.hpp"
#include "exec/mpi/comm/globals.hpp"
#include "exec/mpi/comm/placement.hpp"
#include "exec/mpi/serve/shared_network.hpp"
#include "exec/mpi/serve/shared_profile.hpp"
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

/// Has long messages between hosts go in parts where the network says so. Gives "auto" the numbers of the network, as
/// under the drop-in.
void use_network(Options& options, int rank, int size) {
  std::vector<mpi::RankLocation> ranks;
  if (mpi::gather_locations(MPI_COMM_WORLD, rank, size, &ranks) != MPI_SUCCESS) return;
  mpi::SharedNetwork network = mpi::share_network(MPI_COMM_WORLD, mpi::placement_from(ranks), default_machine());
  mpi::globals().part_bytes = network.part_bytes;
  mpi::keep(network);
  if (const std::string complaint = mpi::topology_complaint(ranks, rank); !complaint.empty())
    std::fprintf(stderr, "circoll-bench: %s\n", complaint.c_str());
  if (rank == 0 && !network.complaint.empty()) std::fprintf(stderr, "circoll-bench: %s\n", network.complaint.c_str());
  if (rank == 0 && !network.origin.empty()) std::printf("# network: %s\n", network.origin.c_str());
  if (options.policy == "auto" && options.machine.empty()) options.network = network.numbers;
}

/// Lets "auto" go by the machine's profile, as under the drop-in. Then the policy is named after it, so that nobody
/// takes what was measured for the model's choice.
void use_profile(Options& options, int rank) {
  if (options.policy != "auto") return;
  mpi::SharedProfile profile = mpi::share_profile(MPI_COMM_WORLD, policy_options(options));
  if (rank == 0 && !profile.complaint.empty()) std::fprintf(stderr, "circoll-bench: %s\n", profile.complaint.c_str());
  if (profile.text.empty()) return;
  options.policy = "profile:" + profile.file;
  options.profile = std::move(profile.text);
  if (rank == 0) std::printf("# auto goes by the profile %s\n", profile.file.c_str());
}

int measure_guidelines(const Options& options, int rank, int size) {
  StartLine line(MPI_COMM_WORLD, options.sync);
  std::vector<GuidelineCell> guidelines;
  std::vector<Cell> cells;
  if (rank == 0) std::fputs(heading(size).c_str(), stdout);
  if (rank == 0) std::fputs(guideline_header(line, options.wide).c_str(), stdout);
  if (rank == 0 && options.native_algorithms) std::fputs(without_library_algorithms(options).c_str(), stdout);
  for (const Count bytes : options.bytes) {
    GuidelineCell cell = measure_guidelines(options, line, bytes);
    // Small sizes may become the same when they are rounded up to p blocks.
    if (!guidelines.empty() && guidelines.back().bytes == cell.bytes) continue;
    for (Cell& one : cells_of(cell, size)) cells.push_back(std::move(one));
    guidelines.push_back(std::move(cell));
    if (rank != 0) continue;
    std::fputs(guideline_rows(guidelines.back(), size, options.wide).c_str(), stdout);
    std::fflush(stdout);
  }
  const Surroundings here = surroundings();
  if (rank == 0 && !options.csv.empty()) write_csv(options.csv, cells, size);
  if (rank == 0 && !options.json.empty()) write_json(options.json, cells, size, options, line, here, guidelines);
  return 0;
}

int run(Options options, int rank, int size) {
  if (!options.calibrate.empty()) return calibrate(options, rank);
  if (options.root < 0 || options.root >= size) throw Error(ErrorCode::invalid_argument, "--root is not a rank");
  if (options.spread_s > 0 && options.sync == Sync::barrier) {
    throw Error(ErrorCode::invalid_argument, "--spread needs a start by the clock: --sync clock");
  }
  const std::vector<AskedCell> all_asked = asked_cells(options);
  use_network(options, rank, size);
  use_profile(options, rank);
  if (options.guidelines) return measure_guidelines(options, rank, size);
  StartLine line(MPI_COMM_WORLD, options.sync);
  std::vector<Cell> cells;
  bool correct = true;
  if (rank == 0) std::fputs(heading(size).c_str(), stdout);
  const Form form = form_of(options, all_asked);
  if (rank == 0) std::fputs(table_header(form, line, options.buffers).c_str(), stdout);
  if (rank == 0 && options.native_algorithms) std::fputs(without_library_algorithms(options).c_str(), stdout);
  for (const AskedCell& one : all_asked) {
    options.algorithms = one.algorithms;
    cells.push_back(measure(options, line, one.collective, one.bytes));
    // The library's own algorithms may be wrong where it would not take them.
    for (const Series& series : cells.back().series) {
      correct = correct && (series.correct != "NO" || native::names_library(series.algorithm));
    }
    if (rank != 0) continue;
    std::fputs(table_rows(form, cells.back(), size, line.sync()).c_str(), stdout);
    std::fflush(stdout);
  }
  if (rank == 0) std::fputs(verdict(form, cells, line.sync()).c_str(), stdout);
  const Surroundings here = surroundings();
  if (rank == 0 && !options.csv.empty()) write_csv(options.csv, cells, size);
  if (rank == 0 && !options.json.empty()) write_json(options.json, cells, size, options, line, here);
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
