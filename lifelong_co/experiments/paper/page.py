"""The report as one page: nothing is loaded, no script runs, wide tables scroll by themselves."""

import base64
import re
from collections.abc import Iterator
from html import escape

from lifelong_co.experiments.comparison import html
from lifelong_co.experiments.paper.contents import Book, Part, Picture, Section
from lifelong_co.experiments.sheet import Sheet


def page(book: Book) -> str:
    """Return the page."""
    parts = [
        f"<h1>{escape(book.title)}</h1>",
        _index(book),
        *_numbers(book),
    ]
    for number, part in enumerate(book.parts, start=1):
        parts += _part(part, f"part-{number}")
    if book.left_out:
        lines = "".join(f"<li>{escape(line)}</li>" for line in book.left_out)
        parts.append(f'<h2 id="left-out">Left out</h2>\n<ul class="plain">{lines}</ul>')
    return html.document(book.title, "\n".join(parts))


def _index(book: Book) -> str:
    lists = []
    for number, part in enumerate(book.parts, start=1):
        entries = [
            f'<li><a href="#{_anchor(f"part-{number}", i)}">{escape(section.heading)}</a></li>'
            for i, section in enumerate(part.sections)
            if not section.empty
        ]
        if entries:
            lists.append(f"<p>{escape(part.title)}</p><ul>{''.join(entries)}</ul>")
    return f"<nav>{''.join(lists)}</nav>"


def _numbers(book: Book) -> Iterator[str]:
    yield "<details><summary>What the numbers are</summary>"
    for said in dict.fromkeys(sheet.common for sheet in book.sheets if sheet.common):
        yield f"<p>{_prose(said)}</p>"
    yield html.meanings() + "</details>"


def _part(part: Part, name: str) -> Iterator[str]:
    yield f"<h2>{escape(part.title)}</h2>"
    if part.text:
        yield f'<p class="lead">{escape(part.text)}</p>'
    for i, section in enumerate(part.sections):
        yield f'<h3 id="{_anchor(name, i)}">{escape(section.heading)}</h3>'
        yield from _section(section)


def _section(section: Section) -> Iterator[str]:
    if section.empty:
        yield f'<p class="missing">Not here: {_prose(section.missing)}</p>'
    elif section.text:
        yield f"<p>{_prose(section.text)}</p>"
    body = [*map(table, section.sheets)]
    if section.pictures:
        body.append(f'<div class="pictures">{"".join(map(_picture, section.pictures))}</div>')
    if section.folded:
        body = ["<details><summary>Show</summary>", *body, "</details>"]
    yield from body


def table(sheet: Sheet) -> str:
    """Return a table with its title above and its note below."""
    best, names = sheet.best(), min(sheet.left - 1, 1)  # the column that stays in view
    bodies, number = [], 0
    for block in sheet.blocks:
        rows = []
        for row in block:
            cells = []
            for j, cell in enumerate(row):
                kind = "best" if (number, j) in best else "word" if j < sheet.left else ""
                tag = 'th scope="row"' if j == names else f"td{_class(kind)}"
                cells.append(f"<{tag}>{escape(cell.shown)}</{tag[:2]}>")
            rows.append(f"<tr>{''.join(cells)}</tr>")
            number += 1
        bodies.append(f"<tbody>{''.join(rows)}</tbody>")
    note = f'<p class="caption">{_prose(sheet.note)}</p>' if sheet.note else ""
    return (
        f"<h4>{escape(sheet.title)}</h4>\n"
        f'<div class="wide"><table class="book"><thead>{_head(sheet, names)}</thead>'
        f"{''.join(bodies)}</table></div>\n{note}"
    )


def _head(sheet: Sheet, names: int) -> str:
    above = "".join(f'<th colspan="{count}">{escape(title)}</th>' for title, count in sheet.spans)
    cells = []
    for j, name in enumerate(sheet.header):
        kind = "row" if j == names else "word" if j < sheet.left else ""
        cells.append(f'<th scope="col"{_class(kind)}>{escape(name)}</th>')
    return (f'<tr class="spans">{above}</tr>' if above else "") + f"<tr>{''.join(cells)}</tr>"


def _picture(picture: Picture) -> str:
    data = base64.b64encode(picture.png).decode("ascii")
    caption = escape(picture.caption)
    return (
        f'<figure><img alt="{caption}" src="data:image/png;base64,{data}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _prose(text: str) -> str:
    """Return escaped text with what stands between backticks as code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def _anchor(part: str, section: int) -> str:
    return f"{part}-{section + 1}"
