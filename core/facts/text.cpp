#include "facts/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "circoll/error.hpp"

namespace circoll {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
/// The powers of 1024.
constexpr std::string_view unit_letters = "kmgtpe";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) { return lower(c); });
  return result;
}

/// Digits at the beginning of `text`, which are taken off it.
std::optional<std::int64_t> take_digits(std::string_view& text) {
  std::int64_t value = 0;
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;  // no sign either
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<std::int64_t> times_power_of_ten(std::int64_t value, std::int64_t exponent) {
  for (; exponent > 0 && value != 0; --exponent) {
    if (value > largest / 10) return std::nullopt;
    value *= 10;
  }
  return value;
}

/// The number in front of `rest`, with its unit.
std::optional<std::int64_t> with_unit(std::int64_t value, std::string_view rest) {
  if (rest.empty()) return value;
  const char first = lower(rest[0]);
  rest.remove_prefix(1);
  if (first == 'e' && !rest.empty() && rest[0] != 'i' && rest[0] != 'I') {
    const auto exponent = take_digits(rest);
    return exponent && rest.empty() ? times_power_of_ten(value, *exponent) : std::nullopt;
  }
  const std::size_t unit = unit_letters.find(first);
  if (unit == std::string_view::npos || (rest.empty() ? first == 'e' : lower(rest) != "i")) return std::nullopt;
  const auto shift = 10 * (unit + 1);
  if (value > largest >> shift) return std::nullopt;
  return value << shift;
}

struct Alias {
  std::string_view name;
  Type type;
};

template <typename T>
constexpr Type signed_of_size() {
  return sizeof(T) == 8 ? Type::int64 : sizeof(T) == 4 ? Type::int32 : Type::int16;
}
template <typename T>
constexpr Type unsigned_of_size() {
  return sizeof(T) == 8 ? Type::uint64 : sizeof(T) == 4 ? Type::uint32 : Type::uint16;
}

/// MPI's names of types, without MPI_, that are not those of to_string. Of C first.
constexpr std::array aliases{
    Alias{"char", Type::int8},
    Alias{"signed_char", Type::int8},
    Alias{"short", signed_of_size<short>()},
    Alias{"int", signed_of_size<int>()},
    Alias{"long", signed_of_size<long>()},
    Alias{"long_long", signed_of_size<long long>()},
    Alias{"long_long_int", signed_of_size<long long>()},
    Alias{"unsigned_char", Type::uint8},
    Alias{"unsigned_short", unsigned_of_size<unsigned short>()},
    Alias{"unsigned", unsigned_of_size<unsigned>()},
    Alias{"unsigned_int", unsigned_of_size<unsigned>()},
    Alias{"unsigned_long", unsigned_of_size<unsigned long>()},
    Alias{"unsigned_long_long", unsigned_of_size<unsigned long long>()},
    Alias{"int8_t", Type::int8},
    Alias{"int16_t", Type::int16},
    Alias{"int32_t", Type::int32},
    Alias{"int64_t", Type::int64},
    Alias{"uint8_t", Type::uint8},
    Alias{"uint16_t", Type::uint16},
    Alias{"uint32_t", Type::uint32},
    Alias{"uint64_t", Type::uint64},
    Alias{"half", Type::float16},
    Alias{"float", Type::float32},
    Alias{"double", Type::float64},
    Alias{"c_float_complex", Type::complex64},
    Alias{"c_complex", Type::complex64},
    Alias{"c_double_complex", Type::complex128},
    Alias{"c_long_double_complex", Type::complex_long},
    Alias{"c_bool", Type::boolean},
    Alias{"cxx_bool", Type::boolean},
    Alias{"cxx_float_complex", Type::complex64},
    Alias{"cxx_double_complex", Type::complex128},
    Alias{"cxx_long_double_complex", Type::complex_long},
    // Of Fortran.
    Alias{"integer", Type::int32},
    Alias{"integer1", Type::int8},
    Alias{"integer2", Type::int16},
    Alias{"integer4", Type::int32},
    Alias{"integer8", Type::int64},
    Alias{"real", Type::float32},
    Alias{"real2", Type::float16},
    Alias{"real4", Type::float32},
    Alias{"real8", Type::float64},
    Alias{"double_precision", Type::float64},
    Alias{"complex", Type::complex64},
    Alias{"complex8", Type::complex64},
    Alias{"double_complex", Type::complex128},
    Alias{"complex16", Type::complex128},
    Alias{"2integer", Type::pair_int_int},
    Alias{"2double_precision", Type::pair_double_double},
};

/// A name as it is compared: without MPI_, in lower case.
std::string plain_name(std::string_view name) {
  std::string plain = lower(name);
  return plain.starts_with("mpi_") ? plain.substr(4) : plain;
}

template <typename Enum, std::size_t count>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.emplace_back(to_string(static_cast<Enum>(i)));
  return names;
}

/// Runs a parser that throws, for a command line.
template <typename Parse>
std::string rewrite(std::string& text, Parse parse) {
  try {
    text = to_string(parse(text));
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

std::string rewrite(std::string& text, std::optional<std::int64_t> value, std::string_view kind) {
  if (!value) return fmt::format("'{}' is not a number{} ({})", text, kind, number_forms);
  text = std::to_string(*value);
  return {};
}

}  // namespace

std::optional<std::int64_t> parse_number(std::string_view text) {
  const auto value = take_digits(text);
  return value ? with_unit(*value, text) : std::nullopt;
}

std::optional<Count> parse_bytes(std::string_view text) {
  if (!text.empty() && lower(text.back()) == 'b') text.remove_suffix(1);
  return parse_number(text);
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string algorithm_variable(Collective collective) {
  std::string name = "CIRCOLL_";
  for (const char c : to_string(collective)) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

Collective parse_collective(std::string_view name) {
  const auto known = collective_from_string(plain_name(name));
  if (known) return *known;
  throw Error(ErrorCode::unknown_name,
              unknown_name(name, "collective", names_of<Collective, all_collectives.size()>()));
}

Type parse_type(std::string_view name) {
  const std::string plain = plain_name(name);
  if (const auto known = type_from_string(plain)) return *known;
  const auto alias = std::find_if(aliases.begin(), aliases.end(), [&](const Alias& a) { return a.name == plain; });
  if (alias != aliases.end()) return alias->type;
  std::vector<std::string> also;
  also.reserve(aliases.size());
  for (const Alias& each : aliases) also.emplace_back(each.name);
  throw Error(ErrorCode::unknown_name, unknown_name(name, "element type", names_of<Type, type_count>(), also) +
                                           ", and MPI's names such as float, double, int and MPI_FLOAT");
}

Op parse_op(std::string_view name) {
  if (const auto known = op_from_string(plain_name(name))) return *known;
  throw Error(ErrorCode::unknown_name, unknown_name(name, "operator", names_of<Op, op_count>()));
}

std::vector<std::string> other_names(Type type) {
  std::vector<std::string> names;
  for (const Alias& alias : aliases) {
    if (alias.type == type) names.emplace_back(alias.name);
  }
  return names;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::array<std::vector<std::size_t>, 3> rows;  // of three prefixes of a, the longest last
  auto& [before, above, row] = rows;
  for (auto& each : rows) each.resize(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::rotate(rows.begin(), rows.begin() + 1, rows.end());
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({row[j - 1] + 1, above[j] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates) {
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  for (const std::string& candidate : candidates) ranked.emplace_back(edit_distance(name, candidate), candidate);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (ranked.size() > 3) ranked.resize(3);
  std::string text;
  for (const auto& [unused, candidate] : ranked) {
    text += (text.empty() ? " (did you mean " : ", ") + std::string(candidate);
  }
  return text.empty() ? text : text + "?)";
}

std::string unknown_name(std::string_view name, std::string_view kind, std::span<const std::string> known,
                         std::span<const std::string> also) {
  const std::string plain = plain_name(name);
  const std::size_t most = plain.size() / 3;
  std::vector<std::string> close;
  for (const auto& names : {known, also}) {
    std::copy_if(names.begin(), names.end(), std::back_inserter(close),
                 [&](const std::string& candidate) { return edit_distance(plain, candidate) <= most; });
  }
  return fmt::format("'{}' is no {}{}; known are {}", name, kind, suggestion(plain, close), fmt::join(known, ", "));
}

std::string rewrite_number(std::string& text) { return rewrite(text, parse_number(text), ""); }
std::string rewrite_bytes(std::string& text) { return rewrite(text, parse_bytes(text), " of bytes"); }
std::string rewrite_collective(std::string& text) { return rewrite(text, parse_collective); }
std::string rewrite_type(std::string& text) { return rewrite(text, parse_type); }
std::string rewrite_op(std::string& text) { return rewrite(text, parse_op); }

std::string readable_time(double time_s, std::string_view separator) {
  if (time_s <= 0) return fmt::format("0{}s", separator);
  if (time_s < 0.9995e-6) return fmt::format("{:.3g}{}ns", time_s * 1e9, separator);
  if (time_s < 0.9995e-3) return fmt::format("{:.3g}{}us", time_s * 1e6, separator);
  if (time_s < 0.9995) return fmt::format("{:.3g}{}ms", time_s * 1e3, separator);
  if (time_s < 999.5) return fmt::format("{:.4g}{}s", time_s, separator);
  return fmt::format("{:.0f}{}s", time_s, separator);
}

std::string readable_bytes(Count bytes) {
  constexpr std::array<const char*, 4> units{"B", "KiB", "MiB", "GiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  const bool whole = value == static_cast<double>(static_cast<Count>(value));
  return whole ? fmt::format("{:.0f} {}", value, units[unit]) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string exact_number(std::int64_t number) {
  constexpr std::array units{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::size_t unit = 0;
  for (; number >= 1024 && number % 1024 == 0 && unit + 1 < units.size(); ++unit) number /= 1024;
  return std::to_string(number) + units[unit];
}

}  // namespace circoll
