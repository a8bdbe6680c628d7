"""What tests of the loop share."""

import pytest
from quick_runs import CONFIG


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(CONFIG)
    return path
