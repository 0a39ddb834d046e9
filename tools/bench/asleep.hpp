// Waiting that takes no processor.
#pragma once

namespace circoll::bench {

/// Waits for all ranks without taking a processor from those that measure.
void wait_asleep();

}  // namespace circoll::bench
