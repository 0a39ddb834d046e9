// The part of the drop-in's state that is about learning: begun with what is known, kept for the next run.
#include <mpi.h>

#include <filesystem>
#include <string>

#include "circoll/error.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/serve/shared_profile.hpp"
#include "interpose/collect.hpp"
#include "interpose/learned_file.hpp"
#include "interpose/state.hpp"
#include "select/text_file.hpp"

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

}  // namespace

void State::begin_learning() {
  if (!alike_ || learner_ == nullptr || learn_file_.empty()) return;
  std::string text;
  if (world_rank_ == 0 && std::filesystem::exists(learn_file_)) {
    try {
      text = select::read_text_file(learn_file_);
      const LearnedFile known = read_learned(text, learn_file_);
      const std::string why = why_not_here(known.machine, mpi::own_profile_key());
      if (!why.empty())
        throw Error(ErrorCode::invalid_argument, learn_file_ + " is not used, and stays as it is: " + why);
    } catch (const Error& e) {
      warn(std::string("CIRCOLL_LEARN: ") + e.what());
      text.clear();
    }
  }
  text = of_rank_0(std::move(text));
  if (!text.empty()) learner_->begin_with(read_learned(text, learn_file_).learned);
}

void State::keep_learned(const Learned& learned) const {
  if (world_rank_ != 0) return;
  try {
    store_learned(learn_file_, learned, mpi::own_profile_key());
  } catch (const Error& e) {
    warn(std::string("CIRCOLL_LEARN: ") + e.what());
  } catch (const std::filesystem::filesystem_error& e) {
    warn(std::string("CIRCOLL_LEARN: ") + e.what());
  }
}

Learned State::gather_learned(MPI_Comm comm) const {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  std::vector<std::string> parts(static_cast<std::size_t>(size));
  collect(
      comm, [&](const auto& sink) { sink(serialised(learner_->learned())); },
      [&](int rank, std::string_view part) { parts[static_cast<std::size_t>(rank)] += part; });
  Learned all;
  for (const std::string& part : parts) {
    if (!part.empty()) all.add(learned_from(part));
  }
  return all;
}

}  // namespace circoll::interpose
