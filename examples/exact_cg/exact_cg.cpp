// Conjugate gradients with the same residuals on every number of ranks, bit by bit.
//
// The system is the 2D Laplacian (five points, n x n unknowns, zero around them), distributed by rows of the grid. An
// element of A p has the same operands in the same order on whichever rank it is. Dot products are rounded once
// (circoll/exact_sum.hpp), so that the number of ranks cannot be seen in them. The rest is done element by element.
//
// usage: exact_cg [N]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "circoll/exact_sum.hpp"
#include "circoll/mpi.hpp"

namespace {

/// The rows of a grid function that this rank owns, between a halo row above and below.
class Rows {
 public:
  Rows(int n, int count) : n_(static_cast<std::size_t>(n)), values_((static_cast<std::size_t>(count) + 2) * n_) {}

  [[nodiscard]] std::span<double> row(int i) {
    return std::span(values_).subspan(static_cast<std::size_t>(i + 1) * n_, n_);
  }
  [[nodiscard]] std::span<const double> own() const { return std::span(values_).subspan(n_, values_.size() - 2 * n_); }
  [[nodiscard]] std::span<double> own() { return std::span(values_).subspan(n_, values_.size() - 2 * n_); }

 private:
  std::size_t n_;
  std::vector<double> values_;
};

/// The part of the grid on this rank, and its neighbours.
struct Part {
  int n = 0, first = 0, count = 0;
  int above = MPI_PROC_NULL, below = MPI_PROC_NULL;
};

Part part_of(int n, int rank, int size) {
  Part part{.n = n, .first = rank * n / size, .count = (rank + 1) * n / size - rank * n / size};
  if (part.first > 0) part.above = rank - 1;
  if (part.first + part.count < n) part.below = rank + 1;
  return part;
}

/// y = A x. Every rank has rows, so that neighbours are one rank away.
void multiply(const Part& part, Rows& x, Rows& y) {
  MPI_Sendrecv(x.row(0).data(), part.n, MPI_DOUBLE, part.above, 0, x.row(part.count).data(), part.n, MPI_DOUBLE,
               part.below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(x.row(part.count - 1).data(), part.n, MPI_DOUBLE, part.below, 1, x.row(-1).data(), part.n, MPI_DOUBLE,
               part.above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const auto n = static_cast<std::size_t>(part.n);
  for (int i = 0; i < part.count; ++i) {
    const auto up = x.row(i - 1), here = x.row(i), down = x.row(i + 1), result = y.row(i);
    for (std::size_t j = 0; j < n; ++j) {
      const double left = j > 0 ? here[j - 1] : 0, right = j + 1 < n ? here[j + 1] : 0;
      result[j] = 4 * here[j] - up[j] - down[j] - left - right;
    }
  }
}

/// y += factor * x
void add(std::span<double> y, double factor, std::span<const double> x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}

void solve(const Part& part, int rank) {
  Rows x(part.n, part.count), r = x, p = x, q = x;
  for (int i = 0; i < part.count; ++i) {
    const auto row = r.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = 1.0 / (1 + part.first + i) + (j % 7 == 3 ? 0.25 : -0.125);
  }
  p = r;
  double rr = circoll::exact_dot(r.own(), r.own(), MPI_COMM_WORLD);
  const double target = 1e-24 * rr;
  int iteration = 0;
  for (; rr > target && iteration < 10 * part.n; ++iteration) {
    if (rank == 0) std::printf("residual %3d %a\n", iteration, std::sqrt(rr));
    multiply(part, p, q);
    const double alpha = rr / circoll::exact_dot(p.own(), q.own(), MPI_COMM_WORLD);
    add(x.own(), alpha, p.own());
    add(r.own(), -alpha, q.own());
    const double before = rr;
    rr = circoll::exact_dot(r.own(), r.own(), MPI_COMM_WORLD);
    const double beta = rr / before;
    for (std::size_t i = 0; i < p.own().size(); ++i) p.own()[i] = r.own()[i] + beta * p.own()[i];
  }
  // Two sums in one message.
  std::array<circoll::ExactSum, 2> sums;
  sums[0].add(std::span<const double>(x.own()));
  sums[1].add_products(std::span<const double>(x.own()), std::span<const double>(x.own()));
  circoll::exact_sum(sums, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("iterations %d\nsum %a\nnorm %a\n", iteration, sums[0].to_double(), std::sqrt(sums[1].to_double()));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int n = std::max(argc > 1 ? std::atoi(argv[1]) : 48, size);
  solve(part_of(n, rank, size), rank);
  MPI_Finalize();
}
