// Pictures of the communication of a whole collective.
#pragma once

#include <span>
#include <string>

#include "circoll/schedule.hpp"

namespace circoll {

/// A self-contained SVG: ranks on a circle, clockwise, rank 0 on top. The first panel shows all pairs of
/// ranks that exchange messages. Those of the root (or rank 0) are highlighted and labelled with their rounds. Then
/// follows one panel per communication round. It has one arrow per message, labelled with its blocks where they differ
/// in number. Labels that would collide are left out; every arrow says its ranks and blocks when
/// pointed at. Colours follow the viewer's light or dark scheme. Equal schedules give equal text.
///
/// `ranks` are the schedules of all ranks of one collective, in order. Throws Error(invalid_argument) if they
/// are not (another size, root, id or number of rounds), or if check_structure() does.
[[nodiscard]] std::string to_svg(std::span<const Schedule> ranks);

}  // namespace circoll
