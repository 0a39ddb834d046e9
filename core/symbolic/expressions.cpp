#include "symbolic/expressions.hpp"

#include <algorithm>

namespace circoll::symbolic {

void Expressions::mark_sources(Value v, std::vector<bool>& found) {
  visited_.resize(nodes_.size(), 0);
  ++visit_;
  stack_.assign(1, v);
  while (!stack_.empty()) {
    const Value top = stack_.back();
    stack_.pop_back();
    if (is_leaf(top)) {
      found[static_cast<std::size_t>(source_of(top))] = true;
      continue;
    }
    std::uint32_t& visited = visited_[top - first_node_];
    if (visited == visit_) continue;
    visited = visit_;
    stack_.push_back(nodes_[top - first_node_].left);
    stack_.push_back(nodes_[top - first_node_].right);
  }
}

std::string Expressions::text(Value v, std::size_t most_characters) const {
  // Expressions, and between them two marks that are no values.
  constexpr Value plus = undefined, close = std::numeric_limits<Value>::max();
  std::string text;
  std::vector<Value> rest{v};
  while (!rest.empty() && text.size() < most_characters) {
    const Value top = rest.back();
    rest.pop_back();
    if (top == plus || top == close) {
      text += top == plus ? '+' : ')';
    } else if (is_leaf(top)) {
      text += std::to_string(source_of(top));
    } else {
      const Node& node = nodes_[top - first_node_];
      if (top != v) {
        text += '(';
        rest.push_back(close);
      }
      rest.insert(rest.end(), {node.right, plus, node.left});
    }
  }
  return rest.empty() ? text : text + "...";
}

bool Expressions::identical(Value a, Value b) {
  stack_.assign({a, b});
  while (!stack_.empty()) {
    const Value y = stack_.back();
    stack_.pop_back();
    const Value x = stack_.back();
    stack_.pop_back();
    if (x == y) continue;
    if (is_leaf(x) || is_leaf(y)) return false;
    const Node& m = nodes_[x - first_node_];
    const Node& n = nodes_[y - first_node_];
    if (m.sources.leaves != n.sources.leaves) return false;
    stack_.insert(stack_.end(), {m.right, n.right, m.left, n.left});
  }
  return true;
}

Value Expressions::canonical(Value v) {
  canonical_.resize(nodes_.size(), undefined);
  stack_.assign(1, v);
  while (!stack_.empty()) {
    const Value top = stack_.back();
    if (known(top) != undefined) {
      stack_.pop_back();
      continue;
    }
    const Node& node = nodes_[top - first_node_];
    const Value left = known(node.left);
    const Value right = known(node.right);
    if (left == undefined || right == undefined) {
      if (right == undefined) stack_.push_back(node.right);
      if (left == undefined) stack_.push_back(node.left);
      continue;
    }
    const std::uint64_t key = (std::uint64_t{std::min(left, right)} << 32) | std::max(left, right);
    canonical_[top - first_node_] = pairs_.try_emplace(key, top).first->second;
    stack_.pop_back();
  }
  return known(v);
}

}  // namespace circoll::symbolic
