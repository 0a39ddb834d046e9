// Messages between two ranks that are timed. circoll-bench --calibrate does so at length. Where a job starts,
// serve/shared_network.hpp does so for some milliseconds.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "circoll/types.hpp"

namespace circoll::mpi {

/// The buffers of a pair's messages. Both ranks make the same calls; all return MPI error codes.
class PairMessages {
 public:
  PairMessages(MPI_Comm comm, int peer, int tag, Count largest_bytes)
      : comm_(comm), peer_(peer), tag_(tag), send_(static_cast<std::size_t>(largest_bytes), 1), recv_(send_.size()) {}

  /// A message each way at once, as a round of a schedule sends them.
  [[nodiscard]] int exchange(Count bytes) {
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int rc = PMPI_Irecv(recv_.data(), static_cast<int>(bytes), MPI_BYTE, peer_, tag_, comm_, &requests[0]);
    if (rc == MPI_SUCCESS) {
      rc = PMPI_Isend(send_.data(), static_cast<int>(bytes), MPI_BYTE, peer_, tag_, comm_, &requests[1]);
      if (rc != MPI_SUCCESS) {  // the buffer will be gone
        PMPI_Cancel(&requests[0]);
        PMPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      }
    }
    return rc == MPI_SUCCESS ? PMPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE) : rc;
  }

  /// The same in messages of `part` bytes, all at once. Short ones need no handshake, which over a socket waits behind
  /// data that goes the same way, so that an exchange of one long message may take the time of two.
  [[nodiscard]] int exchange_in_parts(Count bytes, int part) {
    std::vector<MPI_Request> receives, sends;
    int rc = MPI_SUCCESS;
    for (Count at = 0; at + part <= bytes && rc == MPI_SUCCESS; at += part) {
      rc = PMPI_Irecv(recv_.data() + at, part, MPI_BYTE, peer_, tag_, comm_, &receives.emplace_back(MPI_REQUEST_NULL));
      if (rc == MPI_SUCCESS)
        rc = PMPI_Isend(send_.data() + at, part, MPI_BYTE, peer_, tag_, comm_, &sends.emplace_back(MPI_REQUEST_NULL));
    }
    if (rc != MPI_SUCCESS) {  // the buffer will be gone
      for (MPI_Request& request : receives) {
        if (request != MPI_REQUEST_NULL) PMPI_Cancel(&request);
      }
    }
    receives.insert(receives.end(), sends.begin(), sends.end());
    const int done = PMPI_Waitall(static_cast<int>(receives.size()), receives.data(), MPI_STATUSES_IGNORE);
    return rc == MPI_SUCCESS ? done : rc;
  }

  [[nodiscard]] int send(Count bytes) {
    return PMPI_Send(send_.data(), static_cast<int>(bytes), MPI_BYTE, peer_, tag_, comm_);
  }
  /// Receives at most as many bytes as the largest message has. `*bytes`: so many have come.
  [[nodiscard]] int recv(Count* bytes) {
    MPI_Status status{};
    int count = 0;
    int rc = PMPI_Recv(recv_.data(), static_cast<int>(recv_.size()), MPI_BYTE, peer_, tag_, comm_, &status);
    if (rc == MPI_SUCCESS) rc = PMPI_Get_count(&status, MPI_BYTE, &count);
    *bytes = count;
    return rc;
  }
  /// There and back; `first`: this rank begins.
  [[nodiscard]] int ping_pong(Count bytes, bool first) {
    int rc = first ? send(bytes) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS) rc = recv(&bytes);
    return rc == MPI_SUCCESS && !first ? send(bytes) : rc;
  }

  /// So many messages there, all at once, and one back; `first`: this rank begins.
  [[nodiscard]] int burst(Count bytes, int count, bool first) {
    if (!first) {
      int rc = MPI_SUCCESS;
      for (int i = 0; i < count && rc == MPI_SUCCESS; ++i) rc = recv(&bytes);
      return rc == MPI_SUCCESS ? send(bytes) : rc;
    }
    std::vector<MPI_Request> requests(static_cast<std::size_t>(count), MPI_REQUEST_NULL);
    int rc = MPI_SUCCESS;
    for (MPI_Request& request : requests) {
      if (rc == MPI_SUCCESS)
        rc = PMPI_Isend(send_.data(), static_cast<int>(bytes), MPI_BYTE, peer_, tag_, comm_, &request);
    }
    const int sent = PMPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
    if (rc == MPI_SUCCESS) rc = sent;
    return rc == MPI_SUCCESS ? recv(&bytes) : rc;
  }

  /// The first byte of messages that this rank sends, and of the one that it has received last.
  void write_word(char word) { send_[0] = word; }
  [[nodiscard]] char read_word() const { return recv_[0]; }

 private:
  MPI_Comm comm_;
  int peer_, tag_;
  std::vector<char> send_, recv_;
};

}  // namespace circoll::mpi
