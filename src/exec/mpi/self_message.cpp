#include "exec/mpi/self_message.hpp"

#include <cstdint>

#include "exec/mpi/globals.hpp"

namespace circoll::mpi {
namespace {

/// Tags come again after all others: by then what had them is long complete.
int next_tag() {
  const auto tags = static_cast<std::uint64_t>(largest_tag() - Globals::packing_tags) + 1;
  return Globals::packing_tags + static_cast<int>(globals().next_request_tag++ % tags);
}

}  // namespace

SelfMessage::SelfMessage() : tag_(next_tag()) {}

int SelfMessage::receive(MPI_Request* request) const {
  return PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, tag_, self_communicator(), request);
}

int SelfMessage::init_receive(MPI_Request* request) const {
  return PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag_, self_communicator(), request);
}

void SelfMessage::withdraw(MPI_Request* request) noexcept {
  PMPI_Cancel(request);
  PMPI_Wait(request, MPI_STATUS_IGNORE);
}

void SelfMessage::send(int error) const noexcept {
  const char too_long = 0;
  MPI_Request sent = MPI_REQUEST_NULL;
  PMPI_Isend(&too_long, error == MPI_SUCCESS ? 0 : 1, MPI_BYTE, 0, tag_, self_communicator(), &sent);
  if (sent != MPI_REQUEST_NULL) PMPI_Request_free(&sent);
}

}  // namespace circoll::mpi
