// A classic rules file of Open MPI decides about calls, and warns of what its author may not have meant.
#include <limits>
#include <map>
#include <set>

#include "circoll/collectives.hpp"
#include "foreign/cells.hpp"
#include "foreign/classic.hpp"

namespace circoll::foreign {
namespace {

using namespace openmpi;

constexpr Rank most_classic_ranks = std::numeric_limits<std::int32_t>::max();

class ClassicTuning final : public TuningFile {
 public:
  ClassicTuning(std::string_view text, std::string source, Version version)
      : source_(std::move(source)), version_(version) {
    ClassicFile file = parse_classic(text, version);
    warnings_ = std::move(file.warnings);
    rejected_ = !file.error.empty();
    if (rejected_) {
      warn(file.error_line, "the file is rejected as a whole, in silence: " + file.error);
    } else {
      for (ClassicBlock& block : file.blocks) take(std::move(block));
    }
    sort_warnings();
  }

  [[nodiscard]] ForeignDecision decide(const Call& call) const override {
    const auto found = blocks_.find(call.collective);
    if (rejected_ || found == blocks_.end() || call.ranks < 2) return {};
    const auto entry_index = entry_of(found->second, call.ranks, version_);
    if (entry_index < 0) return {};
    const ClassicEntry& entry = found->second.entries[static_cast<std::size_t>(entry_index)];
    const auto rule_index = rule_of(entry, looked_up_bytes(call, version_), version_);
    if (rule_index < 0) return {};
    const ClassicRule& rule = entry.rules[static_cast<std::size_t>(rule_index)];
    ForeignDecision verdict =
        verdict_of(call, rule.algorithm, version_,
                   source_ + ":" + std::to_string(rule.line) + ": communicator size " + std::to_string(entry.label) +
                       ", from " + std::to_string(rule.from_bytes) + " bytes");
    if (const KnownAlgorithm* known = algorithm_of(call.collective, rule.algorithm, version_)) {
      verdict.parameters = parameters_of(*known, rule.segment_bytes, rule.fanout);
    }
    return verdict;
  }

 private:
  void take(ClassicBlock block) {
    const auto collective = collective_of(block.id);
    if (!collective) {
      warn(block.line, "coll/tuned never looks at rules of the collective with number " + std::to_string(block.id));
      return;
    }
    if (blocks_.contains(*collective)) {
      warn(blocks_.at(*collective).line, "a later list of " + std::string(to_string(*collective)) + ", in line " +
                                             std::to_string(block.line) + ", takes the place of this one");
    }
    check_entries(*collective, block);
    blocks_.insert_or_assign(*collective, std::move(block));
  }

  /// The ranks that an entry serves, of those at which something changes.
  static std::vector<Rank> telling_ranks(const ClassicBlock& block) {
    std::set<Rank> ranks{2, 3, most_classic_ranks};  // one rank alone asks nobody
    for (const ClassicEntry& entry : block.entries) {
      if (entry.label > most_classic_ranks) continue;  // nobody's, as the next one
      for (const Rank p : {entry.label - 1, entry.label, entry.label + 1}) {
        if (p >= 2 && p <= most_classic_ranks) ranks.insert(p);
      }
    }
    return {ranks.begin(), ranks.end()};
  }

  void check_entries(Collective collective, const ClassicBlock& block) {
    if (block.entries.size() > longest_searched) return;
    const std::vector<Rank> ranks = telling_ranks(block);
    std::map<std::ptrdiff_t, Range> served;
    for (const Rank p : ranks) {
      const auto [at, is_new] = served.try_emplace(entry_of(block, p, version_), Range{p, p});
      if (!is_new) at->second.to = p;
    }
    for (std::size_t i = 0; i < block.entries.size(); ++i) {
      const ClassicEntry& entry = block.entries[i];
      const auto range = served.find(static_cast<std::ptrdiff_t>(i));
      if (range == served.end()) {
        warn(entry.line, "no number of ranks gets to the list with communicator size " + std::to_string(entry.label));
        continue;
      }
      check_rules(collective, entry, range->second);
    }
    check_first(block);
    check_versions(collective, block, ranks);
  }

  void check_first(const ClassicBlock& block) {
    const auto& entries = block.entries;
    if (version_ == Version::v60 || entries.empty() || entries.front().label <= 2) return;
    if (entries.size() == 2 && entries[0].label == entries[1].label) return;  // means the same to all versions
    warn(entries.front().line,
         "the first list serves fewer ranks than " + std::to_string(entries.front().label) + ", too", false);
  }

  void check_versions(Collective collective, const ClassicBlock& block, const std::vector<Rank>& ranks) {
    const Version other = version_ == Version::v60 ? Version::v50 : Version::v60;
    for (const Rank p : ranks) {
      const auto here = entry_of(block, p, version_);
      const auto there = entry_of(block, p, other);
      if (here == there || p < 2) continue;
      const auto label = [&](std::ptrdiff_t i) {
        return i < 0 ? std::string("none")
                     : "that of " + std::to_string(block.entries[static_cast<std::size_t>(i)].label);
      };
      warn(block.line,
           std::string(to_string(collective)) + " means something else " +
               (version_ == Version::v60 ? "until Open MPI 5.0" : "from Open MPI 6.0 on") + ": " + std::to_string(p) +
               " ranks get the list " + label(there) + " there, and here " + label(here),
           false);
      return;
    }
  }

  void check_rules(Collective collective, const ClassicEntry& entry, const Range& ranks) {
    std::set<std::ptrdiff_t> reached;
    const bool searched = entry.rules.size() <= longest_searched;
    const bool sized = size_decides(collective);
    for (const ClassicRule& rule : entry.rules) {
      if (!searched) break;
      if (sized || rule.from_bytes == 0) reached.insert(rule_of(entry, rule.from_bytes, version_));
    }
    bool differ = false;
    for (std::size_t i = 0; i < entry.rules.size(); ++i) {
      const ClassicRule& rule = entry.rules[i];
      differ = differ || rule.algorithm != entry.rules.front().algorithm;
      if (searched && !reached.contains(static_cast<std::ptrdiff_t>(i))) {
        warn(rule.line, "no size gets to the rule from " + std::to_string(rule.from_bytes) + " bytes on" +
                            (sized ? ": sizes must ascend" : ": this collective is looked up with 0 bytes"));
        continue;
      }
      for (Warning& warning : warnings_of(collective, rule.algorithm, rule.segment_bytes, ranks, version_, rule.line)) {
        warnings_.push_back(std::move(warning));
      }
    }
    if (differ && sized && !sizes_tell(collective, version_)) {
      warn(entry.line,
           "sizes of " + std::string(to_string(collective)) +
               " are not what the message sizes here are compared with, or differ among ranks: one rule from "
               "0 on is safe");
    }
  }

  std::string source_;
  Version version_;
  std::map<Collective, ClassicBlock> blocks_{};
};

}  // namespace

std::unique_ptr<const TuningFile> read_openmpi_classic(std::string_view text, const std::string& source,
                                                       const Reader& reader) {
  return std::make_unique<ClassicTuning>(text, source, version_of(reader));
}

}  // namespace circoll::foreign
