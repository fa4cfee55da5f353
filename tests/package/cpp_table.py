"""Compiles every entry of the tables in docs/cpp.md that stands in the column "Plait": cpp_table.py COMPILER DOCS FOLDER FLAG..."""

import pathlib
import re
import subprocess
import sys

PREFACE = """#include <algorithm>
#include <iomanip>
#include <iostream>
#include <plait/export_program.hpp>
#include <plait/io.hpp>
#include <plait/load.hpp>
#include <plait/plait.hpp>
using namespace plait;
using plait::placeholders::_;
using std::int64_t;
// Only compiled: nobody gives these values.
extern array<double> a, b, c, v, w;
extern array<int64_t> k;
extern array<bool> m;
extern array<std::complex<double>> z;
extern any_array x, y;
extern double* pointer;
extern std::vector<double> vector;
extern const int64_t n;
"""


def entries(text):
    """(line, code) of every piece of code in the last column of the three."""
    for number, line in enumerate(text.splitlines(), 1):
        cells = re.split(r"(?<!\\) \| ", line.strip().removeprefix("| ").removesuffix(" |"))
        if not line.startswith("| ") or len(cells) != 3 or cells[2] in ("Plait", "---"):
            continue
        for code in re.findall(r"`([^`]*)`", cells[2]):
            if not code.endswith(".hpp"):
                yield number, code


def main(compiler, docs, folder, *flags):
    found = list(entries(pathlib.Path(docs).read_text()))
    if len(found) < 100:
        sys.exit(f"{docs}: only {len(found)} entries were found in the tables")
    body = [f'#line {line} "{docs}"\nvoid entry_{i}() {{ {code if code.endswith(";") else f"(void)({code});"} }}' for i, (line, code) in enumerate(found)]
    unit = pathlib.Path(folder, "cpp_table.cpp")
    unit.write_text(PREFACE + "\n".join(body) + "\n")
    done = subprocess.run([compiler, "-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Wdeprecated-copy", "-Wno-unused-variable", "-Werror", *flags, "-fsyntax-only", str(unit)], check=False)
    print(f"{len(found)} entries of {docs}")
    sys.exit(done.returncode)


main(*sys.argv[1:])
