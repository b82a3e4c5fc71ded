"""Settings of every test; its markers are declared in pyproject.toml."""

import os

from hypothesis import settings

# A shared machine is slow now and then: no deadline for one example.
# CI repeats itself, people explore.
settings.register_profile("person", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=200)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "person")
