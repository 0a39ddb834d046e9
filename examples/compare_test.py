#!/usr/bin/env python3
"""What compare.py lets pass and what it does not, and how a report is read."""
import pathlib
import tempfile
import types
import unittest

import compare
import report


def compared(left, right, np=3, close=(), unsteady=False):
    args = types.SimpleNamespace(np=np, close=[list(rule) for rule in close], unsteady=unsteady)
    return compare.Comparison(args, left, right)


CLOSE = [("^x", "1e-9", "0"), ("^y", "0", "1e-3")]


class ComparisonTest(unittest.TestCase):
    def test_identical(self):
        self.assertEqual(compared(["a 1", "b"], ["a 1", "b"]).problems, [])

    def test_differences_need_a_pattern(self):
        self.assertEqual(len(compared(["z 1.0"], ["z 1.0000000000000002"], close=CLOSE).problems), 1)
        self.assertEqual(compared(["x 1.0"], ["x 1.0000000000000002"], close=CLOSE).problems, [])

    def test_bounds(self):
        self.assertEqual(len(compared(["x 1.0"], ["x 1.00000001"], close=CLOSE).problems), 1)
        self.assertEqual(compared(["y 1e-9"], ["y -1e-9"], close=CLOSE).problems, [])
        self.assertEqual(len(compared(["y 1"], ["y 1.01"], close=CLOSE).problems), 1)
        self.assertEqual(len(compared(["y 1"], ["y nan"], close=CLOSE).problems), 1)

    def test_words_and_lengths(self):
        self.assertEqual(len(compared(["x yes"], ["x no"], close=CLOSE).problems), 1)
        self.assertEqual(len(compared(["x 1 2"], ["x 1"], close=CLOSE).problems), 1)
        self.assertEqual(len(compared(["x 1", "x 2"], ["x 1"], close=CLOSE).problems), 1)

    def test_two_ranks_have_one_order(self):
        near = (["x 1.0"], ["x 1.0000000000000002"])
        self.assertEqual(len(compared(*near, np=2, close=CLOSE).problems), 1)
        self.assertEqual(compared(*near, np=2, close=CLOSE, unsteady=True).problems, [])

    def test_summary(self):
        self.assertEqual(compared(["a"], ["a"]).summary(), "all 1 lines identical")
        self.assertEqual(compared(["a", "x 1.0"], ["a", "x 1.0000000001"], close=CLOSE).summary(),
                         "1 of 2 lines identical, the others differ by at most 1e-10")


class ReportTest(unittest.TestCase):
    def test_report(self):
        with tempfile.TemporaryDirectory() as work:
            path = pathlib.Path(work) / "report"
            path.write_text(
                "circoll: calls and bytes are sums over the 3 ranks of MPI_COMM_WORLD, seconds the maximum of a rank\n"
                "circoll: collective served by calls bytes seconds  why native\n"
                "circoll: bcast      circulant_pipelined  3  36  0.000116\n"
                "circoll: bcast      native               6  72  0.000116  an intercommunicator\n", encoding="utf-8")
            calls = report.by_collective(path)
        self.assertEqual(list(calls), ["bcast"])
        self.assertEqual((calls["bcast"].served, calls["bcast"].native), (3, 6))
        self.assertEqual(calls["bcast"].reasons, ["an intercommunicator"])

    def test_no_report(self):
        self.assertEqual(report.by_collective("/no/such/file"), {})


if __name__ == "__main__":
    unittest.main()
