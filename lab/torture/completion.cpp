// The calls that complete requests, each checked by what MPI says of it.
#include <sched.h>

#include <array>
#include <cstddef>
#include <utility>

#include "lane.hpp"

namespace circoll::torture {
namespace {

enum class Way { wait, waitall, waitany, waitsome, test, testall, testany, testsome, get_status };

/// One completion call on an array of requests.
class Call {
 public:
  /// Null requests among the chosen, unless there is but one.
  Call(Random& random, const std::vector<Pending*>& chosen, const Complaint& complain)
      : complain_(complain), wants_status_(random.percent(50)) {
    const int nulls = chosen.size() == 1 ? 0 : 10;
    for (Pending* pending : chosen) {
      if (random.percent(nulls)) add(nullptr);
      add(pending);
    }
    if (random.percent(nulls)) add(nullptr);
    statuses_.resize(requests_.size());
    indices_.resize(requests_.size());
  }

  std::vector<Pending*> run(Way way) {
    const int n = static_cast<int>(requests_.size());
    MPI_Status* const statuses = wants_status_ ? statuses_.data() : MPI_STATUSES_IGNORE;
    MPI_Status* const status = wants_status_ ? statuses_.data() : MPI_STATUS_IGNORE;
    int index = MPI_UNDEFINED, count = 0, flag = 0;
    switch (way) {
      case Way::wait:
        check(MPI_Wait(requests_.data(), status), "MPI_Wait");
        complete(0, 0);
        break;
      case Way::test:
        check(MPI_Test(requests_.data(), &flag, status), "MPI_Test");
        if (flag != 0) complete(0, 0);
        break;
      case Way::waitall:
        check(MPI_Waitall(n, requests_.data(), statuses), "MPI_Waitall");
        complete_all();
        break;
      case Way::testall:
        check(MPI_Testall(n, requests_.data(), &flag, statuses), "MPI_Testall");
        if (flag != 0) complete_all();
        break;
      case Way::waitany:
        check(MPI_Waitany(n, requests_.data(), &index, status), "MPI_Waitany");
        if (index == MPI_UNDEFINED) complain_("MPI_Waitany saw no active request");
        if (index != MPI_UNDEFINED) complete(index, 0);
        break;
      case Way::testany:
        check(MPI_Testany(n, requests_.data(), &index, &flag, status), "MPI_Testany");
        if (flag != 0 && index == MPI_UNDEFINED) complain_("MPI_Testany saw no active request");
        if (flag != 0 && index != MPI_UNDEFINED) complete(index, 0);
        break;
      case Way::waitsome:
        check(MPI_Waitsome(n, requests_.data(), &count, indices_.data(), statuses), "MPI_Waitsome");
        if (count == MPI_UNDEFINED || count == 0) complain_("MPI_Waitsome completed nothing");
        complete_listed(count);
        break;
      case Way::testsome:
        check(MPI_Testsome(n, requests_.data(), &count, indices_.data(), statuses), "MPI_Testsome");
        if (count == MPI_UNDEFINED) complain_("MPI_Testsome saw no active request");
        complete_listed(count);
        break;
      case Way::get_status:
        check(MPI_Request_get_status(requests_[0], &flag, status), "MPI_Request_get_status");
        if (flag == 0) break;
        flag = 0;
        check(MPI_Test(requests_.data(), &flag, status), "MPI_Test");
        if (flag == 0) complain_("MPI_Test does not complete what MPI_Request_get_status called complete");
        if (flag != 0) complete(0, 0);
        break;
    }
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (owners_[i] != nullptr) owners_[i]->request = requests_[i];
    }
    for (const auto& [pending, status_at] : completed_) finish(pending, status_at);
    std::vector<Pending*> result;
    for (const auto& [pending, status_at] : completed_) result.push_back(pending);
    return result;
  }

 private:
  void add(Pending* pending) {
    owners_.push_back(pending);
    requests_.push_back(pending == nullptr ? MPI_REQUEST_NULL : pending->request);
  }
  void check(int rc, const char* call) {
    if (rc == MPI_SUCCESS) return;
    int error_class = 0;
    MPI_Error_class(rc, &error_class);
    complain_(std::string(call) + " returns error class " + std::to_string(error_class));
  }
  void complete(int index, std::size_t status_at) {
    const auto i = static_cast<std::size_t>(index);
    if (i >= owners_.size() || owners_[i] == nullptr) return complain_("a completion call names a null request");
    completed_.emplace_back(owners_[i], status_at);
  }
  void complete_all() {
    for (std::size_t i = 0; i < owners_.size(); ++i) {
      if (owners_[i] != nullptr) completed_.emplace_back(owners_[i], i);
    }
  }
  void complete_listed(int count) {
    if (count == MPI_UNDEFINED) return;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) complete(indices_[i], i);
  }
  void finish(Pending* pending, std::size_t status_at) {
    if (!pending->persistent && pending->request != MPI_REQUEST_NULL) complain_("a complete request is not null");
    if (pending->persistent && pending->request == MPI_REQUEST_NULL) complain_("a persistent request became null");
    pending->done(wants_status_ ? &statuses_[status_at] : nullptr);
  }

  const Complaint& complain_;
  bool wants_status_;
  std::vector<Pending*> owners_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<int> indices_;
  std::vector<std::pair<Pending*, std::size_t>> completed_;
};

}  // namespace

std::vector<Pending*> complete_some(Random& random, const std::vector<Pending*>& all, const Complaint& complain) {
  constexpr std::array ways{Way::wait, Way::waitall, Way::waitany, Way::waitsome, Way::test,
                            Way::test, Way::testall, Way::testany, Way::testsome, Way::get_status};
  const Way way = random.pick(ways);
  std::vector<Pending*> chosen;
  const bool single = way == Way::wait || way == Way::test || way == Way::get_status;
  if (single) {
    chosen.push_back(random.pick(all));
    return Call(random, chosen, complain).run(way);
  }
  const auto share = static_cast<int>(random.between(10, 110));
  for (Pending* pending : all) {
    if (random.percent(share)) chosen.push_back(pending);
  }
  if (chosen.empty()) chosen.push_back(random.pick(all));
  for (std::size_t i = chosen.size(); i > 1; --i) {
    std::swap(chosen[i - 1], chosen[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
  return Call(random, chosen, complain).run(way);
}

std::vector<Pending*> complete_one(Random& random, Pending* pending, const Complaint& complain) {
  constexpr std::array ways{Way::wait, Way::waitall, Way::waitany, Way::waitsome, Way::test, Way::testsome};
  while (true) {
    std::vector<Pending*> completed = Call(random, {pending}, complain).run(random.pick(ways));
    if (!completed.empty()) return completed;
    sched_yield();
  }
}

}  // namespace circoll::torture
