// Messages in the wire format of Protocol Buffers, written without their library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace circoll::show {

/// Appends a number of 64 bits, seven of them in a byte, the lowest first.
inline void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<char>((value & 0x7FU) | 0x80U));
  out.push_back(static_cast<char>(value));
}

/// One message, field by field. Fields are written in the order of the calls.
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

}  // namespace circoll::show
