"""Sphinx reads the pages that site/build has laid out. Everything it needs comes from Debian; nothing is loaded while it runs."""
import logging
import os
import pathlib
import re

from docutils import nodes

root = pathlib.Path(os.environ["CIRCOLL_ROOT"])
project = "Circoll"
author = "The Circoll authors"
copyright = author
version = release = re.search(r"project\(circoll VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text(encoding="utf-8"))[1]

extensions = ["myst_parser", "breathe"]
# Anchors of headings are those that GitHub makes.
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
# "--jobs" is an option, and no dash.
smartquotes = False
# Indented blocks name no language. The code below tells commands from other text.
highlight_language = "text"
nitpicky = False

html_theme = "furo"
html_title = f"Circoll {release}"
html_static_path = [str(root / "site" / "style")]
html_css_files = ["site.css"]
html_extra_path = [os.environ["CIRCOLL_EXTRA"]]
html_copy_source = False
html_show_sphinx = False
# Fonts are the reader's own.
html_theme_options = {"navigation_with_keys": False}

breathe_projects = {"circoll": os.environ["CIRCOLL_DOXYGEN"]}
breathe_default_project = "circoll"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}

COMMAND = re.compile(r"(?:\w+=\S+ )*(?:circoll|circoll-\w+|mpirun|cmake|ctest|cpack|export|dev/\w+|lab/experiments/\S+|\./\w+)\s")


def colour_commands(app, doctree, docname):
    """Blocks without a language that begin with a command are coloured as one."""
    for block in doctree.findall(nodes.literal_block):
        if block.get("language", "text") in ("text", "default", "none") and COMMAND.match(block.astext()):
            block["language"] = "bash"


def says_more(record):
    """False for the warning that a namespace is declared again, which it is in every header."""
    return not re.search(r"Duplicate C\+\+ declaration.*cpp:type:: (circoll|foreign|local|mpi|sim)'", record.getMessage(), re.DOTALL)


def setup(app):
    logging.getLogger("sphinx.sphinx.domains.cpp").addFilter(says_more)
    app.connect("doctree-resolved", colour_commands)
