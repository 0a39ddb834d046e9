#include "msccl/msccl.hpp"

#include "circoll/error.hpp"
#include "circoll/transform.hpp"
#include "msccl/lower.hpp"
#include "msccl/raise.hpp"

namespace circoll {

std::string to_msccl(std::span<const Schedule> ranks) {
  require(!ranks.empty(), "an algorithm has at least one rank");
  std::vector<Schedule> combined;
  combined.reserve(ranks.size());
  for (const Schedule& s : ranks) {
    check_structure(s);
    require(s.collective == ranks.front().collective && s.shape.size == static_cast<Rank>(ranks.size()) &&
                s.shape.rank == static_cast<Rank>(combined.size()),
            "the schedules are those of all ranks of one call, in order");
    combined.push_back(combined_on_arrival(s, [](Rank) { return true; }));
  }
  return msccl::to_xml(msccl::lower(combined));
}

MscclSchedules schedules_from_msccl(std::string_view xml) { return msccl::raise(msccl::from_xml(xml)); }

}  // namespace circoll
