// The command line of circoll-bench, and the cells and algorithms that it asks for.
#include "options.hpp"

#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "circoll/ops.hpp"
#include "facts/text.hpp"
#include "measured/file_kind.hpp"
#include "native/algorithms.hpp"
#include "options/ranges.hpp"
#include "schedule/registry.hpp"
#include "select/text_file.hpp"

namespace circoll::bench {
namespace {

/// Names of algorithms. "a,b:x=1,y=2" are two: what has a value and no name belongs to the one before. Throws
/// CLI::ValidationError for what no collective has; of an algorithm inside the MPI library, none that is measured.
std::vector<std::string> split_algorithms(const std::string& text, std::span<const Collective> collectives) {
  std::vector<std::string> names;
  for (const std::string& word : split_list(text)) {
    if (!names.empty() && word.find('=') != std::string::npos && word.find(':') == std::string::npos) {
      names.back() += "," + word;
    } else {
      names.push_back(word);
    }
  }
  for (const std::string& name : names) {
    if (name == "native" || name == "auto" || name == "all") continue;
    std::string why = "no algorithm is named '" + name.substr(0, name.find(':')) + "'" + file_hint(name);
    const std::span<const Collective> asked = native::names_library(name) ? collectives : all_collectives;
    if (std::ranges::none_of(asked,
                             [&](Collective collective) { return named_by(name, collective, &why).has_value(); })) {
      throw CLI::ValidationError("--algorithm", why);
    }
  }
  return names;
}

Sync sync_named(const std::string& word) {
  return word == "clock" ? Sync::clock : word == "barrier" ? Sync::barrier : Sync::automatic;
}

/// Many algorithms with buffers of their own may need more memory than there is.
Buffers buffers_named(const options::BenchWords& words, const std::vector<std::string>& algorithms) {
  if (words.buffers != "auto") return words.buffers == "rewrite" ? Buffers::rewrite : Buffers::reuse;
  const bool few = words.cells.empty() && !words.native_algorithms && algorithms.size() <= 2 &&
                   std::find(algorithms.begin(), algorithms.end(), "all") == algorithms.end();
  return few ? Buffers::rewrite : Buffers::reuse;
}

/// Takes over what the command line says. Throws CLI::ValidationError.
void take(const options::BenchWords& words, Options& options) {
  const options::BenchValues& values = words;
  static_cast<options::BenchValues&>(options) = values;
  options.collectives = options::read_collectives(words.collectives);
  options.algorithms = split_algorithms(words.algorithms, options.collectives);
  options.segments = options::read_sizes(words.segments);
  options.bytes = options::read_sizes(words.bytes);
  options.type = parse_type(words.type);
  options.op = parse_op(words.op);
  options.sync = sync_named(words.sync);
  options.buffers = buffers_named(words, options.algorithms);
}

AskedCell read_cell(const select::Json& entry, const std::string& source) {
  const select::Members members(entry, source, {"collective", "bytes", "algorithms"});
  const std::string name = members.text("collective");
  const auto collective = collective_from_string(name);
  if (!collective) members.fail(entry, "'" + name + "' is no collective");
  AskedCell cell{.collective = *collective, .bytes = members.integer("bytes")};
  if (cell.bytes < 0) members.fail(entry, "'bytes' must not be negative");
  const select::Json& list = members.at("algorithms");
  if (list.array() == nullptr || list.array()->empty())
    members.fail(list, "'algorithms' must be a list [...] of names");
  for (const select::Json& one : *list.array()) {
    const std::string* const algorithm = one.string();
    if (algorithm == nullptr) members.fail(one, "an algorithm is a string");
    std::string why = "no algorithm of " + name + " is named so";
    if (*algorithm != "native" && *algorithm != "auto" && !named_by(*algorithm, *collective, &why)) {
      members.fail(one, "'" + *algorithm + "': " + why);
    }
    cell.algorithms.push_back(*algorithm);
  }
  return cell;
}

std::vector<AskedCell> read_cells(const std::string& path) {
  const select::Json root = select::read_json(measured::read_file_of(path, {measured::FileKind::cells}), path);
  const select::Members members(root, path, {"circoll_cells", "cells"});
  members.require_version("circoll_cells");
  const select::Json& list = members.at("cells");
  if (list.array() == nullptr) members.fail(list, "'cells' must be a list [...]");
  std::vector<AskedCell> cells;
  for (const select::Json& entry : *list.array()) cells.push_back(read_cell(entry, path));
  return cells;
}

}  // namespace

std::optional<std::string> named_by(const std::string& word, Collective collective, std::string* why) {
  if (native::names_library(word)) return native::named_by(word, collective, why);
  const std::size_t slash = word.starts_with(file_prefix) ? std::string::npos : word.find('/');
  if (slash != std::string::npos && word.substr(0, slash) != to_string(collective)) return std::nullopt;
  const std::string name = slash == std::string::npos ? word : word.substr(slash + 1);
  if (!name.starts_with(file_prefix) && find_algorithm(collective, name.substr(0, name.find(':'))) == nullptr)
    return std::nullopt;
  try {
    (void)parse_selection(collective, name);
    return name;
  } catch (const Error& error) {
    if (why != nullptr) *why = error.what();
    return std::nullopt;
  }
}

std::vector<AskedCell> asked_cells(const Options& options) {
  if (!options.cells.empty()) return read_cells(options.cells);
  std::vector<AskedCell> cells;
  for (const Collective collective : options.collectives) {
    // A barrier has no size.
    const std::vector<Count> sizes = collective == Collective::barrier ? std::vector<Count>{0} : options.bytes;
    for (const Count bytes : sizes) {
      cells.push_back({.collective = collective, .bytes = bytes, .algorithms = options.algorithms});
    }
  }
  return cells;
}

std::vector<std::string> algorithms_for(const Options& options, Collective collective, int size) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  const OperatorTraits traits{.commutative = is_commutative(options.op), .idempotent = is_idempotent(options.op)};
  for (const std::string& word : options.algorithms) {
    if (word == "all") {
      add("native");
      for (const Algorithm* algorithm : algorithms_of(collective)) {
        if (unmet_need(*algorithm, size, traits).empty()) add(std::string(algorithm->name));
      }
    } else if (word == "native" || word == "auto") {
      add(word);
    } else if (native::names_library(word)) {
      continue;
    } else if (const auto name = named_by(word, collective)) {  // what only other collectives have is passed over
      const std::string unmet = unmet_need(parse_selection(collective, *name), size, traits);
      if (!unmet.empty() && name->starts_with(file_prefix)) throw Error(ErrorCode::unsupported, *name + " " + unmet);
      if (unmet.empty()) add(*name);
    }
  }
  return names;
}

std::vector<std::string> library_algorithms_for(const Options& options, Collective collective, int size,
                                                Count vector_bytes) {
  std::vector<std::string> names;
  if (options.native_algorithms) names = native::all_names(collective, size, vector_bytes, options.segments);
  for (const std::string& word : options.algorithms) {
    if (!native::names_library(word)) continue;
    const auto name = named_by(word, collective);
    if (name && std::ranges::find(names, *name) == names.end()) names.push_back(*name);
  }
  return names;
}

std::string to_string(Buffers buffers) { return buffers == Buffers::reuse ? "reuse" : "rewrite"; }

int read_options(int argc, char** argv, bool talk, Options& options) {
  CLI::App app("circoll-bench: collectives of this MPI, native against Circoll");
  app.failure_message(options::failure_message);
  app.name("circoll-bench");
  options::BenchWords words;
  options::add_bench_options(app, words);
  app.footer("'circoll bench' starts the one for the MPI in use.\nExamples:\n" + options::bench_examples());
  try {
    app.parse(argc, argv);
    take(words, options);
  } catch (const CLI::ParseError& error) {
    const int code = talk ? app.exit(error) : error.get_exit_code();
    return code == 0 ? 0 : 2;
  }
  return -1;
}

}  // namespace circoll::bench
