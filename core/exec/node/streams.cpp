#include "exec/node/streams.hpp"

#include <algorithm>
#include <atomic>

namespace circoll::node {
namespace {

/// The beginning of a pipe; a ring of bytes follows. Each counter has one writer and a cache line.
struct PipeHead {
  alignas(64) std::atomic<std::uint64_t> written{0};
  alignas(64) std::atomic<std::uint64_t> read{0};
};

/// The bytes after which one side of a pipe tells the other.
constexpr std::size_t pipe_step = 16384;

PipeHead& pipe_head(std::span<std::byte> pipe) { return *reinterpret_cast<PipeHead*>(pipe.data()); }

}  // namespace

std::optional<Announcement> OutgoingPipes::begin(Outgoing& message) {
  const std::size_t offset = store_->take(sizeof(PipeHead) + bytes_);
  if (offset == 0) return std::nullopt;
  message.pipe = offset;
  PipeHead& head = pipe_head(store_->data(offset, sizeof(PipeHead)));
  head.written.store(0, std::memory_order_relaxed);
  head.read.store(0, std::memory_order_relaxed);
  (void)fill(message);
  if (!message.over) messages_.push_back(&message);
  return Announcement{.bytes = message.data.size(), .where = offset, .id = bytes_, .refused = message.refused};
}

bool OutgoingPipes::fill() {
  bool moved = false;
  for (Outgoing* const message : messages_) moved = fill(*message) || moved;
  std::erase_if(messages_, [](const Outgoing* message) { return message->over; });
  return moved;
}

bool OutgoingPipes::fill(Outgoing& message) const {
  const auto pipe = store_->data(message.pipe, sizeof(PipeHead) + bytes_);
  PipeHead& head = pipe_head(pipe);
  const auto ring = pipe.subspan(sizeof(PipeHead));
  const std::size_t read = head.read.load(std::memory_order_acquire);
  if (read > message.done) return false;  // nobody but a peer that errs says so
  const std::size_t before = message.done;
  while (message.done < message.data.size() && message.done - read < ring.size()) {
    const std::size_t at = message.done % ring.size();
    const std::size_t bytes = std::min(
        {ring.size() - at, ring.size() - (message.done - read), message.data.size() - message.done, pipe_step});
    copy_from(message.data, message.done, ring.data() + at, bytes);
    message.done += bytes;
    head.written.store(message.done, std::memory_order_release);
  }
  message.over = message.done == message.data.size();
  return message.done != before;
}

bool OutgoingPipes::has(const Outgoing& message) const {
  return std::find(messages_.begin(), messages_.end(), &message) != messages_.end();
}

void OutgoingPipes::replace(const Outgoing& message, Outgoing* by) noexcept {
  std::replace_if(
      messages_.begin(), messages_.end(), [&](const Outgoing* one) { return one == &message; }, by);
  std::erase(messages_, nullptr);
}

void IncomingStreams::begin_pipe(Incoming& message, const Announcement& announcement) {
  pipes_.push_back({.message = &message, .announcement = announcement});
  if (drain(pipes_.back()) && pipes_.back().over) pipes_.pop_back();
}

void IncomingStreams::begin_pieces(Incoming& message, const Announcement& announcement, std::size_t come) {
  pieces_ = Stream{.message = &message, .announcement = announcement, .come = come};
}

void IncomingStreams::take_piece(std::span<const std::byte> data) {
  if (pieces_->message != nullptr) pieces_->message->put(pieces_->come, data);
  pieces_->come += data.size();
  if (pieces_->come < pieces_->announcement.bytes) return;
  pieces_->end();
  pieces_.reset();
}

bool IncomingStreams::drain() {
  bool moved = false;
  for (Stream& pipe : pipes_) moved = drain(pipe) || moved;
  std::erase_if(pipes_, [](const Stream& pipe) { return pipe.over; });
  return moved;
}

bool IncomingStreams::drain(Stream& stream) const {
  const auto pipe = store_->data(stream.announcement.where, sizeof(PipeHead) + stream.announcement.id);
  if (pipe.size() <= sizeof(PipeHead)) {
    if (stream.message != nullptr) stream.message->reason = Reason::wrong_message;
    stream.end();
    return true;
  }
  PipeHead& head = pipe_head(pipe);
  const auto ring = pipe.subspan(sizeof(PipeHead));
  const std::uint64_t written = std::min(head.written.load(std::memory_order_acquire), stream.announcement.bytes);
  bool moved = false;
  while (stream.come < written) {
    const std::size_t at = stream.come % ring.size();
    const std::size_t bytes = std::min<std::size_t>({ring.size() - at, written - stream.come, pipe_step});
    if (stream.message != nullptr) stream.message->put(stream.come, ring.subspan(at, bytes));
    stream.come += bytes;
    head.read.store(stream.come, std::memory_order_release);
    moved = true;
  }
  if (stream.come < stream.announcement.bytes) return moved;
  store_->give_back(stream.announcement.where);
  stream.end();
  return true;
}

void IncomingStreams::abandon(const Incoming& message) noexcept {
  for (Stream& pipe : pipes_) {
    if (pipe.message == &message) pipe.message = nullptr;
  }
  if (pieces_ && pieces_->message == &message) pieces_->message = nullptr;
}

}  // namespace circoll::node
