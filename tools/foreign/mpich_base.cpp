// The tree that exported rules are put into, from a library or a plain one.
#include "foreign/mpich_writer.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "foreign/foreign.hpp"
#include "foreign/mpich_csel.hpp"

namespace circoll::foreign::mpich {
namespace {

constexpr std::string_view first_key = "\"collective=";
constexpr std::uintmax_t most_bytes = std::uintmax_t{512} << 20;

/// The first leaf of a tree by its key's start; empty if there is none.
std::string first_leaf(const Tree& tree, std::string_view start) {
  for (const Tree& member : tree.members) {
    if (std::string_view(member.key).starts_with(start)) return member.key.substr(start.size());
    std::string found = first_leaf(member, start);
    if (!found.empty()) return found;
  }
  return "";
}

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::invalid_argument, what); }

/// Throws unless the version accepts the tree and finds an algorithm for each collective.
void require_whole(const Tree& tree, Version version) {
  const std::string of = "the base is no tree of MPICH " + std::string(to_string(version)) + ": ";
  const SelectionTree selection = make_selection(tree, version);
  if (!selection.refusal.empty()) refuse(of + selection.refusal);
  if (ends_calls(selection)) refuse(of + "some calls find no algorithm in it");
  for (const std::string_view name : tree_collectives()) {
    if (tree.find("collective=" + std::string(name)) == nullptr) refuse(of + "it has nothing for " + std::string(name));
  }
}

/// Members that the plain tree has for collectives, as JSON with the algorithms' names shortened.
struct Plain {
  std::string_view collectives;  ///< separated by commas
  std::string_view intra;
  std::string_view inter;  ///< empty: all communicators alike
};

// Every algorithm here is right for every call that reaches it.
constexpr auto plain_members = std::to_array<Plain>({
    {"bcast", R"({"avg_msg_size<=65536":{"@binomial":{}},"avg_msg_size=any":{"@scatter_ring_allgather":{}}})",
     "remote_send_local_bcast"},
    {"allreduce", R"({"is_op_built_in=no":{"@recursive_doubling":{}},"is_op_built_in=yes":{
      "count<pow2":{"@recursive_doubling":{}},"avg_msg_size<=4096":{"@recursive_doubling":{}},
      "avg_msg_size=any":{"@reduce_scatter_allgather":{}}}})",
     "reduce_exchange_bcast"},
    {"allgather", R"({"total_msg_size<=65536":{"@brucks":{}},"total_msg_size=any":{"@ring":{}}})",
     "local_gather_remote_bcast"},
    {"allgatherv", R"({"total_msg_size<=65536":{"@brucks":{}},"total_msg_size=any":{"@ring":{}}})",
     "remote_gather_local_bcast"},
    {"reduce", R"({"is_op_built_in=no":{"@binomial":{}},"is_op_built_in=yes":{"count<pow2":{"@binomial":{}},
      "avg_msg_size<=4096":{"@binomial":{}},"avg_msg_size=any":{"@reduce_scatter_gather":{}}}})",
     "local_reduce_remote_send"},
    {"reduce_scatter,reduce_scatter_block", R"({"is_commutative=no":{"@recursive_doubling":{}},"is_commutative=yes":{
      "total_msg_size<=262144":{"@recursive_halving":{}},"total_msg_size=any":{"@pairwise":{}}}})",
     "remote_reduce_local_scatter"},
    {"gather,scatter", R"({"@binomial":{}})", "linear"},
    {"gatherv,scatterv", R"({"!linear":{}})", ""},
    {"scan,exscan", R"({"@recursive_doubling":{}})", ""},
    {"barrier", R"({"@dissemination":{}})", "bcast"},
    {"alltoall", R"({"is_sendbuf_inplace=yes":{"@pairwise_sendrecv_replace":{}},"is_sendbuf_inplace=no":{
      "avg_msg_size<=32768":{"@scattered":{}},"avg_msg_size=any":{"@pairwise":{}}}})",
     "pairwise_exchange"},
    {"alltoallv,alltoallw", R"({"is_sendbuf_inplace=yes":{"@pairwise_sendrecv_replace":{}},
      "is_sendbuf_inplace=no":{"@scattered":{}}})",
     "pairwise_exchange"},
    {"neighbor_allgather,neighbor_allgatherv,neighbor_alltoall,neighbor_alltoallv,neighbor_alltoallw", R"({"!nb":{}})",
     ""},
    {"ibarrier", R"({"@sched_recursive_doubling":{}})", "sched_bcast"},
    {"iallreduce", R"({"is_op_built_in=no":{"@sched_recursive_doubling":{}},"is_op_built_in=yes":{
      "count<pow2":{"@sched_recursive_doubling":{}},"avg_msg_size<=4096":{"@sched_recursive_doubling":{}},
      "avg_msg_size=any":{"@sched_reduce_scatter_allgather":{}}}})",
     "sched_remote_reduce_local_bcast"},
    {"iallgather", R"({"total_msg_size<=65536":{"@sched_brucks":{}},"total_msg_size=any":{"@sched_ring":{}}})",
     "sched_local_gather_remote_bcast"},
    {"iallgatherv", R"({"total_msg_size<=65536":{"@sched_brucks":{}},"total_msg_size=any":{"@sched_ring":{}}})",
     "sched_remote_gather_local_bcast"},
    {"ibcast", R"({"avg_msg_size<=65536":{"@sched_binomial":{}},
      "avg_msg_size=any":{"@sched_scatter_ring_allgather":{}}})",
     "sched_flat"},
    {"ireduce", R"({"is_op_built_in=no":{"@sched_binomial":{}},"is_op_built_in=yes":{
      "count<pow2":{"@sched_binomial":{}},"avg_msg_size<=4096":{"@sched_binomial":{}},
      "avg_msg_size=any":{"@sched_reduce_scatter_gather":{}}}})",
     "sched_local_reduce_remote_send"},
    {"ireduce_scatter", R"({"is_commutative=no":{"@sched_recursive_doubling":{}},"is_commutative=yes":{
      "total_msg_size<=262144":{"@sched_recursive_halving":{}},"total_msg_size=any":{"@sched_pairwise":{}}}})",
     "sched_remote_reduce_local_scatterv"},
    {"igather", R"({"@sched_binomial":{}})", "sched_long"},
    {"iscatter", R"({"@sched_binomial":{}})", "sched_linear"},
    {"igatherv,iscatterv", R"({"!sched_linear":{}})", ""},
    {"iexscan", R"({"@sched_recursive_doubling":{}})", ""},
    {"ialltoall", R"({"is_sendbuf_inplace=yes":{"@sched_inplace":{}},"is_sendbuf_inplace=no":{
      "avg_msg_size<=32768":{"@sched_permuted_sendrecv":{}},"avg_msg_size=any":{"@sched_pairwise":{}}}})",
     "sched_pairwise_exchange"},
    {"ialltoallv,ialltoallw",
     R"({"is_sendbuf_inplace=yes":{"@sched_inplace":{}},"is_sendbuf_inplace=no":{"@sched_blocked":{}}})",
     "sched_pairwise_exchange"},
    {"ireduce_scatter_block", R"({"is_commutative=no":{"@sched_recursive_doubling":{}},
      "is_commutative=yes":{"@sched_pairwise":{}}})",
     "sched_remote_reduce_local_scatterv"},
    {"iscan", R"({"@sched_recursive_doubling":{}})", ""},
    {"ineighbor_allgather,ineighbor_allgatherv,ineighbor_alltoall,ineighbor_alltoallv,ineighbor_alltoallw",
     R"({"!sched_linear":{}})", ""},
});

void lengthen(Tree& tree, const std::string& start, Version version) {
  for (Tree& member : tree.members) {
    const char mark = member.key.front();
    if (mark == '@' || mark == '!')
      member.key = "algorithm=" + start + (mark == '@' ? "_intra_" : "_allcomm_") + member.key.substr(1);
    if (member.key == "algorithm=MPIR_Barrier_intra_dissemination" && version >= Version::v4_1) {
      member.key = "algorithm=MPIR_Barrier_intra_k_dissemination";
      member.members = {leaf("k=2")};
    }
    lengthen(member, start, version);
  }
}

/// Directories in which the loader or a package puts libmpich.
std::vector<std::string> library_directories() {
  std::vector<std::string> directories;
  const char* const path = std::getenv("LD_LIBRARY_PATH");
  const std::string_view text = path == nullptr ? "" : path;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(':', at), text.size());
    if (end > at) directories.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  for (const std::string_view usual : {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                       "/usr/lib64/mpich/lib", "/usr/lib/mpich/lib", "/usr/lib64", "/usr/lib"})
    directories.emplace_back(usual);
  return directories;
}

/// The trees in a file, or in a shared library, which has them as strings.
std::vector<Tree> trees_in(std::string_view bytes) {
  std::vector<Tree> trees;
  const auto take = [&](std::size_t from) -> std::size_t {
    try {
      Parsed parsed = parse_tree(bytes, "base", from);
      trees.push_back(std::move(parsed.tree));
      return parsed.end;
    } catch (const Error&) {
      return from + 1;
    }
  };
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return trees;
  std::size_t at = bytes[begin] == '{' ? take(begin) : begin;
  while ((at = bytes.find(first_key, at)) != std::string_view::npos) {
    const std::size_t before = at == 0 ? std::string_view::npos : bytes.find_last_not_of(" \t\r\n", at - 1);
    const bool opens = before != std::string_view::npos && bytes[before] == '{';
    at = std::max(at + 1, opens ? take(before) : at + 1);
  }
  return trees;
}

}  // namespace

Base base_of(std::string_view text, Version version) {
  if (text.empty()) return {.selection = plain_tree(version), .plain = true};
  Base base;
  for (Tree& tree : trees_in(text)) {
    const bool composition = !first_leaf(tree, "composition=").empty();
    if (composition) {
      base.composition = std::move(tree);
    } else if (first_leaf(tree, "algorithm=").starts_with("MPIR_")) {
      base.selection = std::move(tree);
    }
  }
  if (base.selection.members.empty()) refuse("the base has no tree of MPICH's algorithms");
  require_whole(base.selection, version);
  return base;
}

Tree plain_tree(Version version) {
  Tree tree;
  for (const Plain& plain : plain_members) {
    for (const std::string& name : split_list(plain.collectives)) {
      const std::string start = start_of(name);
      Tree intra = parse_tree(plain.intra, "plain tree").tree;
      lengthen(intra, start, version);
      if (plain.inter.empty()) {
        tree.members.push_back(branch("collective=" + name, std::move(intra.members)));
        continue;
      }
      intra.key = "comm_type=intra";
      tree.members.push_back(branch(
          "collective=" + name, {std::move(intra), branch("comm_type=inter", {leaf("algorithm=" + start + "_inter_" +
                                                                                   std::string(plain.inter))})}));
    }
  }
  return tree;
}

std::string flat_composition(const Tree& composition, std::string_view collective) {
  const Tree* const all = composition.find("collective=" + std::string(collective));
  if (all == nullptr) return "";
  // Where a communicator has no nodes of several ranks, nothing is left but the flat one.
  const Tree* at = all;
  for (const std::string_view key : {"comm_type=intra", "comm_size=any", "comm_hierarchy=any"}) {
    const Tree* const next = at->find(key);
    if (next != nullptr) at = next;
  }
  if (at->key != "comm_hierarchy=any") return "";
  return first_leaf(*at, "composition=");
}

}  // namespace circoll::foreign::mpich

namespace circoll::foreign {

std::string read_base(const std::string& path) {
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  if (failed) mpich::refuse("the base '" + path + "' cannot be read: " + failed.message());
  if (size > mpich::most_bytes) mpich::refuse("the base '" + path + "' is larger than 512 MiB");
  std::ifstream file(path, std::ios::binary);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size)))
    mpich::refuse("the base '" + path + "' cannot be read");
  std::string text;
  for (const mpich::Tree& tree : mpich::trees_in(bytes)) text += mpich::to_json(tree);
  if (text.empty()) mpich::refuse("'" + path + "' has no selection tree of MPICH");
  return text;
}

std::optional<InstalledBase> find_base(const Reader& reader) {
  const std::optional<mpich::Version> version = mpich::version_of(reader.id);
  if (!version) return std::nullopt;
  for (const std::string& directory : mpich::library_directories()) {
    for (const std::string_view name : {"libmpich.so.12", "libmpi.so.12"}) {
      const std::string path = directory + "/" + std::string(name);
      try {
        InstalledBase found{.path = path, .text = read_base(path)};
        (void)mpich::base_of(found.text, *version);
        return found;
      } catch (const Error&) {
        continue;  // not there, another MPI's, or of another version
      }
    }
  }
  return std::nullopt;
}

}  // namespace circoll::foreign
