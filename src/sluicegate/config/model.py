"""The base of every configuration model, and how a model says what is wrong."""

from typing import Any

from pydantic import BaseModel, ConfigDict, StrictBool, StrictInt
from pydantic_core import PydanticCustomError

WholeNumber = StrictInt
"""An integer written as one: neither `"5"` nor `5.0` nor `true`."""

Flag = StrictBool
"""`true` or `false`; YAML 1.2 has no other words for them."""


class Model(BaseModel):
    """A frozen noun of the configuration; an unknown field is an error."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        validate_default=True,
    )


def wrong(
    message: str,
    *,
    field: str | None = None,
    code: str = "invalid",
    expected: str | None = None,
    suggestion: str | None = None,
) -> PydanticCustomError:
    """Make the error that a validator raises.

    `field` names the place below the validated value, for checks of relations.
    """
    # The template has one placeholder, so that braces in the message stay as they are.
    return PydanticCustomError(
        "config",
        "{message}",
        {
            "message": message,
            "field": field,
            "code": code,
            "expected": expected,
            "suggestion": suggestion,
        },
    )


def written(default: str) -> Any:  # noqa: ANN401 - Pydantic reads it into the field's own type
    """Give a default as a user would write it; so it stands in the JSON Schema, too."""
    return default
