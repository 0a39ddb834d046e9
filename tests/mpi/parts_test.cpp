// Messages in parts: where they are cut, and which are not.
#include <algorithm>
#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "exec/mpi/message/mpi_channel.hpp"
#include "harness.hpp"

namespace circoll::test {
namespace {

/// The counts of the parts of each message of rank 1 in an allgather/ring of 100 elements among four ranks.
std::vector<std::vector<int>> parts_of(MPI_Datatype type, const mpi::TypeInfo& info, const mpi::PartsRule& rule) {
  const Schedule schedule = build_schedule("allgather/ring", Shape{.size = 4, .rank = 1, .root = 0, .in_place = false});
  const Plan plan = bind(schedule, Layout::uniform(schedule.user_blocks, 1, 100), info.extent_bytes, {});
  const mpi::MessageTable messages(plan, type, info, rule);
  std::vector<std::vector<int>> all;
  std::size_t requests = 0;
  for (StepIndex step = 0; step < plan.steps.size(); ++step) {
    if (!is_message(plan.steps[step].kind)) continue;
    std::vector<int>& counts = all.emplace_back();
    for (const mpi::MpiMessage& part : messages[step]) counts.push_back(part.count);
    const bool sends = plan.steps[step].kind == StepKind::send;
    requests += std::min(counts.size(), sends ? mpi::MessageTable::most_sends : mpi::MessageTable::most_receives);
  }
  expect(messages.most_requests() == requests, "the requests that may be under way are not those of the parts");
  return all;
}

void expect_parts(const char* what, const std::vector<std::vector<int>>& all, const std::vector<int>& counts) {
  expect(all.size() == 6, std::string(what) + ": a ring of four ranks has three messages each way");
  for (const std::vector<int>& one : all) expect(one == counts, std::string(what) + ": the parts are others");
}

}  // namespace

TEST_MPI(messages_in_parts) {
  mpi::TypeInfo bytes;
  bytes.size_bytes = bytes.extent_bytes = 8;
  expect_parts("no rule", parts_of(MPI_BYTE, bytes, {}), {800});
  expect_parts("a rest", parts_of(MPI_BYTE, bytes, {.bytes = 300, .rank = 1, .most_messages = 3}), {300, 300, 200});
  expect_parts("not at elements", parts_of(MPI_BYTE, bytes, {.bytes = 333, .rank = 1, .most_messages = 3}),
               {333, 333, 134});
  expect_parts("the last part is shorter", parts_of(MPI_BYTE, bytes, {.bytes = 400, .rank = 1, .most_messages = 3}),
               {400, 400, 0});
  expect_parts("as long as a part", parts_of(MPI_BYTE, bytes, {.bytes = 800, .rank = 1, .most_messages = 3}), {800, 0});
  expect_parts("shorter than a part", parts_of(MPI_BYTE, bytes, {.bytes = 801, .rank = 1, .most_messages = 3}), {800});
  expect_parts("more messages than tags", parts_of(MPI_BYTE, bytes, {.bytes = 300, .rank = 1, .most_messages = 2}),
               {800});
  const std::vector<Rank> together{0, 0, 0, 0}, apart{0, 1, 0, 1};
  expect_parts("inside a node",
               parts_of(MPI_BYTE, bytes, {.bytes = 300, .node_of = &together, .rank = 1, .most_messages = 3}), {800});
  expect_parts("between nodes",
               parts_of(MPI_BYTE, bytes, {.bytes = 300, .node_of = &apart, .rank = 1, .most_messages = 3}),
               {300, 300, 200});
  // Elements with gaps: 12 bytes of 16.
  MPI_Datatype gaps = MPI_DATATYPE_NULL;
  PMPI_Type_create_resized(MPI_INT, 0, 16, &gaps);
  mpi::TypeInfo info;
  info.size_bytes = 12;
  info.extent_bytes = 16;
  expect_parts("whole elements", parts_of(gaps, info, {.bytes = 600, .rank = 1, .most_messages = 3}), {50, 50, 0});
  expect_parts("elements that do not fill a part", parts_of(gaps, info, {.bytes = 500, .rank = 1, .most_messages = 3}),
               {41, 41, 18});
  expect(parts_of(gaps, info, {.bytes = 5, .rank = 1, .most_messages = 3}).front().size() == 101,
         "elements that are longer than a part");
  PMPI_Type_free(&gaps);
}

}  // namespace circoll::test
