"""The mutants of a module: what is left of them when those that mean the same are gone.

The operators are those of cosmic-ray, a selection of them: every comparison
becomes its negation and its neighbour at the boundary, every other operator one
of its kind.  A mutant that differs in an annotation or a docstring alone is none,
and ``not a == b`` is the same mutant as ``a != b``.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen
from cosmic_ray.ast import get_ast
from cosmic_ray.mutating import MutationVisitor
from cosmic_ray.plugins import get_operator

OPERATORS = (
    *(f"core/ReplaceComparisonOperator_{a}_{b}" for a, b in (("Eq", "NotEq"), ("NotEq", "Eq"), ("Is", "IsNot"))),
    *(f"core/ReplaceComparisonOperator_{a}_{b}" for a, b in (("IsNot", "Is"), ("Lt", "LtE"), ("Lt", "GtE"))),
    *(f"core/ReplaceComparisonOperator_{a}_{b}" for a, b in (("LtE", "Lt"), ("LtE", "Gt"), ("Gt", "GtE"))),
    *(f"core/ReplaceComparisonOperator_{a}_{b}" for a, b in (("Gt", "LtE"), ("GtE", "Gt"), ("GtE", "Lt"))),
    *(f"core/ReplaceBinaryOperator_{a}_{b}" for a, b in (("Add", "Sub"), ("Sub", "Add"), ("Mul", "Add"))),
    "core/ReplaceBinaryOperator_BitOr_BitAnd",
    "core/ReplaceUnaryOperator_Delete_Not",
    "core/AddNot",
    "core/ReplaceAndWithOr",
    "core/ReplaceOrWithAnd",
    "core/ReplaceTrueWithFalse",
    "core/ReplaceFalseWithTrue",
    "core/ReplaceBreakWithContinue",
    "core/ReplaceContinueWithBreak",
    "core/ExceptionReplacer",
    "core/ZeroIterationForLoop",
    "core/NumberReplacer",
)


@frozen(kw_only=True)
class Mutant:
    """A module with one change.

    Attributes:
        module: its dotted name.
        line: where it was changed, from 1.
        was: that line.
        now: what it became.
        source: the whole module.
    """

    module: str
    line: int
    was: str
    now: str
    source: str

    @property
    def key(self) -> str:
        """Names exactly this change of exactly this module, for logs."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]


def mutants_of(module: str, path: Path) -> Iterator[Mutant]:
    """Yields every mutant of a module, in order of operator and place.

    ``as_mermaid`` is left alone: it draws the pictures of the documentation, and no journal calls it.
    """
    source = path.read_text(encoding="utf-8")
    seen = {_meaning(source): True}
    for name in OPERATORS:
        for occurrence in range(10_000):
            visitor = MutationVisitor(occurrence, get_operator(name)())
            changed = visitor.walk(get_ast(source))
            if not visitor.mutation_applied:
                break
            text = changed.get_code()
            meaning = _meaning(text)
            if meaning is not None and meaning not in seen:
                seen[meaning] = True
                yield _mutant(module, source, text)


def _mutant(module: str, before: str, after: str) -> Mutant:
    ours, theirs = before.splitlines(), after.splitlines()
    matcher = difflib.SequenceMatcher(a=ours, b=theirs, autojunk=False)
    _, i1, i2, j1, j2 = next(code for code in matcher.get_opcodes() if code[0] != "equal")
    was, now = (" ".join(line.strip() for line in lines) for lines in (ours[i1:i2], theirs[j1:j2]))
    return Mutant(module=module, line=i1 + 1, was=was, now=now, source=after)


def _meaning(source: str) -> str | None:
    """Returns what a module does, in a form without annotations and docstrings; None if it is no Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    return ast.dump(_Plain().visit(tree))


_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}  # the core compares numbers and texts alone, where these are opposites


class _Plain(ast.NodeTransformer):
    """Takes annotations and docstrings out, and writes a negated comparison as its opposite."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.annotation = ast.Constant(None)
        self.generic_visit(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef | None:
        if node.name == "as_mermaid":
            return None
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Compare) and len(node.operand.ops) == 1:
            opposite = _OPPOSITES.get(type(node.operand.ops[0]))
            if opposite is not None:
                return ast.Compare(left=node.operand.left, ops=[opposite()], comparators=node.operand.comparators)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        if isinstance(node.value, ast.Constant):
            node.value = ast.Constant(None)
        self.generic_visit(node)
        return node
