"""The style sheet of the report: one column, wide things scroll by themselves, light and dark."""

STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --line: #d1d9e0;
  --page: #ffffff; --shade: #f6f8fa; --mark: #ddf4e8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --line: #3d444d;
  --page: #0d1117; --shade: #151b23; --mark: #12412b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui,
  -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 24px 20px 64px; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; padding-bottom: .3rem;
  border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
p, dl { max-width: 46rem; margin: .6rem 0; }
.lead, .caption, .missing { color: var(--soft); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem .9rem; }
dt { font-weight: 600; }
dd { margin: 0; }
.wide { overflow-x: auto; margin: .8rem 0; }
img { display: block; width: 100%; min-width: 860px; height: auto; background: #fff;
  border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .94rem; }
.caption { font-size: .88rem; margin-bottom: 0; }
th, td { padding: .32rem .7rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; }
thead th { background: var(--shade); font-weight: 600; }
th:first-child { text-align: left; }
tbody th { font-weight: 500; background: var(--page); }
th:first-child { position: sticky; left: 0; }
td.own { background: var(--mark); }
table.text td, table.text th { text-align: left; white-space: pre-line; vertical-align: top; }
@media (max-width: 600px) { th, td { padding: .3rem .4rem; } }
summary { cursor: pointer; padding: .25rem 0; overflow-wrap: anywhere; }
code { background: var(--shade); padding: .1em .35em; border-radius: 4px; }
"""
