// Checks of the typed calls, written once for every communicator. All ranks make them on a communicator of type C.
// Each check calls `expect(bool, std::string)`.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/comm.hpp"

namespace circoll::test {

/// The ways to make a call. Each gets functions that write the buffers (which stay where they are), make the call on a
/// communicator, and check the result.
struct Blocking {
  static constexpr const char* name = "blocking";
  void operator()(auto& comm, auto prepare, auto call, auto check) const {
    prepare();
    call(comm);
    check();
  }
};
struct Waited {
  static constexpr const char* name = "nonblocking, waited for";
  virtual ~Waited() = default;
  virtual void finish(Request& request) const { request.wait(); }
  void operator()(auto& comm, auto prepare, auto call, auto check) const {
    prepare();
    Request request = call(nonblocking(comm));
    finish(request);
    check();
  }
};
struct Tested : Waited {
  static constexpr const char* name = "nonblocking, tested";
  void finish(Request& request) const override {
    while (!request.test()) std::this_thread::yield();
  }
};
struct Repeated {
  static constexpr const char* name = "persistent";
  void operator()(auto& comm, auto prepare, auto call, auto check) const {
    prepare();
    Request request = call(persistent(comm));
    for (int time = 0; time < 3; ++time) {
      prepare();
      request.start();
      request.wait();
      check();
    }
  }
};

/// All collectives on one communicator in one way.
template <typename C, typename Way, typename Expect>
class TypedCalls {
 public:
  /// Calls name an algorithm of each collective if `named`, and otherwise use `choice`.
  TypedCalls(C& comm, Way way, Expect expect, std::string choice, bool named)
      : comm_(comm),
        way_(way),
        expect_(expect),
        choice_(std::move(choice)),
        named_(named),
        p_(CommunicatorTraits<C>::size(comm)),
        r_(CommunicatorTraits<C>::rank(comm)) {}

  void run() {
    combinations();
    prefixes();
    blocks();
    gathering();
    rooted();
    exchanges();
  }

 private:
  using Ints = std::vector<int>;
  static constexpr int n = 5;

  static Ints contribution(Rank rank, int count = n) {
    Ints values(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = static_cast<int>(100 * rank) + i;
    return values;
  }
  /// The sums over ranks 0 .. end - 1.
  static Ints sums(Rank end, int count = n) {
    Ints values(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      values[static_cast<std::size_t>(i)] = static_cast<int>(100 * (end * (end - 1) / 2) + end * i);
    }
    return values;
  }
  static Ints part(const Ints& all, Count first, Count count) {
    return Ints(all.begin() + first, all.begin() + first + count);
  }
  void expect(bool holds, const std::string& what) { expect_(holds, what + ", " + Way::name + ", " + choice_); }

  /// Calls f(choice) with the choice for a collective.
  template <typename F>
  auto chosen(Collective collective, F f) {
    if (!named_) return f(Choice(choice_));
    for (const Algorithm* algorithm : algorithms_of(collective)) {
      if (!unmet_need(*algorithm, p_, {.commutative = true, .idempotent = false}).empty()) continue;
      return f(Choice(Selection{algorithm, collective, {}}));
    }
    return f(Choice());
  }
  void make(Collective collective, auto prepare, auto call, auto check) {
    way_(
        comm_, prepare,
        [&](auto&& comm) { return chosen(collective, [&](const Choice& choice) { return call(comm, choice); }); },
        check);
  }

  void combinations() {
    const Ints mine = contribution(r_);
    Ints out(n);
    make(
        Collective::allreduce, [&] { std::fill(out.begin(), out.end(), -1); },
        [&](auto& comm, const Choice& choice) { return allreduce(mine, out, Op::sum, comm, choice); },
        [&] { expect(out == sums(p_), "allreduce"); });
    make(
        Collective::allreduce, [&] { out = mine; },
        [&](auto& comm, const Choice& choice) { return allreduce(in_place, out, Op::sum, comm, choice); },
        [&] { expect(out == sums(p_), "allreduce in place"); });
    const Rank root = p_ - 1;
    make(
        Collective::reduce, [&] { std::fill(out.begin(), out.end(), -1); },
        [&](auto& comm, const Choice& choice) { return reduce(mine, out, Op::sum, root, comm, choice); },
        [&] { expect(out == (r_ == root ? sums(p_) : Ints(n, -1)), "reduce"); });
    make(
        Collective::reduce, [&] { out = mine; },
        [&](auto& comm, const Choice& choice) {
          return r_ == root ? reduce(in_place, out, Op::sum, root, comm, choice)
                            : reduce(mine, out, Op::sum, root, comm, choice);
        },
        [&] { expect(out == (r_ == root ? sums(p_) : mine), "reduce in place"); });
  }

  void prefixes() {
    const Ints mine = contribution(r_);
    Ints out(n);
    make(
        Collective::scan, [&] { std::fill(out.begin(), out.end(), -1); },
        [&](auto& comm, const Choice& choice) { return scan(mine, out, Op::sum, comm, choice); },
        [&] { expect(out == sums(r_ + 1), "scan"); });
    make(
        Collective::scan, [&] { out = mine; },
        [&](auto& comm, const Choice& choice) { return scan(in_place, out, Op::sum, comm, choice); },
        [&] { expect(out == sums(r_ + 1), "scan in place"); });
    make(
        Collective::exscan, [&] { std::fill(out.begin(), out.end(), -1); },
        [&](auto& comm, const Choice& choice) { return exscan(mine, out, Op::sum, comm, choice); },
        [&] { expect(out == (r_ > 0 ? sums(r_) : Ints(n, -1)), "exscan"); });
    make(
        Collective::exscan, [&] { out = mine; },
        [&](auto& comm, const Choice& choice) { return exscan(in_place, out, Op::sum, comm, choice); },
        [&] { expect(r_ == 0 || out == sums(r_), "exscan in place"); });
  }

  void blocks() {
    const int all = 2 * static_cast<int>(p_);
    const Ints mine = contribution(r_, all);
    Ints block(2), vector(mine.size());
    make(
        Collective::reduce_scatter_block, [&] { std::fill(block.begin(), block.end(), -1); },
        [&](auto& comm, const Choice& choice) { return reduce_scatter_block(mine, block, Op::sum, comm, choice); },
        [&] { expect(block == part(sums(p_, all), 2 * r_, 2), "reduce_scatter_block"); });
    make(
        Collective::reduce_scatter_block, [&] { vector = mine; },
        [&](auto& comm, const Choice& choice) { return reduce_scatter_block(in_place, vector, Op::sum, comm, choice); },
        [&] { expect(part(vector, 0, 2) == part(sums(p_, all), 2 * r_, 2), "reduce_scatter_block in place"); });
    const std::vector<Count> counts = uneven();
    const Count own = counts[static_cast<std::size_t>(r_)];
    const Count total = end_of_blocks(counts, {});
    const Count before = end_of_blocks(std::span(counts).first(static_cast<std::size_t>(r_)), {});
    const Ints uneven_mine = contribution(r_, static_cast<int>(total));
    const Ints expected = part(sums(p_, static_cast<int>(total)), before, own);
    Ints uneven_block(static_cast<std::size_t>(own)), uneven_vector(uneven_mine.size());
    make(
        Collective::reduce_scatter, [&] { std::fill(uneven_block.begin(), uneven_block.end(), -1); },
        [&](auto& comm, const Choice& choice) {
          return reduce_scatter(uneven_mine, uneven_block, counts, Op::sum, comm, choice);
        },
        [&] { expect(uneven_block == expected, "reduce_scatter"); });
    make(
        Collective::reduce_scatter, [&] { uneven_vector = uneven_mine; },
        [&](auto& comm, const Choice& choice) {
          return reduce_scatter(in_place, uneven_vector, counts, Op::sum, comm, choice);
        },
        [&] { expect(part(uneven_vector, 0, own) == expected, "reduce_scatter in place"); });
  }

  /// Counts of all ranks: 1, 2, 3, 1, ...
  [[nodiscard]] std::vector<Count> uneven() const {
    std::vector<Count> counts;
    for (Rank i = 0; i < p_; ++i) counts.push_back(i % 3 + 1);
    return counts;
  }
  /// Blocks of these counts in the opposite order, with one element between them.
  static std::vector<Count> backwards(const std::vector<Count>& counts) {
    std::vector<Count> displs(counts.size());
    Count at = 0;
    for (std::size_t i = counts.size(); i-- > 0;) {
      displs[i] = at;
      at += counts[i] + 1;
    }
    return displs;
  }
  [[nodiscard]] Ints blocks_of_all(const std::vector<Count>& counts, const std::vector<Count>& displs) const {
    Ints all(static_cast<std::size_t>(end_of_blocks(counts, displs)), -1);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const Ints block = contribution(static_cast<Rank>(i), static_cast<int>(counts[i]));
      std::copy(block.begin(), block.end(), all.begin() + displs[i]);
    }
    return all;
  }

  void gathering() {
    const Ints mine = contribution(r_, 2);
    Ints expected;
    for (Rank i = 0; i < p_; ++i) {
      for (const int x : contribution(i, 2)) expected.push_back(x);
    }
    Ints all(expected.size());
    make(
        Collective::allgather, [&] { std::fill(all.begin(), all.end(), -1); },
        [&](auto& comm, const Choice& choice) { return allgather(mine, all, comm, choice); },
        [&] { expect(all == expected, "allgather"); });
    make(
        Collective::allgather,
        [&] {
          std::fill(all.begin(), all.end(), -1);
          std::copy(mine.begin(), mine.end(), all.begin() + 2 * r_);
        },
        [&](auto& comm, const Choice& choice) { return allgather(in_place, all, comm, choice); },
        [&] { expect(all == expected, "allgather in place"); });

    const std::vector<Count> counts = uneven();
    const std::vector<Count> displs = backwards(counts);
    const Ints own = contribution(r_, static_cast<int>(counts[static_cast<std::size_t>(r_)]));
    const Ints placed = blocks_of_all(counts, displs);
    Ints gathered(placed.size());
    make(
        Collective::allgatherv, [&] { std::fill(gathered.begin(), gathered.end(), -1); },
        [&](auto& comm, const Choice& choice) { return allgatherv(own, gathered, counts, displs, comm, choice); },
        [&] { expect(gathered == placed, "allgatherv"); });
    records(counts);
  }

  /// Elements that MPI does not know, one block after another.
  void records(const std::vector<Count>& counts) {
    struct Record {
      short rank;
      char number;
    };
    std::vector<Record> own(static_cast<std::size_t>(counts[static_cast<std::size_t>(r_)]));
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = {static_cast<short>(r_), static_cast<char>(i)};
    std::vector<Record> all(static_cast<std::size_t>(end_of_blocks(counts, {})));
    make(
        Collective::allgatherv,
        [&] {
          std::fill(all.begin(), all.end(), Record{-1, -1});
        },
        [&](auto& comm, const Choice& choice) {
          // The arrays may go as soon as a call has begun.
          const std::vector<Count> for_a_moment = counts;
          return allgatherv(own, all, for_a_moment, {}, comm, choice);
        },
        [&] {
          std::size_t at = 0;
          bool right = true;
          for (Rank i = 0; i < p_; ++i) {
            for (Count k = 0; k < counts[static_cast<std::size_t>(i)]; ++k, ++at) {
              right = right && all[at].rank == static_cast<short>(i) && all[at].number == static_cast<char>(k);
            }
          }
          expect(right, "allgatherv of records");
        });
  }

  void rooted() {
    for (const Rank root : {Rank{0}, p_ - 1}) {
      const bool at_root = r_ == root;
      const Ints mine = contribution(r_, 2);
      Ints expected;
      for (Rank i = 0; i < p_; ++i) {
        for (const int x : contribution(i, 2)) expected.push_back(x);
      }
      Ints all(at_root ? expected.size() : 0), back(2);
      make(
          Collective::gather, [&] { std::fill(all.begin(), all.end(), -1); },
          [&](auto& comm, const Choice& choice) { return gather(mine, all, root, comm, choice); },
          [&] { expect(!at_root || all == expected, "gather"); });
      make(
          Collective::gather,
          [&] {
            if (at_root) std::copy(mine.begin(), mine.end(), all.begin() + 2 * r_);
          },
          [&](auto& comm, const Choice& choice) {
            return at_root ? gather(in_place, all, root, comm, choice) : gather(mine, all, root, comm, choice);
          },
          [&] { expect(!at_root || all == expected, "gather in place"); });
      make(
          Collective::scatter, [&] { std::fill(back.begin(), back.end(), -1); },
          [&](auto& comm, const Choice& choice) { return scatter(all, back, root, comm, choice); },
          [&] { expect(back == mine, "scatter"); });
      make(
          Collective::scatter, [&] { std::fill(back.begin(), back.end(), -1); },
          [&](auto& comm, const Choice& choice) {
            return at_root ? scatter(all, in_place, root, comm, choice) : scatter(all, back, root, comm, choice);
          },
          [&] { expect(back == (at_root ? Ints(2, -1) : mine), "scatter in place"); });
      make(
          Collective::bcast, [&] { std::copy(mine.begin(), mine.end(), back.begin()); },
          [&](auto& comm, const Choice& choice) { return bcast(back, root, comm, choice); },
          [&] { expect(back == contribution(root, 2), "bcast"); });
      irregular(root);
    }
    make(
        Collective::barrier, [] {}, [&](auto& comm, const Choice& choice) { return barrier(comm, choice); }, [] {});
  }

  void irregular(Rank root) {
    const bool at_root = r_ == root;
    const std::vector<Count> counts = uneven();
    const std::vector<Count> displs = backwards(counts);
    const Ints own = contribution(r_, static_cast<int>(counts[static_cast<std::size_t>(r_)]));
    const Ints placed = blocks_of_all(counts, displs);
    const auto there = [&](const std::vector<Count>& numbers) {
      return at_root ? std::span<const Count>(numbers) : std::span<const Count>();
    };
    Ints gathered(at_root ? placed.size() : 0), back(own.size());
    make(
        Collective::gatherv, [&] { std::fill(gathered.begin(), gathered.end(), -1); },
        [&](auto& comm, const Choice& choice) {
          return gatherv(own, gathered, there(counts), there(displs), root, comm, choice);
        },
        [&] { expect(!at_root || gathered == placed, "gatherv"); });
    make(
        Collective::scatterv, [&] { std::fill(back.begin(), back.end(), -1); },
        [&](auto& comm, const Choice& choice) {
          return scatterv(gathered, there(counts), there(displs), back, root, comm, choice);
        },
        [&] { expect(back == own, "scatterv"); });
  }

  void exchanges() {
    Ints letters, mail;
    for (Rank other = 0; other < p_; ++other) {
      letters.push_back(static_cast<int>(100 * r_ + other));
      mail.push_back(static_cast<int>(100 * other + r_));
    }
    Ints in(mail.size());
    make(
        Collective::alltoall, [&] { std::fill(in.begin(), in.end(), -1); },
        [&](auto& comm, const Choice& choice) { return alltoall(letters, in, comm, choice); },
        [&] { expect(in == mail, "alltoall"); });
    make(
        Collective::alltoall, [&] { in = letters; },
        [&](auto& comm, const Choice& choice) { return alltoall(in_place, in, comm, choice); },
        [&] { expect(in == mail, "alltoall in place"); });
    // Rank s sends (s + d) % 3 elements to rank d: as many as it gets.
    std::vector<Count> counts;
    Ints out, expected;
    for (Rank other = 0; other < p_; ++other) {
      counts.push_back((r_ + other) % 3);
      out.insert(out.end(), static_cast<std::size_t>(counts.back()), static_cast<int>(100 * r_ + other));
      expected.insert(expected.end(), static_cast<std::size_t>(counts.back()), static_cast<int>(100 * other + r_));
    }
    in.resize(out.size());
    make(
        Collective::alltoallv, [&] { std::fill(in.begin(), in.end(), -1); },
        [&](auto& comm, const Choice& choice) { return alltoallv(out, counts, {}, in, counts, {}, comm, choice); },
        [&] { expect(in == expected, "alltoallv"); });
    make(
        Collective::alltoallv, [&] { in = out; },
        [&](auto& comm, const Choice& choice) { return alltoallv(in_place, {}, {}, in, counts, {}, comm, choice); },
        [&] { expect(in == expected, "alltoallv in place"); });
  }

  C& comm_;
  Way way_;
  Expect expect_;
  std::string choice_;
  bool named_;
  Rank p_;
  Rank r_;
};

/// `persistent`: persistent calls as well.
template <typename C, typename Expect>
void check_typed_calls(C& comm, Expect expect, const std::string& choice, bool named, bool persistent = true) {
  const auto in = [&](auto way) { TypedCalls<C, decltype(way), Expect>(comm, way, expect, choice, named).run(); };
  in(Blocking{});
  in(Waited{});
  in(Tested{});
  if (persistent) in(Repeated{});
}

}  // namespace circoll::test
