// Measurements as an HTML page by itself: charts of every kind, numbers, nothing loaded from elsewhere.
#pragma once

#include <optional>
#include <string>

#include "chart/measured_panels.hpp"

namespace circoll::cli {

/// The page shows all kinds first, or that one. Where a file lacks native it has times only, and says so.
[[nodiscard]] std::string measured_page(const Measured& measured, std::optional<PlotKind> first,
                                        const std::string& title);

}  // namespace circoll::cli
