// Writes MPICH's tuning files from rules in arguments, and says what a file decides; for mpich_selection_test.py.
//   base OUT                          the installed library's trees
//   write OUT RULE...                 RULE: collective:ranks:bytes:algorithm[:radix], with ranges as 2-8 or 4-
//   decide FILE COLLECTIVE P NODES BYTES...    an algorithm for each size, or what ends the program; decide_own: for an
//                                     operator of the program
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "circoll/error.hpp"
#include "foreign/foreign.hpp"

namespace {

using namespace circoll;
using namespace circoll::foreign;

const Reader& reader() { return find_reader("mpich-4.0"); }

foreign::Range range_of(const std::string& text) {
  const std::size_t dash = text.find('-');
  foreign::Range range{std::stoll(text.substr(0, dash))};
  if (dash != std::string::npos && dash + 1 < text.size()) range.to = std::stoll(text.substr(dash + 1));
  return range;
}

Rule rule_of(const std::string& text) {
  std::istringstream fields(text);
  std::string collective, ranks, bytes, algorithm, radix;
  std::getline(fields, collective, ':');
  std::getline(fields, ranks, ':');
  std::getline(fields, bytes, ':');
  std::getline(fields, algorithm, ':');
  Rule rule{.collective = collective_from_string(collective).value(), .algorithm = algorithm, .from = text};
  rule.ranks = range_of(ranks);
  rule.bytes = range_of(bytes);
  if (std::getline(fields, radix, ':')) rule.radix = std::stoll(radix);
  return rule;
}

int write(int argc, char** argv) {
  const auto base = find_base(reader());
  if (!base) return 77;
  std::vector<Rule> rules;
  for (int i = 3; i < argc; ++i) rules.push_back(rule_of(argv[i]));
  const Exported exported = export_rules(rules, reader(), {.about = "a test", .base = base->text});
  for (const File& file : exported.files) std::ofstream(argv[2] + file.suffix) << file.text;
  for (const std::string& line : exported.use) std::cout << line << "\n";
  return 0;
}

int decide(int argc, char** argv) {
  std::ifstream in(argv[2]);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto file = read(text, argv[2], reader());
  Call call{.collective = collective_from_string(argv[3]).value(), .ranks = std::stoll(argv[4])};
  call.nodes = std::stoll(argv[5]);
  call.ranks_per_node = (call.ranks + call.nodes - 1) / call.nodes;
  call.predefined_op = std::string(argv[1]) == "decide";
  for (int i = 6; i < argc; ++i) {
    call.bytes = std::stoll(argv[i]);
    const ForeignDecision verdict = file->decide(call);
    std::cout << (verdict.algorithm.empty() ? verdict.notes.at(0) : verdict.algorithm) << "\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string verb = argc > 2 ? argv[1] : "";
    if (verb == "write") return write(argc, argv);
    if (verb.starts_with("decide") && argc > 6) return decide(argc, argv);
    if (verb == "base") {
      const auto base = find_base(reader());
      if (!base) return 77;
      std::ofstream(argv[2]) << base->text;
      return 0;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 2;
}
