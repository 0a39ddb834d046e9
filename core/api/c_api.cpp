// The part of the C ABI that needs no MPI.
#include <vector>

#include "api/c_errors.hpp"
#include "circoll/algorithm.hpp"
#include "circoll/circoll.h"

namespace circoll::api {
namespace {

const std::vector<std::string>& ids() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list;
    for (const Collective collective : all_collectives) {
      for (const Algorithm* algorithm : algorithms_of(collective)) list.push_back(algorithm->id(collective));
    }
    return list;
  }();
  return all;
}

}  // namespace

LastError& last_error() noexcept {
  thread_local LastError last;
  return last;
}

int record(ErrorCode code, const char* what, int mpi_code) noexcept {
  LastError& last = last_error();
  last.mpi_code = mpi_code;
  try {
    last.text = what;
  } catch (...) {
    last.text.clear();
  }
  return static_cast<int>(code);
}

}  // namespace circoll::api

extern "C" {

const char* circoll_version(void) { return CIRCOLL_VERSION_STRING; }

const char* circoll_error_string(int error) {
  switch (error) {
    case CIRCOLL_OK:
      return "no error";
    case CIRCOLL_INVALID_ARGUMENT:
      return "a value outside its documented range";
    case CIRCOLL_UNKNOWN_NAME:
      return "no collective, algorithm, type or operator has this name";
    case CIRCOLL_UNSUPPORTED:
      return "the algorithm's needs do not hold";
    case CIRCOLL_PARSE:
      return "text could not be read";
    case CIRCOLL_REFUTED:
      return "a schedule failed verification";
    case CIRCOLL_TRANSPORT:
      return "MPI reported an error";
    case CIRCOLL_INTERNAL:
      return "a broken invariant of the library";
    default:
      return "not an error code of circoll";
  }
}

const char* circoll_last_error(void) { return circoll::api::last_error().text.c_str(); }
int circoll_last_mpi_error(void) { return circoll::api::last_error().mpi_code; }

size_t circoll_algorithm_count(void) {
  size_t count = 0;
  const int rc = circoll::api::error_code_of([&] { count = circoll::api::ids().size(); });
  return rc == CIRCOLL_OK ? count : 0;
}

const char* circoll_algorithm_id(size_t index) {
  const char* id = nullptr;
  const int rc = circoll::api::error_code_of([&] {
    const auto& ids = circoll::api::ids();
    if (index < ids.size()) id = ids[index].c_str();
  });
  return rc == CIRCOLL_OK ? id : nullptr;
}

int circoll_check_id(const char* id) {
  return circoll::api::error_code_of([&] {
    circoll::require(id != nullptr, "the id is NULL");
    (void)circoll::parse_selection(id);
  });
}

}  // extern "C"
