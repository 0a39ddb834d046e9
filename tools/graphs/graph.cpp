#include "graphs/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>

#include "circoll/error.hpp"
#include "select/text_file.hpp"

namespace circoll::graphs {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// The text in quotes, shortened, for messages.
std::string excerpt(std::string_view text) {
  std::string result = "'";
  for (const char c : text.substr(0, 40)) result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > 40 ? "...'" : "'");
}

/// The lines of a file, and the words of the present one.
class Words {
 public:
  Words(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

  /// Goes to the next line that is no comment (%); false: there is none.
  bool next_line() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line_text_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_;
      if (!line_text_.starts_with('%')) return true;
    }
    line_text_ = {};
    return false;
  }
  /// Goes to the next one that has a word.
  bool next_filled_line() {
    while (next_line()) {
      if (at_word()) return true;
    }
    return false;
  }
  [[nodiscard]] bool at_word() {
    while (!line_text_.empty() && is_blank(line_text_.front())) line_text_.remove_prefix(1);
    return !line_text_.empty();
  }
  /// Takes the next word of the line; empty: there is none.
  std::string_view word() {
    if (!at_word()) return {};
    const auto* const end = std::find_if(line_text_.begin(), line_text_.end(), is_blank);
    const auto length = static_cast<std::size_t>(end - line_text_.begin());
    const std::string_view word = line_text_.substr(0, length);
    line_text_.remove_prefix(length);
    return word;
  }
  /// Takes a whole number of low .. high.
  std::int64_t number(std::string_view what, std::int64_t low, std::int64_t high) {
    const std::string_view text = word();
    if (text.empty()) fail(fmt::format("{} is missing", what));
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
      fail(fmt::format("{} is a whole number of {} to {}, not {}", what, low, high, excerpt(text)));
    }
    return value;
  }
  /// Takes a real number.
  void real(std::string_view what) {
    const std::string_view text = word();
    if (text.empty()) fail(fmt::format("{} is missing", what));
    double value = 0;
    const std::string_view digits = text.substr(text.starts_with('+') ? 1 : 0);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool read = error == std::errc{} || error == std::errc::result_out_of_range;
    if (!read || end != digits.data() + digits.size()) fail(fmt::format("{} is a number, not {}", what, excerpt(text)));
  }
  void end_of_line() {
    if (at_word()) fail(fmt::format("the line goes on with {}, where it should end", excerpt(line_text_)));
  }
  [[noreturn]] void fail(const std::string& what) const {
    select::fail_at(source_, std::max<std::size_t>(line_, 1), what);
  }

 private:
  std::string_view rest_;
  const std::string& source_;
  std::string_view line_text_{};
  std::size_t line_ = 0;
};

/// Adds nothing for a loop.
void add(Graph& graph, Rank from, Rank to) {
  if (from != to) graph.edges.push_back({from, to});
}

Graph finished(Graph graph) {
  std::sort(graph.edges.begin(), graph.edges.end());
  graph.edges.erase(std::unique(graph.edges.begin(), graph.edges.end()), graph.edges.end());
  return graph;
}

constexpr std::int64_t most_entries = std::int64_t{1} << 40;

/// The kind of a matrix, as its first line says.
struct MatrixKind {
  int numbers = 1;         ///< of each entry, behind its indices
  bool symmetric = false;  ///< an entry below the diagonal stands for two
};

MatrixKind matrix_kind(std::string_view line, const std::string& source) {
  Words words(line, source);
  (void)words.next_line();
  std::array<std::string, 4> given;
  for (std::string& one : given) {
    one = words.word();
    std::transform(one.begin(), one.end(), one.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  }
  const auto& [object, format, field, symmetry] = given;
  if (object != "matrix") words.fail(fmt::format("the file has a matrix, not {}", excerpt(object)));
  if (format != "coordinate") {
    words.fail(
        fmt::format("a graph is a matrix of format coordinate, which lists its entries, not {}", excerpt(format)));
  }
  MatrixKind kind;
  if (field == "pattern") {
    kind.numbers = 0;
  } else if (field == "complex") {
    kind.numbers = 2;
  } else if (field != "real" && field != "integer") {
    words.fail(fmt::format("entries are real, integer, complex or pattern, not {}", excerpt(field)));
  }
  if (symmetry == "symmetric" || symmetry == "skew-symmetric" || symmetry == "hermitian") {
    kind.symmetric = true;
  } else if (symmetry != "general") {
    words.fail(fmt::format("a matrix is general, symmetric, skew-symmetric or hermitian, not {}", excerpt(symmetry)));
  }
  words.end_of_line();
  return kind;
}

constexpr std::string_view matrix_mark = "%%MatrixMarket";

Graph parse_matrix(std::string_view text, const std::string& source) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const MatrixKind kind = matrix_kind(text.substr(matrix_mark.size(), end - matrix_mark.size()), source);
  Words words(text, source);
  if (!words.next_filled_line()) words.fail("the line of rows, columns and entries is missing");
  Graph graph{.vertices = words.number("the number of rows", 1, most_vertices)};
  const std::int64_t columns = words.number("the number of columns", 1, most_vertices);
  if (columns != graph.vertices) {
    words.fail(fmt::format("the matrix of a graph is square, not {} x {}", graph.vertices, columns));
  }
  const std::int64_t entries = words.number("the number of entries", 0, most_entries);
  words.end_of_line();
  std::int64_t seen = 0;
  for (; words.next_filled_line(); ++seen) {
    if (seen == entries) words.fail(fmt::format("there are more entries than {}, as the line of sizes says", entries));
    const Rank row = words.number("the row of an entry", 1, graph.vertices) - 1;
    const Rank column = words.number("the column of an entry", 1, graph.vertices) - 1;
    for (int i = 0; i < kind.numbers; ++i) words.real("the value of an entry");
    words.end_of_line();
    if (kind.symmetric && column > row) words.fail("a symmetric matrix has entries below its diagonal only");
    add(graph, column, row);
    if (kind.symmetric) add(graph, row, column);
  }
  if (seen < entries) words.fail(fmt::format("the file ends after {} of {} entries", seen, entries));
  return finished(std::move(graph));
}

/// The numbers beside edges, as the format of METIS's first line says.
struct MetisWeights {
  std::int64_t of_vertex = 0;  ///< before the neighbours
  bool of_edges = false;       ///< one behind each neighbour
};

MetisWeights metis_weights(Words& words) {
  const std::int64_t format = words.at_word() ? words.number("the format (fmt)", 0, 111) : 0;
  const std::int64_t sizes = format / 100;
  const std::int64_t of_vertices = format / 10 % 10;
  const std::int64_t of_edges = format % 10;
  if (sizes > 1 || of_vertices > 1 || of_edges > 1) words.fail("the format (fmt) consists of the digits 0 and 1");
  std::int64_t constraints = of_vertices;
  if (words.at_word()) {
    constraints = words.number("the number of weights of a vertex (ncon)", 1, 1024);
    if (of_vertices == 0)
      words.fail("there is a number of weights (ncon), and the format (fmt) has no weights of vertices");
  }
  return {.of_vertex = sizes + constraints, .of_edges = of_edges != 0};
}

Graph parse_metis(std::string_view text, const std::string& source) {
  constexpr std::int64_t most_weight = std::int64_t{1} << 62;
  Words words(text, source);
  if (!words.next_filled_line()) words.fail("the line of vertices and edges is missing");
  Graph graph{.vertices = words.number("the number of vertices", 1, most_vertices)};
  const std::int64_t edges = words.number("the number of edges", 0, most_entries);
  const MetisWeights weights = metis_weights(words);
  words.end_of_line();
  std::int64_t ends = 0;
  for (Rank vertex = 0; vertex < graph.vertices; ++vertex) {
    if (!words.next_line()) {
      // Vertices without neighbours have empty lines, of which editors drop the last ones.
      if (weights.of_vertex == 0 && ends == 2 * edges) break;
      words.fail(fmt::format("the file ends after {} of {} vertices", vertex, graph.vertices));
    }
    for (std::int64_t i = 0; i < weights.of_vertex; ++i) (void)words.number("the weight of a vertex", 0, most_weight);
    while (words.at_word()) {
      const Rank neighbour = words.number("a neighbour", 1, graph.vertices) - 1;
      if (neighbour == vertex) words.fail(fmt::format("vertex {} is a neighbour of itself", vertex + 1));
      if (weights.of_edges) (void)words.number("the weight of an edge", 1, most_weight);
      add(graph, vertex, neighbour);
      ++ends;
    }
  }
  if (words.next_filled_line()) words.fail(fmt::format("there are more lines than {} vertices", graph.vertices));
  if (ends != 2 * edges) {
    words.fail(fmt::format("{} edges stand in the lines of both of their vertices, which makes {} neighbours, not {}",
                           edges, 2 * edges, ends));
  }
  graph = finished(std::move(graph));
  for (const Edge& edge : graph.edges) {
    if (std::binary_search(graph.edges.begin(), graph.edges.end(), Edge{edge.to, edge.from})) continue;
    words.fail(fmt::format("vertex {} has {} as a neighbour, and {} does not have {}", edge.from + 1, edge.to + 1,
                           edge.to + 1, edge.from + 1));
  }
  return graph;
}

}  // namespace

Graph parse_graph(std::string_view text, const std::string& source) {
  return text.starts_with(matrix_mark) ? parse_matrix(text, source) : parse_metis(text, source);
}

Graph read_graph(const std::string& path) {
  constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 30;
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}", path, error.message()));
  if (bytes > most_bytes) throw Error(ErrorCode::invalid_argument, path + ": the file is larger than 1 GiB");
  std::string text(static_cast<std::size_t>(bytes), '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(text.data(), static_cast<std::streamsize>(bytes))) {
    throw Error(ErrorCode::invalid_argument, path + ": the file cannot be read");
  }
  return parse_graph(text, path);
}

Rank Grid::ranks() const {
  Rank product = 1;
  for (const Rank dimension : dimensions) product *= dimension;
  return product;
}

Grid parse_grid(std::string_view text) {
  constexpr std::size_t most_dimensions = 16;
  constexpr std::string_view periodic = ",periodic";
  Grid grid;
  std::string_view rest = text;
  if (rest.ends_with(periodic)) {
    grid.periodic = true;
    rest.remove_suffix(periodic.size());
  }
  const auto refuse = [&] {
    throw Error(ErrorCode::parse, fmt::format("{} is no grid, such as 8x8x8 or 4x4,periodic, of 1 to {} dimensions and "
                                              "at most {} ranks",
                                              excerpt(text), most_dimensions, most_vertices));
  };
  Rank ranks = 1;
  while (true) {
    Rank dimension = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), dimension);
    if (error != std::errc{} || dimension < 1 || dimension > most_vertices / ranks ||
        grid.dimensions.size() == most_dimensions) {
      refuse();
    }
    ranks *= dimension;
    grid.dimensions.push_back(dimension);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (rest.empty()) return grid;
    if (rest.front() != 'x') refuse();
    rest.remove_prefix(1);
  }
}

}  // namespace circoll::graphs
