"""code_blocks.py DIRECTORY PAGE...: writes the programs in fenced blocks of the pages, PAGE_N.cpp and PAGE_N.c, into the directory."""
import pathlib
import re
import sys

directory = pathlib.Path(sys.argv[1])
for page in map(pathlib.Path, sys.argv[2:]):
    blocks = re.findall(r"^```(cpp|c)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for number, (language, text) in enumerate(blocks, 1):
        if "int main(" in text:
            (directory / f"{page.stem}_{number}.{language}").write_text(text, encoding="utf-8")
