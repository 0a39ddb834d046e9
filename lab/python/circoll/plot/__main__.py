"""Draws what a command of Circoll wrote with --json. The tool starts this folder as a program:

    python3 plot FILE.json... -o OUT.svg [--kind times|ratios|spacetime|circle] [--title TITLE]
"""
import argparse
import json
import pathlib
import sys

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])  # plot is found beside other folders, and circoll is not needed

NEEDS_MATPLOTLIB = 3  # exit code


def _read(paths):
    documents = []
    for path in paths:
        try:
            documents.append(json.loads(pathlib.Path(path).read_text(encoding="utf-8")))
        except OSError as error:
            raise ValueError(f"{path}: {error.strerror}") from error
        except ValueError as error:
            raise ValueError(f"{path}: this is no JSON: {error}") from error
    return documents


def main():
    """The program; its exit code."""
    parser = argparse.ArgumentParser(description="Draws what a command of Circoll wrote with --json.")
    parser.add_argument("files", nargs="*")
    parser.add_argument("-o", "--output", required=True, help="its ending says the form: svg, pdf, png")
    parser.add_argument("--kind", choices=("times", "ratios", "spacetime", "circle"))
    parser.add_argument("--title")
    options = parser.parse_args()
    try:
        import matplotlib
    except ImportError as error:
        print(f"plot: {error}", file=sys.stderr)
        return NEEDS_MATPLOTLIB
    matplotlib.use("Agg")
    if not options.files:  # the caller asks whether charts can be drawn
        return 0
    import plot
    import plot.look
    try:
        form = pathlib.Path(options.output).suffix[1:]
        if form not in ("svg", "pdf", "png"):
            raise ValueError(f"{options.output}: the name of a chart ends in .svg, .pdf or .png")
        documents = _read(options.files)
        try:
            figure = plot.chart(documents if len(documents) > 1 else documents[0], options.kind, options.title)
        except (ValueError, LookupError, TypeError) as error:
            why = error if isinstance(error, ValueError) else f"there is no chart for this: {error!r}"
            raise ValueError(f"{options.files[0]}: {why}") from error
        plot.look.save(figure, options.output)
    except (ValueError, OSError) as error:
        print(f"plot: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
