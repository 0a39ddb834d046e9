#include "facts/program_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace circoll {
namespace {

/// Interpreters. A version may follow, as in python3.11.
constexpr std::array<std::string_view, 13> interpreters{"python", "pypy", "sh",  "bash",   "dash", "zsh",  "R",
                                                        "perl",   "ruby", "lua", "octave", "node", "julia"};
constexpr std::size_t most_letters = 100;

std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_interpreter(std::string_view name) {
  const std::string_view letters = name.substr(0, name.find_last_not_of("0123456789.-") + 1);
  return std::find(interpreters.begin(), interpreters.end(), letters) != interpreters.end();
}

/// The word that names what an interpreter executes; empty if there is none.
std::string_view script_of(const std::vector<std::string>& arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    constexpr std::string_view file = "--file=";  // of R
    if (word.starts_with(file)) return word.substr(file.size());
    if (word == "-c" || word == "-e") return {};
    if (word == "-W" || word == "-X" || word == "-o") {
      ++i;  // its value
    } else if (word == "mpi4py" && arguments[i - 1] == "-m") {
      continue;  // it executes what follows
    } else if (!word.starts_with('-')) {
      return word;
    }
  }
  return {};
}

}  // namespace

std::string program_name_of(std::string_view executable, const std::vector<std::string>& arguments) {
  constexpr std::string_view gone = " (deleted)";
  if (executable.ends_with(gone)) executable.remove_suffix(gone.size());
  std::string_view name = last_part(executable);
  if (is_interpreter(name)) {
    if (const std::string_view script = last_part(script_of(arguments)); !script.empty()) name = script;
  }
  std::string tidy(name.substr(0, most_letters));
  for (char& c : tidy) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 128 || (std::isalnum(byte) == 0 && std::string_view("._+-").find(c) == std::string_view::npos)) c = '_';
  }
  return tidy;
}

std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin < line.size(); begin += arguments.back().size() + 1) {
    arguments.emplace_back(line.c_str() + begin);
  }
  return arguments;
}

std::string program_name() {
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "" : program_name_of(executable.native(), own_arguments());
}

}  // namespace circoll
