#include "wrappers/check/check_messages.hpp"

#include <cstring>

namespace circoll::interpose {
namespace {

constexpr int packet_tag = 0;
constexpr int most_at_once = 64;

}  // namespace

void CheckMessages::send(int world_rank, const CheckPacket& packet, std::string_view rest) {
  Sent& made = sent_.emplace_back();
  made.bytes.reserve(sizeof packet + rest.size());
  made.bytes.append(reinterpret_cast<const char*>(&packet), sizeof packet);
  made.bytes += rest;
  PMPI_Isend(made.bytes.data(), static_cast<int>(made.bytes.size()), MPI_BYTE, world_rank, packet_tag, comm_,
             &made.request);
  (void)all_sent();
}

bool CheckMessages::all_sent() {
  for (auto it = sent_.begin(); it != sent_.end();) {
    int done = 0;
    PMPI_Test(&it->request, &done, MPI_STATUS_IGNORE);
    it = done != 0 ? sent_.erase(it) : std::next(it);
  }
  return sent_.empty();
}

void CheckMessages::receive(const std::function<void(const CheckPacket& packet, std::string_view rest)>& consume) {
  for (int i = 0; i < most_at_once; ++i) {
    int there = 0, length = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (PMPI_Improbe(MPI_ANY_SOURCE, packet_tag, comm_, &there, &message, &status) != MPI_SUCCESS || there == 0) break;
    PMPI_Get_count(&status, MPI_BYTE, &length);
    received_.resize(static_cast<std::size_t>(length));
    if (PMPI_Mrecv(received_.data(), length, MPI_BYTE, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
    CheckPacket packet;
    if (received_.size() < sizeof packet) continue;
    std::memcpy(&packet, received_.data(), sizeof packet);
    consume(packet, std::string_view(received_).substr(sizeof packet));
  }
  if (!sent_.empty()) (void)all_sent();
}

void CheckMessages::close() {
  if (comm_ != MPI_COMM_NULL) PMPI_Comm_free(&comm_);
}

}  // namespace circoll::interpose
