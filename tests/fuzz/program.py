"""Programs as text: one operation a line, with a trailing note that says how its result may be compared."""
import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Statement:
    """`rule` and `op` choose the tolerance (tolerance.py); `operands` are names or literals of the text, `target` the name that
    is bound or written to. `covered` says that Plait's operation table covers the call, so that it counts for the native share."""
    text: str
    rule: str
    op: str = ""
    target: str = ""
    operands: tuple = ()
    covered: bool = True

    def line(self):
        note = ";".join([self.rule, self.op, self.target, "|".join(self.operands), "1" if self.covered else "0"])
        return f"{self.text}  #: {note}"


def parse(text):
    """Statements of a printed program; lines without a note are left out."""
    out = []
    for line in text.splitlines():
        m = re.match(r"(.*?)  #: ([^;]*);([^;]*);([^;]*);([^;]*);([01])\s*$", line)
        if m:
            operands = tuple(m[5].split("|")) if m[5] else ()
            out.append(Statement(m[1], m[2], m[3], m[4], operands, m[6] == "1"))
    return out


def show(statements):
    return "\n".join(s.line() for s in statements)
