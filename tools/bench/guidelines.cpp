// Both sides of performance guidelines, measured in turn: the calls of a side, its local work, and the tables.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "cell.hpp"
#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/mpi.hpp"
#include "facts/median.hpp"
#include "measured/guidelines.hpp"
#include "table.hpp"

namespace circoll::bench {
namespace {

/// Memory that all sides of one size share. A call takes its data where the one before has left them.
struct GuidelineMemory {
  /// For vectors of at least `wanted` bytes.
  GuidelineMemory(const Options& options, Count wanted);

  Count elements = 1;  ///< of one rank's block: at least one, the bytes rounded up
  Count extent = 1;    ///< bytes of an element
  int rank = 0, size = 1;
  Count bytes = 0;                ///< m: of all p blocks
  std::vector<char> stages[3]{};  ///< before the first call, after it, after the second
};

class GuidelineCalls {
 public:
  /// Refers to `memory`. `algorithm` serves all calls.
  GuidelineCalls(const Options& options, GuidelineMemory& memory, const GuidelineSide& side,
                 const std::string& algorithm);
  GuidelineCalls(const GuidelineCalls&) = delete;
  GuidelineCalls& operator=(const GuidelineCalls&) = delete;
  GuidelineCalls(GuidelineCalls&&) = default;
  GuidelineCalls& operator=(GuidelineCalls&&) = delete;
  ~GuidelineCalls() = default;

  /// The algorithm of the calls; all have the same.
  [[nodiscard]] const Runner& runner() const { return calls_.front().runner; }
  /// Makes the calls.
  void run() const;
  /// The same, and says what served them: "recursive_doubling+binomial".
  [[nodiscard]] std::string served() const;

 private:
  struct One {
    mpi::Call call{};
    Runner runner{};
    std::vector<Count> counts{}, displs{};  ///< what the call's arrays refer to
  };
  void add(const Options& options, const GuidelineCall& what, std::size_t index, const std::string& algorithm);
  void work_locally() const;

  GuidelineMemory* memory_;
  Local local_;
  mpi::Call reduction_{};
  std::vector<One> calls_{};
};

GuidelineMemory::GuidelineMemory(const Options& options, Count wanted)
    : extent(static_cast<Count>(extent_bytes(options.type))) {
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  const Count of_all = extent * size;
  elements = std::max<Count>(1, (wanted + of_all - 1) / of_all);
  bytes = elements * of_all;
  // Two halves of blocks, each rounded up, take at most one element more.
  for (std::vector<char>& stage : stages) stage.assign(static_cast<std::size_t>((elements + 1) * of_all), '\0');
}

GuidelineCalls::GuidelineCalls(const Options& options, GuidelineMemory& memory, const GuidelineSide& side,
                               const std::string& algorithm)
    : memory_(&memory), local_(side.local) {
  calls_.reserve(side.calls.size());
  for (std::size_t i = 0; i < side.calls.size(); ++i) add(options, side.calls[i], i, algorithm);
  reduction_.op = mpi::op_of(options.op);
  reduction_.sendtype = mpi::datatype_of(options.type);
}

void GuidelineCalls::add(const Options& options, const GuidelineCall& what, std::size_t index,
                         const std::string& algorithm) {
  const Collective collective = what.collective;
  const bool half = what.part == VectorPart::half;
  const Count block = half ? (memory_->elements + 1) / 2 : memory_->elements;
  const Count vector = block * memory_->size;
  // Halves lie side by side; other calls go on with what the one before has made.
  char* const from = half ? memory_->stages[0].data() + static_cast<Count>(index) * vector * memory_->extent
                          : memory_->stages[index].data();
  char* const to = half ? memory_->stages[1].data() + static_cast<Count>(index) * vector * memory_->extent
                        : memory_->stages[index + 1].data();
  const bool in_its_buffer = collective == Collective::bcast;
  Count count = has_one_vector(collective) ? vector : block;
  One& one = calls_.emplace_back();
  one.counts.assign(static_cast<std::size_t>(memory_->size), block);
  one.displs.resize(one.counts.size());
  for (std::size_t i = 0; i < one.displs.size(); ++i) one.displs[i] = static_cast<Count>(i) * block;
  if (what.part == VectorPart::at_root) {
    std::ranges::fill(one.counts, 0);
    std::ranges::fill(one.displs, 0);
    one.counts[static_cast<std::size_t>(options.root)] = vector;
    count = memory_->rank == options.root ? vector : 0;
  }
  one.call = {.collective = collective,
              .sendbuf = from,
              .recvbuf = in_its_buffer ? from : to,
              .sendcount = count,
              .recvcount = count,
              .sendtype = mpi::datatype_of(options.type),
              .recvtype = mpi::datatype_of(options.type),
              .op = mpi::op_of(options.op),
              .root = options.root,
              .comm = MPI_COMM_WORLD};
  set_counts(one.call, one.counts, one.displs);
  one.runner = Runner(options, collective, algorithm);
  one.call.comm = one.runner.comm();
}

void GuidelineCalls::run() const {
  work_locally();
  for (const One& one : calls_) one.runner(one.call);
}

std::string GuidelineCalls::served() const {
  std::string text;
  for (const One& one : calls_) {
    if (!text.empty()) text += '+';
    text += one.runner.served(one.call);
  }
  return text;
}

/// Before the calls, where some of it would come after them in earnest: it takes the same time.
void GuidelineCalls::work_locally() const {
  if (local_ == Local::none) return;
  char* const to = memory_->stages[0].data();
  const char* const from = memory_->stages[2].data();
  const Count count = memory_->elements * (local_ == Local::copy_block ? 1 : memory_->size);
  if (local_ != Local::reduce) {
    std::memcpy(to, from, static_cast<std::size_t>(count * memory_->extent));
    return;
  }
  if (count > std::numeric_limits<int>::max()) throw Error(ErrorCode::unsupported, "more than 2^31 elements to reduce");
  if (const int rc = PMPI_Reduce_local(from, to, static_cast<int>(count), reduction_.sendtype, reduction_.op);
      rc != MPI_SUCCESS) {
    throw MpiError(rc);
  }
}

/// A side, and what else may serve its collective.
struct Wanted {
  GuidelineSide side{};
  std::vector<std::string> counterparts{};  ///< names of algorithms
  bool left = false;                        ///< the left-hand side of a guideline
};

/// Every side of the guidelines about these collectives, once.
std::vector<Wanted> wanted(const std::vector<Collective>& collectives) {
  std::vector<Wanted> list;
  const auto want = [&](const GuidelineSide& side) -> Wanted& {
    for (Wanted& known : list) {
      if (to_string(known.side) == to_string(side)) return known;
    }
    return list.emplace_back(Wanted{.side = side});
  };
  for (const Guideline& guideline : guidelines()) {
    const auto about = guideline.left.calls.front().collective;
    if (std::ranges::find(collectives, about) == collectives.end()) continue;
    Wanted& left = want(guideline.left);
    left.left = true;
    if (!guideline.counterpart.empty()) left.counterparts.emplace_back(guideline.counterpart);
    (void)want(guideline.right);
  }
  return list;
}

/// The algorithms that serve all calls of a side. Those inside the MPI library stand for better left-hand sides only.
std::vector<std::string> algorithms_of_side(const Options& options, const Wanted& what, int size, Count bytes) {
  Options own = options;
  own.algorithms.insert(own.algorithms.end(), what.counterparts.begin(), what.counterparts.end());
  std::vector<std::string> names = algorithms_for(own, what.side.calls.front().collective, size);
  for (const GuidelineCall& call : what.side.calls) {
    const std::vector<std::string> others = algorithms_for(own, call.collective, size);
    std::erase_if(names, [&](const std::string& name) { return std::ranges::find(others, name) == others.end(); });
  }
  const GuidelineCall& first = what.side.calls.front();
  if (what.left && what.side.calls.size() == 1 && first.part == VectorPart::whole) {
    for (std::string& name : library_algorithms_for(options, first.collective, size, bytes)) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

/// Wrong results of the library's own algorithms do not count as fast. It would not take them for such a call.
bool is_right(const Options& options, const Wanted& what, const GuidelineMemory& memory, const std::string& name) {
  const Collective collective = what.side.calls.front().collective;
  return gives_native_result(options, collective,
                             Amounts::of_vector(collective, memory.size, memory.bytes).measured_bytes(), name);
}

}  // namespace

GuidelineCell measure_guidelines(const Options& options, StartLine& line, Count bytes) {
  GuidelineMemory memory(options, bytes);
  GuidelineCell cell{.bytes = memory.bytes};
  std::vector<GuidelineCalls> calls;
  for (const Wanted& what : wanted(options.collectives)) {
    for (const std::string& name : algorithms_of_side(options, what, memory.size, memory.bytes)) {
      GuidelineCalls made(options, memory, what.side, name);
      Series series{.algorithm = name};
      if (!first_call(series, [&] { return made.served(); })) continue;  // warms up, too
      if (native::names_library(name) && !is_right(options, what, memory, name)) continue;
      calls.push_back(std::move(made));
      cell.sides.push_back(to_string(what.side));
      cell.series.push_back(std::move(series));
    }
  }
  std::vector<Run> runs;
  runs.reserve(calls.size());
  for (const GuidelineCalls& call : calls) {
    Run& timed = runs.emplace_back(Run{.call = [&call] { call.run(); }});
    if (!call.runner().is_forced()) continue;
    timed.arm = [&call] { call.runner().arm(); };
    timed.disarm = [&call] { call.runner().disarm(); };
  }
  take_turns(options, line, options.seed + static_cast<std::uint64_t>(cell.bytes), runs, cell.series);
  return cell;
}

std::vector<Cell> cells_of(const GuidelineCell& cell, int size) {
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < cell.series.size(); ++i) {
    const auto collective = collective_from_string(cell.sides[i]);
    if (!collective) continue;
    if (cells.empty() || cells.back().collective != *collective) {
      cells.push_back({.collective = *collective,
                       .bytes = Amounts::of_vector(*collective, size, cell.bytes).measured_bytes(),
                       .series = {}});
    }
    cells.back().series.push_back(cell.series[i]);
  }
  return cells;
}

std::string guideline_header(const StartLine& line, bool wide) {
  const std::string begin =
      fmt::format("# ranks start together by {}; bytes of the whole vector\n", to_string(line.sync()));
  if (!wide) return begin + fmt::format("{:<45} {:<32} {:>9} {:>11}\n", "# side", "algorithm", "bytes", "median_us");
  return begin + fmt::format("{:<45} {:<20} {:>5} {:>11} {:>6} {:>12}  {}\n", "# side", "algorithm", "p", "bytes",
                             "reps", "median_us", "served by");
}

std::string guideline_rows(const GuidelineCell& cell, int size, bool wide) {
  std::string text;
  for (std::size_t i = 0; i < cell.series.size(); ++i) {
    const Series& series = cell.series[i];
    const double median_us = median(series.seconds) * 1e6;
    const std::size_t names = series.seconds.empty() ? 25 : 32;
    text += wide ? fmt::format("{:<45} {:<20} {:>5} {:>11}", cell.sides[i], series.algorithm, size, cell.bytes)
                 : fmt::format("{:<45} {:<{}} {:>9}", cell.sides[i], clipped(label(series), names), names, cell.bytes);
    if (series.seconds.empty()) {
      text += " " + nothing_measured(series, wide) + "\n";
    } else if (wide) {
      text += fmt::format(" {:>6} {:>12.2f}  {}\n", series.seconds.size(), median_us, series.served_by);
    } else {
      text += fmt::format(" {:>11.2f}\n", median_us);
    }
  }
  return text;
}

}  // namespace circoll::bench
