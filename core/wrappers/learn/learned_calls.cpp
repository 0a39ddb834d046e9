#include "wrappers/learn/learned_calls.hpp"

#include <algorithm>

#include "circoll/collectives.hpp"
#include "schedule/registry.hpp"

namespace circoll::interpose {

std::optional<BitClass> KnownBits::of(const Selection& selection, const CallFacts& facts, int root,
                                      const PolicyOptions& options) {
  if (facts.p > most_ranks) return std::nullopt;
  // A window changes no bit, and takes twice the steps.
  const Selection whole = without_window(completed(selection, facts.p, facts.bytes, options.machine));
  const Shape shape{.size = facts.p, .root = is_rooted(facts.collective) ? root : 0, .params = whole.params};
  const BitsOf operators = facts.predefined_op ? BitsOf::commuting : BitsOf::any;
  Key key{std::string(to_string(facts.collective)) + '/' + whole.text(), shape.root, operators};
  const auto known = classes_.find(key);
  if (known != classes_.end()) return known->second;
  constexpr std::size_t most = 1024;  // of a program whose sizes never come again
  if (classes_.size() >= most) classes_.clear();
  return classes_.emplace(std::move(key), bit_class(*whole.algorithm, facts.collective, shape, operators))
      .first->second;
}

void LearnedEverywhere::enter(LearnedCalls* calls) {
  const std::lock_guard lock(mutex_);
  present_.push_back(calls);
}

void LearnedEverywhere::leave(LearnedCalls* calls) {
  const std::lock_guard lock(mutex_);
  std::erase(present_, calls);
  if (calls->rank() == 0) gone_.add(calls->learned());
}

Learned LearnedEverywhere::learned() const {
  const std::lock_guard lock(mutex_);
  Learned all = gone_;
  for (const LearnedCalls* calls : present_) {
    if (calls->rank() == 0) all.add(calls->learned());
  }
  return all;
}

LearnedCalls::~LearnedCalls() {
  if (everywhere_ != nullptr) everywhere_->leave(this);
}

Learned LearnedCalls::learned() const {
  Learned learned{.in_collectives_s = account_.in_collectives_s(), .tried_s = std::max(0.0, account_.tried_s())};
  for (const auto& [kind, one] : groups_) {
    learn::Group group = one.group;
    learn::Account account = account_;
    group.passed_over(one.granted - one.passing, account);
    LearnedRow row{.calls = group.calls(),
                   .searches = group.searches(),
                   .settled = group.settled(),
                   .unlearned = one.candidates.front().name,
                   .use = group.best() == 0 ? "auto" : one.candidates[group.best()].name,
                   .best_s = group.best_s(),
                   .gain = group.gain(),
                   .saved_s = group.saved_s(),
                   .spent_s = group.spent_s()};
    for (std::size_t i = 0; i < one.candidates.size(); ++i) {
      const learn::Group::Tried& tried = group.tried()[i];
      if (tried.calls == 0) continue;
      row.tried.push_back({.name = one.candidates[i].name,
                           .ratio = tried.rival_s > 0 ? tried.median_s / tried.rival_s : 0,
                           .calls = tried.calls});
    }
    learned.add(one.key, row);
  }
  return learned;
}

void LearnedCalls::remember(const mpi::CallShape& shape, const KnownGroup& known) {
  if (entries_.empty()) entries_.resize(std::size_t{1} << place_bits_);
  while (!enter({shape, known, true}) && place_bits_ < most_bits) {
    std::vector<Entry> before(std::size_t{1} << ++place_bits_);
    before.swap(entries_);
    for (const Entry& entry : before) {
      if (entry.used) (void)enter(entry);
    }
  }
}

std::vector<double>& LearnedCalls::times_to_agree_on() {
  clear();  // its buffer is to be filled anew
  agreement_ = {};
  for (auto& [kind, one] : groups_) agreement_.add(one.group);
  agreement_.close(last_agreement_s_);
  return agreement_.seconds();
}

int LearnedCalls::begin_agreement(const learn::Group& group, MPI_Comm comm) {
  const learn::Group::Length length = group.length(account_);
  if (!group.agreement_due() || length == learn::Group::Length::much) return MPI_SUCCESS;
  if (length == learn::Group::Length::brief) return agree(comm);
  const double begin_s = PMPI_Wtime();
  std::vector<double>& seconds = times_to_agree_on();
  const int rc = PMPI_Iallreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX,
                                 comm, &request_);
  last_agreement_s_ = PMPI_Wtime() - begin_s;
  return rc;
}

int LearnedCalls::end_agreement(const learn::Group& group, MPI_Comm comm) {
  if (request_ == MPI_REQUEST_NULL) {
    const bool now = group.agreement_due() && group.length(account_) == learn::Group::Length::much;
    return now ? agree(comm) : MPI_SUCCESS;
  }
  const double begin_s = PMPI_Wtime();
  if (const int rc = PMPI_Wait(&request_, MPI_STATUS_IGNORE); rc != MPI_SUCCESS) return rc;
  last_agreement_s_ += PMPI_Wtime() - begin_s;
  agreement_.end(account_);
  return MPI_SUCCESS;
}

int LearnedCalls::agree(MPI_Comm comm) {
  const double begin_s = PMPI_Wtime();
  std::vector<double>& seconds = times_to_agree_on();
  const int rc =
      PMPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX, comm);
  if (rc != MPI_SUCCESS) return rc;
  last_agreement_s_ = PMPI_Wtime() - begin_s;
  agreement_.end(account_);
  return MPI_SUCCESS;
}

void LearnedCalls::clear() noexcept {
  // Only a call that has failed leaves one. The other ranks have begun it, too.
  if (request_ != MPI_REQUEST_NULL) (void)PMPI_Wait(&request_, MPI_STATUS_IGNORE);
}

bool LearnedCalls::enter(const Entry& entry) {
  std::size_t place = place_of(entry.shape);
  for (std::size_t i = 0; i < most_probes; ++i, place = (place + 1) & (entries_.size() - 1)) {
    if (entries_[place].used && entries_[place].shape != entry.shape) continue;
    entries_[place] = entry;
    return true;
  }
  return false;
}

}  // namespace circoll::interpose
