// Results of PICO as files of circoll-bench: names, and the directories.
#include "measured/pico.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "circoll/algorithm.hpp"
#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "select/text_file.hpp"

namespace circoll::measured {
namespace {

namespace fs = std::filesystem;

struct Known {
  std::string_view pico;
  std::string_view own;  ///< with the parameters that it was measured with
};

/// Open MPI's trees were measured with their default segments, that is, in one piece.
constexpr std::array known{Known{"recursive_doubling", "recursive_doubling"},
                           Known{"recursive_distance_doubling", "recursive_doubling"},
                           Known{"ring", "ring"},
                           Known{"rabenseifner", "rabenseifner"},
                           Known{"allgather_reduce", "allgather_reduce"},
                           Known{"binomial", "binomial"},
                           Known{"linear", "linear"},
                           Known{"linear_nb", "linear"},
                           Known{"pairwise", "pairwise"},
                           Known{"recursive_halving", "recursive_halving"},
                           Known{"modified_bruck", "bruck"},
                           Known{"brucks", "bruck"},
                           Known{"neighbor", "neighbor_exchange"},
                           Known{"scatter_allgather", "scatter_allgather"},
                           Known{"split_binary", "split_binary:segments=1"},
                           Known{"binary", "binary:segments=1"},
                           Known{"knomial", "knomial:radix=4"}};

/// These cut the vector into p parts. Libraries use another algorithm if it has fewer elements.
bool cuts_for_ranks(std::string_view own) {
  return own == "ring" || own == "rabenseifner" || own == "scatter_allgather";
}

std::optional<Library> library_of(std::string_view suffix) {
  if (suffix == "ompi") return Library::openmpi;
  if (suffix == "mpich") return Library::mpich;
  return std::nullopt;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Rank ranks_of(const PicoJob& job) { return job.nodes * job.ranks_per_node; }

/// "openmpi 4.1.6", as circoll-bench says it.
std::string mpi_text(const std::string& mpi) {
  std::string text = lower(mpi);
  for (const auto& [pico, own] : {std::pair{"customompi", "openmpi"}, std::pair{"ompi", "openmpi"}}) {
    if (text.starts_with(pico)) return own + text.substr(std::string_view(pico).size());
  }
  return text;
}

nlohmann::ordered_json row_of(const PicoTime& time, const PicoNames& names, Count bytes) {
  nlohmann::ordered_json row = {{"collective", to_string(*names.collective)},
                                {"algorithm", names.algorithm},
                                {"served_by", names.algorithm},
                                {"p", ranks_of(time.job)},
                                {"bytes", bytes},
                                {"reps", time.reps},
                                {"median_us", time.median_s * 1e6}};
  if (time.low_s > 0) row.update({{"median_low_us", time.low_s * 1e6}, {"median_high_us", time.high_s * 1e6}});
  row["correct"] = "-";
  return row;
}

}  // namespace

PicoNames names_of_pico(const PicoTime& time, bool inside_as_own) {
  PicoNames names{.collective = collective_from_string(lower(time.collective))};
  const std::size_t cut = time.algorithm.rfind('_');
  if (!names.collective || cut == std::string::npos) return names;
  const std::string_view base = std::string_view(time.algorithm).substr(0, cut);
  const std::string_view suffix = std::string_view(time.algorithm).substr(cut + 1);
  const auto library = library_of(suffix);
  if (base == "default") {
    names.algorithm = "native";
    return names;
  }
  if (!library && suffix != "over") return names;
  const auto found = std::ranges::find(known, base, &Known::pico);
  if (found == known.end()) return names;
  const Algorithm* const own = find_algorithm(*names.collective, found->own.substr(0, found->own.find(':')));
  if (own == nullptr || (cuts_for_ranks(own->name) && time.elements < ranks_of(time.job))) return names;
  if (!library || inside_as_own) {
    names.algorithm = found->own;
    return names;
  }
  const auto inside = own->names_in(*library, *names.collective);
  if (inside.empty()) return names;
  names.algorithm = fmt::format("{}/{}", *library == Library::openmpi ? "openmpi" : "mpich",
                                inside.front().substr(0, inside.front().find(" (")));
  return names;
}

PicoImport import_pico(const std::vector<PicoTime>& times, bool inside_as_own) {
  PicoImport result;
  // Of several times of one name in one cell the shortest counts, such as `ring` over and inside the library.
  using Cell = std::tuple<Collective, Count, std::string>;
  std::map<PicoJob, std::map<Cell, std::pair<const PicoTime*, PicoNames>>> jobs;
  for (const PicoTime& time : times) {
    PicoNames names = names_of_pico(time, inside_as_own);
    const auto leave_out = [&](const std::string& why) { ++result.left_out[why]; };
    if (!names.collective) {
      leave_out(fmt::format("no collective {}", time.collective));
      continue;
    }
    if (names.algorithm.empty()) {
      leave_out(fmt::format("no algorithm {} {}", to_string(*names.collective), time.algorithm));
      continue;
    }
    const CollectiveTraits& traits = traits_of(*names.collective);
    const Rank p = ranks_of(time.job);
    if (time.reps == 0 || time.median_s == 0 || (traits.blocks != Blocks::one && time.elements < p)) {
      leave_out("no time, or a rank has no element");
      continue;
    }
    // PICO counts the whole vector, and circoll-bench a block of it where it belongs to a rank.
    const Count vector_bytes = traits.blocks == Blocks::one ? time.elements : time.elements / p * p;
    const Count bytes = Amounts::of_vector(*names.collective, p, vector_bytes * time.element_bytes).measured_bytes();
    auto& best = jobs[time.job][{*names.collective, bytes, names.algorithm}];
    if (best.first == nullptr || time.median_s < best.first->median_s) best = {&time, std::move(names)};
  }
  for (const auto& [job, cells] : jobs) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const auto& [cell, best] : cells) rows.push_back(row_of(*best.first, best.second, std::get<1>(cell)));
    result.rows += rows.size();
    const nlohmann::ordered_json document = {{"type", "int32"},
                                             {"op", "sum"},
                                             {"root", 0},
                                             {"p", ranks_of(job)},
                                             {"sync", "barrier"},
                                             {"policy", "model"},
                                             {"mpi", mpi_text(job.mpi)},
                                             {"host", job.system},
                                             {"nodes", job.nodes},
                                             {"ranks_per_node", job.ranks_per_node},
                                             {"rows", rows}};
    const std::string name =
        fmt::format("{}-{}-{}x{}-{}.json", job.system, job.stamp, job.nodes, job.ranks_per_node, mpi_text(job.mpi));
    std::string safe = name;
    std::ranges::replace_if(
        safe, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '-' && c != '_'; }, '-');
    result.files[safe] = document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return result;
}

namespace {

/// The files of iterations of one test. A damaged file is left out.
void read_test(const fs::path& directory, const PicoTest& test, std::vector<PicoTime>& times,
               std::map<std::string, std::size_t>& left_out) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file() && pico_file_name(entry.path().filename().string())) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    PicoTime time = *pico_file_name(file.filename().string());
    time.job = test.job;
    time.collective = test.collective;
    try {
      const PicoTime measured = pico_iterations_from_csv(select::read_text_file(file.string()), file.string());
      time.reps = measured.reps;
      time.median_s = measured.median_s;
      time.low_s = measured.low_s;
      time.high_s = measured.high_s;
      times.push_back(std::move(time));
    } catch (const Error& error) {
      ++left_out[error.what()];
    }
  }
}

}  // namespace

std::vector<PicoTime> read_pico(const fs::path& path, std::map<std::string, std::size_t>& left_out) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    return pico_times_from_csv(select::read_text_file(path.string()), path.string());
  }
  if (!fs::is_directory(path, error)) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is no directory of results, and no table", path.string()));
  }
  constexpr std::string_view ending = "_metadata.csv";
  std::vector<fs::path> descriptions;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    if (entry.path().filename().string().ends_with(ending)) descriptions.push_back(entry.path());
  }
  std::ranges::sort(descriptions);
  std::vector<PicoTime> times;
  for (const fs::path& description : descriptions) {
    std::string system = description.filename().string();
    system.resize(system.size() - ending.size());
    const std::string text = select::read_text_file(description.string());
    for (const PicoTest& test : pico_tests_from_csv(text, system, description.string())) {
      // The name of a directory, and not a way out of it.
      const fs::path part = fs::path(test.job.stamp) / test.id;
      const fs::path directory = path / system / part;
      if (part != part.lexically_normal() || part.is_absolute() || *part.begin() == "..") {
        ++left_out["no directory can have the name of the test"];
      } else if (test.on_device) {
        ++left_out["tests in the memory of GPUs"];
      } else if (!fs::is_directory(directory, error)) {
        ++left_out["tests whose directory is not there (unpack STAMP.tar.gz)"];
      } else {
        read_test(directory, test, times, left_out);
      }
    }
  }
  if (times.empty()) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} has no results of PICO: SYSTEM_metadata.csv, and SYSTEM/STAMP/TEST beside it", path.string()));
  }
  return times;
}

}  // namespace circoll::measured
