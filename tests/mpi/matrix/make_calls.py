#!/usr/bin/env python3
"""make_calls.py c|fortran: writes the calls that calls.c or calls.F90 includes to stdout."""
import sys

from entries import COLLECTIVES, SPELLING, entries

language = sys.argv[1]
fortran = language == "fortran"
statement = "call " if fortran else ""
end = "" if fortran else ";"
quote = "'" if fortran else '"'


def arguments(entry):
    spelling = SPELLING[language]
    words = []
    for word in COLLECTIVES[entry.collective].split():
        if entry.large and word in ("n", "counts", "displs", "bytes"):
            word += "_c"
        words.append(spelling.get(word, word))
    return words + ["neighbors" if entry.collective.startswith("neighbor_") else "MPI_COMM_WORLD"]


def call(function, words):
    if fortran:
        return f"call {function}({', '.join(words + ['ierr'])})"
    return f"{function}({', '.join(words)});"


def calls(entry):
    """The lines that make one call, without the check of its result."""
    words = arguments(entry)
    request = ["request"] if fortran else ["&request"]
    if entry.mode == "blocking":
        return [call(entry.name, words)]
    wait = call("MPI_Wait", request + ["MPI_STATUS_IGNORE"])
    if entry.mode == "nonblocking":
        # The large forms of Fortran are overloads.
        return [call(entry.name, words + request), wait]
    words += ["MPI_INFO_NULL"] + request
    name = entry.name
    return ["#ifdef PERSISTENT_IS_MPIX", call(name.replace("MPI_", "MPIX_", 1), words), "#else", call(name, words), "#endif",
            call("MPI_Start", request), wait, call("MPI_Request_free", request)]


for entry in entries():
    said = f"{quote}{entry.name}{quote}"
    lines = [f"{statement}begin({quote}{entry.collective}{quote}, {entry.count}){end}", *calls(entry),
             f"{statement}finish({said}){end}"]
    if fortran and entry.large:  # an overload of the same name
        lines = [line.replace("_c(", "(") for line in lines]
    condition = (["HAVE_LARGE"] if entry.large else []) + (["HAVE_PERSISTENT"] if entry.mode == "persistent" else [])
    if condition:
        lines = [f"#if {' && '.join(condition)}", *lines, "#else", f"{statement}absent({said}){end}", "#endif"]
    print("\n".join(lines))
