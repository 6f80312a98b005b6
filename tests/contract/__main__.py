"""`python -m tests.contract`: try every operation on foreign objects, and write the counts to docs/security.md."""

import os

from tests.environment import VARIABLES

os.environ.update(VARIABLES)

from tests.contract import sweep

sweep.main()
