// Results of PICO as files of circoll-bench: names, and the directories.
#include "measured/pico.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
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
  std::string_view own;                    ///< with the parameters that it was measured with
  bool has_name_in_mpi = true;             ///< circoll-bench can call for it inside the library, too
  std::optional<Collective> collective{};  ///< the only one where the shape is the same
};

/// Open MPI's trees were measured with their default segments, that is, in one piece. Circoll has no algorithm of the
/// shape of two names: scatter_allgather has recursive doubling in its second half, and recursive_distance_doubling of
/// reduce_scatter halves the vector with ever farther partners, then swaps a block. The Bine forms of Circoll's shapes
/// have names: whole vectors, blocks in cyclic ranges, and trees.
constexpr std::array known{Known{"recursive_doubling", "recursive_doubling"},
                           Known{"ring", "ring"},
                           Known{"rabenseifner", "rabenseifner"},
                           Known{"allgather_reduce", "allgather_reduce"},
                           Known{"binomial", "binomial"},
                           Known{"linear", "linear"},
                           Known{"linear_nb", "linear", false},
                           Known{"pairwise", "pairwise"},
                           Known{"recursive_halving", "recursive_halving"},
                           Known{"modified_bruck", "bruck"},
                           Known{"brucks", "bruck"},
                           Known{"neighbor", "neighbor_exchange"},
                           Known{"scatter_allgather_ring", "scatter_allgather"},
                           Known{"scatter_ring_allgather", "scatter_allgather"},
                           Known{"split_binary", "split_binary:segments=1"},
                           Known{"binary", "binary:segments=1"},
                           Known{"knomial", "knomial:radix=4"},
                           Known{"bine_lat", "bine_whole", false, Collective::allreduce},
                           Known{"bine_bdw_remap", "bine", false, Collective::allreduce},
                           Known{"bine_2_blocks", "bine", false, Collective::allgather},
                           Known{"bine_permute_remap", "bine", false, Collective::reduce_scatter},
                           Known{"bine_lat", "bine", false, Collective::bcast},
                           Known{"bine_lat", "bine", false, Collective::reduce},
                           Known{"bine", "bine", false, Collective::gather},
                           Known{"bine", "bine", false, Collective::scatter}};

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
  const auto found = std::ranges::find_if(known, [&](const Known& one) {
    return one.pico == base && (!one.collective || *one.collective == *names.collective);
  });
  if (found == known.end()) return names;
  const Algorithm* const own = find_algorithm(*names.collective, found->own.substr(0, found->own.find(':')));
  if (own == nullptr || (cuts_for_ranks(own->name) && time.elements < ranks_of(time.job))) return names;
  if (!library || inside_as_own) {
    names.algorithm = found->own;
    return names;
  }
  const auto inside = own->names_in(*library, *names.collective);
  if (inside.empty() || !found->has_name_in_mpi) return names;
  names.algorithm = fmt::format("{}/{}", *library == Library::openmpi ? "openmpi" : "mpich",
                                inside.front().substr(0, inside.front().find(" (")));
  return names;
}

namespace {

/// The times of one cell of a job [s], by PICO's names of algorithms.
using Cell = std::map<std::string, double>;
using JobCell = std::tuple<PicoJob, std::string, std::string, Count>;  // job, collective, type, elements

JobCell key_of(const PicoTime& time) { return {time.job, lower(time.collective), time.type, time.elements}; }

std::map<JobCell, Cell> cells_of(const std::vector<PicoTime>& times) {
  std::map<JobCell, Cell> cells;
  for (const PicoTime& time : times) {
    if (time.median_s == 0 || time.on_device) continue;
    const auto [at, is_new] = cells[key_of(time)].emplace(time.algorithm, time.median_s);
    at->second = std::min(at->second, time.median_s);
  }
  return cells;
}

constexpr double alike = 1.02;  ///< times of one algorithm are not farther apart

double ratio_of(double one, double other) { return std::max(one / other, other / one); }

/// True if a label of the library has the time of the default, and X_over has another one.
bool is_default_in_truth(const PicoTime& time, const Cell& cell) {
  constexpr double unlike = 1.25;
  const std::size_t cut = time.algorithm.rfind('_');
  if (cut == std::string::npos || time.median_s == 0 || !library_of(time.algorithm.substr(cut + 1))) return false;
  const std::string base = time.algorithm.substr(0, cut);
  const auto by_default = cell.find("default" + time.algorithm.substr(cut));
  const auto over = cell.find(base + "_over");
  if (base == "default" || by_default == cell.end() || over == cell.end()) return false;
  return ratio_of(time.median_s, by_default->second) < alike && ratio_of(time.median_s, over->second) > unlike;
}

/// The times of one collective and type in a job.
using Series = std::tuple<PicoJob, std::string, std::string>;

Series series_of(const PicoTime& time) { return {time.job, lower(time.collective), time.type}; }

constexpr std::array labels_that_differ{std::string_view("allgather_reduce_ompi"),
                                        std::string_view("rabenseifner_ompi")};

/// Series in which both labels have the same time in most cells, although their costs differ. The library did not obey
/// at least one of the labels, and the times do not say which.
std::set<Series> series_of_one_algorithm(const std::map<JobCell, Cell>& cells) {
  std::map<Series, int> same_or_not;  // cells with the same time, less those with other times
  for (const auto& [key, cell] : cells) {
    const auto one = cell.find(std::string(labels_that_differ[0]));
    const auto other = cell.find(std::string(labels_that_differ[1]));
    if (one == cell.end() || other == cell.end()) continue;
    const auto& [job, collective, type, elements] = key;
    same_or_not[{job, collective, type}] += ratio_of(one->second, other->second) < alike ? 1 : -1;
  }
  std::set<Series> result;
  for (const auto& [series, balance] : same_or_not) {
    if (balance > 0) result.insert(series);
  }
  return result;
}

std::string file_name(const PicoTime& time) {
  const PicoJob& job = time.job;
  std::string name = fmt::format("{}-{}-{}x{}-{}{}.json", job.system, job.stamp, job.nodes, job.ranks_per_node,
                                 mpi_text(job.mpi), time.type == "int32" ? "" : "-" + time.type);
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '-' && c != '_'; }, '-');
  return name;
}

/// X_over is Circoll's own kind of algorithm, and counts before those of the library.
bool counts_before(const PicoTime& time, const PicoTime& other) {
  const bool over = time.algorithm.ends_with("_over");
  if (over != other.algorithm.ends_with("_over")) return over;
  return time.median_s < other.median_s;
}

/// Why a time is in no file; empty if it is.
std::string reason_against(const PicoTime& time, const PicoNames& names, const Cell& cell,
                           const std::set<Series>& of_one_algorithm) {
  if (!names.collective) return fmt::format("no collective {}", time.collective);
  if (names.algorithm.empty()) return fmt::format("no algorithm {} {}", to_string(*names.collective), time.algorithm);
  if (time.on_device) return "times in the memory of GPUs";
  const bool cut = traits_of(*names.collective).blocks != Blocks::one;
  if (time.reps == 0 || time.median_s == 0 || (cut && time.elements < ranks_of(time.job))) {
    return "no time, or a rank has no element";
  }
  if (std::ranges::find(labels_that_differ, time.algorithm) != labels_that_differ.end() &&
      of_one_algorithm.contains(series_of(time))) {
    return "allgather_reduce and rabenseifner of a job in which both have the same times";
  }
  if (is_default_in_truth(time, cell)) return "an algorithm of the library that has the time of the library's default";
  return "";
}

}  // namespace

PicoImport import_pico(const std::vector<PicoTime>& times, bool inside_as_own) {
  PicoImport result;
  using Row = std::tuple<Collective, Count, std::string>;
  std::map<std::string, std::map<Row, std::pair<const PicoTime*, PicoNames>>> files;
  const std::map<JobCell, Cell> cells = cells_of(times);
  const std::set<Series> of_one_algorithm = series_of_one_algorithm(cells);
  for (const PicoTime& time : times) {
    PicoNames names = names_of_pico(time, inside_as_own);
    const auto cell = cells.find(key_of(time));
    const std::string reason =
        reason_against(time, names, cell == cells.end() ? Cell{} : cell->second, of_one_algorithm);
    if (!reason.empty()) {
      ++result.left_out[reason];
      continue;
    }
    // PICO counts the whole vector, and circoll-bench a block of it where it belongs to a rank.
    const Rank p = ranks_of(time.job);
    const bool whole = traits_of(*names.collective).blocks == Blocks::one;
    const Count elements = whole ? time.elements : time.elements / p * p;
    const Count bytes = Amounts::of_vector(*names.collective, p, elements * time.element_bytes).measured_bytes();
    auto& best = files[file_name(time)][{*names.collective, bytes, names.algorithm}];
    if (best.first == nullptr || counts_before(time, *best.first)) best = {&time, std::move(names)};
  }
  for (const auto& [name, found] : files) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const auto& [row, best] : found) rows.push_back(row_of(*best.first, best.second, std::get<1>(row)));
    result.rows += rows.size();
    const PicoTime& any = *found.begin()->second.first;
    const nlohmann::ordered_json document = {{"type", any.type},
                                             {"op", "sum"},
                                             {"root", 0},
                                             {"p", ranks_of(any.job)},
                                             {"sync", "barrier"},
                                             {"policy", "model"},
                                             {"mpi", mpi_text(any.job.mpi)},
                                             {"host", any.job.system},
                                             {"nodes", any.job.nodes},
                                             {"ranks_per_node", any.job.ranks_per_node},
                                             {"rows", rows}};
    result.files[name] = document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return result;
}

namespace {

/// True if a directory within another one can have this name.
bool is_name(const std::string& text) {
  return !text.empty() && text != "." && text != ".." && text.find('/') == std::string::npos;
}

/// The files of iterations of one test. A damaged file is left out.
void read_test(const fs::path& directory, const PicoTest& test, std::vector<PicoTime>& times,
               std::map<std::string, std::size_t>& left_out) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
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
      const fs::path directory = path / system / test.job.stamp / test.id;
      if (!is_name(test.job.stamp) || !is_name(test.id)) {
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
