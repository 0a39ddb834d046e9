// Datatypes and buffers: gaps, negative bounds, absolute addresses, blocks that overlap.
#include <array>
#include <cstring>
#include <vector>

#include "against_native.hpp"
#include "circoll/mpi.hpp"
#include "derived_types.hpp"
#include "exec/mpi/library/library.hpp"
#include "harness.hpp"

namespace circoll::test {
namespace {

constexpr Collective movements[] = {Collective::allgather, Collective::allgatherv, Collective::gather,
                                    Collective::gatherv,   Collective::scatter,    Collective::scatterv,
                                    Collective::alltoall,  Collective::alltoallv,  Collective::bcast};

std::vector<TypeSpec> unusual_types() {
  MPI_Datatype subarray = MPI_DATATYPE_NULL, descending = MPI_DATATYPE_NULL, blocks = MPI_DATATYPE_NULL,
               nested = MPI_DATATYPE_NULL, copy = MPI_DATATYPE_NULL;
  const std::array<int, 2> sizes{4, 5}, part{2, 3}, start{1, 1};
  PMPI_Type_create_subarray(2, sizes.data(), part.data(), start.data(), MPI_ORDER_C, MPI_INT, &subarray);
  PMPI_Type_create_hvector(3, 1, -12, MPI_INT, &descending);  // lower bound -24
  const std::array<int, 3> places{7, 0, 4};
  PMPI_Type_create_indexed_block(3, 1, places.data(), MPI_INT, &blocks);
  const std::array<int, 3> lengths{1, 2, 1};
  const std::array<MPI_Aint, 3> displs{100, -40, 0};
  const std::array<MPI_Datatype, 3> types{MPI_INT, descending, MPI_INT};
  PMPI_Type_create_struct(3, lengths.data(), displs.data(), types.data(), &nested);
  PMPI_Type_dup(committed(blocks), &copy);
  return {{"subarray", committed(subarray), MPI_INT, Type::int32, 6},
          {"descending", committed(descending), MPI_INT, Type::int32, 3},
          {"nested", committed(nested), MPI_INT, Type::int32, 8},
          {"duplicate", copy, MPI_INT, Type::int32, 3}};
}

}  // namespace

TEST_MPI(unusual_datatypes) {
  for (const TypeSpec& type : unusual_types()) {
    for (const Collective collective : movements) {
      for_each_algorithm(collective, {}, [&](const Algorithm& algorithm) {
        for (const bool in_place : {false, true}) {
          Case c{.collective = collective, .algorithm = &algorithm, .count = 9, .type = type};
          c.in_place = in_place && has_in_place(collective);
          c.root = world_size() - 1;
          check_against_native(c);
        }
      });
    }
    MPI_Datatype mine = type.type;
    PMPI_Type_free(&mine);
  }
}

// Ranks describe one signature differently, and segments cut their data at bytes within elements.
TEST_MPI(segments_of_different_types) {
  int cases = 0;
  for (const Collective collective : movements) {
    for_each_algorithm(collective, {}, [&](const Algorithm& algorithm) {
      for (const ParamDeclaration& param : algorithm.params) {
        if (param.name != "segments" || param.maximum < 7) continue;
        ++cases;
        for (std::size_t shift = 0; shift < 3; ++shift) {
          Case c{.collective = collective, .algorithm = &algorithm, .params = ":segments=7", .count = 11};
          c.type = six_ints()[(static_cast<std::size_t>(world_rank()) + shift) % 3];
          if (collective != Collective::bcast && !is_irregular(collective)) c.recv_type = six_ints()[shift];
          c.root = world_size() / 2;
          check_against_native(c);
        }
      }
    });
  }
  expect(cases > 3, "few algorithms have segments");
}

// Columns of a matrix are elements, and each ends behind the beginning of the next.
TEST_MPI(interleaved_elements) {
  constexpr int rows = 4, columns = 5;
  const int p = world_size(), r = world_rank();
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  PMPI_Type_vector(rows, 1, columns, MPI_INT, &vector);
  MPI_Datatype column = resized(vector, 0, sizeof(int));
  std::vector<int> matrix(rows * columns), all(static_cast<std::size_t>(p * rows * columns));
  for (int i = 0; i < rows * columns; ++i) matrix[static_cast<std::size_t>(i)] = 1000 * r + i;
  // Every rank gets the matrices of all ranks, transposed column by column.
  for_each_algorithm(Collective::allgather, {}, [&](const Algorithm& algorithm) {
    std::fill(all.begin(), all.end(), -1);
    serve({.collective = Collective::allgather,
           .sendbuf = matrix.data(),
           .recvbuf = all.data(),
           .sendcount = columns,
           .recvcount = rows * columns,
           .sendtype = column,
           .recvtype = MPI_INT,
           .comm = MPI_COMM_WORLD},
          algorithm);
    for (int i = 0; i < p * rows * columns; ++i) {
      const int at = i % (rows * columns);
      expect(all[static_cast<std::size_t>(i)] == 1000 * (i / (rows * columns)) + at % rows * columns + at / rows,
             algorithm.id(Collective::allgather));
    }
  });
  // The matrix is also received as columns.
  for_each_algorithm(Collective::bcast, {}, [&](const Algorithm& algorithm) {
    std::vector<int> mine(matrix.size(), -1);
    if (r == 0) mine = matrix;
    mpi::bcast(mine.data(), columns, column, 0, MPI_COMM_WORLD, std::string(algorithm.name));
    expect(mine[7] == 7 && mine[19] == 19, algorithm.id(Collective::bcast));
  });
  PMPI_Type_free(&column);
}

// Addresses are absolute on both sides, and the receive type's extent is that of a block.
TEST_MPI(absolute_addresses) {
  constexpr int n = 6;
  const int p = world_size(), r = world_rank();
  const auto blocks = static_cast<std::size_t>(p);
  const auto absolute = [](const void* data) {
    MPI_Aint address = 0;
    PMPI_Get_address(data, &address);
    const std::array<int, 2> lengths{n - 2, 2};  // the last two first
    const std::array<MPI_Aint, 2> places{address + 8, address};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    PMPI_Type_create_hindexed(2, lengths.data(), places.data(), MPI_INT, &type);
    return resized(type, address, n * sizeof(int));
  };
  for (const Collective collective : movements) {
    for_each_algorithm(collective, {}, [&](const Algorithm& algorithm) {
      std::vector<int> in(blocks * n), plain(blocks * n, -1), out(blocks * n, -1);
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = 100 * r + static_cast<int>(i);
      if (collective == Collective::bcast) plain = out = in;
      std::vector<int> counts(blocks, 1), displs(blocks), many(blocks, n), places(blocks);
      for (std::size_t i = 0; i < blocks; ++i) {
        displs[i] = static_cast<int>(i);
        places[i] = static_cast<int>(i) * n;
      }
      mpi::Call call{.collective = collective, .root = p / 2, .comm = MPI_COMM_WORLD};
      const auto with = [&](const void* sendbuf, void* recvbuf, int count, MPI_Datatype sendtype, MPI_Datatype recvtype,
                            const std::vector<int>& each, const std::vector<int>& at) {
        call.sendbuf = sendbuf;
        call.recvbuf = recvbuf;
        call.sendcount = call.recvcount = count;
        call.sendtype = sendtype;
        call.recvtype = recvtype;
        call.sendcounts = call.recvcounts = each.data();
        call.senddispls = call.recvdispls = at.data();
        serve(call, algorithm);
      };
      with(in.data(), plain.data(), n, MPI_INT, MPI_INT, many, places);
      MPI_Datatype from = absolute(in.data()), to = absolute(out.data());
      with(MPI_BOTTOM, MPI_BOTTOM, 1, from, to, counts, displs);
      expect(out == plain, algorithm.id(collective) + " between absolute addresses");
      PMPI_Type_free(&from);
      PMPI_Type_free(&to);
    });
  }
}

namespace {

/// Checks in-place reductions of `count` maps, of which element i lies `extent` bytes after element i - 1, with a
/// datatype for the address `buffer`.
void check_user_reductions(char* first, Count count, Count extent, void* buffer, MPI_Datatype type, MPI_Op op,
                           const std::string& what) {
  const int p = world_size(), r = world_rank(), root = p / 2;
  const Count each = count / p;
  for (const Collective collective : {Collective::allreduce, Collective::reduce, Collective::scan, Collective::exscan,
                                      Collective::reduce_scatter_block}) {
    for_each_algorithm(collective, {.commutative = false, .idempotent = false}, [&](const Algorithm& algorithm) {
      for (Count i = 0; i < count; ++i) {
        const Map mine = map_of(r, i);
        std::memcpy(first + i * extent, mine.data(), sizeof mine);
      }
      mpi::Call call{.collective = collective,
                     .sendbuf = MPI_IN_PLACE,
                     .recvbuf = buffer,
                     .sendcount = count,
                     .recvcount = each,
                     .sendtype = type,
                     .op = op,
                     .root = root,
                     .comm = MPI_COMM_WORLD};
      if (collective == Collective::reduce && r != root) {
        call.sendbuf = buffer;
        call.recvbuf = nullptr;
      }
      serve(call, algorithm);
      const bool scatters = collective == Collective::reduce_scatter_block;
      for (Count i = 0; i < (scatters ? each : count); ++i) {
        Map expected = composed(0, p, scatters ? r * each + i : i);
        if (collective == Collective::reduce && r != root) expected = map_of(r, i);
        if (collective == Collective::scan) expected = composed(0, r + 1, i);
        if (collective == Collective::exscan) expected = r == 0 ? map_of(0, i) : composed(0, r, i);
        Map found{};
        std::memcpy(found.data(), first + i * extent, sizeof found);
        expect(found == expected, algorithm.id(collective) + " of " + what);
      }
    });
  }
}

}  // namespace

TEST_MPI(user_operators_on_derived_types) {
  const int p = world_size();
  const Count count = 5 * p;
  MPI_Op op = MPI_OP_NULL;
  PMPI_Op_create(compose_anywhere, 0, &op);
  constexpr Count extent = 40;
  std::vector<char> memory(static_cast<std::size_t>(count * extent + 200), 'g');
  const std::vector<char> before = memory;
  char* const middle = memory.data() + 100;
  struct Placement {
    std::string what;
    MPI_Aint data, lb;
  };
  MPI_Aint absolute = 0;
  PMPI_Get_address(middle, &absolute);
  for (const Placement& at :
       {Placement{"elements with gaps", 0, 0}, Placement{"elements that begin late", 24, 8},
        Placement{"negative lower bounds", -20, -28}, Placement{"absolute addresses", absolute, 0}}) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int length = 2;
    PMPI_Type_create_hindexed(1, &length, &at.data, MPI_UINT32_T, &type);
    type = resized(type, at.lb, extent);
    const bool bottom = at.data == absolute;
    check_user_reductions(bottom ? middle : middle + at.data, count, extent, bottom ? MPI_BOTTOM : middle, type, op,
                          at.what);
    PMPI_Type_free(&type);
    // The reduction wrote nothing but the maps.
    Count others = 0;
    const char* const begin = bottom ? middle : middle + at.data;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const std::ptrdiff_t from_first = memory.data() + i - begin;
      const bool map = from_first >= 0 && from_first < count * extent && from_first % extent < 8;
      others += !map && memory[i] != 'g' ? 1 : 0;
    }
    expect(others == 0, at.what + ": wrote between elements");
    memory = before;
  }
  PMPI_Op_free(&op);
}

// Blocks go to several ranks, in any order, and lie before the buffer's address.
TEST_MPI(overlapping_blocks_are_sent) {
  const int p = world_size(), r = world_rank(), root = p - 1;
  const auto n = static_cast<std::size_t>(p);
  std::vector<int> data(40);
  for (int i = 0; i < 40; ++i) data[static_cast<std::size_t>(i)] = i;
  std::vector<int> counts(n), displs(n);
  for (int i = 0; i < p; ++i) {
    counts[static_cast<std::size_t>(i)] = 5 + i % 3;
    displs[static_cast<std::size_t>(i)] = 4 - 3 * (i % 5);  // from the middle, towards the front
  }
  MPI_Datatype thrice = MPI_DATATYPE_NULL;  // one int, three times
  PMPI_Type_create_hvector(3, 1, 0, MPI_INT, &thrice);
  PMPI_Type_commit(&thrice);
  for_each_algorithm(Collective::scatterv, {}, [&](const Algorithm& algorithm) {
    std::vector<int> mine(8, -1);
    const int own = counts[static_cast<std::size_t>(r)], first = 20 + displs[static_cast<std::size_t>(r)];
    mpi::scatterv(data.data() + 20, counts.data(), displs.data(), MPI_INT, mine.data(), own, MPI_INT, root,
                  MPI_COMM_WORLD, std::string(algorithm.name));
    for (int i = 0; i < 8; ++i) {
      expect(mine[static_cast<std::size_t>(i)] == (i < own ? first + i : -1), algorithm.id(Collective::scatterv));
    }
  });
  for_each_algorithm(Collective::allgather, {}, [&](const Algorithm& algorithm) {
    std::vector<int> all(6 * n, -1);
    const std::array<int, 2> mine{r, 100 + r};
    mpi::allgather(mine.data(), 2, thrice, all.data(), 6, MPI_INT, MPI_COMM_WORLD, std::string(algorithm.name));
    for (std::size_t i = 0; i < all.size(); ++i) {
      expect(all[i] == static_cast<int>(i / 6) + (i % 6 < 3 ? 0 : 100), algorithm.id(Collective::allgather));
    }
  });
  PMPI_Type_free(&thrice);
}

// Calls have no data at all: null buffers, elements of no bytes.
TEST_MPI(nothing) {
  const auto n = static_cast<std::size_t>(world_size());
  const std::vector<int> zeros(n);
  std::vector<int> some(n, 3), displs(n);
  MPI_Datatype empty = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(0, MPI_INT, &empty);
  PMPI_Type_commit(&empty);
  for (const Collective collective : all_collectives) {
    for_each_algorithm(collective, {.commutative = true, .idempotent = true}, [&](const Algorithm& algorithm) {
      mpi::Call call{.collective = collective, .sendtype = MPI_INT, .recvtype = MPI_INT, .comm = MPI_COMM_WORLD};
      call.op = MPI_MAX;
      call.sendcounts = call.recvcounts = zeros.data();
      call.senddispls = call.recvdispls = displs.data();
      // Open MPI's MPI_Reduce takes these for equal buffers, which it refuses.
      int unused = 0;
      if (mpi::library::refuses_equal_buffers(Collective::reduce, call.recvbuf, 0)) call.sendbuf = &unused;
      serve(call, algorithm);
      if (is_reducing(collective) || collective == Collective::barrier) return;
      call.sendtype = call.recvtype = empty;
      call.sendcount = call.recvcount = 3;
      call.sendcounts = call.recvcounts = some.data();
      call.sendbuf = nullptr;
      serve(call, algorithm);
    });
  }
  PMPI_Type_free(&empty);
}

// Two bytes at the distance `apart`. The next element begins a byte later, and the first byte is at MPI_BOTTOM.
MPI_Datatype spread_at(const char* address, MPI_Aint apart) {
  const std::array<int, 2> lengths{1, 1};
  std::array<MPI_Aint, 2> places{};
  PMPI_Get_address(address, &places[0]);
  places[1] = places[0] + apart;
  MPI_Datatype absolute = MPI_DATATYPE_NULL, element = MPI_DATATYPE_NULL;
  PMPI_Type_create_hindexed(2, lengths.data(), places.data(), MPI_CHAR, &absolute);
  PMPI_Type_create_resized(absolute, places[0], 1, &element);
  PMPI_Type_free(&absolute);
  return committed(element);
}

// Elements lie a byte or two behind MPI_BOTTOM, at addresses that are MPI_IN_PLACE or MPI_BUFFER_AUTOMATIC.
TEST_MPI(near_bottom) {
  const auto n = static_cast<std::size_t>(world_size());
  constexpr std::size_t apart = 64;
  std::vector<char> in(2 * apart), out(2 * apart);
  MPI_Datatype sent = spread_at(in.data(), apart), received = spread_at(out.data(), apart);
  const std::vector<int> ones(n, 1);
  std::vector<int> displs(n);
  for (const std::size_t first : {1, 2}) {
    for (std::size_t i = 0; i < n; ++i) {
      displs[i] = static_cast<int>(3 * i + first);
      in[3 * i + first] = static_cast<char>('a' + world_rank());
      in[3 * i + first + apart] = static_cast<char>('A' + i);
    }
    for_each_algorithm(Collective::alltoallv, {}, [&](const Algorithm& algorithm) {
      std::fill(out.begin(), out.end(), '.');
      mpi::Call call{
          .collective = Collective::alltoallv, .sendbuf = MPI_BOTTOM, .recvbuf = MPI_BOTTOM, .comm = MPI_COMM_WORLD};
      call.sendtype = sent;
      call.recvtype = received;
      call.sendcounts = call.recvcounts = ones.data();
      call.senddispls = call.recvdispls = displs.data();
      serve(call, algorithm);
      std::vector<char> expected(2 * apart, '.');
      for (std::size_t i = 0; i < n; ++i) {
        expected[3 * i + first] = static_cast<char>('a' + i);
        expected[3 * i + first + apart] = static_cast<char>('A' + world_rank());
      }
      expect(out == expected, algorithm.id(Collective::alltoallv) + ": wrong data");
    });
  }
  PMPI_Type_free(&sent);
  PMPI_Type_free(&received);
}

// Hundreds of datatypes exist, and MPICH 4.0.2's MPI_Pack errs about the later ones. Each has five chars behind its
// address.
TEST_MPI(many_datatypes) {
  const std::array<int, 1> length{5};
  const std::array<MPI_Aint, 1> place{1};
  const std::array<MPI_Datatype, 1> type{MPI_CHAR};
  std::vector<MPI_Datatype> types(600);
  for (MPI_Datatype& made : types) {
    PMPI_Type_create_struct(1, length.data(), place.data(), type.data(), &made);
    made = committed(made);
  }
  for_each_algorithm(Collective::bcast, {}, [&](const Algorithm& algorithm) {
    std::array<char, 6> data{};
    if (world_rank() == 0) data = {'x', 'a', 'b', 'c', 'd', 'e'};
    mpi::Call call{.collective = Collective::bcast, .recvbuf = data.data(), .recvcount = 1, .comm = MPI_COMM_WORLD};
    call.recvtype = types.back();
    serve(call, algorithm);
    expect(std::memcmp(data.data() + 1, "abcde", 5) == 0, algorithm.id(Collective::bcast) + ": wrong data");
  });
  for (MPI_Datatype& made : types) PMPI_Type_free(&made);
}

}  // namespace circoll::test
