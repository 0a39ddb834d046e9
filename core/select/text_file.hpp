// Small files of settings: text, and JSON whose values know their lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace circoll::select {

/// The contents of a file. Throws Error(invalid_argument) if it cannot be read, or is larger than 16 MiB.
[[nodiscard]] std::string read_text_file(const std::string& path);

/// A JSON value. Its line is that of its opening bracket. A scalar has the line of its key, or of the bracket before.
struct Json {
  struct Null {};
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;  ///< keys differ

  std::variant<Null, bool, std::int64_t, double, std::string, Array, Object> value{};
  std::size_t line = 1;

  [[nodiscard]] const Object* object() const { return std::get_if<Object>(&value); }
  [[nodiscard]] const Array* array() const { return std::get_if<Array>(&value); }
  [[nodiscard]] const std::string* string() const { return std::get_if<std::string>(&value); }
  /// The member of an object, or nullptr.
  [[nodiscard]] const Json* member(std::string_view key) const;
};

/// Reads JSON. Throws Error(parse) with `source` and the line: bad syntax, an object with a key twice, more
/// than 16 levels.
[[nodiscard]] Json read_json(std::string_view text, const std::string& source);

/// Throws Error(parse) with "source:line: what".
[[noreturn]] void fail_at(const std::string& source, std::size_t line, const std::string& what);

/// A reader of the members of one object.
class Members {
 public:
  /// Throws as fail_at does if `json` is no object, or has a member that is not `known`. Empty `known`: any
  /// may be there.
  Members(const Json& json, std::string source, std::vector<std::string_view> known = {});

  [[nodiscard]] const Json* find(std::string_view key) const { return json_.member(key); }
  /// The member, or an error that it is missing.
  [[nodiscard]] const Json& at(std::string_view key) const;
  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] double number(std::string_view key) const;
  [[nodiscard]] std::int64_t integer(std::string_view key) const;
  [[nodiscard]] bool boolean(std::string_view key) const;
  [[noreturn]] void fail(const Json& at, const std::string& what) const { fail_at(source_, at.line, what); }
  /// Checks the member that says what the file is: `key` must be the number 1.
  void require_version(std::string_view key) const;

 private:
  const Json& json_;
  std::string source_;
};

}  // namespace circoll::select
