#include "interpose/all_ranks.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "circoll/error.hpp"
#include "exec/mpi/library/base.hpp"
#include "facts/environment.hpp"
#include "facts/hash.hpp"
#include "interpose/launch.hpp"
#include "schedule/registry.hpp"
#include "select/text_file.hpp"

namespace circoll::interpose {
namespace {

constexpr std::size_t part_bytes = std::size_t{1} << 20U;
constexpr int round_trips = 8;
constexpr int tag = 0;

}  // namespace

MPI_Comm collecting_communicator(mpi::UnsetHandlers handlers) {
  MPI_Comm made = MPI_COMM_NULL;
  (void)mpi::private_duplicate(mpi::base_world(), &made, handlers);
  return made;
}

bool reduce_apart(void* values, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return PMPI_Iallreduce(MPI_IN_PLACE, values, count, type, op, comm, &request) == MPI_SUCCESS &&
         PMPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

void collect(MPI_Comm comm, const std::function<void(const std::function<void(std::string_view)>& sink)>& produce,
             const std::function<void(int rank, std::string_view part)>& consume) {
  int rank = 0;
  int size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  if (rank == 0) {
    produce([&](std::string_view part) { consume(0, part); });
    std::vector<char> part(part_bytes);
    for (int source = 1; source < size; ++source) {
      int length = 0;
      do {  // an empty part is the end
        MPI_Status status;
        if (PMPI_Recv(part.data(), static_cast<int>(part_bytes), MPI_BYTE, source, tag, comm, &status) != MPI_SUCCESS)
          return;
        PMPI_Get_count(&status, MPI_BYTE, &length);
        consume(source, {part.data(), static_cast<std::size_t>(length)});
      } while (length > 0);
    }
    return;
  }
  std::string pending;
  const auto send = [&](std::string_view part) {
    PMPI_Send(part.data(), static_cast<int>(part.size()), MPI_BYTE, 0, tag, comm);
  };
  produce([&](std::string_view part) {
    pending += part;
    std::size_t sent = 0;
    for (; pending.size() - sent >= part_bytes; sent += part_bytes) {
      send(std::string_view(pending).substr(sent, part_bytes));
    }
    pending.erase(0, sent);
  });
  if (!pending.empty()) send(pending);
  send({});
}

ClockReading read_clock(MPI_Comm comm) {
  int rank = 0;
  int size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  ClockReading best{.at_s = PMPI_Wtime(), .offset_s = 0, .error_s = rank == 0 ? 0 : 1e9};
  for (int other = 1; other < size; ++other) {
    if (rank != 0 && rank != other) continue;
    const int partner = rank == 0 ? other : 0;
    double theirs = 0;
    for (int i = 0; i < round_trips; ++i) {
      if (rank == 0) {
        PMPI_Recv(nullptr, 0, MPI_BYTE, partner, tag, comm, MPI_STATUS_IGNORE);
        theirs = PMPI_Wtime();
        PMPI_Send(&theirs, 1, MPI_DOUBLE, partner, tag, comm);
        continue;
      }
      const double begin = PMPI_Wtime();
      PMPI_Send(nullptr, 0, MPI_BYTE, partner, tag, comm);
      PMPI_Recv(&theirs, 1, MPI_DOUBLE, partner, tag, comm, MPI_STATUS_IGNORE);
      const double end = PMPI_Wtime();
      // Rank 0 read its clock between the two; the middle is wrong by half of the trip at most.
      if ((end - begin) / 2 >= best.error_s) continue;
      best = {.at_s = end, .offset_s = theirs - (begin + end) / 2, .error_s = (end - begin) / 2};
    }
  }
  return best;
}

namespace {

constexpr std::size_t most_lines = 6;
constexpr std::size_t most_text = 200;

/// A variable that ranks must have alike, as this rank has it.
struct Setting {
  enum Kind : char { unset = 'u', text = 't', file = 'f', unreadable_file = 'x' };

  std::string_view name;
  Kind kind = unset;
  std::string value;       ///< the text, or the path of the file
  std::uint64_t hash = 0;  ///< of the text, or of the contents of the file
};

Setting read_setting(std::string_view name) {
  Setting setting;
  setting.name = name;
  Hash hash;
  if (const auto value = environment(name)) {
    setting.kind = Setting::text;
    setting.value = *value;
    if (value->starts_with(file_prefix)) setting.value = value->substr(file_prefix.size());
    if (name == "CIRCOLL_MACHINE" || value->starts_with(file_prefix)) {
      try {
        hash.add(select::read_text_file(setting.value));
        setting.kind = Setting::file;
      } catch (const Error&) {
        setting.kind = Setting::unreadable_file;
      }
    } else {
      hash.add(*value);
    }
  }
  hash.add(std::string_view(reinterpret_cast<const char*>(&setting.kind), 1));
  setting.hash = hash.value();
  return setting;
}

std::vector<Setting> read_settings() {
  std::vector<Setting> settings;
  for (const EnvironmentVariable& variable : environment_variables()) {
    if (variable.name == "CIRCOLL_DROPIN_PATH") continue;  // a place, which may differ among machines
    settings.push_back(read_setting(variable.name));
  }
  return settings;
}

/// True for variables that a process reads before it meets the other ranks.
bool is_read_early(std::string_view name) { return name == "CIRCOLL_PROGRESS" || name == "CIRCOLL_DROPIN_PATH"; }

/// Gives each rank the variables of rank 0 that it lacks. True if this rank has got one. Collective.
bool take_missing(int world_rank) {
  std::string text;  // NAME=VALUE, each with a NUL behind it
  for (const EnvironmentVariable& variable : environment_variables()) {
    if (world_rank != 0 || is_read_early(variable.name)) continue;
    if (const auto value = environment(variable.name)) text.append(variable.name).append("=").append(*value) += '\0';
  }
  int length = static_cast<int>(text.size());  // an environment has some MiB at most
  PMPI_Bcast(&length, 1, MPI_INT, 0, mpi::base_world());
  text.resize(static_cast<std::size_t>(length));
  PMPI_Bcast(text.data(), length, MPI_CHAR, 0, mpi::base_world());
  bool taken = false;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(rest.find('\0') + 1)) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    const std::string_view name = entry.substr(0, entry.find('='));
    if (environment(name)) continue;
    set_missing_environment(name, std::string(entry.substr(name.size() + 1)));
    taken = true;
  }
  return taken;
}

/// For each variable the lowest rank that has it otherwise than rank 0. If there is none, it is the greatest int.
std::vector<int> first_others(const std::vector<Setting>& settings, int world_rank) {
  std::vector<std::uint64_t> hashes(settings.size());
  std::transform(settings.begin(), settings.end(), hashes.begin(), [](const Setting& setting) { return setting.hash; });
  PMPI_Bcast(hashes.data(), static_cast<int>(hashes.size()), MPI_UINT64_T, 0, mpi::base_world());
  std::vector<int> others(settings.size(), std::numeric_limits<int>::max());
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (settings[i].hash != hashes[i]) others[i] = world_rank;
  }
  (void)reduce_apart(others.data(), static_cast<int>(others.size()), MPI_INT, MPI_MIN, mpi::base_world());
  return others;
}

/// A setting of another rank, of which all get kind and value.
Setting setting_of(int rank, int world_rank, const Setting& own) {
  std::string text(1 + most_text, '\0');
  if (rank == world_rank) {
    text[0] = own.kind;
    own.value.copy(text.data() + 1, most_text - 1);
  }
  PMPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, rank, mpi::base_world());
  return {.name = own.name, .kind = static_cast<Setting::Kind>(text[0]), .value = text.c_str() + 1, .hash = 0};
}

bool is_file(const Setting& setting) {
  return setting.kind == Setting::file || setting.kind == Setting::unreadable_file;
}

std::string described(const Setting& setting, int rank) {
  const std::string where = " on rank " + std::to_string(rank);
  const std::string value = "'" + setting.value.substr(0, most_text - 1) + "'";
  switch (setting.kind) {
    case Setting::unset:
      return "not set" + where;
    case Setting::text:
      return value + where;
    case Setting::file:
      return "the file " + value + where;
    case Setting::unreadable_file:
      return "the file " + value + where + ", which cannot be read there";
  }
  return "unknown" + where;
}

std::string difference(const Setting& first, const Setting& other, int other_rank) {
  const std::string name(first.name);
  if (first.kind == Setting::file && other.kind == Setting::file && first.value == other.value) {
    return name + ": the contents of '" + first.value + "' on rank 0 and on rank " + std::to_string(other_rank);
  }
  return name + ": " + described(first, 0) + ", " + described(other, other_rank);
}

std::vector<std::string> differences(const std::vector<Setting>& settings, int world_rank) {
  const std::vector<int> others = first_others(settings, world_rank);
  std::vector<std::string> lines;
  std::vector<std::string> variables;
  std::size_t count = 0;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (others[i] == std::numeric_limits<int>::max()) continue;
    const Setting other = setting_of(others[i], world_rank, settings[i]);
    if (!is_file(settings[i]) || !is_file(other)) variables.emplace_back(settings[i].name);
    if (++count <= most_lines) lines.push_back(difference(settings[i], other, others[i]));
  }
  if (count > most_lines) lines.push_back("and " + std::to_string(count - most_lines) + " more");
  if (!variables.empty()) lines.push_back("hand them on to all ranks: " + how_to_hand_on(variables));
  return lines;
}

struct Compared {
  bool compared = false;
  bool names = false, values = false, reports = false;  ///< the same on all ranks
};

Compared compare(const std::vector<Setting>& settings) {
  Hash names, all, reports;
  for (const Setting& setting : settings) {
    const std::string_view bytes(reinterpret_cast<const char*>(&setting.hash), sizeof setting.hash);
    names.add(setting.name);
    all.add(bytes);
    if (setting.name == "CIRCOLL_REPORT" || setting.name == "CIRCOLL_TRACE") reports.add(bytes);
  }
  // The greatest hashes and, as complements, the least ones.
  std::uint64_t both[] = {all.value(), ~all.value(), reports.value(), ~reports.value(), names.value(), ~names.value()};
  if (!reduce_apart(both, static_cast<int>(std::size(both)), MPI_UINT64_T, MPI_MAX, mpi::base_world())) return {};
  return {
      .compared = true, .names = both[4] == ~both[5], .values = both[0] == ~both[1], .reports = both[2] == ~both[3]};
}

}  // namespace

Agreement compare_environments(int world_rank) {
  std::vector<Setting> settings = read_settings();
  Compared found = compare(settings);
  Agreement agreement;
  if (found.compared && found.names && !found.values) {
    agreement.taken = take_missing(world_rank);
    settings = read_settings();
    found = compare(settings);
  }
  agreement.compared = found.compared;
  if (!found.compared) return agreement;
  agreement.alike = found.values && found.names;
  agreement.reports_alike = found.reports;
  if (!found.names) {
    agreement.lines = {"the ranks run different versions of Circoll"};
  } else if (!found.values) {
    agreement.lines = differences(settings, world_rank);
  }
  return agreement;
}

}  // namespace circoll::interpose
