// Checks of the typed API beside its calls: results by value, errors, requests. They are written once for every
// communicator, like support/typed_calls.hpp.
#pragma once

#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "circoll/comm.hpp"
#include "circoll/values.hpp"

namespace circoll::test {

/// Results by value.
template <typename C, typename Expect>
void check_values(C& comm, Expect expect) {
  const Rank p = CommunicatorTraits<C>::size(comm);
  const int r = static_cast<int>(CommunicatorTraits<C>::rank(comm));
  const int ranks = static_cast<int>(p);
  const Rank root = p - 1;
  const int triangle = ranks * (ranks + 1) / 2;
  const std::vector<double> mine{r + 1.0, 1.0};
  const std::vector<double> sum = allreduce(mine, Op::sum, comm);
  expect(sum == std::vector<double>{1.0 * triangle, 1.0 * ranks}, "allreduce of a vector");
  expect(allreduce(r, Op::max, comm) == ranks - 1, "allreduce of a scalar");
  expect(scan(mine, Op::sum, comm) == std::vector<double>{(r + 1) * (r + 2) / 2.0, r + 1.0}, "scan of a vector");
  expect(scan(1, Op::sum, comm) == r + 1, "scan of a scalar");
  expect(exscan(mine, Op::sum, comm) == std::vector<double>{r * (r + 1) / 2.0, 1.0 * r}, "exscan of a vector");
  expect(exscan(1, Op::sum, comm) == r, "exscan of a scalar");
  expect(reduce(mine, Op::sum, root, comm) == (r == root ? sum : std::vector<double>{}), "reduce of a vector");
  const std::optional<int> reduced = reduce(1, Op::sum, root, comm);
  expect(reduced == (r == root ? std::optional<int>(ranks) : std::nullopt), "reduce of a scalar");

  std::vector<int> line(static_cast<std::size_t>(ranks));
  std::iota(line.begin(), line.end(), 0);
  expect(reduce_scatter_block(line, Op::sum, comm) == std::vector<int>{r * ranks}, "reduce_scatter_block");
  std::vector<Count> ones(static_cast<std::size_t>(ranks), 1);
  expect(reduce_scatter(line, ones, Op::sum, comm) == std::vector<int>{r * ranks}, "reduce_scatter");
  expect(allgather(r, comm) == line, "allgather of a scalar");
  expect(allgather(std::vector<int>{r}, comm) == line, "allgather of a vector");
  expect(gather(r, root, comm) == (r == root ? line : std::vector<int>{}), "gather of a scalar");
  expect(scatter(r == root ? line : std::vector<int>{}, root, comm) == std::vector<int>{r}, "scatter");
  expect(bcast(r == root ? 77 : 0, root, comm) == 77, "bcast of a scalar");

  std::vector<Count> lengths;  // rank i has i elements
  std::vector<int> everything;
  for (int i = 0; i < ranks; ++i) {
    lengths.push_back(i);
    everything.insert(everything.end(), static_cast<std::size_t>(i), i);
  }
  const std::vector<int> some(static_cast<std::size_t>(r), r);
  expect(allgatherv(some, comm) == everything, "allgatherv");
  const auto [elements, counts] = allgatherv(some, comm, with_counts);
  expect(elements == everything && counts == lengths, "allgatherv with counts");
  expect(gatherv(some, root, comm) == (r == root ? everything : std::vector<int>{}), "gatherv");
  const Gathered<int> at_root = gatherv(some, root, comm, with_counts);
  expect(at_root.counts == (r == root ? lengths : std::vector<Count>{}), "gatherv with counts");
  expect(scatterv(at_root.elements, at_root.counts, root, comm) == some, "scatterv");
  std::vector<int> mail;
  for (int i = 0; i < ranks; ++i) mail.push_back(100 * i + r);
  std::vector<int> letters;
  for (int i = 0; i < ranks; ++i) letters.push_back(100 * r + i);
  expect(alltoall(letters, comm) == mail, "alltoall");
  const Gathered<int> heard = alltoallv(letters, ones, comm, with_counts);
  expect(heard.elements == mail && heard.counts == ones, "alltoallv");
  expect(alltoallv(std::vector<int>(static_cast<std::size_t>(ranks * r), r), std::vector<Count>(ones.size(), r),
                   comm) == everything,
         "alltoallv of uneven blocks");
}

/// The code of the error that a call throws, or ok.
template <typename F>
ErrorCode code_thrown_by(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::ok;
}

/// Wrong calls, which every rank makes. The communicator stays usable.
template <typename C, typename Expect>
void check_refusals(C& comm, Expect expect) {
  const Rank p = CommunicatorTraits<C>::size(comm);
  std::vector<int> two(2), three(3), vector(static_cast<std::size_t>(2 * p));
  const auto refused = [&](const std::string& what, auto call) {
    expect(code_thrown_by(call) == ErrorCode::invalid_argument, what + " is not refused");
  };
  const auto in_all_ways = [&](const std::string& what, auto call) {
    refused(what, [&] { call(comm); });
    refused(what + ", nonblocking", [&] { (void)call(nonblocking(comm)); });
    refused(what + ", persistent", [&] { (void)call(persistent(comm)); });
  };
  in_all_ways("a short send buffer", [&](auto&& c) { return allreduce(two, three, Op::sum, c); });
  in_all_ways("a short vector", [&](auto&& c) { return reduce_scatter_block(two, three, Op::sum, c); });
  in_all_ways("a count too many", [&](auto&& c) {
    return allgatherv(two, vector, std::vector<Count>(static_cast<std::size_t>(p + 1), 0), {}, c);
  });
  in_all_ways("a short receive buffer", [&](auto&& c) {
    return allgatherv(two, two, std::vector<Count>(static_cast<std::size_t>(p), 3), {}, c);
  });
  in_all_ways("a root that is none", [&](auto&& c) { return bcast(two, p, c); });
  if (p > 1) {
    in_all_ways("a vector that is not p blocks",
                [&](auto&& c) { return allgather(two, std::span(vector).first(vector.size() - 1), c); });
    refused("the same by value", [&] { (void)scatter(std::span(vector).first(vector.size() - 1), 0, comm); });
  }
  expect(code_thrown_by([&] { allreduce(two, two, Op::sum, comm, "no_such_algorithm"); }) == ErrorCode::unknown_name,
         "an unknown algorithm");
  expect(code_thrown_by([&] { (void)allreduce(two, three, Op::sum, nonblocking(comm), "no_such_algorithm"); }) ==
             ErrorCode::invalid_argument,
         "the buffers are looked at first");
  expect(allreduce(1, Op::sum, comm) == static_cast<int>(p), "the communicator is usable");
}

/// Requests as objects: null, moved, assigned to, destroyed, started.
template <typename C, typename Expect>
void check_requests(C& comm, Expect expect) {
  const int p = static_cast<int>(CommunicatorTraits<C>::size(comm));
  Request null;
  expect(!null.active() && !null.persistent() && null.test(), "the null request is over");
  null.wait();
  expect(code_thrown_by([&] { null.start(); }) == ErrorCode::invalid_argument, "it cannot be started");

  std::vector<int> one{1}, a{-1}, b{-1}, c{-1};
  Request first = allreduce(one, a, Op::sum, nonblocking(comm));
  expect(first.active() && !first.persistent(), "a call that has begun is active");
  expect(code_thrown_by([&] { first.start(); }) == ErrorCode::invalid_argument, "nor can a nonblocking call");
  Request moved = std::move(first);
  expect(moved.active(), "the call moves with the handle");
  moved = allreduce(one, b, Op::sum, nonblocking(comm));
  expect(a[0] == p, "assigning waits for the call before");
  { const Request gone = allreduce(one, c, Op::sum, nonblocking(comm)); }
  expect(c[0] == p, "destroying waits");
  moved.wait();
  moved.wait();
  expect(!moved.active() && moved.test() && b[0] == p, "what is over is waited for at once");

  std::vector<int> sum{0};
  {
    Request again = allreduce(one, sum, Op::sum, persistent(comm));
    expect(again.persistent() && !again.active() && sum[0] == 0, "a persistent call is made inactive");
    again.start();
    expect(code_thrown_by([&] { again.start(); }) == ErrorCode::invalid_argument, "an active one cannot be started");
  }
  expect(sum[0] == p, "destroying a started one waits");
  { const Request never = allreduce(one, sum, Op::sum, persistent(comm)); }
}

/// Several calls are under way and end in another order, with blocking ones between them.
template <typename C, typename Expect>
void check_many_requests(C& comm, Expect expect) {
  const int p = static_cast<int>(CommunicatorTraits<C>::size(comm));
  const int r = static_cast<int>(CommunicatorTraits<C>::rank(comm));
  constexpr std::size_t calls = 20;
  std::vector<std::vector<int>> mine(calls), sums(calls, std::vector<int>(50));
  for (int round = 0; round < 3; ++round) {
    std::vector<Request> requests;
    for (std::size_t i = 0; i < calls; ++i) {
      mine[i].assign(50, r + static_cast<int>(i));
      requests.push_back(allreduce(mine[i], sums[i], Op::sum, nonblocking(comm)));
      if (i == calls / 2) {
        // Ranks do different things: some wait here, some go on to the blocking call.
        if (r % 2 == 0) requests[i - 1].wait();
        expect(allreduce(1, Op::sum, comm) == p, "a blocking call while others are under way");
      }
    }
    for (std::size_t i = calls; i-- > 0;) requests[i].wait();
    for (std::size_t i = 0; i < calls; ++i) {
      const int sum = p * (p - 1) / 2 + p * static_cast<int>(i);
      expect(sums[i] == std::vector<int>(50, sum), "sum " + std::to_string(i));
    }
  }
}

}  // namespace circoll::test
