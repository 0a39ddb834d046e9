// Chakra execution traces, read back by a small reader that knows the messages of et_def.proto.
#include "formats/formats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "circoll/transform.hpp"
#include "circoll/verify.hpp"
#include "sim/sim.hpp"

namespace circoll {
namespace {

/// Fields of a message in the wire format, one after another.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  /// The next field: its number, and a number or bytes. False at the end.
  bool next() {
    if (rest_.empty()) return false;
    const std::uint64_t tag = varint();
    field = static_cast<int>(tag >> 3U);
    length_delimited = (tag & 7U) == 2;
    EXPECT_TRUE(length_delimited || (tag & 7U) == 0) << "wire type " << (tag & 7U);
    number = varint();
    if (!length_delimited) return true;
    EXPECT_LE(number, rest_.size());
    bytes = rest_.substr(0, number);
    rest_.remove_prefix(bytes.size());
    return true;
  }
  [[nodiscard]] bool any() const { return !rest_.empty(); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    ADD_FAILURE() << "a number does not end";
    rest_ = {};
    return value;
  }
  /// The next message of a file, after its length.
  std::optional<std::string_view> message() {
    if (rest_.empty()) return std::nullopt;
    const std::uint64_t length = varint();
    EXPECT_LE(length, rest_.size());
    const std::string_view all = rest_.substr(0, length);
    rest_.remove_prefix(all.size());
    return all;
  }

  int field = 0;
  bool length_delimited = false;
  std::uint64_t number = 0;
  std::string_view bytes{};

 private:
  std::string_view rest_;
};

struct Attribute {
  int field = 0;
  std::int64_t value = 0;
};

struct Node {
  std::uint64_t id = 0;
  std::string name{};
  std::uint64_t type = 0;
  std::vector<std::uint64_t> waits_for{};
  std::uint64_t duration_us = 0;
  std::map<std::string, Attribute, std::less<>> attributes{};

  /// The value of an attribute, which must be of this field of AttributeProto.
  [[nodiscard]] std::int64_t get(std::string_view attribute, int field) const {
    const auto found = attributes.find(attribute);
    if (found == attributes.end()) {
      ADD_FAILURE() << name << " has no " << attribute;
      return 0;
    }
    EXPECT_EQ(found->second.field, field) << attribute;
    return found->second.value;
  }
};
constexpr int int32_val = 7, int64_val = 9, bool_val = 27;
constexpr std::uint64_t comp = 4, comm_send = 5, comm_recv = 6;

Node read_node(std::string_view message) {
  Node node;
  for (Fields f(message); f.next();) {
    if (f.field == 1) node.id = f.number;
    if (f.field == 2) node.name = f.bytes;
    if (f.field == 3) node.type = f.number;
    if (f.field == 5) {
      for (Fields deps(f.bytes); deps.any();) node.waits_for.push_back(deps.varint());
    }
    if (f.field == 7) node.duration_us = f.number;
    if (f.field == 10) {
      std::string name;
      Attribute attribute;
      for (Fields a(f.bytes); a.next();) {
        if (a.field == 1) {
          name = a.bytes;
        } else {
          attribute = {a.field, static_cast<std::int64_t>(a.number)};
        }
      }
      EXPECT_TRUE(node.attributes.emplace(name, attribute).second) << name;
    }
    EXPECT_TRUE((std::set{1, 2, 3, 5, 7, 10}.contains(f.field))) << f.field;
  }
  return node;
}

std::vector<Node> read_trace(std::string_view file) {
  Fields messages(file);
  const auto head = messages.message();
  EXPECT_TRUE(head);
  Fields metadata(head.value_or(""));
  EXPECT_TRUE(metadata.next());
  EXPECT_EQ(metadata.field, 1);
  EXPECT_EQ(metadata.bytes, "1.0.0");
  EXPECT_FALSE(metadata.next());
  std::vector<Node> nodes;
  std::set<std::uint64_t> ids;
  while (const auto message = messages.message()) {
    nodes.push_back(read_node(*message));
    const Node& node = nodes.back();
    for (const std::uint64_t before : node.waits_for) EXPECT_TRUE(ids.contains(before)) << node.name;
    EXPECT_TRUE(ids.insert(node.id).second) << node.name;
    EXPECT_EQ(node.get("is_cpu_op", bool_val), 0);
  }
  return nodes;
}

std::vector<std::vector<Node>> traces_of(const Selection& selection, Rank p, Count bytes, double gamma_us = 0,
                                         bool on_arrival = false) {
  std::vector<std::vector<Node>> ranks;
  for (Schedule& s :
       build_all_ranks(*selection.algorithm, selection.collective,
                       {.size = p, .root = is_rooted(selection.collective) ? p / 2 : 0, .params = selection.params})) {
    if (on_arrival) s = combined_on_arrival(s, [](Rank) { return true; });
    ranks.push_back(read_trace(to_chakra(s, bytes, gamma_us)));
  }
  return ranks;
}

using Message = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // source, destination, tag

Message message_of(const Node& node) {
  return {node.get("comm_src", int32_val), node.get("comm_dst", int32_val), node.get("comm_tag", int32_val)};
}

/// The time of all nodes in us, with a latency and a price for each byte. A node runs once all nodes that it waits for
/// have run.
double time_of(const std::vector<std::vector<Node>>& ranks, double latency, double per_byte) {
  std::map<std::pair<std::size_t, std::uint64_t>, double> ended;
  std::map<Message, double> arrived;
  std::size_t all = 0;
  for (const auto& nodes : ranks) all += nodes.size();
  double last = 0;
  for (bool moved = true; moved && ended.size() < all;) {
    moved = false;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      for (const Node& node : ranks[r]) {
        if (ended.contains({r, node.id})) continue;
        double begin = 0;
        bool ready = true;
        for (const std::uint64_t before : node.waits_for) {
          const auto found = ended.find({r, before});
          ready = ready && found != ended.end();
          if (ready) begin = std::max(begin, found->second);
        }
        if (!ready) continue;
        if (node.type == comm_send) {
          arrived[message_of(node)] =
              begin + latency + per_byte * static_cast<double>(node.get("comm_size", int64_val));
        } else if (node.type == comm_recv) {
          const auto message = arrived.find(message_of(node));
          if (message == arrived.end()) continue;
          begin = std::max(begin, message->second);
        } else {
          begin += static_cast<double>(node.duration_us);
        }
        ended[{r, node.id}] = begin;
        last = std::max(last, begin);
        moved = true;
      }
    }
  }
  EXPECT_EQ(ended.size(), all) << "nodes wait for one another";
  return last;
}

TEST(Chakra, IsReadBackForEveryAlgorithm) {
  for (const Algorithm* algorithm : all_algorithms()) {
    const Selection selection{algorithm, algorithm->collectives.front(), {}};
    for (const Rank p : {2, 5, 8}) {
      if (!unmet_need(*algorithm, p, {true, true}).empty()) continue;
      for (const bool on_arrival : {false, true}) {
        const auto ranks = traces_of(selection, p, 1001, 0, on_arrival);
        EXPECT_GT(time_of(ranks, 1, 0), 0) << selection.id() << " p = " << p;
        // Both ends of a message have the same length, and lie at the ranks that it names.
        std::map<Message, std::int64_t> sent;
        std::size_t received = 0;
        for (std::size_t r = 0; r < ranks.size(); ++r) {
          for (const Node& node : ranks[r]) {
            if (node.type != comm_send) continue;
            EXPECT_EQ(node.get("comm_src", int32_val), static_cast<std::int64_t>(r));
            EXPECT_TRUE(sent.emplace(message_of(node), node.get("comm_size", int64_val)).second);
          }
        }
        for (std::size_t r = 0; r < ranks.size(); ++r) {
          for (const Node& node : ranks[r]) {
            if (node.type != comm_recv) continue;
            ++received;
            EXPECT_EQ(node.get("comm_dst", int32_val), static_cast<std::int64_t>(r));
            ASSERT_TRUE(sent.contains(message_of(node))) << selection.id();
            EXPECT_EQ(sent[message_of(node)], node.get("comm_size", int64_val)) << selection.id();
            for (const char* const part : {"msg_chunk_cnt", "msg_chunk_idx", "total_chunk_cnt"})
              EXPECT_EQ(node.get(part, int32_val), -1);
          }
        }
        EXPECT_EQ(received, sent.size()) << selection.id();
      }
    }
  }
}

// The simulator gives the same graph the same time where ports are free, combinations included.
TEST(Chakra, TakesAsLongAsTheSimulatorSays) {
  for (const char* id : {"allreduce/recursive_doubling", "allreduce/circulant", "barrier/dissemination",
                         "allgather/bruck", "allreduce/ring"}) {
    const Selection selection = parse_selection(id);
    const sim::Network network{.between = {.latency_s = 50, .gap_s_per_byte = 3, .first_byte_free = false},
                               .gamma_s_per_byte = 2};
    const double simulated = simulate(sim::Ranks(selection, 8), 8000, network).time_s;
    const double bytes = selection.collective == Collective::barrier ? 3 * 3 : 0;  // the least message has a byte
    EXPECT_NEAR(time_of(traces_of(selection, 8, 8000, 2), 50, 3), simulated + bytes, 1e-9) << id;
    EXPECT_NEAR(time_of(traces_of(selection, 8, 8000, 2, true), 50, 3), simulated + bytes, 1e-9) << id;
  }
}

TEST(Chakra, HasTheSizesThatWereGiven) {
  const auto ranks = traces_of(parse_selection("bcast/binomial"), 2, 0);
  ASSERT_EQ(ranks[1].size(), 1U);
  EXPECT_EQ(ranks[1][0].get("comm_size", int64_val), 1);  // none has less
  EXPECT_EQ(traces_of(parse_selection("bcast/binomial"), 2, Count{1} << 40)[1][0].get("comm_size", int64_val),
            Count{1} << 40);
}

TEST(Chakra, RefusesNonsense) {
  const Selection selection = parse_selection("bcast/binomial");
  const Schedule s = build_all_ranks(*selection.algorithm, selection.collective, {.size = 2})[0];
  EXPECT_THROW((void)to_chakra(s, -1), Error);
  EXPECT_THROW((void)to_chakra(s, 8, -1), Error);
}

// protoc, which is not ours, reads every message, if it is installed.
TEST(Chakra, IsDecodedByProtoc) {
  if (std::system("protoc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "protoc is not installed";
  const Selection selection = parse_selection("allreduce/rabenseifner");
  const Schedule s = build_all_ranks(*selection.algorithm, selection.collective, {.size = 5})[2];
  const std::string file = to_chakra(s, 1000);
  const std::string path = testing::TempDir() + "circoll_chakra_message";
  Fields messages(file);
  (void)messages.message();
  std::size_t nodes = 0;
  while (const auto message = messages.message()) {
    std::ofstream(path, std::ios::binary) << *message;
    std::FILE* pipe = popen(("protoc --decode_raw < " + path).c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string text;
    char buffer[1024];
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
    EXPECT_EQ(pclose(pipe), 0) << text;
    const Node node = read_node(*message);
    EXPECT_EQ(
        text.rfind(
            "1: " + std::to_string(node.id) + "\n2: \"" + node.name + "\"\n3: " + std::to_string(node.type) + "\n", 0),
        0U)
        << text;
    EXPECT_EQ(text.find("1: \"comm_size\"\n  9: ") == text.npos, node.type == comp) << text;
    ++nodes;
  }
  std::remove(path.c_str());
  EXPECT_GE(nodes, s.steps.size());
}

}  // namespace
}  // namespace circoll
