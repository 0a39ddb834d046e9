"""symbols_test.py LIST LIBRARY [HEADER...]: the C functions that a library exports are those of the list, and those of the headers.

Of C++ nothing is looked at (docs/user/served.md): its names are those of the form that compilers give them. A list whose first
line names a version of an MPI is for that one; with another, --version VERSION, the test is skipped (77).
"""
import argparse
import pathlib
import re
import subprocess
import sys


def exported(library):
    """The global names that are defined in a shared library, or in the objects of a static one."""
    dynamic = [] if library.suffix == ".a" else ["--dynamic"]
    listed = subprocess.run(["nm", *dynamic, "--extern-only", "--defined-only", "--format=posix", library], capture_output=True,
                            text=True, check=True).stdout
    names = {line.split()[0].split("@")[0] for line in listed.splitlines() if len(line.split()) >= 2}
    return {name for name in names if not name.startswith(("_Z", "_init", "_fini", "__", "DW.ref."))}


def declared(header, prefix):
    """The functions of a C header, without its comments."""
    text = re.sub(r"/\*.*?\*/", "", pathlib.Path(header).read_text(encoding="utf-8"), flags=re.DOTALL)
    return set(re.findall(rf"\b({prefix}\w+)\(", text))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--version", default="")
    parser.add_argument("--header", action="append", default=[])
    parser.add_argument("--prefix", default="circoll_")
    parser.add_argument("--without", default=None, help="names of the header that are another library's")
    parser.add_argument("--write", action="store_true", help="make the list anew")
    options = parser.parse_args()
    found = exported(options.library)
    lines = options.list.read_text(encoding="utf-8").splitlines() if options.list.exists() else []
    heading = [line for line in lines if line.startswith("#")]
    if options.write:
        options.list.write_text("\n".join([*heading, *sorted(found)]) + "\n", encoding="utf-8")
        return 0
    meant = re.match(r"# .* (\d+\.\d+)$", heading[0]) if heading else None
    if meant and not options.version.startswith(meant[1] + "."):
        print(f"{options.list.name} is for {heading[0][2:]}, not for {options.version}")
        return 77
    listed = {line for line in lines if line and not line.startswith("#")}
    wrong = [f"{name} is listed, and not exported any more: programs that call it break" for name in sorted(listed - found)]
    wrong += [f"{name} is exported, and not listed: add it to {options.list.name}, or hide it" for name in sorted(found - listed)]
    for header in options.header:
        names = {name for name in declared(header, options.prefix) if not (options.without and name.startswith(options.without))}
        wrong += [f"{name} is declared in {header}, and not listed" for name in sorted(names - listed)]
        wrong += [f"{name} is listed, and not declared in {header}" for name in sorted(listed - names) if name.startswith(options.prefix)]
    if not listed:
        wrong.append("the list is empty")
    print("\n".join(wrong) if wrong else f"PASS: {len(listed)} symbols")
    return 1 if wrong else 0


sys.exit(main())
