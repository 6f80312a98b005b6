"""Importing this sets what the settings want, without starting AWS; before anything reads them."""

import os

from tests.environment import VARIABLES

os.environ.update(VARIABLES)
