#!/usr/bin/env python3
"""Differences that compare.py lets pass and differences that it does not, and the reading of a report."""
import json
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
    def read(self, text):
        with tempfile.TemporaryDirectory() as work:
            path = pathlib.Path(work) / "report"
            path.write_text(text, encoding="utf-8")
            return report.by_collective(path)

    def test_report(self):
        row = {"collective": "allreduce", "comm_size": 3, "calls": 6}
        calls = self.read(json.dumps({"circoll_report": 1, "rows": [
            dict(row, mode="blocking", served_by="circulant", why_native=None),
            dict(row, mode="nonblocking", served_by="native", why_native="so"),
            dict(row, mode="persistent", served_by="ring", why_native=None)]}))
        self.assertEqual(list(calls), ["allreduce", "iallreduce", "persistent allreduce"])
        self.assertEqual(report.not_served(calls, [*calls, "bcast"]), ["iallreduce", "bcast"])
        self.assertEqual(calls["iallreduce"].reasons, ["so"])

    def test_no_report(self):
        self.assertEqual(report.by_collective("/no/such/file"), {})


if __name__ == "__main__":
    unittest.main()
