// The functions of MPICH's formats that the table of formats has.
#pragma once

#include "foreign/formats.hpp"
#include "foreign/mpich_names.hpp"

namespace circoll::foreign::mpich {

[[nodiscard]] Written write_selection(std::span<const Rule> rules, const Reader& reader, const ExportOptions& options);
[[nodiscard]] std::unique_ptr<const TuningFile> read_selection(std::string_view text, const std::string& source,
                                                               const Reader& reader);
[[nodiscard]] std::vector<std::string_view> selection_names(Collective collective, const Reader& reader);

}  // namespace circoll::foreign::mpich
