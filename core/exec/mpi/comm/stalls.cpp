#include "exec/mpi/comm/stalls.hpp"

#include <sched.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>

#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/comm/globals.hpp"
#include "exec/mpi/comm/long_waits.hpp"
#include "exec/mpi/library/failures.hpp"
#include "exec/mpi/library/library.hpp"
#include "facts/environment.hpp"
#include "facts/text.hpp"

namespace circoll::mpi {
namespace {

/// Questions are looked for so often. A question costs its receiver nothing in between.
constexpr std::chrono::milliseconds serving_interval{250};
/// Letters of one pass, and answers that nobody has taken.
constexpr int most_letters = 64;
constexpr std::size_t most_answers = 256;

std::chrono::seconds patience_setting() {
  const auto text = environment("CIRCOLL_PATIENCE");
  const auto seconds = text ? parse_number(*text) : std::nullopt;
  return std::chrono::seconds(seconds && *seconds >= 0 ? *seconds : 10);
}

/// The calls of the communicator whose messages to this rank have tags from `tag` on. It is nullptr if there is none,
/// or if that cannot be found out now.
const MadeCalls* calls_on(std::int64_t tag, std::unique_lock<std::recursive_mutex>* lock) {
  Globals& global = globals();
  *lock = std::unique_lock(global.comm_mutex, std::try_to_lock);
  if (!lock->owns_lock()) return nullptr;
  const auto found = std::find_if(global.states.begin(), global.states.end(), [&](const CommState* state) {
    return state->is_in_world() && state->offered_tag() == tag;
  });
  return found == global.states.end() ? nullptr : &(*found)->made_calls();
}

}  // namespace

std::atomic<NoteWait>& long_waits() {
  static std::atomic<NoteWait> function{nullptr};
  return function;
}

Stalls& stalls() {
  static auto* const instance = new Stalls;
  return *instance;
}

void Stalls::open(void (*say)(const Stalled&) noexcept) {
  // A program that survives the death of ranks would wait for their answers in MPI_Finalize.
  if (library::waits_inside_mpi || library::outlives_failures() || shared_world() == nullptr) return;
  patience_ = patience_setting();
  say_ = say;
  int rc = MPI_SUCCESS;
  if (CommState::of(MPI_COMM_WORLD, &rc) == nullptr) return;  // its clean-up calls linger()
  comm_ = shared_world()->comm();
  tag_ = shared_world()->stall_tag();
  open_.store(true, std::memory_order_release);
}

bool Stalls::send_last(int rank) {
  Sent& sent = sent_.back();
  const int rc = PMPI_Isend(&sent.letter, sizeof sent.letter, MPI_BYTE, rank, tag_, comm_, &sent.request);
  if (rc != MPI_SUCCESS) sent_.pop_back();
  return rc == MPI_SUCCESS;
}

void Stalls::collect_sent() noexcept {
  for (auto it = sent_.begin(); it != sent_.end();) {
    int done = 0;
    const bool failed = PMPI_Test(&it->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    it = done != 0 || failed ? sent_.erase(it) : std::next(it);
  }
}

void Stalls::ask(const Route& route, Rank peer, std::uint64_t number, const MadeCall& call) noexcept {
  const std::unique_lock lock(lock_, std::try_to_lock);
  if (!lock.owns_lock() || !open_.load(std::memory_order_relaxed)) return;
  const Asked asked{.rank = route.rank(peer), .from = route.range->own(), .number = number};
  if (std::find(asked_.begin(), asked_.end(), asked) != asked_.end()) return;
  try {
    asked_.reserve(asked_.size() + 1);
    sent_.push_back({.letter = {.to = route.range->of(peer),
                                .from = asked.from,
                                .number = number,
                                .question = ++questions_,
                                .word = call.word(),
                                .bytes = call.bytes}});
    if (send_last(asked.rank)) asked_.push_back(asked);
  } catch (const std::bad_alloc&) {
    return;  // it is asked again
  }
}

Stalls::Letter Stalls::answer_to(const Letter& question) const {
  Letter answer{.is_answer = 1,
                .to = question.from,
                .from = question.to,
                .number = question.number,
                .question = question.question};
  const auto verdict = [&](StallVerdict said) { answer.verdict = static_cast<std::uint64_t>(said); };
  std::unique_lock<std::recursive_mutex> lock;
  const MadeCalls* const calls = calls_on(question.to, &lock);
  const MadeCalls::Found found = calls == nullptr ? MadeCalls::Found{} : calls->find(question.number);
  if (found.has_call && found.call != MadeCall::from(question.word, question.bytes)) {
    verdict(StallVerdict::differs);
    answer.word = found.call.word();
    answer.bytes = found.call.bytes;
  } else if (found.course == MadeCalls::Course::ended) {
    verdict(StallVerdict::ended);
  } else if (found.course == MadeCalls::Course::failed) {
    verdict(StallVerdict::failed);
  } else if (finalizes_.load(std::memory_order_relaxed)) {
    verdict(StallVerdict::finalizes);
  }
  return answer;
}

void Stalls::keep(const Letter& answer, int source) {
  const Asked asked{.rank = source, .from = answer.to, .number = answer.number};
  asked_.erase(std::remove(asked_.begin(), asked_.end(), asked), asked_.end());
  if (answers_.size() >= most_answers) answers_.erase(answers_.begin());
  answers_.push_back({.to = answer.to,
                      .number = answer.number,
                      .answer = {.verdict = static_cast<StallVerdict>(answer.verdict),
                                 .source = source,
                                 .question = answer.question,
                                 .call = MadeCall::from(answer.word, answer.bytes)}});
}

void Stalls::receive() {
  for (int i = 0; i < most_letters; ++i) {
    int found = 0;
    MPI_Status status;
    if (PMPI_Iprobe(MPI_ANY_SOURCE, tag_, comm_, &found, &status) != MPI_SUCCESS || found == 0) return;
    sent_.emplace_back();  // of the answer, before the question is taken: it must not be lost
    Letter letter;
    const int rc = PMPI_Recv(&letter, sizeof letter, MPI_BYTE, status.MPI_SOURCE, tag_, comm_, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS && letter.is_answer == 0) {
      sent_.back().letter = answer_to(letter);
      (void)send_last(status.MPI_SOURCE);
      continue;
    }
    sent_.pop_back();
    if (rc != MPI_SUCCESS) return;
    keep(letter, status.MPI_SOURCE);
  }
}

void Stalls::serve() noexcept {
  const std::unique_lock lock(lock_, std::try_to_lock);
  if (!lock.owns_lock() || !open_.load(std::memory_order_relaxed)) return;
  const Clock::time_point now = Clock::now();
  if (now < next_ && !finalizes_.load(std::memory_order_relaxed)) return;
  next_ = now + serving_interval;
  try {
    receive();
  } catch (const std::bad_alloc&) {
    return;  // a letter that has not been received is found again
  }
  collect_sent();
}

std::vector<StallAnswer> Stalls::take_answers(const Route& route, std::uint64_t number) {
  std::vector<StallAnswer> taken;
  const std::unique_lock lock(lock_, std::try_to_lock);
  if (!lock.owns_lock()) return taken;
  const auto rest = std::partition(answers_.begin(), answers_.end(), [&](const Kept& kept) {
    return kept.to != route.range->own() || kept.number != number;
  });
  std::transform(rest, answers_.end(), std::back_inserter(taken), [](const Kept& kept) { return kept.answer; });
  answers_.erase(rest, answers_.end());
  return taken;
}

int Stalls::conclude(const Stalled& stalled) noexcept {
  {
    const std::unique_lock lock(lock_, std::try_to_lock);
    int error_class = MPI_ERR_OTHER, code = MPI_ERR_OTHER;
    if (lock.owns_lock() && error_ == MPI_SUCCESS && PMPI_Add_error_class(&error_class) == MPI_SUCCESS &&
        PMPI_Add_error_code(error_class, &code) == MPI_SUCCESS) {
      char text[] = "circoll: the collective calls of the ranks do not match";  // SimGrid may not have it const
      PMPI_Add_error_string(error_class, text);
      PMPI_Add_error_string(code, text);
      error_ = code;
    }
  }
  if (say_ != nullptr) say_(stalled);
  return error_ == MPI_SUCCESS ? MPI_ERR_OTHER : error_;
}

bool Stalls::all_answered() {
  const std::unique_lock lock(lock_, std::try_to_lock);
  return lock.owns_lock() && asked_.empty();
}

void Stalls::linger() noexcept {
  if (!open_.load(std::memory_order_acquire)) return;
  finalizes_ = true;
  // Ranks that have been asked answer in their own MPI_Finalize at the latest, and no message is left behind.
  while (!all_answered()) {
    serve();
    sched_yield();
  }
  MPI_Request all_there = MPI_REQUEST_NULL;
  int done = PMPI_Ibarrier(comm_, &all_there) == MPI_SUCCESS ? 0 : 1;
  while (done == 0 && PMPI_Test(&all_there, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
    serve();
    sched_yield();
  }
  open_ = false;
  for (Sent& sent : sent_) PMPI_Request_free(&sent.request);
}

}  // namespace circoll::mpi
