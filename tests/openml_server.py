"""A server on this machine that answers openml's client with the answers of OpenML that scikit-learn's tests recorded.

scikit-learn recorded JSON; openml-python asks for XML, so descriptions and lists are rewritten. The data are the
recorded ARFF files, some of which scikit-learn shortened.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from threading import Thread
from urllib.parse import unquote
from xml.sax.saxutils import escape

RECORDED = files("sklearn.datasets.tests.data.openml")
_LOCAL = "oml:url", "oml:md5_checksum", "oml:parquet_url"
"""Fields that speak of the real server's files."""


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = unquote(self.path.split("?")[0]).split("/")
        if path[1:6] == ["api", "v1", "xml", "data", "list"]:
            self._answer(*_listing(path[path.index("data_name") + 1]))
        elif path[1:5] == ["api", "v1", "xml", "data"]:
            self._answer(200, _description(path[5], self.headers["Host"]))
        else:
            self._answer(200, _recorded(path[2], "data-v1-dl-"))

    def _answer(self, status: int, body: str) -> None:
        packed = gzip.compress(body.encode())
        self.send_response(status)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(packed)))
        self.end_headers()
        self.wfile.write(packed)

    def log_message(self, *args: object) -> None:
        pass


def _recorded(number: str, beginning: str) -> str:
    folder = RECORDED / f"id_{number}"
    (name,) = (file for file in folder.iterdir() if file.name.startswith(beginning))
    return gzip.decompress(name.read_bytes()).decode()


def _description(number: str, host: str) -> str:
    fields = json.loads(_recorded(number, f"api-v1-jd-{number}"))["data_set_description"]
    pairs = [(f"oml:{key}", value) for key, values in fields.items() for value in _several(values)]
    kept = "".join(f"<{key}>{escape(value)}</{key}>" for key, value in pairs if key not in _LOCAL)
    return (
        '<oml:data_set_description xmlns:oml="http://openml.org/openml">'
        f"{kept}<oml:url>http://{host}/arff/{number}</oml:url></oml:data_set_description>"
    )


def _several(values: object) -> list[str]:
    return [str(value) for value in values] if isinstance(values, list) else [str(values)]


def _listing(name: str) -> tuple[int, str]:
    """Active data sets of a name, or OpenML's code 372 for none."""
    for folder in sorted(RECORDED.iterdir(), key=lambda folder: folder.name):
        for file in folder.iterdir() if folder.is_dir() else ():
            if file.name.startswith(f"api-v1-jdl-dn-{name.lower()}-l-2-s-act"):
                rows = json.loads(gzip.decompress(file.read_bytes()))["data"]["dataset"]
                return 200, _list_of(rows)
    return 412, (
        '<oml:error xmlns:oml="http://openml.org/openml">'
        "<oml:code>372</oml:code><oml:message>No results</oml:message></oml:error>"
    )


def _list_of(rows: list[dict[str, object]]) -> str:
    kept = ("did", "name", "version", "status", "format")
    body = "".join(
        "<oml:dataset>" + "".join(f"<oml:{key}>{escape(str(row[key]))}</oml:{key}>" for key in kept) + "</oml:dataset>"
        for row in rows
    )
    return f'<oml:data xmlns:oml="http://openml.org/openml">{body}</oml:data>'


@contextmanager
def serving() -> Iterator[str]:
    """Serve on a free port of 127.0.0.1; gives the address that openml's configuration wants."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/api/v1/xml"
        finally:
            server.shutdown()
            thread.join()
