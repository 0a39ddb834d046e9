#include "exec/node/exchange.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

namespace circoll::node {

Connection::Connection(const Segment& own_segment, Board& own_board, Store& own_store, const Address& peer,
                       const Ways& ways)
    : ways_(ways),
      own_store_(&own_store),
      own_nonce_(own_segment.address().nonce),
      peer_(own_segment.address(), peer),
      copy_(own_segment.address(), peer),
      distance_(ways.far_ns),
      pipes_(own_store, ways.pipe_bytes),
      streams_(store_),
      offers_(own_store, copy_, distance_, ways.shared_from),
      reads_(peer, copy_, store_, writer_) {
  reason_ = own_segment ? peer_.reason() : own_segment.reason();
  if (reason_ != Reason::none) return;
  board_ = Board(peer_.data(), own_board.most_lanes());
  store_ = StoreView(board_.memory());
  out_ = own_board.lane_to(peer.nonce);
  if (out_ == nullptr) {
    reason_ = Reason::no_lane;
    return;
  }
  expected_.reserve(usual_messages);
  early_.reserve(2 * usual_messages);
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

/// A message that is stored moves each cache line twice between the processors, and one that is read once. Far apart,
/// that saves more than the call of the system costs, from some 8 KiB on.
bool Connection::goes_directly(std::size_t bytes) {
  if (!ways_.direct) return false;
  const bool pays = bytes >= ways_.direct_from || (bytes >= ways_.far_from && !crowded_ && distance_.next_is_far());
  // Asked last: it lies in the peer's segment, where short messages need not look.
  return pays && in_ != nullptr && in_->reads_directly.load(std::memory_order_relaxed) != 0;
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
    if (message.data.contiguous()) return message.over = put(writer_, LineKind::whole, message.key, message.data.one());
    std::array<std::byte, Lane::most_bytes> line;
    copy_from(message.data, 0, line.data(), bytes);
    return message.over = put(writer_, LineKind::whole, message.key, std::span(line).first(bytes));
  }
  if (message.data.contiguous() && message.refused == 0 && goes_directly(bytes)) {
    return put(writer_, LineKind::direct, message.key, offers_.make(message));
  }
  if (bytes <= ways_.stored_to) {
    if (const std::size_t offset = own_store_->take(bytes); offset != 0) {
      distance_.copy(bytes, [&] { copy_from(message.data, 0, own_store_->data(offset, bytes).data(), bytes); });
      return message.over = put(writer_, LineKind::stored, message.key,
                                Announcement{.bytes = bytes, .where = offset, .refused = message.refused});
    }
  } else if (const auto announcement = pipes_.begin(message)) {
    return put(writer_, LineKind::piped, message.key, *announcement);
  }
  message.in_pieces =
      put(writer_, LineKind::pieces, message.key, Announcement{.bytes = bytes, .refused = message.refused});
  return put_pieces(message);
}

bool Connection::send_stored(std::uint64_t key, std::span<const std::byte> data) {
  if (data.size() > ways_.stored_to || !waiting_.empty() || writer_.full() || goes_directly(data.size())) return false;
  const std::size_t offset = own_store_->take(data.size());
  if (offset == 0) return false;
  std::byte* const to = own_store_->data(offset, data.size()).data();
  distance_.copy(data.size(), [&] { std::memcpy(to, data.data(), data.size()); });
  return put(writer_, LineKind::stored, key, Announcement{.bytes = data.size(), .where = offset});
}

bool Connection::take_stored(const Line& line, std::span<std::byte> into) const {
  if (line.kind != static_cast<std::uint16_t>(LineKind::stored)) return false;
  Announcement announcement;
  std::memcpy(&announcement, line.data.data(), sizeof announcement);
  if (announcement.refused != 0 || announcement.bytes != into.size()) return false;
  const auto stored = store_.data(announcement.where, announcement.bytes);
  if (stored.empty()) return false;
  std::memcpy(into.data(), stored.data(), stored.size());
  store_.give_back(announcement.where);
  return true;
}

bool Connection::put_pieces(Outgoing& message) {
  std::array<std::byte, Line::most_bytes> piece;
  while (message.done < message.data.size()) {
    const std::size_t bytes = std::min(piece.size(), message.data.size() - message.done);
    copy_from(message.data, message.done, piece.data(), bytes);
    if (!put(writer_, LineKind::piece, message.key, std::span(piece).first(bytes))) return false;
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
      early.pieces.empty() ? std::span(early.whole).first(early.kind == LineKind::whole ? early.announcement.bytes : 0)
                           : std::span(early.pieces);
  deliver(message, early.kind, early.announcement, data);
}

void Connection::deliver(Incoming& message, LineKind kind, const Announcement& announcement,
                         std::span<const std::byte> data) {
  const std::uint64_t total = kind == LineKind::whole ? data.size() : announcement.bytes;
  message.truncated = total > message.into.size();
  message.bytes = std::min<std::uint64_t>(total, message.into.size());
  switch (kind) {
    case LineKind::whole:
      message.put(0, data);
      message.over = true;
      return;
    case LineKind::stored:
      if (const auto stored = store_.data(announcement.where, total); !stored.empty()) {
        message.put(0, stored);
        store_.give_back(announcement.where);
      } else {
        message.reason = Reason::wrong_message;
      }
      message.over = true;
      return;
    case LineKind::direct:
      return reads_.deliver(message, announcement);
    case LineKind::piped:
      return streams_.begin_pipe(message, announcement);
    default:
      message.put(0, data);
      message.over = data.size() == total;
      if (!message.over) streams_.begin_pieces(message, announcement, data.size());
      return;
  }
}

void Connection::take(const Line& line) {
  const auto kind = static_cast<LineKind>(line.kind);
  alignas(Taker::part_unit) std::array<std::byte, Lane::most_bytes> several;
  std::span<const std::byte> data = std::span(line.data).first(std::min<std::size_t>(line.length, Line::most_bytes));
  if (line.length > Line::most_bytes) {
    reader_->copy(line, several.data());
    data = std::span(several).first(LaneReader::bytes_of(line));
  }
  if (kind == LineKind::piece) return take_piece(data);
  Announcement announcement{.bytes = data.size()};
  if (kind != LineKind::whole) std::memcpy(&announcement, line.data.data(), sizeof announcement);
  if (kind == LineKind::ack) {
    if (Outgoing* const refused = offers_.acknowledged(announcement)) waiting_.push_back(refused);
    return;
  }
  if (kind == LineKind::destination) return offers_.take_destination(announcement);
  const auto content = kind == LineKind::whole ? data : std::span<const std::byte>();
  Incoming* const message = expected(line.key, announcement);
  if (message == nullptr) return keep_early(kind, line.key, announcement, content);
  deliver(*message, kind, announcement, content);
}

bool Connection::take_the_expected(const Line& line) {
  if (line.kind != static_cast<std::uint16_t>(LineKind::whole) || expected_.size() != 1) return false;
  Incoming& message = *expected_.front();
  const std::size_t bytes = line.length;
  if (message.key != line.key || bytes > message.into.size() || bytes > Line::most_bytes) return false;
  expected_.clear();
  message.put(0, std::span(line.data).first(bytes));
  message.bytes = bytes;
  message.over = true;
  return true;
}

/// Finds the message that an announcement is for, and stops expecting it; nullptr if there is none.
Incoming* Connection::expected(std::uint64_t key, const Announcement& announcement) {
  if (announcement.refused != 0) return reads_.take_refused(announcement);
  const auto place =
      std::find_if(expected_.begin(), expected_.end(), [&](const Incoming* incoming) { return incoming->key == key; });
  if (place == expected_.end()) return nullptr;
  Incoming* const message = *place;
  expected_.erase(place);
  return message;
}

void Connection::keep_early(LineKind kind, std::uint64_t key, const Announcement& announcement,
                            std::span<const std::byte> data) {
  Early& early = early_.emplace_back(Early{.kind = kind, .key = key, .announcement = announcement});
  std::copy(data.begin(), data.end(), early.whole.begin());
}

/// Pieces follow one another. So they belong to the message under way, or to the last unexpected one.
void Connection::take_piece(std::span<const std::byte> data) {
  if (streams_.expects_pieces()) return streams_.take_piece(data);
  const auto last =
      std::find_if(early_.rbegin(), early_.rend(), [](const Early& early) { return early.kind == LineKind::pieces; });
  if (last != early_.rend()) last->pieces.insert(last->pieces.end(), data.begin(), data.end());
}

bool Connection::poll(bool idle) {
  if (!open()) return false;
  bool moved = false;
  while (const Line* const line = reader_->front()) {
    if (!take_the_expected(*line)) take(*line);
    reader_->pop();
    moved = true;
  }
  if (waiting_.empty() && pipes_.empty() && streams_.no_pipes() && reads_.empty() && offers_.none_to_write())
    return moved;
  // The peer reads for itself the messages that this process sends. So the messages that it has sent come first.
  moved = reads_.read_due() || moved;
  moved = reads_.read_shared() || (idle && offers_.write()) || moved;
  moved = streams_.drain() || moved;
  moved = reads_.acknowledge() || moved;
  moved = pipes_.fill() || moved;
  while (!waiting_.empty() && (waiting_.front() == nullptr || announce(*waiting_.front()))) {
    waiting_.pop_front();
    moved = true;
  }
  while (!orphans_.empty() && orphans_.front().message.over) orphans_.pop_front();
  return moved;
}

void Connection::abandon(Incoming& message) noexcept {
  std::erase(expected_, &message);
  streams_.abandon(message);
  reads_.abandon(message);
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
  offers_.abandon(message);
  if (pipes_.has(message)) pipes_.replace(message, orphan_of(message));
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i] == &message) waiting_[i] = orphan_of(message);
  }
}

}  // namespace circoll::node
