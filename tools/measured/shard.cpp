#include "measured/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "circoll/error.hpp"
#include "measured/file_kind.hpp"
#include "measured/one_line.hpp"
#include "select/text_file.hpp"

namespace circoll {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::optional<int> whole(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::invalid_argument, what); }

}  // namespace

Shard parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto number = whole(text.substr(0, slash));
  const auto of = slash == std::string_view::npos ? std::nullopt : whole(text.substr(slash + 1));
  if (!number || !of || *number < 1 || *number > *of) {
    refuse(fmt::format("'{}' is no shard: it is written I/N, with I from 1 to N, such as 2/8", text));
  }
  return {.number = *number, .of = *of};
}

std::string ShardedWork::argument(std::string_view name, std::string_view otherwise) const {
  const auto found = std::ranges::find_if(arguments, [&](const auto& one) { return one.first == name; });
  return found == arguments.end() ? std::string(otherwise) : found->second;
}

std::string to_string(const Shard& shard) { return fmt::format("{}/{}", shard.number, shard.of); }

bool has_cell(const Shard& shard, std::int64_t row, std::int64_t column) {
  return (row % shard.of + column % shard.of) % shard.of == shard.number - 1;
}

std::pair<std::int64_t, std::int64_t> items_of(const Shard& shard, std::int64_t items) {
  const std::int64_t each = items / shard.of;
  const std::int64_t more = items % shard.of;  // shards with one item more: the first ones
  const auto begin = [&](std::int64_t before) { return before * each + std::min(before, more); };
  return {begin(shard.number - 1), begin(shard.number)};
}

std::string to_json(const ShardResult& result) {
  OrderedJson arguments = OrderedJson::object();
  for (const auto& [name, value] : result.work.arguments) arguments[name] = value;
  const OrderedJson head{{"circoll_shard", 1},           {"command", result.work.command},
                         {"arguments", arguments},       {"version", result.work.version},
                         {"seed", result.work.seed},     {"items", result.work.items},
                         {"shard", result.shard.number}, {"of", result.shard.of},
                         {"done", result.done},          {"facts", result.facts}};
  std::string text = one_line(head);
  text.pop_back();  // the parts come line by line
  text += ",\n\"parts\":[";
  bool first = true;
  for (const auto& [item, part] : result.parts) {
    text += fmt::format("{}\n[{},{}]", first ? "" : ",", item, part);
    first = false;
  }
  return text + "\n]}\n";
}

bool is_shard(std::string_view json) {
  const measured::FileKind kind = measured::kind_of(json);
  return kind == measured::FileKind::shard || kind == measured::FileKind::campaign;
}

ShardResult shard_from_json(std::string_view json, const std::string& source) {
  measured::require_kind(json, source, {measured::FileKind::shard, measured::FileKind::campaign});
  const select::Json root = select::read_json(json, source);
  const select::Members members(
      root, source,
      {"circoll_shard", "command", "arguments", "version", "seed", "items", "shard", "of", "done", "facts", "parts"});
  members.require_version("circoll_shard");
  ShardResult result{.source = source,
                     .work = {.command = members.text("command"), .version = members.text("version")}};
  const auto texts = [&](std::string_view key, auto&& add) {
    const select::Json& object = members.at(key);
    if (object.object() == nullptr) members.fail(object, fmt::format("'{}' is no object", key));
    for (const auto& [name, value] : *object.object()) {
      if (value.string() == nullptr) members.fail(value, fmt::format("'{}' is no text", name));
      add(name, *value.string());
    }
  };
  texts("arguments",
        [&](const std::string& name, const std::string& value) { result.work.arguments.emplace_back(name, value); });
  texts("facts", [&](const std::string& name, const std::string& value) { result.facts[name] = value; });
  const std::int64_t seed = members.integer("seed");
  const std::int64_t number = members.integer("shard");
  const std::int64_t of = members.integer("of");
  result.work.items = members.integer("items");
  if (seed < 0 || result.work.items < 0) members.fail(root, "'seed' or 'items' is negative");
  if (number < 1 || number > of || of > 1 << 30) members.fail(root, "'shard' or 'of' is out of range");
  result.work.seed = static_cast<std::uint64_t>(seed);
  result.shard = {.number = static_cast<int>(number), .of = static_cast<int>(of)};
  result.done = members.boolean("done");
  const select::Json& parts = members.at("parts");
  if (parts.array() == nullptr) members.fail(parts, "'parts' is no list");
  // The syntax has been seen to be right; parts are kept as they are.
  const OrderedJson whole_text = OrderedJson::parse(json);
  for (std::size_t i = 0; i < parts.array()->size(); ++i) {
    const select::Json& part = (*parts.array())[i];
    const auto* const item = part.array() != nullptr && part.array()->size() == 2
                                 ? std::get_if<std::int64_t>(&part.array()->front().value)
                                 : nullptr;
    if (item == nullptr || *item < 0 || *item >= result.work.items) members.fail(part, "this is no part of the shard");
    if (!result.parts.emplace(*item, one_line(whole_text["parts"][i][1])).second) {
      members.fail(part, fmt::format("item {} is there twice", *item));
    }
  }
  return result;
}

void require_same_work(const ShardedWork& one, const std::string& one_source, const ShardedWork& other,
                       const std::string& other_source) {
  const auto compare = [&](const std::string& what, const std::string& a, const std::string& b) {
    if (a == b) return;
    refuse(fmt::format("{} and {} do not go together: {} is {} in the one and {} in the other", one_source,
                       other_source, what, a, b));
  };
  compare("the command", one.command, other.command);
  compare("the version", one.version, other.version);
  for (const ShardedWork* const work : {&one, &other}) {
    for (const auto& [name, value] : work->arguments)
      compare(name, one.argument(name, "nothing"), other.argument(name, "nothing"));
  }
  compare("the seed", std::to_string(one.seed), std::to_string(other.seed));
  compare("the number of items", std::to_string(one.items), std::to_string(other.items));
}

std::map<std::int64_t, std::string> combine_shards(const std::vector<ShardResult>& shards) {
  if (shards.empty()) refuse("there are no shards to combine");
  const ShardResult& first = shards.front();
  std::map<std::int64_t, std::string> parts;
  std::map<std::int64_t, const ShardResult*> owners;
  for (const ShardResult& shard : shards) {
    require_same_work(first.work, first.source, shard.work, shard.source);
    if (shard.shard.of != first.shard.of) {
      refuse(fmt::format("{} is shard {}, and {} shard {}: shards of one division go together", first.source,
                         to_string(first.shard), shard.source, to_string(shard.shard)));
    }
    if (!shard.done) {
      refuse(fmt::format("{} is not done: run the same command again, which goes on where it stopped", shard.source));
    }
    for (const auto& [item, part] : shard.parts) {
      const auto [owner, fresh] = owners.emplace(item, &shard);
      if (!fresh) {
        refuse(fmt::format("{} (shard {}) and {} (shard {}) overlap: both have item {}", owner->second->source,
                           to_string(owner->second->shard), shard.source, to_string(shard.shard), item));
      }
      parts.emplace(item, part);
    }
  }
  for (int number = 1; number <= first.shard.of; ++number) {
    const bool there =
        std::ranges::any_of(shards, [&](const ShardResult& shard) { return shard.shard.number == number; });
    if (!there) refuse(fmt::format("shard {}/{} is missing", number, first.shard.of));
  }
  for (std::int64_t item = 0; item < first.work.items; ++item) {
    if (!parts.contains(item)) refuse(fmt::format("item {} of {} is in no shard", item, first.work.items));
  }
  return parts;
}

}  // namespace circoll
