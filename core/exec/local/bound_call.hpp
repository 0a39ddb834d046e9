// A prepared call with the execution that runs it in one process.
#pragma once

#include <memory>

#include "exec/local/execution.hpp"
#include "prepare/plan_cache.hpp"
#include "prepare/prepared_call.hpp"

namespace circoll::local {

/// One rank's preparation of one signature. It is executed once at a time.
class BoundCall : public prepare::PreparedCall {
 public:
  /// Throws as PreparedCall, and Error(unsupported) if nothing serves the call: there is no native collective here.
  BoundCall(const prepare::Signature& signature, std::uint64_t hash, const Placement& placement)
      : PreparedCall(signature, hash, placement) {
    if (!native_reason().empty()) throw Error(ErrorCode::unsupported, native_reason());
    if (has_plan()) execution_ = std::make_unique<Execution>(plan());
    bytes_ = sizeof(BoundCall) + prepared_bytes() + (execution_ != nullptr ? execution_->memory_bytes() : 0);
  }

  void enter_cache(prepare::CacheAccount& account) {
    account_ = &account;
    account.bytes += bytes_;
  }
  void leave_cache() {
    if (account_ != nullptr) account_->bytes -= bytes_;
    account_ = nullptr;
  }

  /// The execution, if has_plan().
  [[nodiscard]] Execution& execution() { return *execution_; }

 private:
  std::unique_ptr<Execution> execution_;
  std::size_t bytes_ = 0;
  prepare::CacheAccount* account_ = nullptr;
};

}  // namespace circoll::local
