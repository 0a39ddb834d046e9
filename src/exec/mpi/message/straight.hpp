// Short plans that are gone through in order, without the engine, as long as every step ends at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "circoll/plan.hpp"
#include "exec/mpi/message/channel.hpp"
#include "exec/mpi/message/node_channel.hpp"
#include "exec/node/host.hpp"

namespace circoll::mpi {

/// A plan of few steps, as a list in an order that its dependencies allow. All its messages go through the node's
/// memory. One execution goes along it until a step does not end at once, and the engine goes on from there.
///
/// Nothing is added to what steps wait for (docs/adr/0006): a send is over at once, or the list is left. At a receive
/// the list may stop and look again, but at one only that all later steps wait for: the engine would have nothing else
/// under way either. The same states are reached as by an engine that begins ready steps in the order of the list.
class Straight {
 public:
  /// The longest plan that is made a list of.
  static constexpr std::size_t most_steps = 16;

  enum class State : std::uint8_t {
    over,     ///< all steps have ended, or one has failed
    waiting,  ///< for a message, without which nothing can be done
    stuck,    ///< the engine must go on
  };

  /// Makes the list, or none.
  explicit Straight(const Plan& plan);
  /// Takes the ends of messages that the channel has found. Without a channel there are none.
  void set_ends(const NodeChannel* node);
  /// True if the list can be gone through with these elements.
  [[nodiscard]] bool serves(const Binding& binding) const { return reaches_all_ && !binding.elements.typed; }

  /// Limits for looking for a message that has not come.
  struct Patience {
    std::uint32_t now = 1;      ///< in a row, by one run()
    std::uint32_t in_all = 64;  ///< before the list is left
  };

  void start() { next_ = looks_ = 0; }
  /// Goes on. `local(step)` does a reduction or a copy, that of a message in its pieces too; false if it has failed.
  template <typename Local>
  [[nodiscard]] State run(const Binding& binding, Patience patience, const Local& local);
  /// Calls ended(step) for the steps that have ended.
  template <typename Ended>
  void for_each_ended(const Ended& ended) const {
    for (std::size_t i = 0; i < next_; ++i) ended(list_[i].step);
  }
  [[nodiscard]] std::size_t memory_bytes() const { return list_.capacity() * sizeof(Entry); }

 private:
  enum class Kind : std::uint8_t { send, receive, local };
  struct Entry {
    Kind kind = Kind::local;
    bool alone = false;    ///< of a receive: all later steps wait for it
    bool reduces = false;  ///< of a receive: what has come is combined
    Area area = Area::send;
    StepIndex step = 0;
    Count offset_bytes = 0;
    std::size_t bytes = 0;
    node::Peer* peer = nullptr;
    std::uint64_t key = 0;  ///< without the route's offset
  };
  [[nodiscard]] bool add(const Plan& plan, StepIndex step);
  [[nodiscard]] State receive(const Entry& entry, std::uint64_t key, std::span<std::byte> into, Patience patience);

  std::vector<Entry> list_{};
  bool reaches_all_ = false;  ///< all peers are neighbours, and there is a list
  std::size_t next_ = 0;
  std::uint32_t looks_ = 0;  ///< in vain, since the last step ended
};

/// Leaves the processor's units to the thread beside, if it has two.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// `over`: the message has come.
inline Straight::State Straight::receive(const Entry& entry, std::uint64_t key, std::span<std::byte> into,
                                         Patience patience) {
  using Taken = node::Connection::Taken;
  if (!entry.peer->lock.try_lock()) return State::stuck;  // another thread may be at it
  node::Connection& connection = *entry.peer->connection;
  Taken taken = connection.take_at_once(key, into);
  std::uint32_t looks = 1;
  if (entry.alone) {
    for (; taken == Taken::nothing && looks < patience.now; ++looks) {
      pause();
      taken = connection.take_at_once(key, into);
    }
  }
  entry.peer->lock.unlock();
  if (taken == Taken::message) {
    looks_ = 0;
    return State::over;
  }
  looks_ += looks;
  return taken == Taken::nothing && entry.alone && looks_ < patience.in_all ? State::waiting : State::stuck;
}

template <typename Local>
Straight::State Straight::run(const Binding& binding, Patience patience, const Local& local) {
  const auto offset = static_cast<std::uint64_t>(binding.route.offset);
  for (; next_ < list_.size(); ++next_) {
    const Entry& entry = list_[next_];
    if (entry.kind == Kind::local) {
      if (!local(entry.step)) return State::over;
      continue;
    }
    const std::span memory(reinterpret_cast<std::byte*>(binding.address(entry.area, entry.offset_bytes)), entry.bytes);
    if (entry.kind == Kind::receive) {
      if (const State state = receive(entry, entry.key + offset, memory, patience); state != State::over) return state;
      if (entry.reduces && !local(entry.step)) return State::over;
      continue;
    }
    const std::lock_guard lock(entry.peer->lock);
    if (!entry.peer->connection->send_at_once(entry.key + offset, memory)) return State::stuck;
  }
  return State::over;
}

}  // namespace circoll::mpi
