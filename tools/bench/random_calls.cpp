// A program that times its calls of many collectives and sizes, which come in random order.
// It is of the user's kind: a drop-in comes by LD_PRELOAD, and decides by its environment. See docs/admin/tuning.md.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "facts/median.hpp"

namespace {

using circoll::median;

constexpr std::array collectives{"allreduce", "reduce",   "reduce_scatter_block", "bcast",   "allgather", "gather",
                                 "scatter",   "alltoall", "allgatherv",           "gatherv", "scatterv",  "alltoallv"};
constexpr std::size_t usual_collectives = 8;  ///< those without arrays of counts

struct Options {
  int calls = 1000;   ///< of each cell
  int learned = 200;  ///< calls of a cell that count as the beginning
  unsigned seed = 1;
  std::vector<int> bytes{8, 64, 512, 2048, 8192, 32768, 131072, 524288};
  std::vector<std::string> cells;  ///< COLLECTIVE:BYTES; empty: all usual collectives with all sizes
  std::string file;
};

/// Bytes are those of the whole vector, over all blocks where each rank has one.
struct Cell {
  std::size_t collective = 0;
  int bytes = 0;
  std::vector<double> seconds{};  ///< of each call, the greatest of all ranks
};

class Calls {
 public:
  explicit Calls(int most_bytes) {
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    const std::size_t elements =
        static_cast<std::size_t>(most_bytes) / sizeof(double) + static_cast<std::size_t>(size_);
    send_.assign(elements, 1);
    recv_.assign(elements, 0);
    counts_.resize(static_cast<std::size_t>(size_));
    displs_.resize(static_cast<std::size_t>(size_));
  }

  /// The calls whose vector is cut into blocks have one element per rank at least.
  void make(const Cell& cell) {
    const int whole = std::max(1, cell.bytes / static_cast<int>(sizeof(double)));
    const int block = std::max(1, whole / size_);
    double* const send = send_.data();
    double* const recv = recv_.data();
    MPI_Comm comm = MPI_COMM_WORLD;
    switch (cell.collective) {
      case 0:
        MPI_Allreduce(send, recv, whole, MPI_DOUBLE, MPI_SUM, comm);
        break;
      case 1:
        MPI_Reduce(send, recv, whole, MPI_DOUBLE, MPI_SUM, 0, comm);
        break;
      case 2:
        MPI_Reduce_scatter_block(send, recv, block, MPI_DOUBLE, MPI_SUM, comm);
        break;
      case 3:
        MPI_Bcast(recv, whole, MPI_DOUBLE, 0, comm);
        break;
      case 4:
        MPI_Allgather(send, block, MPI_DOUBLE, recv, block, MPI_DOUBLE, comm);
        break;
      case 5:
        MPI_Gather(send, block, MPI_DOUBLE, recv, block, MPI_DOUBLE, 0, comm);
        break;
      case 6:
        MPI_Scatter(send, block, MPI_DOUBLE, recv, block, MPI_DOUBLE, 0, comm);
        break;
      case 7:
        MPI_Alltoall(send, block, MPI_DOUBLE, recv, block, MPI_DOUBLE, comm);
        break;
      default:
        make_irregular(cell.collective, block);
    }
  }

 private:
  /// Blocks are equal all the same.
  void make_irregular(std::size_t collective, int block) {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      counts_[i] = block;
      displs_[i] = static_cast<int>(i) * block;
    }
    const double* const send = send_.data();
    double* const recv = recv_.data();
    const int *const counts = counts_.data(), *const displs = displs_.data();
    MPI_Comm comm = MPI_COMM_WORLD;
    if (collective == 8) MPI_Allgatherv(send, block, MPI_DOUBLE, recv, counts, displs, MPI_DOUBLE, comm);
    if (collective == 9) MPI_Gatherv(send, block, MPI_DOUBLE, recv, counts, displs, MPI_DOUBLE, 0, comm);
    if (collective == 10) MPI_Scatterv(send, counts, displs, MPI_DOUBLE, recv, block, MPI_DOUBLE, 0, comm);
    if (collective == 11) MPI_Alltoallv(send, counts, displs, MPI_DOUBLE, recv, counts, displs, MPI_DOUBLE, comm);
  }

  int size_ = 1;
  std::vector<double> send_, recv_;
  std::vector<int> counts_, displs_;
};

/// The number of a cell for every call.
std::vector<std::size_t> random_order(std::size_t cells, const Options& options) {
  std::vector<std::size_t> order;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    order.insert(order.end(), static_cast<std::size_t>(options.calls), cell);
  }
  std::mt19937 random(options.seed);  // the same on all ranks
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

void write(const std::vector<Cell>& cells, const Options& options, int ranks) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  double total_s = 0;
  for (const Cell& cell : cells) {
    const double cell_s = std::accumulate(cell.seconds.begin(), cell.seconds.end(), 0.0);
    const auto later = cell.seconds.begin() + std::min(options.learned, options.calls - 1);
    total_s += cell_s;
    rows.push_back({{"collective", collectives.at(cell.collective)},
                    {"bytes", cell.bytes},
                    {"total_s", cell_s},
                    {"median_us", median(cell.seconds) * 1e6},
                    {"later_median_us", median({later, cell.seconds.end()}) * 1e6}});
  }
  const nlohmann::ordered_json table{{"circoll_random_calls", 1}, {"ranks", ranks},     {"calls", options.calls},
                                     {"seed", options.seed},      {"total_s", total_s}, {"rows", std::move(rows)}};
  std::ofstream file(options.file);
  file << table.dump(1) << '\n';
  if (!file.flush()) throw std::runtime_error("the file " + options.file + " could not be written");
  fmt::print("{} calls, {:.3f} s\n", cells.size() * static_cast<std::size_t>(options.calls), total_s);
}

Cell read_cell(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto name = std::ranges::find(collectives, std::string_view(text).substr(0, colon));
  if (colon == std::string::npos || name == collectives.end()) {
    throw std::runtime_error("'" + text + "' is no cell, as bcast:8192 is one");
  }
  return {.collective = static_cast<std::size_t>(name - collectives.begin()),
          .bytes = std::stoi(text.substr(colon + 1))};
}

std::vector<Cell> cells_of(const Options& options) {
  std::vector<Cell> cells;
  for (const std::string& text : options.cells) cells.push_back(read_cell(text));
  if (!cells.empty()) return cells;
  for (std::size_t collective = 0; collective < usual_collectives; ++collective) {
    for (const int bytes : options.bytes) cells.push_back({.collective = collective, .bytes = bytes});
  }
  return cells;
}

void measure(const Options& options) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<Cell> cells = cells_of(options);
  Calls calls(std::ranges::max_element(cells, {}, &Cell::bytes)->bytes);
  const std::vector<std::size_t> order = random_order(cells.size(), options);
  std::vector<double> seconds;
  for (const std::size_t cell : order) {
    PMPI_Barrier(MPI_COMM_WORLD);  // not the drop-in's: a call waits for none of the calls before
    const double begin_s = PMPI_Wtime();
    calls.make(cells[cell]);
    seconds.push_back(PMPI_Wtime() - begin_s);
  }
  PMPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < order.size(); ++i) cells[order[i]].seconds.push_back(seconds[i]);
  if (rank == 0) write(cells, options, size);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options;
    CLI::App app("Times calls of eight collectives in random order, each call from a barrier on.",
                 "circoll-random-calls");
    app.add_option("--calls", options.calls, "of each collective and size")
        ->capture_default_str()
        ->check(CLI::Range(1, 30000));
    app.add_option("--cells", options.cells,
                   "COLLECTIVE:BYTES in place of all; also allgatherv, gatherv, scatterv, alltoallv")
        ->delimiter(',');
    app.add_option("--learned", options.learned, "calls after which later_median_us begins")->capture_default_str();
    app.add_option("--seed", options.seed, "of the order")->capture_default_str();
    app.add_option("--bytes", options.bytes, "sizes of the whole vector")->delimiter(',')->capture_default_str();
    app.add_option("file", options.file, "for the result, JSON")->required();
    CLI11_PARSE(app, argc, argv);
    MPI_Init(&argc, &argv);
    measure(options);
    MPI_Finalize();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "circoll-random-calls: %s\n", e.what());
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
  }
}
