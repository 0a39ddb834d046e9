#include "wrappers/check/check_comm.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "interpose/setup.hpp"

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

CheckedComm::CheckedComm(MPI_Comm comm, CheckShared& shared, std::vector<Rank> world_ranks)
    : handle_(comm), shared_(shared), world_ranks_(std::move(world_ranks)) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  rank_ = rank;
}

DescribedComm CheckedComm::described() const {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  if (!is_freed()) PMPI_Comm_get_name(handle_, name.data(), &length);
  return {.name = {name.data(), static_cast<std::size_t>(length)}, .world_ranks = world_ranks_};
}

template <typename Visit>
void CheckedComm::visit_below(Visit&& visit) const {
  for (Rank bit = 1; bit < size() && (rank_ & bit) == 0; bit *= 2) {
    if (rank_ + bit < size()) visit(rank_ + bit);
  }
}

int CheckedComm::ranks_below() const {
  int number = 0;
  visit_below([&](Rank) { ++number; });
  return number;
}

std::shared_ptr<CheckedCall> CheckedComm::call(std::uint64_t number) {
  std::shared_ptr<CheckedCall>& found = calls_[number];
  if (found == nullptr) {
    found = std::make_shared<CheckedCall>();
    found->number = number;
  }
  return found;
}

void CheckedComm::send(Rank to, CheckPacket::Kind kind, const CheckedCall& call, std::string_view rest) {
  shared_.messages.send(static_cast<int>(world_ranks_[static_cast<std::size_t>(to)]),
                        {.kind = kind,
                         .comm = *id_,
                         .number = call.number,
                         .from = rank_,
                         .most = call.most,
                         .least = call.least,
                         .balance = call.balance},
                        rest);
}

std::shared_ptr<CheckedCall> CheckedComm::begin(CheckRecord record, bool waited_for) {
  const std::uint64_t hash = record.hash();
  std::shared_ptr<CheckedCall> made = call(next_++);
  made->most = std::max(made->most, hash);
  made->least = std::max(made->least, ~hash);
  made->balance += record.balance();
  made->record.emplace(std::move(record));
  made->waited_for = waited_for;
  ++outstanding_;
  ++shared_.outstanding;
  step(*made);
  return made;
}

void CheckedComm::open(std::uint64_t id) {
  id_ = id;
  if (refused_ != 0) return refuse_from(refused_);
  const auto calls = calls_;
  for (const auto& [number, call] : calls) step(*call);
}

void CheckedComm::refuse_from(std::uint64_t number) {
  if (number >= end_) return;
  if (!id_) {
    if (refused_ == 0) refused_ = number;
    return;
  }
  CheckedCall refused;
  refused.number = number;
  for (Rank other = 0; other < size(); ++other) {
    if (other != rank_) send(other, CheckPacket::Kind::refused, refused);
  }
  end_at(number);
}

/// Of a call that this rank has made.
void CheckedComm::step(CheckedCall& call) {
  if (!id_ || !call.record || call.arrived < ranks_below()) return;
  if (rank_ == 0) {
    pass_on(call);
  } else {
    send(rank_ & (rank_ - 1), CheckPacket::Kind::up, call);
  }
}

/// Passes on the result of all ranks, which this rank knows.
void CheckedComm::pass_on(CheckedCall& call) {
  visit_below([&](Rank below) { send(below, CheckPacket::Kind::down, call); });
  if (call.most == ~call.least && call.balance == 0) return finish(call, false);
  end_at(call.number + 1);
  describe(call);
}

void CheckedComm::describe(CheckedCall& call) {
  DescribedCall described = call.record->described();
  if (rank_ == 0) {
    call.described.resize(world_ranks_.size());
    add_description(call, 0, std::move(described));
  } else {
    send(0, CheckPacket::Kind::call, call, described.serialised());
  }
}

void CheckedComm::add_description(CheckedCall& call, Rank from, DescribedCall described) {
  call.described[static_cast<std::size_t>(from)] = std::move(described);
  if (++call.descriptions < call.described.size()) return;
  say_and_wait(mismatch_text(this->described(), call.number, call.described));
  for (Rank other = 1; other < size(); ++other) send(other, CheckPacket::Kind::told, call);
  finish(call, true);
}

void CheckedComm::take(const CheckPacket& packet, std::string_view rest) {
  if (packet.kind == CheckPacket::Kind::refused) return end_at(packet.number);
  // A call that this rank does not know has been dropped, unless this rank has still to make it.
  const bool up = packet.kind == CheckPacket::Kind::up;
  if (up ? packet.number >= end_ : calls_.find(packet.number) == calls_.end()) return;
  const std::shared_ptr<CheckedCall> about = call(packet.number);
  switch (packet.kind) {
    case CheckPacket::Kind::up:
      ++about->arrived;
      about->most = std::max(about->most, packet.most);
      about->least = std::max(about->least, packet.least);
      about->balance += packet.balance;
      return step(*about);
    case CheckPacket::Kind::down:
      about->most = packet.most;
      about->least = packet.least;
      about->balance = packet.balance;
      return pass_on(*about);
    case CheckPacket::Kind::call:
      return add_description(*about, packet.from, DescribedCall::from(rest));
    case CheckPacket::Kind::told:
      return finish(*about, true);
    case CheckPacket::Kind::refused:
      return;
  }
}

void CheckedComm::end_at(std::uint64_t number) {
  end_ = std::min(end_, number);
  std::vector<std::shared_ptr<CheckedCall>> dropped;
  for (auto it = calls_.lower_bound(end_); it != calls_.end(); ++it) dropped.push_back(it->second);
  for (const auto& one : dropped) finish(*one, false);
}

void CheckedComm::finish(CheckedCall& call, bool differs) {
  const auto found = calls_.find(call.number);
  if (found == calls_.end()) return;
  const std::shared_ptr<CheckedCall> last = std::move(found->second);  // the argument may be its
  calls_.erase(found);
  if (call.record) {
    --outstanding_;
    --shared_.outstanding;
  }
  call.differs = differs;
  if (differs && !call.waited_for) shared_.failed.push_back(handle_);
  call.over.store(true, std::memory_order_release);
}

}  // namespace circoll::interpose
