// Rules and profiles in Python: what a file of circoll tune says, rule by rule.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <array>
#include <map>

#include "circoll/collectives.hpp"
#include "measured/file_kind.hpp"
#include "python/bindings.hpp"
#include "select/profile.hpp"
#include "select/rules.hpp"

namespace circoll::python {
namespace {

/// The rules of a file by collective.
using Rules = std::map<Collective, select::RulesOf>;
/// From the first value, included, to the second, excluded; nothing: no end.
using Span = std::pair<std::int64_t, std::optional<std::int64_t>>;

struct ProfileFile {
  select::ProfileHead head{};
  Rules rules{};
  std::map<std::string, Rules> programs{};
};

Span span_of(const select::ValueRange& range) {
  return {range.from, range.to == select::unbounded ? std::nullopt : std::optional(range.to)};
}

/// The words of a rules file that all operators of a set have.
std::vector<std::string> words_of(select::OpSet ops) {
  struct Word {
    const char* name;
    bool (*holds)(const select::OpKind& kind);
  };
  static constexpr std::array<Word, 6> words{
      {{"commutative", [](const select::OpKind& k) { return k.commutative; }},
       {"noncommutative", [](const select::OpKind& k) { return !k.commutative; }},
       {"exact", [](const select::OpKind& k) { return k.exact; }},
       {"inexact", [](const select::OpKind& k) { return !k.exact; }},
       {"idempotent", [](const select::OpKind& k) { return k.idempotent; }},
       {"nonidempotent", [](const select::OpKind& k) { return !k.idempotent; }}}};
  std::vector<std::string> found;
  for (const Word& word : words) {
    bool of_all = true;
    for (std::size_t i = 0; i < select::op_kinds.size(); ++i)
      of_all = of_all && ((ops >> i & 1U) == 0 || word.holds(select::op_kinds[i]));
    if (of_all) found.emplace_back(word.name);
  }
  return found;
}

py::object python_of(Collective collective, const select::Rule& rule, bool otherwise) {
  const bool named = rule.use.kind == select::Use::Kind::algorithm;
  return plain("Rule", std::string(to_string(collective)), rule.use.text,
               named ? std::optional(Chosen{.selection = rule.use.selection}) : std::nullopt, span_of(rule.p),
               span_of(rule.nodes), span_of(rule.ranks_per_node), span_of(rule.bytes), words_of(rule.ops), otherwise,
               rule.line);
}

py::list python_of(const Rules& rules) {
  py::list all;
  for (const auto& [collective, of] : rules) {
    for (const select::Rule& rule : of.rules) all.append(python_of(collective, rule, false));
    if (of.otherwise) all.append(python_of(collective, *of.otherwise, true));
  }
  return all;
}

py::object python_of(const ProfileFile& file) {
  py::list measured;
  for (const select::ProfileRanks& one : file.head.measured)
    measured.append(
        plain("ProfileRanks", one.ranks, one.crowded, one.processors, one.launches, one.circoll, one.date, one.host));
  py::list programs;
  for (const select::ProfileProgram& one : file.head.programs)
    programs.append(plain("ProfileProgram", one.name, one.report, one.launches, one.circoll, one.date, one.host,
                          one.tried, python_of(file.programs.at(one.name))));
  return plain("Profile", file.head.key.library, file.head.key.processor, measured, programs, python_of(file.rules));
}

Rules read(const std::filesystem::path& path) {
  const std::string name = path.string();
  return naming(name, [&] {
    return select::read_rules(measured::read_file_of(name, {measured::FileKind::rules, measured::FileKind::profile}),
                              name, {});
  });
}

ProfileFile read_profile(const std::filesystem::path& path) {
  const std::string name = path.string();
  return naming(name, [&] {
    const std::string text = measured::read_file_of(name, {measured::FileKind::profile});
    ProfileFile file{.head = select::read_profile_head(text, name),
                     .rules = select::read_rules(text, name, {}, select::RulesFor::machine)};
    for (const select::ProfileProgram& program : file.head.programs)
      file.programs[program.name] = select::read_rules(text, name, {}, select::RulesFor::program, program.name);
    return file;
  });
}

}  // namespace

void add_rules(py::module_& module) {
  module.def(
      "rules", [](const std::filesystem::path& path) { return python_of(unlocked([&] { return read(path); })); },
      py::arg("path"), "The rules of a file, as circoll tune writes it, in the order of collectives.");
  module.def(
      "profile",
      [](const std::filesystem::path& path) { return python_of(unlocked([&] { return read_profile(path); })); },
      py::arg("path"), "A profile of circoll tune --here: where it was measured, and its rules.");
}

}  // namespace circoll::python
