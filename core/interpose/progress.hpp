// Sources of progress for nonblocking operations under the drop-in.
//
//   hook     the MPI library's progress engine, in which every waiting MPI call spends its time, calls us: Open MPI by
//            opal_progress_register, MPICH by MPIX_Async_start (from 4.3 on), or by ucp_worker_progress (ch4:ucx),
//            which it calls and we stand in front of. Over the standard ABI both are there, and the one of the library
//            behind it is used
//   thread   a thread of ours besides; MPI is initialised with MPI_THREAD_MULTIPLE for it. Also where a program asks
//            for that level and the hook cannot be used then (MPICH)
#pragma once

#include <string_view>
#include <thread>

namespace circoll::interpose {

/// The outcome of installing the hook.
enum class Hook {
  installed,
  needs_thread,  ///< not with MPI_THREAD_MULTIPLE: the engine holds a lock there that our MPI calls would need
  unknown,       ///< an engine that we do not know
};
/// The progress engine of an MPI library.
struct ProgressEngine {
  /// Installs the hook in it. `multiple` says that MPI_THREAD_MULTIPLE was granted.
  Hook (*install)(bool multiple);
  /// Takes the hook out again where MPI_Finalize would wait for it.
  void (*remove)();
  /// Some operations have ended: makes calls that wait for them look. Outside of the hook.
  void (*announce_ended)();
};
extern const ProgressEngine openmpi_progress, mpich_progress;

/// CIRCOLL_PROGRESS.
enum class ProgressKind { hook, thread, off, unknown };
[[nodiscard]] ProgressKind progress_kind();

class ProgressSource {
 public:
  /// Chooses by CIRCOLL_PROGRESS and by what the MPI library has. After MPI_Init.
  ProgressSource();

  /// Why nonblocking calls are left to the MPI library; empty if they are served. Equal on all ranks.
  [[nodiscard]] std::string_view unavailable() const { return unavailable_; }
  /// A note for the user; empty if there is none.
  [[nodiscard]] std::string_view warning() const { return warning_; }
  /// Ends the thread, or the hook. Before MPI_Finalize.
  void stop();

 private:
  std::string_view unavailable_{};
  std::string_view warning_{};
  std::thread thread_;
};

}  // namespace circoll::interpose
