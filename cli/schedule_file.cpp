#include "schedule_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/text.hpp"
#include "select/text_file.hpp"

namespace circoll::cli {
namespace {

void check_one_call(const std::vector<Schedule>& ranks, const std::string& path) {
  const auto refuse = [&](std::size_t rank, const std::string& what) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: schedule {}: {}", path, rank, what));
  };
  if (ranks.empty()) throw Error(ErrorCode::invalid_argument, path + ": there is no schedule in it");
  const Schedule& first = ranks.front();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const Schedule& s = ranks[r];
    if (s.shape.rank != static_cast<Rank>(r) || s.shape.size != static_cast<Rank>(ranks.size()))
      refuse(r, fmt::format("it is of rank {} of {}, where rank {} of {} is expected: a file has all ranks in order",
                            s.shape.rank, s.shape.size, r, ranks.size()));
    if (s.collective != first.collective || s.shape.root != first.shape.root || s.segments != first.segments ||
        s.user_blocks != first.user_blocks || s.rounds != first.rounds)
      refuse(r, "it is of another call than the first one: collective, root, blocks and rounds are those of all ranks");
    const CollectiveContract contract = contract_of(s.collective, s.shape, s.segments);
    if (contract.user_blocks != s.user_blocks)
      refuse(r, fmt::format("{} has {} blocks here, not {}", to_string(s.collective), contract.user_blocks,
                            s.user_blocks));
    if (s.buffers[send_buffer] != contract.send || s.buffers[recv_buffer] != contract.recv)
      refuse(r, "its buffers send and recv are not those that the collective has at this rank");
  }
}

}  // namespace

bool names_file(const std::string& word) {
  std::error_code error;
  return std::filesystem::is_regular_file(word, error);
}

ScheduleFile read_schedule_file(const std::string& path) {
  const std::string text = select::read_text_file(path);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  ScheduleFile file{.path = path};
  try {
    if (first != std::string::npos && text[first] == '[') {
      file.ranks = schedules_from_json(text);
    } else if (first != std::string::npos && text[first] == '{') {
      file.ranks.push_back(schedule_from_json(text));
    } else if (first != std::string::npos && text[first] == '<') {
      MscclSchedules read = schedules_from_msccl(text);
      file.ranks = std::move(read.ranks);
      file.places = std::move(read.places);
      file.race = std::move(read.race);
    } else {
      file.ranks = schedules_from_text(text);
    }
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
  check_one_call(file.ranks, path);
  return file;
}

namespace {

/// Adds the place in the file that a refuted step comes from.
void add_place(const ScheduleFile& file, Refutation& refutation) {
  if (refutation.rank < 0 || refutation.step < 0 || file.places.empty()) return;
  const auto& steps = file.places[static_cast<std::size_t>(refutation.rank)];
  if (static_cast<std::size_t>(refutation.step) >= steps.size()) return;
  const MscclPlace& place = steps[static_cast<std::size_t>(refutation.step)];
  refutation.what += fmt::format(" (line {}: gpu {}, threadblock {}, step {})", place.line, refutation.rank,
                                 place.threadblock, place.step);
}

}  // namespace

FileProof prove(const ScheduleFile& file) {
  FileProof proof{.claims = {.needs = {.commutative = true}}};
  proof.verdict = verify_schedules(file.ranks, proof.claims);
  if (!proof.verdict.proven() && proof.verdict.refutation->claim == Claim::exactly_once) {
    Claims idempotent = proof.claims;
    idempotent.needs.idempotent = true;
    if (Verdict again = verify_schedules(file.ranks, idempotent); again.proven())
      proof = {idempotent, std::move(again)};
  }
  // Where nothing orders two steps, what comes of them in one order is no news.
  if (file.race) proof.verdict.refutation = file.race;
  if (!proof.verdict.proven()) {
    proof.verdict.refutation->id = file.first().id;
    add_place(file, *proof.verdict.refutation);
  }
  return proof;
}

ProvenFile read_proven_file(const std::string& path) {
  ProvenFile proven{.file = read_schedule_file(path)};
  proven.proof = prove(proven.file);
  if (!proven.proof.verdict.proven())
    throw Error(ErrorCode::refuted, fmt::format("{}: it is wrong ('circoll verify'): {}", path,
                                                proven.proof.verdict.refutation->to_string()));
  return proven;
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
