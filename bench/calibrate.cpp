#include "calibrate.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "circoll/error.hpp"
#include "circoll/mpi.hpp"
#include "circoll/ops.hpp"
#include "exec/mpi/comm/whereabouts.hpp"

namespace circoll::bench {
namespace {

constexpr Count largest_bytes = Count{4} << 20;
constexpr double seconds_per_sample = 0.1;
constexpr int batch = 4;  ///< repetitions between two looks at the clock
constexpr int least_batches = 5;
constexpr int most_batches = 500;
constexpr int tag = 1;

void must(int rc) {
  if (rc != MPI_SUCCESS) throw MpiError(rc);
}

std::vector<Count> sizes() {
  std::vector<Count> all{1, 8, 64, 256};
  for (Count bytes = 1024; bytes <= largest_bytes; bytes *= 2) all.push_back(bytes);
  return all;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// Waits for all ranks without taking a core from those that measure.
void line_up_asleep() {
  MPI_Request request = MPI_REQUEST_NULL;
  must(PMPI_Ibarrier(MPI_COMM_WORLD, &request));
  for (int done = 0; done == 0;) {
    must(PMPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

class Pair {
 public:
  Pair(int rank, int peer) : first_(rank < peer), peer_(peer) {
    send_.resize(static_cast<std::size_t>(largest_bytes), 1);
    recv_.resize(send_.size());
  }

  /// Median seconds of `repeat` over batches; the lower rank says how many.
  template <typename Repeat>
  double time(Repeat&& repeat) {
    repeat();  // connections, pages
    const double once = batch_seconds(repeat);
    int batches = static_cast<int>(
        std::clamp(seconds_per_sample / (once * batch), static_cast<double>(least_batches), double{most_batches}));
    if (first_) {
      must(PMPI_Send(&batches, 1, MPI_INT, peer_, tag, MPI_COMM_WORLD));
    } else {
      must(PMPI_Recv(&batches, 1, MPI_INT, peer_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    std::vector<double> seconds;
    seconds.reserve(static_cast<std::size_t>(batches));
    for (int i = 0; i < batches; ++i) seconds.push_back(batch_seconds(repeat));
    return median(std::move(seconds));
  }

  /// A message each way at once, as a round of a schedule sends them.
  void exchange(Count bytes) {
    std::array<MPI_Request, 2> requests{};
    must(PMPI_Irecv(recv_.data(), static_cast<int>(bytes), MPI_BYTE, peer_, tag, MPI_COMM_WORLD, &requests[0]));
    must(PMPI_Isend(send_.data(), static_cast<int>(bytes), MPI_BYTE, peer_, tag, MPI_COMM_WORLD, &requests[1]));
    must(PMPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
  }

  /// There and back.
  void ping_pong(Count bytes) {
    const auto send = [&] {
      must(PMPI_Send(send_.data(), static_cast<int>(bytes), MPI_BYTE, peer_, tag, MPI_COMM_WORLD));
    };
    if (first_) send();
    must(PMPI_Recv(recv_.data(), static_cast<int>(bytes), MPI_BYTE, peer_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (!first_) send();
  }

 private:
  template <typename Repeat>
  static double batch_seconds(Repeat&& repeat) {
    const double begin = PMPI_Wtime();
    for (int i = 0; i < batch; ++i) repeat();
    return std::max(PMPI_Wtime() - begin, 1e-9) / batch;
  }

  bool first_;
  int peer_;
  std::vector<char> send_, recv_;
};

void measure_pair(int rank, int peer, bool inside, std::vector<Sample>& samples) {
  Pair pair(rank, peer);
  for (const Count bytes : sizes()) {
    const double both = pair.time([&] { pair.exchange(bytes); });
    samples.push_back(
        {.kind = inside ? SampleKind::node_exchange : SampleKind::exchange, .bytes = bytes, .seconds = both});
    if (inside) continue;
    const double there_and_back = pair.time([&] { pair.ping_pong(bytes); });
    samples.push_back({.kind = SampleKind::ping_pong, .bytes = bytes, .seconds = there_and_back / 2});
  }
}

void measure_reductions(std::vector<Sample>& samples) {
  const ReduceKernel kernel = reduce_kernel(Op::sum, Type::float64);
  std::vector<double> left(static_cast<std::size_t>(largest_bytes) / sizeof(double), 1.0), right(left), result(left);
  for (const Count bytes : sizes()) {
    const std::size_t elements = static_cast<std::size_t>(bytes) / sizeof(double);
    if (elements == 0) continue;
    // A short one takes less time than the clock resolves: many at once.
    const int repetitions = static_cast<int>(std::max<Count>(1, 65536 / bytes));
    std::vector<double> seconds;
    const double begin = PMPI_Wtime();
    while (seconds.size() < least_batches ||
           (PMPI_Wtime() - begin < seconds_per_sample && seconds.size() < most_batches)) {
      const double start = PMPI_Wtime();
      for (int i = 0; i < repetitions; ++i) kernel(result.data(), left.data(), right.data(), elements);
      seconds.push_back(std::max(PMPI_Wtime() - start, 1e-9) / repetitions);
    }
    samples.push_back({.kind = SampleKind::reduction, .bytes = bytes, .seconds = median(std::move(seconds))});
  }
}

struct Partner {
  int rank = 0;
  bool inside = false;  ///< a node, while others are not
};

/// The partners of rank 0, the same on all ranks. They are the first and the last rank of other nodes, and the first of
/// its own; on one node ranks 1 and p-1.
std::vector<Partner> partners(int rank, int size) {
  std::vector<mpi::Whereabouts> ranks;
  must(mpi::gather_whereabouts(MPI_COMM_WORLD, rank, size, &ranks));
  const std::vector<Rank> node_of = mpi::nodes_of(ranks);
  const auto begin = node_of.begin() + 1;
  const auto inside = std::find(begin, node_of.end(), node_of[0]);
  const auto outside = std::find_if(begin, node_of.end(), [&](Rank node) { return node != node_of[0]; });
  if (outside == node_of.end()) return size > 2 ? std::vector<Partner>{{1}, {size - 1}} : std::vector<Partner>{{1}};
  const int first = static_cast<int>(outside - node_of.begin());
  int last = size - 1;
  while (node_of[static_cast<std::size_t>(last)] == node_of[0]) --last;
  std::vector<Partner> found{{first}};
  if (last != first) found.push_back({last});
  if (inside != node_of.end()) found.push_back({static_cast<int>(inside - node_of.begin()), true});
  return found;
}

std::string library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  must(PMPI_Get_library_version(text.data(), &length));
  const std::string whole(text.data(), static_cast<std::size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

}  // namespace

Calibration measure_machine(const std::string& name) {
  int rank = 0, size = 1;
  must(PMPI_Comm_rank(MPI_COMM_WORLD, &rank));
  must(PMPI_Comm_size(MPI_COMM_WORLD, &size));
  require(size >= 2, "--calibrate needs at least two ranks");
  Calibration calibration{.name = name, .about = library() + ", " + std::to_string(size) + " ranks", .samples = {}};
  for (const Partner& partner : partners(rank, size)) {
    if (rank == 0) measure_pair(rank, partner.rank, partner.inside, calibration.samples);
    if (rank == partner.rank) measure_pair(rank, 0, partner.inside, calibration.samples);
    line_up_asleep();
  }
  if (rank == 0) measure_reductions(calibration.samples);
  line_up_asleep();
  return calibration;
}

}  // namespace circoll::bench
