"""The guards of docs/security.md, each taken away in a copy of the code, to see that a test of it fails.

    python -m tests.contract.guards           all of them: a table, and an error where no test failed
    python -m tests.contract.guards lock-out  one

A guard is one place of the code, as a text that is replaced there. `test_security_page.py` holds that each text still
stands there once, and that the page has the table.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_COPIED = ("app.py", "pyproject.toml", "chalicelib", "functions", "infra", "tests", "docs")
_SECONDS = 500


@dataclass(frozen=True)
class Guard:
    """One guard.

    Attributes:
        what: what it refuses.
        path: the module.
        text: the text of the guard.
        without: what stands there in its place.
        tests: the files of the tests, and the test of the page that fails without the guard.
    """

    what: str
    path: str
    text: str
    without: str
    file: str
    test: str


GUARDS: dict[str, Guard] = {
    "foreign projects": Guard(
        "what a caller outside the project addresses",
        "chalicelib/core/permissions.py",
        "    if level is Level.NONE:\n        return Verdict.UNKNOWN\n",
        "    if level is Level.NONE:\n        return Verdict.ALLOWED\n",
        "tests/contract/test_permissions.py",
        "test_a_stranger_is_told_that_nothing_is_there",
    ),
    "levels": Guard(
        "an operation above the caller's level",
        "chalicelib/core/permissions.py",
        "Verdict.ALLOWED if level >= needs.level",
        "Verdict.ALLOWED if level >= Level.VIEW",
        "tests/contract/test_permissions.py",
        "test_every_level_below_the_needed_one_is_forbidden",
    ),
    "ended accounts": Guard(
        "tokens of accounts that were switched off",
        "chalicelib/access/authentication.py",
        "if not stored.is_active:",
        "if False:",
        "tests/contract/test_permissions.py",
        "test_an_account_that_was_switched_off_opens_nothing",
    ),
    "references": Guard(
        "ids in bodies that fine-grained permissions hide",
        "chalicelib/http/dispatch.py",
        "    references.check(scope, found.project or 0, query, body)\n",
        "",
        "tests/resources/permissions/test_references.py",
        "test_by_states",
    ),
    "places of writes": Guard(
        "creations in places that are closed to the caller",
        "chalicelib/access/scope.py",
        "if any(level_of(each) < self.needed for each in masks):",
        "if False:",
        "tests/resources/permissions/test_scoped_reads.py",
        "test_annotations_are_made_on_open_media_and_moved_to_open_versions_only",
    ),
    "authors": Guard(
        "another author without full control",
        "chalicelib/resources/entities/service.py",
        '    if writer.level < Level.FULL:\n        raise Forbidden("user_elemental_id',
        '    if False:\n        raise Forbidden("user_elemental_id',
        "tests/resources/files/test_files.py",
        "test_another_author_needs_full_control",
    ),
    "lock-out": Guard(
        "the fourth password within ten minutes",
        "chalicelib/access/passwords.py",
        "if number is None or not good or not user.is_active:",
        "if not good or not user.is_active:",
        "tests/resources/accounts/test_lock_out.py",
        "test_guesses_in_parallel_do_not_outrun_the_limit",
    ),
    "time of refusals": Guard(
        "telling known names from unknown ones by time",
        "chalicelib/access/passwords.py",
        "        time.sleep(max(0.0, began + REFUSAL_SECONDS - time.monotonic()))\n",
        "",
        "tests/resources/accounts/test_lock_out.py",
        "test_every_refusal_takes_the_same_time",
    ),
    "mails": Guard(
        "mails without end to an address",
        "chalicelib/access/rate_limits.py",
        "    if limit.by_address and address:",
        "    if False:",
        "tests/resources/accounts/test_rate_limits.py",
        "test_resets_are_limited_for_an_address_and_for_a_caller",
    ),
    "older resets": Guard(
        "a mailed token after another reset",
        "chalicelib/resources/accounts/registration.py",
        " or reset.created < user.password_changed",
        "",
        "tests/resources/accounts/test_addresses.py",
        "test_one_reset_ends_the_others",
    ),
    "resets of others": Guard(
        "the reset of another user",
        "chalicelib/resources/accounts/registration.py",
        "    if reset.user != user.id or is_old",
        "    if is_old",
        "tests/resources/accounts/test_addresses.py",
        "test_a_reset_of_another_user_without_an_address_is_refused",
    ),
    "old addresses": Guard(
        "a reset that was mailed to an earlier address",
        "chalicelib/resources/accounts/registration.py",
        " or is_old or is_elsewhere:",
        " or is_old:",
        "tests/resources/accounts/test_addresses.py",
        "test_a_reset_that_was_mailed_to_the_old_address_ends_with_it",
    ),
    "invited addresses": Guard(
        "an invitation for another address",
        "chalicelib/resources/accounts/registration.py",
        "    if invitation.email.casefold() != spec.email.casefold():",
        "    if False:",
        "tests/resources/accounts/test_invitations.py",
        "test_the_token_is_for_the_invited_address_only",
    ),
    "used invitations": Guard(
        "invitations that were used or have expired",
        "chalicelib/resources/accounts/registration.py",
        '    if invitation.status != "Pending" or _is_old(invitation):',
        "    if False:",
        "tests/resources/accounts/test_invitations.py",
        "test_an_old_one_has_expired_and_makes_room",
    ),
    "inside addresses": Guard(
        "connections to addresses that are not public",
        "chalicelib/storage/outbound.py",
        "if not is_inside and not all(origins.is_public(number) for number in numbers):",
        "if False:",
        "tests/resources/uploads/test_fetching.py",
        "test_an_allowed_name_that_leads_inside_is_refused",
    ),
    "rebound names": Guard(
        "a name that resolves elsewhere when it is connected to",
        "chalicelib/storage/outbound.py",
        "    return numbers[0]\n",
        '    return address.host.strip("[]")\n',
        "tests/resources/uploads/test_fetching.py",
        "test_the_connection_goes_to_the_address_that_was_judged",
    ),
    "redirects": Guard(
        "redirects to origins that are not allowed",
        "chalicelib/resources/uploads/fetching.py",
        "        address = origins.take_apart(current)\n        _check_allowed(address, organization)\n",
        "        address = origins.take_apart(current)\n        if current == url:\n"
        "            _check_allowed(address, organization)\n",
        "tests/resources/uploads/test_fetching.py",
        "test_redirects_are_judged_like_the_first_url",
    ),
    "secret headers": Guard(
        "secret headers after a redirect to another origin",
        "chalicelib/resources/uploads/fetching.py",
        "_get(address, (headers or {}) if at_home else {})",
        "_get(address, headers or {})",
        "tests/resources/uploads/test_fetching.py",
        "test_secret_headers_stay_with_the_first_origin",
    ),
    "moved servers": Guard(
        "kept headers for another server",
        "chalicelib/core/web/http_headers.py",
        "if after is not None and not is_given and _origin(before) != _origin(after):",
        "if False:",
        "tests/resources/annotators/test_annotators.py",
        "test_a_change_of_server_takes_the_headers_again",
    ),
    "object keys": Guard(
        "keys of another project",
        "chalicelib/core/keys/object_keys.py",
        "    if owners[:2] != [str(organization), str(project)]:",
        "    if False:",
        "tests/resources/uploads/test_uploads.py",
        "test_keys_of_others_and_malformed_ones",
    ),
    "resumable uploads": Guard(
        "uploads of another user",
        "chalicelib/resources/uploads/tus_operations.py",
        "return level if is_own or ",
        "return level if True or ",
        "tests/resources/uploads/test_tus.py",
        "test_only_the_creator_and_administrators_reach_an_upload",
    ),
    "depth of bodies": Guard(
        "bodies that are nested too deeply",
        "chalicelib/http/bounds.py",
        '    if b"[]" in left or b"{}" in left:',
        "    if False:",
        "tests/http/test_decoding.py",
        "test_nesting_is_bounded",
    ),
    "sizes of bodies": Guard(
        "arrays that are too long",
        "chalicelib/http/bounds.py",
        "        if len(value) > MAX_ITEMS:",
        "        if False:",
        "tests/http/test_bounds.py",
        "test_free_members_have_bounds_of_size",
    ),
    "cost of queries": Guard(
        "queries above the budget",
        "chalicelib/query/cost.py",
        "    if total <= budget:",
        "    if True:",
        "tests/query/test_cost.py",
        "test_an_expensive_query_is_refused_and_the_message_says_what_to_make_smaller",
    ),
    "numbers of records": Guard(
        "records beyond the limit of their kind",
        "chalicelib/storage/dynamodb/records.py",
        "    if not is_owed:\n        limits.hold(change, kind, record)\n",
        "",
        "tests/faults/test_record_limits.py",
        "test_one_more_is_refused_by_name",
    ),
    "limits in parallel": Guard(
        "two requests that take the last place",
        "chalicelib/storage/dynamodb/limits.py",
        "        change.put(row, unmoved, self.moved)",
        "        change.put(row)",
        "tests/resources/test_races.py",
        "test_sections_and_versions",
    ),
    "formulas": Guard(
        "cells that a spreadsheet would run",
        "chalicelib/http/encoding.py",
        '        return f"\'{value}" if runs else value',
        "        return value",
        "tests/http/test_encoding.py",
        "test_formulas_are_disarmed",
    ),
    "applets": Guard(
        "uploaded pages in the origin of the service",
        "chalicelib/resources/algorithms/saved_files.py",
        '"sandbox allow-scripts allow-forms allow-modals allow-downloads"',
        '"sandbox allow-scripts allow-same-origin allow-forms allow-modals allow-downloads"',
        "tests/resources/applets/test_applets.py",
        "test_a_page_runs_as_an_origin_of_its_own",
    ),
    "waiting requests": Guard(
        "events for a caller who lost access while the request waited",
        "chalicelib/resources/events/operations.py",
        "page = read(start, _scope_now(call))",
        "page = read(start)",
        "tests/resources/events/test_events.py",
        "test_who_loses_access_while_a_request_waits_gets_nothing",
    ),
    "archives": Guard(
        "archives of too many files",
        "chalicelib/formats/readers/unzip.py",
        "        if count > MOST_FILES:",
        "        if False:",
        "tests/formats/test_hostile_archives.py",
        "test_entries_are_counted_before_they_are_read",
    ),
    "presigned URLs": Guard(
        "presigned URLs after their time, on the local stack",
        "infra/local/s3/signatures.py",
        "    elif moment > signed_at + timedelta(seconds=claim.expires):",
        "    elif False:",
        "tests/infra/local/test_s3_front.py",
        "test_of_expired_urls",
    ),
    "local pages": Guard(
        "the local stack's pages by the name of another site",
        "infra/local/http/gateway.py",
        "        if not hosts.is_own(self.headers, self.gateway.listening, None if is_operator else here):",
        "        if False:",
        "tests/infra/local/test_local_pages.py",
        "test_a_site_that_resolves_to_this_machine_reads_none_of_its_pages",
    ),
    "steps": Guard(
        "limits of other processes set by steps of jobs",
        "infra/local/batch/steps/step_syscalls.py",
        '    "prlimit64": {0: _ITSELF},\n',
        "",
        "tests/infra/local/test_hostile_steps.py",
        "test_it_sets_limits_and_priorities_of_itself_only_and_shares_no_memory",
    ),
}


def main(names: list[str]) -> int:
    """Take the guards away, one after the other; the number of those that no test missed."""
    unmissed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in _COPIED:
            place = ROOT / name
            (shutil.copytree if place.is_dir() else shutil.copy)(place, copy / name)
        for name in names or GUARDS:
            failed = _failures_without(copy, GUARDS[name])
            is_missed = GUARDS[name].test in failed
            unmissed += not is_missed
            print(f"{name}: {'held by' if is_missed else 'NOT HELD by'} {GUARDS[name].test}", *sorted(failed)[:5])  # noqa: T201
            sys.stdout.flush()
    return unmissed


def _failures_without(copy: Path, guard: Guard) -> set[str]:
    """The names of the tests that fail in a copy without a guard."""
    place, text = copy / guard.path, (ROOT / guard.path).read_text()
    place.write_text(text.replace(guard.text, guard.without))
    asked = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", "-k", guard.test, guard.file]
    how = {"cwd": copy, "env": {**os.environ, "PYTHONPATH": str(copy)}, "capture_output": True, "text": True}
    try:
        said = subprocess.run(asked, timeout=_SECONDS, check=False, **how)
    except subprocess.TimeoutExpired:
        return set()
    finally:
        place.write_text(text)
    lines = [line for line in said.stdout.splitlines() if line.startswith("FAILED ")]
    return {line.split("::", 1)[1].split("[")[0].split(" ")[0].rpartition("::")[2] for line in lines}


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
