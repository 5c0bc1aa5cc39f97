"""The style sheet of the page: one column, scroll bars for wide tables, light and dark."""

STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --line: #d1d9e0;
  --page: #ffffff; --shade: #f6f8fa; --mark: #ddf4e8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --line: #3d444d;
  --page: #0d1117; --shade: #151b23; --mark: #12412b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui,
  -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1320px; margin: 0 auto; padding: 24px 20px 64px; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; padding-bottom: .3rem;
  border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
p, dl { max-width: 46rem; margin: .6rem 0; }
.lead, .caption { color: var(--soft); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem .9rem; }
dt { font-weight: 600; }
dd { margin: 0; }
.wide { overflow-x: auto; margin: .8rem 0; background:
  linear-gradient(to right, var(--page) 50%, transparent) left / 40px 100% no-repeat local,
  linear-gradient(to left, var(--page) 50%, transparent) right / 40px 100% no-repeat local,
  linear-gradient(to right, var(--line), transparent) left / 14px 100% no-repeat scroll,
  linear-gradient(to left, var(--line), transparent) right / 14px 100% no-repeat scroll; }
figure { margin: 0; }
img { display: block; width: 100%; height: auto; background: #fff;
  border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .94rem; }
.caption { font-size: .88rem; margin-bottom: 0; }
th, td { padding: .32rem .7rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; }
thead th { background: var(--shade); font-weight: 600; }
tbody th { font-weight: 500; background: var(--page); }
th.row, th[scope=row] { position: sticky; left: 0; text-align: left; }
.word { text-align: left; }
td.own { background: var(--mark); }
td.best { font-weight: 700; }
table.text td, table.text th { text-align: left; white-space: pre-line; vertical-align: top; }
@media (max-width: 600px) { th, td { padding: .3rem .4rem; } }
.pictures { display: grid; gap: 20px 24px; align-items: start; margin: 1rem 0;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr)); }
figure.wide { grid-column: 1 / -1; margin: 0; overflow-x: auto; }
figure.wide img { min-width: 860px; }
figcaption { color: var(--soft); font-size: .88rem; margin-top: .3rem; }
h4 { font-size: .92rem; margin: 1.1rem 0 .2rem; }
tr.spans th { text-align: left; border-bottom: 0; }
tbody + tbody tr:first-child > * { border-top: 2px solid var(--line); }
nav p { margin: .4rem 0 0; font-weight: 600; }
nav ul { columns: 2; margin: .2rem 0; padding-left: 1.2rem; }
ul.plain { font-size: .88rem; overflow-wrap: anywhere; }
@media (max-width: 600px) { nav ul { columns: 1; } main { padding: 12px 14px 48px; } }
summary { cursor: pointer; padding: .25rem 0; overflow-wrap: anywhere; }
code { background: var(--shade); padding: .1em .35em; border-radius: 4px; }
"""
