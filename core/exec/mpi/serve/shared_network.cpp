#include "exec/mpi/serve/shared_network.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "exec/mpi/comm/placement.hpp"
#include "exec/mpi/library/library.hpp"
#include "exec/mpi/library/pair_messages.hpp"
#include "exec/mpi/serve/shared_profile.hpp"
#include "facts/environment.hpp"
#include "facts/median.hpp"
#include "facts/network_name.hpp"
#include "facts/text.hpp"
#include "model/probe.hpp"
#include "select/network.hpp"

namespace circoll::mpi {
namespace {

constexpr int tag = 0;
constexpr std::size_t sizes = probe_bytes.size();

/// Seconds of messages by size, exchanges first and those one way behind. At last those of a burst, and of exchanges
/// with partners in all steps at once. 0: there are none.
using HostTimes = std::array<double, 2 * sizes + 2>;
constexpr std::size_t burst_place = 2 * sizes, round_place = 2 * sizes + 1;

/// One host's part in the measurement. Errors of MPI end it; then `rc()` is none of MPI_SUCCESS.
class Prober {
 public:
  Prober(MPI_Comm comm, std::span<const int> leaders, Rank host)
      : comm_(comm), leaders_(leaders), host_(host), hosts_(static_cast<Rank>(leaders.size())) {}

  void time_all() {
    ProbePlan plan(probe_seconds(hosts_));
    for (int step = 0; step < probe_steps(hosts_) && rc_ == MPI_SUCCESS; ++step) {
      const Rank partner = probe_partner(host_, step, hosts_);
      if (partner < 0) continue;
      PairMessages messages(comm_, leaders_[static_cast<std::size_t>(partner)], tag, probe_bytes.back());
      plan.begin_step();
      host_ < partner ? lead(plan, messages) : follow(messages);
    }
    if (rc_ == MPI_SUCCESS) time_rounds();
  }

  /// The medians of this host's times.
  [[nodiscard]] HostTimes times() const {
    HostTimes medians{};
    for (std::size_t i = 0; i < medians.size(); ++i) medians[i] = median(seconds_[i]);
    return medians;
  }

  /// Collects what hosts have sent along a binomial tree, at host 0.
  [[nodiscard]] std::vector<HostTimes> gather() {
    std::vector<HostTimes> all{times()};
    const auto words = [](std::size_t hosts) { return static_cast<int>(hosts * std::tuple_size_v<HostTimes>); };
    // After an error, too: another host waits for it.
    for (Rank distance = 1; distance < hosts_; distance *= 2) {
      if ((host_ & distance) != 0) {
        note(PMPI_Send(all.data(), words(all.size()), MPI_DOUBLE, leaders_[static_cast<std::size_t>(host_ - distance)],
                       tag, comm_));
        return {};
      }
      if (host_ + distance >= hosts_) continue;
      const std::size_t known = all.size();
      all.resize(known + static_cast<std::size_t>(std::min(distance, hosts_ - host_ - distance)));
      note(PMPI_Recv(all.data() + known, words(all.size() - known), MPI_DOUBLE,
                     leaders_[static_cast<std::size_t>(host_ + distance)], tag, comm_, MPI_STATUS_IGNORE));
    }
    return all;
  }

  [[nodiscard]] int rc() const { return rc_; }

 private:
  void lead(ProbePlan& plan, PairMessages& messages) {
    double begin = PMPI_Wtime();
    while (const auto trial = plan.next(PMPI_Wtime() - begin)) {
      const Count bytes = probe_bytes[trial->size];
      messages.write_word(static_cast<char>(trial->exchanges + (trial->bursts ? with_burst : 0)));
      const double start = PMPI_Wtime();
      if (!good(messages.ping_pong(bytes, true))) return;
      const double one_way_s = (PMPI_Wtime() - start) / 2;
      double together = 0;
      for (int i = 0; i < trial->exchanges; ++i) {
        if (i == 1) together = PMPI_Wtime();
        if (!good(messages.exchange(bytes))) return;
      }
      if (!trial->counts) {
        begin = PMPI_Wtime();
        continue;
      }
      constexpr double least_s = 1e-9;  // of a clock that has not moved
      seconds_[trial->size].push_back(std::max((PMPI_Wtime() - together) / (trial->exchanges - 1), least_s));
      seconds_[sizes + trial->size].push_back(std::max(one_way_s, least_s));
      if (!trial->bursts) continue;
      const double burst = PMPI_Wtime();
      if (!good(messages.burst(bytes, probe_burst, true))) return;
      seconds_[burst_place].push_back(std::max(PMPI_Wtime() - burst - one_way_s, least_s));
    }
    messages.write_word(0);
    (void)good(messages.send(probe_bytes.front()));
  }

  /// Exchanges short messages with the partners of all steps at once, as all hosts do.
  void time_rounds() {
    std::vector<int> partners;
    for (int step = 0; step < probe_steps(hosts_); ++step) {
      const Rank partner = probe_partner(host_, step, hosts_);
      if (partner >= 0) partners.push_back(leaders_[static_cast<std::size_t>(partner)]);
    }
    const bool has_all = static_cast<int>(partners.size()) == probe_steps(hosts_);
    for (int round = 0; round < probe_rounds; ++round) {
      const double begin = PMPI_Wtime();
      if (!good(exchange_with_all(partners))) return;
      if (round > 0 && has_all) seconds_[round_place].push_back(PMPI_Wtime() - begin);
    }
  }

  int exchange_with_all(const std::vector<int>& partners) {
    constexpr auto bytes = static_cast<std::size_t>(probe_bytes.front());
    std::vector<std::array<char, bytes>> in(partners.size()), out(partners.size());
    std::vector<MPI_Request> requests(2 * partners.size(), MPI_REQUEST_NULL);
    int rc = MPI_SUCCESS;
    for (std::size_t i = 0; i < partners.size() && rc == MPI_SUCCESS; ++i) {
      rc = PMPI_Irecv(in[i].data(), bytes, MPI_BYTE, partners[i], tag, comm_, &requests[2 * i]);
      if (rc == MPI_SUCCESS)
        rc = PMPI_Isend(out[i].data(), bytes, MPI_BYTE, partners[i], tag, comm_, &requests[2 * i + 1]);
    }
    const int done = PMPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    return rc != MPI_SUCCESS ? rc : done;
  }

  /// Does what the other host says in the first byte of its messages.
  void follow(PairMessages& messages) {
    for (Count bytes = 0; good(messages.recv(&bytes));) {
      const int word = static_cast<unsigned char>(messages.read_word()), exchanges = word % with_burst;
      if (word == 0 || !good(messages.send(bytes))) return;
      for (int i = 0; i < exchanges; ++i) {
        if (!good(messages.exchange(bytes))) return;
      }
      if (word >= with_burst && !good(messages.burst(bytes, probe_burst, false))) return;
    }
  }

  void note(int rc) {
    if (rc_ == MPI_SUCCESS) rc_ = rc;
  }
  bool good(int rc) {
    note(rc);
    return rc == MPI_SUCCESS;
  }

  static constexpr int with_burst = 16;  ///< in the word of a trial, beside its exchanges

  MPI_Comm comm_;
  std::span<const int> leaders_;
  Rank host_, hosts_;
  int rc_ = MPI_SUCCESS;
  std::array<std::vector<double>, std::tuple_size_v<HostTimes>> seconds_;
};

/// 0: no host has any.
double median_over_hosts(const std::vector<HostTimes>& all, std::size_t place) {
  std::vector<double> times;
  for (const HostTimes& one : all) {
    if (one[place] > 0) times.push_back(one[place]);
  }
  return median(std::move(times));
}

std::vector<TimedBytes> medians_over_hosts(const std::vector<HostTimes>& all, std::size_t first) {
  std::vector<TimedBytes> medians;
  for (std::size_t size = 0; size < sizes; ++size) {
    const double seconds = median_over_hosts(all, first + size);
    if (seconds > 0) medians.push_back({.bytes = probe_bytes[size], .seconds = seconds});
  }
  return medians;
}

/// The broadcast of rank 0, as plain data.
struct News {
  std::int32_t known = 0;
  std::int32_t measure = 0;
  std::int64_t part_bytes = 0;
  NetworkNumbers numbers{};
};

/// By CIRCOLL_PARTS, or by the network. `complaint` gets a sentence about a value that is none.
Count wanted_part_bytes(const std::optional<NetworkNumbers>& numbers, std::string* complaint) {
  const std::string value = environment("CIRCOLL_PARTS").value_or("auto");
  if (value == "off") return 0;
  constexpr Count least = 32;
  if (const auto bytes = value == "auto" ? std::nullopt : parse_bytes(value); bytes && *bytes >= least) return *bytes;
  if (value != "auto") {
    *complaint += (complaint->empty() ? "" : "; ") + ("CIRCOLL_PARTS: '" + value) +
                  "' is neither auto, off nor a size of 32 bytes or more; auto is used";
  }
  return numbers && !has_infiniband() ? part_bytes(*numbers) : 0;
}

bool share(MPI_Comm comm, News& news) { return PMPI_Bcast(&news, sizeof news, MPI_BYTE, 0, comm) == MPI_SUCCESS; }

/// Times messages between the first ranks of nodes. Nothing at other ranks than 0, or if MPI fails.
std::optional<NetworkNumbers> measure_network(MPI_Comm comm, int rank, std::span<const int> leaders) {
  const auto own = std::ranges::find(leaders, rank);
  if (own == leaders.end()) return std::nullopt;
  Prober prober(comm, leaders, static_cast<Rank>(own - leaders.begin()));
  prober.time_all();
  const std::vector<HostTimes> all = prober.gather();
  if (rank != 0 || prober.rc() != MPI_SUCCESS) return std::nullopt;
  return rough_numbers(
      medians_over_hosts(all, 0), medians_over_hosts(all, sizes),
      {.messages = probe_burst, .seconds = median_over_hosts(all, burst_place)},
      {.messages = probe_steps(static_cast<Rank>(leaders.size())), .seconds = median_over_hosts(all, round_place)});
}

/// Measures. Returns, at rank 0, how the numbers were found, or why there are none.
std::string measure(MPI_Comm comm, int rank, std::span<const int> leaders, SharedNetwork& network) {
  const double begin = PMPI_Wtime();
  network.numbers = measure_network(comm, rank, leaders);
  News news{.known = network.numbers ? 1 : 0, .numbers = network.numbers.value_or(NetworkNumbers{})};
  if (rank == 0) news.part_bytes = wanted_part_bytes(network.numbers, &network.complaint);
  if (!share(comm, news)) news = {};
  network.part_bytes = news.part_bytes;
  network.numbers = news.known != 0 ? std::optional(news.numbers) : std::nullopt;
  if (!network.numbers) return "not measured, since messages between the hosts failed";
  return "measured between " + std::to_string(leaders.size()) + " hosts in " + readable_time(PMPI_Wtime() - begin) +
         " by MPI_Init";
}

}  // namespace

SharedNetwork share_network(MPI_Comm comm, const Placement& placement, const Machine& machine) {
  if (placement.node_of == nullptr) return {};
  const std::vector<int> leaders = leaders_of(*placement.node_of);
  if (leaders.size() < 2) return {};
  // The hosts of a simulation are none of this machine's network.
  if (library::waits_inside_mpi) return {.origin = "none, since the hosts are simulated"};
  SharedNetwork network;
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  News news;
  std::string key;
  std::optional<std::string> file;
  if (rank == 0) {
    const std::string why = select::no_network_because(&network.complaint);
    if (why.empty()) {
      key = select::network_key(own_profile_key().library);
      file = select::network_file(key);
      select::KeptNetwork kept = file ? select::read_network(*file, key) : select::KeptNetwork{};
      if (!kept.complaint.empty()) network.complaint += (network.complaint.empty() ? "" : "; ") + kept.complaint;
      news = {.known = kept.numbers ? 1 : 0,
              .measure = kept.numbers ? 0 : 1,
              .numbers = kept.numbers.value_or(NetworkNumbers{})};
      if (kept.numbers) network.origin = "from " + *file;
    } else {
      network.origin = "none, since " + why;
    }
    if (news.measure == 0) {
      std::optional<NetworkNumbers> known = news.known != 0 ? std::optional(news.numbers) : std::nullopt;
      if (environment("CIRCOLL_MACHINE")) known = network_of(machine);
      news.part_bytes = wanted_part_bytes(known, &network.complaint);
    }
  }
  if (!share(comm, news)) return {.origin = "none, since MPI_Bcast failed"};
  network.part_bytes = news.part_bytes;
  if (news.known != 0) network.numbers = news.numbers;
  if (news.measure != 0) {
    const std::string how = measure(comm, rank, leaders, network);
    if (rank == 0) network.origin = how;
    if (rank == 0 && network.numbers) {
      const std::string_view why_not = placement.crowded    ? "ranks outnumber the processors"
                                       : !file              ? "there is no home"
                                       : leaders.size() < 3 ? "two hosts do not tell the overhead of several"
                                                            : "";
      if (why_not.empty()) network.unkept = {.file = *file, .key = key, .how = how};
      if (!network.unkept) network.origin += "; not kept, since " + std::string(why_not);
    }
  }
  if (rank == 0 && network.part_bytes > 0)
    network.origin = "long messages go in parts of " + readable_bytes(network.part_bytes) + "; " + network.origin;
  if (rank == 0 && network.numbers) network.origin = select::readable(*network.numbers) + "; " + network.origin;
  return network;
}

void keep(SharedNetwork& network) {
  if (!network.unkept || !network.numbers) return;
  const SharedNetwork::Unkept& to = *network.unkept;
  const std::string refused = select::keep_network(to.file, to.key, *network.numbers, to.how);
  network.origin += refused.empty() ? "; kept in " + to.file : "; not kept, since " + refused;
  network.unkept.reset();
}

}  // namespace circoll::mpi
