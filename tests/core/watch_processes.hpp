// Processes of a test that watch one another by a mesh.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "node_processes.hpp"
#include "wrappers/survive/watch/mesh.hpp"

namespace circoll::watch {

/// Processes with ranks 0 .. size-1, each with a mesh that is connected and does not listen yet.
class Watchers {
 public:
  using Body = std::function<void(int rank, Mesh& mesh, const node::Wire& line)>;

  Watchers(int size, const Body& body) {
    for (int rank = 0; rank < size; ++rank) {
      processes_.push_back(std::make_unique<node::Process>([=](const node::Wire& line) {
        Mesh mesh;
        line.put(mesh.address());
        std::vector<Address> all;
        for (int r = 0; r < size; ++r) {
          const auto address = line.get<Address>();
          if (!address) return;
          all.push_back(*address);
        }
        const bool connected = mesh.connect(rank, all, 42, std::chrono::seconds(30));
        line.put(connected);
        if (connected) body(rank, mesh, line);
      }));
    }
    std::vector<Address> all;
    for (const auto& process : processes_) all.push_back(process->line().get<Address>().value_or(Address{}));
    for (const auto& process : processes_) {
      for (const Address& address : all) process->line().put(address);
    }
    for (const auto& process : processes_) connected_ = process->line().get<bool>().value_or(false) && connected_;
  }

  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] const node::Process& operator[](int rank) const { return *processes_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<std::unique_ptr<node::Process>> processes_;
  bool connected_ = true;
};

/// Waits for something, for a minute at most. Returns false if it does not come.
inline bool comes(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    sched_yield();
  }
  return true;
}

}  // namespace circoll::watch
