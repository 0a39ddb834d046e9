// The chain of the wrappers that are built (CIRCOLL_WRAPPERS). CMake defines CIRCOLL_HAS_<WRAPPER> for each.
#include "facts/environment.hpp"
#include "wrappers/wrappers.hpp"

namespace circoll::interpose {
namespace {

/// Says that a wrapper is asked for, which this drop-in does not have.
[[maybe_unused]] void warn_without(const Wish& wish, const char* variable, bool asked) {
  if (!asked) return;
  wish.warn(std::string(variable) + ": the drop-in was built without this wrapper (CMake option CIRCOLL_WRAPPERS)");
}

}  // namespace

std::string match_setting() {
  if (auto value = environment("CIRCOLL_MATCH")) return *value;
  return environment("CIRCOLL_CHECK").value_or("0");
}

std::unique_ptr<Serving> wrap(const Wish& wish) {
  std::unique_ptr<Serving> chain;
  if (environment("CIRCOLL_CHECK")) {
    wish.warn("CIRCOLL_CHECK is called CIRCOLL_MATCH now; the old name works for 0.3");
  }
#ifdef CIRCOLL_HAS_SURVIVE
  chain = wrap_in_survival(wish, std::move(chain));
#else
  warn_without(wish, "CIRCOLL_FAULTS", environment("CIRCOLL_FAULTS").value_or("off") != "off");
#endif
#ifdef CIRCOLL_HAS_LEARN
  chain = wrap_in_learning(wish, std::move(chain));
#else
  if (wish.learns == Learns::always)
    wish.warn("nothing is learned: the drop-in was built without this wrapper (CMake option CIRCOLL_WRAPPERS)");
#endif
#ifdef CIRCOLL_HAS_BITS
  chain = wrap_in_bits_record(wish, std::move(chain));
#else
  warn_without(wish, "CIRCOLL_BITS_RECORD", environment("CIRCOLL_BITS_RECORD").has_value());
#endif
  // The first: a call that no two ranks make alike must not be begun.
#ifdef CIRCOLL_HAS_CHECK
  chain = wrap_in_check(wish, std::move(chain));
#else
  warn_without(wish, "CIRCOLL_MATCH", match_setting() != "0");
#endif
  return chain;
}

}  // namespace circoll::interpose
