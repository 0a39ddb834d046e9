#include "exec/mpi/choices.hpp"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "circoll/error.hpp"
#include "exec/mpi/globals.hpp"

namespace circoll::mpi {
namespace {

struct Key {
  Collective collective;
  std::string text;
  const Policy* policy = nullptr;
  friend bool operator<(const Key& a, const Key& b) {
    return std::tie(a.collective, a.text, a.policy) < std::tie(b.collective, b.text, b.policy);
  }
};

/// Part of the executor's global state (globals.hpp); only ever grows, by distinct choices.
struct Registry {
  std::mutex mutex;
  std::map<Key, std::unique_ptr<const Interned>> all;
};

Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

Interned read(Collective collective, std::string_view text, const Policy* policy) {
  Interned interned{.collective = collective, .text = std::string(text)};
  if (policy != nullptr || text.empty() || text == "auto") {
    interned.text = policy != nullptr ? "" : "auto";
    interned.policy = policy != nullptr ? policy : &default_policy();
  } else if (text == "native") {
    interned.kind = Interned::Kind::native;
  } else {
    interned.kind = Interned::Kind::algorithm;
    interned.selection =
        text.find('/') == std::string_view::npos ? parse_selection(collective, text) : parse_selection(text);
    require(interned.selection.collective == collective, "the chosen algorithm is one of another collective");
  }
  return interned;
}

/// Whether an earlier choice for the same collective is this one.
bool same(const Interned& known, const Choice& choice) {
  if (choice.policy() != nullptr) return known.policy == choice.policy();
  const Selection* selection = choice.selection();
  if (selection == nullptr) return known.text == (choice.text().empty() ? "auto" : choice.text());
  return known.kind == Interned::Kind::algorithm && known.selection.algorithm == selection->algorithm &&
         known.selection.params == selection->params;
}

}  // namespace

const Interned* intern(Collective collective, const Choice& choice) {
  // A program's collectives take turns.
  CIRCOLL_THREAD_LOCAL std::array<const Interned*, all_collectives.size()> lasts;
  const Interned*& last = lasts[static_cast<std::size_t>(collective)];
  if (last != nullptr && same(*last, choice)) return last;
  const Selection* selection = choice.selection();
  require(selection == nullptr || selection->algorithm != nullptr, "the selection names no algorithm");
  const std::string text = selection != nullptr ? selection->text() : std::string(choice.text());
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  const Key key{collective, text, choice.policy()};
  auto& entry = known.all[key];
  try {
    if (entry == nullptr) entry = std::make_unique<const Interned>(read(collective, text, choice.policy()));
  } catch (...) {
    known.all.erase(key);
    throw;
  }
  last = entry.get();
  return last;
}

}  // namespace circoll::mpi
