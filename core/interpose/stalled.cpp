#include "interpose/setup.hpp"

#include <fmt/format.h>

#include <array>

#include "interpose/check_message.hpp"
#include "interpose/check_record.hpp"

namespace circoll::interpose {
namespace {

std::string text_of(const mpi::Stalled& stalled) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  PMPI_Comm_get_name(stalled.comm, name.data(), &length);
  const std::string comm =
      comm_text({.name = {name.data(), static_cast<std::size_t>(length)}, .world_ranks = stalled.world_ranks});
  const std::string mine = CheckRecord(stalled.call).text();
  if (stalled.answer.verdict == mpi::StallVerdict::differs) {
    return fmt::format(
        "circoll: ranks {} and {} of {} do not make the same collective call (served call {} on it):\n"
        "  rank {}: {}\n"
        "  rank {}: {}\n"
        "  Rank {} has waited for {} s, and its call returns an error. CIRCOLL_MATCH=1 says where the calls are.\n",
        stalled.rank, stalled.peer, comm, stalled.number, stalled.rank, mine, stalled.peer,
        CheckRecord(stalled.answer.call).text(), stalled.rank, stalled.seconds);
  }
  std::string did = "is in MPI_Finalize";
  if (stalled.answer.verdict == mpi::StallVerdict::ended) did = "has ended that call";
  if (stalled.answer.verdict == mpi::StallVerdict::failed) did = "has ended that call with an error";
  return fmt::format(
      "circoll: rank {} of {} has waited for {} s in {} (served call {} on it) for rank {}, which {}.\n"
      "  The call returns an error on rank {}. CIRCOLL_MATCH=1 says whether the calls of the ranks match.\n",
      stalled.rank, comm, stalled.seconds, mine, stalled.number, stalled.peer, did, stalled.rank);
}

}  // namespace

void say_stalled(const mpi::Stalled& stalled) noexcept {
  try {
    say_and_wait(text_of(stalled));
  } catch (...) {
    return;  // the error is returned nevertheless
  }
}

}  // namespace circoll::interpose
