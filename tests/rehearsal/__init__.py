"""`make rehearse`: a deployment on this machine, from the zips and templates that AWS would get."""

import os

from tests.environment import VARIABLES

# the gateway's module reads the declarations, and these the settings; the functions get those of the template
os.environ.update({name: value for name, value in VARIABLES.items() if name.startswith("LIMN_")})
