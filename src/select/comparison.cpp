// Measured medians against predicted times.
#include "circoll/calibration.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "select/text_file.hpp"

namespace circoll {
namespace {

/// The vector of a call that circoll-bench measured with `bytes`; docs/measuring.md.
Count vector_bytes(Collective collective, Rank p, Count bytes) {
  switch (collective) {
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::bcast:
    case Collective::scan:
    case Collective::exscan:
    case Collective::barrier:
    case Collective::alltoall:
    case Collective::alltoallv:
      return bytes;
    default:
      return bytes * p;
  }
}

}  // namespace

std::vector<Comparison> compare(std::string_view bench_json, const std::string& source, const Machine& machine) {
  const select::Json root = select::read_json(bench_json, source);
  const select::Json* const rows = root.member("rows");
  if (rows == nullptr || rows->array() == nullptr)
    select::fail_at(source, root.line, "this is no circoll-bench --json");
  std::vector<Comparison> result;
  for (const select::Json& entry : *rows->array()) {
    const select::Members row(entry, source);
    const auto collective = collective_from_string(row.text("collective"));
    if (!collective) row.fail(entry, "'" + row.text("collective") + "' is no collective");
    Comparison one{.collective = *collective,
                   .algorithm = row.text("algorithm"),
                   .served_by = row.text("served_by"),
                   .p = row.integer("p"),
                   .bytes = row.integer("bytes"),
                   .measured_s = row.number("median_us") * 1e-6};
    if (one.p < 1 || one.bytes < 0 || !(one.measured_s > 0))
      row.fail(entry, "'p', 'bytes' or 'median_us' is out of range");
    if (one.served_by != "native") {
      const bool by_policy = one.algorithm == "auto";
      const Count bytes = vector_bytes(*collective, one.p, one.bytes);
      const Selection ran =
          completed(parse_selection(*collective, by_policy ? one.served_by : one.algorithm), one.p, bytes, machine);
      for (const auto& [key, value] : ran.params) {
        one.served_by += (one.served_by.find(':') == std::string::npos ? ":" : ",") + key + "=" + std::to_string(value);
      }
      one.predicted_s = seconds(terms_of(ran, one.p, bytes), machine);
    }
    result.push_back(std::move(one));
  }
  return result;
}

}  // namespace circoll
