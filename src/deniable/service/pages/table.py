"""All pages, for the table of routes."""

from __future__ import annotations

from deniable.service.builder import views
from deniable.service.http.routes import Row
from deniable.service.pages import dashboard, exports, planner, signin, survey
from deniable.service.results import public
from deniable.service.sharing import pages as sharing

__all__ = ["PAGES"]

PAGES: tuple[Row, ...] = (
    *survey.ROWS,
    *sharing.ROWS,
    *signin.ROWS,
    *dashboard.ROWS,
    *exports.ROWS,
    *planner.ROWS,
    *views.ROWS,
    *public.ROWS,
)
