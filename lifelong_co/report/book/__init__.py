"""The paper's tables and figures from whatever finished runs there are (docs/report.md)."""
