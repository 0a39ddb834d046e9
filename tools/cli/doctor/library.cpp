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
#include "process.hpp"
#include "processors.hpp"
#include "select/machine.hpp"
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
    result.findings.push_back({.weight = Weight::wrong, .about = "drop-in", .says = says, .todo = todo});
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
  result.findings.push_back({.about = "drop-in", .says = *file});
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
void examine_devices(const nlohmann::json& runtimes, Findings& findings) {
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
  if (runtimes.empty()) findings.push_back({.about = "devices", .says = "no runtime of GPUs is loaded"});
  for (const nlohmann::json& one : runtimes) {
    const std::string name = one.at("name"), unused = one.at("unused");
    if (!unused.empty()) {
      findings.push_back(
          {.about = "devices", .says = fmt::format("{} is loaded, but {}: calls are served", name, unused)});
      continue;
    }
    findings.push_back({.weight = Weight::note,
                        .about = "devices",
                        .says = fmt::format("{} is loaded: ranks agree about memory of GPUs in each blocking call, and "
                                            "nonblocking ones are native",
                                            name),
                        .todo = "CIRCOLL_DEVICE_MEMORY=off, if no collective has memory of a GPU; docs/devices.md"});
  }
}

void examine_ranks(const Launcher& launcher, const std::string& bench, Rank ranks, LibraryExamination& result) {
  nlohmann::json seen;
  try {
    seen = start_ranks(launcher, bench, ranks);
  } catch (const std::exception& error) {
    result.findings.push_back(
        {.weight = Weight::wrong,
         .about = "ranks",
         .says = fmt::format("{} ranks of circoll-bench by {}: {}", ranks, launcher.file, error.what()),
         .todo = "start any MPI program by this launcher; Circoll needs nothing more than that"});
    return;
  }
  if (seen.value("p", 0) != ranks) {
    result.findings.push_back(
        {.weight = Weight::wrong,
         .about = "ranks",
         .says = fmt::format("{} started {} ranks that do not find each other", launcher.file, ranks),
         .todo = "use the launcher of the MPI that Circoll was built with"});
    return;
  }
  result.complete = true;
  result.name = seen.value("library", result.name);
  const nlohmann::json& inside = seen.at("inside_nodes");
  result.crowded = inside.value("crowded", false);
  result.findings.push_back({.about = "ranks", .says = fmt::format("{} start, with {}", ranks, result.name)});
  if (result.name != library_of(launcher) && !launcher.version.empty()) {
    result.findings.push_back(
        {.weight = Weight::note,
         .about = "ranks",
         .says = fmt::format("the launcher is of {}, and programs run with {}", library_of(launcher), result.name),
         .todo = "make PATH and LD_LIBRARY_PATH name the same installation"});
  }
  const std::string reason = inside.value("reason", ""), reading = inside.value("reading_reason", "");
  if (!reason.empty()) {
    result.findings.push_back({.weight = Weight::note,
                               .about = "memory",
                               .says = "ranks of this node share no memory, since " + reason,
                               .todo = "docs/node.md says what it needs"});
  } else {
    result.findings.push_back({.about = "memory",
                               .says = reading.empty()
                                           ? "ranks of this node share memory, and read long messages directly"
                                           : "ranks of this node share memory; long messages are not read directly, "
                                             "since " +
                                                 reading});
  }
  examine_devices(seen.value("device_runtimes", nlohmann::json::array()), result.findings);
}

/// The policy that "auto" is in a program under the drop-in.
void examine_auto(const Launcher& launcher, Rank ranks, LibraryExamination& result) {
  const std::string policy = environment("CIRCOLL_POLICY").value_or("auto");
  PolicyOptions options;
  try {
    if (const auto machine = environment("CIRCOLL_MACHINE")) options.machine = read_machine(*machine);
    if (policy != "auto" && policy != "learn") {
      result.findings.push_back({.weight = Weight::note,
                                 .about = "profile",
                                 .says = "CIRCOLL_POLICY is " + policy + ", so that no profile is looked for"});
      result.automatic = make_policy(policy, options);
      return;
    }
  } catch (const Error& error) {
    result.findings.push_back({.weight = Weight::wrong,
                               .about = "policy",
                               .says = std::string(error.what()) + "; native collectives would be used",
                               .todo = "mend the file, or unset the variable"});
    return;
  }
  const select::ProfileKey key{.library = result.name, .processor = processor_name()};
  const select::FoundProfile found = select::find_profile(key, select::profile_setting(), options, true);
  for (Finding& one : findings_of(found, ranks, std::string(launcher.mpi->id))) {
    result.findings.push_back(std::move(one));
  }
  result.profile = found.file;
  result.automatic =
      found.file.empty() ? make_policy("auto", options) : select::make_profile_policy(found.text, found.file, options);
}

}  // namespace

Findings findings_of(const select::FoundProfile& found, Rank ranks, const std::string& mpi) {
  Findings findings;
  const std::string tune = fmt::format("circoll tune --here --mpi {} -p {}", mpi, ranks);
  if (found.file.empty()) {
    findings.push_back({.weight = Weight::note,
                        .about = "profile",
                        .says = "auto is the model's choice, since " + found.why,
                        .todo = tune});
  } else if (const select::ProfileRanks* const part = found.head.find(ranks)) {
    findings.push_back({.about = "profile",
                        .says = fmt::format("{}, measured with {} ranks in {} launches on {} ({}, Circoll {})",
                                            found.file, ranks, part->launches, part->date, part->host, part->circoll)});
  } else {
    findings.push_back({.weight = Weight::note,
                        .about = "profile",
                        .says = fmt::format("{} has nothing for {} ranks", found.file, ranks),
                        .todo = tune});
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

LibraryExamination examine_library(const Launcher& launcher, Rank ranks) {
  LibraryExamination result{.name = library_of(launcher)};
  result.findings.push_back({.about = "launcher", .says = fmt::format("{} of {}", launcher.file, result.name)});
  const std::string refused = refusal(launcher);
  if (!refused.empty()) {
    result.findings.push_back({.weight = Weight::wrong,
                               .about = "launcher",
                               .says = launcher.file + " starts nothing for root",
                               .todo = refused.substr(refused.find("; ") + 2)});
  }
  examine_dropin(launcher, result);
  const auto bench = find_bench(*launcher.mpi);
  if (!bench) {
    result.findings.push_back(
        {.weight = Weight::wrong,
         .about = "circoll-bench",
         .says = fmt::format("circoll-bench.{} is neither beside this circoll nor on PATH", launcher.mpi->id),
         .todo = fmt::format("build and install Circoll for {}", launcher.mpi->title)});
  } else if (refused.empty()) {
    examine_ranks(launcher, *bench, ranks, result);
  }
  examine_auto(launcher, ranks, result);
  return result;
}

}  // namespace circoll::cli
