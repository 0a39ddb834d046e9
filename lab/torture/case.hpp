// A test case: communicators, operations, messages, and the order in which every rank starts them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "circoll/collectives.hpp"
#include "facts/called_collective.hpp"

namespace circoll::torture {

enum class Mode : std::uint8_t { blocking, nonblocking, persistent };
inline constexpr std::array all_modes{Mode::blocking, Mode::nonblocking, Mode::persistent};
[[nodiscard]] const char* to_string(Mode mode);

enum class CommKind : std::uint8_t {
  world,
  self,
  dup,
  split,
  reversed,
  cart,
  group,
  alone,  ///< some ranks make a duplicate of MPI_COMM_SELF
  grid,   ///< for neighbours, likewise the next one
  graph
};
[[nodiscard]] const char* to_string(CommKind kind);

/// A communicator of a case. All ranks of the parent make it, and ranks that it leaves out skip its operations.
struct CommSpec {
  CommKind kind = CommKind::world;
  int parent = 0;
  std::uint64_t seed = 0;
  int lane = 0;
  bool in_lane = false;  ///< with several threads: its own makes it, while the others go on
  int turn = 0;          ///< its place among those that one thread makes, from 0
  bool bare = false;     ///< no oracle: results are compared with those of one process
  bool wild = false;     ///< point-to-point receives on it take any source, or any tag
};

/// The base type of elements: an index into base_types(), or one of two that are made for each use.
using Base = int;
inline constexpr Base base_record = -1;  ///< struct of int and double; its layout differs from rank to rank
inline constexpr Base base_words = -2;   ///< two 32-bit words, in one of word_layouts ways; for user operators
inline constexpr int word_layouts = 6;

/// The fate of arrays of counts and displacements when a nonblocking call, or a persistent init, has returned. They
/// stay as they are until completion, hold nonsense, or are no memory any more.
enum class Arrays : std::uint8_t { kept, overwritten, unmapped };

enum class UserOp : std::uint8_t { none, add, compose };

/// The edges of one rank in the order of MPI's arguments. An edge to no_rank has a block that nobody sends or writes.
struct Edges {
  struct In {
    int source = 0;
    int block = 0;  ///< the block that comes: its place among those that the source sends
  };
  std::vector<int> out;
  std::vector<In> in;
};
inline constexpr int no_rank = -1;
/// The edges of all ranks.
using Topology = std::vector<Edges>;

/// A collective. Counts are in units, and a unit is `unit` elements of the base type, so that ranks may describe one
/// signature by different (count, type) pairs.
struct Operation {
  int id = 0;
  Collective collective = Collective::barrier;  ///< of neighbours: among_all(*neighbor)
  std::optional<NeighborFunction> neighbor{};
  bool has_types = false;  ///< an alltoallv by MPI_Alltoallw
  int comm = 0;
  Mode mode = Mode::blocking;
  bool large = false;      ///< by the form with MPI_Count arguments, where the MPI has it
  std::uint64_t root = 0;  ///< modulo the size of the communicator
  bool in_place = false;
  Base base = 0;
  int layout = 0;  ///< of base_words
  int unit = 1;
  Count count = 0;          ///< units in a block; of irregular collectives the most
  bool plain = true;        ///< the type is the base type
  bool differ = false;      ///< each rank has its own type
  bool absolute = false;    ///< MPI_BOTTOM and absolute addresses
  bool sloppy = false;      ///< arguments that are not significant are nonsense
  std::uint64_t types = 0;  ///< seeds
  std::uint64_t counts = 0;
  std::uint64_t places = 0;
  std::uint64_t data = 0;
  Op op = Op::sum;
  UserOp user = UserOp::none;
  bool declared_commutative = false;
  bool fractions = false;    ///< values whose sums are rounded
  int executions = 1;        ///< starts of a persistent operation
  bool freed_early = false;  ///< types and operators are freed as soon as the operation is started
  Arrays arrays = Arrays::kept;
};

/// A message from every rank to the rank `shift` above, modulo the size.
struct PointToPoint {
  int id = 0;
  int comm = 0;
  std::uint64_t shift = 0;
  int length = 1;  ///< ints
  bool blocking = false;
  bool synchronous = false;
};

/// The mistake of an erroneous call.
enum class Fault : std::uint8_t {
  no_operator,
  undefined_operator,
  no_type,
  uncommitted_type,
  negative_root,
  large_root,
  negative_count,
  equal_buffers
};
enum class Who : std::uint8_t { one, some, all };

/// An erroneous call: that of an operation but for one argument. The ranks that do not make it call nothing.
struct Mistake {
  int id = 0;
  int operation = 0;
  Mode mode = Mode::blocking;
  Fault fault = Fault::no_type;
  Who who = Who::one;
  std::uint64_t ranks = 0;  ///< seed
  bool met = false;         ///< all ranks meet in a native barrier then, so that it must have returned by itself
};

enum class StepKind : std::uint8_t {
  create_comm,
  free_comm,
  init,
  start,
  finish,
  free_request,
  message,
  mistake,
  idle
};

struct Step {
  StepKind kind = StepKind::idle;
  int index = 0;  ///< of the communicator, operation, message or mistake
  int execution = 0;
};

inline constexpr int max_message_ints = 20000;

struct Case {
  std::uint64_t seed = 0;
  std::int64_t number = 0;
  bool busy = true;  ///< ranks compute, sleep, and complete requests early at random
  std::vector<CommSpec> comms;
  std::vector<Operation> operations;
  std::vector<PointToPoint> messages;
  std::vector<Mistake> mistakes;
  bool may_be_native = false;  ///< the MPI library may serve any call, whatever stands in front of it
  bool keeps_unused = false;   ///< communicators that nothing uses are made, too
  /// One list per thread; the steps of one list are started in this order by all ranks.
  std::vector<std::vector<Step>> lanes;
};

[[nodiscard]] inline CalledCollective called(const Operation& operation) {
  if (operation.has_types) return CalledCollective::alltoallw();
  return operation.neighbor ? CalledCollective(*operation.neighbor) : operation.collective;
}

/// The communicator that a step makes, frees or uses. It is -1 if there is none.
[[nodiscard]] int comm_of(const Case& c, const Step& step);

[[nodiscard]] std::string describe(const Case& c, const Operation& operation);
[[nodiscard]] std::string describe(const Case& c, const Mistake& mistake);
[[nodiscard]] std::string describe(const Case& c, const Step& step);
/// The whole case, a line per step.
[[nodiscard]] std::string describe(const Case& c);

}  // namespace circoll::torture
