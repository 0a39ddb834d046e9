// Losses that a whole vector in Rabenseifner's first exchange insures against.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "faults/faults.hpp"

namespace circoll {
namespace {

FaultAnalysis analysis_of(const std::string& name, Rank p, Keep keep) {
  const Selection s = parse_selection("allreduce/" + name);
  return {*s.algorithm, s.collective, {.size = p, .params = s.params}, keep};
}

/// With the whole vector in its first exchange, a rank's partner has a copy of all the rank's contributions.
TEST(Faults, AWholeVectorInTheFirstExchangeInsures) {
  for (const Rank p : {4, 8, 16, 32}) {
    const FaultAnalysis plain = analysis_of("rabenseifner", p, Keep::keep);
    const FaultAnalysis insured = analysis_of("rabenseifner:halves=2", p, Keep::keep);
    ASSERT_EQ(insured.rounds(), plain.rounds());
    for (Rank f = 0; f < p; ++f) {
      EXPECT_EQ(insured.after(0, std::array{f}).what, FailureClass::surv);
      for (std::uint32_t k = 1; k <= insured.rounds(); ++k) {
        EXPECT_EQ(insured.after(k, std::array{f}).what, FailureClass::both) << "p=" << p << " k=" << k << " f=" << f;
        EXPECT_EQ(is_full(plain.after(k, std::array{f}).what), 2 * k > plain.rounds());
      }
    }
  }
}

}  // namespace
}  // namespace circoll
