// Writes an algorithm as XML of MSCCL, reads it, and proves what was read.
#include <cstdio>

#include "circoll/error.hpp"
#include "circoll/msccl.hpp"

int main() try {
  const circoll::Selection ring = circoll::parse_selection("allreduce/ring");
  const std::string xml =
      circoll::to_msccl(circoll::build_all_ranks(*ring.algorithm, ring.collective, circoll::Shape{.size = 4}));
  const circoll::MscclSchedules read = circoll::schedules_from_msccl(xml);
  const bool proven = !read.race && circoll::verify_schedules(read.ranks, {.needs = {.commutative = true}}).proven();
  std::printf("%zu bytes of XML, %s\n", xml.size(), proven ? "proven" : "wrong");
  return proven ? 0 : 1;
} catch (const circoll::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
