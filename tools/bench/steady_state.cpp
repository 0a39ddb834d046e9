// Times a repeated small allreduce against its own messages, in turn.
//
// These are timed: the drop-in's MPI_Allreduce on two ranks, the point-to-point calls that it makes by themselves, and
// the MPI library's own allreduce. The nonblocking and the persistent call are timed likewise. Needs the drop-in
// preloaded, and knows nothing else of Circoll. See docs/developer/performance.md.
#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// Open MPI 4 has persistent collectives as an extension. Version 5 has MPI's, though it says that it is MPI 3.1.
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define CIRCOLL_ALLREDUCE_INIT MPIX_Allreduce_init
#else
#define CIRCOLL_ALLREDUCE_INIT MPI_Allreduce_init
#endif

namespace {

constexpr int calls_per_batch = 100;
constexpr int tag = 7;

/// Takes the steps of allreduce/recursive_doubling on two ranks (`circoll show`) in the same order. Its execution hands
/// them to MPI likewise: one send, one receive, and a test of what is left until nothing is.
class Messages {
 public:
  explicit Messages(MPI_Comm comm) {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_create(comm, group, &comm_);
    PMPI_Group_free(&group);
    PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(comm_, &rank_);
  }
  ~Messages() { PMPI_Comm_free(&comm_); }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  void exchange(double* mine, double* others) {
    PMPI_Isend(mine, sizeof *mine, MPI_BYTE, 1 - rank_, tag, comm_, &requests_[0]);
    PMPI_Irecv(others, sizeof *others, MPI_BYTE, 1 - rank_, tag, comm_, &requests_[1]);
    int active = 2;
    for (int idle = 0; active > 0;) {
      int completed = 0;
      PMPI_Testsome(active, requests_.data(), &completed, indices_.data(), statuses_.data());
      if (completed == 0) {
        if (++idle >= polls_before_yield) sched_yield();
        continue;
      }
      idle = 0;
      active -= completed;
      if (requests_[0] == MPI_REQUEST_NULL) requests_[0] = requests_[1];
    }
  }

 private:
  static constexpr int polls_before_yield = 16;  // as the executor (execution.hpp)

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::array<MPI_Request, 2> requests_{};
  std::array<int, 2> indices_{};
  std::array<MPI_Status, 2> statuses_{};
};

/// Seconds per call of one batch.
template <typename Call>
double batch(Call&& call) {
  const double begin = PMPI_Wtime();
  for (int i = 0; i < calls_per_batch; ++i) call();
  return (PMPI_Wtime() - begin) / calls_per_batch;
}

double quantile_us(std::vector<double> seconds, double q) {
  const auto at = seconds.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(seconds.size() - 1));
  std::nth_element(seconds.begin(), at, seconds.end());
  return *at * 1e6;
}

/// The object that MPI_Allreduce is called in.
std::string provider() {
  Dl_info info{};
  void* const symbol = dlsym(RTLD_DEFAULT, "MPI_Allreduce");
  return symbol != nullptr && dladdr(symbol, &info) != 0 ? info.dli_fname : "";
}

struct Row {
  std::string name;
  std::vector<double> seconds{};
};

int measure(int argc, char** argv) {
  const bool json = argc > 1 && std::string(argv[argc - 1]) == "--json";
  const int batches = argc > 1 && !(json && argc == 2) ? std::atoi(argv[1]) : 3000;
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2 || batches < 1 || provider().find("libcircoll-mpi") == std::string::npos) {
    if (rank == 0) std::fputs("usage: mpirun -np 2 circoll run -- circoll-steady-state [BATCHES] [--json]\n", stderr);
    MPI_Finalize();
    return 2;
  }
  std::array<Row, 6> rows{Row{"MPI_Allreduce, drop-in"},  Row{"its messages"},       Row{"PMPI_Allreduce"},
                          Row{"MPI_Iallreduce, drop-in"}, Row{"MPI_Start, drop-in"}, Row{"PMPI_Iallreduce"}};
  {
    Messages messages(MPI_COMM_WORLD);
    double mine = rank + 1, others = 0, sum = 0;
    MPI_Request request = MPI_REQUEST_NULL, persistent = MPI_REQUEST_NULL;
    CIRCOLL_ALLREDUCE_INIT(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent);
    for (int i = -batches / 10; i < batches; ++i) {
      const std::array<double, 6> seconds{
          batch([&] { MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }),
          batch([&] { messages.exchange(&mine, &others); }),
          batch([&] { PMPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }),
          batch([&] {
            MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
          }),
          batch([&] {
            MPI_Start(&persistent);
            MPI_Wait(&persistent, MPI_STATUS_IGNORE);
          }),
          batch([&] {
            PMPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
            PMPI_Wait(&request, MPI_STATUS_IGNORE);
          })};
      if (i < 0) continue;  // plans, connections and caches
      for (std::size_t k = 0; k < rows.size(); ++k) rows[k].seconds.push_back(seconds[k]);
    }
    MPI_Request_free(&persistent);
    if (sum != 3 || others != 2 - rank) {
      std::fprintf(stderr, "rank %d: wrong results\n", rank);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  if (rank == 0) {
    nlohmann::ordered_json table = nlohmann::ordered_json::array();
    std::string text = fmt::format("{:<24}{:>10}{:>10}{:>10}\n", "8 bytes, us per call", "median", "10 %", "90 %");
    for (const Row& row : rows) {
      const std::array<double, 3> us{quantile_us(row.seconds, 0.5), quantile_us(row.seconds, 0.1),
                                     quantile_us(row.seconds, 0.9)};
      text += fmt::format("{:<24}{:>10.3f}{:>10.3f}{:>10.3f}\n", row.name, us[0], us[1], us[2]);
      table.push_back({{"what", row.name}, {"median_us", us[0]}, {"tenth_us", us[1]}, {"ninetieth_us", us[2]}});
    }
    const auto own = [&](double q) { return quantile_us(rows[0].seconds, q) - quantile_us(rows[1].seconds, q); };
    text += fmt::format("{:<24}{:>10.3f}{:>10.3f}\n", "own time", own(0.5), own(0.1));
    table.push_back({{"what", "own time"}, {"median_us", own(0.5)}, {"tenth_us", own(0.1)}});
    std::fputs((json ? table.dump(2) + "\n" : text).c_str(), stdout);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "circoll-steady-state: %s\n", e.what());
    return 1;
  }
}
