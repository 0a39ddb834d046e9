#include "guideline_calls.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/mpi.hpp"

namespace circoll::bench {

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
  const bool half = what.part == Part::half;
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
  if (what.part == Part::at_root) {
    std::fill(one.counts.begin(), one.counts.end(), 0);
    std::fill(one.displs.begin(), one.displs.end(), 0);
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

}  // namespace circoll::bench
