// Erroneous calls, and the errors that they must return.
#include <fmt/format.h>

#include <algorithm>

#include "calls.hpp"
#include "quirks.hpp"
#include "random.hpp"

namespace circoll::torture {
namespace {

/// True if the call has elements. Libraries do not look at the type of an empty buffer.
bool has_elements(const Instance& instance) {
  const auto holds = [](const Side& side) {
    return side.used && std::ranges::any_of(side.blocks, [](const Block& block) { return block.items > 0; });
  };
  return holds(instance.send()) || holds(instance.recv());
}

/// The class that MPI has for it.
int class_of(Fault fault) {
  switch (fault) {
    case Fault::no_operator:
    case Fault::undefined_operator:
      return MPI_ERR_OP;
    case Fault::negative_root:
    case Fault::large_root:
      return MPI_ERR_ROOT;
    case Fault::negative_count:
      return MPI_ERR_COUNT;
    case Fault::equal_buffers:
      return MPI_ERR_BUFFER;
    default:
      return MPI_ERR_TYPE;
  }
}

}  // namespace

bool makes(const Mistake& mistake, int rank, int size) {
  if (mistake.who == Who::all) return true;
  if (mistake.who == Who::some) return hash(mistake.ranks, rank) % 2 == 0;
  return static_cast<int>(mistake.ranks % static_cast<std::uint64_t>(size)) == rank;
}

std::string make_mistake(const Mistake& mistake, const Operation& operation, const Communicator& c) {
  Instance instance(operation, c.rank, c.size, c.topology.get());
  const bool of_type = class_of(mistake.fault) == MPI_ERR_TYPE;
  const bool of_elements = of_type || mistake.fault == Fault::equal_buffers;
  if (of_elements && !has_elements(instance)) return "";
  Arguments arguments = instance.arguments(c.comm);
  Type uncommitted;
  int nothing = 0;
  switch (mistake.fault) {
    case Fault::no_operator:
      arguments.op = MPI_OP_NULL;
      break;
    case Fault::undefined_operator:
      arguments.op = MPI_BAND;
      arguments.sendtype = MPI_DOUBLE;
      break;
    case Fault::no_type:
      arguments.sendtype = arguments.recvtype = MPI_DATATYPE_NULL;
      break;
    case Fault::uncommitted_type: {
      MPI_Datatype made = MPI_DATATYPE_NULL;
      MPI_Type_contiguous(2, MPI_INT, &made);
      uncommitted = Type(made, true);
      arguments.sendtype = arguments.recvtype = made;
      break;
    }
    case Fault::negative_root:
      arguments.root = -7;
      break;
    case Fault::large_root:
      arguments.root = c.size;
      break;
    case Fault::negative_count:
      instance.scribble_counts();
      arguments.sendcount = arguments.recvcount = -7;
      break;
    case Fault::equal_buffers:
      arguments.sendbuf = arguments.recvbuf = &nothing;  // refused before anything is read
      break;
  }
  expect_error(c.comm);
  MPI_Request request = MPI_REQUEST_NULL;
  // Of an alltoallw the mistakes are those of an alltoallv.
  int rc = call(operation.has_types ? operation.collective : called(operation), mistake.mode, arguments,
                operation.large, &request);
  if (rc == MPI_SUCCESS && forgets_errors_natively()) rc = error_heard();
  if (rc == MPI_SUCCESS) return "the erroneous call returns MPI_SUCCESS";
  if (request != MPI_REQUEST_NULL) return "the erroneous call leaves a request";
  // With a wrong root no rank is the root. Arguments matter then that did not before, and they are wrong, too.
  if (operation.in_place || operation.sloppy) return "";
  const int got = error_class(rc);
  // No operator is defined on a wrong type.
  const bool also_operator = of_type && is_reducing(operation.collective) && got == MPI_ERR_OP;
  if (got == class_of(mistake.fault) || also_operator) return "";
  return fmt::format("the error is of class {} instead of {}", got, class_of(mistake.fault));
}

}  // namespace circoll::torture
