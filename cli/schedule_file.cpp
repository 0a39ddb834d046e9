#include "schedule_file.hpp"

#include <fmt/format.h>

#include <filesystem>

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

std::vector<Schedule> read_schedules(const std::string& path) {
  const std::string text = select::read_text_file(path);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  std::vector<Schedule> ranks;
  try {
    if (first != std::string::npos && text[first] == '[') {
      ranks = schedules_from_json(text);
    } else if (first != std::string::npos && text[first] == '{') {
      ranks.push_back(schedule_from_json(text));
    } else {
      ranks = schedules_from_text(text);
    }
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
  check_one_call(ranks, path);
  return ranks;
}

}  // namespace circoll::cli
