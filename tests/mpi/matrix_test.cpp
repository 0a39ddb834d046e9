// Every algorithm of the registry against the native collective.
#include <algorithm>
#include <array>
#include <vector>

#include "against_native.hpp"
#include "harness.hpp"
#include "schedule/relabelling.hpp"

namespace circoll::test {
namespace {

std::vector<Count> counts_for(int p) {
  // From MPICH 4.1 on its time for long vectors of derived types grows with the square of the length.
  const Count longest = mpich_version() >= 401 ? 20011 : 100003;
  std::vector<Count> counts{0, 1, p - 1, p, p + 1, 1000, longest};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

/// Parameters worth a test of their own: the default, ranks relabelled, and some segments.
std::vector<std::string> params_of(const Algorithm& algorithm) {
  std::vector<std::string> all{""};
  if (can_relabel(algorithm.collectives.front())) all.emplace_back(":relabel=2");
  for (const ParamDeclaration& param : algorithm.params) {
    if (param.name == "segments" && param.maximum >= 3) all.emplace_back(":segments=3");
  }
  return all;
}

/// Samples types, operators, roots and in place so that neighbouring cases differ in all of them.
class Sampler {
 public:
  explicit Sampler(MPI_Comm comm) : comm_(comm) { PMPI_Comm_size(comm, &size_); }

  void run(Collective collective, const Algorithm& algorithm) {
    for (const std::string& params : params_of(algorithm)) {
      for (const Count count : counts_for(size_)) {
        // Large vectors and many ranks cost time, and small vectors on few ranks have the corner cases.
        const int samples = (count > 5000 ? 2 : 4) / (size_ < 5 ? 1 : 2);
        for (int i = 0; i < samples; ++i) one(collective, algorithm, params, count);
      }
    }
  }

 private:
  void one(Collective collective, const Algorithm& algorithm, const std::string& params, Count count) {
    Case c{.collective = collective, .algorithm = &algorithm, .params = params, .count = count, .comm = comm_};
    c.in_place = has_in_place(collective) && (number_ / 2) % 2 == 1;
    const std::array<int, 3> roots{0, size_ - 1, size_ / 2};
    if (is_rooted(collective)) c.root = roots[number_ % roots.size()];
    if (is_reducing(collective)) {
      const auto& specs = reduce_specs();
      // The next pair that the algorithm can serve.
      for (std::size_t tries = 0; tries < specs.size(); ++tries) {
        const ReduceSpec& spec = specs[next_reduce_++ % specs.size()];
        const OperatorTraits traits{.commutative = spec.op.commutative, .idempotent = spec.op.idempotent};
        const Selection selection = parse_selection(collective, std::string(algorithm.name) + params);
        if (!unmet_need(selection, size_, traits).empty()) continue;
        c.type = spec.type;
        c.op = spec.op;
        check_against_native(c);
        break;
      }
    } else if (unmet_need(algorithm, size_, {}).empty()) {
      const auto& specs = move_specs();
      c.type = specs[next_move_++ % specs.size()];
      // Exchanges of large blocks have a small type, to save memory.
      if (is_exchange(collective) && count > 5000) c.type = specs[next_move_ % 2 == 0 ? 0 : 2];
      if (!has_oracle(collective, c.type)) c.type = specs[next_move_++ % specs.size()];
      check_against_native(c);
    }
    ++number_;
  }

  MPI_Comm comm_;
  int size_ = 1;
  std::size_t number_ = 0;
  std::size_t next_reduce_ = 0;
  std::size_t next_move_ = 0;
};

void run_all(MPI_Comm comm) {
  Sampler sampler(comm);
  for (const Collective collective : all_collectives) {
    for (const Algorithm* algorithm : algorithms_of(collective)) sampler.run(collective, *algorithm);
  }
}

}  // namespace

TEST_MPI(matrix) { run_all(MPI_COMM_WORLD); }

TEST_MPI(every_type_and_operator) {
  for (const Collective collective : all_collectives) {
    for (const Algorithm* algorithm : algorithms_of(collective)) {
      Case c{.collective = collective, .algorithm = algorithm, .count = 37};
      c.root = world_size() - 1;
      for (const bool in_place : {false, true}) {
        c.in_place = in_place && has_in_place(collective);
        if (is_reducing(collective)) {
          for (const ReduceSpec& spec : reduce_specs()) {
            const OperatorTraits traits{.commutative = spec.op.commutative, .idempotent = spec.op.idempotent};
            if (!unmet_need(*algorithm, world_size(), traits).empty()) continue;
            c.type = spec.type;
            c.op = spec.op;
            check_against_native(c);
          }
        } else if (unmet_need(*algorithm, world_size(), {}).empty()) {
          for (const TypeSpec& type : move_specs()) {
            c.type = type;
            if (has_oracle(collective, type)) check_against_native(c);
          }
        }
      }
    }
  }
}

// Ranks describe the same data differently: the signature is the same, but (count, type) are not.
TEST_MPI(different_types_same_signature) {
  const TypeSpec ints{"int", MPI_INT, MPI_INT, Type::int32, 1};
  for (const Collective collective :
       {Collective::allgather, Collective::gather, Collective::scatter, Collective::alltoall, Collective::alltoallv}) {
    for (const Algorithm* algorithm : algorithms_of(collective)) {
      if (!unmet_need(*algorithm, world_size(), {}).empty()) continue;
      for (const TypeSpec& six : six_ints()) {
        for (const bool in_place : {false, true}) {
          Case c{.collective = collective, .algorithm = algorithm, .count = 11, .type = six, .recv_type = ints};
          c.recv_factor = 6;
          c.root = world_size() / 2;
          c.in_place = in_place && collective != Collective::scatter;
          check_against_native(c);
          // The types are exchanged, and differ from rank to rank.
          Case d = c;
          d.type = six_ints()[static_cast<std::size_t>(world_rank()) % 3];
          d.recv_type = six;
          d.recv_factor = 1;
          d.in_place = false;
          check_against_native(d);
        }
      }
    }
  }
  for (const Algorithm* algorithm : algorithms_of(Collective::bcast)) {
    if (!unmet_need(*algorithm, world_size(), {}).empty()) continue;
    for (std::size_t shift = 0; shift < 3; ++shift) {
      Case c{.collective = Collective::bcast, .algorithm = algorithm, .count = 50};
      c.type = six_ints()[(static_cast<std::size_t>(world_rank()) + shift) % 3];
      c.root = world_size() - 1;
      check_against_native(c);
    }
  }
}

TEST_MPI(split_communicators) {
  MPI_Comm half = MPI_COMM_NULL, reversed = MPI_COMM_NULL;
  PMPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, 0, &half);
  PMPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &reversed);
  for (const MPI_Comm comm : {half, reversed, MPI_COMM_SELF}) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    for (const Collective collective : all_collectives) {
      for (const Algorithm* algorithm : algorithms_of(collective)) {
        if (!unmet_need(*algorithm, size, {}).empty()) continue;
        if (algorithm->needs.idempotent) continue;
        Case c{.collective = collective, .algorithm = algorithm, .count = 100, .type = reduce_specs()[0].type};
        c.op = reduce_specs()[0].op;
        c.root = size - 1;
        c.comm = comm;
        check_against_native(c);
      }
    }
  }
  PMPI_Comm_free(&half);
  PMPI_Comm_free(&reversed);
}

}  // namespace circoll::test
