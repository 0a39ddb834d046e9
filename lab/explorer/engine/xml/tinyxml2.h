// The part of tinyxml2's interface that lab/msccl uses, for WebAssembly, where Debian has no tinyxml2.
//
// Elements have attributes, children, and the lines on which they stand. Text between elements is passed over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tinyxml2 {

enum XMLError { XML_SUCCESS, XML_ERROR_PARSING, XML_ERROR_MISMATCHED_ELEMENT, XML_ERROR_EMPTY_DOCUMENT };

class XMLElement {
 public:
  [[nodiscard]] const char* Name() const { return name_.c_str(); }
  [[nodiscard]] int GetLineNum() const { return line_; }
  [[nodiscard]] const char* Attribute(const char* name) const {
    for (const auto& [key, value] : attributes_) {
      if (key == name) return value.c_str();
    }
    return nullptr;
  }
  [[nodiscard]] const XMLElement* FirstChildElement() const {
    return children_.empty() ? nullptr : children_.front().get();
  }
  [[nodiscard]] const XMLElement* NextSiblingElement() const { return next_; }

 private:
  friend class XMLDocument;
  std::string name_;
  int line_ = 1;
  std::vector<std::pair<std::string, std::string>> attributes_;
  std::vector<std::unique_ptr<XMLElement>> children_;
  const XMLElement* next_ = nullptr;
};

class XMLDocument {
 public:
  XMLError Parse(const char* text, std::size_t bytes) {
    rest_ = {text, bytes};
    top_ = XMLElement();
    error_ = read_children(top_, 0);
    if (error_ == XML_SUCCESS && top_.children_.empty()) error_ = XML_ERROR_EMPTY_DOCUMENT;
    return error_;
  }
  [[nodiscard]] int ErrorLineNum() const { return line_; }
  [[nodiscard]] static const char* ErrorIDToName(XMLError error) {
    static constexpr const char* names[] = {"XML_SUCCESS", "XML_ERROR_PARSING", "XML_ERROR_MISMATCHED_ELEMENT",
                                            "XML_ERROR_EMPTY_DOCUMENT"};
    return names[error];
  }
  [[nodiscard]] const XMLElement* RootElement() const { return top_.FirstChildElement(); }

 private:
  static constexpr int deepest = 64;
  static constexpr std::string_view blanks = " \t\r\n";

  void skip(std::size_t characters) {
    for (const char c : rest_.substr(0, characters)) line_ += c == '\n' ? 1 : 0;
    rest_.remove_prefix(std::min(characters, rest_.size()));
  }
  bool skip_past(std::string_view end) {
    const std::size_t at = rest_.find(end);
    if (at == std::string_view::npos) return false;
    skip(at + end.size());
    return true;
  }
  void skip_blanks() { skip(std::min(rest_.find_first_not_of(blanks), rest_.size())); }
  std::string take_name() {
    const std::size_t end = std::min(rest_.find_first_of(" \t\r\n=/><\"'"), rest_.size());
    std::string name(rest_.substr(0, end));
    skip(end);
    return name;
  }

  /// Reads up to the end tag of `parent`, or to the end of the document.
  XMLError read_children(XMLElement& parent, int depth) {
    while (true) {
      skip(std::min(rest_.find('<'), rest_.size()));
      if (rest_.empty()) return depth == 0 ? XML_SUCCESS : XML_ERROR_PARSING;
      if (rest_.substr(0, 4) == "<!--") {
        if (!skip_past("-->")) return XML_ERROR_PARSING;
      } else if (rest_.substr(0, 2) == "<?" || rest_.substr(0, 2) == "<!") {
        if (!skip_past(">")) return XML_ERROR_PARSING;
      } else if (rest_.substr(0, 2) == "</") {
        skip(2);
        if (depth == 0 || take_name() != parent.name_) return XML_ERROR_MISMATCHED_ELEMENT;
        return skip_past(">") ? XML_SUCCESS : XML_ERROR_PARSING;
      } else if (const XMLError error = read_element(parent, depth); error != XML_SUCCESS) {
        return error;
      }
    }
  }

  XMLError read_element(XMLElement& parent, int depth) {
    if (depth >= deepest) return XML_ERROR_PARSING;
    auto element = std::make_unique<XMLElement>();
    element->line_ = line_;
    skip(1);
    element->name_ = take_name();
    if (element->name_.empty()) return XML_ERROR_PARSING;
    XMLElement& added = *element;
    if (!parent.children_.empty()) parent.children_.back()->next_ = element.get();
    parent.children_.push_back(std::move(element));
    while (true) {
      skip_blanks();
      if (rest_.empty()) return XML_ERROR_PARSING;
      if (rest_.front() == '>') {
        skip(1);
        return read_children(added, depth + 1);
      }
      if (rest_.substr(0, 2) == "/>") {
        skip(2);
        return XML_SUCCESS;
      }
      if (!read_attribute(added)) return XML_ERROR_PARSING;
    }
  }

  bool read_attribute(XMLElement& element) {
    std::string name = take_name();
    skip_blanks();
    if (name.empty() || rest_.empty() || rest_.front() != '=') return false;
    skip(1);
    skip_blanks();
    if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\'')) return false;
    const char quote = rest_.front();
    skip(1);
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) return false;
    element.attributes_.emplace_back(std::move(name), std::string(rest_.substr(0, end)));
    skip(end + 1);
    return true;
  }

  std::string_view rest_;
  int line_ = 1;
  XMLElement top_;
  XMLError error_ = XML_SUCCESS;
};

}  // namespace tinyxml2
