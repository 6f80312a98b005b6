"""The commands that keep services and tokens in the configuration file."""

from __future__ import annotations

import getpass
import platform
import sys
from dataclasses import replace
from typing import Annotated

import typer

from .. import configuration
from ..client import Client, sign_in
from ..configuration import Profile
from ..failures import Failure

profiles = typer.Typer(help="Services and tokens in the configuration file.", no_args_is_help=True)


def login(
    context: typer.Context,
    url: Annotated[str, typer.Argument(help="Address of the service, such as https://limn.example.org.")],
    username: Annotated[str | None, typer.Option(help="Sign in with a password, which is asked for.")] = None,
    name: Annotated[str, typer.Option("--name", help="Name of the profile.")] = "default",
    project: Annotated[int | None, typer.Option(min=1, help="Project of commands that name none.")] = None,
    device: Annotated[bool, typer.Option("--device", help="Confirm a code in the console, on any machine.")] = False,
) -> None:
    """Store a token in a profile. It is read from a prompt, or from standard input; never from the command line."""
    session, base = context.obj, configuration.address(url)
    if device:
        token = sign_in(base, f"limn on {platform.node()}"[:100], show=session.output.tell).profile.token
    elif username is not None:
        secret = _secret("Password: ")
        token = Client(Profile(base)).create_obtain_auth_token({"username": username, "password": secret})["token"]
    else:
        token = _secret("Token: ")
    profile = Profile(base, configuration.token_of(token), project)
    user = Client(profile).whoami()
    found = configuration.read()
    found.profiles[name] = profile
    if len(found.profiles) == 1:
        found.default = name
    configuration.write(found)
    document = {"profile": name, "url": base, "username": user["username"]}
    session.output.result(document, f"Signed in to {base} as {user['username']} (profile {name}).")


@profiles.command("list")
def list_profiles(context: typer.Context) -> None:
    """The profiles, without their tokens."""
    found = configuration.read()
    rows = [
        {"name": name, "url": each.url, "project": each.project, "default": name == found.default}
        for name, each in sorted(found.profiles.items())
    ]
    context.obj.output.table(rows, ("name", "url", "project", "default"))


@profiles.command("use")
def use_profile(context: typer.Context, name: str) -> None:
    """Make a profile the default."""
    found = _known(name)
    found.default = name
    configuration.write(found)
    context.obj.output.result({"default": name}, f"The default profile is {name}.")


@profiles.command("set")
def set_project(
    context: typer.Context,
    project: Annotated[int, typer.Option("--project", "-p", min=1)],
    name: Annotated[str | None, typer.Argument(help="Profile; without it, the default.")] = None,
) -> None:
    """Set the project of a profile."""
    chosen = name or configuration.read().default
    found = _known(chosen)
    found.profiles[chosen] = replace(found.profiles[chosen], project=project)
    configuration.write(found)
    context.obj.output.result({"profile": chosen, "project": project}, f"Profile {chosen}: project {project}.")


@profiles.command("remove")
def remove_profile(context: typer.Context, name: str) -> None:
    """Remove a profile and its token from this machine. The token stays valid."""
    found = _known(name)
    del found.profiles[name]
    configuration.write(found)
    context.obj.output.result({"removed": name}, f"Removed profile {name}.")


def _known(name: str) -> configuration.Configuration:
    found = configuration.read()
    if name not in found.profiles:
        raise Failure(f"There is no profile {name!r}.")
    return found


def _secret(prompt: str) -> str:
    if sys.stdin.isatty():
        return getpass.getpass(prompt).strip()
    return sys.stdin.readline().strip()
