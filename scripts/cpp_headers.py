"""Reads the public C++ headers: their declarations, with the comments in front of them."""

import pathlib
import re
from dataclasses import dataclass

HEADERS = pathlib.Path(__file__).resolve().parents[1] / "include" / "plait"


@dataclass
class Declaration:
    header: str  # below include/plait, without .hpp
    scope: str  # "" for plait itself, "linalg", or the class that it is a member of
    kind: str  # function, method, class, enum, alias, constant
    name: str
    signature: str
    text: str  # its comment, without the slashes
    line: int

    @property
    def path(self):
        return f"{self.scope}::{self.name}" if self.scope else self.name


def unfolded(text):
    """The text without preprocessor lines, line by line as it was."""
    text = re.sub(r"^#(?:.*\\\n)*.*", lambda m: "\n" * m[0].count("\n"), text, flags=re.MULTILINE)
    # Calls of macros make operators.
    return re.sub(r"^ *PLAIT_\w+\(.*\)$", "", text, flags=re.MULTILINE)


def end_of_braces(text, at):
    """Behind the brace that closes the one at `at`; comments and literals hold none that count."""
    depth = 0
    for m in re.compile(r"//.*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'|[{}]").finditer(text, at):
        depth += {"{": 1, "}": -1}.get(m[0], 0)
        if depth == 0:
            return m.end()
    raise ValueError("a brace is not closed")


def statement_end(text, at):
    """Where the declaration at `at` has its body, initializer list or semicolon, and where the next one begins."""
    depth = 0
    for m in re.compile(r"//.*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'|[(){};]").finditer(text, at):
        c = m[0]
        if c in "()":
            depth += 1 if c == "(" else -1
        elif depth == 0 and c == ";":
            return m.start(), m.end()
        elif depth == 0 and c == "{":
            end = end_of_braces(text, m.start())
            rest = re.compile(r"\s*;?").match(text, end)
            return m.start(), rest.end() if rest[0].endswith(";") else end
    raise ValueError("a declaration does not end")


def head_of(source):
    """A declaration in one line, without what only overload resolution and the linker read."""
    head = re.sub(r"//.*", "", source)
    head = re.sub(r"\[\[\w+(?:\( ?\".*?\"\))?\]\] |\bPLAIT_API |\binline ", "", re.sub(r"\s+", " ", head).strip())
    parts = template_parameters(head)
    if parts is not None:
        kept = [p for p in parts if "if_" not in p and not p.startswith("class = ") and not p.startswith("class Why")]
        rest = head[len("template <" + ", ".join(parts) + "> ") :]
        head = f"template <{', '.join(kept)}> {rest}" if kept or not parts else rest
    return head.replace("detail::", "")


def template_parameters(head):
    """The parameters of a template, or None."""
    if not head.startswith("template <"):
        return None
    depth, parts, part = 1, [], ""
    for i, c in enumerate(head[len("template <") :]):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(c, 0)
        if depth == 0:
            break
        if c == "," and depth == 1:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return [*parts, part.strip()] if part.strip() else parts


def comment_before(lines, line):
    """The text of the /// lines that end right before a line, counted from 0."""
    first = line
    while first > 0 and lines[first - 1].strip().startswith("///"):
        first -= 1
    return "\n".join(x.strip()[3:].strip() for x in lines[first:line])


def read(header, text):
    """Public declarations in the order of the header."""
    text = unfolded(text)
    lines = text.splitlines()
    found = []

    def block(at, end, scope, owner):
        public = owner != "class"
        while at < end:
            blank = re.compile(r"(?:\s|//.*)+").match(text, at, end)
            if blank:
                at = blank.end()
                continue
            if access := re.compile(r"(public|private|protected):").match(text, at):
                public, at = access[1] == "public", access.end()
                continue
            if opened := re.compile(r"namespace ([\w:]+) \{").match(text, at):
                close = end_of_braces(text, opened.end() - 1)
                inner = opened[1].removeprefix("plait").removeprefix("::")
                if "detail" not in opened[1] and opened[1] != "std":
                    block(opened.end(), close - 1, "::".join(filter(None, [scope, inner])), None)
                at = close
                continue
            stop, behind = statement_end(text, at)
            source, at_declaration = text[at:stop], at
            at = behind
            line = text.count("\n", 0, at_declaration)
            head = head_of(source)
            plain = re.sub(r"^template <.*?> (?=class|struct|enum|using)", "", head)
            if not public or scope is None or head.startswith(("friend", "static_assert")):
                continue
            if m := re.match(r"(class|struct) ([\w:]+(?:<[\w ]*>)?)(?= ?:|$)", plain):
                if text[stop] == ";" or not scope and "::" in m[2]:
                    continue
                body = re.sub("///<?", "//", text[stop : end_of_braces(text, stop)]).replace("detail::", "")
                # Of a struct of values the members are the declaration.
                values = m[1] == "struct" and len(body.splitlines()) > 1 and not re.search(r"\)\s*(?:const )?[:{]|\bstatic\b", body)
                found.append(Declaration(header, scope, "class", m[2], f"{head} {body};" if values else head.partition(" : ")[0], comment_before(lines, line), line + 1))
                block(stop + 1, end_of_braces(text, stop) - 1, "::".join(filter(None, [scope, m[2]])), m[1])
                continue
            if m := re.match(r"enum class (\w+)", plain):
                body = " ".join(re.sub(r"//.*", "", text[stop : end_of_braces(text, stop)]).split())
                found.append(Declaration(header, scope, "enum", m[1], f"{head} {body}", comment_before(lines, line), line + 1))
                continue
            if m := re.match(r"using (?:[\w:]+::)?(\w+)(?= = |$)", plain):
                if owner is None:
                    found.append(Declaration(header, scope, "alias", m[1], head, comment_before(lines, line), line + 1))
                continue
            if m := function_name(head):
                deleted = re.search(r"= (?:delete|default)$", head)
                comment = comment_before(lines, line)
                # Constructors and operators are a class's own ways; those that need words have them.
                plain_member = owner and not comment and (m == scope.rpartition("::")[2].partition("<")[0] or m.startswith(("~", "operator")))
                if not deleted and not plain_member:
                    found.append(Declaration(header, scope, "method" if owner else "function", m, head, comment, line + 1))
                continue
            if owner is None and (m := re.search(r"^(?:template <.*?> )?(?:inline )?constexpr [\w:<>]+ (\w+)", head)):
                found.append(Declaration(header, scope, "constant", m[1], head.partition(" =")[0], comment_before(lines, line), line + 1))

    block(0, len(text), None, None)
    return found


def function_name(head):
    """What a function is called; None of other declarations."""
    if m := re.search(r"(?<!::)\boperator ?(\(\)|[^\s(]+)\(", head):
        return f"operator{m[1]}"
    depth = 0
    for i, c in enumerate(head):
        if c == "(" and depth == 0:
            m = re.search(r"~?\b\w+$", head[:i])
            return m[0] if m else None
        if c == "=" and depth == 0:
            return None
        depth += {"<": 1, ">": -1}.get(c, 0)
    return None


def declarations(headers=None):
    """Of all public headers, or of those that are named: "array", "detail/array_view"."""
    names = sorted(p.relative_to(HEADERS).with_suffix("").as_posix() for p in HEADERS.rglob("*.hpp")) if headers is None else headers
    return [d for name in names for d in read(name, (HEADERS / f"{name}.hpp").read_text(encoding="utf-8"))]
