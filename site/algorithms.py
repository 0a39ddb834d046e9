"""A page for each algorithm: what its file and the tool say of it, with a picture and a proof that are made as the page is."""
import json
import re
import subprocess

from pages import toctree, write_if_new

# Pictures show this number of ranks, which is small and no power of two.
SHOWN = 6
# Proofs are made for these numbers of ranks.
PROVEN = "1..32"
COUNTED = [2, 3, 4, 6, 8, 12, 16, 32]
LIBRARIES = ["Open MPI", "MPICH", "UCC"]

GUARANTEES = {
    "same_bits": "all ranks get the same bits, up to commutativity of the operator",
    "rank_order": "contributions are combined in the order of ranks",
    "direct": "every block goes straight from its source to its destination",
}


def run(circoll, *arguments):
    return subprocess.run([circoll, *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def code(text):
    return "```\n" + text.strip("\n") + "\n```\n"


def sections_of_file(path):
    """The parts of a file's first comment, as "Idea      In step k ...", by their names."""
    parts, name = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//"):
            break
        begin = re.match(r"// ([A-Z]\w+) {2,}(\S.*)", line)
        if begin:
            name = begin[1]
            parts[name] = begin[2]
        elif name:
            parts[name] += " " + line[2:].strip()
    return parts


def plain(text):
    """Text in which no character means anything to Markdown."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", text)


def table_of_costs(rows):
    """Counted costs, a column for each p; rows of zeros are left out."""
    text = "| p | " + " | ".join(str(row["p"]) for row in rows) + " |\n|---|" + "--:|" * len(rows) + "\n"
    for name in ("rounds", "sent", "received", "reduced", "copied"):
        values = [row["counted"][name] for row in rows]
        if any(values):
            text += f"| {name} | " + " | ".join(map(str, values)) + " |\n"
    return text


def claims_of(entry):
    needs = entry["needs"]
    words = [word for word, holds in [("the operator commutes", needs["commutative"]), ("the operator is idempotent", needs["idempotent"]),
                                      ("p is a power of two", needs["power_of_two"]), ("p is even", needs["even_size"])] if holds]
    promised = [GUARANTEES[name] for name, holds in entry["guarantees"].items() if holds]
    return (f"It needs that {' and '.join(words)}. " if words else "It has no needs. ") + (
        f"Beyond what the collective is, {' and '.join(promised)}." if promised else "It promises what the collective is, and no more.")


def proof_of(identifier, entry, verdict):
    command = f"circoll verify {identifier} -p {PROVEN} --root sample"
    by_rotation = verdict["by_rotation"]
    who = ""
    if by_rotation:
        few = "All" if by_rotation == verdict["instances"] else str(by_rotation)
        who = f" {few} of them are proven by one rank, of which the others are rotations ([why](../../docs/developer/proof.md))."
    return (f"{claims_of(entry)}\n\n{code(command)}\nshows this, and was run as this page was made: {verdict['instances']} instances, of p = "
            f"{PROVEN.replace('..', ' .. ')}, roots, parameters, in place and not, are proven.{who} "
            "[What is claimed](../../commands/circoll-verify.md) holds for each: messages match, no deadlock, no race, every contribution "
            "exactly once, the declared costs.\n")


def page(root, identifier, entry, verdict):
    about = sections_of_file(root / "core" / "algorithms" / f"{identifier}.cpp")
    anchor = identifier.replace("/", "").lower()
    served = ", ".join(f"`{name}`" for name in entry["collectives"])
    text = f"# {identifier}\n\n{plain(entry['summary'])}\n\n"
    text += f"Serves {served}. Family: {entry['family']}.\n\n"
    text += f"![Rounds on {SHOWN} ranks]({identifier.split('/')[1]}.svg)\n\n"
    text += f'<a class="reference internal" href="../../explorer.html#id={identifier}&amp;p={SHOWN}">Step through it in the explorer</a>, '
    text += f"which `circoll explore {identifier} -p {SHOWN} -o page.html` writes, too.\n\n"
    text += f"## Idea\n\n{plain(about['Idea'])}\n\n"
    text += "| | |\n|---|---|\n"
    text += "".join(f"| {name} | {plain(about[name])} |\n" for name in ("Shape", "Scratch", "Order", "Source") if name in about)
    for parameter in entry["params"]:
        values = f"{parameter['minimum']} .. {parameter['maximum']}, {parameter['default']} by default"
        text += f"| Parameter `{parameter['name']}` | {plain(parameter['summary'])}; {values} |\n"
    text += f"\n## When\n\n{plain(entry['when'][0].upper() + entry['when'][1:])}. "
    text += "[All of them, and what the model chooses](../../docs/algorithms.md).\n\n"
    text += f"## Cost\n\n{plain(about['Cost'])}\n\n{code(entry['formula']['time'])}\n"
    text += f"The letters are those of [notation](../../docs/lab/notation.md), and [more is counted](../../docs/costs.md#{anchor}).\n"
    text += "Here are the most that one rank has, in blocks; parameters are at their defaults.\n\n"
    text += table_of_costs(entry["cost"]) + f"\n## Proof\n\n{proof_of(identifier, entry, verdict)}\n"
    text += "## In other libraries\n\n| library | its names |\n|---|---|\n"
    for library in LIBRARIES:
        text += f"| {library} | {', '.join(f'`{name}`' for name in entry['peers'][library]) or '-'} |\n"
    return text + f"\n## Every step\n\n{code(f'circoll show {identifier} -p {SHOWN}')}"


def lay_out(root, circoll, source):
    """Writes the pages and their pictures; returns the names and what is wrong."""
    sizes = [word for p in COUNTED for word in ("-p", p)]
    entries = {entry["id"]: entry for entry in json.loads(run(circoll, "list", "--json", *sizes))}
    verdicts = {row["id"]: row for row in json.loads(run(circoll, "verify", "all", "-p", PROVEN, "--root", "sample", "--json"))}
    files = sorted((root / "core" / "algorithms").glob("*/*.cpp"))
    identifiers = [f"{file.parent.name}/{file.stem}" for file in files]
    problems = [f"algorithms: {name} is not proven" for name in identifiers if not verdicts.get(name, {}).get("proven")]
    collectives = dict.fromkeys(name.split("/")[0] for name in identifiers)
    index = ("# A page for each algorithm\n\nEach page has the idea, a picture, costs and a proof. "
             "[When to take which](../docs/algorithms.md) is one page of all.\n")
    for name in problems or identifiers:
        if name not in entries or name not in verdicts:
            continue
        write_if_new(source / "algorithms" / f"{name}.md", page(root, name, entries[name], verdicts[name]))
        write_if_new(source / "algorithms" / f"{name}.svg", run(circoll, "show", name, "-p", SHOWN, "--format", "svg"))
    for collective in collectives:
        mine = [name for name in identifiers if name.startswith(collective + "/")]
        served = ", ".join(entries[mine[0]]["collectives"])
        index += f"\n## {served}\n" + toctree(mine, hidden=False)
    write_if_new(source / "algorithms" / "index.md", index)
    return ["algorithms/index.md", *(f"algorithms/{name}.md" for name in identifiers)], problems
