"""report_rows.py: prints the rows of a report, whose JSON it reads, as lines of the text form.

The text form leaves out rows that took little time, and which those are differs from run to run. Tests read this instead.
"""
import json
import sys

section = None
for row in json.load(sys.stdin)["rows"]:
    if section != (row["comm_size"], row["mode"]):
        section = row["comm_size"], row["mode"]
        print(f"circoll: communicators of {row['comm_size'] or 'unknown'} ranks, {row['mode']} calls")
    print(f"circoll: {row['collective']:<20} {row['served_by']:<21} {row['calls']:>9}")
    print("circoll:     sizes ", " ".join(f"{one['bytes_from']}:{one['calls']}" for one in row["histogram"]))
    print("circoll:     why   ", max(row["histogram"], key=lambda one: one["calls"])["why"])
