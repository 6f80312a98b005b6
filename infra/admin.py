"""The operator's command line: accounts and announcements, on AWS and on the local stack.

    python -m infra.admin create-superuser ada --email ada@example.org      asks for the password
    python -m infra.admin list-users
    python -m infra.admin announce "We are down on Sunday from 8 to 9 UTC." --subject Maintenance --days 3
    python -m infra.admin unlock ada
    python -m infra.admin no-second-factor ada   for a user who has lost the authenticator app and the recovery codes
    python -m infra.admin deactivate ada         ends all tokens too; `activate` opens the account again
    python -m infra.admin dead-letters           what each queue has given up; `redrive all` has it tried again
    python -m infra.admin requeue 01a2094f-…     the same for one transcode, import, export or clip
    python -m infra.admin staff ada              makes a user one of the staff; `no-staff` undoes it
    python -m infra.admin --stage prod health    what does not answer, waits, was given up or rings
    python -m infra.admin --stage prod usage     requests, GB-seconds, bytes of this month; `--month 2026-10`
    python -m infra.admin --stage prod cost      what AWS charged for it, by service
    python -m infra.admin compact 14             folds the log of a project into a snapshot now (docs/snapshots.md)
    python -m infra.admin rebuild 14             makes a project's snapshot anew from the tables alone

With `--stage prod` it works on AWS, by the operator's own credentials and the outputs of that stage's stateful stack;
or by `LIMN_…` variables where they are set. Without, it asks the local stack that runs here, whose data only its own
process has: the words go to the address `admin_url` that it left in `.limn/local.json`.
"""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from chalicelib import __version__
from chalicelib.queues.sending import QUEUES
from infra.operating import failures

_COMMAND_SECONDS = 900
"""Seconds that a command may take on the local stack: a rebuild reads all of a project."""
PASSWORD = "LIMN_ADMIN_PASSWORD"  # noqa: S105 the name of a variable


def main(words: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit code."""
    given = parser().parse_args(words)
    if given.command in ("usage", "cost") and not given.stage:
        print(f"`{given.command}` asks AWS, so it needs --stage.", file=sys.stderr)
        return 1
    if given.command == "create-superuser":
        given.password = os.environ.get(PASSWORD) or getpass.getpass("Password: ")
    return failures.run(lambda: _do(given))


def _do(given: argparse.Namespace) -> int:
    if given.stage:
        _configure(given.stage, given.region)
    if given.stage or "LIMN_RECORDS_TABLE" in os.environ:
        print(perform(vars(given)))
    else:
        print(_ask_local(Path(given.home) / ".limn", vars(given)))
    return 0


class Refused(failures.Failed):
    """It was not done; the message says why."""


def parser() -> argparse.ArgumentParser:
    """What may be said."""
    made = argparse.ArgumentParser(prog="python -m infra.admin", description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--version", action="version", version=f"Limn {__version__}")
    made.add_argument("--stage", help="a stage on AWS; the local stack otherwise")
    made.add_argument("--region", help="the stage's region; that of the AWS configuration otherwise")
    made.add_argument("--home", default=os.environ.get("LIMN_HOME", "."), help="where .limn of the local stack lies")
    commands = made.add_subparsers(dest="command", required=True)
    create = commands.add_parser("create-superuser", help=f"a user of staff; password asked for, or in {PASSWORD}")
    create.add_argument("username")
    create.add_argument("--email", required=True)
    create.add_argument("--first-name", default="")
    create.add_argument("--last-name", default="")
    commands.add_parser("list-users", help="every user, by id")
    announce = commands.add_parser("announce", help="tell everybody something, until each has acknowledged it")
    announce.add_argument("text", help="Markdown")
    announce.add_argument("--subject", default="")
    announce.add_argument("--days", type=int, default=7, help="after how many days it is over (7)")
    announce.add_argument("--project", type=int, help="only its members")
    announce.add_argument("--user", dest="username", help="only this one")
    commands.add_parser("dead-letters", help="how many messages were given up, and the first of each queue")
    requeue = commands.add_parser("requeue", help="have one transcode, import, export or clip tried again")
    requeue.add_argument("queue", metavar="UID", help="as its job shows it")
    redrive = commands.add_parser("redrive", help="put what a queue has given up back into it")
    redrive.add_argument("queue", choices=[*QUEUES, "all"])
    for command, about in (
        ("unlock", "let a user sign in who entered too many wrong passwords"),
        ("no-second-factor", "end the second factor of a user who has lost it"),
        ("deactivate", "close an account and end its tokens"),
        ("activate", "open it again"),
        ("staff", "make a user one of the staff"),
        ("no-staff", "make a user none of the staff"),
    ):
        commands.add_parser(command, help=about).add_argument("username")
    commands.add_parser("health", help="what does not answer, waits, was given up or rings")
    for command, about in (("usage", "what was used in a month"), ("cost", "what AWS charged for a month")):
        of_month = commands.add_parser(command, help=f"{about}; of a stage on AWS")
        of_month.add_argument("--month", default=f"{datetime.now(UTC):%Y-%m}", help="such as 2026-11; the present one")
    for command, about in (
        ("compact", "fold the log of a project into a snapshot now"),
        ("rebuild", "make the snapshot of a project anew from the tables alone, after a disaster"),
    ):
        commands.add_parser(command, help=about).add_argument("project", type=int)
    for each in commands.choices.values():
        for option in ("--stage", "--region", "--home"):
            each.add_argument(option, default=argparse.SUPPRESS, help="as before the command")
    return made


def perform(given: dict[str, Any]) -> str:  # noqa: C901, PLR0911 one for each command
    """Do a command in this process, which has the configuration of a deployment; what there is to say.

    Raises:
        Refused: the service refuses it, with the service's own sentence.
    """
    # only now: the service's modules read the configuration when they are imported
    from chalicelib.access.identities import second_factors
    from chalicelib.core.models.accounts import UserSpec
    from chalicelib.errors import LimnError
    from chalicelib.resources.accounts import administration

    try:
        match given.get("command"):
            case "create-superuser":
                spec = UserSpec(
                    username=str(given["username"]),
                    email=str(given["email"]),
                    first_name=str(given.get("first_name") or ""),
                    last_name=str(given.get("last_name") or ""),
                    password=str(given["password"]),
                )
                user = administration.create_superuser(spec)
                return f"User {user.username} ({user.id}) is of staff."
            case "list-users":
                return "\n".join(_line(user) for user in administration.list_users())
            case "announce":
                count = administration.announce(
                    str(given.get("subject") or ""),
                    str(given["text"]),
                    days=int(given.get("days") or administration.ANNOUNCED_DAYS),
                    project=given.get("project"),
                    username=given.get("username"),
                )
                return f"Announced to {count} users."
            case "unlock":
                return f"User {administration.unlock(str(given['username'])).username} may sign in."
            case "no-second-factor":
                found = administration.find_user(str(given["username"]))
                second_factors.reset(found.id)
                return f"User {found.username} signs in with the password alone."
            case "activate" | "deactivate" as command:
                user = administration.set_active(
                    administration.find_user(str(given["username"])), active=command == "activate"
                )
                return f"The account of {user.username} is {'open' if user.is_active else 'closed'}."
            case "staff" | "no-staff" as command:
                user = administration.set_staff(str(given["username"]), staff=command == "staff")
                return f"User {user.username} is {'' if user.is_staff else 'not '}of staff."
            case "compact" | "rebuild" as command:
                return _snapshot(command, int(given["project"]))
            case other:
                return _operate(str(other), given)
    except LimnError as error:
        raise Refused(error.message) from error
    except (KeyError, ValueError, TypeError) as error:
        raise Refused(f"Something is missing or malformed: {error}.") from error


def _operate(command: str, given: dict[str, Any]) -> str:
    """Look after the stage: what AWS reports of it, and what its queues have given up."""
    from chalicelib.settings import settings
    from infra.operating import redriving, reports

    stage = str(given.get("stage") or settings().stage)
    match command:
        case "health":
            report, well = reports.health(stage)
            if not well:
                raise Refused(report)
            return report
        case "usage":
            return reports.usage(stage, str(given["month"]))
        case "cost":
            return reports.cost(stage, str(given["month"]))
    return redriving.perform(command, str(given.get("queue") or ""))


def _snapshot(command: str, number: int) -> str:
    """Write the snapshot of a project: from its log, or from the tables alone."""
    from chalicelib.access import authentication
    from chalicelib.maintenance import compaction, rebuild
    from chalicelib.storage.view import views

    project = authentication.project_of(number)
    if command == "compact":
        done = compaction.compact(project.id, force=True)
        return "A snapshot was written." if done else "The snapshot there is holds everything."
    made = rebuild.rebuild(project.id)
    views.drop(project.id)
    return f"The snapshot of {project.name} holds {made.rows} rows as of commit {made.seq}."


def _line(user: Any) -> str:
    words = [f"{user.id:>6}", f"{user.username:<30}", f"{user.email:<40}", user.display_name]
    marks = [word for word, on in (("staff", user.is_staff), ("closed", not user.is_active)) if on]
    return "  ".join(words) + (f"  ({', '.join(marks)})" if marks else "")


def _configure(stage: str, region: str | None) -> None:
    """The configuration of a stage, from the outputs of its stateful stack."""
    import boto3
    from botocore.exceptions import ClientError

    from infra.local.deploy import variable

    name = f"limn-{stage}-stateful"
    if region:
        os.environ["AWS_DEFAULT_REGION"] = region
    client = boto3.client("cloudformation")
    try:
        stack = client.describe_stacks(StackName=name)["Stacks"][0]
    except ClientError as failure:
        if "does not exist" not in str(failure):
            raise
        raise Refused(f"There is no stack {name} in {client.meta.region_name}, in the account of these keys.") from None
    os.environ.update({variable(output["OutputKey"]): output["OutputValue"] for output in stack.get("Outputs", [])})
    os.environ["LIMN_STAGE"] = stage


def _ask_local(home: Path, given: dict[str, Any]) -> str:
    """Have the local stack do a command."""
    try:
        url = json.loads((home / "local.json").read_text())["admin_url"]
    except (OSError, ValueError, KeyError, TypeError) as failure:
        raise Refused(
            f"No local stack has run here ({failure}). Start it with `make run`, or name a --stage."
        ) from None
    request = Request(url, json.dumps(given).encode(), {"Content-Type": "application/json"}, method="POST")  # noqa: S310 ours
    try:
        with urlopen(request, timeout=_COMMAND_SECONDS) as answer:  # noqa: S310 the local stack's own address
            return str(json.load(answer)["message"])
    except HTTPError as refusal:
        raise Refused(json.load(refusal)["message"]) from None
    except URLError as failure:
        raise Refused(
            f"The local stack does not answer at {url.partition('?')[0]}: {failure.reason}. Start it with `make run`."
        ) from None


if __name__ == "__main__":
    sys.exit(main())
