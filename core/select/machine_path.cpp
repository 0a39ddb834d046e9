#include "select/machine_path.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "select/text_file.hpp"

namespace circoll::select {
namespace {

/// The path without the host.
Path above(Path path) {
  path.pop_back();
  return path;
}

Path split(std::string_view text, char separator) {
  Path parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// A variable of the job, empty if it is not set. Launchers other than Slurm's may hand the first node's on to all.
std::string of_job(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

Path path_of_job(const std::string& host, const std::string& xname_file) {
  Path names = split(of_job("SLURM_TOPOLOGY_ADDR"), '.');
  if (names.size() > 1 && names.back() == host) return above(std::move(names));
  std::error_code none;
  if (!std::filesystem::exists(xname_file, none)) return {};
  std::string name = read_text_file(xname_file);
  while (!name.empty() && (name.back() == '\n' || name.back() == ' ')) name.pop_back();
  auto path = path_of_xname(name);
  return path ? above(std::move(*path)) : Path{};
}

}  // namespace

Path path_above(const std::string& setting, const JobProcess& process, const std::string& xname_file) {
  if (setting.empty() || setting == "off") return {};
  const std::string host = process.host.substr(0, process.host.find('.'));
  if (setting == "auto") return path_of_job(host, xname_file);
  const std::string text = read_text_file(setting);
  if (describes_switches(text)) {
    const SwitchTree tree(text, setting);
    for (const std::string& name : {process.host, host}) {
      if (tree.has(name)) return above(tree.path_of(name));
    }
    return above(tree.path_of(of_job("SLURMD_NODENAME")));
  }
  return above(levels_from_text(text, setting, 1, nullptr, process.size).path(process.rank));
}

}  // namespace circoll::select
