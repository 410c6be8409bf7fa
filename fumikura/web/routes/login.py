"""Logging in with the server's token, which becomes a cookie, and logging out."""

from fastapi import APIRouter, Request, Response

from fumikura.web.auth import COOKIE, SESSION_S, Access
from fumikura.web.schemas_common import ERRORS, LoginInput

router = APIRouter(tags=["access"])


def _access(request: Request) -> Access:
    access = request.app.state.access
    assert isinstance(access, Access)
    return access


@router.post("/api/login", status_code=204, responses=ERRORS)
async def log_in(request: Request, response: Response, given: LoginInput) -> None:
    """Exchange the server's token for a session cookie. Wrong tries are slowed down."""
    access = _access(request)
    if access.required:
        await access.check_token(given.token.strip())
        response.set_cookie(
            COOKIE,
            access.new_session(),
            max_age=SESSION_S,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )


@router.post("/api/logout", status_code=204)
async def log_out(response: Response) -> None:
    """End the session of this browser."""
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
