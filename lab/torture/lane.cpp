// One thread's steps of a case, as a rank makes them.
#include "lane.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "calls.hpp"
#include "quirks.hpp"
#include "watchdog.hpp"

namespace circoll::torture {
namespace {

constexpr int first_tag = 100;

std::uint64_t hash_bytes(std::span<const std::byte> bytes) {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const std::byte b : bytes) h = (h ^ static_cast<std::uint64_t>(b)) * 0x100000001b3U;
  return h;
}

int world_rank() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

std::string error_text(int rc) {
  int length = 0;
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  PMPI_Error_string(rc, text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  return fmt::format("error class {}: {}", error_class(rc), text);
}

/// Contents that say which message it is, and from whom.
void write_message(std::vector<int>& data, const PointToPoint& message, int rank) {
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int>(hash(message.id, rank, i) % 1000003);
}

}  // namespace

Lane::Lane(const Case& c, int number, std::vector<Communicator>& comms)
    : case_(c),
      number_(number),
      comms_(comms),
      random_(hash(c.seed, c.number, world_rank(), number)),
      haste_(c.busy ? static_cast<int>(random_.between(0, 90)) : 0),
      complain_([this](const std::string& what) { fail(what); }) {}

void Lane::fail(const std::string& what) {
  const auto& steps = case_.lanes[static_cast<std::size_t>(number_)];
  const std::string where = at_ < static_cast<int>(steps.size()) && at_ >= 0 ? fmt::format(" (at step {})", at_)
                                                                             : std::string(" (after the last step)");
  failures_.push_back(what + where);
}

void Lane::check(int rc, const Operation& operation, const char* when) {
  if (rc != MPI_SUCCESS) fail(fmt::format("{}: {} returns {}", describe(case_, operation), when, error_text(rc)));
}

void Lane::run() {
  const std::vector<Step>& steps = case_.lanes[static_cast<std::size_t>(number_)];
  for (at_ = 0; at_ < static_cast<int>(steps.size()); ++at_) {
    watch_step(number_, at_, static_cast<int>(pending_.size()));
    step(steps[static_cast<std::size_t>(at_)]);
    while (!pending_.empty() && random_.percent(haste_)) {
      forget(complete_some(random_, pending_, complain_));
    }
  }
  while (!pending_.empty()) {
    const std::vector<Pending*> completed = complete_some(random_, pending_, complain_);
    if (completed.empty()) {
      sched_yield();
    } else {
      watch_step(number_, at_, static_cast<int>(pending_.size()));
    }
    forget(completed);
  }
}

void Lane::forget(const std::vector<Pending*>& completed) {
  for (Pending* pending : completed) std::erase(pending_, pending);
}

void Lane::finish(Pending* pending) {
  if (std::ranges::find(pending_, pending) != pending_.end()) forget(complete_one(random_, pending, complain_));
}

void Lane::step(const Step& step) {
  const auto index = static_cast<std::size_t>(step.index);
  switch (step.kind) {
    case StepKind::create_comm:
      return create_comm(step.index);
    case StepKind::free_comm:
      return free_comm(step.index);
    case StepKind::message:
      if (comm(case_.messages[index].comm).member()) exchange(case_.messages[index]);
      return;
    case StepKind::mistake:
      return err(case_.mistakes[index]);
    case StepKind::idle:
      return dawdle();
    default:
      break;
  }
  const Operation& operation = case_.operations[index];
  if (!comm(operation.comm).member() || left_out(operation)) return;
  switch (step.kind) {
    case StepKind::init: {
      Active& active = make(operation);
      active.pending.persistent = true;
      const int rc = call(called(operation), Mode::persistent, active.instance->arguments(comm(operation.comm).comm),
                          operation.large, &active.pending.request);
      check(rc, operation, "MPI_*_init");
      active.instance->drop_arrays();
      return;
    }
    case StepKind::finish:
      return finish(&active_.at(operation.id).pending);
    case StepKind::free_request: {
      Active& active = active_.at(operation.id);
      if (active.pending.request != MPI_REQUEST_NULL) {
        check(MPI_Request_free(&active.pending.request), operation, "MPI_Request_free");
      }
      active.instance->scribble_counts();
      return;
    }
    default:
      return start(operation, step.execution);
  }
}

/// True if the operation goes on when its types, operator and communicator are freed.
bool Lane::outlives_handles(const Operation& operation) const {
  return !needs_handles_natively() || !may_be_native(operation);
}

/// True if the MPI library itself serves it, or may.
bool Lane::may_be_native(const Operation& operation) const {
  return case_.may_be_native || is_native(called(operation), operation.mode, operation.large);
}

bool Lane::left_out(const Operation& operation) const {
  const int size = comms_[static_cast<std::size_t>(operation.comm)].size;
  // On one rank the library serves calls among neighbours, and the first calls of any other collective.
  const bool native = may_be_native(operation) || ((operation.neighbor || operation.has_types) && size == 1);
  return native && is_broken_natively(operation, operation.mode, size);
}

void Lane::create_comm(int index) {
  const CommSpec& spec = case_.comms[static_cast<std::size_t>(index)];
  comm(index) = make_communicator(spec, comm(spec.parent));
}

void Lane::free_comm(int index) {
  if (comm(index).comm == MPI_COMM_NULL) return;
  // Pending operations end by themselves, MPI says; half of the ranks do not rely on it.
  const bool patient = random_.percent(50);
  for (auto& [id, active] : active_) {
    const Operation& operation = case_.operations[static_cast<std::size_t>(id)];
    if (operation.comm == index && (patient || !outlives_handles(operation))) finish(&active.pending);
  }
  MPI_Comm_free(&comm(index).comm);
}

Lane::Active& Lane::make(const Operation& operation) {
  Active& active = active_[operation.id];
  const Communicator& c = comm(operation.comm);
  active.instance = std::make_unique<Instance>(operation, c.rank, c.size, c.topology.get());
  active.pending.done = [this, &active](const MPI_Status*) { complete(active); };
  return active;
}

void Lane::start(const Operation& operation, int execution) {
  Active& active = operation.mode == Mode::persistent ? active_.at(operation.id) : make(operation);
  active.execution = execution;
  active.instance->fill(execution);
  active.sent = hash_bytes(active.instance->send().memory.bytes());
  active.under_way = true;
  if (operation.mode == Mode::persistent) {
    start_persistent(active);
  } else {
    check(call(called(operation), operation.mode, active.instance->arguments(comm(operation.comm).comm),
               operation.large, &active.pending.request),
          operation, "the call");
    if (operation.mode == Mode::blocking) return complete(active);
  }
  if (active.pending.request == MPI_REQUEST_NULL) return complete(active);  // failed, and said so
  if (operation.mode == Mode::nonblocking) active.instance->drop_arrays();
  if (operation.freed_early && outlives_handles(operation)) active.instance->free_handles();
  pending_.push_back(&active.pending);
}

void Lane::start_persistent(Active& active) {
  const Operation& operation = active.instance->operation();
  if (!case_.busy || random_.percent(60)) return check(MPI_Start(&active.pending.request), operation, "MPI_Start");
  // One call starts it and native requests, in any order.
  std::vector<Pending*> together{&active.pending};
  if (random_.percent(70)) {
    Companion& companion = make_companion();
    together.insert(together.begin() + random_.below(2), &companion.receive);
    together.insert(together.begin() + random_.below(3), &companion.send);
    pending_.push_back(&companion.receive);
    pending_.push_back(&companion.send);
  }
  std::vector<MPI_Request> requests(together.size());
  for (std::size_t i = 0; i < together.size(); ++i) requests[i] = together[i]->request;
  check(MPI_Startall(static_cast<int>(requests.size()), requests.data()), operation, "MPI_Startall");
  for (std::size_t i = 0; i < together.size(); ++i) together[i]->request = requests[i];
}

Lane::Companion& Lane::make_companion() {
  constexpr int first_companion_tag = 1000, tags_of_a_lane = 10000;
  const int tag = first_companion_tag + number_ * tags_of_a_lane + static_cast<int>(companions_.size());
  Companion& c = companions_.emplace_back();
  for (std::size_t i = 0; i < c.out.size(); ++i) c.out[i] = static_cast<int>(hash(tag, i) % 1000003);
  c.send.persistent = c.receive.persistent = true;
  c.send.done = [](const MPI_Status*) {};
  c.receive.done = [this, &c](const MPI_Status*) {
    if (c.in != c.out) fail("a persistent message to itself is not what was sent");
  };
  const int n = static_cast<int>(c.out.size());
  MPI_Send_init(c.out.data(), n, MPI_INT, 0, tag, MPI_COMM_SELF, &c.send.request);
  MPI_Recv_init(c.in.data(), n, MPI_INT, 0, tag, MPI_COMM_SELF, &c.receive.request);
  return c;
}

void Lane::complete(Active& active) {
  Instance& instance = *active.instance;
  const Operation& operation = instance.operation();
  active.under_way = false;
  if (hash_bytes(instance.send().memory.bytes()) != active.sent) {
    fail(describe(case_, operation) + ": the send buffer was written");
  }
  const std::span<const std::byte> received = instance.recv().memory.bytes();
  records_.push_back({&operation, active.execution, {received.begin(), received.end()}});
  instance.scribble();
  if (operation.mode != Mode::persistent) instance.scribble_counts();
}

void Lane::err(const Mistake& mistake) {
  const Operation& operation = case_.operations[static_cast<std::size_t>(mistake.operation)];
  const Communicator& c = comm(operation.comm);
  if (!c.member()) return;
  if (makes(mistake, c.rank, c.size) && refuses_natively(operation, mistake.mode, mistake.fault)) {
    const std::string wrong = make_mistake(mistake, operation, c);
    if (!wrong.empty()) fail(describe(case_, mistake) + ": " + wrong);
  }
  // Ranks that wait for others inside the wrong call do not come to this barrier.
  if (mistake.met && c.oracle != MPI_COMM_NULL) PMPI_Barrier(c.oracle);
}

void Lane::exchange(const PointToPoint& message) {
  const Communicator& c = comm(message.comm);
  const bool wild = case_.comms[static_cast<std::size_t>(message.comm)].wild;
  const int shift = static_cast<int>(message.shift % static_cast<std::uint64_t>(c.size));
  const int to = (c.rank + shift) % c.size;
  // Wild receives match what they should nevertheless: tags are the messages' own, and a pair's messages keep order.
  const int from = wild && message.id % 2 == 0 ? MPI_ANY_SOURCE : (c.rank - shift + c.size) % c.size;
  const int tag = first_tag + message.id;
  const int recv_tag = wild && message.id % 2 == 1 ? MPI_ANY_TAG : tag;
  Exchange& e = exchanges_[message.id];
  e.out.resize(static_cast<std::size_t>(message.length));
  e.in.resize(static_cast<std::size_t>(message.length));
  write_message(e.out, message, c.rank);
  if (message.blocking) {
    MPI_Status status;
    MPI_Sendrecv(e.out.data(), message.length, MPI_INT, to, tag, e.in.data(), static_cast<int>(e.in.size()), MPI_INT,
                 from, recv_tag, c.comm, &status);
    return check_message(message, e, &status);
  }
  e.receive.done = [this, &message, &e](const MPI_Status* status) { check_message(message, e, status); };
  e.send.done = [](const MPI_Status*) {};
  MPI_Irecv(e.in.data(), static_cast<int>(e.in.size()), MPI_INT, from, recv_tag, c.comm, &e.receive.request);
  auto* const send = message.synchronous ? &MPI_Issend : &MPI_Isend;
  send(e.out.data(), message.length, MPI_INT, to, tag, c.comm, &e.send.request);
  pending_.push_back(&e.receive);
  pending_.push_back(&e.send);
}

void Lane::check_message(const PointToPoint& message, const Exchange& e, const MPI_Status* status) {
  const Communicator& c = comm(message.comm);
  const int source = (c.rank - static_cast<int>(message.shift % static_cast<std::uint64_t>(c.size)) + c.size) % c.size;
  std::vector<int> want(e.in.size());
  write_message(want, message, source);
  if (want != e.in)
    fail(fmt::format("message m{} is not what rank {} of comm {} sent", message.id, source, message.comm));
  if (status == nullptr) return;
  int length = 0;
  PMPI_Get_count(status, MPI_INT, &length);
  if (length != message.length || status->MPI_SOURCE != source || status->MPI_TAG != first_tag + message.id) {
    fail(fmt::format("the status of message m{} says {} ints from rank {} with tag {}", message.id, length,
                     status->MPI_SOURCE, status->MPI_TAG));
  }
}

/// Computes, sleeps, or gives the core away, for some time up to a millisecond.
void Lane::dawdle() {
  if (!case_.busy || random_.percent(40)) return;
  if (random_.percent(30)) {
    ::usleep(static_cast<unsigned>(random_.between(1, 1000)));
    return;
  }
  volatile std::uint64_t x = 0;
  for (std::int64_t i = random_.between(0, 300000); i-- > 0;) x = x + static_cast<std::uint64_t>(i);
}

void Lane::check_leftovers() {
  for (const auto& [id, active] : active_) {
    const Operation& operation = case_.operations[static_cast<std::size_t>(id)];
    if (!active.instance->still_scribbled()) {
      fail(describe(case_, operation) + ": a buffer was written after the operation was complete");
    }
  }
}

void Lane::free_instances() {
  active_.clear();
  exchanges_.clear();
  for (Companion& companion : companions_) {
    MPI_Request_free(&companion.send.request);
    MPI_Request_free(&companion.receive.request);
  }
  companions_.clear();
}

}  // namespace circoll::torture
