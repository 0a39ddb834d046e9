// circoll explain shows a policy's choice for a call, and why.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "commands.hpp"
#include "facts/processor_name.hpp"
#include "facts/text.hpp"
#include "graph/neighbor_call.hpp"
#include "launcher.hpp"
#include "measured/file_kind.hpp"
#include "options/ranges.hpp"
#include "schedule/registry.hpp"
#include "schedule_file.hpp"
#include "select/profile_search.hpp"

namespace circoll::cli {
namespace {

struct ExplainOptions {
  std::string collective;
  Rank ranks = 0;
  Count bytes = 0;
  std::optional<Rank> cores;
  std::optional<Rank> nodes;
  bool crowded = false;
  std::string type = "float64";
  std::string op = "sum";
  bool user_op = false;
  bool noncommutative = false;
  std::string policy = "auto";
  std::string algorithm{};  ///< as in CIRCOLL_BCAST; empty: the policy alone decides
  std::string mpi = "auto";
  std::string program{};  ///< whose rules of the profile count, too
  std::string machine;
  bool allow_rank_divergence = false;
  bool json = false;
  GraphOptions graph{};
};

/// Puts the ranks on nodes. Missing numbers follow from filling nodes in order.
void place(const ExplainOptions& options, CallFacts& facts) {
  const Rank p = options.ranks;
  facts.nodes = options.nodes.value_or(0);
  facts.cores = options.cores.value_or(options.nodes ? (p + *options.nodes - 1) / *options.nodes : 1);
  if (!options.nodes) return;
  // One node is full, and the others have a rank at least.
  if (p > facts.cores * facts.nodes || p < facts.nodes + facts.cores - 1) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} ranks do not lie on {} nodes of which the fullest has {}",
                                                         p, facts.nodes, facts.cores));
  }
  facts.node_by_node = facts.nodes == (p + facts.cores - 1) / facts.cores;
}

CallFacts facts_from(const ExplainOptions& options) {
  const Collective collective = *collective_from_string(options.collective);
  if (options.bytes > 0 && collective == Collective::barrier) {
    throw Error(ErrorCode::invalid_argument, "a barrier has no vector; leave out --bytes");
  }
  CallFacts facts =
      facts_of(collective, options.ranks, options.bytes, *op_from_string(options.op), *type_from_string(options.type));
  place(options, facts);
  facts.crowded = options.crowded;
  if ((options.user_op || options.noncommutative) && is_reducing(collective)) {
    facts.op = {.commutative = !options.noncommutative, .idempotent = false};
    facts.exact_op = facts.predefined_op = false;
  }
  return facts;
}

std::string operator_text(const ExplainOptions& options, const CallFacts& facts) {
  if (!is_reducing(facts.collective)) return "";
  const std::string name =
      facts.predefined_op ? fmt::format("{} {}", options.type, options.op) : std::string("the caller's operator");
  return fmt::format(", {} ({}commutative, {}{})", name, facts.op.commutative ? "" : "not ",
                     facts.exact_op ? "exact" : "not exact", facts.op.idempotent ? ", idempotent" : "");
}

/// The ways of messages that were priced, if all ranks share a node.
std::vector<NodeWay> ways_of(const CallFacts& facts, const Machine& machine) {
  return facts.cores >= facts.p ? machine.node_ways : std::vector<NodeWay>{};
}

/// The price of waiting for a processor, if all ranks share a crowded node.
double crowded_s(const CallFacts& facts, const Machine& machine) {
  return facts.crowded && facts.cores >= facts.p ? machine.crowded_s : 0;
}

/// The profile by which "auto" goes on this machine.
struct ExplainedProfile {
  select::FoundProfile found{};
  std::string library{};  ///< whose profile it is
  std::string note{};     ///< why there is none, or whose there are more; empty: nothing to say
};

/// The profile for this machine's processor and an MPI, "openmpi", "mpich", or "auto" for the first one that there is.
ExplainedProfile profile_of_machine(const std::string& mpi, const PolicyOptions& options) {
  const select::ProfileSetting setting = select::profile_setting();
  const MpiLibrary* const wanted = mpi_named(mpi);
  const std::string processor = processor_name();
  ExplainedProfile result;
  std::string others;
  for (const select::ProfileKey& key : select::known_keys(setting)) {
    if (key.processor != processor) continue;
    if (wanted != nullptr && !key.library.starts_with(std::string(wanted->title) + " ")) continue;
    if (!result.found.file.empty()) {
      others += (others.empty() ? "" : ", ") + key.library;
      continue;
    }
    result.found = select::find_profile(key, setting, options);
    result.library = key.library;
  }
  if (result.found.file.empty()) {
    result.note = !setting.off.empty()
                      ? setting.off
                      : fmt::format("there is none for {} on '{}'",
                                    wanted == nullptr ? "any MPI" : std::string(wanted->title), processor);
  } else if (!others.empty()) {
    result.note = fmt::format("there are more, for {}; --mpi says which", others);
  }
  return result;
}

/// The profile, or why there is none, in a line.
std::string profile_text(const ExplainedProfile& profile) {
  if (profile.found.file.empty()) return "none: " + profile.note;
  return fmt::format("{} ({}{})", profile.found.file, profile.library, profile.note.empty() ? "" : "; " + profile.note);
}

std::string as_text(const ExplainOptions& options, const CallFacts& facts, const Decision& decision,
                    const Machine& machine, const std::optional<ExplainedProfile>& profile) {
  std::string text = fmt::format(
      "call       {}, p = {}, {} bytes{}{}\n", options.collective, facts.p, facts.bytes, operator_text(options, facts),
      facts.cores > 1 ? fmt::format(", on {} nodes of {}", nodes_of(facts), facts.cores) : "");
  text += fmt::format("policy     {}\n", options.policy);
  if (profile) text += fmt::format("profile    {}\n", profile_text(*profile));
  text += fmt::format(
      "machine    {}: alpha {:.4g} us, beta {:.4g} ns/B, gamma {:.4g} ns/B, f_alpha {:.3g}, f_beta {:.3g}{}{}\n",
      machine.name, machine.alpha_s * 1e6, machine.beta_s_per_byte * 1e9, machine.gamma_s_per_byte * 1e9,
      machine.f_alpha, machine.f_beta,
      machine.overhead_s > 0 ? fmt::format(", overhead {:.4g} us one way, {:.4g} us both", machine.overhead_s * 1e6,
                                           std::max(machine.overhead_both_s, machine.overhead_s) * 1e6)
                             : "",
      machine.ports > 1 ? fmt::format(", {} ports", machine.ports) : "");
  for (const NodeWay& way : ways_of(facts, machine)) {
    text += fmt::format(
        "inside     {}, from {} bytes on: alpha {:.4g} us, beta {:.4g} ns/B, gamma {:.4g} ns/B, overhead {:.4g} us\n",
        way.name, way.from_bytes, way.alpha_s * 1e6, way.beta_s_per_byte * 1e9, way.gamma_s_per_byte * 1e9,
        way.overhead_s * 1e6);
  }
  if (const double waiting_s = crowded_s(facts, machine); waiting_s > 0) {
    text += fmt::format("crowded    {:.4g} us more for every message that another one waits for\n", waiting_s * 1e6);
  }
  for (const SlowHost& host : machine.slow_hosts) {
    text += fmt::format("slow host  {}, {:.2g} times: with CIRCOLL_TOPOLOGY it has less to pass on\n", host.name,
                        host.times);
  }
  text += fmt::format("choice     {}\n", decision.selection ? with_params(*decision.selection) : "native");
  text += fmt::format("because    {}\n", decision.reason);
  for (const Candidate& candidate : decision.candidates) {
    text += fmt::format("predicted  {:>12.2f} us  {}\n", candidate.seconds * 1e6, with_params(candidate.selection));
  }
  for (const RuledOut& out : decision.ruled_out) text += fmt::format("ruled out  {}: {}\n", out.id, out.why);
  return text;
}

std::string as_json(const ExplainOptions& options, const CallFacts& facts, const Decision& decision,
                    const Machine& machine, const std::optional<ExplainedProfile>& profile) {
  nlohmann::ordered_json candidates = nlohmann::ordered_json::array();
  for (const Candidate& c : decision.candidates) {
    candidates.push_back({{"algorithm", with_params(c.selection)}, {"predicted_us", c.seconds * 1e6}});
  }
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const RuledOut& r : decision.ruled_out) out.push_back({{"algorithm", r.id}, {"why", r.why}});
  nlohmann::ordered_json ways = nlohmann::ordered_json::array();
  for (const NodeWay& way : ways_of(facts, machine)) {
    ways.push_back({{"name", way.name},
                    {"from_bytes", way.from_bytes},
                    {"alpha_us", way.alpha_s * 1e6},
                    {"beta_ns_per_byte", way.beta_s_per_byte * 1e9},
                    {"gamma_ns_per_byte", way.gamma_s_per_byte * 1e9},
                    {"overhead_us", way.overhead_s * 1e6}});
  }
  nlohmann::ordered_json slow = nlohmann::ordered_json::array();
  for (const SlowHost& host : machine.slow_hosts) slow.push_back({{"name", host.name}, {"times", host.times}});
  const nlohmann::ordered_json json = {{"collective", options.collective},
                                       {"p", facts.p},
                                       {"bytes", facts.bytes},
                                       {"cores", facts.cores},
                                       {"nodes", nodes_of(facts)},
                                       {"policy", decision.policy},
                                       {"profile", profile ? profile->found.file : ""},
                                       {"machine", machine.name},
                                       {"inside", ways},
                                       {"crowded_us", crowded_s(facts, machine) * 1e6},
                                       {"slow_hosts", slow},
                                       {"choice", decision.selection ? with_params(*decision.selection) : "native"},
                                       {"reason", decision.reason},
                                       {"predicted", candidates},
                                       {"ruled_out", out}};
  return json.dump(2) + "\n";
}

/// A neighbourhood collective has no policy. Where blocks stay the same its ranks try both algorithms.
void explain_neighbor(const ExplainOptions& options) {
  const auto ranks = options.ranks > 0 ? std::optional(options.ranks) : std::nullopt;
  NeighborCall call = read_neighbor_call(options.collective, options.graph, ranks);
  const Rank p = call.ranks();
  const Rank nodes = options.nodes.value_or(1);
  const Rank cores = options.cores.value_or(options.nodes ? (p + nodes - 1) / nodes : 1);
  const std::vector<Rank> node_of = node_by_node(p, cores);
  const Count bytes = options.bytes > 0 ? options.bytes : 8;
  const Machine machine = options.machine.empty() ? default_machine() : measured::read_machine_file(options.machine);
  const auto time_s = [&](graphs::HaloWay way) { return seconds(call.halo, way, node_of, bytes, machine); };
  const double direct_s = time_s(graphs::HaloWay::direct);
  const bool spans_nodes = node_of.back() > 0;
  const double node_aware_s = spans_nodes ? time_s(graphs::HaloWay::node_aware) : direct_s;
  if (!call.named && node_aware_s < direct_s) call.choose(graphs::HaloWay::node_aware);
  const std::string reason =
      spans_nodes ? fmt::format(
                        "predicted {} by direct, {} by node_aware on machine {}; programs whose blocks keep "
                        "their sizes try both",
                        readable_time(direct_s), readable_time(node_aware_s), machine.name)
                  : "all ranks share one node; CIRCOLL_NEIGHBOR=native leaves the call to the MPI library";
  if (options.json) {
    nlohmann::ordered_json json = {{"collective", to_string(call.halo.function)},
                                   {"p", p},
                                   {"bytes", bytes},
                                   {"cores", cores},
                                   {"choice", call.id},
                                   {"reason", reason},
                                   {"direct_us", direct_s * 1e6},
                                   {"node_aware_us", node_aware_s * 1e6}};
    json.update(traffic_as_json(call, node_of, bytes));
    print(json.dump(2) + "\n");
    return;
  }
  print(fmt::format("call       {}, p = {}, values of {}{}\n{}choice     {}\nbecause    {}\n",
                    to_string(call.halo.function), p, readable_bytes(bytes),
                    cores > 1 ? fmt::format(", on {} nodes of {}", node_of.back() + 1, cores) : "",
                    traffic_in_words(call, node_of, bytes), call.id, reason));
}

void explain(const ExplainOptions& options) {
  if (is_neighbor_word(options.collective)) return explain_neighbor(options);
  refuse_graph(options.collective, options.graph);
  if (options.ranks == 0) throw CLI::RequiredError("--ranks");
  PolicyOptions settings{.machine = default_machine(), .allow_rank_divergence = options.allow_rank_divergence};
  if (!options.machine.empty()) settings.machine = measured::read_machine_file(options.machine);
  const CallFacts facts = facts_from(options);
  // Profiles are of ranks that share one node, but for the rules of programs.
  std::optional<ExplainedProfile> profile;
  if (options.policy == "auto" && facts.p > 1 && (nodes_of(facts) == 1 || !options.program.empty())) {
    profile = profile_of_machine(options.mpi, settings);
    if (!options.program.empty() && !profile->found.file.empty()) {
      profile->note += fmt::format("{}{} rules for {}", profile->note.empty() ? "" : "; ",
                                   profile->found.head.find_program(options.program) != nullptr ? "with" : "without",
                                   options.program);
    }
  }
  measured::require_rules(options.policy);
  const auto policy =
      profile && !profile->found.file.empty()
          ? select::make_profile_policy(profile->found.text, profile->found.file, settings, options.program)
          : make_policy(options.policy, settings);
  // As the drop-in has it. A file leaves calls that it is not for to the policy, a name leaves them to the MPI library.
  const bool from_file = options.algorithm.starts_with(file_prefix);
  const auto named = options.algorithm.empty()
                         ? nullptr
                         : make_fixed_policy(from_file ? selection_of_file(options.algorithm)
                                                       : parse_selection(facts.collective, options.algorithm),
                                             settings, from_file ? policy.get() : nullptr);
  const Decision decision = (named ? *named : *policy).decide(facts);
  print(options.json ? as_json(options, facts, decision, policy->machine(), profile)
                     : as_text(options, facts, decision, policy->machine(), profile));
}

}  // namespace

void add_explain(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "Show which algorithm serves a call, and why");
  const auto no_algorithm = [](const std::string& word) {
    return word.find('/') == std::string::npos || is_neighbor_word(word)
               ? std::string()
               : fmt::format(
                     "'{}' is an algorithm: explain says which one is chosen for a collective ({}), "
                     "circoll list {} what is known of this one",
                     word, word.substr(0, word.find('/')), word);
  };
  command->add_option("collective", options->collective, "Collective, or neighbor_alltoall and so on with a graph")
      ->required()
      ->transform(neighbor_word_or(collective_name()))
      ->transform(CLI::Validator(no_algorithm, ""));  // looked at first
  command->add_option("-p,--ranks", options->ranks, "Number of ranks (with a graph: all its vertices by default)")
      ->transform(whole_number())
      ->check(options::between(Rank{1}, (Rank{1} << 31) - 1));
  command->add_option("-b,--bytes", options->bytes, "The vector (Ki, Mi, Gi): all blocks, where each rank has one")
      ->transform(number_of_bytes())
      ->capture_default_str();
  command->add_option("--cores", options->cores, "Ranks on a node, the most of any (default: 1, or what --nodes makes)")
      ->transform(whole_number())
      ->check(options::between(Rank{1}, (Rank{1} << 31) - 1));
  command
      ->add_option("--nodes", options->nodes, "Nodes with ranks on them (default: as many as --cores fills in order)")
      ->transform(whole_number())
      ->check(options::between(Rank{1}, (Rank{1} << 31) - 1));
  command->add_flag("--crowded", options->crowded, "Nodes have fewer processors than ranks");
  command->add_option("-t,--type", options->type, "Element type")->transform(type_name())->capture_default_str();
  command->add_option("-o,--op", options->op, "Operator of reductions")->transform(op_name())->capture_default_str();
  command->add_flag("--user-op", options->user_op, "The operator is the caller's function");
  command->add_flag("--noncommutative", options->noncommutative, "It is, and does not commute");
  command->add_option("--policy", options->policy, "auto, model, classic, openmpi_fixed, native or file:PATH")
      ->type_name("POLICY")
      ->capture_default_str();
  command
      ->add_option("--algorithm", options->algorithm,
                   "As if a variable named it (CIRCOLL_BCAST): ALGORITHM[:param=value,...], or file:PATH")
      ->type_name("ALGORITHM");
  command
      ->add_option("--mpi", options->mpi,
                   "The MPI whose profile auto goes by on one node; auto: the first that there is")
      ->check(CLI::IsMember({"auto", "openmpi", "mpich"}))
      ->capture_default_str();
  command->add_option("--program", options->program, "The program whose rules in the profile count, too (cg, sgd.py)");
  command->add_option("--machine", options->machine,
                      "Machine file of the model (circoll calibrate), or leonardo or lumi");
  command->add_flag("--allow-rank-divergence", options->allow_rank_divergence,
                    "As with CIRCOLL_ALLOW_RANK_DIVERGENCE=1");
  add_graph_options(*command, options->graph);
  command->add_flag("--json", options->json, "As JSON");
  command->footer(
      "Examples:\n"
      "  circoll explain allreduce -p 64 --bytes 8Ki --type float32 --op sum\n"
      "  circoll explain allreduce -p 6 --bytes 128Ki --policy openmpi_fixed\n"
      "  circoll explain reduce_scatter_block -p 1152 --cores 32 --bytes 8Mi\n"
      "  circoll explain allreduce -p 2 --nodes 1 --bytes 4Ki --mpi openmpi\n"
      "  circoll explain allreduce -p 2 --nodes 1 --bytes 4Ki --program cg\n"
      "  circoll explain bcast -p 16 --nodes 4 --bytes 1Mi --policy file:rules.json\n"
      "  circoll explain bcast -p 4 --bytes 1Ki --algorithm file:mine.json\n"
      "  circoll explain neighbor_alltoallv --graph mesh.mtx -p 16 --cores 4 --bytes 8\n"
      "Rules are described in docs/admin/rules.md.");
  command->callback([options] { explain(*options); });
}

}  // namespace circoll::cli
