// circoll doctor says what "auto" would use on this machine, why, and what is missing.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "circoll/circoll.h"
#include "commands.hpp"
#include "doctor/examination.hpp"
#include "facts/text.hpp"
#include "launcher.hpp"
#include "options/ranges.hpp"
#include "process.hpp"

namespace circoll::cli {
namespace {

struct DoctorOptions {
  std::string mpi = "auto";
  std::string launcher{};
  Rank ranks = 2;
  bool json = false;
};

/// A choice of "auto", of the kind that programs make often.
struct Sample {
  Collective collective;
  Count bytes;
  std::string call, choice, reason;
};

constexpr std::array sampled{Collective::allreduce, Collective::bcast, Collective::allgather, Collective::alltoall};
constexpr std::array<Count, 3> sampled_bytes{64, 4 << 10, 256 << 10};

std::vector<Sample> samples_of(const LibraryExamination& library, Rank ranks) {
  std::vector<Sample> samples;
  if (library.automatic == nullptr) return samples;
  for (const Collective collective : sampled) {
    for (const Count bytes : sampled_bytes) {
      CallFacts facts = facts_of(collective, ranks, bytes, Op::sum, Type::float64);
      facts.cores = ranks;
      facts.nodes = 1;
      facts.crowded = library.crowded;
      const Decision decision = library.automatic->decide(facts);
      samples.push_back({.collective = collective,
                         .bytes = bytes,
                         .call = fmt::format("{} of {}", to_string(collective), exact_number(bytes)),
                         .choice = decision.selection ? decision.selection->text() : "native",
                         .reason = decision.reason});
    }
  }
  return samples;
}

std::string to_string(Weight weight) {
  return weight == Weight::good ? "good" : weight == Weight::note ? "note" : "wrong";
}

bool any_wrong(const Diagnoses& findings) {
  return std::ranges::any_of(findings, [](const Diagnosis& one) { return one.weight == Weight::wrong; });
}

/// Words after a heading, in lines of at most 100 columns. Later lines are below the first word. A longer word keeps a
/// line of its own.
std::string wrapped(const std::string& heading, std::string_view words) {
  constexpr std::size_t columns = 100;
  std::string text, line = heading;
  bool empty = true;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    if (!empty && line.size() + 1 + word.size() > columns) {
      text += line + "\n";
      line.assign(heading.size(), ' ');
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  return text + line + "\n";
}

std::string text_of(const Diagnoses& findings) {
  std::string text;
  for (const Diagnosis& one : findings) {
    const char* const mark = one.weight == Weight::good ? "ok" : one.weight == Weight::note ? "note" : "WRONG";
    text += wrapped(fmt::format("  {:<6} {:<14} ", mark, one.about), one.says);
    if (!one.todo.empty()) text += wrapped(fmt::format("  {:<6} {:<14} -> ", "", ""), one.todo);
  }
  return text;
}

nlohmann::ordered_json json_of(const Diagnoses& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Diagnosis& one : findings) {
    list.push_back({{"weight", to_string(one.weight)}, {"about", one.about}, {"says", one.says}, {"todo", one.todo}});
  }
  return list;
}

/// MPIs of which nothing is here but a launcher are of no interest if another one is complete.
void soften(std::vector<LibraryExamination>& libraries) {
  bool complete = false;
  for (const LibraryExamination& one : libraries) complete = complete || (one.complete && !any_wrong(one.findings));
  for (LibraryExamination& one : libraries) {
    if (one.complete || !complete) continue;
    for (Diagnosis& finding : one.findings) {
      if (finding.weight == Weight::wrong && finding.about != "profile") finding.weight = Weight::note;
    }
  }
}

Diagnoses examine_launchers(const std::string& mpi, const std::vector<Launcher>& launchers) {
  if (!launchers.empty()) return {};
  const MpiLibrary* const wanted = mpi_named(mpi);
  const bool both = wanted == nullptr;
  return {{.weight = Weight::wrong,
           .about = "launcher",
           .says = fmt::format("no launcher of {} is on PATH", both ? "Open MPI or MPICH" : std::string(wanted->title)),
           .todo = fmt::format("install it (Debian: {}), load its module, or set PATH", both ? "openmpi-bin or mpich"
                                                                                        : wanted == &openmpi_library
                                                                                            ? "openmpi-bin"
                                                                                            : "mpich")}};
}

std::string as_text(const Diagnoses& system, const std::vector<LibraryExamination>& libraries,
                    const DoctorOptions& options) {
  std::string text;
  // After an upgrade of an MPI library this is what a user must see first.
  for (const LibraryExamination& library : libraries) {
    if (library.outdated.says.empty()) continue;
    text += fmt::format("WRONG: {}\n  -> {}\n", library.outdated.says, library.outdated.todo);
  }
  text += fmt::format("Circoll {}, {} ranks on this node\n", circoll_version(), options.ranks);
  text += text_of(system);
  for (const LibraryExamination& library : libraries) {
    text += fmt::format("{}\n{}", library.name, text_of(library.findings));
    const std::vector<Sample> samples = samples_of(library, options.ranks);
    if (!samples.empty()) text += "  auto would take, for double sums where there is an operator:\n";
    for (std::size_t i = 0; i < samples.size(); ++i) {
      // Sizes of a collective that one algorithm serves share a line.
      std::string call = samples[i].call;
      while (i + 1 < samples.size() && samples[i + 1].choice == samples[i].choice &&
             samples[i + 1].collective == samples[i].collective)
        call += ", " + exact_number(samples[++i].bytes);
      text += fmt::format("    {:<30} {}\n", call, samples[i].choice);
    }
    if (!samples.empty()) text += fmt::format("    why: circoll explain allreduce -p {} --bytes 4Ki\n", options.ranks);
  }
  return text;
}

std::string as_json(const Diagnoses& system, const std::vector<LibraryExamination>& libraries,
                    const DoctorOptions& options, bool wrong) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const LibraryExamination& library : libraries) {
    nlohmann::ordered_json samples = nlohmann::ordered_json::array();
    for (const Sample& one : samples_of(library, options.ranks)) {
      samples.push_back({{"call", one.call}, {"choice", one.choice}, {"reason", one.reason}});
    }
    list.push_back({{"library", library.name},
                    {"complete", library.complete},
                    {"profile", library.profile},
                    {"findings", json_of(library.findings)},
                    {"auto", samples}});
  }
  const nlohmann::ordered_json json = {{"circoll_doctor", 1}, {"circoll", circoll_version()}, {"ranks", options.ranks},
                                       {"wrong", wrong},      {"findings", json_of(system)},  {"libraries", list}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void examine(const DoctorOptions& options, Context& context) {
  const Interruptible guard;
  Diagnoses system = examine_processors(options.ranks);
  for (const Diagnoses& more : {examine_copies(), examine_environment()}) {
    system.insert(system.end(), more.begin(), more.end());
  }
  std::vector<Launcher> launchers;
  if (options.launcher.empty()) {
    launchers = find_launchers();
  } else {
    launchers.push_back(given_launcher(options.launcher, options.mpi));
  }
  if (const MpiLibrary* const wanted = mpi_named(options.mpi)) {
    std::erase_if(launchers, [&](const Launcher& one) { return one.mpi != wanted; });
  }
  const Diagnoses missing = examine_launchers(options.mpi, launchers);
  system.insert(system.end(), missing.begin(), missing.end());
  std::vector<LibraryExamination> libraries;
  libraries.reserve(launchers.size());
  for (const Launcher& launcher : launchers) libraries.push_back(examine_library(launcher, options.ranks));
  soften(libraries);
  bool wrong = any_wrong(system);
  for (const LibraryExamination& one : libraries) wrong = wrong || any_wrong(one.findings);
  print(options.json ? as_json(system, libraries, options, wrong) : as_text(system, libraries, options));
  if (wrong) context.exit_code = exit_failure;
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  const auto options = std::make_shared<DoctorOptions>();
  CLI::App* const command = app.add_subcommand("doctor", "Show what Circoll uses on this machine, and what is missing");
  command->add_option("--mpi", options->mpi, "The MPI to look at; auto: all that have a launcher on PATH")
      ->check(CLI::IsMember({"auto", "openmpi", "mpich"}))
      ->capture_default_str();
  command->add_option("--launcher", options->launcher,
                      "Starts the ranks in place of the launchers on PATH; {np} is their number");
  command->add_option("-p,--ranks", options->ranks, "Ranks on this node")
      ->transform(whole_number())
      ->check(options::between(Rank{2}, Rank{1} << 20))
      ->capture_default_str();
  command->add_flag("--json", options->json, "As JSON");
  command->footer(
      "Starts the ranks for a moment. The exit code is 1 if something is wrong; docs/admin/tuning.md.\n"
      "Examples:\n"
      "  circoll doctor\n"
      "  circoll doctor --mpi mpich -p 4 --json\n"
      "  circoll doctor --launcher 'srun --mpi=pmix -n {np}' --mpi openmpi");
  command->callback([options, &context] { examine(*options, context); });
}

}  // namespace circoll::cli
