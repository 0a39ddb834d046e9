// The channel of MPI's nonblocking point-to-point messages, and the messages of a plan as MPI sees them.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "circoll/plan.hpp"
#include "exec/mpi/call/datatype.hpp"
#include "exec/mpi/message/channel.hpp"

namespace circoll::mpi {

/// The message of one step as MPI gets it, or a part of it.
struct MpiMessage {
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< MPI_DATATYPE_NULL: the element type of the call
  int count = 0;
  bool owned = false;  ///< `type` was made for this plan
  Area area = Area::send;
  Count offset_bytes = 0;    ///< in `area`
  Count staging_bytes = -1;  ///< if not negative: it lies at this offset of the staging memory, with the pieces packed
};

/// The messages that go in parts (docs/adr/0050-long-messages-go-in-parts.md). Both ends have the same rule.
struct PartsRule {
  Count bytes = 0;                             ///< of all parts but the last; 0: no message goes in parts
  const std::vector<Rank>* node_of = nullptr;  ///< messages inside a node do not; nothing: all ranks have their own
  Rank rank = 0;                               ///< whose plan it is
  /// Messages from one rank to another that have a tag each, in every execution. Where there are more, none is cut:
  /// the parts of two messages must not mix.
  std::uint32_t most_messages = 1;

  /// True if messages from or to a rank may be cut.
  [[nodiscard]] bool applies(Rank peer) const {
    const auto node = [&](Rank r) { return (*node_of)[static_cast<std::size_t>(r)]; };
    return bytes > 0 && (node_of == nullptr || node(peer) != node(rank));
  }
};

/// The messages of a plan, step by step. Each is
///   one piece                      straight from memory
///   several pieces, small          packed into staging memory; also if they lie in several areas
///   several pieces, large          an indexed datatype
///   beyond 2^31 - 1 elements       a datatype of chunks
/// A message in parts is cut at the same bytes at both ends, between elements. The last part is shorter than the
/// others, and may be empty, so that a receiver who expects less gets an error.
class MessageTable {
 public:
  /// Several pieces of at most this many bytes together are packed by us: cheaper than MPI's datatype engine.
  static constexpr Count pack_limit_bytes = 16 << 10;
  /// Parts of one message that are under way at the same time. There are more receives, so that parts find one.
  static constexpr std::size_t most_sends = 8, most_receives = 16;

  /// Pieces are bytes if `type` is MPI_BYTE, else elements of `type`. Throws Error(transport) if MPI refuses.
  MessageTable(const Plan& plan, MPI_Datatype type, const TypeInfo& info, const PartsRule& parts = {});
  ~MessageTable();
  MessageTable(const MessageTable&) = delete;
  MessageTable& operator=(const MessageTable&) = delete;

  /// The parts of a step's message, in order. One, if it is not cut.
  [[nodiscard]] std::span<const MpiMessage> operator[](StepIndex step) const {
    return std::span(parts_).subspan(first_[step], first_[step + 1] - first_[step]);
  }
  [[nodiscard]] const PartsRule& rule() const { return rule_; }
  /// MPI messages that may be under way at the same time.
  [[nodiscard]] std::size_t most_requests() const { return most_requests_; }
  [[nodiscard]] Count staging_bytes() const { return staging_bytes_; }
  [[nodiscard]] std::size_t memory_bytes() const {
    return parts_.size() * sizeof(MpiMessage) + first_.size() * sizeof(std::uint32_t);
  }

 private:
  /// Memory of a message: `units` bytes, or elements of a type with gaps.
  struct Stretch {
    Area area = Area::send;
    Count offset_bytes = 0;
    Count units = 0;
  };
  class Cutter;

  void add(const Plan& plan, const PlanStep& step, const Cutter& cutter);
  /// `part_bytes`: of all parts but the last.
  void add_staged(Count bytes, Count part_bytes);
  void add_parts(std::span<const Stretch> stretches, Count part_units);
  [[nodiscard]] MpiMessage message_of(std::span<const Stretch> stretches) const;
  [[nodiscard]] MpiMessage single(const Stretch& stretch) const;
  [[nodiscard]] MpiMessage indexed(std::span<const Stretch> stretches) const;

  MPI_Datatype type_;
  TypeInfo info_;
  bool typed_;
  Count extent_bytes_;
  Count unit_bytes_;  // packed bytes of a plan element
  PartsRule rule_;
  Count staging_bytes_ = 0;
  std::size_t most_requests_ = 0;
  std::vector<MpiMessage> parts_;
  std::vector<std::uint32_t> first_;  // of each step, into parts_; one more at the end
};

/// Messages by MPI_Isend and MPI_Irecv. Allocates in the constructor only.
class MpiChannel final : public Channel {
 public:
  MpiChannel(const Plan& plan, const MessageTable& messages);

  void start(const Binding& binding) override;
  bool begin(StepIndex step) override;
  [[nodiscard]] std::span<const StepIndex> poll() override { return poll_by(PMPI_Testsome); }
  /// True if the last poll has found something, if only a part of a message.
  [[nodiscard]] bool moved() const { return moved_; }
  /// poll() that waits inside MPI for one message at least, if one is under way.
  [[nodiscard]] std::span<const StepIndex> wait();
  [[nodiscard]] int error() const override { return error_; }
  [[nodiscard]] int truncation() const override { return truncation_; }
  /// True if a message was longer than expected, so that parts of it may be left behind.
  [[nodiscard]] bool leaves_parts() const { return leaves_parts_; }
  void abandon() noexcept override { give_up(nullptr, nullptr); }
  void halt(Halt& halt, const IsDead& is_dead) override { give_up(&halt, &is_dead); }
  void add_awaited(std::vector<StepIndex>& steps) const override {
    for (std::size_t i = 0; i < static_cast<std::size_t>(active_); ++i) steps.push_back(under_way_[i].step);
  }
  /// After an error: the messages that were given up and are not complete. MPI may still use the memory of the
  /// execution for them. Allocates.
  [[nodiscard]] std::vector<MPI_Request> take_abandoned();
  [[nodiscard]] std::size_t memory_bytes() const;
  /// True if messages are under way, so that each poll() asks MPI.
  [[nodiscard]] bool active() const { return active_ > 0; }

 private:
  /// The type of MPI_Testsome and MPI_Waitsome.
  using Completion = int (*)(int, MPI_Request*, int*, int*, MPI_Status*);
  [[nodiscard]] std::span<const StepIndex> poll_by(Completion some);
  [[nodiscard]] int first_error(int completed);
  void give_up(Halt* halt, const IsDead* is_dead);
  [[nodiscard]] std::span<const StepIndex> collect(std::size_t completed);
  /// Begins the next part of a step's message. False: MPI has refused.
  bool begin_part(StepIndex step);
  /// Unpacks and combines a received message, all of which is there.
  void end(StepIndex step);
  void check_length(const MpiMessage& message, const MPI_Status& status);
  void fail(int error);
  [[nodiscard]] bool is_receive(StepIndex step) const { return plan_->steps[step].kind != StepKind::send; }

  const Plan* plan_;
  const MessageTable* messages_;
  const Binding* binding_ = nullptr;
  int error_ = MPI_SUCCESS;
  int truncation_ = MPI_SUCCESS;
  bool leaves_parts_ = false;
  bool moved_ = false;
  int active_ = 0;
  /// The number of a part of a step's message.
  struct PartOf {
    StepIndex step = 0;
    std::uint32_t number = 0;
  };
  /// The parts of a step's message that have begun and ended.
  struct PartCounts {
    std::uint32_t begun = 0, ended = 0;
  };

  std::vector<MPI_Request> requests_;  // [0, active_) are under way
  std::vector<PartOf> under_way_;      // of the request at the same place
  std::vector<PartOf> ended_;          // by the last poll
  std::vector<PartCounts> progress_;   // by steps
  std::vector<int> indices_;
  std::vector<StepIndex> completed_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace circoll::mpi
