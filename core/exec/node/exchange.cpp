#include "exec/node/exchange.hpp"

#include <atomic>
#include <cstring>
#include <new>
#include <utility>

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

Connection::Connection(const Segment& own_segment, Board& own_board, Store& own_store, const Address& peer,
                       const Ways& ways)
    : ways_(ways),
      address_(peer),
      own_store_(&own_store),
      own_nonce_(own_segment.address().nonce),
      peer_(own_segment.address(), peer),
      copy_(own_segment.address(), peer),
      distance_(ways.far_ns) {
  reason_ = own_segment ? peer_.reason() : own_segment.reason();
  if (reason_ != Reason::none) return;
  board_ = Board(peer_.data(), own_board.most_lanes());
  store_ = StoreView(board_.memory());
  out_ = own_board.lane_to(peer.nonce);
  if (out_ == nullptr) {
    reason_ = Reason::no_lane;
    return;
  }
  piping_.reserve(usual);
  offers_.reserve(usual);
  expected_.reserve(usual);
  early_.reserve(2 * usual);
  pipes_.reserve(usual);
  reading_.reserve(usual);
  writing_.reserve(usual);
  out_->reads_directly.store(copy_.reading() == Reason::none ? 1 : 0, std::memory_order_relaxed);
  writer_ = LaneWriter(*out_);
}

/// The peer may connect later. Until then it gets only the messages for which its lane has room.
bool Connection::open() {
  if (in_ != nullptr) return true;
  in_ = board_.find_lane(own_nonce_);
  if (in_ == nullptr) return false;
  reader_.emplace(*in_, *out_);
  writer_.use_back(*in_);
  return true;
}

bool Connection::put(Kind kind, std::uint64_t key, std::span<const std::byte> data) {
  if (writer_.full()) return false;
  writer_.put(static_cast<std::uint16_t>(kind), key, data);
  return true;
}

bool Connection::put(Kind kind, std::uint64_t key, const Announcement& announcement) {
  return put(kind, key, std::as_bytes(std::span(&announcement, 1)));
}

void Connection::send(Outgoing& message) {
  message.over = message.in_pieces = false;
  message.done = message.pipe = 0;
  message.refused = 0;
  if (!waiting_.empty() || !announce(message)) waiting_.push_back(&message);
}

bool Connection::announce(Outgoing& message) {
  const std::size_t bytes = message.data.size();
  if (message.in_pieces) return put_pieces(message);
  if (writer_.full()) return false;
  // A message whose direct copy was refused says so in an announcement.
  if (bytes <= Lane::most_bytes && message.refused == 0 && !writer_.full(Lane::lines_for(bytes))) {
    if (message.data.contiguous()) return message.over = put(Kind::whole, message.key, message.data.one());
    std::array<std::byte, Lane::most_bytes> line;
    copy_from(message.data, 0, line.data(), bytes);
    return message.over = put(Kind::whole, message.key, std::span(line).first(bytes));
  }
  if (message.data.contiguous() && message.refused == 0 && goes_directly(bytes)) return announce_direct(message);
  if (bytes <= ways_.stored_to) {
    if (const std::size_t offset = own_store_->take(bytes); offset != 0) {
      distance_.copy(bytes, [&] { copy_from(message.data, 0, own_store_->data(offset, bytes).data(), bytes); });
      return message.over = put(Kind::stored, message.key,
                                Announcement{.bytes = bytes, .where = offset, .refused = message.refused});
    }
  } else if (const std::size_t offset = own_store_->take(sizeof(PipeHead) + ways_.pipe_bytes); offset != 0) {
    message.pipe = offset;
    PipeHead& head = pipe_head(own_store_->data(offset, sizeof(PipeHead)));
    head.written.store(0, std::memory_order_relaxed);
    head.read.store(0, std::memory_order_relaxed);
    (void)fill(message);
    (void)put(Kind::piped, message.key,
              Announcement{.bytes = bytes, .where = offset, .id = ways_.pipe_bytes, .refused = message.refused});
    if (!message.over) piping_.push_back(&message);
    return true;
  }
  message.in_pieces = put(Kind::pieces, message.key, Announcement{.bytes = bytes, .refused = message.refused});
  return put_pieces(message);
}

bool Connection::send_stored(std::uint64_t key, std::span<const std::byte> data) {
  if (data.size() > ways_.stored_to || !waiting_.empty() || writer_.full() || goes_directly(data.size())) return false;
  const std::size_t offset = own_store_->take(data.size());
  if (offset == 0) return false;
  std::byte* const to = own_store_->data(offset, data.size()).data();
  distance_.copy(data.size(), [&] { std::memcpy(to, data.data(), data.size()); });
  return put(Kind::stored, key, Announcement{.bytes = data.size(), .where = offset});
}

bool Connection::take_stored(const Line& line, std::span<std::byte> into) const {
  if (line.kind != static_cast<std::uint16_t>(Kind::stored)) return false;
  Announcement announcement;
  std::memcpy(&announcement, line.data.data(), sizeof announcement);
  if (announcement.refused != 0 || announcement.bytes != into.size()) return false;
  const auto stored = store_.data(announcement.where, announcement.bytes);
  if (stored.empty()) return false;
  std::memcpy(into.data(), stored.data(), stored.size());
  store_.give_back(announcement.where);
  return true;
}

bool Connection::fill(Outgoing& message) {
  const auto pipe = own_store_->data(message.pipe, sizeof(PipeHead) + ways_.pipe_bytes);
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

bool Connection::put_pieces(Outgoing& message) {
  std::array<std::byte, Line::most_bytes> piece;
  while (message.done < message.data.size()) {
    const std::size_t bytes = std::min(piece.size(), message.data.size() - message.done);
    copy_from(message.data, message.done, piece.data(), bytes);
    if (!put(Kind::piece, message.key, std::span(piece).first(bytes))) return false;
    message.done += bytes;
  }
  return message.over = true;
}

void Connection::receive_early(Incoming& message) {
  const auto found =
      std::find_if(early_.begin(), early_.end(), [&](const Early& early) { return early.key == message.key; });
  if (found == early_.end()) {
    expected_.push_back(&message);
    return;
  }
  const Early early = std::move(*found);
  early_.erase(found);
  const std::span<const std::byte> data =
      early.pieces.empty() ? std::span(early.whole).first(early.kind == Kind::whole ? early.announcement.bytes : 0)
                           : std::span(early.pieces);
  deliver(message, early.kind, early.announcement, data);
}

void Connection::deliver(Incoming& message, Kind kind, const Announcement& announcement,
                         std::span<const std::byte> data) {
  const std::uint64_t total = kind == Kind::whole ? data.size() : announcement.bytes;
  message.truncated = total > message.into.size();
  message.bytes = std::min<std::uint64_t>(total, message.into.size());
  switch (kind) {
    case Kind::whole:
      message.put(0, data);
      message.over = true;
      return;
    case Kind::stored:
      if (const auto stored = store_.data(announcement.where, total); !stored.empty()) {
        message.put(0, stored);
        store_.give_back(announcement.where);
      } else {
        message.reason = Reason::wrong_message;
      }
      message.over = true;
      return;
    case Kind::direct:
      return deliver_directly(message, announcement);
    case Kind::piped:
      pipes_.push_back({.message = &message, .announcement = announcement});
      if (drain(pipes_.back()) && pipes_.back().over) pipes_.pop_back();
      return;
    default:
      message.put(0, data);
      message.over = data.size() == total;
      if (!message.over) pieces_ = Stream{.message = &message, .announcement = announcement, .come = data.size()};
      return;
  }
}

void Connection::end(Stream& stream) {
  stream.over = true;
  if (stream.message != nullptr) stream.message->over = true;
}

bool Connection::drain(Stream& stream) {
  const auto pipe = store_.data(stream.announcement.where, sizeof(PipeHead) + stream.announcement.id);
  if (pipe.size() <= sizeof(PipeHead)) {
    if (stream.message != nullptr) stream.message->reason = Reason::wrong_message;
    end(stream);
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
  store_.give_back(stream.announcement.where);
  end(stream);
  return true;
}

void Connection::take(const Line& line) {
  const auto kind = static_cast<Kind>(line.kind);
  alignas(Taker::part_unit) std::array<std::byte, Lane::most_bytes> several;
  std::span<const std::byte> data = std::span(line.data).first(std::min<std::size_t>(line.length, Line::most_bytes));
  if (line.length > Line::most_bytes) {
    reader_->copy(line, several.data());
    data = std::span(several).first(LaneReader::bytes_of(line));
  }
  if (kind == Kind::piece) return take_piece(data);
  Announcement announcement{.bytes = data.size()};
  if (kind != Kind::whole) std::memcpy(&announcement, line.data.data(), sizeof announcement);
  if (kind == Kind::ack) return take_acknowledgement(announcement);
  if (kind == Kind::destination) return take_destination(announcement);
  const auto content = kind == Kind::whole ? data : std::span<const std::byte>();
  Incoming* const message = expected(line.key, announcement);
  if (message == nullptr) return keep_early(kind, line.key, announcement, content);
  deliver(*message, kind, announcement, content);
}

bool Connection::take_the_expected(const Line& line) {
  if (line.kind != static_cast<std::uint16_t>(Kind::whole) || expected_.size() != 1) return false;
  Incoming& message = *expected_.front();
  const std::size_t bytes = line.length;
  if (message.key != line.key || bytes > message.into.size() || bytes > Line::most_bytes) return false;
  expected_.clear();
  message.put(0, std::span(line.data).first(bytes));
  message.bytes = bytes;
  message.over = true;
  return true;
}

void Connection::take_acknowledgement(const Announcement& announcement) {
  if (announcement.id >= offers_.size() || !offers_[announcement.id].open) return;
  const Offer offer = std::exchange(offers_[announcement.id], {});
  std::erase_if(writing_, [&](const Writing& one) { return one.id == announcement.id; });
  if (offer.shared != 0) own_store_->give_back(offer.shared);
  Outgoing* const message = offer.message;
  if (message == nullptr) return;
  if (announcement.refused == 0) {
    message->over = true;
    return;
  }
  message->refused = announcement.id + 1;
  waiting_.push_back(message);
}

/// Finds the message that an announcement is for, and stops expecting it; nullptr if there is none.
Incoming* Connection::expected(std::uint64_t key, const Announcement& announcement) {
  if (announcement.refused != 0) {
    const auto place = std::find_if(refused_.begin(), refused_.end(),
                                    [&](const Refused& one) { return one.id + 1 == announcement.refused; });
    if (place == refused_.end()) return nullptr;
    Incoming* const message = place->message;
    refused_.erase(place);
    return message;
  }
  const auto place =
      std::find_if(expected_.begin(), expected_.end(), [&](const Incoming* incoming) { return incoming->key == key; });
  if (place == expected_.end()) return nullptr;
  Incoming* const message = *place;
  expected_.erase(place);
  return message;
}

void Connection::keep_early(Kind kind, std::uint64_t key, const Announcement& announcement,
                            std::span<const std::byte> data) {
  Early& early = early_.emplace_back(Early{.kind = kind, .key = key, .announcement = announcement});
  std::copy(data.begin(), data.end(), early.whole.begin());
}

/// Pieces follow one another. So they belong to the message under way, or to the last unexpected one.
void Connection::take_piece(std::span<const std::byte> data) {
  if (!pieces_) {
    const auto last =
        std::find_if(early_.rbegin(), early_.rend(), [](const Early& early) { return early.kind == Kind::pieces; });
    if (last != early_.rend()) last->pieces.insert(last->pieces.end(), data.begin(), data.end());
    return;
  }
  if (pieces_->message != nullptr) pieces_->message->put(pieces_->come, data);
  pieces_->come += data.size();
  if (pieces_->come < pieces_->announcement.bytes) return;
  end(*pieces_);
  pieces_.reset();
}

bool Connection::poll(bool idle) {
  if (!open()) return false;
  bool moved = false;
  while (const Line* const line = reader_->front()) {
    if (!take_the_expected(*line)) take(*line);
    reader_->pop();
    moved = true;
  }
  if (pipes_.empty() && acks_.empty() && piping_.empty() && waiting_.empty() && due_.empty() && reading_.empty() &&
      writing_.empty())
    return moved;
  // The peer reads for itself the messages that this process sends. So the messages that it has sent come first.
  moved = read_due() || moved;
  moved = read_shared() || (idle && write_shared()) || moved;
  for (Stream& pipe : pipes_) moved = drain(pipe) || moved;
  std::erase_if(pipes_, [](const Stream& pipe) { return pipe.over; });
  moved = acknowledge() || moved;
  for (Outgoing* const message : piping_) moved = fill(*message) || moved;
  std::erase_if(piping_, [](const Outgoing* message) { return message->over; });
  while (!waiting_.empty() && (waiting_.front() == nullptr || announce(*waiting_.front()))) {
    waiting_.pop_front();
    moved = true;
  }
  while (!orphans_.empty() && orphans_.front().message.over) orphans_.pop_front();
  return moved;
}

void Connection::abandon(Incoming& message) noexcept {
  const auto forget = [&message](auto& one) {
    if (one.message == &message) one.message = nullptr;
  };
  std::erase(expected_, &message);
  std::for_each(pipes_.begin(), pipes_.end(), forget);
  if (pieces_) forget(*pieces_);
  stop_shared(message);
  for (std::size_t i = 0; i < due_.size(); ++i) forget(due_[i]);
  for (std::size_t i = 0; i < acks_.size(); ++i) forget(acks_[i]);
  std::for_each(refused_.begin(), refused_.end(), forget);
}

Outgoing* Connection::orphan_of(const Outgoing& message) noexcept {
  try {
    std::vector<std::byte> data(message.data.size());
    copy_from(message.data, 0, data.data(), data.size());
    Orphan& orphan = orphans_.emplace_back();
    orphan.data = std::move(data);
    orphan.message = message;
    orphan.message.data = std::span<const std::byte>(orphan.data);
    return &orphan.message;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void Connection::abandon(Outgoing& message) noexcept {
  std::erase_if(writing_, [&](const Writing& one) { return offers_[one.id].message == &message; });
  for (Offer& offer : offers_) {
    if (offer.message == &message) offer.message = nullptr;
  }
  if (const auto piping = std::find(piping_.begin(), piping_.end(), &message); piping != piping_.end()) {
    *piping = orphan_of(message);
    if (*piping == nullptr) piping_.erase(piping);
  }
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i] == &message) waiting_[i] = orphan_of(message);
  }
}

}  // namespace circoll::node
