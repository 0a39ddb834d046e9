#include "cost/cost_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chart/chart.hpp"
#include "circoll/error.hpp"
#include "core/text.hpp"

namespace circoll::cli {
namespace {

constexpr Count fewest_bytes = 8;

/// Sizes of the plot: four per doubling, and the largest.
std::vector<Count> sizes_of(const PlotRequest& request) {
  std::vector<Count> sizes;
  for (int i = 0;; ++i) {
    const auto size =
        static_cast<Count>(std::llround(static_cast<double>(fewest_bytes) * std::exp2(static_cast<double>(i) / 4)));
    if (size >= request.most_bytes) break;
    sizes.push_back(size);
  }
  sizes.push_back(request.most_bytes);
  return sizes;
}

/// The algorithms that a ranking prices, in the order of the registry.
std::vector<const Algorithm*> able(const PlotRequest& request) {
  std::vector<const Algorithm*> algorithms;
  for (const Algorithm* a : algorithms_of(request.collective)) {
    if (!unmet_need(*a, request.p, request.op).empty()) continue;
    if (unranked_because(*a, request.collective, false).empty()) algorithms.push_back(a);
  }
  if (algorithms.empty()) throw Error(ErrorCode::unsupported, "no algorithm can serve this call");
  return algorithms;
}

double time_at(const PlotRequest& request, const Algorithm& algorithm, Count bytes) {
  const Selection best =
      with_best_parameters({&algorithm, request.collective, {}}, request.p, bytes, request.machine, request.root);
  return seconds(terms_of(best, request.p, bytes, request.root), request.machine);
}

/// The first of the ranking for a size.
const Algorithm* fastest_at(const PlotRequest& request, Count bytes) {
  return rank_algorithms(request.collective, request.p, bytes, request.op, request.machine, request.root)
      .front()
      .selection.algorithm;
}

/// A time per size.
struct Curve {
  const Algorithm* algorithm = nullptr;
  std::vector<double> times{};
  double nearness = 0;  ///< the least ratio to the fastest
  bool fastest = false;
};

std::vector<Curve> curves_of(const PlotRequest& request, const std::vector<Count>& sizes) {
  std::vector<Curve> curves;
  for (const Algorithm* a : able(request)) {
    Curve curve{.algorithm = a};
    for (const Count size : sizes) curve.times.push_back(time_at(request, *a, size));
    curves.push_back(std::move(curve));
  }
  std::vector<double> least = curves[0].times;
  for (const Curve& c : curves) {
    for (std::size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], c.times[i]);
  }
  for (Curve& c : curves) {
    c.nearness = c.times[0] / least[0];
    for (std::size_t i = 0; i < least.size(); ++i) c.nearness = std::min(c.nearness, c.times[i] / least[i]);
  }
  for (const Count size : sizes) {
    const Algorithm* first = fastest_at(request, size);
    std::find_if(curves.begin(), curves.end(), [&](const Curve& c) { return c.algorithm == first; })->fastest = true;
  }
  std::stable_sort(curves.begin(), curves.end(), [](const Curve& a, const Curve& b) {
    return a.fastest != b.fastest ? a.fastest : a.nearness < b.nearness;
  });
  return curves;
}

/// Curves that are drawn; beyond as many colours nobody tells them apart.
constexpr std::size_t most_curves = 10;

/// Takes the slower ones away if there are too many; their names.
std::vector<std::string_view> leave_out(std::vector<Curve>& curves) {
  std::vector<std::string_view> names;
  for (std::size_t i = most_curves; i < curves.size(); ++i) names.push_back(curves[i].algorithm->name);
  if (curves.size() > most_curves) curves.resize(most_curves);
  return names;
}

constexpr double width = 960;
constexpr double height = 600;
constexpr Frame frame{.left = 80, .right = 700, .top = 76, .bottom = 540};

Scale scale_of(const std::vector<Curve>& curves) {
  double least = curves[0].times[0];
  double most = least;
  for (const Curve& c : curves) {
    for (const double t : c.times) {
      least = std::min(least, t);
      most = std::max(most, t);
    }
  }
  // A machine without latency or bandwidth prices some things at nothing; they lie on the lower edge.
  most = std::max(most, 1e-9);
  const double first = std::floor(std::log10(std::max(least, most * 1e-9)));
  const double last = std::max(first + 1, std::ceil(std::log10(most)));
  return Scale::logarithmic(std::pow(10, first), std::pow(10, last), frame.bottom, frame.top);
}

constexpr std::string_view own_style = R"(.also { stroke-dasharray: 5 3; stroke-width: 1.2; }
.crossover { fill: #ffffff; stroke: #1f2328; stroke-width: 1.5; }
)";

void draw_axes(Out out, const Scale& x, const Scale& y, Count most_bytes) {
  for (const double time : log_ticks(y.low(), y.high())) draw_row(out, frame, y(time), readable_time(time));
  const int doublings = static_cast<int>(std::log2(most_bytes)) - 3;
  const int every = std::max(1, (doublings + 9) / 10);
  for (Count bytes = fewest_bytes; bytes <= most_bytes; bytes <<= every) {
    draw_column(out, frame, x(static_cast<double>(bytes)), readable_bytes(bytes));
  }
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">vector</text>\n",
                 (frame.left + frame.right) / 2, frame.bottom + 40);
}

}  // namespace

std::vector<Crossover> crossovers(const PlotRequest& request) {
  (void)able(request);  // throws if there is none
  std::vector<Crossover> found;
  Count before = fewest_bytes;
  const Algorithm* fastest = fastest_at(request, before);
  for (const Count size : sizes_of(request)) {
    const Algorithm* now = fastest_at(request, size);
    if (now != fastest) {
      Count low = before;  // `fastest` is the fastest here
      Count high = size;   // and not here
      while (high - low > 1) {
        const Count middle = low + (high - low) / 2;
        (fastest_at(request, middle) == fastest ? low : high) = middle;
      }
      found.push_back({high, fastest, now});
      fastest = now;
    }
    before = size;
  }
  return found;
}

std::string cost_plot(const PlotRequest& request) {
  const std::vector<Count> sizes = sizes_of(request);
  std::vector<Curve> curves = curves_of(request, sizes);
  const std::vector<std::string_view> left_out = leave_out(curves);
  const Scale x_of = Scale::logarithmic(fewest_bytes, static_cast<double>(request.most_bytes), frame.left, frame.right);
  const Scale y_of = scale_of(curves);
  std::string svg;
  const Out out(svg);
  const std::string title = fmt::format("{}, p = {}: predicted time", to_string(request.collective), request.p);
  begin_svg(out, width, height, title, "Time over size, both logarithmic, a line per algorithm.");
  fmt::format_to(out, "<style>{}{}</style>\n", chart_style, own_style);
  fmt::format_to(out, "<rect class=\"ground\" width=\"{}\" height=\"{}\"/>\n", width, height);
  fmt::format_to(out, "<text class=\"title\" x=\"24\" y=\"32\">{}</text>\n", title);
  const Machine& on = request.machine;
  fmt::format_to(
      out,
      "<text class=\"note\" x=\"24\" y=\"52\">alpha {}, beta {:.4g} ns/B, gamma {:.4g} ns/B, f_alpha {:.4g}, "
      "f_beta {:.4g}; best parameters</text>\n",
      readable_time(on.alpha_s), on.beta_s_per_byte * 1e9, on.gamma_s_per_byte * 1e9, on.f_alpha, on.f_beta);
  draw_axes(out, x_of, y_of, request.most_bytes);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string_view kind = curves[i].fastest ? "curve" : "curve also";
    fmt::format_to(out, "<polyline class=\"{}\" stroke=\"{}\" points=\"", kind, colours[i]);
    for (std::size_t j = 0; j < sizes.size(); ++j) {
      fmt::format_to(out, "{}{:.1f},{:.1f}", j == 0 ? "" : " ", x_of(static_cast<double>(sizes[j])),
                     y_of(curves[i].times[j]));
    }
    svg += "\"/>\n";
    const double y = frame.top + 8 + 22 * static_cast<double>(i);
    fmt::format_to(out, "<line class=\"{}\" stroke=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                   kind, colours[i], frame.right + 16, y, frame.right + 44, y);
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", frame.right + 52, y + 4,
                   curves[i].algorithm->name);
  }
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    const double y = frame.top + 22 + 22 * static_cast<double>(curves.size()) + 16 * static_cast<double>(i);
    fmt::format_to(out, "<text class=\"note\" x=\"{:.1f}\" y=\"{:.1f}\">{}{}</text>\n", frame.right + 16, y,
                   i == 0 ? "slower, left out: " : "", left_out[i]);
  }
  double lower = 0;  // labels in turn at two heights, so that near ones can be read
  for (const Crossover& c : crossovers(request)) {
    const auto bytes = static_cast<double>(c.bytes);
    const double x = x_of(bytes);
    const double y = y_of(time_at(request, *c.to, c.bytes));
    fmt::format_to(out, "<circle class=\"crossover\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>\n", x, y);
    fmt::format_to(out, "<text class=\"note\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x,
                   std::min(y + 20 + lower, frame.bottom - 4), readable_bytes(c.bytes));
    lower = 14 - lower;
  }
  fmt::format_to(
      out,
      "<text class=\"note\" x=\"{:.1f}\" y=\"{:.1f}\">circles: another algorithm is the fastest from here on</text>\n",
      frame.left, height - 8);
  svg += "</svg>\n";
  return svg;
}

}  // namespace circoll::cli
