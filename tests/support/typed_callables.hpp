// Checks of callables and structs in the typed calls, written once for every communicator, like typed_calls.hpp.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/typed_api.hpp"
#include "support/typed_calls.hpp"

namespace circoll::test {

/// Consecutive ranks. Joining is associative, and loses `whole` unless operands come in the order of ranks.
struct Chain {
  int first, last;
  bool whole;
  friend bool operator==(const Chain&, const Chain&) = default;
};

/// Sums that a modulus bounds. The callable has more state than std::function holds by itself, and the sums are wrong
/// if the state is gone.
struct BoundedSum {
  std::array<int, 40> moduli;
  int operator()(int a, int b) const { return (a + b) % moduli[39]; }
};

inline Chain join(const Chain& a, const Chain& b) {
  return {a.first, b.last, a.whole && b.whole && a.last + 1 == b.first};
}

/// All reductions of structs and numbers by callables in one way. The callables are gone when a call has returned.
template <typename C, typename Way, typename Expect>
class TypedCallables {
 public:
  TypedCallables(C& comm, Way way, Expect expect, std::string choice)
      : comm_(comm),
        way_(way),
        expect_(expect),
        choice_(std::move(choice)),
        p_(static_cast<int>(CommunicatorTraits<C>::size(comm))),
        r_(static_cast<int>(CommunicatorTraits<C>::rank(comm))) {}

  void run() {
    const auto n = static_cast<std::size_t>(p_);
    const Chain whole = chain(0, p_ - 1);
    check("allreduce", one(), {whole}, [](auto& comm, const auto& in, auto& out, const Choice& choice) {
      return allreduce(
          in, out, [](const Chain& a, const Chain& b) { return join(a, b); }, comm, choice);
    });
    const Rank root = p_ - 1;
    check("reduce", one(), {r_ == root ? whole : none()},
          [&](auto& comm, const auto& in, auto& out, const Choice& choice) {
            return reduce(in, out, join, root, comm, choice);  // a function
          });
    check("scan", one(), {chain(0, r_)}, [](auto& comm, const auto& in, auto& out, const Choice& choice) {
      return scan(in, out, std::function<Chain(const Chain&, const Chain&)>(join), comm, choice);
    });
    check("exscan", one(), {r_ == 0 ? none() : chain(0, r_ - 1)},
          [](auto& comm, const auto& in, auto& out, const Choice& choice) {
            return exscan(in, out, &join, comm, choice);
          });
    const std::vector<Chain> vector(n, chain(r_, r_));
    check("reduce_scatter_block", vector, {whole}, [](auto& comm, const auto& in, auto& out, const Choice& choice) {
      return reduce_scatter_block(
          in, out, [](const Chain& a, const Chain& b) { return join(a, b); }, comm, choice);
    });
    check("reduce_scatter", vector, {whole}, [&](auto& comm, const auto& in, auto& out, const Choice& choice) {
      return reduce_scatter(in, out, std::vector<Count>(n, 1), join, comm, choice);
    });
    const int modulus = 7;
    check("commutative", std::vector<int>(300, r_ + 3), std::vector<int>(300, (p_ * (p_ - 1) / 2 + 3 * p_) % modulus),
          [&](auto& comm, const auto& in, auto& out, const Choice& choice) {
            BoundedSum sum{};
            sum.moduli[39] = modulus;
            return allreduce(in, out, commutative(sum), comm, choice);
          });
    check("std::plus", std::vector<int>(5, r_), std::vector<int>(5, p_ * (p_ - 1) / 2),
          [&](auto& comm, const auto& in, auto& out, const Choice& choice) {
            return allreduce(in, out, std::plus<>(), comm, choice);
          });
    // Structs are moved as well.
    std::vector<Chain> line;
    for (int i = 0; i < p_; ++i) line.push_back(chain(i, i));
    check("allgather", one(), line,
          [](auto& comm, const auto& in, auto& out, const Choice& choice) { return allgather(in, out, comm, choice); });
    check("alltoall", vector, line,
          [](auto& comm, const auto& in, auto& out, const Choice& choice) { return alltoall(in, out, comm, choice); });
  }

 private:
  static Chain chain(int first, int last) { return {first, last, true}; }
  static Chain none() { return {-1, -1, false}; }
  [[nodiscard]] std::vector<Chain> one() const { return {chain(r_, r_)}; }

  /// Makes a call with these elements, and compares what it has received.
  template <typename T>
  void check(const std::string& what, const std::vector<T>& in, const std::vector<T>& expected, auto call) {
    T before{};
    if constexpr (std::is_same_v<T, Chain>) before = none();
    std::vector<T> out(expected.size());
    const Choice choice(choice_);
    way_(
        comm_, [&] { out.assign(expected.size(), before); }, [&](auto&& comm) { return call(comm, in, out, choice); },
        [&] { expect_(out == expected, what + " by callables, " + Way::name + ", " + choice_); });
  }

  C& comm_;
  Way way_;
  Expect expect_;
  std::string choice_;
  int p_, r_;
};

/// All of them in all ways. `persistent`: the choice serves persistent calls.
template <typename C, typename Expect>
void check_callables(C& comm, Expect expect, const std::string& choice, bool persistent = true) {
  TypedCallables(comm, Blocking{}, expect, choice).run();
  TypedCallables(comm, Waited{}, expect, choice).run();
  TypedCallables(comm, Tested{}, expect, choice).run();
  if (persistent) TypedCallables(comm, Repeated{}, expect, choice).run();
}

/// Results by value, and the choice of algorithms by commutativity.
template <typename C, typename Expect>
void check_callables_by_value(C& comm, Expect expect) {
  const int p = static_cast<int>(CommunicatorTraits<C>::size(comm));
  const int r = static_cast<int>(CommunicatorTraits<C>::rank(comm));
  const Chain mine{r, r, true}, whole{0, p - 1, true};
  expect(allreduce(mine, join, comm) == whole, "allreduce of a struct");
  expect(reduce(mine, join, 0, comm) == (r == 0 ? std::optional<Chain>(whole) : std::nullopt), "reduce of a struct");
  expect(scan(mine, join, comm) == Chain{0, r, true}, "scan of a struct");
  expect(allreduce(
             r, [](int a, int b) { return a > b ? a : b; }, comm) == p - 1,
         "allreduce of a number");
  expect(allreduce(std::vector<double>{1.0, 2.0}, std::multiplies<>(), comm)[0] == 1.0, "std::multiplies");
  expect(allreduce(true, std::logical_and<>(), comm), "std::logical_and");
  if (p == 1) return;
  const auto code = [&](const auto& op) {
    return code_thrown_by([&] { (void)allreduce(r, op, comm, "circulant_optimal"); });
  };
  const auto sum = [](int a, int b) { return a + b; };
  expect(code(sum) == ErrorCode::unsupported, "an ordered callable by an algorithm that needs commutative ones");
  expect(code(commutative(sum)) == ErrorCode::ok, "a commutative callable");
  expect(code(std::plus<>()) == ErrorCode::ok, "MPI's operator");
  // Every algorithm keeps the order of an ordered callable, or refuses it.
  int served = 0;
  for (const Algorithm* algorithm : algorithms_of(Collective::allreduce)) {
    Chain joined{};
    const ErrorCode given = code_thrown_by([&] {
      joined = allreduce(mine, join, comm, Selection{algorithm, Collective::allreduce, {}});
    });
    served += given == ErrorCode::ok ? 1 : 0;
    expect(given == ErrorCode::unsupported || (given == ErrorCode::ok && joined == whole),
           "an ordered callable by " + std::string(algorithm->name));
  }
  expect(served > 1, "few algorithms serve an ordered callable");
}

}  // namespace circoll::test
