#include "cell.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <span>

#include "circoll/algorithm.hpp"
#include "circoll/collectives.hpp"
#include "circoll/mpi.hpp"
#include "circoll/ops.hpp"
#include "circoll/select.hpp"
#include "exec/mpi/message/arena.hpp"
#include "measured/file_kind.hpp"
#include "select/profile.hpp"

namespace circoll::bench {
namespace {

/// Memory for the vectors that are measured with, of allocate_bulk, that goes with its owner.
class BulkBytes {
 public:
  BulkBytes() = default;
  ~BulkBytes() { resize(0); }
  BulkBytes(const BulkBytes&) = delete;
  BulkBytes& operator=(const BulkBytes&) = delete;

  /// Allocates anew. The former contents are lost, the new ones undefined.
  void resize(std::size_t bytes) {
    if (data_ != nullptr) mpi::free_bulk(data_, bytes_);
    data_ = nullptr;
    bytes_ = 0;
    if (bytes == 0) return;
    data_ = mpi::allocate_bulk(bytes);
    bytes_ = bytes;
  }
  [[nodiscard]] char* data() const { return reinterpret_cast<char*>(data_); }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] std::span<char> span() const { return {data(), bytes_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The buffers of one collective and size, and its call.
class Workload {
 public:
  Workload(const Options& options, Collective collective, Count bytes) : collective_(collective), type_(options.type) {
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    PMPI_Comm_size(MPI_COMM_WORLD, &size_);
    const auto extent = static_cast<Count>(extent_bytes(type_));
    const Count blocks = has_one_vector(collective) ? 1 : size_;
    const Count block_bytes = Amounts::of_measured(collective, size_, bytes).block_bytes();
    const Count count = std::max<Count>(block_bytes / extent, bytes > 0 ? 1 : 0);
    send_.resize(static_cast<std::size_t>(count * blocks * extent));
    recv_.resize(send_.size());
    counts_.assign(static_cast<std::size_t>(size_), count);
    displs_.resize(counts_.size());
    for (std::size_t i = 0; i < displs_.size(); ++i) displs_[i] = static_cast<Count>(i) * count;
    // Simulated ranks may have large vectors in common. Results are compared where they have their own only.
    if (mpi::keeps_contents(send_.size())) fill();
    call_ = {.collective = collective,
             .sendbuf = send_.data(),
             .recvbuf = recv_.data(),
             .sendcount = count,
             .recvcount = count,
             .sendtype = mpi::datatype_of(type_),
             .recvtype = mpi::datatype_of(type_),
             .op = mpi::op_of(options.op),
             .root = options.root,
             .comm = MPI_COMM_WORLD};
    set_counts(call_, counts_, displs_);
  }

  [[nodiscard]] mpi::Call call(MPI_Comm comm) const {
    mpi::Call call = call_;
    call.comm = comm;
    return call;
  }

  /// Uses the buffers as a program would. Each line of what is sent is written, with what it has; the others are read.
  void rewrite() {
    const bool sends_recv = collective_ == Collective::bcast && rank_ == call_.root;
    touch(send_.span(), true);
    touch(recv_.span(), sends_recv);
  }

  /// The result of the call made by `run`, from equal inputs.
  template <typename Run>
  [[nodiscard]] std::vector<char> result(Run&& run) {
    fill();
    std::ranges::fill(recv_.span(), '\0');
    if (collective_ == Collective::bcast && rank_ == call_.root) std::ranges::copy(send_.span(), recv_.data());
    run();
    if (traits_of(collective_).recv.at == Significant::all_but_first && rank_ == 0)
      return {};  // MPI leaves it undefined
    return {recv_.span().begin(), recv_.span().end()};
  }

  /// Equal bytes; sums and products of floating-point numbers may differ in rounding.
  [[nodiscard]] bool equal(const std::vector<char>& a, const std::vector<char>& b, bool exact) const {
    if (exact || a == b) return a == b;
    if (type_ == Type::float32 || type_ == Type::complex64) return close<float>(a, b);
    if (type_ == Type::float64 || type_ == Type::complex128) return close<double>(a, b);
    return false;
  }

 private:
  static void touch(std::span<char> memory, bool write) {
    constexpr std::size_t line_bytes = 64;
    for (std::size_t at = 0; at < memory.size(); at += line_bytes) {
      volatile char* const byte = memory.data() + at;
      const char value = *byte;
      if (write) *byte = value;
    }
  }

  /// Element values 1 .. 4 in every type of integers and floating-point numbers (other types: bytes of them).
  void fill() {
    const std::size_t extent = extent_bytes(type_);
    for (std::size_t i = 0; i * extent < send_.size(); ++i) {
      // Mixed: blocks that change places must show.
      const auto mixed = static_cast<std::uint32_t>(i * 31 + static_cast<std::size_t>(rank_)) * 2654435761U;
      const auto value = static_cast<int>(1 + (mixed >> 20U) % 4);
      char* const at = send_.data() + i * extent;
      std::memset(at, 0, extent);
      if (type_ == Type::float32 || type_ == Type::complex64) {
        const auto v = static_cast<float>(value);
        std::memcpy(at, &v, sizeof v);
      } else if (type_ == Type::float64 || type_ == Type::complex128) {
        const auto v = static_cast<double>(value);
        std::memcpy(at, &v, sizeof v);
      } else if (type_ == Type::float_long || type_ == Type::complex_long) {
        const auto v = static_cast<long double>(value);
        std::memcpy(at, &v, 10);
      } else {
        at[0] = static_cast<char>(type_ == Type::boolean ? value % 2 : value);
      }
    }
  }

  template <typename T>
  [[nodiscard]] bool close(const std::vector<char>& a, const std::vector<char>& b) const {
    const T tolerance = static_cast<T>(size_) * std::numeric_limits<T>::epsilon();
    for (std::size_t i = 0; i + sizeof(T) <= a.size(); i += sizeof(T)) {
      T x{}, y{};
      std::memcpy(&x, a.data() + i, sizeof x);
      std::memcpy(&y, b.data() + i, sizeof y);
      if (!(std::abs(x - y) <= tolerance * std::max(std::abs(x), std::abs(y)))) return false;
    }
    return true;
  }

  Collective collective_;
  Type type_;
  int rank_ = 0, size_ = 1;
  BulkBytes send_, recv_;
  std::vector<Count> counts_, displs_;
  mpi::Call call_{};
};

/// The policy of "auto" in this run. As choices live as long as the process, so does the policy.
const Policy& policy_of(const Options& options) {
  static const std::unique_ptr<const Policy> policy = [&] {
    const PolicyOptions settings = policy_options(options);
    return options.profile.empty() ? make_policy(options.policy, settings)
                                   : select::make_profile_policy(options.profile, options.policy, settings);
  }();
  return *policy;
}

bool is_exact_for(const Options& options, Collective collective) {
  return !is_reducing(collective) || is_exact(options.op, options.type);
}

/// MPICH puts the reason there, after the places that it has come through.
std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t line = text.rfind('\n');
  if (line == std::string::npos) return text;
  const std::size_t reason = text.find(": ", line);
  return text.substr(reason == std::string::npos ? line + 1 : reason + 2);
}

std::string result_against_native(Workload& work, const Runner& run, bool exact) {
  const std::vector<char> native = work.result([&] { Runner{}(work.call(MPI_COMM_WORLD)); });
  const std::vector<char> ours = work.result([&] { (void)run.served(work.call(run.comm())); });
  int good = work.equal(native, ours, exact) ? 1 : 0, all_good = 0;
  PMPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all_good == 1 ? "yes" : "NO";
}

}  // namespace

PolicyOptions policy_options(const Options& options) {
  Machine machine = options.machine.empty() ? default_machine() : measured::read_machine_file(options.machine);
  if (options.network) machine = with_network(std::move(machine), *options.network, "measured network");
  return {.machine = std::move(machine)};
}

void set_counts(mpi::Call& call, const std::vector<Count>& counts, const std::vector<Count>& displs) {
  const mpi::CountArray all_counts(counts.data()), all_displs(displs.data());
  if (has_sendcounts(call.collective)) {
    call.sendcounts = all_counts;
    call.senddispls = all_displs;
  }
  if (has_recvcounts(call.collective)) call.recvcounts = all_counts;
  if (has_recvdispls(call.collective)) call.recvdispls = all_displs;
}

Runner::Runner(const Options& options, Collective collective, const std::string& name) : name_(name) {
  if (native::names_library(name)) {
    // Native calls already go by what the program was started with.
    if (name != native::name_of_native(collective)) forced_ = &native::Forced::get(collective, name);
  } else if (name != "native") {
    choice_ = name == "auto" ? mpi::intern(collective, policy_of(options)) : mpi::intern(collective, name);
  }
}

mpi::CallResult Runner::execute(const mpi::Call& call) const {
  mpi::CallResult outcome;
  if (choice_ == nullptr) {
    outcome.error = mpi::call_native(call);
  } else {
    outcome = mpi::perform(call, *choice_, mpi::Unserved::refuse);
  }
  if (outcome.error != MPI_SUCCESS) throw MpiError(outcome.error);
  return outcome;
}

std::string Runner::served(const mpi::Call& call) const {
  arm();
  mpi::CallResult outcome;
  try {
    outcome = execute(call);
  } catch (const MpiError&) {
    disarm();
    throw;
  }
  disarm();
  return outcome.served() == nullptr ? name_ : outcome.served()->text();
}

bool first_call(Series& series, const std::function<std::string()>& served) {
  int error = MPI_SUCCESS;
  try {
    series.served_by = served();
  } catch (const MpiError& thrown) {
    if (!native::names_library(series.algorithm)) throw;
    error = thrown.mpi_code();
    series.refused = last_line(thrown.what());
  }
  // A call that one rank is refused, no rank can time.
  int mine = error == MPI_SUCCESS ? 0 : 1, any = 0;
  PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (any != 0 && series.refused.empty()) series.refused = "refused on another rank";
  return any == 0;
}

bool gives_native_result(const Options& options, Collective collective, Count bytes, const std::string& name) {
  Workload work(options, collective, bytes);
  return result_against_native(work, Runner(options, collective, name), is_exact_for(options, collective)) == "yes";
}

namespace {

/// Reads and writes other memory for a time, as a program does between its calls. Long work leaves no buffers in
/// caches.
void work_elsewhere(double seconds) {
  if (!(seconds > 0)) return;
  constexpr std::size_t lines_at_once = 64, line_bytes = 64;
  static std::vector<char> memory(std::size_t{32} << 20);
  static std::size_t at = 0;
  const double end = PMPI_Wtime() + seconds;
  while (PMPI_Wtime() < end) {
    for (std::size_t i = 0; i < lines_at_once; ++i) {
      volatile char* const byte = memory.data() + at;
      *byte = static_cast<char>(*byte + 1);
      at = (at + line_bytes) % memory.size();
    }
  }
}

}  // namespace

void take_turns(const Options& options, StartLine& line, std::uint64_t seed, const std::vector<Run>& runs,
                std::vector<Series>& series) {
  // Interleaved, in an order that changes: what disturbs the machine, or comes of the call before, meets
  // all algorithms alike.
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(seed);  // equal on all ranks
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::mt19937_64 arrivals(seed + static_cast<std::uint64_t>(rank) * 1000003);  // each rank's own
  const auto repeat = [&](std::size_t i) {
    work_elsewhere(options.between_s);
    if (runs[i].before) runs[i].before();
    const double delay_s = options.spread_s * static_cast<double>(arrivals() >> 11U) * 0x1p-53;
    return line.time(runs[i].call, runs[i].arm, runs[i].disarm, delay_s);
  };
  for (int warm = 0; warm < options.warm_up; ++warm) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      (void)repeat(i);
      ++series[i].warm_up;
    }
  }
  const double begin = PMPI_Wtime();
  const double limit = options.seconds * static_cast<double>(runs.size());
  constexpr int least = 3;
  // Too late is better than nothing at all.
  constexpr double patience = 5;
  while (true) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    for (const std::size_t i : order) {
      const Repetition repetition = repeat(i);
      if (repetition.valid) {
        series[i].seconds.push_back(repetition.seconds);
      } else {
        ++series[i].invalid;
      }
    }
    std::size_t fewest = static_cast<std::size_t>(options.reps);
    for (const Series& one : series) fewest = std::min(fewest, one.seconds.size());
    const double elapsed = PMPI_Wtime() - begin;
    int stop = fewest >= static_cast<std::size_t>(options.reps) || (fewest >= least && elapsed > limit) ||
                       elapsed > patience * limit
                   ? 1
                   : 0;
    PMPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (stop != 0) break;
  }
}

Cell measure(const Options& options, StartLine& line, Collective collective, Count bytes) {
  int size = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  Workload work(options, collective, bytes);
  Cell cell{.collective = collective, .bytes = bytes};
  std::vector<Runner> runners;
  const bool exact = is_exact_for(options, collective);
  std::vector<std::string> names = algorithms_for(options, collective, size);
  const Count vector_bytes = Amounts::of_measured(collective, size, bytes).vector_bytes();
  for (std::string& name : library_algorithms_for(options, collective, size, vector_bytes)) {
    names.push_back(std::move(name));
  }
  for (std::string& name : names) {
    // Under --native-algorithms the name says what the library was told at its start.
    if (name == "native" && options.native_algorithms) name = native::name_of_native(collective);
  }
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string& name : names) {
    Runner run(options, collective, name);
    Series series{.algorithm = name};
    if (!first_call(series, [&] { return run.served(work.call(run.comm())); })) {
      cell.refused.push_back(std::move(series));
      continue;
    }
    // The library would not take each of its own algorithms for each call.
    if (options.check || native::names_library(name)) series.correct = result_against_native(work, run, exact);
    cell.series.push_back(std::move(series));
    runners.push_back(std::move(run));
  }
  std::vector<std::unique_ptr<Workload>> own;
  std::vector<Run> runs;
  runs.reserve(runners.size());
  for (const Runner& run : runners) {
    Workload& mine = options.buffers == Buffers::reuse
                         ? work
                         : *own.emplace_back(std::make_unique<Workload>(options, collective, bytes));
    const mpi::Call call = mine.call(run.comm());
    Run& timed = runs.emplace_back(Run{.call = [&run, call] { run(call); }});
    if (run.is_forced()) {
      timed.arm = [&run] { run.arm(); };
      timed.disarm = [&run] { run.disarm(); };
    }
    if (options.buffers == Buffers::reuse) continue;
    (void)run.served(call);
    timed.before = [&mine] { mine.rewrite(); };
  }
  take_turns(options, line, options.seed + static_cast<std::uint64_t>(bytes), runs, cell.series);
  return cell;
}

}  // namespace circoll::bench
