// Measured medians against predicted times.
#include "circoll/collectives.hpp"
#include "circoll/select.hpp"
#include "measured/calibration.hpp"
#include "measured/measurement.hpp"

namespace circoll {
std::vector<Comparison> compare(std::string_view bench_json, const std::string& source, const Machine& machine) {
  std::vector<Comparison> result;
  for (const Measurement& row : launch_from_json(bench_json, source).rows) {
    if (row.reps == 0) continue;
    Comparison one{.collective = row.collective,
                   .algorithm = row.algorithm,
                   .served_by = row.served_by,
                   .p = row.p,
                   .bytes = row.bytes,
                   .measured_s = row.median_s};
    if (one.served_by != "native") {
      const bool by_policy = one.algorithm == "auto";
      const Count bytes = Amounts::of_measured(row.collective, one.p, one.bytes).vector_bytes();
      const Selection ran =
          completed(parse_selection(row.collective, by_policy ? one.served_by : one.algorithm), one.p, bytes, machine);
      one.served_by = ran.text();
      one.predicted_s = seconds(terms_of(ran, one.p, bytes), machine);
    }
    result.push_back(std::move(one));
  }
  return result;
}

}  // namespace circoll
