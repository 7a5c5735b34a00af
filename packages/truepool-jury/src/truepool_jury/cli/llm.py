"""``truepool agent llm``: ask a language model about the cases of a table."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from truepool.cli import options
from truepool.cli.keys import key, option

INTERRUPTED = 130


def llm(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            help="CSV, TSV, Excel, Parquet or JSON lines table with one row per case; "
            "every column without "
            "another meaning is a feature.",
        ),
    ],
    question: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="Yes/no question, where yes means the positive label; for a "
            "judge, the criteria. @FILE reads it from a file.",
        ),
    ],
    model: Annotated[
        list[str],
        option("model", "Model of the endpoint. Repeatable: each is asked in turn."),
    ],
    output: Annotated[
        Path, option("output", "CSV or Parquet file to write; - prints CSV.")
    ],
    template: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Prompt template (default: direct); each template is an agent. "
            "Repeatable; 'paper' stands for direct, cot, fewshot and focused.",
        ),
    ] = None,
    train: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="Other cases with known outcomes, for fewshot and focused.",
        ),
    ] = None,
    outcome: Annotated[
        str | None,
        option("outcome", "Column with the outcome (default: found by its name)."),
    ] = None,
    positive: options.Positive = None,
    id: Annotated[str | None, key("id")] = None,
    time: Annotated[str | None, key("time")] = None,
    ignore: options.Ignore = None,
    samples: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", help="Answers per case; the report is their mean."
        ),
    ] = 1,
    probability: Annotated[
        str,
        key(
            "probability",
            "What is reported: the number in the answer (stated), yes as 1 and no "
            "as 0 (votes), or the probability of the word yes (logprobs).",
            "NAME",
        ),
    ] = "stated",
    answer_format: Annotated[
        str,
        key(
            "answer-format",
            "JSON schema (schema), tool call (tool) or last line of the answer "
            "(line); auto uses a schema if the endpoint supports it, else the line.",
            "NAME",
        ),
    ] = "auto",
    base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Endpoint that speaks OpenAI's chat protocol (default: "
            "$OPENAI_BASE_URL, else OpenAI).",
        ),
    ] = None,
    key_variable: Annotated[
        str,
        key("key-variable", "Environment variable that has the key.", "NAME"),
    ] = "OPENAI_API_KEY",
    request: Annotated[
        list[str] | None,
        key(
            "request",
            "Another field of every request, as in temperature=0 or "
            "max_tokens=500. Repeatable.",
            "NAME=VALUE",
        ),
    ] = None,
    stream: Annotated[
        bool,
        key("stream", "Receive answers as streams, for slow models.", "true"),
    ] = False,
    concurrency: Annotated[
        int, key("concurrency", "Largest number of calls at once.", "NUMBER")
    ] = 8,
    timeout: Annotated[
        float, key("timeout", "Longest wait for an answer.", "SECONDS")
    ] = 60.0,
    retries: Annotated[
        int,
        key(
            "retries",
            "How often a call is repeated after a rate limit, a server error or "
            "a timeout.",
            "NUMBER",
        ),
    ] = 5,
    budget_calls: Annotated[
        int | None, key("budget-calls", "Most calls this run may make.", "NUMBER")
    ] = None,
    budget_tokens: Annotated[
        int | None, key("budget-tokens", "Most tokens this run may use.", "NUMBER")
    ] = None,
    budget_money: Annotated[
        float | None,
        typer.Option(metavar="AMOUNT", help="Most that this run may cost."),
    ] = None,
    price_in: Annotated[
        float | None,
        key("price-in", "Price of a million tokens of prompts.", "AMOUNT"),
    ] = None,
    price_out: Annotated[
        float | None,
        key("price-out", "Price of a million tokens of answers.", "AMOUNT"),
    ] = None,
    currency: Annotated[str, key("currency", "Unit of the prices, as in EUR.")] = "USD",
    answers: Annotated[
        Path | None,
        key(
            "answers",
            "Folder that stores the answers (default: in the cache folder).",
            "FOLDER",
        ),
    ] = None,
    seed: options.Seed = 0,
    spreadsheet_safe: options.SpreadsheetSafe = False,
    json_file: options.Json = None,
) -> None:
    """Ask a language model about every case of TABLE."""
    from truepool.cli.outputs import STDOUT, check_files, print_note, write_cases
    from truepool.cli.screen import progress_bar
    from truepool.tables import file_format
    from truepool_jury import llm as language_models
    from truepool_jury.cli.llm_summary import check_complete, show

    if output != STDOUT:
        file_format(output)
    check_files([table, train], [output, json_file])
    endpoints = [
        language_models.Endpoint.from_environment(
            name,
            base_url=base_url,
            key_variable=key_variable,
            timeout=timeout,
            stream=stream,
            request=parse_fields(request or []),
        )
        for name in model
    ]
    budget = language_models.Budget(
        budget_calls, budget_tokens, budget_money, price_in, price_out, currency
    )
    try:
        with progress_bar("Asking", remaining=True) as progress:
            found = language_models.ask(
                table,
                _read_question(question),
                endpoints,
                templates=_expand(template or ["direct"]),
                train=train,
                outcome=outcome,
                positive=positive,
                id=id,
                time=time,
                ignore=ignore or [],
                samples=samples,
                probability=probability,  # type: ignore[arg-type]
                form=answer_format,  # type: ignore[arg-type]
                budget=budget,
                retry=language_models.Retry(retries),
                concurrency=concurrency,
                cache=answers,
                seed=seed,
                progress=progress,
            )
    except KeyboardInterrupt:
        print_note(
            "Stopped. Answers so far are stored; the same command continues from there."
        )
        raise typer.Exit(INTERRUPTED) from None
    check_complete(found, output)
    write_cases(output, found.columns, spreadsheet_safe=spreadsheet_safe)
    show(found, output, json_file)


def parse_fields(words: Sequence[str]) -> dict[str, Any]:
    """Return the fields of requests; a value is JSON, or else text.

    >>> parse_fields(["temperature=0", "reasoning_effort=low"])
    {'temperature': 0, 'reasoning_effort': 'low'}
    """
    from truepool.core.errors import SettingError

    fields: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise SettingError(
                f"request needs a name and a value, as in temperature=0; got {word!r}"
            )
        try:
            fields[name] = json.loads(value)
        except ValueError:
            fields[name] = value
    return fields


def _read_question(text: str) -> str:
    from truepool.core.errors import SourceError
    from truepool.core.files import missing_file

    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text(encoding="utf-8-sig").strip()
    except FileNotFoundError:
        raise SourceError(
            f"--question must be a text or @FILE; {missing_file(text[1:])}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise SourceError(
            f"the question cannot be read from {text[1:]!r}: {reason}"
        ) from None


def _expand(templates: Sequence[str]) -> list[str]:
    """Return the templates, the four of the paper in place of 'paper'."""
    from truepool_jury.llm import PAPER

    named = [t for name in templates for t in (PAPER if name == "paper" else (name,))]
    return list(dict.fromkeys(named))
