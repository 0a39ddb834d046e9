// Nonblocking and persistent calls: MPI requests for operations that Progress brings to their end.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "exec/mpi/serve/perform.hpp"
#include "facts/called_collective.hpp"

namespace circoll::mpi {

/// An operation that has ended, for an observer. Called where MPI's progress engine runs: must not call
/// MPI, nor throw.
struct Ended {
  CallResult outcome{};
  CalledCollective collective{};
  Rank size = 1;        ///< of the communicator
  double begin_s = 0;   ///< MPI_Wtime of the call or of MPI_Start
  double inside_s = 0;  ///< spent in it
  bool persistent = false;
  int thread = -1;             ///< of the caller, as the caller has said
  std::uint64_t recorded = 0;  ///< likewise: the call's number in the record of this rank
  std::uint64_t ticket = 0;    ///< likewise: a wrapper's name for the call
};
struct Observer {
  void (*on_ended)(const Ended&) noexcept = nullptr;  ///< nullptr: nobody
  int thread = -1;                                    ///< for Ended::thread
  std::uint64_t recorded = 0;                         ///< for Ended::recorded
  std::uint64_t ticket = 0;                           ///< for Ended::ticket
};

/// Why a persistent call is native where there are no tags for it.
inline constexpr std::string_view too_many_requests = "too many persistent requests";

/// Starts a call, whose request completes in all of MPI's ways to wait. For that, progress().poll() must be called
/// again and again meanwhile. Native calls give the MPI library's own request. An error is returned, or comes with the
/// request's completion. Throws as perform(). The observer is not called for native calls.
[[nodiscard]] CallResult start(const Call& call, const InternedChoice& choice, MPI_Request* request,
                               const Observer& observer);

/// Makes a persistent request: inactive, to be started by start_persistent(). The rest as start(). `info` is
/// for native calls.
[[nodiscard]] CallResult init(const Call& call, const InternedChoice& choice, MPI_Info info, MPI_Request* request,
                              const Observer& observer);

/// These serve four functions of MPI for requests that init() has made. They return `false`, quickly,
/// for other requests.
[[nodiscard]] bool start_persistent(MPI_Request request, int* error);
[[nodiscard]] bool free_persistent(MPI_Request* request, int* error);
[[nodiscard]] bool cancel_persistent(MPI_Request request, int* error);
/// MPI forbids a program to cancel a collective. The same holds for pending requests that start() has made.
[[nodiscard]] bool cancel_nonblocking(MPI_Request request, int* error);

}  // namespace circoll::mpi
