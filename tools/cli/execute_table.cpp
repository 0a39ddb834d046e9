#include "execute_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "circoll/collectives.hpp"
#include "circoll/ops.hpp"
#include "circoll/select.hpp"
#include "commands.hpp"
#include "exec/local/job.hpp"
#include "facts/median.hpp"
#include "oracle/oracle.hpp"

namespace circoll::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Buffers = std::vector<std::vector<std::byte>>;

constexpr Type type = Type::float32;
constexpr Op op = Op::sum;

struct Row {
  std::string collective;
  std::string algorithm;
  Count bytes = 0;
  double median_us = 0;
  double reference_us = 0;
  std::string error;  // empty if correct
};

double microseconds(Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

/// Times per repetition and rank.
class Times {
 public:
  Times(std::size_t repetitions, std::size_t ranks) : ranks_(ranks), us_(repetitions * ranks) {}
  double& at(std::size_t repetition, std::size_t rank) { return us_[repetition * ranks_ + rank]; }
  /// Median over repetitions of the maximum over ranks.
  [[nodiscard]] double median() const {
    std::vector<double> slowest;
    for (auto from = us_.begin(); from != us_.end(); from += static_cast<std::ptrdiff_t>(ranks_)) {
      slowest.push_back(*std::max_element(from, from + static_cast<std::ptrdiff_t>(ranks_)));
    }
    return circoll::median(std::move(slowest));
  }

 private:
  std::size_t ranks_;
  std::vector<double> us_;
};

/// One rank's result straight from all inputs: the definition, in one loop over memory.
void compute_directly(const local::Job& job, const Buffers& inputs, std::size_t rank, std::vector<std::byte>& output) {
  if (output.empty()) return;
  if (is_reducing(job.collective)) {
    const bool scattered = traits_of(job.collective).recv.holds == Holds::own_block;
    const std::size_t offset = scattered ? rank * output.size() : 0;
    const std::size_t elements = output.size() / extent_bytes(type);
    std::memcpy(output.data(), inputs[0].data() + offset, output.size());
    const bool exclusive = traits_of(job.collective).recv.at == Significant::all_but_first;
    const std::size_t sources = !is_prefix(job.collective) ? inputs.size() : exclusive ? rank : rank + 1;
    for (std::size_t r = 1; r < sources; ++r) {
      reduce_kernel(op, type)(output.data(), output.data(), inputs[r].data() + offset, elements);
    }
  } else if (regular_of(job.collective) == Collective::scatter) {
    std::memcpy(output.data(), inputs[0].data() + rank * output.size(), output.size());
  } else if (is_exchange(job.collective)) {
    const std::size_t block = output.size() / inputs.size();
    for (std::size_t r = 0; r < inputs.size(); ++r) {
      std::memcpy(output.data() + r * block, inputs[r].data() + rank * block, block);
    }
  } else {  // bcast, gather, allgather: all inputs one after another
    std::size_t offset = 0;
    for (const auto& input : inputs) {
      std::memcpy(output.data() + offset, input.data(), input.size());
      offset += input.size();
    }
  }
}

local::Call call_of(const local::Job& job, const local::JobResult& outcome, Buffers& outputs, std::size_t rank,
                    const std::vector<Count>& counts) {
  local::Call call;
  call.collective = job.collective;
  call.sendbuf = outcome.inputs[rank].data();
  call.recvbuf = outputs[rank].data();
  call.count = job.counts[0];
  if (is_irregular(job.collective)) call.counts = counts;
  if (is_irregular(job.collective) && is_exchange(job.collective)) call.send_counts = counts;
  call.type = job.type;
  call.op = job.op;
  return call;
}

Row measure(Collective collective, Rank ranks, Count bytes) {
  const auto p = static_cast<std::size_t>(ranks);
  local::Job job;
  job.collective = collective;
  job.size = ranks;
  job.type = type;
  job.op = op;
  const Count elements = bytes / static_cast<Count>(extent_bytes(type));
  job.counts = {has_one_vector(collective) ? elements : std::max(Count{bytes > 0 ? 1 : 0}, elements / ranks)};
  const std::vector<Count> counts(p, job.counts[0]);

  local::JobResult outcome;
  Buffers direct(p);
  for (Rank rank = 0; rank < ranks; ++rank) {
    outcome.inputs.emplace_back(static_cast<std::size_t>(job.input_elements(rank) * job.element_bytes()));
    oracle::fill(type, rank, outcome.inputs.back());
    outcome.outputs.emplace_back(static_cast<std::size_t>(job.output_elements(rank) * job.element_bytes()));
    direct[static_cast<std::size_t>(rank)].resize(outcome.outputs.back().size());
  }
  if (collective == Collective::bcast) outcome.outputs[0] = outcome.inputs[0];

  const std::size_t warm_up = 10;
  const std::size_t repetitions = bytes <= 1 << 12 ? 400 : bytes <= 1 << 17 ? 200 : 40;
  Times ours(repetitions, p);
  Times reference(repetitions, p);
  std::barrier line_up(static_cast<std::ptrdiff_t>(p));
  local::World world(ranks);
  world.run([&](local::Comm& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    const local::Call call = call_of(job, outcome, outcome.outputs, rank, counts);
    for (std::size_t repetition = 0; repetition < warm_up + repetitions; ++repetition) {
      line_up.arrive_and_wait();
      const auto start = Clock::now();
      comm.execute(call);
      const auto middle = Clock::now();
      line_up.arrive_and_wait();
      const auto reference_start = Clock::now();
      line_up.arrive_and_wait();
      compute_directly(job, outcome.inputs, rank, direct[rank]);
      line_up.arrive_and_wait();
      const auto end = Clock::now();
      if (repetition < warm_up) continue;
      ours.at(repetition - warm_up, rank) = microseconds(middle - start);
      reference.at(repetition - warm_up, rank) = microseconds(end - reference_start);
    }
  });

  const Count vector_bytes = Amounts::of_count(collective, ranks, job.counts[0], job.element_bytes()).vector_bytes();
  const Selection selection = resolve({}, facts_of(collective, ranks, vector_bytes, op, type));
  std::string name(selection.algorithm->name);
  for (const auto& [key, value] : selection.params) name += fmt::format(":{}={}", key, value);
  return Row{std::string(to_string(collective)),
             name,
             vector_bytes,
             ours.median(),
             reference.median(),
             oracle::check(job, outcome, selection.algorithm->guarantees.same_bits)};
}

}  // namespace

bool print_execute_table(Rank ranks, bool json) {
  // A thread per rank and timing loops: beyond this the table says nothing about algorithms.
  require(ranks <= 256, "the table is for at most 256 ranks");
  if (!json) {
    print(
        fmt::format("{} ranks as threads of this process, float32 sums; reference: shared memory and two barriers\n\n"
                    "{:<22}{:<32}{:>8}{:>11}{:>10}{:>7}  {}\n",
                    ranks, "collective", "algorithm", "bytes", "median us", "reference", "ratio", "correct"));
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  bool all_correct = true;
  for (const Collective collective : all_collectives) {
    if (algorithms_of(collective).empty()) continue;
    const std::vector<Count> sizes =
        traits_of(collective).moves_data ? std::vector<Count>{64, 16 << 10, 1 << 20} : std::vector<Count>{0};
    for (const Count bytes : sizes) {
      const Row row = measure(collective, ranks, bytes);
      all_correct = all_correct && row.error.empty();
      const double ratio = row.median_us / row.reference_us;
      if (json) {
        rows.push_back({{"collective", row.collective},
                        {"algorithm", row.algorithm},
                        {"p", ranks},
                        {"bytes", row.bytes},
                        {"median_us", row.median_us},
                        {"reference_us", row.reference_us},
                        {"ratio", ratio},
                        {"correct", row.error.empty()},
                        {"error", row.error}});
      } else {
        print(fmt::format("{:<22}{:<32}{:>8}{:>11.1f}{:>10.1f}{:>7.2f}  {}\n", row.collective, row.algorithm, row.bytes,
                          row.median_us, row.reference_us, ratio, row.error.empty() ? "yes" : "NO: " + row.error));
      }
    }
  }
  if (json) print(rows.dump(2) + "\n");
  return all_correct;
}

}  // namespace circoll::cli
