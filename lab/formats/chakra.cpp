// Chakra execution traces, written without the library of Protocol Buffers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "circoll/dependencies.hpp"
#include "circoll/error.hpp"
#include "formats/formats.hpp"
#include "formats/sizes.hpp"

namespace circoll {
namespace {

/// Appends a number of 64 bits, seven of them in a byte, the lowest first.
void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<char>((value & 0x7FU) | 0x80U));
  out.push_back(static_cast<char>(value));
}

/// One message in the wire format of Protocol Buffers, field by field. Fields are written in the order of the calls.
class ProtoMessage {
 public:
  /// A field of an unsigned or signed integer type, a bool or an enumeration; negative ones are sign-extended.
  void integer(std::uint32_t field, std::int64_t value) {
    tag(field, 0);
    append_varint(content_, static_cast<std::uint64_t>(value));
  }
  void text(std::uint32_t field, std::string_view value) {
    tag(field, 2);
    append_varint(content_, value.size());
    content_ += value;
  }
  void message(std::uint32_t field, const ProtoMessage& value) { text(field, value.content_); }
  /// A repeated integer field, packed.
  template <typename Values>
  void packed(std::uint32_t field, const Values& values) {
    if (values.empty()) return;
    std::string numbers;
    for (const auto value : values) append_varint(numbers, static_cast<std::uint64_t>(value));
    text(field, numbers);
  }

  /// Appends the message after its length, as files of many messages have it.
  void append_to(std::string& file) const {
    append_varint(file, content_.size());
    file += content_;
  }

 private:
  void tag(std::uint32_t field, std::uint32_t wire_type) { append_varint(content_, field << 3U | wire_type); }

  std::string content_;
};

// Numbers of et_def.proto.
enum MetadataField : std::uint32_t { metadata_version = 1 };
enum NodeField : std::uint32_t {
  node_id = 1,
  node_name = 2,
  node_type = 3,
  node_data_deps = 5,
  node_duration = 7,
  node_attr = 10
};
enum AttributeField : std::uint32_t {
  attribute_name = 1,
  attribute_int32 = 7,
  attribute_int64 = 9,
  attribute_bool = 27
};
enum NodeType : std::uint8_t { compute = 4, send = 5, receive = 6 };

void add_attribute(ProtoMessage& node, std::string_view name, AttributeField type, std::int64_t value) {
  ProtoMessage attribute;
  attribute.text(attribute_name, name);
  attribute.integer(type, value);
  node.message(node_attr, attribute);
}

/// One rank's nodes. The number of a step's last node is 2 * step + 1; a receive that combines has one more before.
class Writer {
 public:
  Writer(const Schedule& schedule, Count bytes, double gamma_us_per_byte)
      : schedule_(schedule), sizes_(schedule, bytes), gamma_us_per_byte_(gamma_us_per_byte) {
    const Dependencies dependencies = derive_dependencies(schedule);
    waits_for_.resize(schedule.steps.size());
    for (StepIndex i = 0; i < schedule.steps.size(); ++i) {
      for (const StepIndex next : dependencies.successors(i)) waits_for_[next].push_back(last_node(i));
    }
  }

  std::string file() && {
    ProtoMessage head;
    head.text(metadata_version, "1.0.0");
    head.append_to(file_);
    for (StepIndex i = 0; i < schedule_.steps.size(); ++i) {
      const Step& step = schedule_.steps[i];
      if (!is_message(step)) {
        compute_node(i, waits_for_[i]);
      } else if (step.kind == StepKind::recv_reduce) {
        message_node(last_node(i) - 1, step, waits_for_[i]);
        compute_node(i, {last_node(i) - 1});
      } else {
        message_node(last_node(i), step, waits_for_[i]);
      }
    }
    return std::move(file_);
  }

 private:
  using Nodes = std::vector<std::uint64_t>;

  static std::uint64_t last_node(StepIndex step) { return 2 * std::uint64_t{step} + 1; }

  static ProtoMessage node(std::uint64_t id, const std::string& name, NodeType type, const Nodes& waits_for) {
    ProtoMessage node;
    node.integer(node_id, static_cast<std::int64_t>(id));
    node.text(node_name, name);
    node.integer(node_type, type);
    node.packed(node_data_deps, waits_for);
    return node;
  }

  void compute_node(StepIndex i, const Nodes& waits_for) {
    const Step& step = schedule_.steps[i];
    const bool combines = is_reduction(step.kind);
    ProtoMessage calculation = node(last_node(i), combines ? "combine" : "copy", NodeType::compute, waits_for);
    if (combines)
      calculation.integer(node_duration, std::llround(gamma_us_per_byte_ * static_cast<double>(sizes_.of(step.dst))));
    add_attribute(calculation, "is_cpu_op", attribute_bool, 0);
    calculation.append_to(file_);
  }

  void message_node(std::uint64_t id, const Step& step, const Nodes& waits_for) {
    const bool sends = step.kind == StepKind::send;
    const Rank rank = schedule_.shape.rank;
    ProtoMessage message =
        node(id, fmt::format("{} {}, round {}", sends ? "send to" : "receive from", step.peer, step.round),
             sends ? NodeType::send : NodeType::receive, waits_for);
    add_attribute(message, "is_cpu_op", attribute_bool, 0);
    add_attribute(message, "comm_size", attribute_int64, std::max<Count>(sizes_.of(message_operand(step)), 1));
    add_attribute(message, "comm_src", attribute_int32, sends ? rank : step.peer);
    add_attribute(message, "comm_dst", attribute_int32, sends ? step.peer : rank);
    add_attribute(message, "comm_tag", attribute_int32, next_tag_[{sends, step.peer}]++);
    // Since 2025 ASTRA-sim asks for parts of the collective's size, and takes comm_size where they are -1.
    for (const char* const part : {"msg_chunk_cnt", "msg_chunk_idx", "total_chunk_cnt"})
      add_attribute(message, part, attribute_int32, -1);
    message.append_to(file_);
  }

  const Schedule& schedule_;
  show::Sizes sizes_;
  double gamma_us_per_byte_;
  std::vector<Nodes> waits_for_;
  std::map<std::pair<bool, Rank>, std::int64_t> next_tag_;
  std::string file_;
};

}  // namespace

std::string to_chakra(const Schedule& schedule, Count bytes, double gamma_us_per_byte) {
  check_structure(schedule);
  require(bytes >= 0, "a vector has no negative number of bytes");
  require(gamma_us_per_byte >= 0 && std::isfinite(gamma_us_per_byte), "the price of a combined byte is not negative");
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  require(schedule.shape.size <= most && static_cast<std::int64_t>(schedule.steps.size()) <= most,
          "the ranks and tags of a Chakra trace have 32 bits");
  return Writer(schedule, bytes, gamma_us_per_byte).file();
}

}  // namespace circoll
