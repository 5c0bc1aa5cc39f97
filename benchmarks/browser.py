"""Open a report in headless Chromium, in the width of a phone and of a screen, and find faults.

    pip install playwright
    python benchmarks/browser.py REPORT.html [--chromium /usr/bin/chromium] [--out FOLDER]

It fails on a message in the console, on a request for anything outside the file, on a page wider
than the window, and on text smaller than 10 pixels. It writes pictures of the page to FOLDER.
"""

import argparse
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

WIDTHS = (400, 1400)
SMALLEST = 10.0
"""Pixels."""

MEASURE = """() => {
  const sizes = [...document.querySelectorAll('body *')]
    .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
    .filter(e => e.getClientRects().length)
    .map(e => parseFloat(getComputedStyle(e).fontSize));
  return {wide: document.documentElement.scrollWidth, text: Math.min(...sizes)};
}"""


def faults(page: Page, address: str, width: int, picture: Path) -> list[str]:
    """Return the faults of a page in a window of this width (in pixels)."""
    found: list[str] = []
    page.on("console", lambda message: found.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: found.append(f"error: {error}"))
    page.on(
        "request",
        lambda asked: (
            found.append(f"request for {asked.url:.100}")
            if asked.url != address and not asked.url.startswith("data:")
            else None
        ),
    )
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    measured = page.evaluate(MEASURE)
    if measured["wide"] > width:
        found.append(f"the page is {measured['wide']} pixels wide")
    if measured["text"] < SMALLEST:
        found.append(f"text of {measured['text']} pixels")
    page.screenshot(path=picture, full_page=True)
    return found


def main() -> int:
    """Return 1 if there is a fault, otherwise 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--out", type=Path, default=Path("pictures"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    wrong = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium)
        for width in WIDTHS:
            page = browser.new_page()
            picture = options.out / f"{options.report.stem}-{width}.png"
            found = faults(page, options.report.resolve().as_uri(), width, picture)
            print(f"{width} pixels: {'; '.join(found) or 'nothing wrong'}; {picture}")
            wrong += len(found)
        browser.close()
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
