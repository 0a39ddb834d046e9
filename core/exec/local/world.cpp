#include <pthread.h>

#include <algorithm>
#include <climits>
#include <exception>

#include "exec/local/comm.hpp"

namespace circoll::local {

class World::Impl {
 public:
  explicit Impl(const Options& options) : options_(options) {}

  void run(const std::function<void(Comm&)>& body);
  void run_single_threaded(std::span<const Call> calls, const Choice& choice);

  Options options_;
  Hub hub_;
  std::vector<std::unique_ptr<Comm>> comms_;

 private:
  struct Seat {  // what a rank's thread needs
    Impl* world;
    Comm* comm;
    const std::function<void(Comm&)>* body;
  };
  static void* thread_main(void* argument);
  void note_failure(std::exception_ptr failure, bool is_consequence);

  std::mutex mutex_;  // guards the failure
  std::exception_ptr failure_;
  bool failure_is_consequence_ = false;
};

void World::Impl::note_failure(std::exception_ptr failure, bool is_consequence) {
  {
    // The failure that made the others fail is the one to report, whichever thread comes first.
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr || (failure_is_consequence_ && !is_consequence)) {
      failure_ = std::move(failure);
      failure_is_consequence_ = is_consequence;
    }
  }
  hub_.fail();
}

void* World::Impl::thread_main(void* argument) {
  const Seat seat = *static_cast<Seat*>(argument);
  try {
    (*seat.body)(*seat.comm);
  } catch (const Error& error) {
    seat.world->note_failure(std::current_exception(), error.code() == ErrorCode::transport);
  } catch (...) {
    seat.world->note_failure(std::current_exception(), false);
  }
  return nullptr;
}

void World::Impl::run(const std::function<void(Comm&)>& body) {
  std::vector<Seat> seats;
  seats.reserve(comms_.size());
  for (const auto& comm : comms_) seats.push_back(Seat{this, comm.get(), &body});
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  // Thousands of ranks: the default of 8 MiB each is more than a container may grant.
  pthread_attr_setstacksize(&attributes, std::max(options_.stack_bytes, static_cast<std::size_t>(PTHREAD_STACK_MIN)));
  std::vector<pthread_t> threads;
  threads.reserve(seats.size());
  for (Seat& seat : seats) {
    pthread_t thread{};
    if (pthread_create(&thread, &attributes, thread_main, &seat) != 0) {
      note_failure(std::make_exception_ptr(Error(ErrorCode::transport, "the system grants no more threads")), false);
      break;
    }
    threads.push_back(thread);
  }
  pthread_attr_destroy(&attributes);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  if (failure_ != nullptr) std::rethrow_exception(failure_);
}

void World::Impl::run_single_threaded(std::span<const Call> calls, const Choice& choice) {
  require(calls.size() == comms_.size(), "one call per rank is needed");
  for (const auto& comm : comms_) require(comm->impl().pending().empty(), "a request of a rank is active");
  hub_.single_threaded = true;
  hub_.runnable.clear();
  std::vector<bool> ended(comms_.size());
  std::size_t remaining = comms_.size();
  const auto end_single_threaded = [this] {
    hub_.single_threaded = false;
    for (Endpoint* endpoint : hub_.endpoints) endpoint->queued = false;
  };
  try {
    for (std::size_t rank = 0; rank < comms_.size(); ++rank) {
      Comm::Impl& comm = comms_[rank]->impl();
      comm.begin(calls[rank], choice);
      if (!comm.endpoint().queued) {
        comm.endpoint().queued = true;
        hub_.runnable.push_back(&comm.endpoint());
      }
    }
    while (!hub_.runnable.empty()) {
      Endpoint* const endpoint = hub_.runnable.front();
      hub_.runnable.pop_front();
      endpoint->queued = false;
      const auto rank = static_cast<std::size_t>(endpoint->rank());
      // A rank that has ended can have been queued twice: no event is for it any more.
      if (ended[rank] || !comms_[rank]->impl().poll()) continue;
      ended[rank] = true;
      --remaining;
    }
    check(remaining == 0, "deadlock: the ranks wait for one another");
  } catch (...) {
    hub_.fail();
    end_single_threaded();
    throw;
  }
  end_single_threaded();
}

World::World(Rank size, const Options& options) : impl_(std::make_unique<Impl>(options)) {
  require(size >= 1, "p must be at least 1");
  require(options.node_of.empty() || static_cast<Rank>(options.node_of.size()) == size, "p nodes, or none, are needed");
  const Placement placement = options.node_of.empty() ? Placement{} : placement_of(options.node_of);
  for (Rank rank = 0; rank < size; ++rank) {
    std::unique_ptr<Comm> comm(new Comm);
    comm->impl_ = std::make_unique<Comm::Impl>(impl_->hub_, rank, options, placement);
    impl_->comms_.push_back(std::move(comm));
  }
}

World::~World() = default;

Rank World::size() const { return static_cast<Rank>(impl_->comms_.size()); }

Comm& World::comm(Rank rank) { return *impl_->comms_.at(static_cast<std::size_t>(rank)); }

void World::run(const std::function<void(Comm&)>& body) { impl_->run(body); }

void World::run_single_threaded(std::span<const Call> calls, const Choice& choice) {
  impl_->run_single_threaded(calls, choice);
}

}  // namespace circoll::local
