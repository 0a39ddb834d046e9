// Calls that were made before, ready to run again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "circoll/buffers.hpp"
#include "exec/local/execution.hpp"
#include "plan/count_prologue.hpp"

namespace circoll::local {

/// Everything that a rank's plan depends on. Refers to the caller's arrays.
struct Signature {
  Collective collective = Collective::barrier;
  Choice choice{};
  OperatorTraits op{};
  bool exact_op = true;
  bool predefined_op = true;
  /// gatherv, scatterv and alltoallv: the prologue, which depends on no counts.
  bool prologue = false;
  bool in_place = false;
  Rank root = 0;
  Count element_bytes = 1;
  Count count = 0;
  std::span<const Count> counts{};
  std::span<const Count> displs{};
  /// alltoallv. After a prologue `counts` are those of its known blocks, and send_counts is empty.
  std::span<const Count> send_counts{};
  std::span<const Count> send_displs{};

  [[nodiscard]] std::size_t hash() const;
};

/// A signature with its plan.
class BoundCall {
 public:
  explicit BoundCall(const Signature& signature);

  [[nodiscard]] bool matches(const Signature& s) const;
  [[nodiscard]] std::size_t memory_bytes() const;

  Schedule schedule;
  std::unique_ptr<CountPrologue> prologue;  ///< of a prologue, unless the algorithm needs none
  std::unique_ptr<Execution> execution;
  std::uint64_t last_use = 0;

 private:
  // The signature, with copies of what it referred to.
  Signature signature_;
  std::string text_;
  Selection selection_;
  std::vector<Count> counts_;
  std::vector<Count> displs_;
  std::vector<Count> send_counts_;
  std::vector<Count> send_displs_;
};

/// One rank's plans by signature; bounded in bytes (or one plan, if that is larger), the least recently used go first.
/// Finding allocates nothing.
class PlanCache {
 public:
  explicit PlanCache(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// nullptr if there is none.
  [[nodiscard]] std::shared_ptr<BoundCall> find(const Signature& signature);
  void insert(const Signature& signature, std::shared_ptr<BoundCall> call);

 private:
  void make_room(std::size_t bytes);

  std::size_t limit_bytes_;
  std::size_t bytes_ = 0;
  std::uint64_t clock_ = 0;
  std::unordered_multimap<std::size_t, std::shared_ptr<BoundCall>> calls_;
};

}  // namespace circoll::local
