#include "processors.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "exec/node/limits.hpp"
#include "facts/text.hpp"

namespace circoll::cli {
namespace {

/// Processors in a list of the system, as "0-1,64-65".
Count length_of(const std::string& list) {
  Count count = 0;
  for (const std::string& word : split_list(list)) {
    const std::size_t dash = word.find('-');
    const auto first = parse_number(word.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_number(word.substr(dash + 1));
    if (first && last && *last >= *first) count += *last - *first + 1;
  }
  return count;
}

}  // namespace

Processors own_processors() {
  const node::OwnProcessors own = node::own_processors();
  Processors all{.allowed = std::max<Count>(own.count, 1), .quota = own.quota};
  std::ifstream file("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list");
  if (std::string siblings; std::getline(file, siblings))
    all.threads_per_core = std::max<Count>(length_of(siblings), 1);
  return all;
}

}  // namespace circoll::cli
