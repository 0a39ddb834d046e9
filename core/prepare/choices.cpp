#include "prepare/choices.hpp"

#include "circoll/error.hpp"
#include "schedule/registry.hpp"

namespace circoll::prepare {
namespace {

/// A selection is taken as it is: its algorithm may be none of the registry.
InternedChoice take(Collective collective, const Selection& selection) {
  require(selection.collective == collective, "the chosen algorithm is one of another collective");
  return {.kind = InternedChoice::Kind::algorithm,
          .collective = collective,
          .text = selection.text(),
          .selection = selection};
}

InternedChoice read(Collective collective, std::string_view text, const Policy* policy) {
  InternedChoice interned{.collective = collective, .text = std::string(text)};
  if (policy != nullptr || text.empty() || text == "auto") {
    interned.text = policy != nullptr ? "" : "auto";
    interned.policy = policy != nullptr ? policy : &default_policy();
  } else if (text == "native") {
    interned.kind = InternedChoice::Kind::native;
  } else {
    interned.kind = InternedChoice::Kind::algorithm;
    const bool whole = text.find('/') != std::string_view::npos && !text.starts_with(file_prefix);
    interned.selection = whole ? parse_selection(text) : parse_selection(collective, text);
    require(interned.selection.collective == collective, "the chosen algorithm is one of another collective");
  }
  return interned;
}

/// True if an earlier choice for the same collective is this one.
bool same(const InternedChoice& known, const Choice& choice, Sums sums) {
  if (known.sums != sums) return false;
  if (choice.policy() != nullptr) return known.policy == choice.policy();
  const Selection* selection = choice.selection();
  if (selection == nullptr) return known.text == (choice.text().empty() ? "auto" : choice.text());
  return known.kind == InternedChoice::Kind::algorithm && known.selection.algorithm == selection->algorithm &&
         known.selection.params == selection->params;
}

}  // namespace

const InternedChoice* Choices::intern(Collective collective, const Choice& choice, LastChoices& last, Sums sums) {
  const InternedChoice*& known = last[static_cast<std::size_t>(collective)];
  if (known != nullptr && same(*known, choice, sums)) return known;
  const Selection* selection = choice.selection();
  require(selection == nullptr || selection->algorithm != nullptr, "the selection names no algorithm");
  const std::lock_guard lock(mutex_);
  auto& all = all_[static_cast<std::size_t>(collective)];
  for (const auto& met : all) {
    if (same(*met, choice, sums)) return known = met.get();
  }
  InternedChoice made =
      selection != nullptr ? take(collective, *selection) : read(collective, choice.text(), choice.policy());
  made.sums = sums;
  all.push_back(std::make_unique<const InternedChoice>(std::move(made)));
  return known = all.back().get();
}

}  // namespace circoll::prepare
