#include "exec/mpi/message/mpi_channel.hpp"

#include <sched.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "circoll/error.hpp"
#include "exec/mpi/message/combine.hpp"

namespace circoll::mpi {
namespace {

bool is_truncation(int error) {
  int error_class = MPI_SUCCESS;
  return PMPI_Error_class(error, &error_class) == MPI_SUCCESS && error_class == MPI_ERR_TRUNCATE;
}

/// A cancelled receive ends whatever other processes do, as MPI promises. A message that has been matched may still
/// have to arrive. Nobody waits forever for a process that has died.
constexpr double patience_s = 0.5;
constexpr double patience_with_dead_s = 0.005;

/// MPI_Waitsome for one request. SMPI's own MPI_Waitsome asks by MPI_Test, which takes simulated time.
int wait_for_one(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  const int rc = PMPI_Waitany(count, requests, indices, statuses);
  *completed = rc == MPI_SUCCESS && *indices != MPI_UNDEFINED ? 1 : 0;
  return rc;
}

constexpr Count int_max = std::numeric_limits<int>::max();

void require_mpi(int rc, const char* what) {
  if (rc != MPI_SUCCESS) throw Error(ErrorCode::transport, what);
}

}  // namespace

MpiChannel::MpiChannel(const Plan& plan, const MessageTable& messages)
    : plan_(&plan),
      messages_(&messages),
      requests_(messages.most_requests(), MPI_REQUEST_NULL),
      under_way_(messages.most_requests()),
      ended_(messages.most_requests()),
      progress_(plan.steps.size()),
      indices_(messages.most_requests()),
      completed_(messages.most_requests()),
      statuses_(messages.most_requests()) {}

void MpiChannel::start(const Binding& binding) {
  binding_ = &binding;
  error_ = truncation_ = MPI_SUCCESS;
  leaves_parts_ = moved_ = false;
  active_ = 0;
}

bool MpiChannel::begin(StepIndex step) {
  const std::span<const MpiMessage> parts = (*messages_)[step];
  if (!is_receive(step) && parts.front().staging_bytes >= 0)
    fail(pack_pieces(*plan_, plan_->steps[step], *binding_, binding_->staging + parts.front().staging_bytes));
  progress_[step] = {};
  const std::size_t together = is_receive(step) ? MessageTable::most_receives : MessageTable::most_sends;
  for (std::size_t i = 0; i < std::min(parts.size(), together); ++i) {
    if (!begin_part(step)) return true;
  }
  return false;
}

bool MpiChannel::begin_part(StepIndex step) {
  const PlanStep& s = plan_->steps[step];
  const std::uint32_t number = progress_[step].begun++;
  const MpiMessage& part = (*messages_)[step][number];
  const Binding& binding = *binding_;
  char* const buffer = part.staging_bytes >= 0 ? reinterpret_cast<char*>(binding.staging) + part.staging_bytes
                                               : binding.address(part.area, part.offset_bytes);
  MPI_Datatype type = part.type == MPI_DATATYPE_NULL ? binding.elements.type : part.type;
  const Route& route = binding.route;
  MPI_Request& request = requests_[static_cast<std::size_t>(active_)];
  const int rc = s.kind == StepKind::send ? PMPI_Isend(buffer, part.count, type, route.rank(s.peer),
                                                       route.send_tag(s.peer, s.tag), route.comm, &request)
                                          : PMPI_Irecv(buffer, part.count, type, route.rank(s.peer),
                                                       route.receive_tag(s.tag), route.comm, &request);
  if (rc != MPI_SUCCESS) {
    fail(rc);
    return false;
  }
  under_way_[static_cast<std::size_t>(active_++)] = {.step = step, .number = number};
  return true;
}

/// The error among the completed messages that ends the execution, if there is one. A message that was longer than
/// expected has been received: the ranks described the amounts differently. The other ranks cannot know that. So all
/// messages must be matched, or the next call would meet those that are left. Parts of one can be left nevertheless.
int MpiChannel::first_error(int completed) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(completed, 0)); ++i) {
    const int error = statuses_[i].MPI_ERROR;
    if (error == MPI_SUCCESS || error == MPI_ERR_PENDING) continue;
    if (!is_truncation(error)) return error;
    truncation_ = error;
    const StepIndex step = under_way_[static_cast<std::size_t>(indices_[i])].step;
    leaves_parts_ = leaves_parts_ || messages_->rule().applies(plan_->steps[step].peer);
    // Open MPI leaves a request that has failed.
    MPI_Request& request = requests_[static_cast<std::size_t>(indices_[i])];
    if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);
    request = MPI_REQUEST_NULL;
  }
  return truncation_ != MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_IN_STATUS;
}

std::span<const StepIndex> MpiChannel::wait() { return poll_by(wait_for_one); }

std::span<const StepIndex> MpiChannel::poll_by(Completion some) {
  moved_ = false;
  if (active_ == 0) return {};
  int completed = 0;
  int rc = some(active_, requests_.data(), &completed, indices_.data(), statuses_.data());
  if (rc == MPI_ERR_IN_STATUS) rc = first_error(completed);
  if (rc != MPI_SUCCESS) {
    fail(rc);
    return {};
  }
  moved_ = completed != 0;
  return moved_ ? collect(static_cast<std::size_t>(completed)) : std::span<const StepIndex>{};
}

void MpiChannel::check_length(const MpiMessage& message, const MPI_Status& status) {
  int count = 0;
  PMPI_Get_count(&status, message.type == MPI_DATATYPE_NULL ? binding_->elements.type : message.type, &count);
  if (truncation_ == MPI_SUCCESS && count != message.count) truncation_ = MPI_ERR_OTHER;
}

std::span<const StepIndex> MpiChannel::collect(std::size_t completed) {
  for (std::size_t i = 0; i < completed; ++i) ended_[i] = under_way_[static_cast<std::size_t>(indices_[i])];
  // Close the gaps. Parts that begin now are added at the end.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(active_); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[kept] = requests_[i];
    under_way_[kept++] = under_way_[i];
  }
  active_ = static_cast<int>(kept);
  std::size_t steps = 0;
  for (std::size_t i = 0; i < completed; ++i) {
    const auto [step, number] = ended_[i];
    const std::span<const MpiMessage> parts = (*messages_)[step];
    if (binding_->exact && is_receive(step)) check_length(parts[number], statuses_[i]);
    if (progress_[step].begun < parts.size() && !begin_part(step)) return {};
    if (++progress_[step].ended < parts.size()) continue;
    end(step);
    completed_[steps++] = step;
  }
  return {completed_.data(), steps};
}

void MpiChannel::end(StepIndex step) {
  const PlanStep& s = plan_->steps[step];
  if (s.kind == StepKind::send) return;
  if (const Count staging = (*messages_)[step].front().staging_bytes; staging >= 0)
    fail(unpack_pieces(*plan_, s, *binding_, binding_->staging + staging));
  if (s.kind == StepKind::recv_reduce) fail(combine(*plan_, s, *binding_));
}

void MpiChannel::fail(int error) {
  if (error_ == MPI_SUCCESS) error_ = error;
}

void MpiChannel::give_up(Halt* halt, const IsDead* is_dead) {
  // The program gets its receive buffer back, so nothing may write there any more. Sends only read, and cannot be
  // cancelled.
  const auto active = static_cast<std::size_t>(active_);
  for (std::size_t i = 0; i < active; ++i) {
    if (requests_[i] != MPI_REQUEST_NULL && is_receive(under_way_[i].step)) PMPI_Cancel(&requests_[i]);
  }
  const double begin_s = PMPI_Wtime();
  for (std::size_t i = 0; i < active; ++i) {
    const StepIndex step = under_way_[i].step;
    if (halt != nullptr) halt->ended[step] = false;
    if (!is_receive(step)) continue;
    const bool dead = is_dead != nullptr && (*is_dead)(binding_->route.rank(plan_->steps[step].peer));
    int cancelled = 0;
    while (requests_[i] != MPI_REQUEST_NULL) {
      int completed = 0;
      MPI_Status status;
      if (PMPI_Test(&requests_[i], &completed, &status) != MPI_SUCCESS) requests_[i] = MPI_REQUEST_NULL;
      if (completed != 0) PMPI_Test_cancelled(&status, &cancelled);
      if (completed == 0 && PMPI_Wtime() - begin_s > (dead ? patience_with_dead_s : patience_s)) break;
      if (completed == 0) sched_yield();
    }
    // A message through staging memory has not been unpacked.
    const bool written = cancelled == 0 || progress_[step].ended > 0;
    if (halt != nullptr && written && (*messages_)[step].front().staging_bytes < 0) halt->torn[step] = true;
  }
}

std::vector<MPI_Request> MpiChannel::take_abandoned() {
  std::vector<MPI_Request> left;
  for (std::size_t i = 0; i < static_cast<std::size_t>(active_); ++i) {
    if (requests_[i] != MPI_REQUEST_NULL) left.push_back(requests_[i]);
  }
  active_ = 0;
  return left;
}

std::size_t MpiChannel::memory_bytes() const {
  return requests_.size() *
             (sizeof(MPI_Request) + sizeof(MPI_Status) + sizeof(int) + 2 * sizeof(PartOf) + sizeof(StepIndex)) +
         progress_.size() * sizeof(PartCounts);
}

/// Says which messages of a plan are cut. Those between ranks that have too many for a tag each are not.
class MessageTable::Cutter {
 public:
  Cutter(const Plan& plan, const PartsRule& rule) : rule_(rule) {
    if (rule.bytes == 0) return;
    for (const PlanStep& step : plan.steps) {
      if (is_message(step.kind)) ++messages_[{step.peer, step.kind == StepKind::send}];
    }
  }
  /// The length of a message's parts, up to which it is not cut. A message has `most_parts` at most, and the last one.
  [[nodiscard]] Count part_bytes(const PlanStep& step, Count bytes) const {
    constexpr Count whole = std::numeric_limits<Count>::max(), most_parts = 65536;
    if (bytes < rule_.bytes || !rule_.applies(step.peer)) return whole;
    if (messages_.at({step.peer, step.kind == StepKind::send}) > rule_.most_messages) return whole;
    return std::max(rule_.bytes, bytes / most_parts);
  }

 private:
  const PartsRule& rule_;
  std::map<std::pair<Rank, bool>, std::uint32_t> messages_;  // by peer and direction
};

MessageTable::MessageTable(const Plan& plan, MPI_Datatype type, const TypeInfo& info, const PartsRule& parts)
    : type_(type),
      info_(info),
      typed_(type != MPI_BYTE),
      extent_bytes_(plan.extent_bytes),
      unit_bytes_(typed_ ? info.size_bytes : plan.extent_bytes),
      rule_(parts) {
  const Cutter cutter(plan, parts);
  first_.reserve(plan.steps.size() + 1);
  for (const PlanStep& step : plan.steps) {
    first_.push_back(static_cast<std::uint32_t>(parts_.size()));
    if (!is_message(step.kind)) continue;
    add(plan, step, cutter);
    most_requests_ += std::min(parts_.size() - first_.back(), step.kind == StepKind::send ? most_sends : most_receives);
  }
  first_.push_back(static_cast<std::uint32_t>(parts_.size()));
  parts_.shrink_to_fit();
}

MessageTable::~MessageTable() {
  for (MpiMessage& message : parts_) {
    if (message.owned) PMPI_Type_free(&message.type);
  }
}

void MessageTable::add(const Plan& plan, const PlanStep& step, const Cutter& cutter) {
  const std::span<const Piece> pieces = plan.pieces_of(step);
  if (pieces.empty()) {  // of a barrier, or the answer of a window
    parts_.push_back({.type = MPI_BYTE});
    return;
  }
  const Count bytes = step.elements * unit_bytes_;
  // Both ends have elements with gaps, or none has.
  const Count part_bytes = cutter.part_bytes(step, bytes);
  const Count part_units = typed_ ? std::max(part_bytes / unit_bytes_, Count{1}) : part_bytes;
  const bool one_area =
      std::all_of(pieces.begin(), pieces.end(), [&](const Piece& p) { return p.area == pieces[0].area; });
  const bool direct = pieces.size() == 1 || (one_area && bytes > pack_limit_bytes);
  if (!direct) return add_staged(bytes, bytes < part_bytes || !typed_ ? part_bytes : part_units * unit_bytes_);
  std::vector<Stretch> stretches;
  stretches.reserve(pieces.size());
  for (const Piece& piece : pieces)
    stretches.push_back({piece.area, piece.offset_bytes, typed_ ? piece.elements : piece.elements * extent_bytes_});
  if (bytes < part_bytes) {
    parts_.push_back(message_of(stretches));
  } else {
    add_parts(stretches, part_units);
  }
}

void MessageTable::add_staged(Count bytes, Count part_bytes) {
  constexpr Count alignment = 64;
  for (Count at = 0; at <= bytes; at += part_bytes) {
    const Count part = std::min(part_bytes, bytes - at);
    MpiMessage& message = parts_.emplace_back();
    message.staging_bytes = staging_bytes_ + at;
    message.type = MPI_BYTE;
    message.count = static_cast<int>(part);
    if (part > int_max) {
      message.type = MPI_DATATYPE_NULL;
      require_mpi(make_contiguous(part, MPI_BYTE, 1, &message.type),
                  "a datatype for a large message could not be made");
      message.count = 1;
      message.owned = true;
    }
    if (part < part_bytes) break;
  }
  staging_bytes_ += (bytes + alignment - 1) / alignment * alignment;
}

void MessageTable::add_parts(std::span<const Stretch> stretches, Count part_units) {
  std::vector<Stretch> part;
  Count room = part_units;
  for (Stretch rest : stretches) {
    while (rest.units > 0) {
      const Count taken = std::min(rest.units, room);
      part.push_back({rest.area, rest.offset_bytes, taken});
      rest.offset_bytes += taken * (typed_ ? extent_bytes_ : 1);
      rest.units -= taken;
      room -= taken;
      if (room > 0) continue;
      parts_.push_back(message_of(part));
      part.clear();
      room = part_units;
    }
  }
  parts_.push_back(message_of(part));
}

MpiMessage MessageTable::message_of(std::span<const Stretch> stretches) const {
  if (stretches.empty()) return {.type = MPI_BYTE};
  return stretches.size() == 1 ? single(stretches.front()) : indexed(stretches);
}

MpiMessage MessageTable::single(const Stretch& stretch) const {
  MpiMessage message{.area = stretch.area, .offset_bytes = stretch.offset_bytes};
  if (stretch.units <= int_max) {
    message.type = typed_ ? MPI_DATATYPE_NULL : MPI_BYTE;
    message.count = static_cast<int>(stretch.units);
    return message;
  }
  require_mpi(make_contiguous(stretch.units, type_, typed_ ? extent_bytes_ : 1, &message.type),
              "a datatype for a large message could not be made");
  message.count = 1;
  message.owned = true;
  return message;
}

MpiMessage MessageTable::indexed(std::span<const Stretch> stretches) const {
  MpiMessage message{.count = 1, .area = stretches[0].area};
  // A struct rather than an indexed type: its parts may be chunked types of their own, beyond int.
  std::vector<int> lengths;
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Datatype> made;
  bool all_plain = true;
  for (const Stretch& stretch : stretches) {
    displacements.push_back(static_cast<MPI_Aint>(stretch.offset_bytes));
    if (stretch.units <= int_max) {
      lengths.push_back(static_cast<int>(stretch.units));
      types.push_back(type_);
      continue;
    }
    all_plain = false;
    MPI_Datatype chunked = MPI_DATATYPE_NULL;
    require_mpi(make_contiguous(stretch.units, type_, typed_ ? extent_bytes_ : 1, &chunked),
                "a datatype for a large message could not be made");
    made.push_back(chunked);
    lengths.push_back(1);
    types.push_back(chunked);
  }
  const int n = static_cast<int>(stretches.size());
  int rc = all_plain ? PMPI_Type_create_hindexed(n, lengths.data(), displacements.data(), type_, &message.type)
                     : PMPI_Type_create_struct(n, lengths.data(), displacements.data(), types.data(), &message.type);
  for (MPI_Datatype& part : made) PMPI_Type_free(&part);
  if (rc == MPI_SUCCESS) rc = PMPI_Type_commit(&message.type);
  require_mpi(rc, "an indexed datatype could not be made");
  message.owned = true;
  return message;
}

}  // namespace circoll::mpi
