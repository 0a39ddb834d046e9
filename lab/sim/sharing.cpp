// Messages that are under way at the same time share the ports of their ends (docs/lab/simulator.md).
//
// run.cpp plays ports that take one message after the other. Messages between the same two ranks keep their order here
// as well, because they use one connection.
#include "sim/sharing.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "circoll/error.hpp"

namespace circoll::sim {
namespace {

using Index = std::uint32_t;

class Sharing {
 public:
  Sharing(const Programs& programs, double bytes, const Network& network, const Options& options)
      : programs_(programs),
        link_(network.between),
        gamma_(network.gamma_s_per_byte),
        options_(options),
        block_bytes_(programs.moves_data ? bytes / programs.vector_blocks : 0) {
    const std::size_t p = programs.ranks.size();
    outcome_.begin_s.resize(p, 0.0);
    outcome_.end_s.resize(p, 0.0);
    processor_.resize(p, 0.0);
    next_begin_.resize(p, 0.0);
    out_.resize(p, 0);
    in_.resize(p, 0);
    for (const RankProgram& rank : programs.ranks) {
      waits_.emplace_back();
      for (std::size_t i = 0; i < rank.program->steps(); ++i) waits_.back().push_back(rank.program->ops[i].waits);
    }
  }

  SimulatedRun play() {
    for (Index r = 0; r < waits_.size(); ++r) {
      const StepGraph& own = *programs_.ranks[r].program;
      for (StepIndex i = 0; i < own.steps(); ++i) {
        if (own.ops[i].is_first) waits_less(r, i);
      }
    }
    while (!moments_.empty() || !busy_.empty()) {
      go_to_next();
      if ((++outcome_.events & 0xfff) == 0 && options_.go_on && !options_.go_on(outcome_.events)) throw Stopped{};
    }
    if (ended_ != programs_.steps) throw Error(ErrorCode::refuted, "the ranks wait for one another forever");
    const auto last = std::max_element(outcome_.end_s.begin(), outcome_.end_s.end());
    outcome_.time_s = *last;
    outcome_.last_rank = last - outcome_.end_s.begin();
    return std::move(outcome_);
  }

 private:
  struct Message {
    StepIndex send = 0;
    StepIndex receive = 0;
    double left = 0;  ///< bytes
  };
  /// From one rank to another. Only the first message is under way.
  using Line = std::pair<Index, Index>;
  struct Moment {
    double time = 0;
    std::int64_t number = 0;  ///< of equals the first comes first
    std::function<void()> action;
    bool operator>(const Moment& other) const { return std::tie(time, number) > std::tie(other.time, other.number); }
  };

  void at(double time, std::function<void()> action) { moments_.push({time, next_number_++, std::move(action)}); }

  /// Seconds per byte of a line: the busier one of its ports is shared by so many.
  [[nodiscard]] double per_byte(const Line& line) const {
    return link_.gap_s_per_byte * static_cast<double>(std::max(out_[line.first], in_[line.second]));
  }

  void go_to_next() {
    double next = moments_.empty() ? std::numeric_limits<double>::infinity() : moments_.top().time;
    const Line* first = nullptr;
    for (const auto& [line, messages] : busy_) {
      const double end = now_ + messages.front().left * per_byte(line);
      if (end < next || (end == next && first == nullptr)) {
        next = end;
        first = &line;
      }
    }
    for (auto& [line, messages] : busy_) {
      const double cost = per_byte(line);
      if (cost > 0) messages.front().left = std::max(0.0, messages.front().left - (next - now_) / cost);
    }
    now_ = next;
    if (first != nullptr) return arrive(*first);
    const std::function<void()> action = moments_.top().action;
    moments_.pop();
    action();
  }

  void arrive(Line line) {
    std::deque<Message>& messages = busy_.at(line);
    const Message message = messages.front();
    messages.pop_front();
    if (messages.empty()) {
      busy_.erase(line);
      --out_[line.first];
      --in_[line.second];
    }
    end(line.first, message.send);
    work(line.second, link_.overhead_s, [this, line, message] { waits_less(line.second, message.receive); });
  }

  /// Does something after so much work of the processor of a rank.
  void work(Index r, double seconds, std::function<void()> then) {
    if (seconds == 0) return then();
    processor_[r] = std::max(processor_[r], now_) + seconds;
    at(processor_[r], std::move(then));
  }

  void waits_less(Index r, StepIndex i) {
    if (--waits_[r][i] > 0) return;
    const Op& op = programs_.ranks[r].program->ops[i];
    if (op.kind == StepKind::send) return send(r, i, op);
    const bool combines = op.kind == StepKind::reduce || op.kind == StepKind::recv_reduce;
    work(r, combines ? op.blocks * block_bytes_ * gamma_ : 0, [this, r, i] { end(r, i); });
  }

  void send(Index r, StepIndex i, const Op& op) {
    const Line line{r, programs_.ranks[r].peers[op.message]};
    const Message message{.send = i, .receive = receive_of(line, op.round), .left = op.blocks * block_bytes_};
    work(r, link_.overhead_s, [this, r, line, message] { leave(r, line, message); });
  }

  void leave(Index r, Line line, const Message& message) {
    const double begin = std::max(now_, next_begin_[r]);
    next_begin_[r] = begin + link_.gap_s;
    at(begin + link_.latency_s, [this, line, message] {
      std::deque<Message>& messages = busy_[line];
      messages.push_back(message);
      if (messages.size() > 1) {  // the gap follows the message before
        if (link_.gap_s_per_byte > 0) messages.back().left += link_.gap_s / link_.gap_s_per_byte;
        return;
      }
      ++out_[line.first];
      ++in_[line.second];
    });
  }

  [[nodiscard]] StepIndex receive_of(const Line& line, std::uint32_t round) const {
    const RankProgram& other = programs_.ranks[line.second];
    for (const StepIndex i : other.program->receives) {
      const Op& op = other.program->ops[i];
      if (op.round == round && other.peers[op.message] == line.first) return i;
    }
    throw Error(ErrorCode::invalid_argument, "a message has no receive");
  }

  void end(Index r, StepIndex i) {
    outcome_.end_s[r] = std::max(outcome_.end_s[r], now_);
    ++ended_;
    const StepGraph& own = *programs_.ranks[r].program;
    for (std::uint32_t k = own.ops[i].first_successor; k < own.ops[i + 1].first_successor; ++k)
      waits_less(r, own.successors[k]);
  }

  const Programs& programs_;
  const LogGops& link_;
  double gamma_;
  const Options& options_;
  double block_bytes_ = 0;
  double now_ = 0;
  std::int64_t next_number_ = 0;
  std::int64_t ended_ = 0;
  std::vector<std::vector<std::uint32_t>> waits_;
  std::vector<double> processor_;   ///< free from then on
  std::vector<double> next_begin_;  ///< of a message, after the gap that follows the last
  std::vector<int> out_, in_;       ///< lines that share the port of a rank
  std::map<Line, std::deque<Message>> busy_;
  std::priority_queue<Moment, std::vector<Moment>, std::greater<>> moments_;
  SimulatedRun outcome_;
};

}  // namespace

SimulatedRun play_sharing(const Programs& programs, double bytes, const Network& network, const Options& options) {
  return Sharing(programs, bytes, network, options).play();
}

}  // namespace circoll::sim
