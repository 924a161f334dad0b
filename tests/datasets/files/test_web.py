"""Files on the web, from a server on this machine."""

import gzip
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from picsc.datasets.files.read import read_frame
from picsc.datasets.files.sources import opened
from picsc.datasets.files.web import file_name, is_address
from picsc.errors import DataError
from picsc.settings import ReadSettings

TABLE = b"a,b,y\n" + b"1,2,0\n3,4,1\n" * 50


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        body, kind, status = TABLE, "text/csv", 200
        if path.endswith(".gz"):
            body = gzip.compress(TABLE)
        elif path == "/page":
            kind = "text/html; charset=utf-8"
        elif path == "/gone.csv":
            status = 404
        elif path == "/moved.csv":
            self.send_response(302)
            self.send_header("Location", "/data.csv")
            self.end_headers()
            return
        elif path == "/local.csv":
            self.send_response(302)
            self.send_header("Location", "file:///etc/passwd")
            self.end_headers()
            return
        elif path == "/empty.csv":
            body = b""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) + (10 if path == "/short.csv" else 0)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as one:
        Thread(target=one.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{one.server_port}"
        one.shutdown()


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.csv?raw=true", "moved.csv"])
def test_an_address_is_read_like_a_file(server: str, name: str) -> None:
    table = read_frame(f"{server}/{name}", ReadSettings())
    assert table.frame.shape == (100, 3)
    with opened(f"{server}/{name}") as source:
        assert source.path.read_bytes() == TABLE
        assert source.digest() == table.sha256


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gone.csv", r"the server answers 404 \(Not Found\); check the address"),
        ("page", "is a web page, not a file with a table; give the address of the raw file"),
        ("short.csv", "the download broke off"),
        ("empty.csv", "is empty"),
        ("local.csv", "cannot be fetched|the server answers 302"),
    ],
)
def test_what_cannot_be_fetched_is_said(server: str, name: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_frame(f"{server}/{name}", ReadSettings())


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(DataError, match=r"^http://127\.0\.0\.1:9/x\.csv cannot be fetched: "):
        read_frame("http://127.0.0.1:9/x.csv", ReadSettings())


def test_a_password_is_not_sent() -> None:
    with pytest.raises(DataError, match="password") as caught:
        read_frame("https://me:secret@host/x.csv", ReadSettings())
    assert "secret" not in str(caught.value)


def test_addresses() -> None:
    assert is_address("HTTPS://host/x.csv")
    assert not is_address("ftp://host/x.csv")
    assert not is_address("https:/x.csv")
    assert [file_name(f"https://host{path}") for path in ("/a/b%20c.csv?x=/y", "/", "")] == ["b c.csv", "host", "host"]
