"""Prints the circles of imports among the package's modules; fails if there are any. Imports within functions count: they only hide a circle.

The package itself is no module of these: `import plait` within a function asks it for public names, as any program does.
"""

import ast
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent / "numpy_compat"


def module_name(file):
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(file, module, modules):
    """The modules of the package that a file imports, by any import statement in it."""
    package = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join(base + ([node.module] if node.module else []))
            for alias in node.names:
                full = f"{base}.{alias.name}"
                if full in modules:
                    yield full
                elif base in modules:
                    yield base


def circles(graph):
    """Strongly connected components of more than one module (Tarjan), and modules that import themselves."""
    order, low, stack, found = {}, {}, [], []

    def visit(module):
        order[module] = low[module] = len(order)
        stack.append(module)
        for other in graph[module]:
            if other not in order:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == order[module]:
            component = stack[stack.index(module):]
            del stack[stack.index(module):]
            if len(component) > 1 or module in graph[module]:
                found.append(sorted(component))

    for module in graph:
        if module not in order:
            visit(module)
    return found


def main():
    files = {module_name(file): file for file in sorted(root.glob("plait/**/*.py"))}
    del files["plait"]
    graph = {module: sorted(set(imported(file, module, files))) for module, file in files.items()}
    found = circles(graph)
    for circle in found:
        print(f"circle of {len(circle)} modules:")
        for module in circle:
            print(f"  {module} -> {', '.join(other for other in graph[module] if other in circle)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
