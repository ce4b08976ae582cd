"""What all bodies of requests have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Body(BaseModel):
    """A body in camelCase; fields that are not known are left alone (R-2.081)."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)
