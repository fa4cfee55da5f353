"""Settings: what the environment and plait.config take, and that their page says the same."""

import pathlib
import re

import numpy
import plait
import pytest
from plait import _plait

ROOT = pathlib.Path(__file__).parents[2]
SETTINGS = {row[0]: row for row in _plait.settings()}

WRONG = {
    "PLAIT_NUM_THREADS": ["abc", "0", "-1", "2.5", "99999999999", "99999999999999999999"],
    "PLAIT_TEAM": ["sometimes"],
    "PLAIT_LOG": ["fusin", "fusion,colour"],
    "PLAIT_JIT": ["of"],
    "PLAIT_PLAN": ["never"],
    "PLAIT_FUSE": ["maybe"],
    "PLAIT_CHECK_COMPILED": ["sometimes"],
    "PLAIT_CPU": ["sse"],
    "PLAIT_AMX": ["tiles"],
    "PLAIT_DETERMINISTIC": ["perhaps"],
    "PLAIT_EAGER_LIMIT": ["many", "-1"],
    "PLAIT_CACHE": ["2"],
    "PLAIT_CACHE_LIMIT": ["1GBB", "lots", "-1", "1.5G", "99999999999G"],
    "PLAIT_CODE_LIMIT": ["x"],
    "PLAIT_POOL_LIMIT": ["M"],
    "PLAIT_PACKED_LIMIT": ["half"],
    "PLAIT_CUDA_POOL_LIMIT": ["half"],
    "PLAIT_DEFAULT_DTYPE": ["int8"],
}
RIGHT = [
    ("PLAIT_NUM_THREADS", "3", 3), ("PLAIT_LOG", "cache,fusion", "fusion,cache"), ("PLAIT_LOG", "", "off"), ("PLAIT_JIT", "0", "off"),
    ("PLAIT_JIT", "Blocking", "blocking"), ("PLAIT_FUSE", "no", False), ("PLAIT_FUSE", "1", True), ("PLAIT_CHECK_COMPILED", "on", True), ("PLAIT_CACHE", "off", False),
    ("PLAIT_CACHE_LIMIT", "1GB", 2**30), ("PLAIT_CACHE_LIMIT", "512M", 2**29), ("PLAIT_CODE_LIMIT", "64 KiB", 2**16),
    ("PLAIT_POOL_LIMIT", "1000", 1000), ("PLAIT_POOL_LIMIT", "0", 0), ("PLAIT_CUDA_POOL_LIMIT", "2g", 2**31), ("PLAIT_CPU", "baseline", "baseline"),
    ("PLAIT_AMX", "off", False), ("PLAIT_DETERMINISTIC", "off", False),
    ("PLAIT_DEFAULT_DTYPE", "float32", "float32"), ("PLAIT_TEAM", "always", "always"), ("PLAIT_PLAN", "always", "always"),
    ("PLAIT_EAGER_LIMIT", "0", 0),
]  # fmt: skip


def allowed(variable):
    return SETTINGS[variable][3].replace("`", "")


def test_a_wrong_setting_is_named_once_with_what_is_allowed(run_python):
    checked = [row[0] for row in _plait.settings() if row[1] and row[0] not in ("PLAIT_CACHE_DIR", "PLAIT_DEVICE")]
    assert sorted(WRONG) == sorted(checked)  # any folder is allowed; a device is looked for with the first array
    source = "import plait; plait.set_num_threads(1); print(plait.ones(3).sum(), plait.config.cache_limit)"
    for i in range(max(map(len, WRONG.values()))):
        env = {variable: values[i % len(values)] for variable, values in WRONG.items()}
        done = run_python(source, env=env)
        assert done.stdout == f"3.0 {2**28}\n"
        assert done.stderr.splitlines() == [
            f"plait: {variable}: '{env[variable]}' is not allowed and ignored; allowed: {allowed(variable)}"
            for variable in SETTINGS
            if variable in env
        ]


def test_variables_that_are_no_settings_are_named(run_python):
    env = {"PLAIT_THREADS": "3", "PLAIT_FUZE": "off", "PLAIT_COLOUR": "blue", "PLAIT_VENV": "/somewhere", "PLAIT_TEST_X": "1"}
    done = run_python("import plait; plait.ones(3).sum()", env=env)
    assert sorted(done.stderr.splitlines()) == [
        "plait: PLAIT_COLOUR is no setting",
        "plait: PLAIT_FUZE is no setting; PLAIT_FUSE is one",
        "plait: PLAIT_THREADS is no setting; PLAIT_NUM_THREADS is one",
    ]


def test_settings_are_taken_as_they_are_meant(run_python):
    source = """
import plait, sys
from plait import _plait
for variable, text, *_ in eval(sys.stdin.read()):
    row = next(row for row in _plait.settings() if row[0] == variable)
    if row[2]:
        setattr(plait.config, row[1], text)
    print([row[1], getattr(plait.config, row[1])])
"""
    rest = list(RIGHT)
    while rest:  # a process for as many settings as differ
        env = {variable: text for variable, text, _ in reversed(rest)}
        now = [row for row in rest if env[row[0]] == row[1]]
        rest = [row for row in rest if env[row[0]] != row[1]]
        done = run_python(source, env=env, input=repr(now))
        assert not done.stderr.startswith("plait: "), done.stderr
        assert list(map(eval, done.stdout.splitlines())) == [[SETTINGS[variable][1], value] for variable, _, value in now]


def test_changing_a_setting_says_what_is_allowed():
    for row in _plait.settings():
        variable, name, changeable = row[:3]
        if name is None:
            continue
        if not changeable:
            with pytest.raises(AttributeError, match=f"plait.config.{name} cannot be set; threads, log, .* can"):
                setattr(plait.config, name, "x")
            continue
        before = getattr(plait.config, name)
        with pytest.raises(ValueError) as e:
            setattr(plait.config, name, WRONG[variable][0])
        assert str(e.value) == f"plait.config.{name}: {WRONG[variable][0]!r} is not allowed; allowed: {allowed(variable)}"
        with pytest.raises(TypeError, match=f"plait.config.{name}: a NoneType is not allowed; allowed: "):
            setattr(plait.config, name, None)
        setattr(plait.config, name, before)
        assert getattr(plait.config, name) == before
    for n in ("2", 2.0, None):
        with pytest.raises(TypeError, match=re.escape(f"set_num_threads() takes an integer, not {n!r}")):
            plait.set_num_threads(n)
    for n in (0, -1, 10**30):
        with pytest.raises(ValueError, match=re.escape(f"set_num_threads(): {n} is not allowed; allowed: a whole number from 1 to 65536")):
            plait.set_num_threads(n)
    plait.set_num_threads(numpy.int8(plait.get_num_threads()))
    with pytest.raises(AttributeError, match="plait.config.nothing cannot be set"):
        plait.config.nothing = 1


def test_a_file_that_is_no_blas_is_named(run_python):
    source = "import plait; a = plait.ones((300, 300)); print((a @ a)[0, 0], plait.linalg.det(plait.eye(2)))"
    for file in ("/nowhere.so", __file__):
        done = run_python(source, env={"PLAIT_BLAS": file})
        assert done.stdout == "300.0 1.0\n"
        assert [line.partition(" ignored")[0] for line in done.stderr.splitlines()] == [f"plait: PLAIT_BLAS: '{file}' is no BLAS and"]


def test_the_configuration_is_shown_in_words(capsys):
    before = plait.config.log
    try:
        plait.config.log = "fusion,cache"
        plait.show_config()
        assert "\n  log: fusion,cache\n" in capsys.readouterr().out and plait.show_config("dicts")["Plait"]["log"] == "fusion,cache"
        plait.config.log = ""
        assert plait.config.log == "off" and "log = 'off'" in repr(plait.config)
    finally:
        plait.config.log = before


def test_the_page_has_the_table():
    """docs/configuration.md, written as this test writes it, and every variable that C++ reads."""
    rows = [f"| `{variable}` | {values} | {otherwise} | {what} |" for variable, _, _, values, otherwise, what in _plait.settings()]
    page = (ROOT / "docs" / "configuration.md").read_text()
    assert [line for line in page.splitlines() if line.startswith("| `PLAIT_")] == rows
    read = {
        variable
        for folder in ("src", "codegen", "tracer", "bindings")
        for file in (ROOT / folder).rglob("*.cpp")
        for variable in re.findall(r'(?:getenv|variable)\("(PLAIT_\w+)"\)', file.read_text())
    }
    assert "PLAIT_CUDA_LIBRARY" in read and read <= set(SETTINGS)
