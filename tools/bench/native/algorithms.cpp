#include "native/algorithms.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <memory>
#include <string_view>

#include "circoll/error.hpp"
#include "facts/text.hpp"

namespace circoll::bench::native {
namespace {

constexpr std::array libraries{"openmpi", "mpich", "abi", "smpi"};
/// The fan-out that Open MPI's chains have where nothing is said.
constexpr int usual_fanout = 4;

/// A name in parts.
struct Wanted {
  const Inside* algorithm = nullptr;
  Count segment = 0;
  int fanout = 0;
};

std::string name_of(const Wanted& wanted) {
  return std::string(library_id()) + "/" + with_parameters(wanted.algorithm->name, wanted.segment, wanted.fanout);
}

bool ends_program(const Inside& algorithm, int size) {
  return algorithm.power_of_two && !std::has_single_bit(static_cast<unsigned>(size));
}

/// A parameter of a name; returns what is wrong with it, or nothing.
std::string read_parameter(const std::string& text, Wanted& wanted) {
  const std::size_t equals = text.find('=');
  const std::string key = text.substr(0, equals);
  const auto value = parse_bytes(equals == std::string::npos ? "" : text.substr(equals + 1));
  const bool known = (key == "segment" && wanted.algorithm->cuts != Cuts::nothing) ||
                     (key == "fanout" && wanted.algorithm->has_fanout);
  if (!known) return wanted.algorithm->name + " of the MPI library has no parameter '" + key + "'";
  if (!value || *value < 1 || *value > std::numeric_limits<int>::max()) return "'" + text + "' has no number";
  if (key == "segment") wanted.segment = *value;
  if (key == "fanout") wanted.fanout = static_cast<int>(*value);
  return "";
}

/// Returns what is wrong, or nothing.
std::string read_name(const std::string& word, Collective collective, Wanted& wanted) {
  const std::string library = word.substr(0, word.find('/'));
  if (library != library_id()) {
    return "'" + word + "' is an algorithm of " + library + ", and this is " + std::string(library_id());
  }
  const Offer& offered = offer(collective);
  if (!offered.why_none.empty()) return offered.why_none;
  const std::string text = word.substr(library.size() + 1), name = text.substr(0, text.find(':'));
  const auto found = std::ranges::find(offered.algorithms, name, &Inside::name);
  if (found == offered.algorithms.end()) {
    std::vector<std::string> known;
    for (const Inside& algorithm : offered.algorithms) known.push_back(algorithm.name);
    return unknown_name(name, "algorithm of " + library + " for " + std::string(to_string(collective)), known);
  }
  int size = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (ends_program(*found, size)) {
    return "'" + word + "' would end the program: it needs a number of ranks that is a power of two";
  }
  wanted.algorithm = &*found;
  if (found->has_fanout) wanted.fanout = usual_fanout;
  if (text.size() == name.size()) return "";
  for (const std::string& parameter : split_list(text.substr(name.size() + 1))) {
    if (std::string wrong = read_parameter(parameter, wanted); !wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace

const Offer& offer(Collective collective) {
  static std::map<Collective, Offer> known;
  const auto found = known.find(collective);
  return found != known.end() ? found->second : known.emplace(collective, make_offer(collective)).first->second;
}

std::string with_parameters(std::string name, Count segment, int fanout) {
  if (segment > 0) name += ":segment=" + std::to_string(segment);
  if (fanout > 0) name += (segment > 0 ? ",fanout=" : ":fanout=") + std::to_string(fanout);
  return name;
}

bool names_library(const std::string& word) {
  const std::size_t slash = word.find('/');
  return slash != std::string::npos && std::ranges::find(libraries, word.substr(0, slash)) != libraries.end();
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> memory{};
  int length = 0;
  PMPI_Get_library_version(memory.data(), &length);
  const std::string_view text(memory.data());
  constexpr std::string_view digits = "0123456789", digits_and_points = "0123456789.";
  const std::size_t from = std::min(text.find_first_of(digits), text.size());
  const std::size_t to = std::min(text.find_first_not_of(digits_and_points, from), text.size());
  return std::string(library_id()) + " " + std::string(text.substr(from, to - from));
}

bool asks_for_library(int argc, char** argv) {
  const std::string prefix = std::string(library_id()) + "/";
  return std::any_of(argv, argv + argc, [&](const std::string_view word) {
    return word == "--native-algorithms" || word.find(prefix) != std::string_view::npos;
  });
}

std::vector<std::string> all_names(Collective collective, int size, Count vector_bytes,
                                   const std::vector<Count>& segments) {
  std::vector<std::string> names;
  if (size < 2) return names;
  for (const Inside& algorithm : offer(collective).algorithms) {
    if (ends_program(algorithm, size)) continue;
    Wanted wanted{.algorithm = &algorithm, .fanout = algorithm.has_fanout ? usual_fanout : 0};
    names.push_back(name_of(wanted));
    const Count piece = algorithm.cuts == Cuts::nothing ? 0
                        : algorithm.cuts == Cuts::block ? vector_bytes / size
                                                        : vector_bytes;
    for (const Count segment : segments) {
      if (segment < 1 || segment >= piece) continue;
      wanted.segment = segment;
      names.push_back(name_of(wanted));
    }
  }
  return names;
}

std::optional<std::string> named_by(const std::string& word, Collective collective, std::string* why) {
  Wanted wanted;
  std::string wrong = read_name(word, collective, wanted);
  if (wrong.empty()) return name_of(wanted);
  if (why != nullptr) *why = std::move(wrong);
  return std::nullopt;
}

std::string name_of_native(Collective collective) {
  const std::string forced = forced_from_outside(collective);
  return forced.empty() ? "native" : std::string(library_id()) + "/" + forced;
}

const Forced& Forced::get(Collective collective, const std::string& name) {
  static std::map<std::pair<Collective, std::string>, std::unique_ptr<const Forced>> known;
  std::unique_ptr<const Forced>& forced = known[{collective, name}];
  if (forced != nullptr) return *forced;
  Wanted wanted;
  if (const std::string wrong = read_name(name, collective, wanted); !wrong.empty()) {
    throw Error(ErrorCode::unsupported, wrong);
  }
  static const bool obeys = [] {
    prove_obedience();
    return true;
  }();
  check(obeys, "the proof has thrown");
  std::vector<Setting> settings = wanted.algorithm->settings;
  for (Setting& setting : parameters(collective, wanted.segment, wanted.fanout)) settings.push_back(std::move(setting));
  forced.reset(new Forced(std::move(settings)));  // its constructor is private
  return *forced;
}

}  // namespace circoll::bench::native
