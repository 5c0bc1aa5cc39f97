"""A report as one HTML page that loads no other file and runs no script."""

import base64
import re
from collections.abc import Iterator, Sequence
from html import escape

from lifelong_co.experiments.report import Part, Picture, Report, Section
from lifelong_co.experiments.sheet import Sheet
from lifelong_co.experiments.style import STYLE

ROWS = ("method", "method (solver)", "setting")
"""Columns that name what a row is about; otherwise the second column with words does."""


def page(report: Report) -> str:
    """Return the page; all text in it is escaped."""
    title = escape(report.title)
    body = [f"<h1>{title}</h1>", *_lead(report.text), _index(report), _numbers(report)]
    for number, part in enumerate(report.parts, start=1):
        body += _part(part, number)
    body += _list("missing", "Not shown", report.missing)
    body += _list("left-out", "Not used", report.left_out)
    text = "\n".join(body)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{text}\n</main>\n</body>\n</html>\n"
    )


def _list(name: str, heading: str, lines: Sequence[str]) -> list[str]:
    items = "".join(f"<li>{_prose(line)}</li>" for line in lines)
    return [f'<h2 id="{name}">{heading}</h2>\n<ul class="plain">{items}</ul>'] if lines else []


def _lead(text: str) -> list[str]:
    return [f'<p class="lead">{escape(text)}</p>'] if text else []


def _index(report: Report) -> str:
    lists = []
    for number, part in enumerate(report.parts, start=1):
        entries = [
            f'<li><a href="#part-{number}-{i}">{escape(section.heading)}</a></li>'
            for i, section in enumerate(part.sections, start=1)
            if not section.empty
        ]
        if part.title and entries:
            lists.append(f"<p>{escape(part.title)}</p><ul>{''.join(entries)}</ul>")
    return f"<nav>{''.join(lists)}</nav>" if lists else ""


def _numbers(report: Report) -> str:
    said = dict.fromkeys(sheet.common for sheet in report.sheets if sheet.common)
    terms = (f"<dt>{escape(k)}</dt><dd>{escape(text)}</dd>" for k, text in report.meanings.items())
    opened = " open" if not _index(report) else ""
    return (
        f"<details{opened}><summary>What the numbers mean</summary>"
        f"{''.join(f'<p>{_prose(text)}</p>' for text in said)}<dl>{''.join(terms)}</dl></details>"
    )


def _part(part: Part, number: int) -> Iterator[str]:
    """Yield a part without its empty sections; the page lists them at its end."""
    if all(section.empty for section in part.sections):
        return
    if part.title:
        yield f"<h2>{escape(part.title)}</h2>"
    yield from _lead(part.text)
    level = "h3" if part.title else "h2"
    for i, section in enumerate(part.sections, start=1):
        if section.empty:
            continue
        yield f'<{level} id="part-{number}-{i}">{escape(section.heading)}</{level}>'
        yield from _section(section)


def _section(section: Section) -> Iterator[str]:
    if section.text:
        yield f"<p>{_prose(section.text)}</p>"
    for sheet in section.sheets:
        title = "" if sheet.title == section.heading else escape(sheet.title)
        if section.folded:
            yield f"<details><summary>{title or 'Show the table'}</summary>{table(sheet)}</details>"
        else:
            yield f"<h4>{title}</h4>{table(sheet)}" if title else table(sheet)
    if section.pictures:
        yield f'<div class="pictures">{"".join(map(_picture, section.pictures))}</div>'


def table(sheet: Sheet) -> str:
    """Return a table with its note below it."""
    only_words = sheet.left == len(sheet.header)
    named = (j for j, name in enumerate(sheet.header[: sheet.left]) if name in ROWS)
    names = 0 if only_words else next(named, min(sheet.left - 1, 1))  # it stays in view
    best, number = sheet.best(), 0
    spans = (f'<th colspan="{count}">{escape(title)}</th>' for title, count in sheet.spans)
    parts = [f'<tr class="spans">{"".join(spans)}</tr>'] if sheet.spans else []
    header = []
    for j, name in enumerate(sheet.header):
        kind = "row" if j == names else "word" if j < sheet.left else ""
        header.append(f'<th scope="col"{_class(kind)}>{escape(name)}</th>')
    parts = [f"<thead>{''.join(parts)}<tr>{''.join(header)}</tr></thead>"]
    for block in sheet.blocks:
        parts.append("<tbody>")
        for row in block:
            cells = []
            for j, cell in enumerate(row):
                left = "word" if j < sheet.left else ""
                kind = "best" if (number, j) in best else "own" if cell.marked else left
                tag = 'th scope="row"' if j == names else f"td{_class(kind)}"
                cells.append(f"<{tag}>{escape(cell.shown)}</{tag[:2]}>")
            parts.append(f"<tr>{''.join(cells)}</tr>")
            number += 1
        parts.append("</tbody>")
    note = f'\n<p class="caption">{_prose(sheet.note)}</p>' if sheet.note else ""
    kind = _class("text" if only_words else "")
    return f'<div class="wide" tabindex="0"><table{kind}>{"".join(parts)}</table></div>{note}'


def _picture(picture: Picture) -> str:
    data = base64.b64encode(picture.png).decode("ascii")
    caption = escape(picture.caption)
    return (
        f'<figure{_class("wide" if picture.wide else "")}><img alt="{caption}"'
        f' src="data:image/png;base64,{data}"><figcaption>{caption}</figcaption></figure>'
    )


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _prose(text: str) -> str:
    """Return escaped text; text between backticks becomes code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))
