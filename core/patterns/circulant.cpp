#include "patterns/circulant.hpp"

namespace circoll::patterns {

Skips::Skips(Rank p) : skips_(static_cast<std::size_t>(ceil_log2(p)) + 1) {
  for (std::size_t k = skips_.size(); k-- > 0; p -= p / 2) skips_[k] = p;
}

}  // namespace circoll::patterns
