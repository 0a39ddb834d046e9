#include "calibrate.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <vector>

#include "asleep.hpp"
#include "calibrate_ways.hpp"
#include "circoll/error.hpp"
#include "circoll/mpi.hpp"
#include "circoll/ops.hpp"
#include "exec/mpi/comm/placement.hpp"
#include "timed_pair.hpp"

namespace circoll::bench {
namespace {

/// The buffers of a pair's messages.
class Messages {
 public:
  explicit Messages(const TimedPair& pair)
      : pair_(pair), send_(static_cast<std::size_t>(largest_bytes), 1), recv_(send_.size()) {}

  /// A message each way at once, as a round of a schedule sends them.
  void exchange(Count bytes) {
    std::array<MPI_Request, 2> requests{};
    must(PMPI_Irecv(recv_.data(), static_cast<int>(bytes), MPI_BYTE, pair_.peer(), tag, MPI_COMM_WORLD, &requests[0]));
    must(PMPI_Isend(send_.data(), static_cast<int>(bytes), MPI_BYTE, pair_.peer(), tag, MPI_COMM_WORLD, &requests[1]));
    must(PMPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
  }

  /// There and back.
  void ping_pong(Count bytes) {
    const auto send = [&] {
      must(PMPI_Send(send_.data(), static_cast<int>(bytes), MPI_BYTE, pair_.peer(), tag, MPI_COMM_WORLD));
    };
    if (pair_.first()) send();
    must(PMPI_Recv(recv_.data(), static_cast<int>(bytes), MPI_BYTE, pair_.peer(), tag, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE));
    if (!pair_.first()) send();
  }

 private:
  static constexpr int tag = 2;

  const TimedPair& pair_;
  std::vector<char> send_, recv_;
};

void measure_pair(int rank, int peer, bool inside, std::vector<Sample>& samples) {
  const TimedPair pair(rank, peer);
  Messages messages(pair);
  for (const Count bytes : sizes()) {
    const double both = pair.time([&] { messages.exchange(bytes); });
    samples.push_back(
        {.kind = inside ? SampleKind::node_exchange : SampleKind::exchange, .bytes = bytes, .seconds = both});
    if (inside) continue;
    const double there_and_back = pair.time([&] { messages.ping_pong(bytes); });
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

/// The partners of rank 0, and the first other rank of its node. All ranks know them.
struct Partners {
  std::vector<Partner> all{};
  int neighbour = 0;  ///< 0: there is none
};

/// Finds the first and the last rank of other nodes, and the first of rank 0's. On one node they are 1 and p-1.
Partners partners(int rank, int size) {
  std::vector<mpi::Whereabouts> ranks;
  must(mpi::gather_whereabouts(MPI_COMM_WORLD, rank, size, &ranks));
  const std::vector<Rank> node_of = mpi::nodes_of(ranks);
  const auto begin = node_of.begin() + 1;
  const auto inside = std::find(begin, node_of.end(), node_of[0]);
  const auto outside = std::find_if(begin, node_of.end(), [&](Rank node) { return node != node_of[0]; });
  if (outside == node_of.end()) {
    return {.all = size > 2 ? std::vector<Partner>{{1}, {size - 1}} : std::vector<Partner>{{1}}, .neighbour = 1};
  }
  const int first = static_cast<int>(outside - node_of.begin());
  int last = size - 1;
  while (node_of[static_cast<std::size_t>(last)] == node_of[0]) --last;
  Partners found{.all = {{first}}};
  if (last != first) found.all.push_back({last});
  if (inside != node_of.end()) {
    found.neighbour = static_cast<int>(inside - node_of.begin());
    found.all.push_back({found.neighbour, true});
  }
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
  const Partners found = partners(rank, size);
  for (const Partner& partner : found.all) {
    if (rank == 0) measure_pair(rank, partner.rank, partner.inside, calibration.samples);
    if (rank == partner.rank) measure_pair(rank, 0, partner.inside, calibration.samples);
    wait_asleep();
  }
  if (rank == 0) measure_reductions(calibration.samples);
  wait_asleep();
  measure_ways(rank, found.neighbour, &calibration);
  return calibration;
}

}  // namespace circoll::bench
