// Where a process is in the machine, as far as its job says: the switches above its host (CIRCOLL_TOPOLOGY).
#pragma once

#include <string>

#include "circoll/types.hpp"
#include "select/allocation.hpp"

namespace circoll::select {

/// A process of a job.
struct JobProcess {
  std::string host;  ///< its name
  Rank rank = 0;
  Rank size = 1;  ///< ranks of the job
};

/// The parts of the machine above the host of a process, the coarsest first. Nothing if none is known.
///
/// `setting` is that of CIRCOLL_TOPOLOGY. "off": nothing. "auto": the switches of SLURM_TOPOLOGY_ADDR
/// ("s0.s4.nid000007") if it ends in this host, or else the name of Cray's node in `xname_file`. Otherwise it is a
/// file: a topology.conf of Slurm, which has the host, by this name or that of SLURMD_NODENAME, or a list of the hosts
/// of all ranks as levels_from_text reads it. There a host has one rank unless its line says how many. Throws Error if
/// the file cannot be read, has an error, or does not have the process.
[[nodiscard]] Path path_above(const std::string& setting, const JobProcess& process,
                              const std::string& xname_file = "/etc/cray/xname");

}  // namespace circoll::select
