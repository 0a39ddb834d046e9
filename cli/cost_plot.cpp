#include "cost_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>

#include "circoll/error.hpp"
#include "units.hpp"

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

/// The algorithms that can serve the call, in the order of the registry.
std::vector<const Algorithm*> able(const PlotRequest& request) {
  std::vector<const Algorithm*> algorithms;
  for (const Algorithm* a : algorithms_of(request.collective)) {
    if (unmet_need(*a, request.p, request.op).empty()) algorithms.push_back(a);
  }
  if (algorithms.empty()) throw Error(ErrorCode::unsupported, "no algorithm can serve this call");
  return algorithms;
}

double time_at(const PlotRequest& request, const Algorithm& algorithm, Count bytes) {
  const Selection best =
      with_best_segments({&algorithm, request.collective, {}}, request.p, bytes, request.machine, request.root);
  return seconds(terms_of(best, request.p, bytes, request.root), request.machine);
}

const Algorithm* fastest_at(const PlotRequest& request, const std::vector<const Algorithm*>& algorithms, Count bytes) {
  const Algorithm* fastest = nullptr;
  double least = 0;
  for (const Algorithm* a : algorithms) {
    const double time = time_at(request, *a, bytes);
    if (fastest != nullptr && time >= least) continue;
    fastest = a;
    least = time;
  }
  return fastest;
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
  // The first of those that are equally fast counts, as for the crossovers.
  for (std::size_t i = 0; i < least.size(); ++i) {
    std::find_if(curves.begin(), curves.end(), [&](const Curve& c) { return c.times[i] == least[i]; })->fastest = true;
  }
  constexpr std::size_t most = 10;
  std::stable_sort(curves.begin(), curves.end(), [](const Curve& a, const Curve& b) {
    return a.fastest != b.fastest ? a.fastest : a.nearness < b.nearness;
  });
  if (curves.size() > most) curves.resize(most);
  return curves;
}

/// A picture of fixed size; times and sizes to pixels.
class Axes {
 public:
  static constexpr double width = 960;
  static constexpr double height = 600;
  static constexpr double left = 80;
  static constexpr double right = 700;
  static constexpr double top = 76;
  static constexpr double bottom = 540;

  Axes(Count most_bytes, const std::vector<Curve>& curves) : most_bytes_(static_cast<double>(most_bytes)) {
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
    first_decade_ = static_cast<int>(std::floor(std::log10(std::max(least, most * 1e-9))));
    last_decade_ = std::max(first_decade_ + 1, static_cast<int>(std::ceil(std::log10(most))));
  }

  [[nodiscard]] double x(double bytes) const {
    const double share = std::log2(bytes / static_cast<double>(fewest_bytes)) /
                         std::log2(most_bytes_ / static_cast<double>(fewest_bytes));
    return left + (right - left) * share;
  }
  [[nodiscard]] double y(double time_s) const {
    const double least = std::pow(10, first_decade_);
    const double share = std::log10(std::max(time_s, least) / least) / (last_decade_ - first_decade_);
    return bottom - (bottom - top) * share;
  }
  [[nodiscard]] int first_decade() const { return first_decade_; }
  [[nodiscard]] int last_decade() const { return last_decade_; }

 private:
  double most_bytes_;
  int first_decade_ = 0;
  int last_decade_ = 1;
};

constexpr std::string_view style = R"(<style>
text { font-family: system-ui, "DejaVu Sans", Helvetica, Arial, sans-serif; font-size: 12px; fill: #1f2328; }
.ground { fill: #ffffff; }
.title { font-size: 18px; font-weight: 600; }
.note { font-size: 11px; fill: #59636e; }
.grid { stroke: #d8dee4; stroke-width: 1; }
.curve { fill: none; stroke-width: 1.8; }
.also { stroke-dasharray: 5 3; stroke-width: 1.2; }
.crossover { fill: #ffffff; stroke: #1f2328; stroke-width: 1.5; }
</style>
)";
/// Told apart by most people who see colours differently (Okabe and Ito), then some more.
constexpr std::array<std::string_view, 10> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                                   "#56b4e9", "#8c564b", "#7f7f7f", "#6a3d9a", "#000000"};

using Out = std::back_insert_iterator<std::string>;

void draw_axes(Out out, const Axes& axes, Count most_bytes) {
  for (int decade = axes.first_decade(); decade <= axes.last_decade(); ++decade) {
    const double y = axes.y(std::pow(10, decade));
    fmt::format_to(out, "<line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", Axes::left,
                   y, Axes::right, y);
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", Axes::left - 8, y + 4,
                   readable_time(std::pow(10, decade)));
  }
  const int doublings = static_cast<int>(std::log2(most_bytes)) - 3;
  const int every = std::max(1, (doublings + 9) / 10);
  for (Count bytes = fewest_bytes; bytes <= most_bytes; bytes <<= every) {
    const double x = axes.x(static_cast<double>(bytes));
    fmt::format_to(out, "<line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", x,
                   Axes::top, x, Axes::bottom);
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x, Axes::bottom + 18,
                   readable_bytes(bytes));
  }
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">vector</text>\n",
                 (Axes::left + Axes::right) / 2, Axes::bottom + 40);
}

}  // namespace

std::vector<Crossover> crossovers(const PlotRequest& request) {
  const std::vector<const Algorithm*> algorithms = able(request);
  std::vector<Crossover> found;
  Count before = fewest_bytes;
  const Algorithm* fastest = fastest_at(request, algorithms, before);
  for (const Count size : sizes_of(request)) {
    const Algorithm* now = fastest_at(request, algorithms, size);
    if (now != fastest) {
      Count low = before;  // `fastest` is the fastest here
      Count high = size;   // and not here
      while (high - low > 1) {
        const Count middle = low + (high - low) / 2;
        (fastest_at(request, algorithms, middle) == fastest ? low : high) = middle;
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
  const std::vector<Curve> curves = curves_of(request, sizes);
  const Axes axes(request.most_bytes, curves);
  std::string svg;
  const Out out(svg);
  fmt::format_to(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n",
                 Axes::width, Axes::height);
  svg += style;
  fmt::format_to(out, "<rect class=\"ground\" width=\"{}\" height=\"{}\"/>\n", Axes::width, Axes::height);
  fmt::format_to(out, "<text class=\"title\" x=\"24\" y=\"32\">{}, p = {}: predicted time</text>\n",
                 to_string(request.collective), request.p);
  const Machine& on = request.machine;
  fmt::format_to(
      out,
      "<text class=\"note\" x=\"24\" y=\"52\">alpha {}, beta {:.4g} ns/B, gamma {:.4g} ns/B, f_alpha {:.4g}, "
      "f_beta {:.4g}; best segments</text>\n",
      readable_time(on.alpha_s), on.beta_s_per_byte * 1e9, on.gamma_s_per_byte * 1e9, on.f_alpha, on.f_beta);
  draw_axes(out, axes, request.most_bytes);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string_view kind = curves[i].fastest ? "curve" : "curve also";
    fmt::format_to(out, "<polyline class=\"{}\" stroke=\"{}\" points=\"", kind, colours[i]);
    for (std::size_t j = 0; j < sizes.size(); ++j) {
      fmt::format_to(out, "{}{:.1f},{:.1f}", j == 0 ? "" : " ", axes.x(static_cast<double>(sizes[j])),
                     axes.y(curves[i].times[j]));
    }
    svg += "\"/>\n";
    const double y = Axes::top + 8 + 22 * static_cast<double>(i);
    fmt::format_to(out, "<line class=\"{}\" stroke=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                   kind, colours[i], Axes::right + 16, y, Axes::right + 44, y);
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", Axes::right + 52, y + 4,
                   curves[i].algorithm->name);
  }
  double height = 0;  // labels in turn at two heights, so that near ones can be read
  for (const Crossover& c : crossovers(request)) {
    const auto bytes = static_cast<double>(c.bytes);
    const double x = axes.x(bytes);
    const double y = axes.y(time_at(request, *c.to, c.bytes));
    fmt::format_to(out, "<circle class=\"crossover\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>\n", x, y);
    fmt::format_to(out, "<text class=\"note\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x,
                   std::min(y + 20 + height, Axes::bottom - 4), readable_bytes(c.bytes));
    height = 14 - height;
  }
  fmt::format_to(
      out,
      "<text class=\"note\" x=\"{:.1f}\" y=\"{:.1f}\">circles: another algorithm is the fastest from here on</text>\n",
      Axes::left, Axes::height - 8);
  svg += "</svg>\n";
  return svg;
}

}  // namespace circoll::cli
