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
/// Receives that follow one another, none of which waits for another one, are looked at in turn. Nothing is added to
/// what steps wait for (docs/adr/0006): a send is over at once, or the list is left, and where messages are missing it
/// is left after some looks. So the same states are reached as by an engine that begins ready steps in this order.
class InOrderPath {
 public:
  /// The longest plan that is made a list of.
  static constexpr std::size_t most_steps = 16;

  enum class State : std::uint8_t {
    over,     ///< all steps have ended, or one has failed
    waiting,  ///< for a message, without which nothing can be done
    stuck,    ///< the engine must go on
  };

  /// Makes the list, or none.
  explicit InOrderPath(const Plan& plan);
  /// Takes the ends of messages that the channel has found. Without a channel there are none.
  void set_ends(const NodeChannel* node);
  /// True if the list can be gone through with these elements.
  [[nodiscard]] bool serves(const Binding& binding) const { return reaches_all_ && !binding.elements.typed; }

  /// Limits for looking for messages that have not come.
  struct LookLimits {
    std::uint32_t now = 1;      ///< in a row, by one run()
    std::uint32_t in_all = 64;  ///< before the list is left
    /// Look again where the engine might do some later step meanwhile. So the calls of run() must follow at once.
    bool blocking = false;
  };

  void start() {
    next_ = looks_ = 0;
    received_ = 0;
  }
  /// Goes on. `local(step)` does a reduction or a copy, that of a message in its pieces too; false if it has failed.
  template <typename Local>
  [[nodiscard]] State run(const Binding& binding, LookLimits patience, const Local& local);
  /// Calls ended(step) for the steps that have ended.
  template <typename Ended>
  void for_each_ended(const Ended& ended) const {
    for (std::size_t i = 0; i < next_; ++i) ended(list_[i].step);
    for (std::size_t i = next_; i < list_.size(); ++i) {
      if ((received_ >> i & 1U) != 0) ended(list_[i].step);
    }
  }
  [[nodiscard]] std::size_t memory_bytes() const { return list_.capacity() * sizeof(Entry); }

 private:
  enum class Kind : std::uint8_t { send, receive, local };
  struct Entry {
    Kind kind = Kind::local;
    bool reduces = false;  ///< of a receive: what has come is combined
    /// For a receive: the number of receives in a row, from it on, that do not wait for one another.
    std::uint8_t receives = 1;
    bool alone = false;  ///< of a receive: all messages after those wait for all of them
    Area area = Area::send;
    StepIndex step = 0;
    Count offset_bytes = 0;
    std::size_t bytes = 0;
    node::ConnectedPeer* peer = nullptr;
    std::uint64_t key = 0;  ///< without the route's offset
  };
  [[nodiscard]] bool add(const Plan& plan, StepIndex step);
  void join_receives(const Plan& plan, std::span<const StepIndex> order);
  /// The memory of an entry's message.
  [[nodiscard]] static std::span<std::byte> memory_of(const Entry& entry, const Binding& binding) {
    return {reinterpret_cast<std::byte*>(binding.address(entry.area, entry.offset_bytes)), entry.bytes};
  }
  /// Looks for the messages of the next receives.
  template <typename Local>
  [[nodiscard]] State receive(const Binding& binding, LookLimits patience, const Local& local);

  std::vector<Entry> list_{};
  bool reaches_all_ = false;  ///< all peers are node peers, and there is a list
  std::size_t next_ = 0;
  std::uint32_t looks_ = 0;     ///< in vain, since the last step ended
  std::uint32_t received_ = 0;  ///< a bit for each receive whose message has come
  static_assert(most_steps < 32);
};

/// Leaves the processor's units to the thread beside, if it has two.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// `over`: the next step is the one behind all of them, or one could not be combined.
template <typename Local>
InOrderPath::State InOrderPath::receive(const Binding& binding, LookLimits patience, const Local& local) {
  using Taken = node::Connection::Taken;
  const std::size_t end = next_ + list_[next_].receives;
  const bool may_wait = list_[next_].alone || patience.blocking;
  for (std::uint32_t looks = 0;;) {
    for (std::size_t i = next_; i < end; ++i) {
      if ((received_ >> i & 1U) != 0) continue;
      const Entry& entry = list_[i];
      if (!entry.peer->lock.try_lock()) return State::stuck;  // another thread may be at it
      const Taken taken = entry.peer->connection->take_at_once(
          entry.key + static_cast<std::uint64_t>(binding.route.offset), memory_of(entry, binding));
      entry.peer->lock.unlock();
      if (taken == Taken::other) return State::stuck;
      if (taken == Taken::nothing) continue;
      looks = looks_ = 0;
      if (entry.reduces && !local(entry.step)) return State::over;
      received_ |= 1U << i;
    }
    while (next_ < end && (received_ >> next_ & 1U) != 0) ++next_;
    if (next_ == end) return State::over;
    ++looks_;
    if (!may_wait || looks_ >= patience.in_all) return State::stuck;
    if (++looks >= patience.now) return State::waiting;
    pause();
  }
}

template <typename Local>
InOrderPath::State InOrderPath::run(const Binding& binding, LookLimits patience, const Local& local) {
  const auto offset = static_cast<std::uint64_t>(binding.route.offset);
  while (next_ < list_.size()) {
    const Entry& entry = list_[next_];
    if (entry.kind == Kind::receive) {
      const std::size_t end = next_ + entry.receives;
      if (const State state = receive(binding, patience, local); state != State::over || next_ != end) return state;
      continue;
    }
    if (entry.kind == Kind::local) {
      if (!local(entry.step)) return State::over;
    } else {
      const std::lock_guard lock(entry.peer->lock);
      if (!entry.peer->connection->send_at_once(entry.key + offset, memory_of(entry, binding))) return State::stuck;
    }
    ++next_;
  }
  return State::over;
}

}  // namespace circoll::mpi
