"""signatures_test.py ROOT [--write]: the tables of signatures in docs/user/library.md are those of the public headers.

The sentences for wrong calls (circoll/misuse.hpp) show the same forms, and each blocking function of C has a nonblocking and a
persistent one with the same arguments. --write makes the tables anew.
"""
import pathlib
import re
import sys

GROUPS = {
    "Reductions": ["allreduce", "reduce", "reduce_scatter_block", "reduce_scatter", "scan", "exscan"],
    "From all to all": ["allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "barrier"],
    "Among neighbours": ["neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"],
    "From and to a root": ["bcast", "gather", "gatherv", "scatter", "scatterv"],
}
# Values of C++ have one type, so a call with a datatype for each block has MPI's own arguments only.
BY_DATATYPES = {"alltoallw", "neighbor_alltoallw"}
BEGIN, END = "<!-- signatures: python3 tests/signatures_test.py . --write -->\n", "<!-- end of signatures -->\n"


def parameters(text):
    """The names in a list of parameters, without defaults. A tag in a comment is an option."""
    names = []
    for one in re.sub(r"<[^<>]*>", "", text).split(","):
        tag = re.search(r"WithCounts /\*tag\*/", one)
        names.append("with_counts" if tag else re.search(r"(\w+)\s*(?:=.*)?$", one.strip())[1])
    return names


def functions(path, pattern):
    """The functions of a header: for each name the parameters of its declarations, in their order."""
    text = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
    found = {}
    for name, listed in re.findall(pattern, " ".join(text.split())):
        found.setdefault(name, []).append(parameters(listed))
    return found


def shown(names):
    return f"`({', '.join(name for name in names if name != 'choice')})`" if names else "-"


def by_value(declarations):
    """One form for the declarations of a name: a range or one value, with and without counts."""
    if not declarations:
        return "-"
    first = [name for name in declarations[0] if name != "with_counts"]
    counts = any("with_counts" in names for names in declarations)
    return shown(first).replace("comm)", "comm[, with_counts])") if counts else shown(first)


def tables(buffers, values, with_mpi):
    text = BEGIN
    for group, names in GROUPS.items():
        text += (f"\n| {group} | C++: `circoll::` | C++, by value: `circoll::` | C: `circoll_mpi_`, C++: `circoll::mpi::` |\n"
                 "|---|---|---|---|\n")
        for name in names:
            text += f"| {name} | {shown(buffers.get(name, [[]])[0])} | {by_value(values.get(name))} | {shown(with_mpi[name])} |\n"
    return text + "\n" + END


def main():
    root = pathlib.Path(sys.argv[1])
    include, page = root / "core" / "include" / "circoll", root / "docs" / "user" / "library.md"
    into, value = r"> ResultOn<C> (\w+)\(([^{}]*?|[^{}]*\{\})\) \{", r"\[\[nodiscard\]\] (?:auto|T|std::optional<T>) (\w+)\(([^{}]*(?:\{\})?)\) \{"
    buffers = functions(include / "comm.hpp", into) | functions(include / "neighbors.hpp", into)
    del buffers["combine"]
    values = functions(include / "values.hpp", value) | functions(include / "neighbors.hpp", value)
    c = {name: listed[0] for name, listed in functions(include / "circoll.h", r"\bint circoll_mpi_(\w+)\(([^;]*?)\);").items()}
    cpp = {name: listed[0] for name, listed in functions(include / "mpi.hpp", r"\bvoid (\w+)\(([^;{]*(?:\{\})?)\);").items()}
    known = [name for names in GROUPS.values() for name in names]

    wrong = []
    if set(known) != set(buffers) | BY_DATATYPES:
        wrong.append(f"comm.hpp and neighbors.hpp declare {sorted(buffers)}, and the groups have {sorted(known)}")
    for name in known:
        if c[name] != cpp[name]:
            wrong.append(f"{name}: the arguments of C {c[name]} are not those of C++ {cpp[name]}")
        for form in (f"i{name}", f"{name}_init"):
            if c.get(form) != [*c[name], "request"]:
                wrong.append(f"circoll_mpi_{form} has not the arguments of circoll_mpi_{name}, and a request")
    said = re.sub(r'"\s*"', "", (include / "misuse.hpp").read_text(encoding="utf-8"))
    for name in buffers:
        forms = [f"write {name}{shown(buffers[name][0])}"]
        if name in values:
            forms.append(f"or by value {name}{shown([n for n in values[name][0] if n != 'with_counts'])}")
        for form in (form.replace("`", "").replace(")", "[, choice])") for form in forms):
            if form not in said:
                wrong.append(f"misuse.hpp does not say \"{form}\"")

    text = page.read_text(encoding="utf-8")
    made = tables(buffers, values, c)
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    if "--write" in sys.argv:
        page.write_text(before + made + after, encoding="utf-8")
    elif before + made + after != text or not rest:
        wrong.append("the tables of docs/user/library.md are not those of the headers: python3 tests/signatures_test.py . --write")
    print("\n".join(wrong) if wrong else f"PASS: {len(known)} collectives")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
