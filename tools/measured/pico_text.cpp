// Texts of PICO: descriptions of tests, tables of medians, iterations, and names of files.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "circoll/error.hpp"
#include "facts/statistics.hpp"
#include "measured/pico.hpp"
#include "select/text_file.hpp"

namespace circoll::measured {
namespace {

constexpr std::size_t most_columns = 1 << 20;  // a rank may have a column of its own

/// A table with a head. Fields with a comma stand in quotes.
class Table {
 public:
  Table(std::string_view text, std::string source) : text_(text), source_(std::move(source)) {
    if (!next()) fail("this table is empty");
    head_ = fields_;
  }

  /// Goes to the next line that is not empty; false at the end.
  bool next() {
    while (at_ < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      std::string_view line = text_.substr(at_, end - at_);
      at_ = end + 1;
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty()) continue;
      split(line);
      return true;
    }
    return false;
  }

  /// The column of one of these names, or a number beyond all.
  [[nodiscard]] std::size_t find(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      const auto at = std::ranges::find(head_, name);
      if (at != head_.end()) return static_cast<std::size_t>(at - head_.begin());
    }
    return head_.size();
  }
  [[nodiscard]] std::size_t column(std::initializer_list<std::string_view> names) const {
    const std::size_t at = find(names);
    if (at == head_.size()) fail(fmt::format("there is no column '{}'", *names.begin()));
    return at;
  }
  [[nodiscard]] std::string text(std::size_t column) const {
    return column < fields_.size() ? fields_[column] : std::string();
  }
  [[nodiscard]] double number(std::size_t column) const {
    const std::string field = text(column);
    double value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc{} || end != field.data() + field.size() || !std::isfinite(value)) {
      fail(fmt::format("'{}' is no number", field.substr(0, 40)));
    }
    return value;
  }
  [[nodiscard]] Count count(std::size_t column, Count least, Count most) const {
    const double value = number(column);
    if (value < static_cast<double>(least) || value > static_cast<double>(most) || value != std::floor(value)) {
      fail(fmt::format("{} is no whole number from {} to {}", text(column), least, most));
    }
    return static_cast<Count>(value);
  }
  [[noreturn]] void fail(const std::string& what) const {
    select::fail_at(source_, std::max<std::size_t>(line_, 1), what);
  }

 private:
  void split(std::string_view line) {
    fields_.assign(1, {});
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        if (fields_.size() > most_columns) fail("there are too many columns");
        fields_.emplace_back();
      } else {
        fields_.back() += c;
      }
    }
  }

  std::string_view text_;
  std::string source_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::vector<std::string> head_{};
  std::vector<std::string> fields_{};
};

constexpr Count most_ranks = 1 << 24;
constexpr Count most_bytes = Count{1} << 50U;
constexpr double most_nanoseconds = 1e15;

PicoJob job_in(const Table& table, const std::string& system) {
  return {.system = system,
          .stamp = table.text(table.column({"stamp", "timestamp"})),
          .nodes = table.count(table.column({"nodes", "nnodes"}), 1, most_ranks),
          .ranks_per_node = table.count(table.column({"ranks_per_node", "tasks_per_node"}), 1, most_ranks),
          .mpi = table.text(table.column({"mpi", "mpi_lib"})) + " " +
                 table.text(table.column({"version", "mpi_lib_version"}))};
}

struct KnownType {
  std::string_view pico;
  std::string_view own;
  Count bytes;
};
constexpr std::array types{
    KnownType{"int8", "int8", 1},      KnownType{"int16", "int16", 2}, KnownType{"int32", "int32", 4},
    KnownType{"int64", "int64", 8},    KnownType{"int", "int32", 4},   KnownType{"float", "float32", 4},
    KnownType{"double", "float64", 8}, KnownType{"char", "int8", 1},   KnownType{"unsigned_char", "uint8", 1}};

bool is_on_device(const std::string& aware) { return aware == "yes" || aware == "True" || aware == "true"; }

}  // namespace

std::vector<PicoTest> pico_tests_from_csv(std::string_view text, const std::string& system, const std::string& source) {
  Table table(text, source);
  const std::size_t id = table.column({"test_id"});
  const std::size_t collective = table.column({"collective_type", "collective"});
  const std::size_t device = table.find({"gpu_awareness", "CUDA"});
  std::vector<PicoTest> tests;
  while (table.next()) {
    tests.push_back({.job = job_in(table, system),
                     .id = table.text(id),
                     .collective = table.text(collective),
                     .on_device = is_on_device(table.text(device))});
  }
  return tests;
}

std::vector<PicoTime> pico_times_from_csv(std::string_view text, const std::string& source) {
  Table table(text, source);
  const std::size_t system = table.column({"system"});
  const std::size_t collective = table.column({"collective", "collective_type"});
  const std::size_t algorithm = table.column({"algorithm", "algo_name"});
  const std::size_t bytes = table.column({"bytes", "buffer_size"});
  const std::size_t reps = table.column({"iterations", "n_iter"});
  const std::size_t median = table.column({"median_ns", "median"});
  const std::size_t device = table.find({"gpu_awareness", "CUDA"});
  const std::size_t type = table.find({"type", "datatype"});
  std::vector<PicoTime> times;
  while (table.next()) {
    const std::string name = table.text(type);
    const auto known = std::ranges::find(types, name.empty() ? "int32" : name, &KnownType::pico);
    if (known == types.end()) table.fail(fmt::format("'{}' is no type of PICO", name.substr(0, 40)));
    PicoTime time{.job = job_in(table, table.text(system)),
                  .collective = table.text(collective),
                  .algorithm = table.text(algorithm),
                  .type = std::string(known->own),
                  .on_device = is_on_device(table.text(device)),
                  .elements = table.count(bytes, 0, most_bytes) / known->bytes,
                  .element_bytes = known->bytes,
                  .reps = table.count(reps, 0, most_bytes),
                  .median_s = table.number(median) * 1e-9};
    if (time.median_s < 0 || time.median_s > most_nanoseconds * 1e-9) table.fail("the median is out of range");
    times.push_back(std::move(time));
  }
  return times;
}

PicoTime pico_iterations_from_csv(std::string_view text, const std::string& source) {
  Table table(text, source);
  const std::size_t highest = table.column({"highest"});
  std::vector<double> seconds;
  while (table.next()) {
    const double nanoseconds = table.number(highest);
    if (nanoseconds > most_nanoseconds) table.fail("the time is out of range");
    if (nanoseconds >= 0) seconds.push_back(nanoseconds * 1e-9);
  }
  seconds.erase(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 10));
  PicoTime time{.reps = static_cast<Count>(seconds.size())};
  if (seconds.empty()) return time;
  std::ranges::sort(seconds);
  const ConfidenceInterval interval = median_interval(seconds);
  time.median_s = median_of_sorted(seconds);
  time.low_s = interval.low;
  time.high_s = interval.high;
  return time;
}

std::optional<PicoTime> pico_file_name(std::string_view name) {
  if (!name.ends_with(".csv") || name.ends_with("_instrument.csv")) return std::nullopt;  // times of phases
  name.remove_suffix(4);
  PicoTime time{.type = "int32"};
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), time.elements);
  if (error != std::errc{} || end == name.data() + name.size() || *end != '_') return std::nullopt;
  if (time.elements < 0 || time.elements > most_bytes) return std::nullopt;
  name.remove_prefix(static_cast<std::size_t>(end - name.data()) + 1);
  for (const auto& [type, own, size] : types) {
    if (!name.ends_with(type) || name.size() < type.size() + 2 || name[name.size() - type.size() - 1] != '_') continue;
    if (type == "char" && name.ends_with("_unsigned_char")) continue;
    time.type = own;
    time.element_bytes = size;
    name.remove_suffix(type.size() + 1);
    break;
  }
  time.algorithm = name;
  if (name.empty()) return std::nullopt;
  return time;
}

}  // namespace circoll::measured
