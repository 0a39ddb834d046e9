// Random cases.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "options.hpp"
#include "random.hpp"
#include "types.hpp"

namespace circoll::torture {
namespace {

class Generator {
 public:
  Generator(const Options& options, std::int64_t number, int size)
      : options_(options), size_(size), random_(hash(options.seed, number)) {
    case_.seed = options.seed;
    case_.number = number;
    case_.may_be_native = options.may_be_native;
  }

  Case make() {
    if (!options_.collectives.empty() && (options_.many_communicators || random_.below(200) == 0)) {
      make_crowd(options_.many_communicators ? 1000 : 100);
      return case_;
    }
    const int lanes = options_.threads && random_.percent(40) ? 2 : 1;
    case_.lanes.resize(static_cast<std::size_t>(lanes));
    case_.busy = random_.percent(80);
    make_comms(lanes);
    storm_ = random_.percent(4);
    auto operations = static_cast<int>(random_.between(1, options_.max_operations * (storm_ ? 8 : 1)));
    if (options_.collectives.empty()) operations = 0;
    for (int id = 0; id < operations; ++id) case_.operations.push_back(make_operation(id));
    if (random_.percent(60)) {
      const auto messages = static_cast<int>(random_.between(1, 8));
      for (int id = 0; id < messages; ++id) case_.messages.push_back(make_message(id));
    }
    if (random_.percent(40) && operations > 0) {
      const auto mistakes = static_cast<int>(random_.between(1, 5));
      for (int i = 0; i < mistakes; ++i) add_mistake(random_.pick(case_.operations));
    }
    add_neighbors();
    for (int lane = 0; lane < lanes; ++lane) make_steps(lane);
    return case_;
  }

 private:
  void make_comms(int lanes) {
    case_.comms.push_back({.kind = CommKind::world});
    case_.comms.push_back({.kind = CommKind::self, .lane = lanes - 1});
    constexpr std::array kinds{CommKind::dup,      CommKind::dup,  CommKind::split, CommKind::split,
                               CommKind::reversed, CommKind::cart, CommKind::group};
    const std::int64_t more = random_.percent(30) ? 0 : random_.between(lanes - 1, lanes == 1 ? 5 : 9);
    for (std::int64_t i = 0; i < more; ++i) {
      CommSpec spec{.kind = random_.pick(kinds), .seed = random_.next()};
      if (random_.percent(25)) {
        const auto parent = static_cast<int>(random_.below(static_cast<std::int64_t>(case_.comms.size())));
        if (parent != 1) spec.parent = parent;
      }
      spec.lane = lanes == 1 ? 0 : static_cast<int>((i + 1) % 2);
      if (lanes > 1) share_out(spec);
      case_.comms.push_back(spec);
    }
    // A communicator is not wild if a thread makes groups of it, as Open MPI 4.1 does by messages that any receive
    // takes.
    const bool grouped = std::ranges::any_of(case_.comms, [](const CommSpec& spec) { return spec.in_lane; });
    // Nor is it wild with one rank: MPICH 4.0.2 does not return from MPI_Alltoall(v) while a wild receive is pending.
    for (CommSpec& spec : case_.comms) {
      const bool of_world = case_.comms[static_cast<std::size_t>(spec.parent)].kind == CommKind::world;
      const bool whole = spec.kind == CommKind::world || spec.kind == CommKind::dup;
      spec.wild = size_ > 1 && random_.percent(20) && whole && of_world && !(grouped && spec.kind == CommKind::world);
    }
  }

  /// While the other thread goes on, a thread may only make groups of MPI_COMM_WORLD. Open MPI hangs where threads make
  /// communicators of different ones at the same time (library_faults.c, communicators_of_threads).
  void share_out(CommSpec& spec) {
    if (random_.percent(50)) spec.kind = CommKind::group;
    if (spec.kind == CommKind::group && random_.percent(85)) {
      spec.in_lane = true;
      spec.parent = 0;
    } else if (case_.comms[static_cast<std::size_t>(spec.parent)].in_lane) {
      spec.parent = 0;
    }
  }

  int any_comm() {
    if (random_.percent(35)) return 0;
    return static_cast<int>(random_.below(static_cast<std::int64_t>(case_.comms.size())));
  }

  /// Units of a block, so that a rank's buffers stay within the limit.
  Count any_count(const Operation& o) {
    const Count most = options_.max_count / (has_one_vector(o.collective) ? 1 : size_) / o.unit;
    Count limit = 16;
    const std::int64_t size = random_.below(100);
    if (size < 8) return 0;
    if (size < 22 || storm_) return std::min<Count>(1, most);
    if (size >= 70) limit = 300;
    if (size >= 90) limit = 3000;
    if (size >= 97) limit = 100000;
    return random_.between(0, std::min(limit, most));
  }

  void choose_elements(Operation& o) {
    const auto bases = static_cast<std::int64_t>(base_types().size());
    if (!is_reducing(o.collective)) {
      o.base = random_.percent(8) ? base_record
                                  : static_cast<Base>(random_.percent(40) ? random_.below(4) : random_.below(bases));
      o.plain = random_.percent(35);
      if (!o.plain) {
        o.differ = random_.percent(50);
        o.unit = o.differ ? 12 : static_cast<int>(random_.between(1, 7));
      }
      o.absolute = random_.percent(12);
      return;
    }
    if (random_.percent(35)) {
      o.base = base_words;
      o.layout = static_cast<int>(random_.below(word_layouts));
      o.unit = o.layout == word_layouts - 1 || random_.percent(50) ? 1 : static_cast<int>(random_.between(2, 3));
      o.plain = o.unit == 1;
      o.user = random_.percent(50) ? UserOp::add : UserOp::compose;
      o.declared_commutative = random_.percent(60);
      return;
    }
    do {
      o.base = static_cast<Base>(random_.percent(40) ? random_.below(4) : random_.below(bases));
    } while (base_type(o.base).family == Family::character);
    constexpr std::array logical{Op::land, Op::lor, Op::lxor};
    constexpr std::array bitwise{Op::band, Op::bor, Op::bxor};
    constexpr std::array arithmetic{Op::sum, Op::sum, Op::prod, Op::min, Op::max};
    const Family family = base_type(o.base).family;
    switch (family) {
      case Family::integer:
        o.op = random_.percent(60)   ? random_.pick(arithmetic)
               : random_.percent(50) ? random_.pick(bitwise)
                                     : random_.pick(logical);
        break;
      case Family::bytes:
        o.op = random_.pick(bitwise);
        break;
      case Family::boolean:
        o.op = random_.pick(logical);
        break;
      case Family::complex:
        o.op = random_.percent(70) ? Op::sum : Op::prod;
        break;
      case Family::pair:
        o.op = random_.percent(50) ? Op::minloc : Op::maxloc;
        break;
      default:
        o.op = random_.pick(arithmetic);
    }
    o.fractions = o.op == Op::sum && random_.percent(20) &&
                  ((family == Family::floating && base_type(o.base).packed_bytes <= 8) ||
                   (family == Family::complex && base_type(o.base).packed_bytes <= 16));
  }

  /// Communicators with a graph, and operations among neighbours, in some of the cases. The rest of a case is the same
  /// without them.
  void add_neighbors() {
    if (options_.neighbors.empty()) return;
    Random own(hash(options_.seed, case_.number, 0x9e19));
    if (!options_.collectives.empty() && !own.percent(30)) return;
    std::swap(random_, own);
    const auto first = static_cast<int>(case_.comms.size());
    for (std::int64_t i = random_.between(1, 3); i > 0; --i) {
      constexpr std::array kinds{CommKind::grid, CommKind::graph, CommKind::graph};
      const auto lane = static_cast<int>(random_.below(std::ssize(case_.lanes)));
      case_.comms.push_back({.kind = random_.pick(kinds), .seed = random_.next(), .lane = lane, .bare = true});
    }
    for (std::int64_t i = random_.between(1, options_.max_operations); i > 0; --i) {
      const auto comm = static_cast<int>(random_.between(first, std::ssize(case_.comms) - 1));
      Operation o{
          .id = static_cast<int>(case_.operations.size()), .neighbor = random_.pick(options_.neighbors), .comm = comm};
      o.collective = among_all(*o.neighbor);
      draw(o);
      case_.operations.push_back(o);
    }
    std::swap(random_, own);
  }

  Operation make_operation(int id) {
    Operation o{.id = id};
    o.collective = random_.pick(options_.collectives);
    draw(o);
    return o;
  }

  /// Everything but the collective; of neighbours the communicator is known, too.
  void draw(Operation& o) {
    o.mode = random_.pick(options_.modes);
    if (storm_ && o.mode == Mode::blocking) o.mode = random_.pick(options_.modes);
    if (o.mode == Mode::persistent && random_.percent(30)) o.mode = random_.pick(options_.modes);
    if (!o.neighbor) o.comm = any_comm();
    o.large = random_.percent(20);
    o.root = random_.next();
    const bool can_be_in_place = !o.neighbor && traits_of(o.collective).in_place != InPlaceOf::none;
    o.in_place = can_be_in_place && random_.percent(25);
    o.sloppy = random_.percent(25);
    o.types = random_.next();
    o.counts = random_.next();
    o.places = random_.percent(70) ? random_.next() : 0;
    o.data = random_.next();
    if (traits_of(o.collective).moves_data) {
      choose_elements(o);
      o.count = any_count(o);
    }
    o.has_types = !o.neighbor && o.collective == Collective::alltoallv && o.data % 3 == 0;
    if (o.mode == Mode::persistent) o.executions = static_cast<int>(random_.between(1, 3));
    o.freed_early = o.mode == Mode::nonblocking && random_.percent(30);
    constexpr std::array arrays{Arrays::kept, Arrays::overwritten, Arrays::unmapped};
    if (o.mode != Mode::blocking && is_irregular(o.collective)) o.arrays = random_.pick(arrays);
  }

  PointToPoint make_message(int id) {
    PointToPoint m{.id = id, .comm = any_comm(), .shift = random_.next()};
    m.length = static_cast<int>(random_.percent(85) ? random_.between(1, 64) : random_.between(65, max_message_ints));
    m.blocking = random_.percent(20);
    m.synchronous = random_.percent(20);
    return m;
  }

  /// An erroneous call like that of one of the operations.
  void add_mistake(const Operation& o) {
    if (!traits_of(o.collective).moves_data) return;
    std::vector<Fault> faults{Fault::no_type, Fault::uncommitted_type, Fault::negative_count};
    if (is_rooted(o.collective)) faults.insert(faults.end(), {Fault::negative_root, Fault::large_root});
    if (is_reducing(o.collective)) faults.insert(faults.end(), {Fault::no_operator, Fault::undefined_operator});
    const bool has_one_vector =
        is_reducing(o.collective) && !is_rooted(o.collective) && !is_reduce_scatter(o.collective);
    if (has_one_vector) faults.push_back(Fault::equal_buffers);
    Mistake m{.id = static_cast<int>(case_.mistakes.size()), .operation = o.id};
    m.mode = random_.percent(50) ? o.mode : random_.pick(options_.modes);
    m.fault = random_.pick(faults);
    constexpr std::array who{Who::one, Who::one, Who::some, Who::all};
    m.who = random_.pick(who);
    m.ranks = random_.next();
    m.met = random_.percent(40);
    case_.mistakes.push_back(m);
  }

  /// Many communicators, each used a few times or never, which live at the same time or come and go.
  void make_crowd(int most) {
    case_.lanes.resize(1);
    case_.busy = random_.percent(50);
    case_.keeps_unused = true;
    case_.comms = {{.kind = CommKind::world}, {.kind = CommKind::self}};
    storm_ = random_.percent(60);
    constexpr std::array kinds{CommKind::dup,   CommKind::dup,   CommKind::split, CommKind::reversed,
                               CommKind::group, CommKind::group, CommKind::alone, CommKind::alone};
    constexpr std::array often{0, 0, 1, 1, 1, 2, 3};
    std::vector<Step>& steps = case_.lanes[0];
    const std::int64_t total = random_.between(most / 5, most);
    const std::int64_t at_a_time = random_.percent(50) ? total : random_.between(2, total);
    std::vector<std::pair<int, int>> alive;  // communicators, and how often they are used yet
    const auto use = [&](std::pair<int, int>& one) {
      if (one.second == 0) return;
      --one.second;
      use_once(one.first, steps);
    };
    const auto free_any = [&] {
      const auto at = static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(alive.size())));
      if (random_.percent(70)) use(alive[at]);
      steps.push_back({StepKind::free_comm, alive[at].first});
      alive[at] = alive.back();
      alive.pop_back();
    };
    for (std::int64_t i = 0; i < total; ++i) {
      CommSpec spec{.kind = random_.pick(kinds), .seed = random_.next(), .bare = true};
      if (!alive.empty() && random_.percent(15)) spec.parent = random_.pick(alive).first;
      steps.push_back({StepKind::create_comm, static_cast<int>(case_.comms.size())});
      alive.emplace_back(static_cast<int>(case_.comms.size()), random_.pick(often));
      case_.comms.push_back(spec);
      if (random_.percent(20)) use_once(random_.percent(80) ? 0 : 1, steps);
      while (random_.percent(40)) use(alive[static_cast<std::size_t>(random_.below(std::ssize(alive)))]);
      while (std::ssize(alive) > at_a_time) free_any();
    }
    while (!alive.empty()) {
      const bool last = random_.percent(10);
      for (std::pair<int, int>& one : alive) {
        if (last || random_.percent(50)) use(one);
      }
      if (last) break;
      for (std::int64_t n = random_.below(std::ssize(alive) + 1); n > 0; --n) free_any();
    }
  }

  /// An operation on a communicator, mistakes in front of it now and then.
  void use_once(int comm, std::vector<Step>& steps) {
    Operation o = make_operation(static_cast<int>(case_.operations.size()));
    o.comm = comm;
    o.executions = 1;
    case_.operations.push_back(o);
    if (random_.percent(5)) {
      const std::size_t before = case_.mistakes.size();
      add_mistake(o);
      if (case_.mistakes.size() > before) steps.push_back({StepKind::mistake, static_cast<int>(before)});
    }
    if (o.mode == Mode::persistent) steps.push_back({StepKind::init, o.id});
    steps.push_back({StepKind::start, o.id});
    if (o.mode != Mode::persistent) return;
    steps.push_back({StepKind::finish, o.id});
    steps.push_back({StepKind::free_request, o.id});
  }

  [[nodiscard]] int lane_of(int comm) const { return case_.comms[static_cast<std::size_t>(comm)].lane; }

  /// Operations in the order of their ids, repeated starts of persistent ones and messages in between.
  void make_steps(int lane) {
    std::vector<Step> steps;
    std::vector<Step> restarts;  // in any order relative to what comes later
    const auto insert_later = [&](std::size_t from, const Step& step) {
      const auto at = random_.between(static_cast<std::int64_t>(from), static_cast<std::int64_t>(steps.size()));
      steps.insert(steps.begin() + at, step);
      return static_cast<std::size_t>(at) + 1;
    };
    for (const Operation& o : case_.operations) {
      if (lane_of(o.comm) == lane && o.mode != Mode::persistent) steps.push_back({StepKind::start, o.id});
    }
    for (const Operation& o : case_.operations) {
      if (lane_of(o.comm) != lane || o.mode != Mode::persistent) continue;
      std::size_t from = insert_later(0, {StepKind::init, o.id});
      for (int execution = 0; execution < o.executions; ++execution) {
        from = insert_later(from, {StepKind::start, o.id, execution});
        from = insert_later(from, {StepKind::finish, o.id, execution});
      }
      insert_later(from, {StepKind::free_request, o.id});
    }
    for (const PointToPoint& m : case_.messages) {
      if (lane_of(m.comm) == lane) insert_later(0, {StepKind::message, m.id});
    }
    for (const Mistake& m : case_.mistakes) {
      if (lane_of(case_.operations[static_cast<std::size_t>(m.operation)].comm) != lane) continue;
      const Step step{StepKind::mistake, m.id};
      const auto own = std::ranges::find_if(steps, [&](const Step& s) {
        return (s.kind == StepKind::start || s.kind == StepKind::init) && s.index == m.operation;
      });
      if (random_.percent(50) && own != steps.end()) {
        steps.insert(own, step);  // right in front of the right call
      } else {
        insert_later(0, step);
      }
    }
    for (auto idle = static_cast<int>(random_.below(6)); idle > 0; --idle) insert_later(0, {StepKind::idle});
    place_comms(lane, steps);
    int turn = 0;
    for (const Step& step : steps) {
      if (step.kind == StepKind::create_comm) case_.comms[static_cast<std::size_t>(step.index)].turn = turn++;
    }
    case_.lanes[static_cast<std::size_t>(lane)] = std::move(steps);
  }

  /// With one thread communicators come and go at any time. With two the main thread first makes those that they do not
  /// make.
  void place_comms(int lane, std::vector<Step>& steps) {
    for (auto c = static_cast<int>(case_.comms.size()); c-- > 2;) {
      const CommSpec& spec = case_.comms[static_cast<std::size_t>(c)];
      if (case_.lanes.size() > 1 && (!spec.in_lane || spec.lane != lane)) continue;
      std::size_t first = steps.size(), last = 0;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool uses = comm_of(case_, steps[i]) == c;
        const bool is_parent =
            steps[i].kind == StepKind::create_comm && case_.comms[static_cast<std::size_t>(steps[i].index)].parent == c;
        if (!uses && !is_parent) continue;
        first = std::min(first, i);
        // Requests of persistent operations keep it in use until they are freed.
        last = i + 1;
      }
      if (random_.percent(case_.lanes.size() > 1 ? 85 : 60)) {
        const auto at =
            random_.between(static_cast<std::int64_t>(std::max(first, last)), static_cast<std::int64_t>(steps.size()));
        steps.insert(steps.begin() + at, {StepKind::free_comm, c});
      }
      const auto at =
          random_.between(random_.percent(50) ? 0 : static_cast<std::int64_t>(first), static_cast<std::int64_t>(first));
      steps.insert(steps.begin() + at, {StepKind::create_comm, c});
    }
  }

  const Options& options_;
  int size_;
  Random random_;
  bool storm_ = false;  ///< many small operations
  Case case_;
};

}  // namespace

Case generate(const Options& options, std::int64_t number, int world_size) {
  return Generator(options, number, world_size).make();
}

}  // namespace circoll::torture
