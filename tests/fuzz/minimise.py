"""Makes a failing program short by leaving out statements."""


def minimise(statements, fails, tries=150):
    """The shortest program found that still fails; `fails` is asked at most `tries` times."""
    size = max(1, len(statements) // 2)
    while size:
        start = len(statements) - size
        while start > -size and tries > 0:
            begin = max(0, start)
            shorter = statements[:begin] + statements[start + size:]
            tries -= 1
            if len(shorter) < len(statements) and fails(shorter):
                statements = shorter
            start -= size
        size //= 2
    return statements
