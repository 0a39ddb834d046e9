#include "select/text_file.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "circoll/error.hpp"
#include "facts/file_kind.hpp"

namespace circoll::select {
namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20;
constexpr std::size_t most_levels = 16;

/// Characters for nlohmann's reader that count lines as they are taken: its events carry no positions.
class Counting {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Counting(const char* at, std::size_t* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  Counting& operator++() {
    if (*at_ == '\n') ++*line_;
    ++at_;
    return *this;
  }
  Counting operator++(int) {
    Counting before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Counting& a, const Counting& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  std::size_t* line_;
};

/// Builds a Json from nlohmann's events. A number ends where the character after it has been read, so that scalars are
/// given the line of the key or bracket before them.
class Tree {
 public:
  Tree(const std::size_t& line, std::string source) : line_(line), source_(std::move(source)) {}

  // The names and signatures are nlohmann's.
  bool null() { return add(Json::Null{}); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) {
    // Beyond 2^63 no count makes sense; as a floating-point number it will be refused where a count is wanted.
    return value <= static_cast<std::uint64_t>(INT64_MAX) ? add(static_cast<std::int64_t>(value))
                                                          : add(static_cast<double>(value));
  }
  bool number_float(double value, const std::string& /*text*/) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(std::vector<std::uint8_t>& /*value*/) { return false; }
  bool key(std::string& name) {
    last_line_ = line_;
    const auto& members = std::get<Json::Object>(open_.back().json.value);
    if (std::any_of(members.begin(), members.end(), [&](const auto& m) { return m.first == name; })) {
      fail_at(source_, line_, "'" + name + "' is given twice");
    }
    open_.back().key = std::move(name);
    return true;
  }
  bool start_object(std::size_t /*elements*/) { return start(Json::Object{}); }
  bool start_array(std::size_t /*elements*/) { return start(Json::Array{}); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const nlohmann::json::exception& error) {
    // Before it stands a number of the parser's own, in brackets.
    const std::string what = error.what();
    fail_at(source_, line_, "this is no JSON: " + what.substr(what.find("] ") + 2));
  }

  [[nodiscard]] Json take() && { return std::move(root_); }

 private:
  struct Open {
    Json json;
    std::string key;
  };

  template <typename Value>
  bool start(Value value) {
    if (open_.size() >= most_levels) fail_at(source_, line_, "more than 16 levels of brackets");
    last_line_ = line_;
    open_.push_back({Json{std::move(value), line_}, {}});
    return true;
  }
  bool end() {
    Json done = std::move(open_.back().json);
    open_.pop_back();
    return put(std::move(done));
  }
  template <typename Value>
  bool add(Value value) {
    return put(Json{std::move(value), last_line_});
  }
  bool put(Json json) {
    if (open_.empty()) {
      root_ = std::move(json);
    } else if (auto* array = std::get_if<Json::Array>(&open_.back().json.value)) {
      array->push_back(std::move(json));
    } else {
      std::get<Json::Object>(open_.back().json.value).emplace_back(std::move(open_.back().key), std::move(json));
    }
    return true;
  }

  const std::size_t& line_;
  std::size_t last_line_ = 1;
  std::string source_;
  std::vector<Open> open_;
  Json root_;
};

}  // namespace

std::string read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::invalid_argument, "the file " + path + " cannot be read");
  std::string text;
  for (char buffer[4096]; file.read(buffer, sizeof buffer) || file.gcount() > 0;) {
    text.append(buffer, static_cast<std::size_t>(file.gcount()));
    if (text.size() > most_bytes) throw Error(ErrorCode::invalid_argument, "the file " + path + " is over 16 MiB");
  }
  if (file.bad()) throw Error(ErrorCode::invalid_argument, "the file " + path + " cannot be read");
  return text;
}

const Json* Json::member(std::string_view key) const {
  if (const Object* members = object()) {
    for (const auto& [name, json] : *members) {
      if (name == key) return &json;
    }
  }
  return nullptr;
}

Json read_json(std::string_view text, const std::string& source) {
  std::size_t line = 1;
  Tree tree(line, source);
  nlohmann::json::sax_parse(Counting(text.data(), &line), Counting(text.data() + text.size(), &line), &tree);
  return std::move(tree).take();
}

void fail_at(const std::string& source, std::size_t line, const std::string& what) {
  throw Error(ErrorCode::parse, source + ":" + std::to_string(line) + ": " + what);
}

Members::Members(const Json& json, std::string source, std::vector<std::string_view> known)
    : json_(json), source_(std::move(source)) {
  if (json.object() == nullptr) fail(json, "an object {...} is needed here");
  const auto wanted =
      std::find_if(known.begin(), known.end(), [](std::string_view key) { return !kind_of_key(key).empty(); });
  if (wanted != known.end() && json.member(*wanted) == nullptr) {
    for (const auto& [name, value] : *json.object()) {
      if (kind_of_key(name).empty()) continue;
      fail(value, "this is a file of the kind '" + std::string(kind_of_key(name)) + "'; '" +
                      std::string(kind_of_key(*wanted)) + "' is needed here");
    }
  }
  for (const auto& [name, value] : *json.object()) {
    if (known.empty() || std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string text = "'" + name + "' is not known here; known are";
    for (const std::string_view word : known) text += " " + std::string(word);
    fail(value, text);
  }
}

const Json& Members::at(std::string_view key) const {
  const Json* found = json_.member(key);
  if (found == nullptr) fail(json_, "'" + std::string(key) + "' is missing");
  return *found;
}

std::string Members::text(std::string_view key) const {
  const std::string* text = at(key).string();
  if (text == nullptr) fail(at(key), "'" + std::string(key) + "' must be a string");
  return *text;
}

double Members::number(std::string_view key) const {
  const Json& json = at(key);
  if (const auto* value = std::get_if<double>(&json.value)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&json.value)) return static_cast<double>(*value);
  fail(json, "'" + std::string(key) + "' must be a number");
}

std::int64_t Members::integer(std::string_view key) const {
  const auto* value = std::get_if<std::int64_t>(&at(key).value);
  if (value == nullptr) fail(at(key), "'" + std::string(key) + "' must be an integer");
  return *value;
}

bool Members::boolean(std::string_view key) const {
  const auto* value = std::get_if<bool>(&at(key).value);
  if (value == nullptr) fail(at(key), "'" + std::string(key) + "' must be true or false");
  return *value;
}

void Members::require_version(std::string_view key) const {
  if (integer(key) != 1) fail(at(key), "only version 1 of '" + std::string(key) + "' is known");
}

}  // namespace circoll::select
