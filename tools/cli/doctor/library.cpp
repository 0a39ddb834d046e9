// The examination of one MPI library.
#include "doctor/examination.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "circoll/error.hpp"
#include "facts/environment.hpp"
#include "facts/processor_name.hpp"
#include "launcher.hpp"
#include "measured/file_kind.hpp"
#include "process.hpp"
#include "processors.hpp"
#include "select/machine.hpp"
#include "select/network.hpp"
#include "select/text_file.hpp"
#include "tune/launches.hpp"

namespace circoll::cli {
namespace {

/// The drop-in that `circoll run` would preload.
void examine_dropin(const Launcher& launcher, LibraryExamination& result) {
  const auto named = environment("CIRCOLL_DROPIN_PATH");
  const auto file = named ? named : find_dropin(*launcher.mpi);
  const std::string title(launcher.mpi->title);
  const auto wrong = [&](const std::string& says, const std::string& todo) {
    add_wrong(result.findings, "drop-in", says, todo);
  };
  std::error_code error;
  if (!file || !std::filesystem::exists(*file, error)) {
    return wrong(file ? fmt::format("CIRCOLL_DROPIN_PATH names '{}', which does not exist", *file)
                      : fmt::format("there is none for {} beside this circoll", title),
                 file ? "unset CIRCOLL_DROPIN_PATH"
                      : fmt::format("build and install Circoll with {} (CIRCOLL_{}=ON)", title,
                                    launcher.mpi == &openmpi_library ? "OPENMPI" : "MPICH"));
  }
  const MpiLibrary* const linked = linked_mpi(*file);
  if (linked != launcher.mpi) {
    return wrong(
        fmt::format("{} is {}, not for {}", *file,
                    linked == nullptr ? "linked to no MPI that can be found" : fmt::format("for {}", linked->title),
                    title),
        named ? "unset CIRCOLL_DROPIN_PATH" : "build Circoll with the MPI that is here, or set LD_LIBRARY_PATH");
  }
  add_good(result.findings, "drop-in", *file);
}

/// Ranks of circoll-bench, started for a moment: the file that they wrote.
nlohmann::json start_ranks(const Launcher& launcher, const std::string& bench, Rank ranks) {
  const ResultDirectory directory("");
  const std::string file = directory.path() + "/probe.json";
  const Processors processors = own_processors();
  const Ending ending =
      run_program({.arguments = launch_command(
                       launcher, ranks,
                       {.oversubscribe = ranks > processors.usable(), .hardware_threads = ranks > processors.cores()},
                       {bench, "--collective", "allreduce", "--bytes", "8", "--algorithm", "auto", "--reps", "3",
                        "--seconds", "0.05", "--policy", "model", "--json", file}),
                   .limit = std::chrono::seconds(60)});
  if (!ending.good()) throw std::runtime_error(described(ending));
  return nlohmann::json::parse(select::read_text_file(file));
}

/// Runtimes of GPUs in the ranks that were started: any program of this MPI has them, and may load more.
void examine_devices(const nlohmann::json& runtimes, Diagnoses& findings) {
  const std::string wanted = environment("CIRCOLL_DEVICE_MEMORY").value_or("auto");
  if (wanted == "on" || wanted == "off") {
    findings.push_back(
        {.weight = wanted == "on" ? Weight::note : Weight::good,
         .about = "devices",
         .says = wanted == "on" ? "CIRCOLL_DEVICE_MEMORY is on: ranks agree about memory of GPUs in each call"
                                : "CIRCOLL_DEVICE_MEMORY is off: no call is taken to have memory of GPUs",
         .todo = wanted == "on" ? "unset it, unless the MPI library loads its runtime of GPUs after MPI_Init" : ""});
    return;
  }
  if (runtimes.empty()) add_good(findings, "devices", "no runtime of GPUs is loaded");
  for (const nlohmann::json& one : runtimes) {
    const std::string name = one.at("name"), unused = one.at("unused");
    if (!unused.empty()) {
      add_good(findings, "devices", fmt::format("{} is loaded, but {}: calls are served", name, unused));
      continue;
    }
    add_note(findings, "devices",
             fmt::format("{} is loaded: ranks agree about memory of GPUs in each blocking call, and "
                         "nonblocking ones are native",
                         name),
             "CIRCOLL_DEVICE_MEMORY=off, if no collective has memory of a GPU; docs/user/served.md");
  }
}

void examine_ranks(const Launcher& launcher, const std::string& bench, Rank ranks, LibraryExamination& result) {
  nlohmann::json seen;
  try {
    seen = start_ranks(launcher, bench, ranks);
  } catch (const std::exception& error) {
    add_wrong(result.findings, "ranks",
              fmt::format("{} ranks of circoll-bench by {}: {}", ranks, launcher.file, error.what()),
              "start any MPI program by this launcher; Circoll needs nothing more than that");
    return;
  }
  if (seen.value("p", 0) != ranks) {
    add_wrong(result.findings, "ranks",
              fmt::format("{} started {} ranks that do not find each other", launcher.file, ranks),
              "use the launcher of the MPI that Circoll was built with");
    return;
  }
  result.complete = true;
  result.name = seen.value("library", result.name);
  const nlohmann::json& inside = seen.at("inside_nodes");
  result.crowded = inside.value("crowded", false);
  add_good(result.findings, "ranks", fmt::format("{} start, with {}", ranks, result.name));
  if (result.name != library_of(launcher) && !launcher.version.empty()) {
    add_note(result.findings, "ranks",
             fmt::format("the launcher is of {}, and programs run with {}", library_of(launcher), result.name),
             "make PATH and LD_LIBRARY_PATH name the same installation");
  }
  const std::string reason = inside.value("reason", ""), reading = inside.value("reading_reason", "");
  if (!reason.empty()) {
    add_note(result.findings, "memory", "ranks of this node share no memory, since " + reason,
             "docs/developer/node.md says what it needs");
  } else {
    add_good(result.findings, "memory",
             reading.empty() ? "ranks of this node share memory, and read long messages directly"
                             : "ranks of this node share memory; long messages are not read directly, "
                               "since " +
                                   reading);
  }
  examine_devices(seen.value("device_runtimes", nlohmann::json::array()), result.findings);
}

/// The command that measures with a launcher.
std::string tune_command(const Launcher& launcher, Rank ranks) {
  return fmt::format("circoll tune --here --mpi {} -p {}{}", launcher.mpi->id, ranks,
                     launcher.words.empty() ? "" : fmt::format(" --launcher '{}'", launcher.words));
}

/// Programs for which a profile has rules, with the outcome of their runs.
std::string programs_in(const select::ProfileHead& head) {
  std::string text;
  for (const select::ProfileProgram& one : head.programs) {
    text += fmt::format("{}{} ({}; {})", text.empty() ? "" : ", ", one.name, one.date,
                        one.tried.empty() ? "not tried" : one.tried);
  }
  return text;
}

/// The findings about a search for a profile. `ranks`: those that are asked for. `tune`: how to measure.
Diagnoses findings_of(const select::FoundProfile& found, const std::string& library, Rank ranks,
                      const std::string& tune) {
  Diagnoses findings;
  if (!found.other_patch.empty()) {
    add_wrong(findings, "profile",
              fmt::format("the profile of {} is not used any more, since this is {}", found.other_patch, library),
              tune);
  } else if (found.file.empty()) {
    add_note(findings, "profile", "auto is the model's choice, since " + found.why + found.places, tune);
  } else if (const select::ProfileRanks* const part = found.head.find(ranks)) {
    add_good(findings, "profile",
             fmt::format("{}, measured with {} ranks in {} launches on {} ({}, Circoll {})", found.file, ranks,
                         part->launches, part->date, part->host, part->circoll));
  } else {
    add_note(findings, "profile", fmt::format("{} has nothing for {} ranks", found.file, ranks), tune);
  }
  if (const std::string programs = programs_in(found.head); !programs.empty()) {
    add_good(findings, "profile", "it has rules for " + programs);
  }
  for (const select::RefusedProfile& one : found.refused) {
    findings.push_back({.weight = one.damaged ? Weight::wrong : Weight::note,
                        .about = "profile",
                        .says = one.damaged ? "damaged and not used: " + one.why
                                            : fmt::format("{} is not used: {}", one.file, one.why),
                        .todo = one.damaged ? "remove it, and measure anew: " + tune : ""});
  }
  return findings;
}

/// The numbers that jobs on several hosts go by, which include this one.
void examine_network(LibraryExamination& result) {
  Diagnoses& findings = result.findings;
  std::string complaint;
  const std::string off = select::no_network_because(&complaint);
  if (!complaint.empty()) add_wrong(findings, "network", complaint, "unset the variable");
  if (!off.empty()) {
    add_note(findings, "network", "jobs on several hosts measure nothing, since " + off);
    return;
  }
  const std::string key = select::network_key(result.name);
  const auto file = select::network_file(key);
  if (!file) {
    add_note(findings, "network", "there is no home, so that each job on several hosts measures its network anew",
             "set HOME or XDG_CACHE_HOME on the host of rank 0");
    return;
  }
  const select::KeptNetwork kept = select::read_network(*file, key);
  if (!kept.complaint.empty()) {
    add_wrong(findings, "network", kept.complaint, "remove the file");
  } else if (kept.numbers) {
    add_good(findings, "network",
             fmt::format("{}, by {} (remove it to measure anew)", select::readable(*kept.numbers), *file));
  } else {
    add_good(findings, "network", fmt::format("the first job on several hosts measures {} and keeps {}", key, *file));
  }
}

/// Says whether programs would learn.
void examine_learning(const std::string& policy, Diagnoses& findings) {
  const std::string file = environment("CIRCOLL_LEARN").value_or("");
  const std::string faults = environment("CIRCOLL_FAULTS").value_or("off");
  if (faults != "off") {
    add_note(findings, "learning", "CIRCOLL_FAULTS is " + faults + ": nothing is learned from calls");
  } else if (file == "off") {
    add_note(findings, "learning", "CIRCOLL_LEARN is off: nothing is learned from calls, also across hosts");
  } else if (policy == "learn" || !file.empty()) {
    add_good(findings, "learning",
             "all communicators learn from calls" + (file.empty() ? "; nothing is kept" : "; it is kept in " + file));
  } else {
    add_good(findings, "learning",
             "communicators with ranks on several hosts learn from calls; CIRCOLL_LEARN=off ends it");
  }
}

/// The policy that "auto" is in a program under the drop-in.
void examine_auto(const Launcher& launcher, Rank ranks, LibraryExamination& result) {
  const std::string policy = environment("CIRCOLL_POLICY").value_or("auto");
  PolicyOptions options;
  try {
    if (const auto machine = environment("CIRCOLL_MACHINE")) options.machine = read_machine(*machine);
    if (policy != "auto" && policy != "learn") {
      add_note(result.findings, "profile", "CIRCOLL_POLICY is " + policy + ", so that no profile is looked for");
      result.automatic = make_policy(policy, options);
      return;
    }
  } catch (const Error& error) {
    add_wrong(result.findings, "policy", std::string(error.what()) + "; native collectives would be used",
              "mend the file, or unset the variable");
    return;
  }
  examine_network(result);
  const select::ProfileKey key{.library = result.name, .processor = processor_name()};
  const select::FoundProfile found = select::find_profile(key, select::profile_setting(), options, true);
  examine_learning(policy, result.findings);
  const Diagnoses about = findings_of(found, result.name, ranks, tune_command(launcher, ranks));
  result.findings.insert(result.findings.end(), about.begin(), about.end());
  if (!found.other_patch.empty()) result.outdated = about.front();
  result.profile = found.file;
  result.automatic =
      found.file.empty() ? make_policy("auto", options) : select::make_profile_policy(found.text, found.file, options);
}

}  // namespace

LibraryExamination examine_library(const Launcher& launcher, Rank ranks) {
  LibraryExamination result{.name = library_of(launcher)};
  add_good(result.findings, "launcher", fmt::format("{} of {}", launcher.file, result.name));
  const std::string refused = refusal(launcher);
  if (!refused.empty()) {
    add_wrong(result.findings, "launcher", launcher.file + " starts nothing for root",
              refused.substr(refused.find("; ") + 2));
  }
  examine_dropin(launcher, result);
  const auto bench = find_bench(*launcher.mpi);
  if (!bench) {
    add_wrong(result.findings, "circoll-bench",
              fmt::format("circoll-bench.{} is neither beside this circoll nor on PATH", launcher.mpi->id),
              fmt::format("build and install Circoll for {}", launcher.mpi->title));
  } else if (refused.empty()) {
    examine_ranks(launcher, *bench, ranks, result);
  }
  examine_auto(launcher, ranks, result);
  return result;
}

}  // namespace circoll::cli
