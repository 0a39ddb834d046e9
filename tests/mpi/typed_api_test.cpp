// The typed API over MPI: its calls are checked as in one process, and also MPI's errors, operators and handles.
#include <stdexcept>
#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/exact_sum.hpp"
#include "circoll/mpi.hpp"
#include "harness.hpp"
#include "support/typed_api.hpp"
#include "support/typed_callables.hpp"
#include "support/typed_calls.hpp"

namespace circoll::test {
namespace {

/// A communicator of its own, like a class of a program that converts to MPI's handle.
class OwnComm {
 public:
  OwnComm() { PMPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
  ~OwnComm() { MPI_Comm_free(&comm_); }
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;
  operator MPI_Comm() const { return comm_; }  // NOLINT(google-explicit-constructor)

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

const auto told = [](bool holds, const std::string& what) { expect(holds, what); };

}  // namespace

/// False where the library's own persistent collectives send what the buffers held when the call was made: MPICH 4.
/// There the second start of an MPI_Scatter_init fails, too. Also for api_test.cpp.
bool native_persistent_is_right() {
#if defined(MPICH_VERSION)
  int in = -1;
  std::vector<int> out(static_cast<std::size_t>(world_size()), -1);
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Gather_init(&in, 1, MPI_INT, out.data(), 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  in = 1;
  PMPI_Start(&request);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  PMPI_Request_free(&request);
  const int mine = world_rank() == 0 && out[0] != 1 ? 0 : 1;
  int all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
#else
  return true;
#endif
}

TEST_MPI(typed_all_collectives_by_default) {
  MPI_Comm comm = MPI_COMM_WORLD;
  check_typed_calls(comm, told, "auto", false);
}

TEST_MPI(typed_all_collectives_natively) {
  const OwnComm own;
  MPI_Comm comm = own;
  check_typed_calls(comm, told, "native", false, native_persistent_is_right());
}

TEST_MPI(typed_all_collectives_by_named_algorithms) {
  const OwnComm own;
  MPI_Comm comm = own;
  barrier(comm, "dissemination");  // a nonblocking call cannot be the first that is served
  check_typed_calls(comm, told, "by name", true);
}

TEST_MPI(typed_results_by_value) {
  MPI_Comm comm = MPI_COMM_WORLD;
  check_values(comm, told);
  const OwnComm own;
  check_values(own, told);
}

TEST_MPI(typed_callables) {
  const OwnComm own;
  MPI_Comm comm = own;
  check_callables(comm, told, "auto");
  check_callables(comm, told, "native", native_persistent_is_right());
  check_callables_by_value(comm, told);
}

/// An exception must not pass through MPI. It comes at the end of the call, and the next call is as good as ever.
TEST_MPI(typed_callables_that_throw) {
  const OwnComm own;
  MPI_Comm comm = own;
  const std::vector<int> x(10, 1);
  std::vector<int> y(10);
  const auto failing = [](int, int) -> int { throw std::range_error("the callable"); };
  for (const char* const choice : {"auto", "native", "linear"}) {
    int thrown = 0;
    for (const bool waits : {true, false}) {
      try {
        if (waits) allreduce(x, y, failing, comm, choice);
        if (!waits) allreduce(x, y, failing, nonblocking(comm), choice).wait();
      } catch (const std::range_error&) {
        ++thrown;
      }
    }
    int all = 0;  // the algorithm says which ranks combine
    PMPI_Allreduce(&thrown, &all, 1, MPI_INT, MPI_SUM, comm);
    expect(world_size() == 1 || (thrown <= 2 && all >= 2), std::string("the exception, ") + choice);
    expect(allreduce(
               1, [](int a, int b) { return a + b; }, comm, choice) == world_size(),
           "the next call");
  }
}

/// MPI's operators know nothing of a callable's state, so the number of calls is limited. The error comes on all ranks.
TEST_MPI(typed_many_callables_under_way) {
  const OwnComm own;
  MPI_Comm comm = own;
  constexpr int most = 256;
  const std::vector<int> one{1};
  std::vector<std::vector<int>> sums(most + 1, std::vector<int>(1));
  std::vector<Request> requests;
  const auto begin = [&](int i) {
    const auto sum_and = [i](int a, int b) { return a + b + i; };
    requests.push_back(allreduce(one, sums[static_cast<std::size_t>(i)], sum_and, nonblocking(comm)));
  };
  for (int i = 0; i < most; ++i) begin(i);
  expect(code_thrown_by([&] { begin(most); }) == ErrorCode::unsupported, "one too many");
  for (Request& request : requests) request.wait();
  for (int i = 0; i < most; ++i) {
    const int expected = world_size() + i * (world_size() - 1);
    expect(sums[static_cast<std::size_t>(i)][0] == expected, "sum " + std::to_string(i));
  }
  requests.clear();
  begin(most);
  requests[0].wait();
  expect(sums[most][0] == world_size() + most * (world_size() - 1), "places are given back");
}

TEST_MPI(typed_wrong_calls_are_refused) {
  const OwnComm own;
  MPI_Comm comm = own;
  check_refusals(comm, told);
  const MPI_Comm null = MPI_COMM_NULL;
  std::vector<int> x(2), y(2);
  for (const char* const choice : {"auto", "native", "circulant"}) {
    const auto is_wrong = [&](const std::string& what, auto call) {
      expect(code_thrown_by(call) == ErrorCode::invalid_argument, what + " by " + choice);
    };
    is_wrong("communicator", [&] { (void)allreduce(x, y, Op::sum, nonblocking(null), choice); });
    is_wrong("communicator of a persistent call", [&] { (void)allreduce(x, y, Op::sum, persistent(null), choice); });
    is_wrong("operator", [&] { (void)allreduce(x, y, MPI_OP_NULL, nonblocking(comm), choice); });
    is_wrong("large root", [&] { bcast(x, Rank{1} << 32, comm, choice); });
  }
}

TEST_MPI(typed_algorithms_that_cannot_serve_are_refused) {
  const std::vector<int> x(1);
  std::vector<int> out(static_cast<std::size_t>(world_size()));
  const Algorithm* picky = nullptr;
  for (const Algorithm* algorithm : algorithms_of(Collective::allgather)) {
    if (!unmet_need(*algorithm, world_size(), {.commutative = true, .idempotent = true}).empty()) picky = algorithm;
  }
  if (picky == nullptr) return;  // where p is a power of two
  const Selection selection{picky, Collective::allgather, {}};
  const auto code = [&](auto&& comm) { return code_thrown_by([&] { (void)allgather(x, out, comm, selection); }); };
  expect(code(nonblocking(MPI_COMM_WORLD)) == ErrorCode::unsupported, "nonblocking");
  expect(code(persistent(MPI_COMM_WORLD)) == ErrorCode::unsupported, "persistent");
}

TEST_MPI(typed_requests_are_handles) {
  MPI_Comm comm = MPI_COMM_WORLD;
  check_requests(comm, told);
  const OwnComm own;  // whose first call is nonblocking
  MPI_Comm fresh = own;
  check_requests(fresh, told);
}

TEST_MPI(typed_many_calls_under_way) {
  MPI_Comm comm = MPI_COMM_WORLD;
  check_many_requests(comm, told);
}

/// An error of the library ends no job. The request, or the call that begins it, throws the error.
TEST_MPI(typed_errors_of_the_library) {
  const OwnComm own;
  MPI_Comm comm = own;
  const std::vector<double> x{1};
  std::vector<double> y{0};
  int error_class = MPI_SUCCESS;
  try {
    Request request = allreduce(x, y, MPI_BAND, nonblocking(comm));
    request.wait();
  } catch (const MpiError& e) {
    PMPI_Error_class(e.mpi_code(), &error_class);
  }
  expect(error_class == MPI_ERR_OP, "MPI's error");
}

/// A user's operators live until the requests that need them are over, even if the program frees them.
void sum_of_ints(void* in, void* inout, int* length, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *length; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}

TEST_MPI(typed_users_operators) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(sum_of_ints, 1, &op);
  const std::vector<int> one(100, 1);
  std::vector<int> sum(100);
  for (const char* const choice : {"auto", "circulant"}) {
    Request request = allreduce(one, sum, op, nonblocking(MPI_COMM_WORLD), choice);
    request.wait();
    expect(sum == std::vector<int>(100, world_size()), choice);
  }
  expect(allreduce(one, op, MPI_COMM_WORLD) == sum, "by value");
  MPI_Op_free(&op);
}

/// Sums that are rounded once do not depend on the number of ranks, nor on the ranks that have the numbers.
TEST_MPI(exact_sums) {
  const int rank = world_rank(), size = world_size();
  std::vector<double> mine;
  for (int i = rank; i < 1000; i += size) mine.push_back(std::ldexp(i % 7 - 3.25, i % 90 - 45));
  std::vector<double> all;
  for (int i = 0; i < 1000; ++i) all.push_back(std::ldexp(i % 7 - 3.25, i % 90 - 45));
  ExactSum sum, dot;
  sum.add(std::span<const double>(all));
  dot.add_products(std::span<const double>(all), std::span<const double>(all));
  for (const char* const choice : {"auto", "circulant", "ring"}) {
    expect(exact_sum(mine, MPI_COMM_WORLD, choice) == sum.to_double(), choice);
    expect(exact_dot(mine, mine, MPI_COMM_WORLD, choice) == dot.to_double(), choice);
  }
  std::vector<ExactSum> many(40);
  for (ExactSum& one : many) one.add(std::span<const double>(mine));
  exact_sum(many, MPI_COMM_WORLD);
  expect(many[39] == sum, "many sums");
}

}  // namespace circoll::test
