"""wrong_calls_test.py COMPILER INCLUDE_DIR: calls of the typed API that cannot compile get a sentence that shows the way.

Each call is compiled alone. The compiler prints the sentence as its only error, and few lines in all.
"""
import pathlib
import subprocess
import sys
import tempfile

MOST_LINES = {"gcc": 14, "clang": 24}  # clang shows the code of each step

HEADERS = """#include <circoll/local.hpp>

#include <list>
#include <string>
"""
BEFORE = """struct Hit { double score; int place; };

void wrong(circoll::local::Comm& comm, int n) {
  [[maybe_unused]] std::vector<double> a(8), b(8);
  [[maybe_unused]] std::vector<Hit> hits(8), best(8);
  [[maybe_unused]] const std::vector<double> constant(8);
  [[maybe_unused]] std::vector<int> ints(8);
  [[maybe_unused]] std::vector<circoll::Count> counts(8);
  [[maybe_unused]] const auto better = [](const Hit& x, const Hit& y) { return y.score > x.score ? y : x; };
  (void)comm, (void)n;
"""
AFTER = ";\n}\n"

CALLS = {
    "circoll::allreduce(hits, best, circoll::Op::sum, comm)": "combine a struct by a callable",
    "circoll::allreduce(a, b, better, comm)": "op is no operator of these elements",
    "circoll::allreduce(a, b, [](double x) { return x; }, comm)": "a callable T f(const T&, const T&) that is const",
    "circoll::allreduce(hits, best, [n](const Hit& x, const Hit&) mutable { ++n; return x; }, comm)": "that is const",
    "circoll::allreduce(a, b, std::minus<>(), comm)": "std::minus and std::divides are not associative",
    "(void)circoll::allreduce(hits[0], circoll::Op::max, comm)": "combine a struct by a callable",
    "circoll::allreduce(a.data(), b.data(), circoll::Op::sum, comm)": "give std::span(pointer, count)",
    "circoll::allreduce(a.data(), b.data(), 8, circoll::Op::sum, comm)": "write allreduce(sendbuf, recvbuf, op, comm[, choice])",
    "circoll::allreduce(a, b, comm, circoll::Op::sum)": "write allreduce(sendbuf, recvbuf, op, comm[, choice])",
    "circoll::allreduce(a, b, circoll::Op::sum, comm, 7)": "write allreduce(sendbuf, recvbuf, op, comm[, choice])",
    "circoll::reduce(a, b, circoll::Op::sum, comm)": "write reduce(sendbuf, recvbuf, op, root, comm[, choice])",
    "double sum = circoll::allreduce(1.5, comm); (void)sum": "by value allreduce(sendbuf, op, comm[, choice])",
    "(void)circoll::allreduce(a, circoll::Op::sum, circoll::nonblocking(comm))": "need a communicator that waits",
    "auto request = circoll::allreduce(constant, std::vector<double>(8), std::plus<>(), circoll::nonblocking(comm))":
        "takes no temporary buffer",
    "circoll::scan(a, circoll::in_place, std::plus<>(), comm)": "in_place stands for sendbuf",
    "circoll::allgather(a, constant, comm)": "the receive buffer is constant",
    "circoll::allgather(a, ints, comm)": "send and receive buffers have different element types",
    "circoll::allgather(std::list<double>(8), b, comm)": "a buffer is a contiguous range",
    "std::vector<std::string> names(8); circoll::bcast(names, 0, comm)": "the elements of a buffer are trivially copyable",
    "std::vector<bool> flags(8); circoll::bcast(flags, 0, comm)": "std::vector (not of bool)",
    "(void)circoll::allgather(std::pair(1, 2), comm)": "std::pair and std::tuple are not",
    "circoll::allgatherv(a, b, ints, ints, comm)": "counts and displacements are std::int64_t",
    "circoll::gather(a, b, comm)": "write gather(sendbuf, recvbuf, root, comm[, choice])",
    "circoll::barrier()": "write barrier(comm[, choice])",
}


def main():
    compiler, include = sys.argv[1:]
    compile_ = [compiler, "-std=c++20", "-Wall", "-Wextra", "-fdiagnostics-color=never", f"-I{include}"]
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    most = MOST_LINES["clang" if "clang" in version else "gcc"]
    wrong, longest = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        headers, source = pathlib.Path(scratch, "headers.hpp"), pathlib.Path(scratch, "call.cpp")
        headers.write_text(HEADERS, encoding="utf-8")
        subprocess.run([*compile_, "-x", "c++-header", headers, "-o", f"{headers}.gch"], check=True)

        def messages_of(call):
            source.write_text(BEFORE + "  " + call + AFTER, encoding="utf-8")
            return subprocess.run([*compile_, "-fsyntax-only", "-include", headers, source], capture_output=True, text=True,
                                  check=False).stderr

        # The frame around the calls is right.
        if said := messages_of("circoll::allreduce(hits, best, better, comm)"):
            wrong.append(f"a right call gives:\n{said}")
        for call, sentence in CALLS.items():
            said = messages_of(call)
            errors = [line for line in said.splitlines() if "error:" in line]
            longest = max(longest, len(said.splitlines()))
            if len(errors) != 1 or sentence not in errors[0]:
                wrong.append(f"{call}\n  gives {len(errors)} errors, of which the first does not say \"{sentence}\":\n{said}")
            elif len(said.splitlines()) > most:
                wrong.append(f"{call}\n  gives {len(said.splitlines())} lines:\n{said}")
    print("\n".join(wrong) if wrong else f"PASS: {len(CALLS)} wrong calls get one sentence each, in at most {longest} lines")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
