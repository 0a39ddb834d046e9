"""The reference of the C++ and C interface: a page for each public header, by doxygen and breathe."""
import re
import subprocess

from pages import toctree, write_if_new

# Headers, grouped by purpose. Each stands here once.
GROUPS = {
    "Calling collectives": "comm.hpp values.hpp neighbors.hpp exchange.hpp exact_sum.hpp operators.hpp misuse.hpp local.hpp mpi.hpp request.hpp "
                           "types.hpp buffers.hpp error.hpp call.hpp communicator.hpp circoll.h survive.h",
    "Algorithms and schedules": "collectives.hpp algorithm.hpp builder.hpp schedule.hpp dependencies.hpp transform.hpp plan.hpp ops.hpp "
                                "exact.hpp neighbor_function.hpp text.hpp",
    "Proofs, costs and choices": "verify.hpp model.hpp select.hpp",
}


def page_of(header):
    return f"api/{re.sub(r'[.]h(pp)?$', '', header).replace('/', '_')}.md"


def about_of(path):
    """The first comment of a header: its paragraphs, and code, which stands further in."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".h":
        lines = [re.sub(r"^(/\*| \*/?) ?", "", line).rstrip() for line in text.split("*/")[0].splitlines()]
    else:
        lines = [line[2:].removeprefix(" ") for line in re.match(r"(//[^\n]*\n)+", text)[0].splitlines()]
    result, inside = [], False
    for line in lines:
        if (line.startswith("  ") and not line.startswith("   *")) != inside and line:
            result.append("```" if inside else "```cpp")
            inside = not inside
        result.append(line[2:] if inside else line.replace("<", "\\<"))
    return "\n".join(result + ["```"] * inside)


def run_doxygen(root, output):
    """Writes the XML; returns what doxygen warns of: every declaration has a sentence."""
    output.mkdir(parents=True, exist_ok=True)
    settings = (root / "site" / "Doxyfile").read_text(encoding="utf-8")
    settings += f'INPUT = core/include/circoll site/declarations.dox\nSTRIP_FROM_PATH = core/include\nOUTPUT_DIRECTORY = "{output}"\n'
    done = subprocess.run(["doxygen", "-"], input=settings, cwd=root, capture_output=True, text=True, check=True)
    return sorted({line.replace(f"{root}/", "") for line in done.stderr.splitlines() if line.strip()})


def lay_out(root, source, output):
    """Writes the pages; returns their names and what is wrong."""
    problems = run_doxygen(root, output)
    include = root / "core" / "include" / "circoll"
    headers = {str(path.relative_to(include)) for path in include.rglob("*.h*")}
    grouped = [header for group in GROUPS.values() for header in group.split()]
    problems += [f"site/declarations.py: {header} stands in no group, or does not exist" for header in headers ^ set(grouped)]
    index = ("# All functions of C++ and C\n\nEvery public header, and what it declares. [The library, from C++ and C](../docs/user/library.md) shows how it is "
             "used.\n")
    for group, names in GROUPS.items():
        index += f"\n## {group}\n" + toctree((page_of(name)[4:-3] for name in names.split()), hidden=False)
    write_if_new(source / "api" / "index.md", index)
    for header in grouped:
        text = (f"# circoll/{header}\n\n```cpp\n#include <circoll/{header}>\n```\n\n{about_of(include / header)}\n\n"
                f"```{{doxygenfile}} circoll/{header}\n:sections: func enum typedef var define innerclass innernamespace "
                "public-* user-defined\n```\n")
        write_if_new(source / page_of(header), text)
    return ["api/index.md", *map(page_of, grouped)], problems
