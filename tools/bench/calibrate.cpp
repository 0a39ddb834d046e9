// Times of messages and reductions between pairs of ranks, and of calls whose ranks share memory.
#include "calibrate.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "circoll/error.hpp"
#include "circoll/mpi.hpp"
#include "circoll/ops.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/comm/node_peers.hpp"
#include "exec/mpi/comm/placement.hpp"
#include "exec/mpi/library/pair_messages.hpp"
#include "facts/median.hpp"

namespace circoll::bench {
namespace {

/// The sizes that are timed, and how long each.
constexpr Count largest_bytes = Count{4} << 20;
constexpr double seconds_per_sample = 0.1;
constexpr int least_batches = 5;
constexpr int most_batches = 500;

void must(int rc) {
  if (rc != MPI_SUCCESS) throw MpiError(rc);
}

std::vector<Count> sizes() {
  std::vector<Count> all{1, 8, 64, 256};
  for (Count bytes = 1024; bytes <= largest_bytes; bytes *= 2) all.push_back(bytes);
  return all;
}

/// Waits for all ranks without taking a processor from those that measure.
void wait_asleep() {
  MPI_Request request = MPI_REQUEST_NULL;
  must(PMPI_Ibarrier(MPI_COMM_WORLD, &request));
  for (int done = 0; done == 0;) {
    must(PMPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// This rank and a peer, which makes the same calls at the same time.
class TimedPair {
 public:
  TimedPair(int rank, int peer) : first_(rank < peer), peer_(peer) {}

  /// Median seconds of `repeat` over batches; the lower rank says how many.
  template <typename Repeat>
  [[nodiscard]] double time(Repeat&& repeat) const {
    repeat();  // connections, pages
    const double once = batch_seconds(repeat, 4);
    // Repetitions between two looks at the clock, and how often it is looked at.
    std::array<int, 2> plan{std::clamp(static_cast<int>(least_batch_seconds / once), 4, 100), 0};
    plan[1] = static_cast<int>(
        std::clamp(seconds_per_sample / (once * plan[0]), double{least_batches}, double{most_batches}));
    if (first_) {
      must(PMPI_Send(plan.data(), 2, MPI_INT, peer_, tag, MPI_COMM_WORLD));
    } else {
      must(PMPI_Recv(plan.data(), 2, MPI_INT, peer_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    std::vector<double> seconds;
    seconds.reserve(static_cast<std::size_t>(plan[1]));
    for (int i = 0; i < plan[1]; ++i) seconds.push_back(batch_seconds(repeat, plan[0]));
    return median(std::move(seconds));
  }

  [[nodiscard]] bool first() const { return first_; }
  [[nodiscard]] int peer() const { return peer_; }

 private:
  static constexpr double least_batch_seconds = 10e-6;
  static constexpr int tag = 1;

  template <typename Repeat>
  static double batch_seconds(Repeat&& repeat, int repetitions) {
    const double begin = PMPI_Wtime();
    for (int i = 0; i < repetitions; ++i) repeat();
    return std::max(PMPI_Wtime() - begin, 1e-9) / repetitions;
  }

  bool first_;
  int peer_;
};

void measure_pair(int rank, int peer, bool inside, std::vector<Sample>& samples) {
  const TimedPair pair(rank, peer);
  constexpr int tag = 2;
  mpi::PairMessages messages(MPI_COMM_WORLD, pair.peer(), tag, largest_bytes);
  for (const Count bytes : sizes()) {
    const double both = pair.time([&] { must(messages.exchange(bytes)); });
    samples.push_back(
        {.kind = inside ? SampleKind::node_exchange : SampleKind::exchange, .bytes = bytes, .seconds = both});
    if (inside) continue;
    const double there_and_back = pair.time([&] { must(messages.ping_pong(bytes, pair.first())); });
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

/// Seconds of an exchange of `bytes` with the partner that is fastest for this host. In each round all hosts exchange
/// at once, but for one or two that rest. Each host has two partners at least, which lie far from one another, since
/// slow hosts may be neighbours.
double time_host(const std::vector<int>& leaders, int own, Count bytes) {
  constexpr int rounds = 3, repetitions = 3, tag = 3, part = 8192;
  const int number = static_cast<int>(leaders.size());
  double fastest = 0;
  for (int round = 0; round < rounds; ++round) {
    const int sum = 1 + round * number / rounds;  // of the numbers of two partners
    const int partner = ((sum - own) % number + number) % number;
    if (partner == own) continue;
    mpi::PairMessages messages(MPI_COMM_WORLD, leaders[static_cast<std::size_t>(partner)], tag, bytes);
    must(messages.exchange_in_parts(bytes, part));  // a connection, and both are there
    const double begin = PMPI_Wtime();
    for (int i = 0; i < repetitions; ++i) must(messages.exchange_in_parts(bytes, part));
    const double seconds = std::max(PMPI_Wtime() - begin, 1e-9) / repetitions;
    if (fastest == 0 || seconds < fastest) fastest = seconds;
  }
  return fastest;
}

/// Adds the times of all hosts on rank 0, if there are three at least.
void measure_hosts(const std::vector<Rank>& node_of, int rank, Calibration* calibration) {
  constexpr Count bytes = Count{1} << 20;
  constexpr int tag = 4;
  struct {
    double seconds = 0;
    std::array<char, MPI_MAX_PROCESSOR_NAME + 1> name{};
  } mine;
  const std::vector<int> leaders = mpi::leaders_of(node_of);
  if (leaders.size() < 3) return;
  if (const auto own = std::ranges::find(leaders, rank); own != leaders.end()) {
    int length = 0;
    must(PMPI_Get_processor_name(mine.name.data(), &length));
    mine.seconds = time_host(leaders, static_cast<int>(own - leaders.begin()), bytes);
    if (rank != 0) must(PMPI_Send(&mine, sizeof mine, MPI_BYTE, 0, tag, MPI_COMM_WORLD));
  }
  for (std::size_t host = 0; rank == 0 && host < leaders.size(); ++host) {
    auto one = mine;
    if (host > 0) must(PMPI_Recv(&one, sizeof one, MPI_BYTE, leaders[host], tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    calibration->hosts.push_back({.name = one.name.data(), .seconds = one.seconds});
  }
  wait_asleep();
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
Partners partners(const std::vector<Rank>& node_of) {
  const int size = static_cast<int>(node_of.size());
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

std::string calibrated_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  must(PMPI_Get_library_version(text.data(), &length));
  const std::string whole(text.data(), static_cast<std::size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

/// The ways of messages to the other ranks of this node. None, if memory does not reach some of them.
std::vector<SampledWay> ways_here() {
  const mpi::NodeUse use = mpi::node_use();
  if (use.others == 0 || use.by_memory < use.others) return {};
  const bool all_read = use.read_directly == use.others;
  std::vector<SampledWay> ways;
  if (!all_read || use.read_from > 0) ways.push_back({.name = "stored", .from_bytes = 0});
  if (all_read) ways.push_back({.name = "direct", .from_bytes = use.read_from, .read = true});
  return ways;
}

/// Both ranks are the root of half of the bursts, so that one must end before the next one begins.
void measure_with(const TimedPair& pair, MPI_Comm both, std::vector<Sample>* samples) {
  std::vector<char> buffer(static_cast<std::size_t>(2 * largest_bytes), 0);
  const auto add = [&](SampleKind kind, Count bytes, double seconds) {
    samples->push_back({.kind = kind, .bytes = bytes, .seconds = seconds});
  };
  const std::string pipeline = "pipeline:segments=" + std::to_string(burst);
  const Choice recursive_doubling("recursive_doubling"), cut(pipeline);
  for (const Count bytes : sizes()) {
    add(SampleKind::memory_exchange, bytes, pair.time([&] {
      mpi::allgather(MPI_IN_PLACE, bytes, MPI_BYTE, buffer.data(), bytes, MPI_BYTE, both, recursive_doubling);
    }));
    const Count elements = bytes / Count{sizeof(double)};
    if (elements == 0) continue;
    add(SampleKind::memory_reduction, bytes, pair.time([&] {
      mpi::allreduce(MPI_IN_PLACE, buffer.data(), elements, MPI_DOUBLE, MPI_SUM, both, recursive_doubling);
    }));
    if (bytes * burst > largest_bytes) continue;
    const double there_and_back = pair.time([&] {
      mpi::bcast(buffer.data(), bytes * burst, MPI_BYTE, 0, both, cut);
      mpi::bcast(buffer.data(), bytes * burst, MPI_BYTE, 1, both, cut);
    });
    add(SampleKind::memory_burst, bytes, there_and_back / 2);
  }
}

/// The mean, since ranks take turns: most calls are short, and some wait for a turn of all others.
double seconds_of_crowded(Rank ranks) {
  constexpr Count bytes = 8;
  constexpr int repetitions = 2000;
  std::vector<char> buffer(static_cast<std::size_t>(ranks * bytes), 0);
  const auto repeat = [&](int times) {
    for (int i = 0; i < times; ++i) {
      mpi::allgather(MPI_IN_PLACE, bytes, MPI_BYTE, buffer.data(), bytes, MPI_BYTE, MPI_COMM_WORLD, "linear");
    }
  };
  repeat(repetitions / 10);
  const double begin = PMPI_Wtime();
  repeat(repetitions);
  return (PMPI_Wtime() - begin) / repetitions;
}

/// Adds samples of memory, and the ways that they went, if the ranks of rank 0's node share memory. Rank 0 calls with
/// `peer`, a rank of its node (0 if there is none), while the others sleep. If all ranks are on one node that has fewer
/// processors, it also calls with all of them. All ranks call this function; the samples are complete on rank 0.
void measure_ways(int rank, int peer, Calibration* calibration) {
  mpi::barrier(MPI_COMM_WORLD, "dissemination");  // the first call finds the node peers
  std::vector<SampledWay> ways = peer == 0 ? std::vector<SampledWay>{} : ways_here();
  auto number = static_cast<int>(ways.size());
  must(PMPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD));
  if (number == 0) return;
  const bool takes_part = rank == 0 || rank == peer;
  MPI_Comm both = MPI_COMM_NULL;
  must(PMPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, rank, &both));
  if (takes_part) {
    measure_with(TimedPair(rank, rank == 0 ? peer : 0), both, &calibration->samples);
    must(PMPI_Comm_free(&both));
  }
  wait_asleep();
  int error = MPI_SUCCESS;
  const Placement& placement = mpi::CommState::of(MPI_COMM_WORLD, &error)->placement();
  const Rank ranks = mpi::size_of(MPI_COMM_WORLD);
  if (placement.crowded && placement.cores == ranks) {
    const double seconds = seconds_of_crowded(ranks);
    calibration->samples.push_back(
        {.kind = SampleKind::memory_crowded, .bytes = 8, .seconds = seconds, .ranks = ranks});
  }
  calibration->ways = std::move(ways);
}

}  // namespace

Calibration measure_machine(const std::string& name) {
  int rank = 0, size = 1;
  must(PMPI_Comm_rank(MPI_COMM_WORLD, &rank));
  must(PMPI_Comm_size(MPI_COMM_WORLD, &size));
  require(size >= 2, "--calibrate needs at least two ranks");
  Calibration calibration{
      .name = name, .about = calibrated_library() + ", " + std::to_string(size) + " ranks", .samples = {}};
  std::vector<mpi::RankLocation> ranks;
  must(mpi::gather_locations(MPI_COMM_WORLD, rank, size, &ranks));
  const std::vector<Rank> node_of = mpi::nodes_of(ranks);
  measure_hosts(node_of, rank, &calibration);
  const Partners found = partners(node_of);
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
