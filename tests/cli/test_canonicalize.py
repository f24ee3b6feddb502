"""`crawl-dedup canonicalize`: blocks for people, lines of JSON for programs, from arguments or standard input."""

import io
import json
import os
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_lib.cli import canonicalize
from dedup_lib.cli.canonicalize import REASONS, canonicalize_command
from dedup_lib.cli.main import main
from dedup_lib.urls import REFUSALS, default_rules_path, explain, identify, load_rules

RULES = load_rules([default_rules_path()])


@pytest.fixture
def call(capsys, monkeypatch):
    """Run the command with bytes on standard input; gives its exit code and what it said on both streams."""

    def run(*arguments: object, stdin: bytes = b"") -> tuple[int, str, str]:
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(["canonicalize", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def rule_file(tmp_path):
    """A rule file to name with --set, from its text."""

    def write(text: str) -> str:
        path = tmp_path / "mine.yaml"
        path.write_text("version: 1\n" + text)
        return f"urls.rules=[url_rules.yaml, {path}]"

    return write


def test_a_block_names_what_the_url_is_called(call):
    code, out, err = call("HTTP://Example.com:80/a/?q=x+y&b=1&utm_source=n#top", "mailto:me@example.com")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "HTTP://Example.com:80/a/?q=x+y&b=1&utm_source=n#top",
        "  url_strict  http://example.com/a/?q=x+y&b=1&utm_source=n",
        "  policy_url  http://example.com/a/?b=1&q=x+y",
        "  url_key     example.com/a?b=1&q=x%20y",
        "",
        "mailto:me@example.com",
        "  url_strict  mailto:me@example.com",
        "  policy_url  mailto:me@example.com",
        "  url_key     refused|mailto:me@example.com",
        "  refused     it is neither http nor https",
        "",
    ]


def test_why_tells_each_rule_in_order_with_its_owner(call, rule_file):
    mine = rule_file(
        "defaults: {strip_www: true}\ndomains: {shop.example: {trailing_slash: strip}}\n"
        "hosts: {shop.example: {drop_params: [color]}}\n"
    )
    code, out, _ = call("--why", "--set", mine, "http://www.shop.example/a/?color=red&gclid=1#")
    assert code == 0
    assert out.splitlines()[4:] == [
        "  rules",
        "    fragment                                   # -> (nothing)",
        "    all hosts: strip_www                       www.shop.example -> shop.example",
        "    domain shop.example: trailing_slash strip  /a/ -> /a",
        "    host shop.example: drop_params color       color=red -> (nothing)",
        "    tracking gclid                             gclid=1 -> (nothing)",
        "    empty query                                ? -> (nothing)",
        "    key without scheme                         http://shop.example -> shop.example",
        "",
    ]


def test_json_has_an_object_per_url_and_with_why_its_rules(call):
    url = "http://www.youtube.com/watch?v=1&si=2"
    code, out, _ = call("--json", "--why", url)
    assert code == 0
    assert json.loads(out) == {
        "url": url,
        "url_strict": url,
        "policy_url": "http://www.youtube.com/watch?v=1",
        "url_key": "www.youtube.com/watch?v=1",
        "refused": None,
        "url_scheme": RULES.scheme,
        "rules": [
            {"rule": "drop_params si", "scope": "domain youtube.com", "before": "si=2", "after": ""},
            {"rule": "key without scheme", "scope": "", "before": "http://www.youtube.com", "after": "www.youtube.com"},
        ],
    }
    assert list(json.loads(call("--json", url)[1])) == [
        *("url", "url_strict", "policy_url", "url_key", "refused", "url_scheme")
    ]


@pytest.mark.parametrize("why", [[], ["--why"]])
def test_lines_of_standard_input_whatever_their_ends_and_bytes(call, why):
    stdin = b"http://h.example/caf\xe9\r\n\r\n \t \n\nnonsense\nhttp://h.example/\xc3\xa9"
    code, out, err = call("--json", *why, stdin=stdin)
    assert (code, err) == (0, "")
    found = [json.loads(line) for line in out.splitlines()]
    assert [record["url"] for record in found] == ["http://h.example/caf%E9", "nonsense", "http://h.example/é"]
    assert [record["url_key"] for record in found] == ["h.example/caf%E9", "refused|nonsense", "h.example/%C3%A9"]


def test_an_argument_of_other_bytes_than_utf8(call):
    assert json.loads(call("--json", "http://h.example/caf\udce9")[1])["url_key"] == "h.example/caf%E9"


def test_an_empty_argument_is_a_url_that_was_given(call):
    code, out, _ = call("--json", "")
    assert (code, json.loads(out)["refused"]) == (0, "parse")


def test_nothing_in_nothing_out(call):
    assert call() == (0, "", "")


def test_many_lines_keep_their_order_over_batches(call, monkeypatch):
    monkeypatch.setattr(canonicalize, "BATCH_BYTES", 1000)
    urls = [f"http://h{number % 7}.example/{number}?b=1&a={number}" for number in range(500)]
    code, out, _ = call("--json", stdin="\n".join(urls).encode())
    assert code == 0
    found = [json.loads(line) for line in out.splitlines()]
    assert [(record["url"], record["policy_url"]) for record in found] == [
        (url, f"http://h{number % 7}.example/{number}?a={number}&b=1") for number, url in enumerate(urls)
    ]


def test_a_terminal_without_urls_is_told_what_to_do(capsys, monkeypatch):
    ours, terminal = os.openpty()
    with os.fdopen(ours, "rb"), open(terminal, encoding="utf-8") as stdin:  # noqa: PTH123 (a descriptor)
        monkeypatch.setattr(sys, "stdin", stdin)
        assert main(["canonicalize"]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err == ("crawl-dedup: no URL was given: name URLs, or send them on standard input, one per line\n")
        assert main(["canonicalize", "http://h.example/"]) == 0


def test_a_closed_standard_input_is_told_what_to_do(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["canonicalize"]) == 2
    assert "name URLs" in capsys.readouterr().err


def test_a_wrong_rule_file_is_one_sentence_that_names_its_line(call, rule_file):
    code, out, err = call("--set", rule_file("hosts: {h.example: {strip_ww: true}}\n"), "http://h.example/")
    assert (code, out) == (2, "")
    assert re.fullmatch(r"crawl-dedup: URL rules: [^\n]*mine\.yaml:2: [^\n]+\n", err)


def test_rules_are_found_beside_the_profile_that_names_them(call, rule_file, tmp_path):
    rule_file("aliases: {m.h.example: h.example}\n")
    (tmp_path / "profile.yaml").write_text("urls: {rules: [mine.yaml]}\n")
    code, out, _ = call("--config", tmp_path / "profile.yaml", "--json", "http://m.h.example/?gclid=1")
    assert code == 0
    assert json.loads(out)["url_key"] == "h.example/?gclid=1"


def test_spark_is_not_started(call, monkeypatch):
    def start(*arguments: object) -> None:
        pytest.fail("Spark was started")

    monkeypatch.setattr("dedup_lib.cli.context.start_session", start)
    assert call("http://h.example/")[0] == 0


def test_every_refusal_has_plain_words(call):
    assert set(REASONS) == set(REFUSALS)
    for url, reason in [
        ("http://a..example/", "host"),
        ("/relative", "parse"),
        ("http://h.example/" + "a" * 9000, "length"),
    ]:
        code, out, _ = call("--why", url)
        assert code == 0
        assert f"  refused     {REASONS[reason]}\n" in out


def test_a_block_shows_no_character_that_a_terminal_obeys(call):
    out = call("--why", stdin=b"no\x1b]0;title\x07url\xe2\x80\xae\n")[1]
    assert "no\\x1b]0;title\\x07url\\u202e\n" in out
    assert out.replace("\n", "").isprintable()


def test_the_help_has_whole_lines(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["canonicalize", "--help"]) == 0
    out = capsys.readouterr().out
    assert all(option in out for option in ("URL", "--config", "--set", "--why", "--json"))
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_an_endless_input_is_answered_as_it_comes_and_a_closed_pipe_ends_it_quietly():
    command = [sys.executable, "-m", "dedup_lib.cli.main", "canonicalize", "--json"]
    with (
        subprocess.Popen(["yes", "http://h.example/a?gclid=1"], stdout=subprocess.PIPE) as endless,
        subprocess.Popen(command, stdin=endless.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running,
    ):
        try:
            assert json.loads(running.stdout.readline())["url_key"] == "h.example/a"
            running.stdout.close()
            assert running.wait(60) == 0
            assert running.stderr.read() == b""
        finally:
            running.kill()
            endless.kill()


def _shown(stdin: bytes, *, why: bool) -> list[dict]:
    lines: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        canonicalize_command([], None, [], lines.append, why=why, as_json=True)
    return [json.loads(line) for batch in lines for line in batch.split("\n")]


_lines = st.one_of(
    st.binary(max_size=30),
    st.text(max_size=30).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.text("aZ09.:/?&=%+#;[] é\\\t\x00\x1b", max_size=40).map(lambda rest: b"http://h.example/" + rest.encode()),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(_lines.map(lambda line: line.replace(b"\n", b"")), max_size=12), st.booleans())
def test_lines_are_told_as_identify_and_explain_tell_them(lines, why):
    expected = [line.removesuffix(b"\r") for line in lines if line.strip()]
    found = _shown(b"".join(line + b"\n" for line in lines), why=why)
    assert [tuple(list(record.values())[1:5]) for record in found] == [tuple(identify(url, RULES)) for url in expected]
    if why:
        told = [[tuple(rule.values()) for rule in record["rules"]] for record in found]
        assert told == [[(f.rule, f.scope, f.before, f.after) for f in explain(url, RULES)] for url in expected]


@pytest.mark.parametrize("option", [(), ("--json",)])
def test_a_terminal_that_knows_few_letters_gets_escapes(option):
    command = [sys.executable, "-m", "dedup_lib.cli.main", "canonicalize", *option, "http://a.example/中"]
    done = subprocess.run(command, env={**os.environ, "PYTHONIOENCODING": "latin-1"}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"\\u4e2d" in done.stdout
