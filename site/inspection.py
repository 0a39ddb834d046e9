"""The finished site, read as a browser does: every link and anchor leads somewhere, and every page is there and can be reached."""
import html.parser
import pathlib
import urllib.parse

# Pages that Sphinx makes by itself, to which the frame of every page leads.
OF_SPHINX = {"genindex.html", "search.html"}


class Page(html.parser.HTMLParser):
    """The links of a page, and what links can lead to in it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors |= {attributes[key] for key in ("id", "name") if attributes.get(key)}
        target = attributes.get("src" if tag in ("img", "script", "source") else "href")
        if target:
            self.links.append(target)


def problems_of(site, names):
    """The problems of the site that has these pages (names of their sources)."""
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html") if path.name != "explorer.html"}
    problems = []
    reached = {}
    for path, page in pages.items():
        reached[path] = set()
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not there.is_file():
                problems.append(f"{path.relative_to(site)}: nothing is at {link}")
            elif there in pages:
                reached[path].add(there)
                anchor = urllib.parse.unquote(parts.fragment)
                if anchor and anchor not in pages[there].anchors:
                    problems.append(f"{path.relative_to(site)}: {there.relative_to(site)} has no {anchor}")
    for name in names:
        if not (site / name).with_suffix(".html").exists():
            problems.append(f"there is no page of {name}")
    found, waiting = set(), [(site / "index.html").resolve()]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += reached.get(path, ())
    problems += [f"no link leads to {path.relative_to(site)}" for path in pages if path not in found and path.name not in OF_SPHINX]
    if len(pages) < len(names) or not (site / "searchindex.js").exists():
        problems.append("pages or the index of the search are missing")
    return sorted(set(problems))
