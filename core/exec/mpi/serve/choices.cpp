#include "exec/mpi/serve/choices.hpp"

#include "exec/mpi/library/library.hpp"

namespace circoll::mpi {
namespace {

/// Part of the executor's global state (HACKING.md).
prepare::Choices& choices() {
  static auto* const instance = new prepare::Choices;
  return *instance;
}

}  // namespace

const InternedChoice* intern(Collective collective, const Choice& choice) {
  CIRCOLL_THREAD_LOCAL prepare::LastChoices last{};
  return choices().intern(collective, choice, last);
}

}  // namespace circoll::mpi
