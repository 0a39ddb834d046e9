// A sender learns from the time of its copies whether a peer is far away (`Distance`).
#include "exec/node/direct_copy.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "gtest/gtest.h"

namespace circoll::node {
namespace {

using std::chrono::nanoseconds;

/// Copies of 16 KiB, 256 lines.
void note(Distance& distance, std::int64_t ns_per_line, int times) {
  for (int i = 0; i < times; ++i) distance.note(16384, nanoseconds(256 * ns_per_line));
}

TEST(Distance, NearUntilCopiesTakeLong) {
  Distance distance(14);
  EXPECT_FALSE(distance.is_far());
  note(distance, 9, 100);
  EXPECT_FALSE(distance.is_far());
  note(distance, 27, 10);
  EXPECT_TRUE(distance.is_far());
  note(distance, 9, 10);
  EXPECT_FALSE(distance.is_far());
}

/// A process that loses its processor for a millisecond is no further away.
TEST(Distance, OneInterruptionSaysNothing) {
  Distance distance(14);
  note(distance, 9, 100);
  distance.note(16384, std::chrono::milliseconds(1));
  EXPECT_FALSE(distance.is_far());
}

TEST(Distance, FarPeersAreTriedAgain) {
  Distance distance(14);
  EXPECT_FALSE(distance.next_is_far());
  note(distance, 27, 10);
  int far = 0;
  for (std::uint32_t i = 0; i < 10 * Distance::tried_of; ++i) far += distance.next_is_far() ? 1 : 0;
  EXPECT_EQ(far, 10 * (Distance::tried_of - 1));
}

TEST(Distance, CopiesAreDoneWhetherTimedOrNot) {
  for (const double far_ns : {0.0, 1e9}) {
    Distance distance(far_ns);
    int copies = 0;
    for (const std::size_t bytes : {std::size_t{1}, Distance::least_bytes, std::size_t{1} << 20U}) {
      for (std::uint32_t i = 0; i < 2 * Distance::timed_of; ++i) distance.copy(bytes, [&] { ++copies; });
    }
    EXPECT_EQ(copies, 6 * Distance::timed_of);
    EXPECT_EQ(distance.is_far(), far_ns == 0);
  }
}

}  // namespace
}  // namespace circoll::node
