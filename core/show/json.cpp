// The JSON form. The writer prints it by hand, one step per line, because names need no escapes (form.hpp). The reader
// uses nlohmann-json, and reads every value through a Node that knows its path.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "circoll/error.hpp"
#include "circoll/text.hpp"
#include "facts/file_kind.hpp"
#include "show/form.hpp"

namespace circoll {
namespace {

using nlohmann::json;
using Out = std::back_insert_iterator<std::string>;

// Writing.

void write_operand(Out out, const Schedule& schedule, std::string_view key, Operand operand) {
  fmt::format_to(out, ", \"{}\": [", key);
  std::string_view separator;
  for (const Range& range : schedule.operand(operand)) {
    fmt::format_to(out, "{}[\"{}\", {}, {}]", separator, show::buffer_name(range.buffer), range.first, range.count);
    separator = ", ";
  }
  fmt::format_to(out, "]");
}

void write_step(Out out, const Schedule& schedule, const Step& step) {
  fmt::format_to(out, "{{\"kind\": \"{}\", \"round\": {}", show::name_of(step.kind), step.round);
  if (is_message(step)) fmt::format_to(out, ", \"peer\": {}", step.peer);
  if (step.kind != StepKind::send) write_operand(out, schedule, "dst", step.dst);
  if (step.kind != StepKind::recv) write_operand(out, schedule, "left", step.left);
  if (is_reduction(step.kind)) write_operand(out, schedule, "right", step.right);
  if (step.kind == StepKind::recv_reduce)
    fmt::format_to(out, ", \"arrives\": \"{}\"", step.arrives_left ? "left" : "right");
  fmt::format_to(out, "}}");
}

void write_buffer(Out out, const Schedule& schedule, std::int32_t number) {
  const Buffer& buffer = schedule.buffers[static_cast<std::size_t>(number)];
  fmt::format_to(out, "{{\"name\": \"{}\", \"slots\": {}", show::buffer_name(number), buffer.slots);
  if (buffer.list.empty()) {
    fmt::format_to(out, ", \"first_block\": {}, \"stride\": {}", buffer.first_block, buffer.stride);
  } else {
    fmt::format_to(out, ", \"blocks\": [{}]", fmt::join(buffer.list, ", "));
  }
  if (buffer.storage != number) fmt::format_to(out, ", \"view_of\": \"{}\"", show::buffer_name(buffer.storage));
  fmt::format_to(out, "}}");
}

/// "key": [ ... ] with one element per line.
template <typename Write>
void write_lines(Out out, std::string_view key, std::size_t size, Write write) {
  fmt::format_to(out, ",\n  \"{}\": [", key);
  for (std::size_t i = 0; i < size; ++i) {
    fmt::format_to(out, "{}\n    ", i == 0 ? "" : ",");
    write(i);
  }
  fmt::format_to(out, "{}]", size == 0 ? "" : "\n  ");
}

// Reading.

/// A value and the way to it. Nodes live on the stack, below their parents.
class Node {
 public:
  explicit Node(const json& value) : value_(value) {}
  Node(const json& value, const Node& parent, std::string_view key) : value_(value), parent_(&parent), key_(key) {}
  Node(const json& value, const Node& parent, std::size_t index) : value_(value), parent_(&parent), index_(index) {}

  [[noreturn]] void fail(std::string_view what) const {
    const std::string where = path();
    throw Error(ErrorCode::parse, fmt::format("schedule JSON, {}: {}", where.empty() ? "the whole" : where, what));
  }

  /// An object's members: all of `required`, any of `optional`, no others.
  void expect_keys(std::initializer_list<std::string_view> required,
                   std::initializer_list<std::string_view> optional = {}) const {
    if (!value_.is_object()) fail_type("an object");
    for (const auto& [key, unused] : value_.items()) {
      if (std::ranges::find(required, key) == required.end() && std::ranges::find(optional, key) == optional.end()) {
        if (const std::string_view kind = kind_of_key(key); parent_ == nullptr && !kind.empty())
          fail(fmt::format("this is a file of the kind {}; schedules are needed here", show::excerpt(kind)));
        fail(fmt::format("the key {} is unknown", show::excerpt(key)));
      }
    }
    for (const std::string_view key : required) {
      if (!has(key)) fail(fmt::format("the key '{}' is missing", key));
    }
  }
  [[nodiscard]] bool has(std::string_view key) const { return value_.find(key) != value_.end(); }
  /// Precondition: expect_keys() saw the key.
  [[nodiscard]] Node operator[](std::string_view key) const { return {*value_.find(key), *this, key}; }

  template <typename Visit>
  void for_each_member(Visit visit) const {
    if (!value_.is_object()) fail_type("an object");
    for (const auto& [key, member] : value_.items()) visit(key, Node(member, *this, key));
  }
  template <typename Visit>
  void for_each(Visit visit) const {
    if (!value_.is_array()) fail_type("an array");
    for (std::size_t i = 0; i < value_.size(); ++i) visit(Node(value_[i], *this, i));
  }
  void expect_length(std::size_t length) const {
    if (!value_.is_array() || value_.size() != length) fail_type(fmt::format("an array of {}", length));
  }
  [[nodiscard]] Node operator[](std::size_t index) const { return {value_[index], *this, index}; }

  [[nodiscard]] std::int64_t number(std::int64_t least, std::int64_t most) const {
    if (!value_.is_number_integer()) fail_type("an integer");
    const bool fits = !value_.is_number_unsigned() ||
                      value_.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    if (!fits || value_.get<std::int64_t>() < least || value_.get<std::int64_t>() > most) {
      fail(fmt::format("{} is not in {} .. {}", value_.dump(), least, most));
    }
    return value_.get<std::int64_t>();
  }
  [[nodiscard]] std::int64_t number() const { return number(0, show::largest_number); }
  [[nodiscard]] bool boolean() const {
    if (!value_.is_boolean()) fail_type("true or false");
    return value_.get<bool>();
  }
  [[nodiscard]] const std::string& string() const {
    if (!value_.is_string()) fail_type("a string");
    return value_.get_ref<const std::string&>();
  }
  [[nodiscard]] std::int32_t buffer() const {
    const auto number = show::buffer_from_name(string());
    if (!number) fail(fmt::format("{} is not 'send', 'recv' or 'scratch2', ...", show::excerpt(string())));
    return *number;
  }

 private:
  [[noreturn]] void fail_type(std::string_view wanted) const {
    fail(fmt::format("expected {}, found {}", wanted, value_.type_name()));
  }
  [[nodiscard]] std::string path() const {
    if (parent_ == nullptr) return {};
    const std::string before = parent_->path();
    if (key_.data() == nullptr) return fmt::format("{}[{}]", before, index_);
    const std::string key = show::is_name(key_) ? std::string(key_) : show::excerpt(key_);
    return before.empty() ? key : fmt::format("{}.{}", before, key);
  }

  const json& value_;
  const Node* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
};

Operand read_operand(const Node& node, Schedule& schedule) {
  const std::size_t offset = schedule.ranges.size();
  node.for_each([&](const Node& range) {
    range.expect_length(3);
    schedule.ranges.push_back({range[0].buffer(), range[1].number(), range[2].number()});
  });
  const std::size_t length = schedule.ranges.size() - offset;
  if (length == 0) return {};
  return {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(length)};
}

void read_step(const Node& node, Schedule& schedule) {
  Step step;
  node.expect_keys({"kind", "round"}, {"peer", "dst", "left", "right", "arrives"});
  const auto found = std::ranges::find(show::step_kind_names, node["kind"].string());
  if (found == show::step_kind_names.end())
    node["kind"].fail("expected 'send', 'recv', 'reduce', 'copy' or 'recv_reduce'");
  step.kind = static_cast<StepKind>(found - show::step_kind_names.begin());
  switch (step.kind) {
    case StepKind::send:
      node.expect_keys({"kind", "round", "peer", "left"});
      break;
    case StepKind::recv:
      node.expect_keys({"kind", "round", "peer", "dst"});
      break;
    case StepKind::reduce:
      node.expect_keys({"kind", "round", "dst", "left", "right"});
      break;
    case StepKind::copy:
      node.expect_keys({"kind", "round", "dst", "left"});
      break;
    case StepKind::recv_reduce:
      node.expect_keys({"kind", "round", "peer", "dst", "left", "right", "arrives"});
      step.arrives_left = node["arrives"].string() == "left";
      if (!step.arrives_left && node["arrives"].string() != "right") node["arrives"].fail("expected 'left' or 'right'");
      break;
  }
  step.round = static_cast<std::uint32_t>(node["round"].number());
  if (node.has("peer")) step.peer = node["peer"].number();
  if (node.has("dst")) step.dst = read_operand(node["dst"], schedule);
  if (node.has("left")) step.left = read_operand(node["left"], schedule);
  if (node.has("right")) step.right = read_operand(node["right"], schedule);
  schedule.steps.push_back(step);
}

void read_buffer(const Node& node, Schedule& schedule) {
  const auto number = static_cast<std::int32_t>(schedule.buffers.size());
  node.expect_keys({"name", "slots"}, {"first_block", "stride", "blocks", "view_of"});
  const bool listed = node.has("blocks");
  if (listed) {
    node.expect_keys({"name", "slots", "blocks"}, {"view_of"});
  } else {
    node.expect_keys({"name", "slots", "first_block", "stride"}, {"view_of"});
  }
  if (node["name"].string() != show::buffer_name(number)) {
    node["name"].fail(fmt::format("expected '{}': buffers stand in order", show::buffer_name(number)));
  }
  Buffer buffer;
  buffer.slots = node["slots"].number();
  if (listed) {
    node["blocks"].for_each([&](const Node& block) { buffer.list.push_back(block.number()); });
    if (static_cast<Slot>(buffer.list.size()) != buffer.slots || buffer.list.empty()) {
      node["blocks"].fail(fmt::format("{} blocks are listed for {} slots", buffer.list.size(), buffer.slots));
    }
  } else {
    buffer.first_block = node["first_block"].number();
    buffer.stride = node["stride"].number();
  }
  buffer.storage = node.has("view_of") ? node["view_of"].buffer() : number;
  schedule.buffers.push_back(std::move(buffer));
}

Schedule read_schedule(const Node& node) {
  node.expect_keys({"format", "version", "id", "collective", "size", "rank", "root", "in_place", "params",
                    "user_blocks", "segments", "rounds", "buffers", "steps", "edges"});
  if (node["format"].string() != show::format_name)
    node["format"].fail(fmt::format("expected '{}'", show::format_name));
  if (node["version"].number() != show::format_version) {
    node["version"].fail(fmt::format("this is not version {} of the form", show::format_version));
  }
  Schedule schedule;
  schedule.id = node["id"].string();
  if (!show::is_name(schedule.id)) node["id"].fail(fmt::format("{} is not an id", show::excerpt(schedule.id)));
  const auto collective = collective_from_string(node["collective"].string());
  if (!collective) node["collective"].fail("expected the name of a collective");
  schedule.collective = *collective;
  schedule.shape.size = node["size"].number();
  schedule.shape.rank = node["rank"].number();
  schedule.shape.root = node["root"].number();
  schedule.shape.in_place = node["in_place"].boolean();
  node["params"].for_each_member([&](const std::string& name, const Node& value) {
    if (!show::is_name(name)) value.fail("this is not the name of a parameter");
    schedule.shape.params.emplace(
        name, value.number(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));
  });
  schedule.user_blocks = node["user_blocks"].number();
  schedule.segments = node["segments"].number();
  schedule.rounds = static_cast<std::uint32_t>(node["rounds"].number());
  node["buffers"].for_each([&](const Node& buffer) { read_buffer(buffer, schedule); });
  node["steps"].for_each([&](const Node& step) { read_step(step, schedule); });
  node["edges"].for_each([&](const Node& edge) {
    edge.expect_length(2);
    schedule.edges.emplace_back(static_cast<StepIndex>(edge[0].number()), static_cast<StepIndex>(edge[1].number()));
  });
  return schedule;
}

/// The line on which a step begins. The text has been read as one schedule, or as a list of them.
std::size_t line_of_step(std::string_view text, std::size_t schedule, std::size_t step) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const int base = text[first] == '[' ? 1 : 0;  // the depth of schedules
  int depth = 0;
  std::size_t line = 1, schedules = 0, steps = 0;
  std::string_view key;  // or another text: the last one
  bool inside = false, in_steps = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (c == '"') {
      const std::size_t begin = ++i;
      while (text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      key = text.substr(begin, i - begin);
    } else if (c == '{' || c == '[') {
      if (c == '{' && depth == base) inside = schedules++ == schedule;
      if (inside && c == '[' && depth == base + 1) in_steps = key == "steps";
      if (inside && in_steps && c == '{' && depth == base + 2 && steps++ == step) return line;
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return 0;
}

/// check_structure(), whose error has the line.
void check_read(const Schedule& schedule, std::string_view text, std::size_t number) {
  try {
    check_structure(schedule);
  } catch (const StructureError& error) {
    if (error.step() < 0) throw;
    throw error.at_line(line_of_step(text, number, static_cast<std::size_t>(error.step())));
  }
}

/// Parses JSON as nlohmann does, but takes no key twice and no deep nesting.
json parse(std::string_view text) {
  constexpr int deepest = 8;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto watch = [&](int depth, json::parse_event_t event, const json& value) {
    if (depth > deepest) throw Error(ErrorCode::parse, "schedule JSON: nested too deeply");
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      throw Error(ErrorCode::parse, fmt::format("schedule JSON: the key {} is given twice in one object",
                                                show::excerpt(value.get_ref<const std::string&>())));
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::exception& error) {
    throw Error(ErrorCode::parse, fmt::format("schedule JSON: {}", error.what()));
  }
}

}  // namespace

std::string to_json(const Schedule& given) {
  const Schedule schedule = show::writable(given);
  std::string text;
  const Out out = std::back_inserter(text);
  fmt::format_to(out, "{{\n  \"format\": \"{}\", \"version\": {},\n", show::format_name, show::format_version);
  fmt::format_to(out, "  \"id\": \"{}\", \"collective\": \"{}\",\n", schedule.id, to_string(schedule.collective));
  fmt::format_to(out, "  \"size\": {}, \"rank\": {}, \"root\": {}, \"in_place\": {}, \"params\": {{",
                 schedule.shape.size, schedule.shape.rank, schedule.shape.root, schedule.shape.in_place);
  std::string_view separator;
  for (const auto& [name, value] : schedule.shape.params) {
    fmt::format_to(out, "{}\"{}\": {}", separator, name, value);
    separator = ", ";
  }
  fmt::format_to(out, "}},\n  \"user_blocks\": {}, \"segments\": {}, \"rounds\": {}", schedule.user_blocks,
                 schedule.segments, schedule.rounds);
  write_lines(out, "buffers", schedule.buffers.size(),
              [&](std::size_t i) { write_buffer(out, schedule, static_cast<std::int32_t>(i)); });
  write_lines(out, "steps", schedule.steps.size(),
              [&](std::size_t i) { write_step(out, schedule, schedule.steps[i]); });
  write_lines(out, "edges", schedule.edges.size(), [&](std::size_t i) {
    fmt::format_to(out, "[{}, {}]", schedule.edges[i].first, schedule.edges[i].second);
  });
  fmt::format_to(out, "\n}}\n");
  return text;
}

Schedule schedule_from_json(std::string_view text) {
  const json value = parse(text);
  Schedule schedule = read_schedule(Node(value));
  check_read(schedule, text, 0);
  return schedule;
}

std::vector<Schedule> schedules_from_json(std::string_view text) {
  const json value = parse(text);
  std::vector<Schedule> schedules;
  Node(value).for_each([&](const Node& node) {
    schedules.push_back(read_schedule(node));
    check_read(schedules.back(), text, schedules.size() - 1);
  });
  return schedules;
}

}  // namespace circoll
