// A case on all ranks: its threads' steps, and the outcome.
#pragma once

#include <mpi.h>

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "case.hpp"
#include "communicators.hpp"
#include "evaluate.hpp"
#include "instance.hpp"
#include "random.hpp"

namespace circoll::torture {

// Completion of requests, by a random call of the many that MPI has for it (completion.cpp).

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

// lane.cpp

/// One thread's steps of a case.
class Lane {
 public:
  Lane(const Case& c, int number, std::vector<Communicator>& comms);
  /// All steps; then everything that is pending.
  void run();
  /// Checks that nothing was written after completion.
  void check_leftovers();
  void free_instances();

  [[nodiscard]] const std::vector<std::string>& failures() const { return failures_; }
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }

 private:
  /// An operation whose buffers exist.
  struct Active {
    std::unique_ptr<Instance> instance;
    Pending pending;
    bool under_way = false;
    int execution = 0;
    std::uint64_t sent = 0;  ///< hash of the send buffer
  };
  struct Exchange {
    std::vector<int> out, in;
    Pending send, receive;
  };

  /// A persistent message to itself, started in one call with a persistent collective.
  struct Companion {
    std::array<int, 32> out{}, in{};
    Pending send, receive;
  };

  void step(const Step& step);
  [[nodiscard]] bool left_out(const Operation& operation) const;
  [[nodiscard]] bool outlives_handles(const Operation& operation) const;
  [[nodiscard]] bool may_be_native(const Operation& operation) const;
  void create_comm(int index);
  void free_comm(int index);
  Active& make(const Operation& operation);
  void start(const Operation& operation, int execution);
  void start_persistent(Active& active);
  Companion& make_companion();
  void complete(Active& active);
  void exchange(const PointToPoint& message);
  void err(const Mistake& mistake);
  void check_message(const PointToPoint& message, const Exchange& exchange, const MPI_Status* status);
  void finish(Pending* pending);
  void forget(const std::vector<Pending*>& completed);
  void dawdle();
  void fail(const std::string& what);
  void check(int rc, const Operation& operation, const char* when);
  [[nodiscard]] Communicator& comm(int index) { return comms_[static_cast<std::size_t>(index)]; }

  const Case& case_;
  int number_;
  std::vector<Communicator>& comms_;
  Random random_;
  int haste_;  ///< percent: how often this rank completes something between two steps
  std::map<int, Active> active_;
  std::map<int, Exchange> exchanges_;
  std::deque<Companion> companions_;
  std::vector<Pending*> pending_;
  std::vector<Record> records_;
  std::vector<std::string> failures_;
  Complaint complain_;
  int at_ = -1;
};

// run.cpp

/// The outcome of a case on one rank.
struct CaseResult {
  std::vector<std::string> failures;
  long operations = 0;                    ///< results judged
  std::vector<std::string> native_wrong;  ///< operations of which the native result was wrong and the other was not
};

/// Runs a case. Collective over MPI_COMM_WORLD. `serial`: see judge().
[[nodiscard]] CaseResult run_case(const Case& c, bool serial);

}  // namespace circoll::torture
