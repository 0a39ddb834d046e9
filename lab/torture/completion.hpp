// Completes requests by a random call of the many that MPI has for it.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "random.hpp"

namespace circoll::torture {

struct Pending {
  MPI_Request request = MPI_REQUEST_NULL;
  bool persistent = false;
  /// Called once the request is complete; the status is null where none was asked for.
  std::function<void(const MPI_Status*)> done;
};

/// The complaint about a completion; empty if it is right.
using Complaint = std::function<void(const std::string&)>;

/// One call on some of these requests, at random. Calls done() of those that it completes and returns them.
std::vector<Pending*> complete_some(Random& random, const std::vector<Pending*>& all, const Complaint& complain);

/// Calls until this one is complete. The others of `all` may complete on the way; all that did are returned.
std::vector<Pending*> complete_one(Random& random, Pending* pending, const Complaint& complain);

}  // namespace circoll::torture
