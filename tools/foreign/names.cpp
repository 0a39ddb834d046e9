// From Circoll's algorithms to another library's names and parameters.
#include "foreign/names.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "facts/text.hpp"
#include "schedule/registry.hpp"

namespace circoll::foreign {
namespace {

std::vector<std::string_view> peers_of(const Selection& selection, const Format& format) {
  const Library library = format.reader.library == "openmpi" ? Library::openmpi : Library::mpich;
  return selection.algorithm->names_in(library, selection.collective);
}

bool has(const Format& format, Collective collective, std::string_view name) {
  const auto known = format.names(collective, format.reader);
  return std::ranges::find(known, name) != known.end();
}

/// "knomial (radix 2)" is a name and a radix. Another remark is about a component that files do not reach.
bool take_remark(std::string_view& name, std::int64_t& radix) {
  const std::size_t open = name.find(" (");
  if (open == std::string_view::npos) return true;
  std::string_view remark = name.substr(open + 2);
  name = name.substr(0, open);
  constexpr std::string_view prefix = "radix ";
  if (!remark.starts_with(prefix)) return false;
  remark.remove_prefix(prefix.size());
  return std::from_chars(remark.data(), remark.data() + remark.size(), radix).ec == std::errc{};
}

Named direct(std::string_view use, const Format& format, Collective collective) {
  const std::size_t slash = use.find('/');
  if (use.substr(0, slash) != format.reader.library) return {.why = std::string(use) + " is of another library"};
  const std::string_view rest = use.substr(slash + 1);
  const std::size_t colon = rest.find(':');
  Named named{.algorithm = std::string(rest.substr(0, colon))};
  if (!has(format, collective, named.algorithm)) {
    return {.why = std::string(format.reader.id) + " has no algorithm " + named.algorithm};
  }
  if (colon == std::string_view::npos) return named;
  for (const std::string_view part : split_list(rest.substr(colon + 1))) {
    const std::size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    const auto value = equals == std::string_view::npos ? std::nullopt : parse_bytes(part.substr(equals + 1));
    if (!value)
      throw Error(ErrorCode::parse, "'" + std::string(use) + "': '" + std::string(part) + "' is no parameter");
    if (key == "segment")
      named.segment_bytes = *value;
    else if (key == "radix" || key == "fanout")
      named.radix = *value;
    else
      named.note = std::string(key) + " is left out";
  }
  return named;
}

/// The bytes of a segment, if p ranks cut a vector of `bytes` into so many. A power of two, rounded up.
Count segment_bytes_of(const Selection& selection, Rank p, Count bytes, std::int64_t segments) {
  if (segments <= 1) return 0;
  const ParamDeclaration* const declared = selection.algorithm->param("segments");
  if (declared == nullptr) return 0;
  Shape shape{.size = p};
  shape.params = selection.params;
  shape.params.erase("segment");
  shape.params.insert_or_assign("segments", declared->minimum);
  const Count blocks = critical_path(*selection.algorithm, selection.collective, shape).blocks;
  const Count units = std::max<Count>(blocks / declared->minimum, 1);
  const Count least = std::max<Count>(bytes / units / segments, 1);
  return static_cast<Count>(std::bit_ceil(static_cast<std::uint64_t>(std::min(least, Count{1} << 40))));
}

}  // namespace

Named named_in(const Selection& selection, Rank p, Count bytes, const Machine& machine, const Format& format) {
  if (selection.params.contains("relabel")) return {.why = "no other library relabels ranks"};
  Named named;
  for (std::string_view name : peers_of(selection, format)) {
    std::int64_t radix = 0;
    if (!take_remark(name, radix) || !has(format, selection.collective, name)) continue;
    named.algorithm = std::string(name);
    named.radix = radix;
    break;
  }
  if (named.algorithm.empty()) {
    return {.why = std::string(format.reader.id) + " has no algorithm like " + selection.id()};
  }
  for (const std::string_view key : {"radix", "fanout"}) {
    if (const auto value = param_value(*selection.algorithm, selection.params, key)) named.radix = *value;
  }
  if (selection.algorithm->param("segments") == nullptr) return named;
  if (const auto given = selection.params.find("segment"); given != selection.params.end()) {
    named.segment_bytes = given->second;
    return named;
  }
  if (!size_decides(selection.collective)) return named;
  const Selection complete = completed(selection, p, bytes, machine);
  const auto segments = complete.params.find("segments");
  if (segments == complete.params.end() || segments->second <= 1) return named;
  named.segment_bytes = segment_bytes_of(selection, p, bytes, segments->second);
  named.note = std::to_string(segments->second) + " segments became a size of segments, " +
               std::to_string(named.segment_bytes) + " bytes, right for " + std::to_string(p) + " ranks and " +
               std::to_string(bytes) + " bytes";
  return named;
}

Named named_in(Collective collective, std::string_view use, Rank p, Count bytes, const Machine& machine,
               const Format& format) {
  if (use == "native" || use == "auto") return {.why = "it is left to the library"};
  const std::size_t slash = use.find('/');
  if (slash != std::string_view::npos && use.substr(0, slash) != to_string(collective)) {
    return direct(use, format, collective);
  }
  const Selection selection = slash == std::string_view::npos ? parse_selection(collective, use) : parse_selection(use);
  return named_in(selection, p, bytes, machine, format);
}

}  // namespace circoll::foreign
