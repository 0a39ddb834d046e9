// Misuse of the library throws Error with a code; broken invariants throw it with ErrorCode::internal.
#pragma once

#include <stdexcept>
#include <string>

namespace circoll {

/// The code of an error. The C ABI returns the same numbers (circoll.h).
enum class ErrorCode : int {
  ok = 0,
  invalid_argument = 1,  ///< a value outside its documented range
  unknown_name = 2,      ///< no collective, algorithm, type or operator has this name
  unsupported = 3,       ///< the algorithm's needs do not hold (operator, p, parameters)
  parse = 4,             ///< text, JSON or an environment value could not be read
  refuted = 5,           ///< a schedule failed verification
  transport = 6,         ///< the message layer (MPI, fabric) reported an error
  internal = 7,          ///< a broken invariant of the library itself
};

/// Thrown by every function of the library on misuse. what() is a full sentence.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& what) : std::runtime_error(what), code_(code) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// Checks an invariant of the library; throws ErrorCode::internal with `what` if it does not hold.
inline void check(bool holds, const char* what) {
  if (!holds) throw Error(ErrorCode::internal, what);
}

/// Checks a caller's argument; throws ErrorCode::invalid_argument with `what` if it does not hold.
inline void require(bool holds, const char* what) {
  if (!holds) throw Error(ErrorCode::invalid_argument, what);
}

}  // namespace circoll
