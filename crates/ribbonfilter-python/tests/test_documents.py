"""The examples in docstrings and documents work."""

import doctest
import inspect
import re
from pathlib import Path

import pytest

import ribbonfilter

PUBLIC = {name: getattr(ribbonfilter, name) for name in ribbonfilter.__all__}


def documented():
    """Every public object and its members, by name."""
    yield "ribbonfilter", ribbonfilter
    for name, item in PUBLIC.items():
        yield name, item
        if inspect.isclass(item) and not issubclass(item, Exception):
            for member, value in inspect.getmembers(item):
                if not member.startswith("_"):
                    yield f"{name}.{member}", value


@pytest.fixture
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(name, text):
    test = doctest.DocTestParser().get_doctest(text, dict(PUBLIC), name, None, 0)
    outcome = doctest.DocTestRunner().run(test)
    assert outcome.failed == 0
    return outcome.attempted


@pytest.mark.parametrize("name, item", list(documented()), ids=lambda value: value if isinstance(value, str) else "")
def test_docstrings(name, item, somewhere):
    assert item.__doc__, f"{name} has no docstring"
    run(name, item.__doc__)


def test_most_methods_have_an_example():
    functions = [(name, item) for name, item in documented() if callable(item)]
    with_example = [name for name, item in functions if ">>>" in item.__doc__]
    assert len(with_example) > 0.7 * len(functions)


def test_readme(somewhere):
    readme = Path(__file__).parent.parent / "README.md"
    assert run("README.md", readme.read_text()) > 3


def test_repr():
    assert repr(ribbonfilter.Filter.build([1])).startswith("<ribbonfilter.Filter: 1 keys")
    assert repr(ribbonfilter.Function.build({1: 1})).startswith("<ribbonfilter.Function: 1 keys")
    assert repr(ribbonfilter.ExactSet.build([1], [2])).startswith("<ribbonfilter.ExactSet: 1 of 2 keys in 1 groups")
    assert "bumped" in repr(ribbonfilter.plan(10**6))


@pytest.mark.parametrize("document", ["README.md", "docs/spark.md"])
def test_documents_of_the_repository(document, somewhere):
    text = (Path(__file__).parents[3] / document).read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    # `test_spark.py` runs the examples that need a cluster.
    (block,) = (block for block in blocks if "ribbonfilter.spark" not in block)
    exec(block, {})
