#include "python/long_call.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace circoll::python {
namespace {

namespace py = pybind11;

/// Shows the progress of a call. All of it needs the interpreter's lock, which each function takes.
class Shown {
 public:
  Shown(const char* name, const py::object* progress) {
    if (progress == nullptr) return;
    const py::gil_scoped_acquire lock;
    if (progress->is(py::bool_(false)) || progress->is_none()) return;
    line_ = progress->is(py::bool_(true));
    show_ = line_ ? py::module_::import("circoll.progress").attr("Line")(name) : *progress;
  }
  ~Shown() {
    if (!show_) return;
    const py::gil_scoped_acquire lock;
    show_ = py::object();
  }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;

  void part(double part) const {
    if (show_) show_(part);
  }
  /// Takes the line away.
  void clear() const {
    if (!line_) return;
    const py::gil_scoped_acquire lock;
    show_.attr("clear")();
  }

 private:
  bool line_ = false;
  py::object show_{};
};

/// A thread that does some work, and keeps its exception.
class Worker {
 public:
  explicit Worker(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          try {
            work();
          } catch (...) {
            failure_ = std::current_exception();
          }
          const std::scoped_lock lock(mutex_);
          done_ = true;
          ended_.notify_one();
        }) {}

  /// True if the work has ended, for which this waits a while.
  bool wait(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, most, [this] { return done_; });
  }
  /// The exception of the work.
  std::exception_ptr join() {
    thread_.join();
    return failure_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace

void run_long(const char* name, const py::object* progress, const std::function<void(LongCall&)>& work) {
  const Shown shown(name, progress);
  std::exception_ptr raised;
  const auto look = [&](double part) {
    const py::gil_scoped_acquire lock;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      shown.part(part);
    } catch (...) {
      raised = std::current_exception();
    }
  };
  LongCall call;
  Worker worker([&] { work(call); });
  while (!worker.wait(std::chrono::milliseconds(50))) {
    if (raised) continue;
    look(call.part_.load(std::memory_order_relaxed));
    if (raised) call.stopped_.store(true, std::memory_order_relaxed);
  }
  const std::exception_ptr failure = worker.join();
  if (!raised && !failure) look(1);
  shown.clear();
  if (raised) std::rethrow_exception(raised);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace circoll::python
