"""The pages that are written by hand: Markdown of the repository, laid out as it is there, with links that a site can follow."""
import os
import pathlib
import re
import shutil
import subprocess

import notebooks

# Pages of the repository beside docs/.
ABOVE = ["README.md", "HACKING.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
PICTURES = {".svg", ".png"}

# Generated pages, by the section of docs/README.md that they end.
GENERATED = {
    "Users": ["commands/index.md", "api/index.md"],
    "Researchers": ["algorithms/index.md", "docs/algorithms.md", "docs/costs.md", "docs/peers.md", "docs/faults.md"],
}
# Pages of docs/ that the tool writes.
BY_TOOL = {"docs/algorithms.md": ["list", "--page", "algorithms"], "docs/costs.md": ["cost", "--page"],
           "docs/peers.md": ["list", "--page", "peers"], "docs/faults.md": ["faults", "--page"]}

FENCE = re.compile(r"^(```.*?^```[^\n]*$)", re.MULTILINE | re.DOTALL)
# A link whose text may have code or brackets in it. A picture has a mark before it.
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")


def write_if_new(path, text):
    """Writes a file unless it says so already: what has not changed is not read again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


class Links:
    """The place on the site to which a link of the repository leads."""

    def __init__(self, root, source, pages, repository):
        self.source = source
        self.root, self.pages, self.repository = root, set(pages), repository.rstrip("/")
        self.problems = []

    def page_of(self, path):
        """The page that is about a path of the repository, or nothing."""
        for page in (path, f"{path}/README.md", f"{path.removesuffix('.ipynb')}.md"):
            if page in self.pages:
                return page
        algorithm = re.fullmatch(r"core/algorithms/(\w+/\w+)\.cpp", path)
        header = re.fullmatch(r"core/include/circoll/([\w/]+)\.h(?:pp)?", path)
        if algorithm:
            return f"algorithms/{algorithm[1]}.md"
        return f"api/{header[1].replace('/', '_')}.md" if header else None

    def translated(self, page, mark, text, target):
        if re.match(r"[a-z]+:|#", target):
            return f"{mark}[{text}]({target})"
        name, _, anchor = target.partition("#")
        path = os.path.normpath(pathlib.PurePosixPath(page).parent / name)
        if path not in BY_TOOL and not (self.root / path).exists() and not (mark and (self.source / path).exists()):
            self.problems.append(f"{page}: nothing is at {target}")
        there = self.page_of(path)
        if there:
            relative = os.path.relpath(there, pathlib.PurePosixPath(page).parent)
            return f"{mark}[{text}]({relative}{'#' + anchor if anchor else ''})"
        if mark:
            return f"{mark}[{text}]({target})"
        if pathlib.PurePosixPath(path).suffix in PICTURES:
            # Markdown would make the link a download.
            return f'<a class="reference internal" href="{target}">{text}</a>'
        if self.repository:
            return f"[{text}]({self.repository}/{path})"
        return text if text.strip("`") in path else f"{text} (`{path}`)"

    def of_text(self, page, text):
        """A page's text with its links translated; code in fences and quotes stays as it is."""
        parts = FENCE.split(text)
        for i in range(0, len(parts), 2):
            parts[i] = LINK.sub(lambda found: self.translated(page, *found.groups()), parts[i])
        return "".join(parts)


def toctree(entries, caption="", hidden=True):
    options = (f":caption: {caption}\n" if caption else "") + (":hidden:\n" if hidden else "")
    return f"\n```{{toctree}}\n{options}:maxdepth: 1\n\n" + "".join(f"{entry}\n" for entry in entries) + "```\n"


def linked_pages(text, page):
    """Markdown pages that a page links to, in their order."""
    found = []
    for _, _, target in LINK.findall(text):
        path = os.path.normpath(pathlib.PurePosixPath(page).parent / target.split("#")[0])
        if path.endswith(".md") and not re.match(r"[a-z]+:", target) and path not in found:
            found.append(path)
    return found


def navigation(index, page):
    """Sections of docs/README.md: a caption and its pages each."""
    sections = []
    for part in index.split("\n## ")[1:]:
        caption, _, body = part.partition("\n")
        entries = [path.removesuffix(".md") for path in linked_pages(body, page)]
        entries += [path.removesuffix(".md") for path in GENERATED.get(caption, [])]
        sections.append((caption, entries))
    missing = set(GENERATED) - {caption for caption, _ in sections}
    if missing:
        raise SystemExit(f"docs/README.md has no section {missing}")
    return sections


def lay_out(root, circoll, source, pictures, repository, here):
    """Writes the pages into `source`, and pictures into both places; returns the names of all pages and problems."""
    files = sorted((root / "docs").glob("**/*"))
    pages = [*ABOVE, *(str(f.relative_to(root)) for f in files if f.suffix == ".md")]
    written = {page: (root / page).read_text(encoding="utf-8") for page in pages}
    for page, words in BY_TOOL.items():
        written[page] = subprocess.run([circoll, *words], stdout=subprocess.PIPE, text=True, check=True).stdout
    shown, problems = notebooks.texts(root, circoll.parent.parent, source)
    written |= shown
    links = Links(root, source, written, repository)
    texts = {page: links.of_text(page, text) for page, text in written.items()}
    # A folder's README has its pages below it.
    for page in pages:
        folder = str(pathlib.PurePosixPath(page).parent)
        if page.endswith("/README.md") and folder != "docs":
            below = [path for path in [*linked_pages(texts[page], page), *pages] if str(pathlib.PurePosixPath(path).parent) == folder]
            texts[page] += toctree(pathlib.PurePosixPath(path).stem for path in dict.fromkeys(below) if path != page)
    texts[notebooks.PAGE] += toctree(str(pathlib.PurePosixPath(page).relative_to("docs/lab")).removesuffix(".md") for page in shown)
    start = (here / "start.md").read_text(encoding="utf-8")
    introduction, commands = re.search(r"^# .*?\n\n(.*?)\n\n## Quick start\n\n(.*?)\n\nUse as many", texts["README.md"], re.DOTALL).groups()
    start = start.replace("INTRODUCTION", introduction.replace("](#", "](README.md#")).replace("COMMANDS", commands)
    start += toctree(["The README <README>", "All pages <docs/README>"], "Start")
    for caption, entries in navigation(texts["docs/README.md"], "docs/README.md"):
        start += toctree(entries, caption)
    texts["index.md"] = start
    for page, text in texts.items():
        write_if_new(source / page, text)
    for file in files:
        if file.suffix in PICTURES:
            for place in (source, pictures):
                (place / file.relative_to(root)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, place / file.relative_to(root))
    return list(texts), problems + links.problems
