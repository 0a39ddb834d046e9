// The page of all failures, in Markdown.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/faults/failures.hpp"

namespace circoll::cli {
namespace {

constexpr std::array<Rank, 4> shown_sizes{4, 5, 7, 8};

constexpr std::string_view introduction = R"(# When a rank fails

Written by `circoll faults --page`. Which data is lost when ranks of a collective
fail, and what the survivors can put together, read from the schedules of all ranks: exactly, for every algorithm, every
failed rank and every round, up to 64 ranks.

    circoll faults allreduce/rabenseifner -p 8                      # every rank, every round
    circoll faults allreduce/recursive_doubling -p 8 --failed 2,3   # two together
    circoll faults allreduce/binomial -p 7 --orders                 # within a round, too
    circoll faults allreduce -p 8                                   # which algorithm loses least
    circoll faults allreduce/ring -p 16 --json                      # as data
    circoll faults allreduce/ring -p 8 --failed 3 --repair          # how the survivors go on

`circoll faults` is a part of the lab: build with `-DCIRCOLL_LAB=ON`, as the preset `dev` does.

## Words

**State.** k rounds have ended: all their messages have arrived, and everything local that waits for no other message
is done. Then ranks fail. Each survivor holds, of each block, values; a value is a set of contributions. `--keep` says
which values count, each level with those before:

| level | values |
|---|---|
| `live` | those that the schedule of their rank will read, and results |
| `buf` | those of a vector computed in place, stale parts included: not what was combined since, or overwritten |
| `keep` | the rank's own contribution, too: no schedule writes the send buffer; in place, until it is overwritten |
| `log` | all that has ever arrived, and whatever else lies in memory |

**Class.** Contributions can be put together in a block if they are a *disjoint union* of values that survivors hold: no
value can be taken apart, and none may count twice. Where an algorithm is for idempotent operators only, unions may
overlap. Operators are commutative. Of all blocks that survivors need:

| class | |
|---|---|
| FULL | all p contributions can be put together |
| SURV | those of the survivors can, without the failed ranks' |
| BOTH | either |
| MIX | each block can, but some only with the failed ranks' contributions and some only without |
| NONE | some block cannot at all |
| unknown | the search took too long; it never guesses |

MIX is the bug that nobody sees: a repair block by block ends, with contributions in one block that another has not.

**Copies**: survivors that hold data of a failed rank, in the needed block and for the failed rank that have fewest.
**Lost**: blocks in which nobody holds it. **Pieces**: the fewest values that a block is put together from, in the block
that takes most. In a reduce or gather whose root fails, the result counts as needed by another rank; in bcast and
scatter the root's data is all there is.

**Within a round.** Messages among survivors arrive in the end, so what a failure in round k leaves depends only on
which messages of the failed ranks of that round arrived: `--orders` looks at each choice. `--ahead` lets the survivors
go on until they wait for the failed ranks. With `keep` that changes no class of the algorithms of the next section,
with `buf` it can: the ring's scratch memory has three blocks in turn, and what was sent to the failed rank is
overwritten.

## Repair

`--repair` tells how the survivors end the collective. A *repair* is a schedule (docs/adr/0017): it works in the memory
that the failed collective has left, puts every needed block together from the fewest pieces, from all contributions if
all blocks can be (FULL) and else from the survivors' (SURV), and brings it to every survivor that needs it. It is
proven before it is shown. A *restart* is the same collective among the survivors, by the algorithm of least predicted
time: no schedule writes the send buffer, which is its licence. In place there is none once contributions may have been
overwritten. The cheaper one by the model (`--bytes`, `--machine`) is advised; where a repair gives FULL, a restart
would give SURV only. Blocks that only the failed ranks contributed to stay as they are. With one failure and one round
the schedules follow, and `--picture` draws their messages.

In one process, ranks have been stopped at every step of every algorithm of allreduce, reduce, reduce_scatter, allgather
and bcast, p = 2 .. 9, and every element of the repaired results has been compared (`repair_test`). Over MPI survivors
of a killed process execute them in programs that are not changed ([surviving](user/survive.md)).
)";

char letter(FailureClass what) { return what == FailureClass::unknown ? '?' : to_string(what)[0]; }

/// The worst class of the failures of single ranks after k rounds, and the best if it is another. If all contributions
/// can be put together whoever fails, the cell has the fewest copies.
std::string cell(const FaultAnalysis& analysis, std::uint32_t k) {
  FailureClass worst = FailureClass::unknown;
  FailureClass best = FailureClass::none;
  int copies = -1;
  for (Rank f = 0; f < analysis.size(); ++f) {
    const FailureOutcome outcome = analysis.after(k, std::array{f});
    if (outcome.what == FailureClass::unknown) return "?";
    worst = std::min(worst, outcome.what);
    best = std::max(best, outcome.what);
    if (outcome.copies >= 0) copies = copies < 0 ? outcome.copies : std::min(copies, outcome.copies);
  }
  std::string text(1, letter(worst));
  if (is_full(worst)) return copies < 0 ? text : text + std::to_string(copies);
  return worst == best ? text : fmt::format("{}/{}", text, letter(best));
}

/// The cells of all rounds; "3 M" for three that are alike.
std::string cells_of(const Selection& selection, Rank p, Keep keep) {
  if (!unmet_need(selection, p, {.commutative = true, .idempotent = true}).empty()) return "-";
  const Shape shape{.size = p, .params = selection.params};
  const FaultAnalysis analysis(*selection.algorithm, selection.collective, shape, keep);
  std::string text;
  for (std::uint32_t k = 0; k <= analysis.rounds();) {
    const std::string first = cell(analysis, k);
    std::uint32_t end = k + 1;
    while (end <= analysis.rounds() && cell(analysis, end) == first) ++end;
    if (!text.empty()) text += ", ";
    text += end - k > 1 ? fmt::format("{} x {}", end - k, first) : first;
    k = end;
  }
  return text;
}

std::string header(std::string_view first) {
  std::string names = fmt::format("| {} |", first);
  std::string rule = "|---|";
  for (const Rank p : shown_sizes) {
    names += fmt::format(" p = {} |", p);
    rule += "---|";
  }
  return names + "\n" + rule + "\n";
}

std::string sayings_text() {
  std::string text = R"(
## What is said, and whether it is true

Sentences about allreduce as they are handed on in lectures, what they mean exactly, and whether that holds. The answers
are computed; one failure, `buf`.

| said | meant | p = 4 | p = 5 | p = 7 | p = 8 |
|---|---|---|---|---|---|
)";
  for (const Saying& saying : all_sayings()) {
    text += fmt::format("| {} | {} |", saying.said, saying.meant);
    for (const Rank p : shown_sizes) text += saying.holds(p) ? " true |" : " **false** |";
    text += '\n';
  }
  return text;
}

std::string closed_forms() {
  std::string text = R"(
## Closed forms

One rank fails after k rounds, `buf`. A test holds them against the analysis for all p = 2 .. 64; q = ceil(log2 p), L =
floor(log2 p), ctz(f) is the number of zeros at the end of f.

| algorithm | p | blocks lost | fewest copies | FULL |
|---|---|---|---|---|
)";
  for (const FaultForms& forms : fault_forms()) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", forms.id, forms.where.empty() ? "all" : forms.where, forms.lost,
                        forms.copies, forms.full);
  }
  return text;
}

std::string insurance() {
  std::string text = R"(
## Insurance

Volume can be traded for safety. With `halves=2` the first exchange of allreduce/rabenseifner carries the whole vector
instead of half of it, and the partner has a copy of all that a rank contributes. Where p is a power of two, no single
failure after the first round loses anything; the price is n/2 beta (`circoll cost allreduce/rabenseifner:halves=2 -p
8`). The same letters as below, but `keep`: B is BOTH.

)";
  text += header("allreduce");
  for (const std::string_view id : {"allreduce/rabenseifner", "allreduce/rabenseifner:halves=2"}) {
    const Selection selection = parse_selection(id);
    text += fmt::format("| {} |", selection.text());
    for (const Rank p : shown_sizes) text += fmt::format(" {} |", cells_of(selection, p, Keep::keep));
    text += '\n';
  }
  return text;
}

std::string tables() {
  std::string text = R"(
## All algorithms

One failure, `buf`, not in place, root 0, default parameters; after k = 0, 1, ... rounds. Letters are those of the
classes. F2 and B2: whoever fails, all contributions can be put together, and two survivors or more hold the failed
rank's data. S/F: it depends on who fails, SURV at worst, FULL at best. "3 x M": three rounds alike. "-": it does not
serve this p. Collectives of which an algorithm serves several, such as allgather and allgatherv, have the same
schedules.
)";
  Collective last = Collective::barrier;
  bool first = true;
  for (const Algorithm* algorithm : all_algorithms()) {
    const Collective collective = algorithm->collectives.front();
    if (first || collective != last) text += fmt::format("\n{}", header(to_string(collective)));
    first = false;
    last = collective;
    text += fmt::format("| {} |", algorithm->name);
    for (const Rank p : shown_sizes) text += fmt::format(" {} |", cells_of({algorithm, collective, {}}, p, Keep::buf));
    text += '\n';
  }
  return text;
}

}  // namespace

std::string faults_page() {
  return std::string(introduction) + sayings_text() + closed_forms() + insurance() + tables();
}

}  // namespace circoll::cli
