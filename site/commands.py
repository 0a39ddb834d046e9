"""The reference of the command line: manual pages, which the tool writes from its table of commands, as Markdown."""
import pathlib
import re
import subprocess
import tempfile

from pages import toctree, write_if_new


def markdown_of(manual):
    """A manual page as Markdown by mandoc, with its lists as lists of terms, and its words as links."""
    text = subprocess.run(["mandoc", "-T", "markdown", manual], capture_output=True, text=True, check=True).stdout
    # The first line and the last are a manual's head and foot.
    text = "\n".join(text.strip().splitlines()[1:-1])
    text = re.sub(r"(?m)^# (\w)([\w ]*)$", lambda found: f"## {found[1]}{found[2].lower()}", text)
    text = re.sub(r"(?m)^\n> ", ": ", re.sub(r"(?m)(?<=\S)\n> ", "\n  ", text))
    text = re.sub(r"\(?\bdocs/([\w/-]+)\.md\b(\)?)", lambda found: f"{'(' if found[2] else ''}[{found[1]}](../docs/{found[1]}.md){found[2]}", text)
    text = re.sub(r"\b(circoll(?:-\w+)?)\(1\)", lambda found: f"[{found[1].replace('-', ' ')}]({found[1]}.md)", text)
    return f"# {manual.stem.replace('-', ' ', 1)}\n{text}\n"


def lay_out(circoll, source):
    """Writes a page for each command; returns their names."""
    names = []
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([circoll, "man", "--all", directory], check=True)
        for manual in sorted(pathlib.Path(directory).glob("*.1")):
            name = f"commands/{manual.stem}.md"
            write_if_new(source / name, markdown_of(manual))
            names.append(name)
    index = ("# The command line\n\n`circoll --help` and `circoll COMMAND --help` print what these pages say, and `man circoll-COMMAND` where "
             "Circoll is installed.\n" + toctree((pathlib.PurePosixPath(name).stem for name in names), hidden=False))
    write_if_new(source / "commands" / "index.md", index)
    return [*names, "commands/index.md"]
