// The text and JSON forms: exact round trips, golden texts, errors with their messages, seeded mutations.
#include "circoll/text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"

namespace circoll {
namespace {

/// A schedule by hand with everything that the forms can say.
Schedule sample() {
  Schedule s;
  s.id = "allreduce/sample";
  s.collective = Collective::allreduce;
  s.shape = {.size = 5, .rank = 2, .root = 0, .in_place = true, .params = {{"depth", -3}, {"segments", 4}}};
  s.user_blocks = 1;
  s.segments = 4;
  s.rounds = 2;
  s.buffers = {{.slots = 4, .storage = 0},
               {.slots = 4, .storage = 1},
               {.slots = 3, .first_block = 3, .stride = 2, .storage = 2},
               {.slots = 3, .list = {0, 3, 1}, .storage = 2},
               {.slots = 0, .storage = 4}};
  s.ranges = {{1, 2, 3}, {2, 0, 1}, {2, 0, 3}, {1, 0, 1}, {2, 0, 1}, {0, 0, 1}, {1, 3, 2}, {0, 0, 2}};
  s.steps = {{.kind = StepKind::send, .round = 0, .peer = 3, .left = {0, 2}},
             {.kind = StepKind::recv, .round = 0, .peer = 1, .dst = {2, 1}},
             {.kind = StepKind::reduce, .round = 0, .dst = {3, 1}, .left = {4, 1}, .right = {5, 1}},
             {.kind = StepKind::send, .round = 1, .peer = 4},
             {.kind = StepKind::copy, .round = 2, .dst = {6, 1}, .left = {7, 1}}};
  s.edges = {{0, 3}};
  return s;
}

constexpr std::string_view sample_text = R"(circoll-schedule 1
id allreduce/sample
collective allreduce
rank 2 of 5
root 0
in_place yes
param depth -3
param segments 4
blocks 1 x 4
rounds 2
buffer send: 4 slots from 0 by 1
buffer recv: 4 slots from 0 by 1
buffer scratch2: 3 slots from 3 by 2
buffer scratch3: 3 slots holding 0 3 1, view of scratch2
buffer scratch4: 0 slots from 0 by 1
round 0
  send -> 3: recv[2+3] scratch2[0+1]  # step 0
  recv <- 1: scratch2[0+3]
  reduce recv[0+1] = scratch2[0+1] op send[0+1]
round 1
  send -> 4:  # step 3
round 2  # local
  copy recv[3+2] = send[0+2]
edge 0 -> 3
end
)";

constexpr std::string_view sample_json = R"({
  "format": "circoll-schedule", "version": 1,
  "id": "allreduce/sample", "collective": "allreduce",
  "size": 5, "rank": 2, "root": 0, "in_place": true, "params": {"depth": -3, "segments": 4},
  "user_blocks": 1, "segments": 4, "rounds": 2,
  "buffers": [
    {"name": "send", "slots": 4, "first_block": 0, "stride": 1},
    {"name": "recv", "slots": 4, "first_block": 0, "stride": 1},
    {"name": "scratch2", "slots": 3, "first_block": 3, "stride": 2},
    {"name": "scratch3", "slots": 3, "blocks": [0, 3, 1], "view_of": "scratch2"},
    {"name": "scratch4", "slots": 0, "first_block": 0, "stride": 1}
  ],
  "steps": [
    {"kind": "send", "round": 0, "peer": 3, "left": [["recv", 2, 3], ["scratch2", 0, 1]]},
    {"kind": "recv", "round": 0, "peer": 1, "dst": [["scratch2", 0, 3]]},
    {"kind": "reduce", "round": 0, "dst": [["recv", 0, 1]], "left": [["scratch2", 0, 1]], "right": [["send", 0, 1]]},
    {"kind": "send", "round": 1, "peer": 4, "left": []},
    {"kind": "copy", "round": 2, "dst": [["recv", 3, 2]], "left": [["send", 0, 2]]}
  ],
  "edges": [
    [0, 3]
  ]
}
)";

/// The message of the Error that `read` throws, or "" if it throws none; other exceptions pass.
std::string message_of(const std::function<void()>& read, ErrorCode code = ErrorCode::parse) {
  try {
    read();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    return error.what();
  }
  return "";
}

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string result(text);
  const std::size_t at = result.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? result : result.replace(at, what.size(), with);
}

void expect_round_trip(const Schedule& schedule, const std::string& where) {
  const Schedule normal = normalised(schedule);
  EXPECT_TRUE(schedule_from_text(to_text(schedule)) == normal) << where;
  EXPECT_TRUE(schedule_from_json(to_json(schedule)) == normal) << where;
  EXPECT_EQ(to_text(normal), to_text(schedule)) << where;
  EXPECT_EQ(to_json(normal), to_json(schedule)) << where;
}

TEST(Text, Golden) {
  EXPECT_EQ(to_text(sample()), sample_text);
  EXPECT_TRUE(schedule_from_text(sample_text) == sample());
}

TEST(Json, Golden) {
  EXPECT_EQ(to_json(sample()), sample_json);
  EXPECT_TRUE(schedule_from_json(sample_json) == sample());
}

TEST(Text, RegisteredAlgorithmsRoundTrip) {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const Collective collective : algorithm->collectives) {
      for (Rank p : {1, 2, 3, 4, 7, 8, 11}) {
        if (!unmet_need(*algorithm, p, {}).empty()) continue;
        for (Rank rank = 0; rank < p; ++rank) {
          for (const bool in_place : {false, true}) {
            const Rank root = is_rooted(collective) ? p / 2 : 0;
            const Shape shape{.size = p, .rank = rank, .root = root, .in_place = in_place};
            const Schedule schedule = build_schedule(*algorithm, collective, shape);
            const std::string where = fmt::format("{} p={} rank={}", schedule.id, p, rank);
            expect_round_trip(schedule, where);
            EXPECT_TRUE(normalised(schedule) == schedule) << where << ": builders write normalised schedules";
          }
        }
      }
    }
  }
}

/// A random schedule that check_structure() accepts. Its ranges are in disorder, and some are not used.
Schedule random_schedule(std::mt19937_64& random) {
  const auto pick = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  Schedule s;
  s.id = fmt::format("x/{}", pick(0, 9));
  s.collective = all_collectives[static_cast<std::size_t>(pick(0, 11))];
  s.shape.size = pick(2, 9);
  s.shape.rank = pick(0, s.shape.size - 1);
  s.shape.root = pick(0, s.shape.size - 1);
  s.shape.in_place = pick(0, 1) == 1;
  if (pick(0, 1) == 1) s.shape.params["segments"] = pick(-1000, 1000);
  s.user_blocks = pick(1, 9);
  s.segments = pick(1, 4);
  s.rounds = static_cast<std::uint32_t>(pick(1, 5));
  const std::int64_t buffers = pick(2, 5);
  for (std::int32_t i = 0; i < buffers; ++i) {
    Buffer buffer{.slots = pick(1, 8), .first_block = pick(0, s.blocks() - 1), .stride = pick(0, s.blocks())};
    if (pick(0, 3) == 0) {
      for (Slot slot = 0; slot < buffer.slots; ++slot) buffer.list.push_back(pick(0, s.blocks() - 1));
    }
    buffer.storage = i > 2 && pick(0, 1) == 1 ? 2 : i;
    s.buffers.push_back(buffer);
  }
  const auto operand = [&](std::int64_t blocks) {  // that many ranges of one block
    for (std::int64_t waste = pick(0, 2); waste > 0; --waste) s.ranges.push_back({99, -1, -1});
    const Operand result{static_cast<std::uint32_t>(s.ranges.size()), static_cast<std::uint32_t>(blocks)};
    for (std::int64_t i = 0; i < blocks; ++i) {
      const auto buffer = static_cast<std::int32_t>(pick(0, buffers - 1));
      s.ranges.push_back({buffer, pick(0, s.buffers[static_cast<std::size_t>(buffer)].slots - 1), 1});
    }
    return result;
  };
  std::uint32_t round = 0;
  for (std::int64_t i = pick(0, 12); i > 0; --i) {
    if (pick(0, 2) == 0 && round + 1 < s.rounds) ++round;
    const std::int64_t blocks = pick(1, 3);
    Step step{.kind = static_cast<StepKind>(pick(0, 3)), .round = round};
    step.peer = (s.shape.rank + pick(1, s.shape.size - 1)) % s.shape.size;  // of no meaning in local steps
    if (step.kind != StepKind::send) step.dst = operand(blocks);
    if (step.kind != StepKind::recv) step.left = operand(blocks);
    if (step.kind == StepKind::reduce) step.right = operand(blocks);
    s.steps.push_back(step);
    const auto last = static_cast<StepIndex>(s.steps.size() - 1);
    if (last > 0 && pick(0, 3) == 0) s.edges.emplace_back(static_cast<StepIndex>(pick(0, last - 1)), last);
  }
  return s;
}

TEST(Text, RandomSchedulesRoundTrip) {
  std::mt19937_64 random(20240611);
  for (int i = 0; i < 2000; ++i) expect_round_trip(random_schedule(random), fmt::format("schedule {}", i));
}

TEST(Text, ReadsWhatPeopleWrite) {
  std::string text = "# a schedule\r\n\n" + std::string(sample_text);
  text = replaced(text, "  send -> 3: recv[2+3] scratch2[0+1]", "\tsend->3 :recv [ 2 + 3 ]scratch2[0+1]#now\r");
  text = replaced(text, "round 1\n", "\n  round 1 # a comment\n\n");
  text = replaced(text, "end\n", "round 2\nedge 0 -> 3\nend");
  EXPECT_NE(message_of([&] { (void)schedule_from_text(text); }), "");  // steps come before edges
  text = replaced(text, "edge 0 -> 3\nround 2\n", "");
  EXPECT_TRUE(schedule_from_text(text) == sample());
}

TEST(Text, ReadsSeveral) {
  const std::string two = std::string(sample_text) + std::string(sample_text);
  EXPECT_EQ(schedules_from_text(two).size(), 2U);
  EXPECT_TRUE(schedules_from_text("# nothing\n").empty());
  EXPECT_EQ(message_of([&] { (void)schedule_from_text(two); }),
            "schedule text, line 26: expected the end of the text, found 'circoll-schedule 1'");
  const std::string array = fmt::format("[{}, {}]", sample_json, sample_json);
  EXPECT_TRUE(schedules_from_json(array).at(1) == sample());
  EXPECT_TRUE(schedules_from_json("[]").empty());
}

TEST(Text, ErrorsNameTheLine) {
  const auto error = [](std::string_view what, std::string_view with) {
    return message_of([&] { (void)schedule_from_text(replaced(sample_text, what, with)); });
  };
  EXPECT_EQ(error("circoll-schedule 1", "circoll-schedule 2"),
            "schedule text, line 1: this is not version 1 of the form");
  EXPECT_EQ(error("circoll-schedule 1", "{"), "schedule text, line 1: expected 'circoll-schedule', found '{'");
  EXPECT_EQ(error("id allreduce/sample", "id a\"b"),
            "schedule text, line 2: expected an id like 'allreduce/ring', found 'a\"b'");
  EXPECT_EQ(error("collective allreduce", "collective alltoallw"),
            "schedule text, line 3: expected the name of a collective, found 'alltoallw'");
  EXPECT_EQ(error("rank 2 of 5", "rank 2"), "schedule text, line 4: expected 'of', found the end of the line");
  EXPECT_EQ(error("root 0\n", ""), "schedule text, line 5: expected 'root', found 'in_place yes'");
  EXPECT_EQ(error("root 0", "root 0 0"), "schedule text, line 5: expected the end of the line, found '0'");
  EXPECT_EQ(error("in_place yes", "in_place true"), "schedule text, line 6: expected 'yes' or 'no', found 'true'");
  EXPECT_EQ(error("param segments", "param depth"), "schedule text, line 8: a parameter is given twice");
  EXPECT_EQ(error("rounds 2", "rounds 99999999999 "),
            "schedule text, line 10: the number '99999999999' is not in 0 .. 2147483647");
  EXPECT_EQ(error("rounds 2", "rounds 99999999999999999999999"),
            "schedule text, line 10: the number '99999999999999999999999' is not in 0 .. 2147483647");
  EXPECT_EQ(error("rounds 2", "rounds -1"), "schedule text, line 10: the number '-1' is not in 0 .. 2147483647");
  EXPECT_EQ(error("buffer recv", "buffer scratch2"),
            "schedule text, line 12: expected 'recv', found 'scratch2: 4 slots from 0...'");
  EXPECT_EQ(error("0 3 1", "0 3"), "schedule text, line 14: 2 blocks are listed for 3 slots");
  EXPECT_EQ(error("0 3 1, view of scratch2", "0 3 1,"),
            "schedule text, line 14: expected 'view', found the end of the line");
  EXPECT_EQ(error("recv[2+3]", "recv[2-3]"), "schedule text, line 17: expected '+', found '-3] scratch2[0+1]'");
  EXPECT_EQ(error("recv[2+3]", "scratch02[2+3]"),
            "schedule text, line 17: expected 'send', 'recv' or 'scratch2', 'scratch3', ..., found "
            "'scratch02[2+3] scratch2[...'");
  EXPECT_EQ(error(" op send[0+1]", ""),
            "schedule text, line 19: expected the name of a buffer, found the end of the line");
  EXPECT_EQ(error("  copy", "  move"),
            "schedule text, line 23: expected a step, 'buffer', 'round', 'edge' or 'end', in this order, "
            "found 'move recv[3+2] = send[0+...'");
  EXPECT_EQ(error("end\n", ""),
            "schedule text, line 24: expected a step, 'buffer', 'round', 'edge' or 'end', in this order, "
            "found the end of the text");
  EXPECT_EQ(message_of([] { (void)schedule_from_text(""); }),
            "schedule text, line 0: expected 'circoll-schedule', found the end of the text");
  EXPECT_NE(message_of([] { (void)schedule_from_text(replaced(sample_text, "recv[2+3]", "recv[4+3]")); },
                       ErrorCode::invalid_argument),
            "");
}

TEST(Json, ErrorsNameThePath) {
  const auto error = [](std::string_view what, std::string_view with) {
    return message_of([&] { (void)schedule_from_json(replaced(sample_json, what, with)); });
  };
  EXPECT_EQ(error("\"rounds\": 2", "\"rounds\": \"2\""), "schedule JSON, rounds: expected an integer, found string");
  EXPECT_EQ(error("\"rounds\": 2", "\"rounds\": 2.0"), "schedule JSON, rounds: expected an integer, found number");
  EXPECT_EQ(error("\"rounds\": 2", "\"rounds\": 18446744073709551615"),
            "schedule JSON, rounds: 18446744073709551615 is not in 0 .. 2147483647");
  EXPECT_EQ(error("\"rounds\": 2", "\"rounds\": 18446744073709551616"),
            "schedule JSON, rounds: expected an integer, found number");
  EXPECT_EQ(error("\"rounds\": 2", "\"turns\": 2"), "schedule JSON, the whole: the key 'turns' is unknown");
  EXPECT_EQ(error("\"rounds\": 2", "\"circoll_report\": 1"),
            "schedule JSON, the whole: this is a file of the kind 'report'; schedules are needed here");
  EXPECT_EQ(error(", \"rounds\": 2", ""), "schedule JSON, the whole: the key 'rounds' is missing");
  EXPECT_EQ(error("\"rounds\": 2", "\"rounds\": 2, \"rounds\": 2"),
            "schedule JSON: the key 'rounds' is given twice in one object");
  EXPECT_EQ(error("[\"recv\", 2, 3]", "[\"recv\", 2, -3]"),
            "schedule JSON, steps[0].left[0][2]: -3 is not in 0 .. 2147483647");
  EXPECT_EQ(error("[\"recv\", 2, 3]", "[\"recv\", 2]"),
            "schedule JSON, steps[0].left[0]: expected an array of 3, found array");
  EXPECT_EQ(error("[\"recv\", 2, 3]", "[1, 2, 3]"),
            "schedule JSON, steps[0].left[0][0]: expected a string, found number");
  EXPECT_EQ(error("\"kind\": \"copy\"", "\"kind\": \"move\""),
            "schedule JSON, steps[4].kind: expected 'send', 'recv', 'reduce', 'copy' or 'recv_reduce'");
  EXPECT_EQ(error("\"peer\": 3, ", ""), "schedule JSON, steps[0]: the key 'peer' is missing");
  EXPECT_EQ(error("\"params\": {\"depth\": -3", "\"params\": {\"de pth\": -3"),
            "schedule JSON, params.'de pth': this is not the name of a parameter");
  EXPECT_EQ(error("[0, 3]\n", "[0, 3, 4]\n"), "schedule JSON, edges[0]: expected an array of 2, found array");
  EXPECT_EQ(message_of([] { (void)schedule_from_json("[]"); }),
            "schedule JSON, the whole: expected an object, found array");
  EXPECT_EQ(message_of([] { (void)schedule_from_json(std::string(1000000, '[')); }),
            "schedule JSON: nested too deeply");
  EXPECT_NE(message_of([] { (void)schedule_from_json("{\"id\": \xff}"); }), "");
  EXPECT_NE(message_of([] { (void)schedule_from_json(""); }), "");
}

TEST(Text, WritersRefuseWhatReadersWould) {
  const auto error = [](const std::function<void(Schedule&)>& spoil) {
    Schedule schedule = sample();
    spoil(schedule);
    const std::string text = message_of([&] { (void)to_text(schedule); }, ErrorCode::invalid_argument);
    EXPECT_EQ(text, message_of([&] { (void)to_json(schedule); }, ErrorCode::invalid_argument));
    return text;
  };
  EXPECT_NE(error([](Schedule& s) { s.id = ""; }), "");
  EXPECT_NE(error([](Schedule& s) { s.id = "a b"; }), "");
  EXPECT_NE(error([](Schedule& s) { s.shape.params["#"] = 1; }), "");
  EXPECT_NE(error([](Schedule& s) { s.buffers[0].slots = std::int64_t{1} << 31; }), "");
  EXPECT_NE(error([](Schedule& s) { s.steps[0].left.length = 1000; }), "");
  EXPECT_EQ(error([](Schedule& s) { s.rounds = 2147483647; }), "");
}

/// Changes a few places of the text: bytes, numbers, pieces moved, doubled or cut out.
std::string mutated(std::string text, std::mt19937_64& random) {
  static const std::vector<std::string> words{"0",
                                              "-1",
                                              "1",
                                              "2147483647",
                                              "2147483648",
                                              "9223372036854775807",
                                              "-9223372036854775808",
                                              "1e9",
                                              "send",
                                              "recv",
                                              "scratch2",
                                              "scratch99999999999",
                                              "[",
                                              "]",
                                              "{",
                                              "}",
                                              "\"",
                                              ":",
                                              ",",
                                              "=",
                                              "op",
                                              "->",
                                              "<-",
                                              "#",
                                              "\n",
                                              "round",
                                              "edge",
                                              "view of",
                                              "end",
                                              "null",
                                              "true"};
  const auto pick = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  for (std::size_t changes = 1 + pick(3); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = pick(text.size());
    const std::size_t length = 1 + pick(std::min<std::size_t>(text.size() - at, 40));
    switch (pick(6)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(pick(text.size()), length));
        break;
      case 3:
        text.insert(at, words[pick(words.size())]);
        break;
      case 4: {  // a number becomes another
        const std::size_t digit = text.find_first_of("0123456789", at);
        if (digit == std::string::npos) break;
        const std::size_t end = std::min(text.find_first_not_of("0123456789", digit), text.size());
        text.replace(digit, end - digit, pick(2) == 0 ? words[pick(8)] : std::to_string(pick(6)));
        break;
      }
      default:
        text.resize(at);
        break;
    }
  }
  return text;
}

/// Mutated forms either are refused, or read, write and read again the same. Returns how many were read.
template <typename Read, typename Write>
int mutate(Read read, Write write, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  int accepted = 0;
  std::string text;
  for (int i = 0; i < 20000; ++i) {
    if (i % 50 == 0) text = write(i % 100 == 0 ? sample() : random_schedule(random));
    const std::string input = mutated(text, random);
    Schedule schedule;
    try {
      schedule = read(input);
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::parse || error.code() == ErrorCode::invalid_argument) << error.what();
      continue;
    }
    ++accepted;
    EXPECT_NO_THROW(check_structure(schedule)) << input;
    EXPECT_TRUE(read(write(schedule)) == schedule) << input;
  }
  return accepted;
}

TEST(Text, SurvivesMutation) { EXPECT_GT(mutate(schedule_from_text, to_text, 1), 500); }
TEST(Json, SurvivesMutation) { EXPECT_GT(mutate(schedule_from_json, to_json, 2), 300); }

}  // namespace
}  // namespace circoll
