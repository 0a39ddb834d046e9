#include "tune/profile_file.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <stdexcept>

#include "facts/files.hpp"
#include "facts/processor_name.hpp"
#include "measured/profile.hpp"

namespace circoll::cli {

namespace fs = std::filesystem;

std::string directory_of_profiles() {
  const auto directory = select::user_profiles();
  if (!directory) {
    throw std::runtime_error(
        "there is no home: neither XDG_CONFIG_HOME nor HOME is set; name the profile's file by -o, and use it by "
        "CIRCOLL_PROFILE=FILE");
  }
  return *directory;
}

std::string profile_file(const std::string& output, const select::ProfileKey& key) {
  return output.empty() ? directory_of_profiles() + "/" + select::profile_file_name(key) : output;
}

void require_profile_file(const std::string& output) {
  measured::require_writable(output.empty() ? directory_of_profiles() : directory_of(output));
}

select::FoundProfile profile_of_today(const std::string& library) {
  const select::ProfileSetting setting = select::profile_setting();
  select::ProfileKey key{.library = library, .processor = processor_name()};
  // Without a version: the only one that there is.
  std::vector<select::ProfileKey> alike = select::known_keys(setting);
  std::erase_if(alike, [&](const select::ProfileKey& one) {
    return one.processor != key.processor || !one.library.starts_with(library + " ");
  });
  if (library.find_first_of("0123456789") == std::string::npos && alike.size() == 1) key = alike.front();
  return select::find_profile(key, setting, {});
}

std::string use_of(const std::string& file) {
  const std::vector<std::string> searched = select::profile_directories();
  const std::string directory = fs::absolute(directory_of(file)).lexically_normal().string();
  if (std::ranges::find(searched, directory) != searched.end()) {
    return "Programs under the drop-in use it from now on. CIRCOLL_PROFILE=off leaves it out, and\n"
           "'circoll doctor' shows what is used.\n";
  }
  return fmt::format("Use it by CIRCOLL_PROFILE={}. Programs do not look there by themselves.\n", file);
}

std::string speed_text(double ratio) {
  if (!(ratio > 0) || !std::isfinite(ratio)) return "not comparable";
  if (ratio >= 2) return fmt::format("{:.1f} times as fast", ratio);
  const double percent = std::round((ratio - 1) * 100);
  if (percent == 0) return "equally fast";
  return fmt::format("{:.0f} % {}", std::abs(percent), percent > 0 ? "faster" : "slower");
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

}  // namespace circoll::cli
