#include "explained_profile.hpp"

#include <fmt/format.h>

#include "facts/processor_name.hpp"
#include "launcher.hpp"

namespace circoll::cli {

ExplainedProfile profile_of_machine(const std::string& mpi, const PolicyOptions& options) {
  const select::ProfileSetting setting = select::profile_setting();
  const MpiLibrary* const wanted = mpi_named(mpi);
  const std::string processor = processor_name();
  ExplainedProfile result;
  std::string others;
  for (const select::ProfileKey& key : select::known_keys(setting)) {
    if (key.processor != processor) continue;
    if (wanted != nullptr && !key.library.starts_with(std::string(wanted->title) + " ")) continue;
    if (!result.found.file.empty()) {
      others += (others.empty() ? "" : ", ") + key.library;
      continue;
    }
    result.found = select::find_profile(key, setting, options);
    result.library = key.library;
  }
  if (result.found.file.empty()) {
    result.note = !setting.off.empty()
                      ? setting.off
                      : fmt::format("there is none for {} on '{}'",
                                    wanted == nullptr ? "any MPI" : std::string(wanted->title), processor);
  } else if (!others.empty()) {
    result.note = fmt::format("there are more, for {}; --mpi says which", others);
  }
  return result;
}

}  // namespace circoll::cli
