"""The examples of the page do what the page says."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[4] / "docs" / "client.md"


def test_the_examples_print_what_the_page_says(service, capsys):
    text = PAGE.read_text()
    examples = re.findall(r"```python\n(.*?)```\n\nprints `([^`]*)`", text, re.S)
    assert len(examples) == 2
    for code, expected in examples:
        exec(code.replace("http://127.0.0.1:8765", service.url), {})
        assert capsys.readouterr().out.strip() == expected
    assert service.case("theft", "4711")["outcome"] == "theft"
