"""Where a source text can be changed, and what each change gives.

A change replaces a piece of the text and keeps its line breaks, so that line numbers
stay. Left alone are docstrings and other strings, annotations, decorators, f-strings
and the arguments of exceptions (messages), logging, ``help=``, ``__repr__``, blocks for
type checkers, and functions compiled by numba, which coverage does not see.
"""

import ast
import io
import tokenize
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

Lines: TypeAlias = tuple[int, int]
"""First and last line."""

DOUBLED_FROM = 10
"""Whole numbers from here on are doubled: one more would rarely be noticed."""

COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),  # codespell:ignore notin
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
OPPOSITES = {
    name: other
    for pair in (
        ("min", "max"), ("minimum", "maximum"), ("fmin", "fmax"),
        ("argmin", "argmax"), ("nanmin", "nanmax"), ("any", "all"),
        ("floor", "ceil"),
    )
    for name, other in (pair, pair[::-1])
}  # fmt: skip
LOGGERS = {"log", "logger", "logging", "LOG", "LOGGER", "_log", "_logger"}
TYPE_MAKERS = {"TypeVar", "NewType", "ParamSpec", "TypeAliasType"}
WITHOUT_EFFECT = {"help", "strict", "copy", "repr"}
"""Keyword arguments whose change shows in a help text or, for a correct caller, not."""
CACHES = {"cache", "lru_cache", "cached_property"}


@dataclass(frozen=True)
class Change:
    """A piece of a source text and what replaces it.

    ``statement`` are the lines of the statement around it, without its block. A line
    that runs at import is reached by the tests of other lines: those that use one of
    ``names``, and those in ``span``. The same goes for a function that is cached.
    """

    start: int
    end: int
    line: int
    operator: str
    original: str
    mutated: str
    statement: Lines
    at_import: bool
    names: tuple[str, ...]
    span: Lines | None

    def apply(self, source: str) -> str:
        """Return the source with the change."""
        return source[: self.start] + self.mutated + source[self.end :]

    def is_valid(self, source: str) -> bool:
        """Whether the result is Python and means something else."""
        try:
            changed = ast.parse(self.apply(source))
        except SyntaxError:
            return False
        return ast.dump(changed) != ast.dump(ast.parse(source))


def find_changes(source: str) -> list[Change]:
    """Return every change of a source text, in the order of the text.

    >>> [(c.original, c.mutated) for c in find_changes("def f(x): return x < 3")]
    [('<', '<='), ('<', '>='), ('3', '4')]
    """
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    unique = {(c.start, c.end, c.mutated): c for c in reversed(finder.found)}
    return sorted(unique.values(), key=lambda c: (c.start, c.end, c.mutated))


class _Text:
    """A source text with its tokens, by position in characters."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.split("\n")
        self.begins = [0]
        for line in self.lines:
            self.begins.append(self.begins[-1] + len(line) + 1)
        layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE}
        self.tokens = [
            (self._at(token.start), self._at(token.end), token.string)
            for token in tokenize.generate_tokens(io.StringIO(source).readline)
            if token.type not in layout
        ]

    def _at(self, place: tuple[int, int]) -> int:
        return self.begins[place[0] - 1] + place[1]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node starts and ends."""
        last = node.end_lineno or node.lineno
        start = self._characters(node.lineno, node.col_offset)
        return start, self._characters(last, node.end_col_offset or 0)

    def _characters(self, line: int, column: int) -> int:
        # ast counts columns in bytes.
        text = self.lines[line - 1]
        if not text.isascii():
            column = len(text.encode()[:column].decode())
        return self.begins[line - 1] + column

    def between(self, left: ast.expr, right: ast.expr, words: str) -> tuple[int, int]:
        """Where an operator of one or two words stands between its operands."""
        return self.first(self.span(left)[1], self.span(right)[0], words)

    def first(self, start: int, end: int, words: str) -> tuple[int, int]:
        """Where an operator of one or two words stands first."""
        index = bisect_left(self.tokens, (start, start, ""))
        wanted = words.split()
        while index < len(self.tokens) and self.tokens[index][0] < end:
            here = self.tokens[index : index + len(wanted)]
            if [token[2] for token in here] == wanted:
                return here[0][0], here[-1][1]
            index += 1
        raise ValueError(f"no {words} in {self.source[start:end]!r}")


class _Finder(ast.NodeVisitor):
    """Collects the changes of a module, and where each of them lies."""

    def __init__(self, source: str) -> None:
        self.text = _Text(source)
        self.found: list[Change] = []
        self.statement: Lines = (1, 1)
        self.in_function = False
        self.returns_bool = False
        self.names: tuple[str, ...] = ()
        self.span: Lines | None = (1, len(self.text.lines))

    # --- where we are ---

    @contextmanager
    def _within(self, **values: object) -> Iterator[None]:
        before = {name: self.__dict__[name] for name in values}
        self.__dict__.update(values)
        yield
        self.__dict__.update(before)

    def visit(self, node: ast.AST) -> None:
        """Visit a node, knowing the statement it belongs to."""
        if not isinstance(node, ast.stmt):
            super().visit(node)
            return
        with self._within(statement=head(node)):
            super().visit(node)

    def _visit_all(self, nodes: Sequence[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def _add(self, start: int, end: int, operator: str, mutated: str) -> None:
        line = bisect_left(self.text.begins, start + 1)
        original = self.text.source[start:end]
        place = self.statement, not self.in_function, self.names, self.span
        change = Change(start, end, line, operator, original, mutated, *place)
        self.found.append(change)

    # --- definitions ---

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Visit defaults and body, not the annotations."""
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """Visit it like any function."""
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = {name(decorator) for decorator in node.decorator_list}
        compiled = any("jit" in one or one == "intrinsic" for one in decorators)
        if node.name.startswith(("__repr", "_repr_")) or compiled:
            return
        with self._within(span=(node.lineno, node.end_lineno or node.lineno)):
            self._visit_all([*node.args.defaults, *node.args.kw_defaults])
        cached = (node.name,) if decorators & CACHES else ()
        truth = node.returns is not None and name(node.returns) == "bool"
        inner = self.names if self.in_function else ()
        with self._within(
            in_function=True, names=inner + cached, span=None, returns_bool=truth
        ):
            self._visit_all(node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Visit the body: where the lambda is defined, it is also covered."""
        self.visit(node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Visit the body; what runs at import is reached through the class."""
        if self.in_function:
            self._visit_all(node.body)
            return
        lines = node.lineno, node.end_lineno or node.lineno
        with self._within(names=(*self.names, node.name), span=lines):
            self._visit_all(node.body)

    def visit_TypeAlias(self, node: ast.AST) -> None:
        """Leave it."""

    def visit_Assign(self, node: ast.Assign) -> None:
        """Visit the value; a constant is reached through its name."""
        self._assignment(node.targets, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Visit the value, unless it is a type."""
        if node.value is not None and name(node.annotation) != "TypeAlias":
            self._assignment([node.target], node.value)

    def _assignment(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        if self.in_function:
            self._visit_all([*targets, value])
            return
        defined = tuple(
            n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)
        )
        module_level = not self.names
        with self._within(
            names=(*self.names, *defined),
            span=None if module_level and defined else self.span,
        ):
            self.visit(value)

    # --- statements ---

    def visit_Expr(self, node: ast.Expr) -> None:
        """Remove a call; a docstring is no call."""
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call) and not is_logging(call):
            self._remove(node)
        self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Remove an exception; its arguments are a message."""
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        kind = "" if raised is None else name(raised)
        if kind not in ("AssertionError", "NotImplementedError"):
            self._remove(node)

    def _remove(self, node: ast.stmt) -> None:
        start, end = self.text.span(node)
        breaks = "\n" * self.text.source.count("\n", start, end)
        self._add(start, end, "statement", "pass" + breaks)

    def visit_Return(self, node: ast.Return) -> None:
        """Negate what a function that returns a truth value returns."""
        if node.value is None:
            return
        # These would be the same as the change of their operator.
        opposite = isinstance(node.value, ast.Constant) or (
            isinstance(node.value, ast.UnaryOp) and isinstance(node.value.op, ast.Not)
        )
        if isinstance(node.value, ast.Compare) and len(node.value.ops) == 1:
            opposite = len(COMPARISONS[type(node.value.ops[0])][1]) == 1
        if self.returns_bool and not opposite:
            start, end = self.text.span(node.value)
            whole = self.text.source[start:end]
            self._add(start, end, "return", f"not ({whole})")
        self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        """Force the condition, except of blocks for type checkers and scripts."""
        used = {name(n) for n in ast.walk(node.test) if isinstance(n, ast.expr)}
        if not used & {"TYPE_CHECKING", "__name__"}:
            self._force(node.test, ("True", "False"))
            self._visit_all([node.test, *node.body])
        self._visit_all(node.orelse)

    def visit_While(self, node: ast.While) -> None:
        """Force the condition to be false; an endless loop would tell nothing."""
        self._force(node.test, ("False",))
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """Force the condition."""
        self._force(node.test, ("True", "False"))
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """Force the conditions."""
        for test in node.ifs:
            self._force(test, ("True", "False"))
        self.generic_visit(node)

    def _force(self, test: ast.expr, values: Sequence[str]) -> None:
        if isinstance(test, ast.Constant):
            return
        start, end = self.text.span(test)
        breaks = "\n" * self.text.source.count("\n", start, end)
        for value in values:
            self._add(
                start, end, "condition", f"({value}{breaks})" if breaks else value
            )

    # --- expressions ---

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave it: a message. Its parts have no exact places before Python 3.12."""

    def visit_Constant(self, node: ast.Constant) -> None:
        """Change numbers and truth values, not strings."""
        value = node.value
        if isinstance(value, bool | int | float):
            self._add(*self.text.span(node), "constant", larger(value))

    def visit_Compare(self, node: ast.Compare) -> None:
        """Change each comparison of a chain."""
        sides = pairwise([node.left, *node.comparators])
        for (left, right), op in zip(sides, node.ops, strict=True):
            written, others = COMPARISONS[type(op)]
            start, end = self.text.between(left, right, written)
            for other in others:
                self._add(start, end, "comparison", other)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Change each `and` and `or`."""
        pair = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in pairwise(node.values):
            self._add(*self.text.between(left, right, pair[0]), "boolean", pair[1])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Change the operator, except between strings and between types."""
        text = is_text(node)
        types = isinstance(node.op, ast.BitOr | ast.BitAnd) and not self.in_function
        if type(node.op) in ARITHMETIC and not (text or types):
            written, other = ARITHMETIC[type(node.op)]
            place = self.text.between(node.left, node.right, written)
            self._add(*place, "arithmetic", other)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Change the operator."""
        if type(node.op) in ARITHMETIC:
            written, other = ARITHMETIC[type(node.op)]
            place = self.text.between(node.target, node.value, f"{written}=")
            self._add(*place, "arithmetic", f"{other}=")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Remove `not`, a minus or an inversion."""
        start = self.text.span(node)[0]
        inner = self.text.span(node.operand)[0]
        length = 3 if isinstance(node.op, ast.Not) else 1
        end = start + length
        while self.text.source[end] == " " and end < inner:
            end += 1
        operator = "negation" if length == 3 else "arithmetic"
        if not isinstance(node.op, ast.UAdd):
            self._add(start, end, operator, "")
        self.visit(node.operand)

    def visit_Slice(self, node: ast.Slice) -> None:
        """Move the ends of a slice by one."""
        for bound, sign in ((node.lower, "+"), (node.upper, "-")):
            if bound is None or is_none(bound):
                continue
            start, end = self.text.span(bound)
            whole = self.text.source[start:end]
            self._add(start, end, "slice", f"({whole}) {sign} 1")
            if not isinstance(bound, ast.Constant):
                self.visit(bound)
        self._visit_all([node.step])

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """Leave the values of a `Literal`."""
        if name(node.value) not in ("Literal", "Annotated"):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Call the opposite function; visit the arguments that decide."""
        called = name(node.func)
        if is_logging(node) or called in TYPE_MAKERS:
            return
        if called in OPPOSITES:
            end = self.text.span(node.func)[1]
            self._add(end - len(called), end, "opposite", OPPOSITES[called])
        args: Sequence[ast.expr] = node.args
        if called in ("isinstance", "issubclass"):
            args = args[:1]
        if called == "cast":
            args = args[1:]
        kept = [k.value for k in node.keywords if k.arg not in WITHOUT_EFFECT]
        self._visit_all([node.func, *args, *kept])


def head(node: ast.stmt) -> Lines:
    """First and last line of a statement without its block."""
    last = node.end_lineno or node.lineno
    blocks = [
        child.lineno
        for field in ("body", "cases")
        for child in node.__dict__.get(field, [])
        if isinstance(child, ast.stmt)
    ]
    if isinstance(node, ast.Match):
        blocks = [node.cases[0].pattern.lineno]
    return node.lineno, max(node.lineno, min([b - 1 for b in blocks], default=last))


def name(node: ast.expr) -> str:
    """Return the last name of a reference or call, such as 'max' of ``np.max(x)``."""
    if isinstance(node, ast.Call):
        return name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def is_logging(call: ast.Call) -> bool:
    """Whether a logger is called."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return owner is not None and name(owner) in LOGGERS


def is_none(node: ast.expr) -> bool:
    """Whether a node is the constant None."""
    return isinstance(node, ast.Constant) and node.value is None


def is_text(node: ast.expr) -> bool:
    """Whether a text is put together here, as far as can be seen."""
    if isinstance(node, ast.BinOp):
        return is_text(node.left) or is_text(node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes)
    return isinstance(node, ast.JoinedStr)


def larger(value: bool | int | float) -> str:
    """Return the constant that replaces this one.

    >>> larger(True), larger(0), larger(3), larger(50), larger(0.0), larger(1e-9)
    ('False', '1', '4', '100', '1.0', '2e-09')
    """
    if isinstance(value, bool):
        return repr(not value)
    if isinstance(value, float):
        return repr(2 * value if value else 1.0)
    return repr(2 * value if value >= DOUBLED_FROM else value + 1)
