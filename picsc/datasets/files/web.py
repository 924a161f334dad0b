"""Files on the web: a download, where a path is an http or https address. Nothing else makes a request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import PurePosixPath
from typing import cast
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from picsc.errors import DataError

_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_CHUNK = 1 << 20
SECONDS = 60
"""Longest wait for an answer, or for the next bytes of it."""


def is_address(path: object) -> bool:
    """True for text that is an http or https address."""
    return isinstance(path, str) and bool(_ADDRESS.match(path))


def file_name(address: str) -> str:
    """Name of the file that an address names: `data.csv` for `https://host/a/data.csv?raw=true`."""
    return PurePosixPath(unquote(urlsplit(address).path)).name or (urlsplit(address).hostname or "table")


@contextmanager
def downloaded(address: str) -> Iterator[Iterator[bytes]]:
    """The bytes behind an address, block by block.

    Args:
        address: http or https, without a password.

    Raises:
        DataError: it cannot be fetched, or is a page for people.
    """
    if urlsplit(address).username is not None:
        raise DataError("an address with a password in it is not fetched, since reports name their data; download it")
    request = Request(address, headers={"User-Agent": "picsc", "Accept": "*/*"})  # noqa: S310 - is_address
    try:
        answer = cast("HTTPResponse", urlopen(request, timeout=SECONDS))  # noqa: S310 - urllib refuses file: redirects
    except HTTPError as error:
        raise DataError(f"{address}: the server answers {error.code} ({error.reason}); check the address") from None
    except (URLError, HTTPException, OSError, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise DataError(f"{address} cannot be fetched: {getattr(why, 'strerror', None) or why}") from None
    with answer:
        if answer.headers.get_content_type() == "text/html":
            raise DataError(f"{address} is a web page, not a file with a table; give the address of the raw file")
        yield _blocks(answer, address)


def _blocks(answer: HTTPResponse, address: str) -> Iterator[bytes]:
    expected, received = answer.headers.get("Content-Length"), 0
    while True:
        try:
            block = answer.read(_CHUNK)
        except (HTTPException, OSError) as error:
            raise DataError(f"{address}: the download broke off ({error}); try again") from None
        if not block:
            break
        received += len(block)
        yield block
    if expected is not None and expected.isdigit() and received < int(expected):
        raise DataError(f"{address}: the download broke off after {received} of {expected} bytes; try again")
