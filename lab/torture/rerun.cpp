#include "rerun.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

extern "C" char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves the declaration to the program

namespace circoll::torture {
namespace {

constexpr std::string_view dropin = "/libcircoll-mpi.so";

/// A word as a shell takes it.
std::string quoted(std::string_view word) {
  if (word.find_first_of(" \t'\"\\$&;|<>()*?[]") == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// Circoll's variables that are set, as they stand before a command.
std::string variables() {
  std::string text;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    if (!variable.starts_with("CIRCOLL_")) continue;
    const std::size_t equals = variable.find('=');
    text += fmt::format("{}={} ", variable.substr(0, equals), quoted(variable.substr(equals + 1)));
  }
  return text;
}

/// The words between launcher and program that put the same libraries in front of MPI.
std::string preloading() {
  const char* const value = std::getenv("LD_PRELOAD");
  const std::string_view preloaded = value == nullptr ? "" : value;
  if (preloaded.empty()) return "";
  const bool alone = preloaded.find_first_of(": ") == std::string_view::npos && preloaded.ends_with(dropin);
  return alone ? "circoll run -- " : fmt::format("env LD_PRELOAD={} ", quoted(preloaded));
}

}  // namespace

std::string rerun(int ranks) {
  return fmt::format("{}mpirun -np {} {}{}", variables(), ranks, preloading(), quoted(program_invocation_name));
}

}  // namespace circoll::torture
