// The tool with the lab: its commands, the forms of schedules of other tools, and the simulator's times.
#include "lab.hpp"

#include <fmt/format.h>

#include <utility>

#include "circoll/collectives.hpp"
#include "cli/lab_commands.hpp"
#include "formats/formats.hpp"
#include "msccl/msccl.hpp"
#include "sim/sim.hpp"

namespace circoll::cli {
namespace {

void write_dot(const LabForm::Request& request) { print(to_dot(request.shown.all())); }

void write_goal(const LabForm::Request& request) {
  print(goal_head(request.shown.size));
  for (Rank rank = 0; rank < request.shown.size; ++rank)
    print(to_goal(request.shown.of(rank), request.bytes, request.gamma_s_per_byte * 1e9));
}

void write_chakra(const LabForm::Request& request) {
  for (Rank rank = 0; rank < request.shown.size; ++rank)
    write_file(fmt::format("{}.{}.et", request.output, rank),
               to_chakra(request.shown.of(rank), request.bytes, request.gamma_s_per_byte * 1e6));
}

void write_msccl(const LabForm::Request& request) { print(to_msccl(request.shown.all())); }

constexpr LabForm forms[] = {
    {.name = "dot", .note = "dot (Graphviz)", .most_ranks = most_drawn, .write = write_dot},
    {.name = "goal",
     .note = "goal (LogGOPSim, ATLAHS, htsim; needs --bytes)",
     .needs_bytes = true,
     .write = write_goal},
    {.name = "chakra",
     .note = "chakra (ASTRA-sim; needs --bytes and --output)",
     .needs_bytes = true,
     .needs_output = true,
     .write = write_chakra},
    {.name = "msccl", .note = "msccl (XML of MSCCL and RCCL)", .write = write_msccl},
};
constexpr std::string_view examples_of_show[] = {
    "circoll show allreduce/recursive_doubling -p 16 --bytes 64Ki --format goal > doubling.goal",
    "circoll show allreduce/ring -p 8 --bytes 1Mi --format chakra --output ring    # ring.0.et ... ring.7.et",
    "circoll show allgather/bruck -p 8 --format msccl > bruck.xml",
    "circoll show bruck.xml --format svg > bruck.svg",
};
constexpr AddCommand commands[] = {add_simulate, add_faults, add_whatif};

void read_msccl(const std::string& text, ScheduleFile& file) {
  MscclSchedules read = schedules_from_msccl(text);
  file.ranks = std::move(read.ranks);
  file.race = std::move(read.race);
  file.place_of = [places = std::move(read.places)](Rank rank, std::size_t step) -> std::string {
    const auto& steps = places[static_cast<std::size_t>(rank)];
    if (step >= steps.size()) return {};
    const MscclPlace& place = steps[step];
    return fmt::format("line {}: gpu {}, threadblock {}, step {}", place.line, rank, place.threadblock, place.step);
  };
}

double simulated_s(const Comparison& row, const Machine& machine, const SimulatedBy& options) {
  sim::Network network = sim::network_of(machine);
  if (!options.exchange.empty()) sim::set_exchange(network.between, options.exchange);
  network.shared = options.shared;
  const sim::Ranks ranks(parse_selection(row.collective, row.served_by), row.p);
  const Count bytes = Amounts::of_measured(row.collective, row.p, row.bytes).vector_bytes();
  return simulate(ranks, static_cast<double>(bytes), network).time_s;
}

}  // namespace

const Lab& lab() {
  static const Lab all{.commands = commands,
                       .forms = forms,
                       .examples_of_show = examples_of_show,
                       .read_xml = read_msccl,
                       .simulated_s = simulated_s};
  return all;
}

}  // namespace circoll::cli
