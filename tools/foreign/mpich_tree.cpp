// A reader of JSON by hand: those at hand refuse repeated keys, sort members, or know no lines.
#include "foreign/mpich_tree.hpp"

#include <algorithm>

#include "circoll/error.hpp"

namespace circoll::foreign::mpich {
namespace {

constexpr int most_levels = 32;  // json-c's

class Parser {
 public:
  Parser(std::string_view text, const std::string& source, std::size_t from) : text_(text), source_(source), at_(from) {
    line_ += static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(from), '\n'));
  }

  Parsed parse() {
    skip_blanks();
    if (peek() != '{') fail("an object is expected");
    Parsed parsed;
    parsed.tree.line = line_;
    object(parsed.tree, 1);
    parsed.end = at_;
    return parsed;
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return;
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::parse, source_ + ":" + std::to_string(line_) + ": " + what);
  }

  void expect(char c) {
    skip_blanks();
    if (at_ >= text_.size()) fail("the text ends within the tree");
    if (text_[at_] != c) fail(std::string("'") + c + "' is expected");
    ++at_;
  }

  /// The entries of an object or an array, each read by `entry`.
  template <typename Entry>
  void list(char open, char close, int level, Entry&& entry) {
    if (level > most_levels) fail("more than 32 levels");
    expect(open);
    skip_blanks();
    if (peek() == close) {
      ++at_;
      return;
    }
    for (;;) {
      entry();
      skip_blanks();
      if (peek() != ',') break;
      ++at_;
    }
    expect(close);
  }

  void object(Tree& tree, int level) {
    list('{', '}', level, [&] {
      skip_blanks();
      Tree member;
      member.line = line_;
      member.key = string();
      expect(':');
      value(member, level + 1);
      tree.members.push_back(std::move(member));
    });
  }

  void value(Tree& member, int level) {
    skip_blanks();
    switch (peek()) {
      case '{':
        object(member, level);
        return;
      case '[':
        member.scalar = true;
        array(level);
        return;
      case '"':
        member.scalar = true;
        string();
        return;
      default:
        member.scalar = true;
        word();
    }
  }

  void array(int level) {
    list('[', ']', level, [&] {
      Tree ignored;
      value(ignored, level + 1);
    });
  }

  /// A number, true, false or null.
  void word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view("+-.0123456789aeflnrsutE").find(text_[at_]) != std::string_view::npos)
      ++at_;
    const std::string_view found = text_.substr(begin, at_ - begin);
    const bool number = !found.empty() && found.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
    if (!number && found != "true" && found != "false" && found != "null") fail("a value is expected");
  }

  std::string string() {
    if (peek() != '"') fail("a string is expected");
    std::string result;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '\\') {
        result.push_back(text_[at_]);
        continue;
      }
      if (++at_ == text_.size()) break;
      result.push_back(escaped(text_[at_]));
    }
    if (at_ >= text_.size()) fail("the text ends within a string");
    ++at_;
    return result;
  }

  char escaped(char c) {
    switch (c) {
      case '"':
      case '\\':
      case '/':
        return c;
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'u': {  // no key of a tree has one; a letter that is none stands for it
        const std::string_view digits = text_.substr(std::min(at_ + 1, text_.size()), 4);
        if (digits.size() < 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
          fail("\\u and four digits are expected");
        at_ += 4;
        return '?';
      }
      default:
        fail("an unknown escape");
    }
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_;
  std::size_t line_ = 1;
};

void write(const Tree& tree, std::size_t level, std::string& out) {
  out += '{';
  for (const Tree& member : tree.members) {
    out += &member == tree.members.data() ? "\n" : ",\n";
    out.append(level + 1, ' ');
    out += '"';
    for (const char c : member.key) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += "\": ";
    write(member, level + 1, out);
  }
  if (!tree.members.empty()) {
    out += '\n';
    out.append(level, ' ');
  }
  out += '}';
}

}  // namespace

const Tree* Tree::find(std::string_view name) const {
  const auto found = std::ranges::find_if(members, [&](const Tree& t) { return t.key == name; });
  return found == members.end() ? nullptr : &*found;
}

Parsed parse_tree(std::string_view text, const std::string& source, std::size_t from) {
  return Parser(text, source, std::min(from, text.size())).parse();
}

std::string to_json(const Tree& tree) {
  std::string out;
  write(tree, 0, out);
  return out + "\n";
}

}  // namespace circoll::foreign::mpich
