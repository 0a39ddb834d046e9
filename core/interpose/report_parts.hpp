// Facts about collectives that the parts of the report share.
#pragma once

#include "circoll/collectives.hpp"

namespace circoll::interpose {

/// True if ranks of one call may have blocks of different sizes, in different size classes.
[[nodiscard]] bool differs_by_rank(Collective collective);

}  // namespace circoll::interpose
