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

using Nodes = std::vector<std::uint64_t>;

/// The number of an item's last node. A receive that combines has one more before.
std::uint64_t last_node(std::int64_t item) { return 2 * static_cast<std::uint64_t>(item) + 1; }

ProtoMessage make_node(std::uint64_t id, const std::string& name, NodeType type, const Nodes& waits_for) {
  ProtoMessage node;
  node.integer(node_id, static_cast<std::int64_t>(id));
  node.text(node_name, name);
  node.integer(node_type, type);
  node.packed(node_data_deps, waits_for);
  return node;
}

/// The nodes of a rank's steps of one collective.
class Writer {
 public:
  Writer(const Schedule& schedule, Count bytes, double gamma_us_per_byte, const InProgram& place)
      : schedule_(schedule), sizes_(schedule, bytes), gamma_us_per_byte_(gamma_us_per_byte), place_(place) {
    const Dependencies dependencies = derive_dependencies(schedule);
    waits_for_.resize(schedule.steps.size());
    for (StepIndex i = 0; i < schedule.steps.size(); ++i) {
      if (dependencies.in_degree[i] == 0) {
        for (const std::int64_t before : place.after) waits_for_[i].push_back(last_node(before));
      }
      for (const StepIndex next : dependencies.successors(i)) waits_for_[next].push_back(node_of(i));
    }
  }

  std::string nodes() && {
    for (StepIndex i = 0; i < schedule_.steps.size(); ++i) {
      const Step& step = schedule_.steps[i];
      if (!is_message(step)) {
        compute_node(i, waits_for_[i]);
      } else if (step.kind == StepKind::recv_reduce) {
        message_node(node_of(i) - 1, step, waits_for_[i]);
        compute_node(i, {node_of(i) - 1});
      } else {
        message_node(node_of(i), step, waits_for_[i]);
      }
    }
    return std::move(file_);
  }

 private:
  [[nodiscard]] std::uint64_t node_of(StepIndex step) const { return last_node(place_.first_item + step); }
  [[nodiscard]] Rank program_rank(Rank rank) const {
    return place_.members.empty() ? rank : place_.members[static_cast<std::size_t>(rank)];
  }

  void compute_node(StepIndex i, const Nodes& waits_for) {
    const Step& step = schedule_.steps[i];
    const bool combines = is_reduction(step.kind);
    ProtoMessage calculation = make_node(node_of(i), combines ? "combine" : "copy", NodeType::compute, waits_for);
    if (combines)
      calculation.integer(node_duration, std::llround(gamma_us_per_byte_ * static_cast<double>(sizes_.of(step.dst))));
    add_attribute(calculation, "is_cpu_op", attribute_bool, 0);
    calculation.append_to(file_);
  }

  void message_node(std::uint64_t id, const Step& step, const Nodes& waits_for) {
    const bool sends = step.kind == StepKind::send;
    const Rank rank = program_rank(schedule_.shape.rank);
    const Rank peer = program_rank(step.peer);
    ProtoMessage message =
        make_node(id, fmt::format("{} {}, round {}", sends ? "send to" : "receive from", peer, step.round),
                  sends ? NodeType::send : NodeType::receive, waits_for);
    add_attribute(message, "is_cpu_op", attribute_bool, 0);
    add_attribute(message, "comm_size", attribute_int64, std::max<Count>(sizes_.of(message_operand(step)), 1));
    add_attribute(message, "comm_src", attribute_int32, sends ? rank : peer);
    add_attribute(message, "comm_dst", attribute_int32, sends ? peer : rank);
    add_attribute(message, "comm_tag", attribute_int32, place_.first_tag + next_tag_[{sends, step.peer}]++);
    // Since 2025 ASTRA-sim asks for parts of the collective's size, and takes comm_size where they are -1.
    for (const char* const part : {"msg_chunk_cnt", "msg_chunk_idx", "total_chunk_cnt"})
      add_attribute(message, part, attribute_int32, -1);
    message.append_to(file_);
  }

  const Schedule& schedule_;
  show::Sizes sizes_;
  double gamma_us_per_byte_;
  const InProgram& place_;
  std::vector<Nodes> waits_for_;
  std::map<std::pair<bool, Rank>, std::int64_t> next_tag_;
  std::string file_;
};

}  // namespace

std::string chakra_head() {
  ProtoMessage head;
  head.text(metadata_version, "1.0.0");
  std::string file;
  head.append_to(file);
  return file;
}

std::string chakra_computation(std::int64_t item, std::int64_t time_us, std::span<const std::int64_t> after) {
  Nodes waits_for;
  for (const std::int64_t before : after) waits_for.push_back(last_node(before));
  ProtoMessage node = make_node(last_node(item), "compute", NodeType::compute, waits_for);
  node.integer(node_duration, time_us);
  add_attribute(node, "is_cpu_op", attribute_bool, 0);
  std::string file;
  node.append_to(file);
  return file;
}

std::string chakra_steps(const Schedule& schedule, Count bytes, double gamma_us_per_byte, const InProgram& place) {
  check_structure(schedule);
  require(bytes >= 0, "a vector has no negative number of bytes");
  require(gamma_us_per_byte >= 0 && std::isfinite(gamma_us_per_byte), "the price of a combined byte is not negative");
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  require(schedule.shape.size <= most && static_cast<std::int64_t>(schedule.steps.size()) <= most - place.first_tag,
          "the ranks and tags of a Chakra trace have 32 bits");
  return Writer(schedule, bytes, gamma_us_per_byte, place).nodes();
}

std::string to_chakra(const Schedule& schedule, Count bytes, double gamma_us_per_byte) {
  return chakra_head() + chakra_steps(schedule, bytes, gamma_us_per_byte, {});
}

}  // namespace circoll
