// The boundary of the C ABI: exceptions end here.
#pragma once

#include <exception>
#include <string>

#include "circoll/error.hpp"

namespace circoll::api {

/// The error of this thread, for circoll_last_error and circoll_last_mpi_error.
struct LastError {
  std::string text;
  int mpi_code = 0;
};
[[nodiscard]] LastError& last_error() noexcept;

/// Records a failure and gives its code. Never throws.
[[nodiscard]] int record(ErrorCode code, const char* what, int mpi_code = 0) noexcept;

/// Runs a function; gives CIRCOLL_OK or the code of the exception that left it.
template <typename Function>
[[nodiscard]] int error_code_of(Function&& function) noexcept {
  try {
    function();
    return 0;
  } catch (const Error& e) {
    return record(e.code(), e.what());
  } catch (const std::exception& e) {
    return record(ErrorCode::internal, e.what());
  } catch (...) {
    return record(ErrorCode::internal, "an unknown exception");
  }
}

}  // namespace circoll::api
