#include "cell_list.hpp"

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "select/text_file.hpp"

namespace circoll::bench {
namespace {

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
  const select::Json root = select::read_json(select::read_text_file(path), path);
  const select::Members members(root, path, {"circoll_cells", "cells"});
  members.require_version("circoll_cells");
  const select::Json& list = members.at("cells");
  if (list.array() == nullptr) members.fail(list, "'cells' must be a list [...]");
  std::vector<AskedCell> cells;
  for (const select::Json& entry : *list.array()) cells.push_back(read_cell(entry, path));
  return cells;
}

}  // namespace

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

}  // namespace circoll::bench
