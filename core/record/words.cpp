#include "record/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "circoll/collectives.hpp"
#include "facts/rank_list.hpp"

namespace circoll::record {
namespace {

std::string bytes_text(Count bytes) { return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s"); }

std::string comm_text(std::uint64_t id, const ReadRecord& record) {
  if (id == world_id) return "MPI_COMM_WORLD";
  if (id == unknown_comm) return "a communicator that was not known";
  const ReadComm* const comm = record.comm(id);
  std::string text = fmt::format("communicator {:08x}", id & 0xffffffffU);
  if (comm == nullptr) return text;
  const std::string name = comm->name.empty() ? "" : "\"" + comm->name + "\", ";
  return fmt::format("{} ({}{} ranks)", text, name, comm->size);
}

std::string upper(std::string_view text) {
  std::string made;
  for (const char c : text) made += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return made;
}

std::string state_text(const SeenRank& rank) {
  if (is_over(rank) && rank.state != ProcessState::gone) return "in MPI_Finalize";
  if (rank.state == ProcessState::gone && rank.record.phase == Phase::ended) return "ended";
  if (rank.state == ProcessState::running || rank.state == ProcessState::sleeping) return rank.burns ? "busy" : "idle";
  return std::string(to_string(rank.state));
}

std::string seconds_text(std::int64_t from_ns, std::int64_t now_ns) {
  if (from_ns <= 0 || now_ns < from_ns) return {};
  return fmt::format(", for {:.1f} s", static_cast<double>(now_ns - from_ns) * 1e-9);
}

/// The ranks of a wait in MPI_COMM_WORLD, where they are known.
std::string wait_text(const ReadCall& call, const ReadRecord& record) {
  if (!record.wait || record.wait->call != call.sequence || record.wait->ranks.empty()) return {};
  const ReadComm* const comm = record.comm(call.comm);
  std::vector<Rank> world;
  for (const Rank rank : record.wait->ranks)
    world.push_back(comm == nullptr ? rank : comm->world_rank(rank).value_or(rank));
  std::ranges::sort(world);
  std::string text = fmt::format("waits for message {} of {}", record.wait->message, ranks_text(world));
  if (record.wait->peers > world.size()) text += " and others";
  return text;
}

std::string cut(std::string text, bool wide) {
  constexpr std::size_t columns = 100;
  if (wide || text.size() <= columns) return text;
  text.resize(columns - 3);
  return text + "...";
}

}  // namespace

std::string function_name(const ReadCall& call) {
  const std::string lower(to_string(call.collective));
  if (call.mode == CallMode::nonblocking) return "MPI_I" + lower;
  const std::string capital = static_cast<char>(std::toupper(static_cast<unsigned char>(lower[0]))) + lower.substr(1);
  if (call.mode == CallMode::persistent_start) return "MPI_Start of MPI_" + capital + "_init";
  return "MPI_" + capital + (call.mode == CallMode::blocking ? "" : "_init");
}

std::string place_text(const Place& place, const ReadRecord& record) {
  if (place.comm == unknown_comm) return "on " + comm_text(place.comm, record);
  return fmt::format("call {} on {}", place.number, comm_text(place.comm, record));
}

std::string arguments_text(const ReadCall& call) {
  std::string text = function_name(call);
  if (call.bytes && call.collective.collective != Collective::barrier) text += " of " + bytes_text(*call.bytes);
  if (call.op) text += ", MPI_" + upper(to_string(*call.op));
  if (call.type) text += fmt::format("{}{}", call.op ? " on " : " as ", to_string(*call.type));
  if (call.root) text += fmt::format(", root {}", *call.root);
  return text;
}

std::string text_of(const ReadCall& call, const ReadRecord& record) {
  return arguments_text(call) + ", " + place_text({call.comm, call.number}, record);
}

std::string text_of(const SeenJob& job, const Diagnosis& verdict, bool wide) {
  std::string text = verdict.sentence + "\n";
  for (const std::string& line : verdict.more) text += cut("  " + line, wide) + "\n";
  if (job.ranks.empty()) return text;
  const ReadRecord& first = job.ranks.front().record;
  text += cut(fmt::format("{} of {} ranks of {} ({}) on {}:", job.ranks.size(), job.size, first.program, first.mpi,
                          first.host),
              wide) +
          "\n";
  constexpr std::size_t most_lines = 32;
  std::size_t lines = 0;
  for (const SeenRank& rank : job.ranks) {
    const bool named = std::ranges::find(verdict.ranks, number_of(rank)) != verdict.ranks.end();
    if (!wide && !named && lines >= most_lines) continue;
    ++lines;
    const auto& calls = rank.record.calls;
    const auto open = std::find_if(calls.rbegin(), calls.rend(), [](const ReadCall& call) { return call.blocks(); });
    std::string does = "outside of collective calls", waits;
    if (open != calls.rend()) {
      does = text_of(*open, rank.record) + seconds_text(open->begin_ns, rank.elsewhere ? 0 : job.now_ns);
      waits = wait_text(*open, rank.record);
    } else if (const std::string function = rank.mpi_function(); !function.empty()) {
      does = "in " + function;
    } else if (is_over(rank)) {
      does = "in MPI_Finalize, or behind it";
    }
    text +=
        cut(fmt::format("  rank {:<4} pid {:<7} {:<7} {}", rank.record.rank, rank.record.pid, state_text(rank), does),
            wide) +
        "\n";
    if (!waits.empty()) text += cut("    " + waits, wide) + "\n";
  }
  if (lines < job.ranks.size()) text += fmt::format("  and {} more ranks (--wide)\n", job.ranks.size() - lines);
  constexpr std::size_t shown_ranks = 3, shown_calls = 4, shown_frames = 8;
  for (std::size_t i = 0; i < std::min(verdict.ranks.size(), shown_ranks); ++i) {
    const SeenRank* const rank = job.rank(verdict.ranks[i]);
    if (rank == nullptr) continue;
    const auto& calls = rank->record.calls;
    text += fmt::format("last calls of rank {}:{}\n", rank->record.rank, calls.empty() ? " none" : "");
    for (std::size_t k = calls.size() - std::min(calls.size(), shown_calls); k < calls.size(); ++k) {
      const ReadCall& call = calls[k];
      const char* const state = call.failed        ? "failed"
                                : call.end_ns != 0 ? "ended"
                                : call.unseen_end  ? "begun"
                                                   : "under way";
      text += cut(fmt::format("  {:<9} {}{}", state, text_of(call, rank->record),
                              call.algorithm.empty() ? "" : ", " + call.algorithm),
                  wide) +
              "\n";
    }
    if (rank->stack.empty()) continue;
    text += fmt::format("stack of rank {}:\n", rank->record.rank);
    for (std::size_t k = 0; k < std::min(rank->stack.size(), shown_frames); ++k)
      text += cut("  " + rank->stack[k], wide) + "\n";
  }
  return text;
}

}  // namespace circoll::record
