"""What docs/building.md says of the C++ library, as it stands there, in a copy of the source: building.py SOURCE FOLDER LAUNCHER.

The build sees neither Catch2 nor xtensor, which the page does not ask for. On Debian, every header that a compilation read comes from a
package that the page names or that such a one depends on.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys


def commands(page):
    section = page.split("\n## The C++ library\n")[1]
    return section.split("```\n")[1].splitlines()


def needed(packages):
    """The packages and all that they depend on."""
    out = subprocess.run(
        ["apt-cache", "depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts", "--no-breaks", "--no-replaces", "--no-enhances", *packages],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    return {line.split(":")[0] for line in out.splitlines() if line and line[0].isalnum()}


def check_headers(build, packages):
    if not shutil.which("dpkg"):
        return print("not Debian: where headers come from is not checked")
    deps = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    headers = sorted({os.path.realpath(h) for h in re.findall(r"^ +(/usr/\S+)", deps, re.M)})
    assert len(headers) > 100, headers
    owners = subprocess.run(["dpkg", "-S", *headers], check=False, capture_output=True, text=True).stdout
    allowed = needed(packages)
    others = [line for line in owners.splitlines() if not any(name.split(":")[0] in allowed for name in line.split(": ")[0].split(", "))]
    assert owners, "dpkg knows none of the headers"
    assert not others, "headers of packages that docs/building.md does not name:\n" + "\n".join(others)


def main(source, folder, launcher):
    tree = pathlib.Path(folder, "building")
    shutil.rmtree(tree, ignore_errors=True)
    made = lambda at, names: [n for n in names if (at == source and n.startswith((".", "build"))) or n.endswith((".so", "__pycache__"))]
    shutil.copytree(source, tree, ignore=made)
    hidden = tree / "hidden.cmake"
    hidden.write_text("set(CMAKE_DISABLE_FIND_PACKAGE_Catch2 ON)\nset(CMAKE_DISABLE_FIND_PACKAGE_xtensor ON)\n")
    # What is compiled the same way in the outer build comes out of its cache.
    env = {**os.environ, "DESTDIR": str(tree / "root"), "CMAKE_TOOLCHAIN_FILE": str(hidden), "CMAKE_CXX_COMPILER_LAUNCHER": launcher}
    env |= {"CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "1"}
    install, *build = commands((tree / "docs/building.md").read_text())
    for command in build:
        print(command, flush=True)
        subprocess.run(command, shell=True, check=True, cwd=tree, env=env)
    check_headers(tree / "build", install.split("#")[0].split("install ")[1].split())

    # What was installed is moved and found by its pkg-config file.
    prefix = tree / "moved"
    (tree / "root/usr/local").rename(prefix)
    (config,) = prefix.rglob("plait.pc")
    env = {**os.environ, "PKG_CONFIG_PATH": str(config.parent), "LD_LIBRARY_PATH": str(config.parent.parent)}
    compile_it = f"c++ -std=c++17 {source}/tests/package/consumer/main.cpp $(pkg-config --cflags --libs plait) -o program && ./program"
    subprocess.run(compile_it, shell=True, check=True, cwd=tree, env=env)
    shutil.rmtree(tree)


main(*sys.argv[1:])
