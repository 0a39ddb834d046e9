// Learning as a wrapper: calls get the algorithms that were the best for similar calls. It begins with the file of an
// earlier run, and keeps its results for the next one.
#include <mpi.h>

#include <filesystem>
#include <string>
#include <utility>

#include "circoll/error.hpp"
#include "exec/mpi/comm/carrier.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/serve/shared_profile.hpp"
#include "interpose/all_ranks.hpp"
#include "select/text_file.hpp"
#include "wrappers/learn/learned.hpp"
#include "wrappers/learn/learner.hpp"
#include "wrappers/wrappers.hpp"

namespace circoll::interpose {
namespace {

/// The text of rank 0 at all ranks. Empty if it could not be had.
std::string of_rank_0(std::string text) {
  auto length = static_cast<std::int64_t>(text.size());
  if (PMPI_Bcast(&length, 1, MPI_INT64_T, 0, mpi::base_world()) != MPI_SUCCESS) return {};
  text.resize(static_cast<std::size_t>(length));
  if (length == 0) return {};
  // At most that of a text file, 16 MiB.
  if (PMPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, mpi::base_world()) != MPI_SUCCESS) return {};
  return text;
}

class Learning final : public Serving {
 public:
  Learning(const Wish& wish, std::unique_ptr<Serving> next)
      : Serving(std::move(next)), wish_(wish), learner_(*wish.learns_from, *wish.options, wish.learns) {}

  /// Begins with the results in the file. Collective.
  void begin();

  [[nodiscard]] mpi::CallResult perform(const mpi::Call& call, const mpi::InternedChoice& choice, bool timed) override;
  [[nodiscard]] const mpi::InternedChoice& choose(const mpi::Call& call, const mpi::InternedChoice& choice) override {
    return Serving::choose(call, learner_.best(call, choice));
  }
  [[nodiscard]] bool keeps_result() const override { return !wish_.learn_file.empty(); }
  [[nodiscard]] std::optional<ReportSection> result(MPI_Comm comm) override;
  /// By default a communicator has to pay first (ADR 25).
  [[nodiscard]] bool serves_all() const override { return wish_.learns == Learns::always || Serving::serves_all(); }

 private:
  [[nodiscard]] Learned gather(MPI_Comm comm) const;
  void keep(const Learned& learned) const;

  Wish wish_;
  Learner learner_;
};

void Learning::begin() {
  const std::string& file = wish_.learn_file;
  if (file.empty()) return;
  std::string text;
  if (wish_.world_rank == 0 && std::filesystem::exists(file)) {
    try {
      text = select::read_text_file(file);
      const LearnedFile known = read_learned(text, file);
      const std::string why = why_not_here(known.machine, mpi::own_profile_key());
      if (!why.empty()) throw Error(ErrorCode::invalid_argument, file + " is not used, and stays as it is: " + why);
    } catch (const Error& e) {
      wish_.warn(std::string("CIRCOLL_LEARN: ") + e.what());
      text.clear();
    }
  }
  text = of_rank_0(std::move(text));
  if (!text.empty()) learner_.begin_with(read_learned(text, file).learned);
}

mpi::CallResult Learning::perform(const mpi::Call& call, const mpi::InternedChoice& choice, bool timed) {
  const Learner::Turn turn = learner_.turn(call, choice);
  if (turn.error != MPI_SUCCESS) return {.error = turn.error, .handled = true};
  const double begin_s = turn.timed ? PMPI_Wtime() : 0;
  mpi::CallResult outcome = Serving::perform(call, *turn.choice, timed);
  if (turn.calls == nullptr) return outcome;
  const double seconds = turn.timed ? PMPI_Wtime() - begin_s : 0;
  const int error = learner_.ended(turn, call, seconds, outcome.error);
  if (outcome.error == MPI_SUCCESS && error != MPI_SUCCESS) return {.error = error, .handled = true};
  return outcome;
}

Learned Learning::gather(MPI_Comm comm) const {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  std::vector<std::string> parts(static_cast<std::size_t>(size));
  collect(
      comm, [&](const auto& sink) { sink(serialised(learner_.learned())); },
      [&](int rank, std::string_view part) { parts[static_cast<std::size_t>(rank)] += part; });
  Learned all;
  for (const std::string& part : parts) {
    if (!part.empty()) all.add(learned_from(part));
  }
  return all;
}

void Learning::keep(const Learned& learned) const {
  if (wish_.learn_file.empty() || wish_.world_rank != 0) return;
  const std::string too_few = too_few_calls(learned);
  if (!too_few.empty()) {
    wish_.warn("CIRCOLL_LEARN: " + too_few + ". Nothing was added to " + wish_.learn_file);
    return;
  }
  try {
    store_learned(wish_.learn_file, learned, mpi::own_profile_key());
  } catch (const Error& e) {
    wish_.warn(std::string("CIRCOLL_LEARN: ") + e.what());
  } catch (const std::filesystem::filesystem_error& e) {
    wish_.warn(std::string("CIRCOLL_LEARN: ") + e.what());
  }
}

std::optional<ReportSection> Learning::result(MPI_Comm comm) {
  const Learned all = gather(comm);
  keep(all);
  return ReportSection{.json = report_json(all), .lines = report_lines(all, wish_.learns == Learns::always)};
}

}  // namespace

std::unique_ptr<Serving> wrap_in_learning(const Wish& wish, std::unique_ptr<Serving> next) {
  if (wish.learns == Learns::never || wish.learns_from == nullptr) return next;
  // On one node nothing is in front of calls.
  if (wish.learns == Learns::across_nodes) {
    const auto& world = mpi::shared_world();
    if (world == nullptr || !spans_nodes(world->placement())) return next;
  }
  auto learning = std::make_unique<Learning>(wish, std::move(next));
  learning->begin();
  return learning;
}

}  // namespace circoll::interpose
