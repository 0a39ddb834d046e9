// Machines: measured, fitted, and how well they predict (docs/admin/calibration.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/model.hpp"
#include "model/fit.hpp"

namespace circoll {

/// The operation that a sample has timed.
enum class SampleKind {
  exchange,       ///< a message in each direction between two ranks at the same time
  ping_pong,      ///< a message in one direction: half of a round trip
  reduction,      ///< dst = left op right
  node_exchange,  ///< an exchange inside a node, where the others were between nodes
  // Calls of ranks that share memory:
  memory_exchange,   ///< allgather/recursive_doubling of two ranks, in place; `bytes` are a rank's
  memory_reduction,  ///< allreduce/recursive_doubling of two ranks, in place
  memory_burst,      ///< bcast/pipeline of `burst` segments from one of two ranks to the other; `bytes` are a segment's
  memory_crowded,    ///< allgather/linear of more ranks than there are processors
};

/// The name of a kind in files.
[[nodiscard]] std::string_view to_string(SampleKind kind);

/// The messages of a memory_burst.
inline constexpr int burst = 8;

/// One measured time.
struct Sample {
  SampleKind kind = SampleKind::exchange;  ///< what was measured
  Count bytes = 0;                         ///< of a message, or of the result of a reduction
  double seconds = 0;                      ///< a median
  Rank ranks = 2;                          ///< that took part
};

/// A way of messages through memory, whose samples are those of its lengths.
struct SampledWay {
  std::string name;      ///< as NodeWay::name
  Count from_bytes = 0;  ///< as NodeWay::from_bytes
  bool read = false;     ///< as NodeWay::read
};

/// The speed of a host among the others.
struct HostTime {
  std::string name;    ///< as MPI_Get_processor_name has it
  double seconds = 0;  ///< of an exchange of a long message with the partner that is fastest for it
};

/// The measurements of circoll-bench --calibrate.
struct Calibration {
  std::string name;                ///< of the machine
  std::string about;               ///< MPI library, ranks
  std::vector<Sample> samples;     ///< in any order; several of one size are several measurements
  std::vector<SampledWay> ways{};  ///< that the samples of memory went, the shortest messages' first
  std::vector<HostTime> hosts{};   ///< all of them, if there are three at least
};

/// Reads and writes samples as {"circoll_calibration": 1, "name": ..., "about": ..., "samples": [{"kind": "exchange",
/// "bytes": 8, "seconds": 1e-6}, ...]}. Samples of other than two ranks have "ranks", and "node_ways": [{"name":
/// "stored", "from_bytes": 0}, ...] are there if memory was measured, "hosts": [{"name": "h1", "seconds": 0.1}, ...] if
/// hosts were. Throws Error(parse) naming the line.
[[nodiscard]] Calibration calibration_from_json(std::string_view json, const std::string& source);
[[nodiscard]] std::string to_json(const Calibration& calibration);  ///< the text that calibration_from_json reads

/// Long messages that take much longer when they are exchanged than one way.
struct SlowExchange {
  double factor = 1;     ///< median of measured time by that of the fitted line of exchanges
  Count from_bytes = 0;  ///< from this size on all exchanges take at least 1.5 times a ping_pong, 1.25 times the line
};

struct Fit {
  Machine machine;                      ///< the coefficients, by the name of the calibration
  Line exchange;                        ///< of messages in both directions: alpha and beta
  Line ping_pong;                       ///< of messages in one direction
  Line reduction;                       ///< of reductions: gamma, by the bytes of the result
  std::optional<Line> node_exchange{};  ///< if there are such samples
  std::vector<Line> ways{};             ///< exchanges by each of machine.node_ways
  SlowExchange slow_exchange{};         ///< which `exchange` does not have, and sim::LogGops may have
};

/// The line through the samples of a kind. Throws Error(invalid_argument) unless there are samples of two sizes, all
/// with positive times.
[[nodiscard]] Line fit_line(const std::vector<Sample>& samples, SampleKind kind);

/// Fits a machine to samples. Exchanges give alpha and beta, the ratio of ping-pongs to exchanges f_alpha and f_beta,
/// the slope of reductions gamma, and node_exchanges, if there are any, node_alpha and node_beta. The calibration's
/// ways become the machine's (docs/admin/calibration.md). Several samples of one kind and size count by their median.
/// Throws as fit_line, and if a coefficient of a machine would be 0.
[[nodiscard]] Fit fit_machine(const Calibration& calibration);

/// The hosts that take at least 1.5 times the median of all. A host is timed by its fastest partner, so that a slow one
/// does not make others look slow.
[[nodiscard]] std::vector<SlowHost> slow_hosts(const std::vector<HostTime>& hosts);

/// A topology.conf for CIRCOLL_TOPOLOGY in which each slow host is a switch of its own (docs/admin/calibration.md).
/// Empty if there are none, or no others. Hosts of one name are one.
[[nodiscard]] std::string topology_of_slow(const std::vector<SlowHost>& slow, const std::vector<HostTime>& all);

/// One measured median against the model.
struct Comparison {
  Collective collective = Collective::barrier;  ///< which one was called
  std::string algorithm;   ///< as circoll-bench was asked: "auto", "native", or a name with parameters
  std::string served_by;   ///< what ran, with the parameters that the model sets
  Rank p = 1;              ///< ranks
  Count bytes = 0;         ///< as circoll-bench counts them (docs/admin/measuring.md)
  double measured_s = 0;   ///< the median of the calls of one launch
  double predicted_s = 0;  ///< 0: not an algorithm of Circoll
};

/// The rows of a file that circoll-bench --json wrote. Throws Error(parse), Error(unknown_name).
[[nodiscard]] std::vector<Comparison> compare(std::string_view bench_json, const std::string& source,
                                              const Machine& machine);

}  // namespace circoll
