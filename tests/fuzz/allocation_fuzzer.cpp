// Any bytes are a list of hosts, a topology.conf and an allocation, or errors that name a line. Levels that were read
// have a path for every rank, and the orders of ranks are permutations.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/error.hpp"
#include "facts/hostlist.hpp"
#include "select/allocation.hpp"

namespace {

using namespace circoll;

/// Reads, or throws an error of code `parse` that begins with the source, if it has one.
template <typename F>
void read(std::string_view source, const F& f) {
  try {
    f();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::parse) std::abort();
    if (std::string_view(error.what()).substr(0, source.size()) != source) std::abort();
  }
}

void look_at(const Levels& levels) {
  if (levels.size() < 1 || levels.depth() < 1) std::abort();
  for (int level = 0; level < levels.depth(); ++level) {
    if (levels.name(level).empty() || levels.part_name(level, levels.part(level, levels.size() - 1)).empty())
      std::abort();
  }
  if (levels.shared(0, levels.size() - 1) > levels.depth()) std::abort();
  if (levels.size() > 300) return;  // orders take longer than reading
  for (const std::vector<Rank>& order :
       {sorted_by_path(levels, levels.size() / 2), packed(levels, levels.size() / 2)}) {
    if (order.front() != levels.size() / 2) std::abort();
    std::vector<Rank> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (Rank r = 0; r < levels.size(); ++r) {
      if (sorted[static_cast<std::size_t>(r)] != r) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  read("", [&] {
    if (hosts_of_list(input, 1000).empty()) std::abort();
  });
  if (const auto path = select::path_of_xname(input); path && path->back() != input) std::abort();
  read("file:", [&] { look_at(select::levels_from_text(input, "file", 2, nullptr)); });
  read("file:", [&] {
    const select::SwitchTree tree(input, "file");
    read("hosts:", [&] { look_at(select::levels_from_text("n[0-3]\na1:2\n", "hosts", 1, &tree)); });
  });
  return 0;
}
