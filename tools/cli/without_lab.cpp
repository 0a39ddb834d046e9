// The tool without the lab.
#include "lab.hpp"

namespace circoll::cli {

const Lab& lab() {
  static const Lab none{};
  return none;
}

}  // namespace circoll::cli
