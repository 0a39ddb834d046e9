#include "measured/bits_of_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "circoll/error.hpp"
#include "facts/called_collective.hpp"
#include "select/text_file.hpp"

namespace circoll {
namespace {

namespace fs = std::filesystem;

/// The line of a call has more bytes. So a number that the file has no room for is a mistake, and costs no memory.
constexpr std::size_t least_line_bytes = 32;

/// One line, word by word.
class Line {
 public:
  Line(std::string_view text, const std::string& source, std::size_t number)
      : rest_(text), source_(source), number_(number) {}

  [[noreturn]] void fail(const std::string& what) const { select::fail_at(source_, number_, what); }
  std::string_view word() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    if (found.empty()) fail("the line is cut short");
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return found;
  }
  /// Takes a word if it comes next.
  bool takes(std::string_view wanted) {
    const bool next = rest_.substr(0, rest_.find(' ')) == wanted;
    if (next) (void)word();
    return next;
  }
  void expect(std::string_view wanted) {
    if (const std::string_view found = word(); found != wanted) fail(fmt::format("'{}' is not '{}'", found, wanted));
  }
  template <typename Integer>
  Integer number(int base = 10, Integer least = 0) {
    const std::string_view text = word();
    Integer value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size() || value < least) {
      fail(fmt::format("'{}' is no number that may stand here", text));
    }
    return value;
  }
  std::string rest() { return std::string(std::exchange(rest_, {})); }
  void end() const {
    if (!rest_.empty()) fail(fmt::format("'{}' stands behind the end of the line", rest_));
  }

 private:
  std::string_view rest_;
  const std::string& source_;
  std::size_t number_;
};

/// Numbers for texts, of which there are few.
class Numbered {
 public:
  explicit Numbered(std::vector<std::string>& texts) : texts_(texts) {}
  std::int32_t of(const std::string& text) {
    const auto [at, is_new] = numbers_.emplace(text, static_cast<std::int32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return at->second;
  }

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

class Reader {
 public:
  explicit Reader(RunBits& run) : run_(run), algorithms_(run.algorithms) {}

  void read(const std::string& path, std::int64_t rank) {
    std::ifstream file(path);
    if (!file) {
      throw Error(ErrorCode::parse,
                  fmt::format("{} is missing: rank {} of {} has written no record", path, rank, run_.ranks));
    }
    most_calls_ = fs::file_size(path) / least_line_bytes;
    sites_.clear();
    comms_.clear();
    calls_ = 0;
    bool ended = false;
    std::size_t number = 0;
    for (std::string text; std::getline(file, text);) {
      Line line(text, path, ++number);
      if (ended) line.fail("the record goes on behind its end");
      if (number == 1) {
        read_head(line, rank);
        continue;
      }
      const std::string_view first = line.word();
      if (first == "call") {
        read_call(line);
      } else if (first == "site") {
        if (line.number<std::size_t>() != sites_.size()) line.fail("the places are not in order");
        sites_.push_back(line.rest());
      } else if (first == "comm") {
        read_comm(line);
      } else if (first == "end") {
        ended = true;
        const bool complete = std::all_of(comms_.begin(), comms_.end(), [](const OpenComm& comm) {
          return comm.numbers.empty() || *comm.numbers.rbegin() == comm.numbers.size();
        });
        if (line.number<std::uint64_t>() != calls_ || !complete) line.fail("lines of calls are missing");
        line.expect("unseen");
        run_.unseen = std::max(run_.unseen, line.number<std::int64_t>());
        line.end();
      } else {
        line.fail(fmt::format("'{}' begins no line of a record", first));
      }
    }
    if (!ended) {
      throw Error(ErrorCode::parse,
                  fmt::format("{} has no end: the program has not come to MPI_Finalize, or the record is cut", path));
    }
  }

 private:
  struct OpenComm {
    CommBits* bits = nullptr;
    std::set<std::size_t> numbers{};  ///< of the calls so far
  };

  void read_head(Line& line, std::int64_t rank) {
    line.expect("circoll_bits");
    line.expect("1");
    line.expect("rank");
    if (line.number<std::int64_t>() != rank) line.fail("this is the record of another rank");
    line.expect("of");
    const auto ranks = line.number<std::int64_t>(10, 1);
    if (run_.ranks == 0) run_.ranks = ranks;
    if (ranks != run_.ranks) line.fail("the records are of runs with different numbers of ranks");
    line.end();
  }

  void read_comm(Line& line) {
    if (line.number<std::size_t>() != comms_.size()) line.fail("the communicators are not in order");
    CommBits& bits = run_.comms[std::string(line.word())];
    const auto size = line.number<std::size_t>(10, 1);
    if (size > static_cast<std::size_t>(run_.ranks)) line.fail("the communicator has more ranks than the run");
    bits.size = static_cast<std::int64_t>(size);
    bits.ranks = line.rest();
    comms_.push_back({.bits = &bits});
  }

  void read_call(Line& line) {
    const auto comm = line.number<std::size_t>();
    if (comm >= comms_.size()) line.fail("the call's communicator has no line");
    OpenComm& on = comms_[comm];
    const auto number = line.number<std::size_t>(10, 1);  // calls may end in another order
    if (!on.numbers.insert(number).second) line.fail("the call is there already");
    const auto site = line.number<std::size_t>();
    if (site >= sites_.size()) line.fail("the call's place has no line");
    BitsKindName name;
    name.collective = line.word();
    if (!called_from_string(name.collective)) line.fail(fmt::format("'{}' is no collective", name.collective));
    name.type = line.word();
    name.op = line.word();
    name.place = sites_[site];
    RankBits call{.order = calls_++, .kind = kind_of(name)};
    call.bytes = line.number<std::int64_t>();
    call.root = line.number<std::int32_t>(10, -1);
    call.given = line.number<std::uint64_t>(16);
    call.has_result = !line.takes("-");
    if (call.has_result) call.got = line.number<std::uint64_t>(16);
    call.served_by = algorithms_.of(std::string(line.word()));
    line.end();
    if (number > most_calls_) line.fail("the number of the call is too large");
    if (on.bits->calls.size() < number) on.bits->calls.resize(number);
    CallBitsOfRanks& ranks = on.bits->calls[number - 1];
    ranks.push_back(call);
  }

  std::int32_t kind_of(const BitsKindName& name) {
    const auto [at, is_new] = kinds_.emplace(name, static_cast<std::int32_t>(run_.kinds.size()));
    if (is_new) run_.kinds.push_back(name);
    return at->second;
  }

  RunBits& run_;
  Numbered algorithms_;
  std::map<BitsKindName, std::int32_t> kinds_;
  std::vector<std::string> sites_;
  std::vector<OpenComm> comms_;
  std::uint64_t calls_ = 0;
  std::size_t most_calls_ = 0;
};

/// Compares one run with the first one.
class Pair {
 public:
  Pair(const RunBits& first, const RunBits& other, std::map<BitsKindName, BitsOfKind>& kinds,
       std::set<const CallBitsOfRanks*>& changed)
      : first_(first), other_(other), kinds_(kinds), changed_(changed) {
    result_.name = other.name;
  }

  BitsOfRun compare() {
    for (const auto& [name, comm] : first_.comms) {
      const auto found = other_.comms.find(name);
      compare_comm(name, comm, found == other_.comms.end() ? CommBits{} : found->second);
    }
    for (const auto& [name, comm] : other_.comms) {
      if (first_.comms.find(name) == first_.comms.end()) part(name, comm, 0);
    }
    return result_;
  }

 private:
  [[nodiscard]] static BitsPlace place(const std::string& name, const CommBits& comm, std::size_t i) {
    return {.comm = name,
            .ranks = comm.ranks,
            .size = comm.size,
            .number = static_cast<std::int64_t>(i) + 1,
            .order = comm.calls.size() > i && !comm.calls[i].empty() ? comm.calls[i].front().order : 0,
            .caller = {}};
  }
  /// Of a call of the first run.
  [[nodiscard]] BitsPlace place_with_caller(const std::string& name, const CommBits& comm, std::size_t i) const {
    BitsPlace found = place(name, comm, i);
    found.caller = first_.kinds[static_cast<std::size_t>(comm.calls[i].front().kind)].place;
    return found;
  }
  /// Keeps the earlier place.
  static void keep_first(BitsPlace& kept, const BitsPlace& found) {
    if (kept.comm.empty() || found.order < kept.order) kept = found;
  }
  void part(const std::string& name, const CommBits& comm, std::size_t i) {
    keep_first(result_.parted, place(name, comm, i));
  }
  [[nodiscard]] bool is_same_call(const CallBitsOfRanks& a, const CallBitsOfRanks& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const RankBits& x, const RankBits& y) {
      const BitsKindName& p = first_.kinds[static_cast<std::size_t>(x.kind)];
      const BitsKindName& q = other_.kinds[static_cast<std::size_t>(y.kind)];
      return p.collective == q.collective && p.type == q.type && p.op == q.op && x.bytes == y.bytes && x.root == y.root;
    });
  }

  void compare_comm(const std::string& name, const CommBits& a, const CommBits& b) {
    for (std::size_t i = 0; i < std::max(a.calls.size(), b.calls.size()); ++i) {
      if (i >= a.calls.size() || i >= b.calls.size() || !is_same_call(a.calls[i], b.calls[i])) {
        return part(name, i < a.calls.size() ? a : b, i);
      }
      compare_call(name, a, i, b.calls[i]);
    }
  }

  void compare_call(const std::string& name, const CommBits& comm, std::size_t i, const CallBitsOfRanks& other) {
    const CallBitsOfRanks& one = comm.calls[i];
    const auto differ = [&](auto differs) {
      return !std::equal(one.begin(), one.end(), other.begin(), std::not_fn(differs));
    };
    if (differ([](const RankBits& a, const RankBits& b) { return a.given != b.given; })) {
      ++result_.others;
      return keep_first(result_.first_other, place_with_caller(name, comm, i));
    }
    const auto has_other_result = [](const RankBits& a, const RankBits& b) {
      return a.has_result && b.has_result && a.got != b.got;
    };
    if (!differ(has_other_result)) {
      const bool unknown = differ([](const RankBits& a, const RankBits& b) { return !a.has_result || !b.has_result; });
      result_.unknown += unknown ? 1 : 0;
      return;
    }
    ++result_.changed;
    BitsOfKind& kind = kinds_.at(first_.kinds[static_cast<std::size_t>(one.front().kind)]);
    if (changed_.insert(&one).second) ++kind.changed;
    keep_first(kind.first, place_with_caller(name, comm, i));
    kind.changed_by.insert(
        fmt::format("{} ({})", other_.algorithms[static_cast<std::size_t>(other.front().served_by)], other_.name));
  }

  const RunBits& first_;
  const RunBits& other_;
  std::map<BitsKindName, BitsOfKind>& kinds_;
  std::set<const CallBitsOfRanks*>& changed_;
  BitsOfRun result_;
};

std::string function_of(const BitsKindName& name) {
  std::string text = "MPI_" + name.collective;
  text[4] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[4])));
  if (name.op != "-") text += fmt::format(" ({} of {})", name.op, name.type);
  return text;
}

std::string comm_text(const BitsPlace& place, std::int64_t ranks) {
  if (place.size == ranks) return "of ranks 0 to " + std::to_string(ranks - 1);
  const bool all_named = place.ranks.find("...") == std::string::npos;
  return (all_named ? "of ranks " : fmt::format("of {} ranks, ", place.size)) + place.ranks;
}

std::string place_text(const BitsPlace& place, std::int64_t ranks) {
  // The name ends with the number of communicators that had the same ranks before.
  const std::string before = place.comm.substr(place.comm.rfind('.') + 1);
  return fmt::format("call {} on {} communicator {}", place.number, before == "0" ? "the first" : "another",
                     comm_text(place, ranks));
}

std::string joined(const std::set<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

std::string count_text(std::int64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}
std::string calls_text(std::int64_t calls) { return count_text(calls, "call"); }

bool can_be_exact(const BitsKindName& name) {
  return name.op == "sum" && (name.type.starts_with("float") || name.type.starts_with("complex")) &&
         name.type != "float_long" && name.type != "complex_long" && name.type != "float16";
}

std::string verdict(const BitsComparison& all) {
  if (all.changes_bits()) {
    const BitsOfKind& kind = all.kinds.front();
    const auto changing =
        std::count_if(all.kinds.begin(), all.kinds.end(), [](const auto& k) { return k.changed > 0; });
    return fmt::format("{} changes bits, from {} on{}", function_of(kind.name), place_text(kind.first, all.ranks),
                       changing == 1 ? "" : fmt::format("; so do {} other kinds of calls", changing - 1));
  }
  if (all.differs_by_itself()) {
    return "no recorded collective changes bits, but the program's own numbers differ from run to run";
  }
  std::int64_t unknown = 0;
  for (const BitsOfRun& run : all.runs) unknown = std::max(unknown, run.unknown);
  const std::string where = fmt::format("{}, {}", count_text(all.ranks, "rank"),
                                        count_text(static_cast<std::int64_t>(all.runs.size()) + 1, "run"));
  if (unknown > 0 && unknown == all.calls) return fmt::format("no call could be compared in all of {}", where);
  return fmt::format("no collective changes bits: {} on {}{}", calls_text(all.calls - unknown), where,
                     unknown > 0 ? fmt::format("; {} could not be compared", calls_text(unknown)) : "");
}

nlohmann::ordered_json json_of(const BitsPlace& place) {
  if (place.comm.empty()) return nullptr;
  return {{"communicator", place.comm}, {"ranks", place.ranks}, {"call", place.number}, {"place", place.caller}};
}

}  // namespace

bool BitsComparison::differs_by_itself() const {
  return std::any_of(runs.begin(), runs.end(), [](const BitsOfRun& run) {
    return run.changed == 0 && (run.others > 0 || !run.parted.comm.empty());
  });
}

RunBits read_bits_of_run(const std::string& directory, const std::string& name) {
  if (!fs::is_directory(directory)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("'{}' is no directory of records; CIRCOLL_BITS_RECORD={} makes one", directory, directory));
  }
  RunBits run{.name = name};
  Reader reader(run);
  const auto file_of = [&](std::int64_t rank) { return fmt::format("{}/rank-{}.bits", directory, rank); };
  reader.read(file_of(0), 0);
  for (std::int64_t rank = 1; rank < run.ranks; ++rank) reader.read(file_of(rank), rank);
  return run;
}

BitsComparison compare_bits(const std::vector<RunBits>& runs) {
  if (runs.size() < 2) throw Error(ErrorCode::invalid_argument, "bits are compared among two runs or more");
  const RunBits& first = runs.front();
  BitsComparison all{.ranks = first.ranks, .first_run = first.name};
  std::map<BitsKindName, BitsOfKind> kinds;
  for (const auto& [name, comm] : first.comms) {
    for (const CallBitsOfRanks& call : comm.calls) {
      if (call.empty()) continue;
      ++all.calls;
      const BitsKindName& kind = first.kinds[static_cast<std::size_t>(call.front().kind)];
      BitsOfKind& of_kind = kinds[kind];
      of_kind.name = kind;
      ++of_kind.calls;
      of_kind.served_by.insert(first.algorithms[static_cast<std::size_t>(call.front().served_by)]);
    }
  }
  std::set<const CallBitsOfRanks*> changed;
  for (const RunBits& run : runs) {
    all.unseen = std::max(all.unseen, run.unseen);
    if (&run == &first) continue;
    if (run.ranks != first.ranks) {
      throw Error(ErrorCode::invalid_argument, fmt::format("'{}' has {} ranks, and '{}' has {}: their calls are others",
                                                           run.name, run.ranks, first.name, first.ranks));
    }
    all.runs.push_back(Pair(first, run, kinds, changed).compare());
  }
  for (auto& [name, kind] : kinds) all.kinds.push_back(std::move(kind));
  std::stable_sort(all.kinds.begin(), all.kinds.end(), [](const BitsOfKind& a, const BitsOfKind& b) {
    if ((a.changed > 0) != (b.changed > 0)) return a.changed > 0;
    return a.changed > 0 && a.first.order < b.first.order;
  });
  return all;
}

std::string bits_text(const BitsComparison& all) {
  std::string text = "Verdict: " + verdict(all) + ".\n\n";
  text += fmt::format("Compared with the run {}:\n", all.first_run);
  for (const BitsOfRun& run : all.runs) {
    text += fmt::format("  {}: ", run.name);
    text += run.changed == 0 ? "no call has changed bits" : calls_text(run.changed) + " changed bits";
    if (run.unknown > 0)
      text += fmt::format("; {} could not be compared: they are nonblocking, and their results are not known",
                          calls_text(run.unknown));
    if (run.others > 0) {
      text += fmt::format("; in {} the contributions differ already, from {} on (at {})", calls_text(run.others),
                          place_text(run.first_other, all.ranks), run.first_other.caller);
    }
    if (!run.parted.comm.empty())
      text += fmt::format("; from {} on the program makes other calls", place_text(run.parted, all.ranks));
    text += "\n";
  }
  text += "\nCalls by kind:\n";
  bool exact_helps = false;
  std::map<std::string, BitsOfKind> unchanged;  // whatever their places
  for (const BitsOfKind& kind : all.kinds) {
    if (kind.changed == 0) {
      BitsOfKind& alike = unchanged[function_of(kind.name)];
      alike.calls += kind.calls;
      alike.served_by.insert(kind.served_by.begin(), kind.served_by.end());
      continue;
    }
    exact_helps = exact_helps || can_be_exact(kind.name);
    text += fmt::format("  {}: {} by {}\n    called at {}\n    {} changed bits, first {}\n    by {}\n",
                        function_of(kind.name), calls_text(kind.calls), joined(kind.served_by), kind.name.place,
                        calls_text(kind.changed), place_text(kind.first, all.ranks), joined(kind.changed_by));
  }
  for (const auto& [function, kind] : unchanged) {
    text += fmt::format("  {}: {} by {}, unchanged\n", function, calls_text(kind.calls), joined(kind.served_by));
  }
  if (all.unseen > 0) {
    text += fmt::format(
        "\nUp to {} of a rank are not recorded: persistent, among neighbours, between groups, or of device memory.\n",
        calls_text(all.unseen));
  }
  if (exact_helps)
    text += "\nNext: CIRCOLL_SUM=exact gives these sums the same bits in all runs (docs/user/reproducible.md).\n";
  return text;
}

std::string bits_json(const BitsComparison& all) {
  nlohmann::ordered_json json{{"circoll_bits_compare", 1},
                              {"verdict", verdict(all)},
                              {"changes_bits", all.changes_bits()},
                              {"differs_by_itself", all.differs_by_itself()},
                              {"ranks", all.ranks},
                              {"calls", all.calls},
                              {"unseen", all.unseen},
                              {"first_run", all.first_run},
                              {"runs", nlohmann::ordered_json::array()},
                              {"kinds", nlohmann::ordered_json::array()}};
  for (const BitsOfRun& run : all.runs) {
    json["runs"].push_back({{"name", run.name},
                            {"changed", run.changed},
                            {"contributions_differ", run.others},
                            {"not_compared", run.unknown},
                            {"first_other", json_of(run.first_other)},
                            {"other_calls_from", json_of(run.parted)}});
  }
  for (const BitsOfKind& kind : all.kinds) {
    json["kinds"].push_back({{"collective", kind.name.collective},
                             {"type", kind.name.type},
                             {"op", kind.name.op},
                             {"place", kind.name.place},
                             {"calls", kind.calls},
                             {"changed", kind.changed},
                             {"first", json_of(kind.first)},
                             {"served_by", kind.served_by},
                             {"changed_by", kind.changed_by}});
  }
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace circoll
