#include "schedule_file.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "circoll/error.hpp"
#include "lab.hpp"
#include "measured/file_kind.hpp"
#include "schedule/registry.hpp"
#include "select/schedule_file.hpp"

namespace circoll::cli {
namespace {

/// The path of a word, which may begin with "file:".
std::string path_of(const std::string& word) {
  return word.starts_with(file_prefix) ? word.substr(file_prefix.size()) : word;
}

}  // namespace

bool names_file(const std::string& word) {
  std::error_code error;
  return word.starts_with(file_prefix) || std::filesystem::is_regular_file(word, error);
}

void refuse_for_file(const std::string& word, const CLI::App& command, std::initializer_list<const char*> meaningless) {
  if (!names_file(word)) return;
  for (const char* const option : meaningless) {
    if (command.count(option) == 0) continue;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{}: a file of schedules has its own ranks, root and segments; leave out {}", word, option));
  }
}

ScheduleFile read_schedule_file(const std::string& word) {
  const std::string path = path_of(word);
  const std::string text = measured::read_file_of(path, {measured::FileKind::schedules});
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  ScheduleFile file{.path = path};
  try {
    if (first != std::string::npos && text[first] == '<') {
      if (lab().read_xml == nullptr)
        throw Error(ErrorCode::unsupported, "files of MSCCL are read by the lab: build with -DCIRCOLL_LAB=ON");
      lab().read_xml(text, file);
      check_one_call(file.ranks);
    } else {
      file.ranks = select::schedules_of_file(text);
    }
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
  return file;
}

namespace {

/// Adds the place in the file that a refuted step comes from.
void add_place(const ScheduleFile& file, Refutation& refutation) {
  if (refutation.rank < 0 || refutation.step < 0 || !file.place_of) return;
  const std::string place = file.place_of(refutation.rank, static_cast<std::size_t>(refutation.step));
  if (!place.empty()) refutation.what += fmt::format(" ({})", place);
}

}  // namespace

FileProof prove(const ScheduleFile& file) {
  FileProof proof = prove_given(file.ranks);
  // Where nothing orders two steps, what comes of them in one order is no news.
  if (file.race) proof.verdict.refutation = file.race;
  if (!proof.verdict.proven()) {
    proof.verdict.refutation->id = file.first().id;
    add_place(file, *proof.verdict.refutation);
  }
  return proof;
}

ProvenFile read_proven_file(const std::string& word) {
  ProvenFile proven{.file = read_schedule_file(word)};
  proven.proof = prove(proven.file);
  if (!proven.proof.verdict.proven())
    throw Error(ErrorCode::refuted, fmt::format("{}: it is wrong ('circoll verify'): {}", proven.file.path,
                                                proven.proof.verdict.refutation->to_string()));
  return proven;
}

Selection selection_of_file(const std::string& word) {
  static std::vector<std::shared_ptr<const Algorithm>> kept;
  ProvenFile proven = read_proven_file(word);
  kept.push_back(
      select::algorithm_of(std::move(proven.file.ranks), fmt::format("{}{}", file_prefix, proven.file.path)));
  return {.algorithm = kept.back().get(), .collective = kept.back()->collectives.front()};
}

void require_fits(const ProvenFile& file, const OperatorTraits& op) {
  const Needs& needs = file.proof.claims.needs;
  if (!is_reducing(file.file.first().collective)) return;
  if (needs.idempotent && !op.idempotent)
    throw Error(ErrorCode::unsupported,
                file.file.path + ": its schedules are for idempotent operators only (min, max, land, lor, band, bor)");
  if (op.commutative) return;
  Claims in_order = file.proof.claims;
  in_order.guarantees.rank_order = true;
  if (!verify_schedules(file.file.ranks, in_order).proven())
    throw Error(ErrorCode::unsupported, file.file.path + ": its schedules are for commutative operators only");
}

}  // namespace circoll::cli
