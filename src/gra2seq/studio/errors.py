"""Errors as answers: a status and one sentence."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from gra2seq.errors import UserError, printable
from gra2seq.studio.limits import BusyError, TooLargeError, TooSlowError

MAX_SENTENCE = 300  # characters
RETRY_AFTER = "2"  # seconds

log = logging.getLogger(__name__)


def add_error_handlers(app: FastAPI) -> None:
    """Make every error of the service a JSON object {"error": "one sentence"}."""
    app.add_exception_handler(UserError, _user_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


def error_line(error: Exception) -> dict[str, Any]:
    """The last line of a stream that failed."""
    if isinstance(error, UserError):
        return {"error": _sentence(str(error))}
    log.error("a stream failed", exc_info=error)
    return {"error": "something went wrong: see the terminal of the studio"}


async def _user_error(_request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, BusyError | TooSlowError):
        return JSONResponse({"error": _sentence(str(error))}, 503, {"Retry-After": RETRY_AFTER})
    return JSONResponse({"error": _sentence(str(error))}, 413 if isinstance(error, TooLargeError) else 422)


async def _invalid(_request: Request, error: Exception) -> JSONResponse:
    """The first of the errors, with its place: strokes.0.3: ..."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:])
    return JSONResponse({"error": _sentence(f"{place}: {first['msg']}" if place else first["msg"])}, 422)


async def _http(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    status = 422 if error.status_code == 400 else error.status_code
    sentence = {404: "there is nothing at this address", 405: "this address takes another method"}.get(status)
    return JSONResponse({"error": sentence or _sentence(str(error.detail))}, status, error.headers)


def _sentence(text: str) -> str:
    return printable(text, MAX_SENTENCE)
