// The examination of this system: processors, copies between processes, variables.
#include "doctor/examination.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string>

#include "facts/environment.hpp"
#include "facts/text.hpp"
#include "processors.hpp"

namespace circoll::cli {
namespace {

std::string word_in(const std::string& path, const std::string& key = "") {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    if (key.empty()) return word;
    if (word == key && file >> word) return word;
  }
  return "";
}

/// The registered variable that a misspelt one looks like; empty if it is like none.
std::string nearest_variable(const std::string& name) {
  std::string nearest;
  std::size_t least = 4;  // letters that may be wrong
  for (const EnvironmentVariable& variable : environment_variables()) {
    const std::size_t wrong = edit_distance(name, variable.name);
    if (wrong >= least) continue;
    least = wrong;
    nearest = variable.name;
  }
  return nearest;
}

}  // namespace

Diagnoses examine_processors(Rank ranks) {
  const Processors all = own_processors();
  Diagnoses findings;
  std::string says = fmt::format("{} may be used", all.allowed);
  if (all.threads_per_core > 1) says += fmt::format(", {} of them in each core", all.threads_per_core);
  if (all.quota > 0 && all.quota < all.allowed) {
    says += fmt::format("; the control group gives the time of {}", all.quota);
  }
  add_good(findings, "processors", says);
  if (ranks > all.usable()) {
    add_note(findings, "processors",
             fmt::format("{} ranks are more than the processors, so that they take turns and all "
                         "collectives are slow",
                         ranks),
             fmt::format("start at most {} ranks on this node, or widen the affinity or the control "
                         "group",
                         all.usable()));
  }
  return findings;
}

Diagnoses examine_copies() {
  Diagnoses findings;
  const std::string scope = word_in("/proc/sys/kernel/yama/ptrace_scope");
  if (scope == "2" || scope == "3") {
    add_note(findings, "Yama",
             fmt::format("kernel.yama.ptrace_scope is {}, so that long messages inside the node are "
                         "copied twice instead of read directly",
                         scope),
             "an administrator can set it to 1");
  } else {
    add_good(findings, "Yama", scope.empty() ? "is not there" : "kernel.yama.ptrace_scope is " + scope);
  }
  if (word_in("/proc/self/status", "Seccomp:") == "2") {
    add_good(findings, "seccomp",
             "system calls are filtered, as in a container; below stands whether memory can be "
             "shared and read");
  }
  return findings;
}

Diagnoses examine_environment() {
  Diagnoses findings;
  for (const std::string& name : unknown_environment_variables()) {
    const std::string meant = nearest_variable(name);
    add_wrong(findings, "variables", name + " is set and is not one of Circoll's",
              meant.empty() ? "unset it; 'man circoll-run' lists those that there are"
                            : "unset it, or was " + meant + " meant?");
  }
  for (const EnvironmentVariable& variable : environment_variables()) {
    const auto value = environment(variable.name);
    if (!value) continue;
    add_note(findings, "variables",
             fmt::format("{}={} is set (default: {})", variable.name, *value, variable.fallback));
  }
  if (findings.empty()) add_good(findings, "variables", "no CIRCOLL_ variable is set");
  return findings;
}

}  // namespace circoll::cli
