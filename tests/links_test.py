"""links_test.py SOURCE_DIR: relative links in the documentation lead somewhere, and every page of docs/ is linked."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
pages = sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")])
failed = False
linked = set()
for page in pages:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            continue
        there = (page.parent / target.split("#")[0]).resolve()
        linked |= {there} if there != page else set()
        if not there.exists():
            print(f"{page.relative_to(root)}: nothing is at {target}")
            failed = True
    # Paths of the tree that stand in code quotes.
    for path in re.findall(r"`((?:core|tools|lab|tests|docs|dev|cmake)/[\w./-]+)`", text):
        if not (root / path).exists():
            print(f"{page.relative_to(root)}: there is no {path}")
            failed = True
# A link to a folder leads to its pages.
for page in root.glob("docs/**/*.md"):
    if page not in linked and page.parent not in linked:
        print(f"{page.relative_to(root)}: no page leads here")
        failed = True
if len(pages) < 10:
    print(f"only {len(pages)} pages are there")
    failed = True
print("FAILED" if failed else "PASS")
sys.exit(failed)
