#include "exec/mpi/serve/shared_profile.hpp"

#include <array>
#include <cstdint>

#include "facts/processor_name.hpp"
#include "facts/program_name.hpp"

namespace circoll::mpi {
namespace {

/// Lengths of what follows, in bytes.
struct Lengths {
  std::uint64_t file = 0;
  std::uint64_t text = 0;
  std::uint64_t program = 0;
};

}  // namespace

select::ProfileKey own_profile_key() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  PMPI_Get_library_version(version.data(), &length);
  return {.library = select::library_name({version.data(), static_cast<std::size_t>(length)}),
          .processor = processor_name()};
}

SharedProfile share_profile(MPI_Comm comm, const PolicyOptions& options) {
  SharedProfile profile;
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    const select::ProfileSetting setting = select::profile_setting();
    select::FoundProfile found = select::find_profile(own_profile_key(), setting, options);
    profile.complaint = select::complaint(found, setting);
    profile.file = std::move(found.file);
    profile.text = std::move(found.text);
    profile.program = program_name();
    profile.why = std::move(found.why);
    profile.other_patch = std::move(found.other_patch);
  }
  Lengths lengths{.file = profile.file.size(), .text = profile.text.size(), .program = profile.program.size()};
  if (PMPI_Bcast(&lengths, sizeof lengths, MPI_BYTE, 0, comm) != MPI_SUCCESS || lengths.text == 0) {
    return {.why = std::move(profile.why),
            .other_patch = std::move(profile.other_patch),
            .complaint = std::move(profile.complaint)};
  }
  std::string all = profile.file + profile.program + profile.text;
  all.resize(lengths.file + lengths.program + lengths.text);  // at most that of a text file, 16 MiB
  if (PMPI_Bcast(all.data(), static_cast<int>(all.size()), MPI_BYTE, 0, comm) != MPI_SUCCESS) return {};
  profile.file = all.substr(0, lengths.file);
  profile.program = all.substr(lengths.file, lengths.program);
  profile.text = all.substr(lengths.file + lengths.program);
  return profile;
}

}  // namespace circoll::mpi
