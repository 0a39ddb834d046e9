#include "chart/measured_page.hpp"

#include <fmt/format.h>

#include <set>

#include "chart/measured_chart.hpp"
#include "core/text.hpp"
#include "page/page_parts.hpp"

namespace circoll::cli {
namespace {

void write_choice(Out out, const Measured& measured) {
  std::set<Rank> ranks;
  std::vector<std::string_view> collectives;
  for (const Panel& panel : measured.panels) {
    ranks.insert(panel.p);
    const std::string_view name = to_string(panel.collective);
    if (collectives.empty() || collectives.back() != name) collectives.push_back(name);
  }
  fmt::format_to(out,
                 "<nav id=\"choice\" aria-label=\"What is shown\" hidden>\n"
                 "<label>collective <select id=\"collective\"><option value=\"\">all</option>");
  for (const std::string_view name : collectives) fmt::format_to(out, "<option>{}</option>", name);
  fmt::format_to(out, "</select></label>\n<label>p <select id=\"p\"><option value=\"\">all</option>");
  for (const Rank p : ranks) fmt::format_to(out, "<option>{}</option>", p);
  fmt::format_to(out,
                 "</select></label>\n<fieldset><legend>kind</legend>\n"
                 "<label><input type=\"radio\" name=\"kind\" value=\"\" checked> all</label>\n");
  for (const PlotKind kind : plot_kinds) {
    fmt::format_to(out, "<label><input type=\"radio\" name=\"kind\" value=\"{0}\"> {0}</label>\n", to_string(kind));
  }
  fmt::format_to(out, "</fieldset>\n</nav>\n");
}

void write_numbers(Out out, const Value& value, int launches, int digits) {
  if (value.middle == 0) {
    fmt::format_to(out, "<td>-</td><td>-</td><td>-</td>");
  } else if (launches < 2) {
    fmt::format_to(out, "<td>{:.{}f}</td><td>-</td><td>-</td>", value.middle, digits);
  } else {
    fmt::format_to(out, "<td>{:.{}f}</td><td>{:.{}f}</td><td>{:.{}f}</td>", value.middle, digits, value.low, digits,
                   value.high, digits);
  }
}

void write_table(Out out, const Panel& panel) {
  fmt::format_to(
      out,
      "<details><summary>Numbers</summary>\n<div class=\"table\"><table>\n<thead><tr><th scope=\"col\">"
      "size</th><th scope=\"col\">bytes</th><th scope=\"col\" class=\"name\">algorithm</th><th scope=\"col\" "
      "class=\"name\">served by</th><th scope=\"col\">median us</th><th scope=\"col\">low</th><th "
      "scope=\"col\">high</th><th scope=\"col\">native / this</th><th scope=\"col\">low</th><th "
      "scope=\"col\">high</th><th scope=\"col\">launches</th><th scope=\"col\">repetitions</th></tr></thead>"
      "\n<tbody>\n");
  const Combined* before = nullptr;
  for (const Combined& cell : panel.cells) {
    const Measurement& row = cell.row;
    const bool new_size = before == nullptr || before->row.bytes != row.bytes;
    fmt::format_to(out,
                   "<tr{}><td>{}</td><td>{}</td><th scope=\"row\" class=\"name\">{}{}</th><td class=\"name\">{}</td>",
                   new_size ? " class=\"size\"" : "", readable_bytes(row.bytes), row.bytes, escaped(row.algorithm),
                   row.wrong ? " <strong class=\"alarm\">WRONG</strong>" : "", escaped(row.served_by));
    write_numbers(out, value_of(cell, PlotKind::time), cell.launches, 2);
    write_numbers(out, value_of(cell, PlotKind::ratio), cell.launches, 3);
    fmt::format_to(out, "<td>{}</td><td>{}</td></tr>\n", cell.launches, row.reps);
    before = &cell;
  }
  fmt::format_to(out, "</tbody></table></div></details>\n");
}

void write_panel(Out out, const Measured& measured, const Panel& panel) {
  fmt::format_to(out, "<section data-collective=\"{}\" data-p=\"{}\">\n<h2>{}</h2>\n", to_string(panel.collective),
                 panel.p, panel.name());
  if (!panel.lacks_native.empty()) {
    fmt::format_to(out, "<p class=\"lacking\">{} has no times of native here to compare with: times only.</p>\n",
                   escaped(panel.lacks_native));
  }
  fmt::format_to(out, "<div class=\"figures\">\n");
  for (const PlotKind kind : plot_kinds) {
    if (kind != PlotKind::time && !panel.lacks_native.empty()) continue;
    fmt::format_to(out, "<figure data-kind=\"{}\">\n{}</figure>\n", to_string(kind), panel_svg(measured, panel, kind));
  }
  fmt::format_to(out, "</div>\n");
  write_table(out, panel);
  fmt::format_to(out, "</section>\n");
}

}  // namespace

std::string measured_page(const Measured& measured, std::optional<PlotKind> first, const std::string& title) {
  std::string page;
  const Out out(page);
  // What the page may do is what is in it: nothing is loaded, nothing is sent.
  fmt::format_to(
      out,
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<style>{}{}{}</style>\n</head>\n",
      escaped(title), chart_style, series_style, page_css);
  fmt::format_to(out, "<body data-kind=\"{}\">\n<header>\n<h1>{}</h1>\n<p>{}</p>\n",
                 first ? to_string(*first) : std::string_view("all"), escaped(title), escaped(setting_text(measured)));
  fmt::format_to(out, "<p>of");
  for (const std::string& file : measured.files) fmt::format_to(out, " {}", escaped(file));
  fmt::format_to(out, "</p>\n");
  if (any_wrong(measured)) fmt::format_to(out, "<p class=\"alarm\">Some results were wrong: see the numbers.</p>\n");
  fmt::format_to(out, "</header>\n");
  write_choice(out, measured);
  fmt::format_to(out, "<main>\n");
  for (const Panel& panel : measured.panels) write_panel(out, measured, panel);
  fmt::format_to(
      out,
      "<p id=\"nothing\" hidden>Nothing has been measured for this choice.</p>\n</main>\n"
      "<footer>Medians of the launches' medians; native / this is the median over the launches of native's time "
      "over this one's, each taken within a launch. Point at a mark for its numbers.</footer>\n"
      "<script>{}</script>\n</body>\n</html>\n",
      page_js);
  return page;
}

}  // namespace circoll::cli
