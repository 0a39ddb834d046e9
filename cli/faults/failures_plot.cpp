// The matrix of failed ranks and rounds, coloured by class.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "chart/chart.hpp"
#include "faults/failures.hpp"
#include "selection_text.hpp"

namespace circoll::cli {
namespace {

struct Colour {
  FailureClass what;
  std::string_view fill;
  std::string_view says;
};
constexpr std::array<Colour, 6> classes{{
    {FailureClass::both, "#007a5a", "all contributions, or the survivors' alone"},
    {FailureClass::full, "#66c2a5", "all contributions"},
    {FailureClass::surv, "#56b4e9", "the survivors' contributions only"},
    {FailureClass::mix, "#e69f00", "some blocks with, some without"},
    {FailureClass::none, "#b2182b", "nothing"},
    {FailureClass::unknown, "#bbbbbb", "not found out"},
}};

const Colour& colour_of(FailureClass what) {
  return *std::find_if(classes.begin(), classes.end(), [&](const Colour& c) { return c.what == what; });
}

std::string described(const Failure& f) {
  const FailureOutcome& o = f.outcome;
  std::string text =
      fmt::format("rank {} fails after {} rounds: {}", fmt::join(f.failed, ", "), f.k, to_string(o.what));
  if (o.copies >= 0) text += fmt::format(", {} copies", o.copies);
  if (o.contributed > 0) text += fmt::format(", {} of {} blocks lost", o.lost, o.contributed);
  if (o.pieces > 0) text += fmt::format(", {} pieces", o.pieces);
  return text;
}

}  // namespace

std::string failures_plot(const FailureRequest& request, const Failures& failures) {
  constexpr double left = 60;
  constexpr double top = 64;
  const auto rows = request.failures.size();
  const std::size_t columns = failures.all.size() / rows;
  const double cell = std::clamp(640.0 / static_cast<double>(std::max(rows, columns)), 6.0, 28.0);
  const double width = std::max(left + cell * static_cast<double>(columns) + 20, 560.0);
  const double bottom = top + cell * static_cast<double>(rows);
  const std::string title =
      fmt::format("{}, p = {}: what survivors can put together", subject_of(request), request.size);
  std::string svg;
  const Out out = std::back_inserter(svg);
  begin_svg(out, width, bottom + 46 + 18 * static_cast<double>(classes.size()), title,
            fmt::format("A matrix of failed ranks and of rounds that have ended, coloured by class; keep = {}",
                        to_string(request.keep)));
  fmt::format_to(out, "<style>{}</style>\n<text x=\"{}\" y=\"24\" font-weight=\"bold\">{}</text>\n", chart_style, left,
                 escaped(title));
  fmt::format_to(out, "<text x=\"{}\" y=\"{}\">k, rounds that have ended; keep = {}</text>\n", left, top - 20,
                 to_string(request.keep));
  const std::size_t every = cell < 14 ? 8 : 1;
  for (std::size_t i = 0; i < failures.all.size(); ++i) {
    const Failure& f = failures.all[i];
    const std::size_t row = i % rows;
    const std::size_t column = i / rows;
    const double x = left + cell * static_cast<double>(column);
    const double y = top + cell * static_cast<double>(row);
    if (row == 0 && column % every == 0) {
      fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x + cell / 2, top - 5, f.k);
    }
    if (column == 0 && row % every == 0) {
      fmt::format_to(out, "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 6, y + cell / 2 + 4,
                     fmt::join(f.failed, ","));
    }
    fmt::format_to(out,
                   "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}</title>"
                   "</rect>\n",
                   x, y, cell - 1, cell - 1, colour_of(f.outcome.what).fill, escaped(described(f)));
  }
  fmt::format_to(out,
                 "<text x=\"14\" y=\"{:.1f}\" transform=\"rotate(-90 14 {:.1f})\" text-anchor=\"middle\">failed "
                 "rank</text>\n",
                 (top + bottom) / 2, (top + bottom) / 2);
  double y = bottom + 24;
  for (const Colour& c : classes) {
    const bool seen = std::any_of(failures.all.begin(), failures.all.end(),
                                  [&](const Failure& f) { return f.outcome.what == c.what; });
    if (!seen) continue;
    fmt::format_to(out,
                   "<rect x=\"{}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n<text x=\"{}\" y=\"{:.1f}\">"
                   "{}: {}</text>\n",
                   left, y, c.fill, left + 18, y + 10, to_string(c.what), c.says);
    y += 18;
  }
  svg += "</svg>\n";
  return svg;
}

}  // namespace circoll::cli
