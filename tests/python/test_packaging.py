"""The recipes can be read, and say of the package what pyproject.toml and CMake say."""

import ast
import json
import pathlib
import re
import tomllib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_cmake_has_the_version():
    assert re.search(r"project\(plait VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1] == PROJECT["version"]


def test_vcpkg():
    port = json.loads((ROOT / "packaging/vcpkg/vcpkg.json").read_text())
    assert (port["name"], port["version-semver"], port["license"], port["description"]) == tuple(
        PROJECT[k] for k in ("name", "version", "license", "description")
    )
    options = set(re.findall(r"(?:option|set)\((PLAIT_\w+)", (ROOT / "CMakeLists.txt").read_text()))
    named = set(re.findall(r"PLAIT_[A-Z]+", (ROOT / "packaging/vcpkg/portfile.cmake").read_text()))
    assert named and named <= options


def test_conan():
    text = (ROOT / "packaging/conan/conanfile.py").read_text()
    (recipe,) = (node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    fields = {n.targets[0].id: ast.literal_eval(n.value) for n in recipe.body if isinstance(n, ast.Assign)}
    assert all(fields[k] == PROJECT[k] for k in ("name", "version", "license", "description"))
    folders = re.search(r'for folder in \((.*?)\)', text)[1]
    added = set(re.findall(r"add_subdirectory\((\w+)", (ROOT / "CMakeLists.txt").read_text())) - {"bindings", "samples", "tests", "benchmarks"}
    assert added <= {f.partition("/")[0] for f in re.findall(r'"(\w+)"', folders)}


def test_conda():
    yaml = pytest.importorskip("yaml")
    text = re.sub(r"# \[.*?\]", "", (ROOT / "packaging/conda/meta.yaml").read_text())
    recipe = yaml.safe_load(text)
    assert recipe["package"] == {"name": PROJECT["name"], "version": PROJECT["version"]}
    assert [f"numpy {PROJECT['dependencies'][0].removeprefix('numpy')}", f"python {PROJECT['requires-python']}"] == sorted(recipe["requirements"]["run"])
