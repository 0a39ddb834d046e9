#include "exec/node/control_group.hpp"

#include <algorithm>
#include <array>

#include "exec/node/system.hpp"

namespace circoll::node {
namespace {

/// True if a list such as "cpu,memory" has the name.
bool names(std::string_view list, std::string_view wanted) {
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    if (name == wanted) return true;
    list.remove_prefix(std::min(list.size(), name.size() + 1));
  }
  return false;
}

}  // namespace

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::array<char, 64> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read_file fills it
  const auto text = read_file(path.c_str(), buffer);
  return text ? leading_number(*text) : std::nullopt;
}

void visit_control_groups(std::string_view controller, const ControlGroupFiles& files,
                          const std::function<void(const std::string& directory, GroupVersion version)>& visit) {
  std::array<char, 8192> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read_file fills it
  auto text = read_file(files.membership.c_str(), buffer).value_or("");
  while (!text.empty()) {
    // hierarchy:controllers:path; version 2 has no controllers there.
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && !names(controllers, controller)) continue;
    const GroupVersion version = controllers.empty() ? GroupVersion::two : GroupVersion::one;
    std::string_view path = line.substr(second + 1);
    if (path == "/" || !path.starts_with('/') || path.find("..") != std::string_view::npos) path = {};
    const std::string top = version == GroupVersion::two ? files.mount : files.mount + "/" + std::string(controller);
    for (;; path = path.substr(0, path.rfind('/'))) {
      visit(top + std::string(path), version);
      if (path.empty()) break;
    }
  }
}

}  // namespace circoll::node
