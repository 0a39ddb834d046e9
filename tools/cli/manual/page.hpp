// Manual pages in mdoc, written from the table of commands.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace circoll::cli {

/// The page of circoll itself: its commands and the environment.
[[nodiscard]] std::string manual_page(const CLI::App& app);

/// The page of one of its commands.
[[nodiscard]] std::string manual_page_of(const CLI::App& command);

}  // namespace circoll::cli
