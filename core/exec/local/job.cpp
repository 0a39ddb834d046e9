#include "exec/local/job.hpp"

#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>

#include "circoll/collectives.hpp"
#include "circoll/ops.hpp"
#include "circoll/plan.hpp"
#include "exec/local/endpoint.hpp"

namespace circoll::local {
namespace {

bool is_in_place(const Job& job, Rank rank) { return job.in_place && can_be_in_place(job.collective, rank, job.root); }

/// A buffer between two cache lines of known bytes.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : bytes_(bytes), storage_(bytes + 3 * margin, guard) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
    begin_ = margin + (margin - address % margin) % margin;
    std::memset(data(), 0x5A, bytes);
  }
  [[nodiscard]] std::byte* data() { return storage_.data() + begin_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] bool intact() const {
    for (std::size_t i = 0; i < storage_.size(); ++i) {
      if ((i < begin_ || i >= begin_ + bytes_) && storage_[i] != guard) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t margin = 64;
  static constexpr std::byte guard{0xC3};
  std::size_t bytes_;
  std::size_t begin_ = 0;
  std::vector<std::byte> storage_;
};

/// One rank's buffers, call, and where its result will be.
struct Seat {
  Guarded send;
  Guarded recv;
  Call call;
  const std::byte* output = nullptr;
};

/// `counts` and `send_counts`: the arrays of an irregular call.
Seat make_seat(const Job& job, Rank rank, const std::vector<std::byte>& input, std::span<const Count> counts,
               std::span<const Count> send_counts) {
  const Count extent = job.element_bytes();
  const auto bytes = [&](Count elements) { return static_cast<std::size_t>(elements * extent); };
  const bool in_place = is_in_place(job, rank);
  const CollectiveTraits& traits = traits_of(job.collective);
  const bool scatters = replaces_recvbuf(job.collective);
  const bool broadcasts = traits.send.at == Significant::none;
  const bool gathers = traits.send.holds == Holds::own_block;
  const bool own_block_only = traits.blocks != Blocks::one;
  const bool input_in_recv = (in_place && !scatters) || broadcasts;
  const Count recv_elements = in_place && scatters ? 0
                                                   : std::max(job.output_elements(rank),
                                                              input_in_recv && !gathers ? job.input_elements(rank) : 0);

  Seat seat{Guarded(input_in_recv ? 0 : input.size()), Guarded(bytes(recv_elements)), Call{}, nullptr};
  Count before = 0;  // elements of the blocks of lower ranks
  if (own_block_only && !is_exchange(job.collective)) {
    for (Rank r = 0; r < rank; ++r) before += job.count_of(r);
  }
  std::byte* const place = !input_in_recv ? seat.send.data()
                           : gathers      ? seat.recv.data() + bytes(before)
                                          : seat.recv.data();
  if (!input.empty()) std::memcpy(place, input.data(), input.size());

  Call& call = seat.call;
  call.collective = job.collective;
  call.sendbuf = seat.send.data();
  call.recvbuf = seat.recv.data();
  call.count = is_exchange(job.collective) ? job.count_of(rank, rank)
               : own_block_only            ? job.count_of(rank)
                                           : job.total();
  const bool counts_known = is_irregular(job.collective) && (!is_rooted(job.collective) || rank == job.root);
  if (counts_known) call.counts = counts;
  if (is_irregular(job.collective) && is_exchange(job.collective) && !in_place) call.send_counts = send_counts;
  call.type = job.type;
  call.record_bytes = job.record_bytes;
  call.op = job.op;
  call.root = job.root;
  call.in_place = in_place;
  seat.output = in_place && scatters ? seat.send.data() + bytes(before) : seat.recv.data();
  return seat;
}

/// All ranks' seats, with the inputs in them and in `outcome`. Seats refer to the counts.
std::vector<Seat> make_seats(const Job& job, const std::vector<Count>& counts, const std::vector<Count>& send_counts,
                             JobResult& outcome) {
  std::vector<Seat> seats;
  seats.reserve(static_cast<std::size_t>(job.size));
  const auto row = [&](const std::vector<Count>& all, Rank rank) {
    const auto p = static_cast<std::size_t>(job.size);
    return all.size() <= p ? std::span(all) : std::span(all).subspan(static_cast<std::size_t>(rank) * p, p);
  };
  for (Rank rank = 0; rank < job.size; ++rank) {
    std::vector<std::byte> input(static_cast<std::size_t>(job.input_elements(rank) * job.element_bytes()));
    if (!input.empty() && job.fill) job.fill(rank, input);
    seats.push_back(make_seat(job, rank, input, row(counts, rank), row(send_counts, rank)));
    outcome.inputs.push_back(std::move(input));
  }
  return seats;
}

/// The results that stand in the seats, and the bytes that were written beside them.
void collect(const Job& job, std::vector<Seat>& seats, JobResult& outcome) {
  for (std::size_t rank = 0; rank < seats.size(); ++rank) {
    Seat& seat = seats[rank];
    const auto bytes = static_cast<std::size_t>(job.output_elements(static_cast<Rank>(rank)) * job.element_bytes());
    outcome.outputs.emplace_back(seat.output, seat.output + bytes);
    if (!seat.send.intact() || !seat.recv.intact()) {
      outcome.violation = "rank " + std::to_string(rank) + " wrote outside its buffers";
    } else if (seat.send.size() > 0 &&
               std::memcmp(seat.send.data(), outcome.inputs[rank].data(), seat.send.size()) != 0) {
      outcome.violation = "the send buffer of rank " + std::to_string(rank) + " was written";
    }
  }
}

/// A rank's schedule with its memory.
struct Player {
  Plan plan{};
  std::vector<std::byte> scratch{};
  std::unique_ptr<Endpoint> endpoint{};
  std::unique_ptr<LocalExecution> execution{};

  void start(const Job& job, Seat& seat) {
    endpoint->reduction().use(is_reducing(job.collective) ? reduce_kernel(job.op.predefined(), job.type) : nullptr,
                              nullptr, job.element_bytes());
    endpoint->start(*execution, {seat.send.data(), seat.recv.data(), scratch.data()});
  }
};

/// Plays in turns until nothing happens any more.
void take_turns(Hub& hub, std::vector<Player>& players) {
  for (const Player& player : players) {
    if (!player.endpoint->queued) hub.runnable.push_back(player.endpoint.get());
    player.endpoint->queued = true;
  }
  while (!hub.runnable.empty()) {
    Endpoint* const endpoint = hub.runnable.front();
    hub.runnable.pop_front();
    endpoint->queued = false;
    if (!players[static_cast<std::size_t>(endpoint->rank())].execution->engine().done()) (void)endpoint->poll();
  }
}

}  // namespace

Count Job::element_bytes() const { return record_bytes > 0 ? record_bytes : static_cast<Count>(extent_bytes(type)); }

Count Job::count_of(Rank rank) const {
  return counts.size() == 1 ? counts[0] : counts.at(static_cast<std::size_t>(rank));
}

Count Job::count_of(Rank source, Rank destination) const {
  return counts.size() == 1 ? counts[0] : counts.at(static_cast<std::size_t>(source * size + destination));
}

Count Job::total() const {
  if (is_exchange(collective) && counts.size() == 1) return counts[0] * size * size;
  if (has_one_vector(collective)) return counts.at(0);
  return counts.size() == 1 ? counts[0] * size : std::accumulate(counts.begin(), counts.end(), Count{0});
}

Count Job::input_elements(Rank rank) const {
  const CollectiveTraits& traits = traits_of(collective);
  if (!traits.moves_data) return 0;
  // A broadcast has its input where the result will be.
  if (traits.send.at == Significant::none) return rank == root ? total() : 0;
  if (!is_significant(traits.send, rank, root)) return 0;
  if (traits.send.holds == Holds::own_block) return count_of(rank);
  if (!is_exchange(collective)) return total();
  Count sum = 0;
  for (Rank other = 0; other < size; ++other) sum += count_of(rank, other);
  return sum;
}

Count Job::output_elements(Rank rank) const {
  const CollectiveTraits& traits = traits_of(collective);
  if (!traits.moves_data || !is_significant(traits.recv, rank, root)) return 0;
  if (traits.recv.holds == Holds::own_block) return count_of(rank);
  if (!is_exchange(collective)) return total();
  Count sum = 0;
  for (Rank other = 0; other < size; ++other) sum += count_of(other, rank);
  return sum;
}

JobResult execute_all(const Job& job, const Choice& choice, Mode mode, const Options& options) {
  require(job.size >= 1 && job.root >= 0 && job.root < job.size, "the root must be in 0 .. p-1");
  const Rank blocks = is_exchange(job.collective) ? job.size * job.size : job.size;
  require(job.counts.size() == 1 || (static_cast<Rank>(job.counts.size()) == blocks && is_irregular(job.collective)),
          "one count, or one per block for a collective with blocks of different sizes, is needed");
  // Row `rank` of either: the elements that come from each rank, and those that go to each.
  const bool exchanges = is_irregular(job.collective) && is_exchange(job.collective);
  std::vector<Count> counts;
  std::vector<Count> send_counts;
  for (Rank rank = 0; rank < (exchanges ? job.size : is_irregular(job.collective) ? 1 : 0); ++rank) {
    for (Rank other = 0; other < job.size; ++other) {
      counts.push_back(exchanges ? job.count_of(other, rank) : job.count_of(other));
      if (exchanges) send_counts.push_back(job.count_of(rank, other));
    }
  }
  JobResult outcome;
  std::vector<Seat> seats = make_seats(job, counts, send_counts, outcome);

  World world(job.size, options);
  const auto start = std::chrono::steady_clock::now();
  if (mode == Mode::threads) {
    world.run([&](Comm& comm) { comm.execute(seats[static_cast<std::size_t>(comm.rank())].call, choice); });
  } else {
    std::vector<Call> calls;
    calls.reserve(seats.size());
    for (const Seat& seat : seats) calls.push_back(seat.call);
    world.run_single_threaded(calls, choice);
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  collect(job, seats, outcome);
  return outcome;
}

JobResult execute_schedules(const Job& job, std::span<const Schedule> ranks, Mode mode) {
  require(static_cast<Rank>(ranks.size()) == job.size && job.size >= 1, "a schedule for each rank is needed");
  require(job.op.user() == nullptr, "schedules that are given are executed with predefined operators");
  require(!is_reducing(job.collective) || reduce_kernel(job.op.predefined(), job.type) != nullptr,
          "the operator is not defined on this type");
  for (const Schedule& s : ranks) {
    require(s.collective == job.collective && s.shape.size == job.size && s.shape.root == job.root,
            "the schedules are those of the job's collective, p and root");
    require(s.shape.in_place == job.in_place || !has_in_place_schedule(s.collective, s.shape),
            "the job is in place if the schedules are");
  }
  JobResult outcome;
  std::vector<Seat> seats = make_seats(job, job.counts, job.counts, outcome);
  Hub hub;
  std::vector<Player> players(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const Schedule& s = ranks[r];
    Layout layout = job.counts.size() == 1 ? Layout::uniform(s.user_blocks, s.segments, job.counts[0])
                                           : Layout::irregular(job.counts, s.segments);
    players[r].plan = bind(s, layout, job.element_bytes());
    players[r].scratch.resize(static_cast<std::size_t>(players[r].plan.scratch_bytes));
    players[r].endpoint = std::make_unique<Endpoint>(hub, static_cast<Rank>(r));
    players[r].execution = std::make_unique<LocalExecution>(players[r].plan);
  }
  const auto start = std::chrono::steady_clock::now();
  if (mode == Mode::single_thread) {
    hub.single_threaded = true;
    for (std::size_t r = 0; r < players.size(); ++r) players[r].start(job, seats[r]);
    take_turns(hub, players);
  } else {
    std::vector<std::thread> threads;
    threads.reserve(players.size());
    for (std::size_t r = 0; r < players.size(); ++r) {
      threads.emplace_back([&, r] {
        players[r].start(job, seats[r]);
        while (!players[r].endpoint->poll()) players[r].endpoint->wait();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const Player& player : players)
    check(player.execution->engine().done(), "deadlock: the ranks wait for one another");
  collect(job, seats, outcome);
  return outcome;
}

}  // namespace circoll::local
