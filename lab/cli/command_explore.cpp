// circoll explore writes the explorer: one page in which the library itself runs, opened at a place.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "cli/lab_commands.hpp"
#include "options/ranges.hpp"
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

/// The page that was built or installed with this executable.
std::string find_page() {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  const fs::path candidates[] = {here / "lab" / "explorer" / "explorer.html",
                                 here / "share" / "circoll" / "explorer.html"};
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    if (fs::is_regular_file(candidate, error)) return candidate.string();
  }
  throw Error(ErrorCode::unsupported,
              fmt::format("the explorer was not built: it is neither {} nor {}. 'cmake -B build/dev "
                          "-DCIRCOLL_EXPLORER=ON' and 'cmake --build build/dev --target explorer' build it "
                          "(docs/lab/explorer.md)",
                          candidates[0].string(), candidates[1].string()));
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

void explore(const ExploreOptions& o) {
  constexpr std::string_view slot = R"(<meta name="circoll-place" content="">)";
  const std::string place = place_of(o);
  const std::string path = o.page.empty() ? find_page() : o.page;
  std::string page = select::read_text_file(path);
  const std::size_t at = page.find(slot);
  if (at == std::string::npos)
    throw Error(ErrorCode::parse, fmt::format("'{}' is no page of the explorer: it has no place", path));
  // This is the only character of a place that means something in HTML.
  std::string text = place;
  for (std::size_t i = 0; (i = text.find('&', i)) != std::string::npos; i += 5) text.replace(i, 1, "&amp;");
  page.replace(at, slot.size(), fmt::format(R"(<meta name="circoll-place" content="{}">)", text));
  write_file(o.output, page);
  print(fmt::format("{}: open it in a browser\n", o.output));
}

}  // namespace

void add_explore(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<ExploreOptions>();
  CLI::App* command =
      app.add_subcommand("explore", "Write the explorer, a page in which algorithms are stepped through and proven");
  command->add_option("id", options->id, "The algorithm to begin with, COLLECTIVE/ALGORITHM[:param=value,...]");
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
      "  circoll explore bcast/circulant_pipelined:segments=4 -p 20 --root 3");
  command->callback([options] { explore(*options); });
}

}  // namespace circoll::cli
