// Files of schedules as algorithms: what they serve, what is found out about them, and what is refused.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "circoll/text.hpp"
#include "circoll/verify.hpp"
#include "select/schedule_file.hpp"

namespace circoll {
namespace {

using select::algorithm_of;

constexpr OperatorTraits any_op{.commutative = true, .idempotent = true};

std::vector<Schedule> schedules(const std::string& id, const Shape& shape) {
  const Selection s = parse_selection(id);
  Shape whole = shape;
  whole.params = s.params;
  return build_all_ranks(*s.algorithm, s.collective, whole);
}

class File {
 public:
  explicit File(const std::vector<Schedule>& ranks, const std::string& name = "schedules.json")
      : path_(testing::TempDir() + "circoll_file_" + name) {
    std::string text;
    for (const Schedule& s : ranks) text += (text.empty() ? "[" : ",") + to_json(s);
    write(text + "]");
  }
  ~File() { std::remove(path_.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(const std::string& text) const { std::ofstream(path_) << text; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string word() const { return "file:" + path_; }

 private:
  std::string path_;
};

template <typename Act>
std::string error_of(ErrorCode code, const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The schedules of every algorithm, given as a file has them, serve every root, in place and not.
TEST(ScheduleFile, ServesEveryCallOfItsSize) {
  for (const Rank p : {1, 4, 5}) {
    for (const Collective c : all_collectives) {
      for (const Algorithm* a : algorithms_of(c)) {
        if (!unmet_need(*a, p, any_op).empty()) continue;
        for (const bool in_place : {false, true}) {
          const Shape shape{.size = p, .root = is_rooted(c) ? p / 2 : 0, .in_place = in_place};
          const auto given = algorithm_of(build_all_ranks(*a, c, shape), "file:of." + a->id(c));
          const RangeVerdict verdict =
              verify_range({{given.get(), c, {}}}, {.first = 1, .last = 8, .all_roots = true}).front();
          ASSERT_FALSE(verdict.refutation.has_value()) << a->id(c) << in_place << verdict.refutation->to_string();
          EXPECT_GE(verdict.instances, is_rooted(c) ? p : 1) << a->id(c);
          EXPECT_EQ(given->cost(shape), a->cost(shape)) << a->id(c);
          const CriticalPath own = critical_path(*given, c, shape), declared = critical_path(*a, c, shape);
          EXPECT_EQ(own.volume + own.one_way_volume, declared.volume + declared.one_way_volume) << a->id(c);
        }
      }
    }
  }
}

TEST(ScheduleFile, FindsOutWhatIsNotDeclared) {
  const auto ring = algorithm_of(schedules("allreduce/ring", {.size = 4}), "ring");
  EXPECT_TRUE(ring->needs.commutative && ring->guarantees.same_bits && !ring->guarantees.rank_order);
  const auto doubling = algorithm_of(schedules("allreduce/recursive_doubling", {.size = 5}), "doubling");
  EXPECT_TRUE(!doubling->needs.commutative && doubling->guarantees.rank_order);
  const auto idempotent = algorithm_of(schedules("allreduce/circulant_idempotent", {.size = 5}), "idempotent");
  EXPECT_TRUE(idempotent->needs.idempotent);
  EXPECT_TRUE(algorithm_of(schedules("alltoallv/pairwise", {.size = 4}), "pairwise")->guarantees.direct);
  EXPECT_FALSE(algorithm_of(schedules("alltoall/bruck", {.size = 4}), "bruck")->guarantees.direct);
  // Another root has another order.
  EXPECT_TRUE(algorithm_of(schedules("reduce/binomial", {.size = 4}), "reduce")->needs.commutative);
  EXPECT_EQ(algorithm_of(schedules("bcast/pipeline:segments=7", {.size = 3}), "pipeline")->pair_messages, 7);
}

/// A rank that sends on what it has received in place would send another block.
TEST(ScheduleFile, CopiesWhereBlocksWouldBeOverwritten) {
  std::vector<Schedule> ranks;
  for (Rank r = 0; r < 2; ++r) {  // the result is written before the contribution is sent
    Builder b("allreduce/hasty", Collective::allreduce, {.size = 2, .rank = r});
    const Region other = b.region(b.scratch(1, 0));
    b.sendrecv(1 - r, b.input(), 1 - r, other);
    b.next_round();
    b.copy(b.output(), other);
    b.reduce(b.output(), r == 0 ? b.input() : b.output(), r == 0 ? b.output() : b.input());
    ranks.push_back(std::move(b).finish());
  }
  const auto given = algorithm_of(ranks, "hasty");
  EXPECT_EQ(given->cost({.size = 2}).copied, 1);
  EXPECT_EQ(given->cost({.size = 2, .in_place = true}).copied, 2);
  const Selection selection{given.get(), Collective::allreduce, {}};
  EXPECT_EQ(verify_range({selection}, {.first = 2, .last = 2}).front().instances, 2);
}

TEST(ScheduleFile, IsNamedWhereAnAlgorithmIs) {
  const File file(schedules("bcast/binomial", {.size = 4, .root = 1}));
  const Selection selection = parse_selection(Collective::bcast, file.word());
  EXPECT_EQ(selection.text(), file.word());
  EXPECT_EQ(selection.id(), "bcast/" + file.word());
  EXPECT_EQ(parse_selection(file.word()).algorithm, selection.algorithm) << "it is read once";
  EXPECT_EQ(parse_selection("bcast/" + file.word()).algorithm, selection.algorithm);
  EXPECT_TRUE(
      contains(error_of(ErrorCode::invalid_argument, [&] { (void)parse_selection(Collective::reduce, file.word()); }),
               "has schedules of bcast, not of reduce"));
  EXPECT_TRUE(
      contains(error_of(ErrorCode::unknown_name, [&] { (void)parse_selection(Collective::bcast, file.path()); }),
               "did you mean " + file.word()));
  const CallFacts call{.collective = Collective::bcast, .p = 4, .bytes = 8};
  EXPECT_EQ(resolve(file.word(), call).algorithm, selection.algorithm);
  EXPECT_EQ(resolve("bcast/" + file.word(), call).algorithm, selection.algorithm);
  EXPECT_EQ(unmet_need(selection, 4, any_op), "");
  EXPECT_EQ(unmet_need(selection, 5, any_op), "is for 4 ranks");
}

TEST(ScheduleFile, LeavesOtherCallsToThePolicy) {
  const File file(schedules("bcast/binomial", {.size = 4}), "policy.json");
  const Selection selection = parse_selection(file.word());
  const auto automatic = make_policy("auto");
  const auto fixed = make_fixed_policy(selection, {}, automatic.get());
  EXPECT_EQ(fixed->decide({.collective = Collective::bcast, .p = 4, .bytes = 8}).selection->text(), file.word());
  const CallFacts five{.collective = Collective::bcast, .p = 5, .bytes = 8};
  const Decision other = fixed->decide(five);
  ASSERT_TRUE(other.selection.has_value());
  EXPECT_EQ(other.selection->text(), automatic->decide(five).selection->text());
  EXPECT_TRUE(other.reason.starts_with("bcast/" + file.word() + ": is for 4 ranks; ")) << other.reason;
  EXPECT_FALSE(make_fixed_policy(selection)->decide(five).selection.has_value());
  // Sums of floating point only where all ranks get the same bits.
  std::vector<Schedule> ranks;
  for (Rank r = 0; r < 3; ++r) {  // each rank adds in an order of its own
    Builder b("allreduce/own_order", Collective::allreduce, {.size = 3, .rank = r});
    const Region first = b.region(b.scratch(1, 0)), second = b.region(b.scratch(1, 0));
    b.sendrecv((r + 1) % 3, b.input(), (r + 2) % 3, first);
    b.next_round();
    b.sendrecv((r + 2) % 3, b.input(), (r + 1) % 3, second);
    b.next_round();
    b.reduce(b.output(), b.input(), first);
    b.reduce(b.output(), b.output(), second);
    ranks.push_back(std::move(b).finish());
  }
  const auto own_order = algorithm_of(ranks, "own_order");
  const auto sums = make_fixed_policy({own_order.get(), Collective::allreduce, {}}, {}, automatic.get());
  const auto served = [&](Op op, Type type) {
    return sums->decide(facts_of(Collective::allreduce, 3, 64, op, type)).selection->algorithm == own_order.get();
  };
  EXPECT_TRUE(served(Op::sum, Type::int32));
  EXPECT_FALSE(served(Op::sum, Type::float64));
}

TEST(ScheduleFile, RefusesWhatIsWrong) {
  std::vector<Schedule> ranks = schedules("allgather/ring", {.size = 3});
  const auto refused = [&](ErrorCode code, const std::string& text, const std::string& name) {
    const File file({}, name);
    file.write(text);
    const std::string what = error_of(code, [&] { (void)parse_selection(file.word()); });
    EXPECT_TRUE(what.starts_with(file.path())) << what;
    return what;
  };
  refused(ErrorCode::parse, "no schedule", "words.json");
  refused(ErrorCode::invalid_argument, "", "empty.json");
  refused(ErrorCode::parse, "[{\"format\": \"circoll-schedule\"", "cut.json");
  EXPECT_TRUE(contains(refused(ErrorCode::unsupported, "<algo/>", "mscl.xml"), "circoll show FILE --format json"));
  EXPECT_TRUE(contains(refused(ErrorCode::invalid_argument, to_json(ranks[0]), "one.json"), "is expected"));
  for (Step& step : ranks[1].steps) {
    if (step.kind == StepKind::send && step.round == 1) ranks[1].ranges[step.left.offset].first = 1;
  }
  const File wrong(ranks, "wrong.json");
  EXPECT_TRUE(contains(error_of(ErrorCode::refuted, [&] { (void)parse_selection(wrong.word()); }), "rank="));
  error_of(ErrorCode::invalid_argument, [] { (void)parse_selection("file:/no/such/file"); });
  error_of(ErrorCode::parse, [] { (void)parse_selection("file:"); });
  const File good(schedules("bcast/binomial", {.size = 2}), "rule.json");
  const std::string rules = R"({"circoll_rules": 1, "bcast": [{"use": ")" + good.word() + "\"}]}";
  const std::string said = error_of(ErrorCode::parse, [&] { (void)make_rules_policy(rules, "rules.json"); });
  EXPECT_TRUE(contains(said, "CIRCOLL_BCAST=file:PATH")) << said;
}

}  // namespace
}  // namespace circoll
