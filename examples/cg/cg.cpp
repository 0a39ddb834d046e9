// Conjugate gradients on the 2D Laplacian (five points, n x n unknowns, zero around them). It is distributed by rows of
// the grid. An ordinary MPI program: halo rows by point-to-point messages, inner products by MPI_Allreduce, or
// overlapped with the product A w by MPI_Iallreduce (Ghysels and Vanroose's pipelined form), or by a persistent
// request, started every time.
//
// usage: cg [N] [double|exact] [blocking|pipelined|persistent]
//   exact: inner products of ranks are added as integers, so that no order of additions can be seen in the result.
#include <mpi.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>  // Open MPI 4 has persistent collectives as an extension
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Options {
  int n = 64;
  bool exact = false;
  bool pipelined = false;
  bool persistent = false;
};

/// The rows of the grid that a rank owns.
struct Rows {
  int first;
  int count;
};

Rows rows_of(int rank, int size, int n) {
  const int share = n / size;
  const int longer = n % size;  // ranks that have a row more
  return {rank * share + std::min(rank, longer), share + (rank < longer ? 1 : 0)};
}

/// A double as a sum of integers times powers of 2^32. Additions of the integers are exact, and so the same in any
/// order. Bits below 2^-320 are dropped; magnitudes stay below 2^63.
constexpr int limbs = 12;
using Limbs = std::array<std::int64_t, limbs>;
constexpr int exponent_of(int limb) { return 32 - 32 * limb; }

Limbs to_limbs(double value) {
  Limbs result{};
  for (int i = 0; i < limbs; ++i) {
    const auto part = static_cast<std::int64_t>(std::ldexp(value, -exponent_of(i)));
    value -= std::ldexp(static_cast<double>(part), exponent_of(i));
    result[static_cast<std::size_t>(i)] = part;
  }
  return result;
}

double from_limbs(const std::int64_t* parts) {
  double value = 0;
  for (int i = limbs - 1; i >= 0; --i) value += std::ldexp(static_cast<double>(parts[i]), exponent_of(i));
  return value;
}

/// Two sums over all ranks, started and later waited for, or at once.
class Sums {
 public:
  explicit Sums(bool exact) : exact_(exact) {}

  /// Makes the request persistent; to be freed by the caller.
  void prepare(MPI_Request* request) {
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
    const auto init = MPIX_Allreduce_init;
#else
    const auto init = MPI_Allreduce_init;
#endif
    persistent_ = true;
    if (exact_) {
      init(integers_.data(), integer_sums_.data(), 2 * limbs, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
           request);
    } else {
      init(values_.data(), sums_.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request);
    }
  }

  void start(double a, double b, MPI_Request* request) {
    values_ = {a, b};
    if (exact_) set_integers(a, b);
    if (persistent_) {
      MPI_Start(request);
    } else if (exact_) {
      MPI_Iallreduce(integers_.data(), integer_sums_.data(), 2 * limbs, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, request);
    } else {
      MPI_Iallreduce(values_.data(), sums_.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
    }
  }

  /// After the request of start() is complete.
  std::array<double, 2> finish() const {
    if (!exact_) return sums_;
    return {from_limbs(integer_sums_.data()), from_limbs(integer_sums_.data() + limbs)};
  }

  double operator()(double a) {
    if (exact_) {
      set_integers(a, 0);
      MPI_Allreduce(integers_.data(), integer_sums_.data(), limbs, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    } else {
      MPI_Allreduce(&a, sums_.data(), 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    return finish()[0];
  }

 private:
  void set_integers(double a, double b) {
    std::size_t at = 0;
    for (const double value : {a, b}) {
      for (const std::int64_t part : to_limbs(value)) integers_[at++] = part;
    }
  }

  bool exact_;
  bool persistent_ = false;
  std::array<double, 2> values_{};
  std::array<double, 2> sums_{};
  std::array<std::int64_t, std::size_t{2} * limbs> integers_{};
  std::array<std::int64_t, std::size_t{2} * limbs> integer_sums_{};
};

/// The rows of a grid function that this rank owns, with a halo row above and below.
class Grid {
 public:
  Grid(int rows, int n) : n_(n), values_(static_cast<std::size_t>(rows + 2) * static_cast<std::size_t>(n), 0.0) {}
  double* row(int i) { return values_.data() + static_cast<std::ptrdiff_t>(i + 1) * n_; }  // -1 and rows: halo
  const double* row(int i) const { return values_.data() + static_cast<std::ptrdiff_t>(i + 1) * n_; }

 private:
  std::ptrdiff_t n_;
  std::vector<double> values_;
};

class Solver {
 public:
  Solver(const Options& options, int rank, int size)
      : options_(options), rank_(rank), size_(size), mine_(rows_of(rank, size, options.n)), sums_(options.exact) {}

  void run() {
    const int limit = 10 * options_.n;
    const Grid b = right_hand_side();
    Grid x = grid();
    const double target = 1e-10 * std::sqrt(sums_(dot(b, b)));
    const int iterations = options_.pipelined ? pipelined(b, x, target, limit) : classical(b, x, target, limit);
    if (rank_ == 0) std::printf("iterations %d\n", iterations);
    print_solution(b, x);
  }

 private:
  Grid grid() const { return {mine_.count, options_.n}; }

  template <class F>
  void each(const F& f) const {
    for (int i = 0; i < mine_.count; ++i) {
      for (int j = 0; j < options_.n; ++j) f(i, j);
    }
  }

  Grid right_hand_side() const {
    Grid b = grid();
    each([&](int i, int j) { b.row(i)[j] = 1.0 / (1 + mine_.first + i) + (j % 7 == 3 ? 0.25 : -0.125); });
    return b;
  }

  double dot(const Grid& a, const Grid& b) const {
    double sum = 0;
    each([&](int i, int j) { sum += a.row(i)[j] * b.row(i)[j]; });
    return sum;
  }

  /// y += factor x, and y = x + factor y.
  void add(Grid& y, double factor, const Grid& x) const {
    each([&](int i, int j) { y.row(i)[j] += factor * x.row(i)[j]; });
  }
  void scale_and_add(Grid& y, double factor, const Grid& x) const {
    each([&](int i, int j) { y.row(i)[j] = x.row(i)[j] + factor * y.row(i)[j]; });
  }

  /// y = A x. The requests of the caller are waited for together with those of the halo.
  void multiply(Grid& x, Grid& y, MPI_Request* overlapped = nullptr) const {
    const int above = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL;
    const int below = rank_ + 1 < size_ ? rank_ + 1 : MPI_PROC_NULL;
    const int n = options_.n;
    std::array<MPI_Request, 5> requests{};
    MPI_Irecv(x.row(-1), n, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(x.row(mine_.count), n, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(x.row(0), n, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(x.row(mine_.count - 1), n, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[3]);
    requests[4] = overlapped != nullptr ? *overlapped : MPI_REQUEST_NULL;
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < mine_.count; ++i) {
      const double* const up = x.row(i - 1);
      const double* const here = x.row(i);
      const double* const down = x.row(i + 1);
      for (int j = 0; j < n; ++j) {
        const double left = j > 0 ? here[j - 1] : 0.0;
        const double right = j + 1 < n ? here[j + 1] : 0.0;
        y.row(i)[j] = 4 * here[j] - left - right - up[j] - down[j];
      }
    }
    MPI_Waitall(3, requests.data() + 2, MPI_STATUSES_IGNORE);
    if (overlapped != nullptr) *overlapped = requests[4];
  }

  void print_residual(int iteration, double squared) const {
    if (rank_ == 0 && iteration % 5 == 0) std::printf("residual %3d %.17g\n", iteration, std::sqrt(squared));
  }

  int classical(const Grid& b, Grid& x, double target, int limit) {
    Grid r = b;
    Grid p = b;
    Grid q = grid();
    double rr = sums_(dot(r, r));
    int k = 0;
    for (; k < limit && std::sqrt(rr) > target; ++k) {
      print_residual(k, rr);
      multiply(p, q);
      const double alpha = rr / sums_(dot(p, q));
      add(x, alpha, p);
      add(r, -alpha, q);
      const double next = sums_(dot(r, r));
      scale_and_add(p, next / rr, r);
      rr = next;
    }
    return k;
  }

  int pipelined(const Grid& b, Grid& x, double target, int limit) {
    Grid r = b;
    Grid w = grid();
    Grid p = grid();
    Grid s = grid();  // A p
    Grid z = grid();  // A s
    Grid q = grid();  // A w
    multiply(r, w);
    double alpha = 0;
    double before = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    if (options_.persistent) sums_.prepare(&request);
    int k = 0;
    for (;; ++k) {
      sums_.start(dot(r, r), dot(w, r), &request);
      multiply(w, q, &request);
      const auto [rr, wr] = sums_.finish();
      if (k == limit || std::sqrt(rr) <= target) break;
      print_residual(k, rr);
      const double beta = k == 0 ? 0.0 : rr / before;
      alpha = k == 0 ? rr / wr : rr / (wr - beta * rr / alpha);
      before = rr;
      scale_and_add(z, beta, q);
      scale_and_add(s, beta, w);
      scale_and_add(p, beta, r);
      add(x, alpha, p);
      add(r, -alpha, s);
      add(w, -alpha, z);
    }
    if (options_.persistent) MPI_Request_free(&request);
    return k;
  }

  /// The true residual, and some values of the solution, which is gathered on rank 0.
  void print_solution(const Grid& b, Grid& x) {
    Grid ax = grid();
    multiply(x, ax);
    double worst = 0;
    each([&](int i, int j) { worst = std::max(worst, std::abs(b.row(i)[j] - ax.row(i)[j])); });
    double worst_of_all = 0;
    MPI_Reduce(&worst, &worst_of_all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    const int n = options_.n;
    std::vector<int> counts(static_cast<std::size_t>(size_));
    std::vector<int> displs(counts.size());
    for (int i = 0; i < size_; ++i) {
      const Rows rows = rows_of(i, size_, n);
      counts[static_cast<std::size_t>(i)] = rows.count * n;
      displs[static_cast<std::size_t>(i)] = rows.first * n;
    }
    std::vector<double> all(rank_ == 0 ? static_cast<std::size_t>(n) * static_cast<std::size_t>(n) : 0);
    MPI_Gatherv(x.row(0), mine_.count * n, MPI_DOUBLE, all.data(), counts.data(), displs.data(), MPI_DOUBLE, 0,
                MPI_COMM_WORLD);
    if (rank_ != 0) return;
    std::printf("converged %s\n", worst_of_all < 1e-7 ? "yes" : "no");
    for (std::size_t i = 0; i < all.size(); i += all.size() / 8 + 1) std::printf("x[%zu] %.17g\n", i, all[i]);
  }

  Options options_;
  int rank_;
  int size_;
  Rows mine_;
  Sums sums_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::array<int, 4> chosen{64, 0, 0, 0};
  if (rank == 0) {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word == "exact") {
        chosen[1] = 1;
      } else if (word == "pipelined" || word == "persistent") {
        chosen[2] = 1;
        chosen[3] = word == "persistent" ? 1 : 0;
      } else if (word != "double" && word != "blocking") {
        chosen[0] = std::atoi(argv[i]);
      }
    }
  }
  MPI_Bcast(chosen.data(), 4, MPI_INT, 0, MPI_COMM_WORLD);
  const Options options{chosen[0], chosen[1] != 0, chosen[2] != 0, chosen[3] != 0};
  if (options.n < size) {
    if (rank == 0) std::fprintf(stderr, "cg: N is a number of rows, at least one for each rank\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  Solver(options, rank, size).run();
  MPI_Finalize();
  return 0;
}
