// Ids of algorithms with parameters: read, checked, and written.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "schedule/registry.hpp"
#include "schedule/relabelling.hpp"

namespace circoll {
namespace {

/// The value of a parameter; that of "segment" is in bytes.
std::int64_t parameter_value(std::string_view key, std::string_view text) {
  const auto value = key == "segment" ? parse_bytes(text) : parse_number(text);
  if (!value) {
    throw Error(ErrorCode::parse, "'" + std::string(text) + "' is not a number (" + std::string(number_forms) + ")");
  }
  return *value;
}

/// The names of a collective's algorithms, each after a space.
std::string listed(Collective collective) {
  std::string names;
  for (const Algorithm* a : algorithms_of(collective)) names += " " + std::string(a->name);
  return names;
}

void check_within(const Algorithm& algorithm, const ParamDeclaration& p, std::int64_t value) {
  if (value >= p.minimum && value <= p.maximum) return;
  throw Error(ErrorCode::invalid_argument, std::string(algorithm.name) + ": " + std::string(p.name) + "=" +
                                               std::to_string(value) + " is outside " + std::to_string(p.minimum) +
                                               " .. " + std::to_string(p.maximum));
}

/// Checks a parameter of an id, where "segment" stands for "segments".
void check_given(const Algorithm& algorithm, std::string_view key, std::int64_t value, const Params& others) {
  if (algorithm.param("segments") == nullptr || (key != "segment" && key != "segments")) {
    check_param(algorithm, key, value);
    return;
  }
  if (others.contains(key == "segment" ? "segments" : "segment")) {
    throw Error(ErrorCode::invalid_argument,
                std::string(algorithm.name) + ": segment (bytes) and segments (a number) exclude each other");
  }
  if (key == "segments") check_param(algorithm, key, value);
  if (value < 1) {
    throw Error(ErrorCode::invalid_argument, std::string(algorithm.name) + ": a segment has at least 1 byte");
  }
}

}  // namespace

void check_param(const Algorithm& algorithm, std::string_view key, std::int64_t value) {
  if (key == "segment" && algorithm.param("segments") != nullptr) {
    throw Error(ErrorCode::invalid_argument, std::string(algorithm.name) +
                                                 ": segment=BYTES needs the size of the vector; give segments=NUMBER, "
                                                 "or the size (--bytes)");
  }
  std::vector<std::string> names;
  for (const ParamDeclaration& p : algorithm.params) {
    if (p.name == key) return check_within(algorithm, p, value);
    names.emplace_back(p.name);
  }
  if (key == window.name) return check_within(algorithm, window, value);
  names.emplace_back(window.name);
  if (can_relabel(algorithm.collectives.front())) {
    if (key == relabel.name) return check_within(algorithm, relabel, value);
    names.emplace_back(relabel.name);
  }
  throw Error(ErrorCode::unknown_name,
              std::string(algorithm.name) + " has no parameter '" + std::string(key) + "'" + suggestion(key, names));
}

std::string Selection::id() const { return algorithm == nullptr ? "" : algorithm->id(collective); }

std::string Selection::text() const {
  if (algorithm == nullptr) return {};
  std::string text(algorithm->name);
  char separator = ':';
  for (const auto& [name, value] : params) {
    text += separator + name + "=" + std::to_string(value);
    separator = ',';
  }
  return text;
}

namespace {

/// The selection of a file, after "file:".
Selection file_selection(std::string_view path) {
  if (path.empty()) throw Error(ErrorCode::parse, "no file follows 'file:'");
  const Algorithm& algorithm = algorithm_of_file(std::string(path));
  return {.algorithm = &algorithm, .collective = algorithm.collectives.front()};
}

/// A hint about a word that is no algorithm. It is the file of this name, or the nearest names.
std::string meant(std::string_view word, std::string_view name, const std::vector<std::string>& names) {
  const std::string hint = file_hint(word);
  return hint.empty() ? suggestion(name, names) : hint;
}

}  // namespace

std::string file_hint(std::string_view word) {
  std::error_code none;
  return std::filesystem::is_regular_file(std::string(word), none)
             ? " (did you mean " + std::string(file_prefix) + std::string(word) + "?)"
             : "";
}

Selection parse_selection(Collective collective, std::string_view name_and_params) {
  if (name_and_params.starts_with(file_prefix)) {
    Selection selection = file_selection(name_and_params.substr(file_prefix.size()));
    if (selection.collective == collective) return selection;
    throw Error(ErrorCode::invalid_argument, std::string(name_and_params) + " has schedules of " +
                                                 std::string(to_string(selection.collective)) + ", not of " +
                                                 std::string(to_string(collective)));
  }
  const std::size_t colon = name_and_params.find(':');
  const std::string_view name = name_and_params.substr(0, colon);
  Selection selection{.algorithm = find_algorithm(collective, name), .collective = collective};
  if (selection.algorithm == nullptr) {
    std::vector<std::string> names;
    for (const Algorithm* a : algorithms_of(collective)) names.emplace_back(a->name);
    throw Error(ErrorCode::unknown_name, std::string(to_string(collective)) + " has no algorithm '" +
                                             std::string(name) + "'" + meant(name_and_params, name, names));
  }
  std::string_view rest = colon == std::string_view::npos ? std::string_view{} : name_and_params.substr(colon + 1);
  if (colon != std::string_view::npos && rest.empty())
    throw Error(ErrorCode::parse, "no parameter follows the ':' of '" + std::string(name_and_params) + "'");
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest = item.size() == rest.size() ? std::string_view{} : rest.substr(item.size() + 1);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      throw Error(ErrorCode::parse, "'" + std::string(item) + "' is not of the form name=number");
    const std::string_view key = item.substr(0, equals);
    const std::int64_t value = parameter_value(key, item.substr(equals + 1));
    check_given(*selection.algorithm, key, value, selection.params);
    selection.params.insert_or_assign(std::string(key), value);
  }
  return selection;
}

Selection parse_selection(std::string_view id) {
  if (id.starts_with(file_prefix)) return file_selection(id.substr(file_prefix.size()));
  const std::size_t slash = id.find('/');
  const std::string_view collective_name = id.substr(0, slash);
  const auto collective = collective_from_string(collective_name);
  if (!collective || slash == std::string_view::npos) {
    const std::string what = "'" + std::string(id) + "' is not COLLECTIVE/ALGORITHM";
    if (collective) {
      throw Error(ErrorCode::unknown_name, what + "; algorithms of " + std::string(id) + " are" + listed(*collective));
    }
    std::vector<std::string> names;
    std::string collectives;
    for (const Collective c : all_collectives) {
      for (const Algorithm* a : algorithms_of(c)) names.push_back(a->id(c));
      collectives += " " + std::string(to_string(c));
    }
    throw Error(ErrorCode::unknown_name, what + meant(id, id, names) + "; collectives are" + collectives);
  }
  return parse_selection(*collective, id.substr(slash + 1));
}

Selection with_segment_count(const Selection& selection, Rank p, Count bytes) {
  const auto given = selection.params.find("segment");
  if (given == selection.params.end()) return selection;
  const ParamDeclaration* const declared = selection.algorithm->param("segments");
  check(declared != nullptr && given->second > 0, "a segment size has been checked");
  Shape shape{.size = p};
  shape.params = selection.params;
  shape.params.erase("segment");
  shape.params.insert_or_assign("segments", declared->minimum);
  const Count blocks = critical_path(*selection.algorithm, selection.collective, shape).blocks;
  const Count units = std::max<Count>(blocks / declared->minimum, 1);
  const Count unit_bytes = bytes / units + (bytes % units == 0 ? 0 : 1);
  const Count needed = unit_bytes / given->second + (unit_bytes % given->second == 0 ? 0 : 1);
  Selection counted = selection;
  shape.params.insert_or_assign("segments", std::clamp<Count>(needed, declared->minimum, declared->maximum));
  counted.params = std::move(shape.params);
  return counted;
}

}  // namespace circoll
