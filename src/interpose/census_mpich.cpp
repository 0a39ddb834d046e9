// The store of hydra, MPICH's launcher, takes lines of the PMI-1 protocol over a socket that each process inherits.
// MPICH speaks the same protocol on the same socket, one request at a time, but not while the drop-in does.
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

#include "interpose/census.hpp"
#include "interpose/launch.hpp"

namespace circoll::interpose {
namespace {

/// Hydra answers at once; a later answer is somebody else's.
constexpr int patience_ms = 60'000;

/// One line after the other, and one answer to each. After a surprise nothing more is said.
class Wire {
 public:
  explicit Wire(int descriptor) : descriptor_(descriptor) {
    int type = 0;
    socklen_t length = sizeof type;
    usable_ = getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
  }

  /// The answer without its end of line; nothing if it is none that begins with `expected`.
  std::optional<std::string> ask(const std::string& request, std::string_view expected) {
    if (!usable_) return std::nullopt;
    usable_ = false;
    const std::string line = request + '\n';
    if (send(descriptor_, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
      return std::nullopt;
    std::string answer;
    while (!answer.ends_with('\n')) {
      pollfd wait{descriptor_, POLLIN, 0};
      int ready = 0;
      do {
        ready = poll(&wait, 1, patience_ms);
      } while (ready < 0 && errno == EINTR);
      std::array<char, 1024> part{};
      const ssize_t got = ready == 1 ? recv(descriptor_, part.data(), part.size(), 0) : 0;
      if (got <= 0) return std::nullopt;
      answer.append(part.data(), static_cast<std::size_t>(got));
    }
    answer.pop_back();
    if (!answer.starts_with(expected)) return std::nullopt;
    usable_ = true;
    return answer;
  }

 private:
  int descriptor_;
  bool usable_ = false;
};

/// The value of `name=` in an answer, up to the next space.
std::optional<std::string> field(std::string_view answer, std::string_view name) {
  const std::string key = " " + std::string(name) + "=";
  const std::size_t found = answer.find(key);
  if (found == std::string_view::npos) return std::nullopt;
  const std::string_view value = answer.substr(found + key.size());
  return std::string(value.substr(0, value.find(' ')));
}

class Hydra final : public Store {
 public:
  Hydra(int descriptor, int rank, int size) : wire_(descriptor), rank_(rank), size_(size) {}

  bool put_mark() override {
    // Hydra forgets what was put before the first init of a node; the one of MPICH comes later.
    const auto begun = wire_.ask("cmd=init pmi_version=1 pmi_subversion=1", "cmd=response_to_init pmi_version=1 ");
    if (!begun || field(*begun, "rc") != "0" || !find_name()) return false;
    const auto done = wire_.ask("cmd=put kvsname=" + name_ + " key=" + key(rank_) + " value=1", "cmd=put_result ");
    return done && field(*done, "rc") == "0";
  }

  bool shows(int world_rank, int world_size, bool own) override {
    if (world_rank != rank_ || world_size != size_ || (name_.empty() && !find_name())) return false;
    return !own || mark_of(rank_) == Presence::present;  // the barrier in MPI_Init has carried this one, and so all
  }

  Presence mark_of(int rank) override {
    const auto answer = wire_.ask("cmd=get kvsname=" + name_ + " key=" + key(rank), "cmd=get_result ");
    if (!answer) return Presence::unsure;
    if (field(*answer, "rc") == "0") return field(*answer, "value") == "1" ? Presence::present : Presence::unsure;
    return answer->find("not_found") == std::string::npos ? Presence::unsure : Presence::absent;
  }

 private:
  static std::string key(int rank) { return "circoll" + std::to_string(rank); }

  bool find_name() {
    const auto answer = wire_.ask("cmd=get_my_kvsname", "cmd=my_kvsname ");
    name_ = answer ? field(*answer, "kvsname").value_or("") : "";
    return !name_.empty();
  }

  Wire wire_;
  int rank_;
  int size_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Store> open_store() {
  const auto descriptor = launch_number("PMI_FD");
  const auto rank = launch_number("PMI_RANK");
  const auto size = launch_number("PMI_SIZE");
  // HYDI_CONTROL_FD is hydra's alone; other launchers speak other protocols on PMI_FD.
  if (!descriptor || !rank || !size || *size < 2 || !launch_number("HYDI_CONTROL_FD")) return nullptr;
  return std::make_unique<Hydra>(*descriptor, *rank, *size);
}

}  // namespace circoll::interpose
