// circoll explore writes the explorer: one page in which the library itself runs, opened at a place.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <optional>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "circoll/text.hpp"
#include "commands.hpp"
#include "options/ranges.hpp"
#include "schedule_file.hpp"
#include "select/text_file.hpp"

namespace circoll::cli {
namespace {

namespace fs = std::filesystem;

struct ExploreOptions {
  std::string id;
  std::optional<Rank> size;
  Rank root = 0;
  bool in_place = false;
  std::string page;
  std::string output = "circoll-explorer.html";
};

/// The build tree or the prefix of this executable.
fs::path tree() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path(); }

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// The page that was built in the tree of this executable, or the one that comes with the sources.
std::string find_page() {
  const fs::path built = tree() / "lab" / "explorer" / "explorer.html";
  const fs::path shared = tree() / "share" / "circoll" / "explorer.html";
  for (const fs::path& page : {built, shared}) {
    if (is_file(page)) return page.string();
  }
  throw Error(ErrorCode::unsupported,
              fmt::format("the explorer's page is not at {}, where it is installed. Name it by --page; the sources "
                          "have it as lab/explorer/explorer.html",
                          shared.string()));
}

/// The address of the documentation that is installed or built in this tree; empty if there is none.
std::string find_documentation() {
  for (const fs::path& start : {tree() / "share" / "doc" / "circoll" / "html" / "index.html",
                                tree().parent_path() / "site" / "html" / "index.html"}) {
    if (is_file(start)) return "file://" + start.string();
  }
  return {};
}

/// The place, as the page's address says it.
std::string place_of(const ExploreOptions& o) {
  const Rank p = o.size.value_or(8);
  if (o.id.empty()) {
    if (o.root != 0 || o.in_place)
      misuse("--root and --in-place are about an algorithm: name it, as in bcast/binomial");
    return o.size ? fmt::format("p={}", p) : "";
  }
  const Selection selection = parse_selection(o.id);
  if (selection.params.contains("segment")) misuse("the page has no 'segment' in bytes: say 'segments', their number");
  check_root(o.root, p, selection.collective);
  std::string place = fmt::format("id={}&p={}", with_params(selection), p);
  if (o.root != 0) place += fmt::format("&root={}", o.root);
  if (o.in_place) place += "&inPlace=true";
  return place;
}

/// A text as the value of an attribute in HTML.
std::string quoted(std::string_view text) {
  std::string value;
  for (const char c : text) {
    switch (c) {
      case '&':
        value += "&amp;";
        break;
      case '<':
        value += "&lt;";
        break;
      case '"':
        value += "&quot;";
        break;
      default:
        value += c;
    }
  }
  return value;
}

/// Fills an empty element <meta> of a page: place, schedules or home (lab/explorer/page/src/brought.ts). False if the
/// page has no such element.
bool bring(std::string& page, std::string_view name, std::string_view content) {
  const std::string head = fmt::format(R"(<meta name="circoll-{}" content=")", name);
  const std::size_t at = page.find(head + "\">");
  if (at == std::string::npos) return false;
  page.insert(at + head.size(), quoted(content));
  return true;
}

/// The schedules of a file, as the page reads its reader's own.
std::string schedules_of(const std::string& word) {
  std::string text;
  for (const Schedule& schedule : read_schedule_file(word).ranks)
    text += (text.empty() ? "[\n" : ",\n") + to_json(schedule);
  return text + "]\n";
}

void explore(const ExploreOptions& o) {
  const bool from_file = names_file(o.id);
  const std::string place = from_file ? "" : place_of(o);
  const std::string path = o.page.empty() ? find_page() : o.page;
  std::string page = select::read_text_file(path);
  if (!bring(page, "place", place))
    throw Error(ErrorCode::parse, fmt::format("'{}' is no page of the explorer: it has no place", path));
  if (from_file && !bring(page, "schedules", schedules_of(o.id)))
    throw Error(ErrorCode::parse,
                fmt::format("'{}' is a page that takes no schedules: it is of an older release", path));
  bring(page, "home", find_documentation());
  write_file(o.output, page);
  print(fmt::format("{}: open it in a browser\n", o.output));
}

}  // namespace

void add_explore(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<ExploreOptions>();
  CLI::App* command =
      app.add_subcommand("explore", "Write the explorer, a page in which algorithms are stepped through and proven");
  command->add_option("id", options->id,
                      "The algorithm to begin with, COLLECTIVE/ALGORITHM[:param=value,...]; or a file of schedules");
  command->add_option("-p,--ranks", options->size, "Number of ranks to begin with")
      ->transform(whole_number())
      ->check(options::between(Rank{1}, (Rank{1} << 31) - 1));
  command->add_option("--root", options->root, "The root of a rooted collective")->transform(whole_number());
  command->add_flag("--in-place", options->in_place, "As with MPI_IN_PLACE");
  command->add_option("-o,--output", options->output, "The page")->type_name("FILE.html")->capture_default_str();
  command->add_option("--page", options->page, "The page that was built, where it lies elsewhere")->type_name("FILE");
  command->footer(
      "The page is one file. It loads nothing, and needs no server (docs/lab/explorer.md).\n"
      "Examples:\n"
      "  circoll explore\n"
      "  circoll explore allreduce/circulant_optimal -p 11 -o rounds.html\n"
      "  circoll explore bcast/circulant_pipelined:segments=4 -p 20 --root 3\n"
      "  circoll explore mine.json                                    # your own schedules");
  command->callback([options, command] {
    refuse_for_file(options->id, *command, {"--ranks", "--root", "--in-place"});
    explore(*options);
  });
}

}  // namespace circoll::cli
