// The pen that algorithms write schedules with.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "circoll/schedule.hpp"

namespace circoll {

/// An ordered list of ranges that a step reads or writes. Concatenation is `+`.
class Region {
 public:
  Region() = default;
  Region(Range range) { append(range); }  // NOLINT(google-explicit-constructor): a range is a region

  void append(Range range);          ///< adds a range behind the others
  void append(const Region& other);  ///< adds another region's ranges behind the others
  [[nodiscard]] std::span<const Range> ranges() const {
    return {overflow_.empty() ? inline_ : overflow_.data(), size_};
  }
  [[nodiscard]] bool empty() const { return size_ == 0; }  ///< true if there are no ranges
  [[nodiscard]] std::int64_t count() const;                ///< slots of all ranges together

  friend Region operator+(Region a, const Region& b) {
    a.append(b);
    return a;
  }

 private:
  std::size_t size_ = 0;
  Range inline_[2]{};
  std::vector<Range> overflow_;
};

/// An embedding lays a part, a schedule built on its own, into a larger one.
struct Embedding {
  /// Rank i of the part is rank ranks[i] here; if empty, ranks are the same.
  std::vector<Rank> ranks{};
  /// Block b of the part is block first_block + b * block_stride here (modulo the number of blocks).
  Block first_block = 0;
  std::int64_t block_stride = 1;  ///< between two blocks of the part; >= 1
  /// Places of the part's send and receive buffer here, with as many slots as the part's. Empty if not significant.
  Region send{};
  Region recv{};  ///< likewise for what the part receives
};

/// Writes one rank's schedule, step by step, in program order. It does not tell which collective it is for: an
/// algorithm that serves the regular and the irregular collective writes the same schedule for both.
///
/// Errors: misuse (ranges out of bounds, unequal lengths, peers outside the communicator) throws
/// Error(invalid_argument) at the call that commits it.
class Builder {
 public:
  Builder(std::string id, Collective collective, const Shape& shape);

  [[nodiscard]] const Shape& shape() const { return schedule_.shape; }  ///< as the constructor got it
  [[nodiscard]] Rank size() const { return schedule_.shape.size; }      ///< p >= 1
  [[nodiscard]] Rank rank() const { return schedule_.shape.rank; }      ///< the rank whose schedule this is
  [[nodiscard]] Rank root() const { return schedule_.shape.root; }      ///< 0 where the collective has no root
  /// Value of a parameter, or `fallback` if it was not given.
  [[nodiscard]] std::int64_t param(std::string_view name, std::int64_t fallback) const;

  /// Cuts every user block into `segments` parts. Comes before everything else, at most once. Default 1.
  void cut(std::int64_t segments);
  [[nodiscard]] Block blocks() const { return schedule_.blocks(); }           ///< user blocks times segments
  [[nodiscard]] std::int64_t segments() const { return schedule_.segments; }  ///< parts of every user block

  /// This rank's contribution, `count` slots from slot `first`, cyclic over the contribution; all of it by
  /// default. In place it lies in the receive buffer; the algorithm need not know.
  [[nodiscard]] Region input(Slot first, Slot count) const;
  [[nodiscard]] Region input() const;  ///< the whole contribution
  /// This rank's result, likewise. Empty at ranks that get none.
  [[nodiscard]] Region output(Slot first, Slot count) const;
  [[nodiscard]] Region output() const;                                            ///< the whole result
  [[nodiscard]] Slot input_slots() const { return contract_.input_count; }        ///< blocks of the contribution
  [[nodiscard]] Slot output_slots() const { return contract_.output_count; }      ///< blocks of the result
  [[nodiscard]] const CollectiveContract& contract() const { return contract_; }  ///< what MPI says of the buffers

  /// A new scratch buffer of `slots` slots: slot i holds block (first_block + i * stride) mod blocks.
  std::int32_t scratch(Slot slots, Block first_block, std::int64_t stride = 1);
  /// A new scratch buffer whose slots hold the listed blocks.
  std::int32_t scratch(std::vector<Block> blocks);
  /// A scratch buffer for the same blocks as `like`, slot by slot; stores no list where a progression says it.
  std::int32_t scratch_like(const Region& like);
  /// A second view of the memory of scratch buffer `of`, with other blocks. Writing through a view ends the others:
  /// their contents are lost. A step that writes waits for all users of the view before (so receives are throttled).
  std::int32_t view(std::int32_t of, Slot slots, Block first_block, std::int64_t stride = 1);
  std::int32_t view(std::int32_t of, std::vector<Block> blocks);
  std::int32_t view_like(std::int32_t of, const Region& like);  ///< as scratch_like
  /// All slots of a buffer, or some of them, cyclic.
  [[nodiscard]] Region region(std::int32_t buffer) const;
  [[nodiscard]] Region region(std::int32_t buffer, Slot first, Slot count) const;  ///< slots [first, first + count)
  /// The part [first, first + count) of a region, counted in blocks.
  [[nodiscard]] Region part(const Region& of, std::int64_t first, std::int64_t count) const;

  // Steps. Those of no blocks are dropped, except messages of a barrier. A copy onto itself is dropped.
  void send(Rank to, const Region& from);  ///< sends the blocks of a region, in its order
  void recv(Rank from, const Region& to);  ///< receives as many blocks as the region has
  void reduce(const Region& dst, const Region& left, const Region& right);  ///< dst = left op right, block by block
  /// dst = left op right as the message arrives: that is the left operand or the right one, in scratch.
  void recv_reduce(Rank from, const Region& dst, const Region& left, const Region& right, bool arrives_left);
  void copy(const Region& dst, const Region& src);  ///< dst = src, block by block; both hold the same blocks
  /// send and recv of one round, as MPI_Sendrecv.
  void sendrecv(Rank to, const Region& out, Rank from, const Region& in);
  /// The next steps belong to the next communication round. Every rank must call it equally often.
  void next_round();
  void next_round(std::uint32_t rounds);  ///< so many rounds at once
  /// `later` (a step number) waits for `earlier`, beyond what the ranges say.
  void edge(StepIndex earlier, StepIndex later);
  [[nodiscard]] StepIndex step_count() const { return static_cast<StepIndex>(schedule_.steps.size()); }
  [[nodiscard]] std::uint32_t round() const { return schedule_.rounds; }  ///< of the next step; from 0

  /// Appends a schedule that was built on its own, from the current round on. Afterwards the current round is the first
  /// one after the part. On a rank outside the subgroup, call next_round(part rounds) instead.
  void embed(const Schedule& part, const Embedding& where);

  /// Takes a finished schedule in place of steps. It is of the builder's collective, rank and root, and in place if the
  /// builder's shape is.
  void take(Schedule finished);

  /// The finished schedule; the builder is empty afterwards.
  [[nodiscard]] Schedule finish() &&;

 private:
  Operand store(const Region& region);
  std::int32_t add_buffer(Buffer buffer);
  [[nodiscard]] Buffer buffer_like(const Region& like) const;

  Schedule schedule_;
  CollectiveContract contract_;
};

/// The shape of a part of `outer`. It has the same size, rank, root and parameters unless changed afterwards, and is
/// not in place.
[[nodiscard]] Shape part_shape(const Builder& outer);

}  // namespace circoll
