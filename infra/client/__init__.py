"""`limn`: the client of the service, for programs. It imports nothing of the service, and the service nothing of it.

    import limn

    with limn.connect() as client:
        print(client.whoami()["username"])

Installed with `pip install '.[client]'`; `.[cli]` adds the command `limn` (`cli/`). See docs/guides/programs.md.
"""

from .client import AsyncClient, Client, connect, connect_async, sign_in
from .configuration import Profile
from .display import show
from .failures import Failure
from .projects import AsyncProject, AsyncSelection, Project, Selection

__all__ = [
    "AsyncClient",
    "AsyncProject",
    "AsyncSelection",
    "Client",
    "Failure",
    "Profile",
    "Project",
    "Selection",
    "connect",
    "connect_async",
    "show",
    "sign_in",
]
