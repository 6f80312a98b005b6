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
from pathlib import Path

from tests.contract import guards_of_accounts, guards_of_clients, guards_of_cost
from tests.contract.guard import Guard

ROOT = Path(__file__).parents[2]
_COPIED = ("app.py", "pyproject.toml", "chalicelib", "functions", "infra", "tests", "docs")
_SECONDS = 500


GUARDS: dict[str, Guard] = {
    **guards_of_accounts.GUARDS,
    **guards_of_clients.GUARDS,
    **guards_of_cost.GUARDS,
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
    "bodies": Guard(
        "callers without permission before their body is read",
        "chalicelib/http/dispatch.py",
        "    is_told_by_path = operation.addresses is None or operation.addresses.locate_by is None\n",
        "    is_told_by_path = False\n",
        "tests/contract/test_permissions.py",
        "test_the_permission_is_checked_before_a_body_is_read",
    ),
    "deleted files of steps": Guard(
        "steps that fill the disk by files without a name",
        "infra/emulator/batch/steps/step.py",
        "overfull(step, deleted_bytes(processes()))",
        "overfull(step)",
        "tests/infra/local/test_hostile_steps.py",
        "test_one_that_fills_the_disk_is_ended_at_its_limit",
    ),
    "launches of themselves": Guard(
        "trigger rules whose jobs launch them without end",
        "chalicelib/resources/webhooks/rules.py",
        "        if launches > MOST_LAUNCHES:\n",
        "        if False:\n",
        "tests/resources/jobs/test_trigger_rules.py",
        "test_a_rule_that_launches_itself_ends_with_a_reason",
    ),
    "files of others": Guard(
        "modes, owners and times of files outside the folder of a step",
        "infra/emulator/batch/steps/launch_step.py",
        '            _seal(plan["writable"])\n',
        "",
        "tests/infra/local/test_hostile_steps.py",
        "test_it_changes_no_modes_owners_and_times_but_of_its_own_files",
    ),
    "what runs": Guard(
        "changes of what runs by callers who may not register it",
        "chalicelib/resources/algorithms/service.py",
        "            _check_approval(project, caller, msgspec.structs.replace(_get_active(current), **members))\n",
        "",
        "tests/contract/test_what_runs.py",
        "test_what_runs_at_the_cost_of_the_deployment_is_changed_by_staff_only",
    ),
    "approvals": Guard(
        "rules that launch what nobody approved",
        "chalicelib/resources/algorithms/service.py",
        "    if found != approval.digest and not is_own:\n",
        "    if False:\n",
        "tests/resources/jobs/test_trigger_rules.py",
        "test_a_rule_stops_where_somebody_else_changed_what_it_runs_and_says_so",
    ),
    "levels of jobs": Guard(
        "tokens of jobs above their level",
        "chalicelib/access/authentication.py",
        "        return min(level, self._most(project))\n",
        "        return level\n",
        "tests/resources/jobs/test_job_tokens.py",
        "test_it_works_at_can_execute_and_no_higher",
    ),
    "accounts of launchers": Guard(
        "tokens of jobs where accounts are changed",
        "chalicelib/http/dispatch.py",
        "    if caller.credential and caller.is_limited and not operation.takes(caller.credential):\n",
        "    if False:\n",
        "tests/resources/jobs/test_job_tokens.py",
        "test_it_changes_no_account_and_makes_no_token",
    ),
    "ended jobs": Guard(
        "tokens of jobs that have ended",
        "chalicelib/resources/jobs/status_sync.py",
        "            credentials.remove(transaction, [before.credential])\n",
        "",
        "tests/resources/jobs/test_job_tokens.py",
        "test_it_ends_with_its_job",
    ),
    "closed accounts": Guard(
        "tokens of jobs whose launcher's account was closed",
        "chalicelib/access/authentication.py",
        "if user is None or not user.is_active:",
        "if user is None:",
        "tests/resources/jobs/test_job_tokens.py",
        "test_it_ends_with_the_account_and_the_membership_of_the_launcher",
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
        "_get(address, most, (headers or {}) if at_home else {})",
        "_get(address, most, headers or {})",
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
    "numbers of records": Guard(
        "records beyond the limit of their kind",
        "chalicelib/storage/dynamodb/records.py",
        "    if not is_owed:\n        limits.enforce(change, kind, record)\n",
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
        "chalicelib/core/text/csv_cells.py",
        '    return f"\'{text}" if runs else text',
        "    return text",
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
        "page = read(start, look_again(call, WITHIN_PROJECT)[0])",
        "page = read(start)",
        "tests/resources/events/test_events.py",
        "test_who_loses_access_while_a_request_waits_gets_nothing",
    ),
    "presigned URLs": Guard(
        "presigned URLs after their time, on the local stack",
        "infra/emulator/s3/signatures.py",
        "    elif moment > signed_at + timedelta(seconds=claim.expires):",
        "    elif False:",
        "tests/infra/emulator/test_s3_front.py",
        "test_of_expired_urls",
    ),
    "local pages": Guard(
        "the local stack's pages without their key",
        "infra/local/http/gateway.py",
        ' and not self.gateway.may_see_pages(self.path, given.get("authorization")):',
        " and False:",
        "tests/infra/local/test_local_pages.py",
        "test_pages_are_refused_without_their_key",
    ),
    "ports": Guard(
        "ports of this machine other than the stack's, to steps of jobs",
        "infra/emulator/batch/steps/launch_step.py",
        "0 if ports is None else _TCP",
        "0",
        "tests/infra/local/test_hostile_steps.py",
        "test_it_reaches_no_port_but_those_of_the_stack",
    ),
    "sockets": Guard(
        "sockets of steps that Landlock does not know",
        "infra/emulator/batch/steps/step_syscalls.py",
        "    for name, check in _network_checks().items() if is_tcp_only else ():",
        "    for name, check in ():",
        "tests/infra/local/test_hostile_steps.py",
        "test_it_reaches_no_port_but_those_of_the_stack",
    ),
    "steps": Guard(
        "limits of other processes set by steps of jobs",
        "infra/emulator/batch/steps/step_syscalls.py",
        '    "prlimit64": {0: _ITSELF},\n',
        "",
        "tests/infra/local/test_hostile_steps.py",
        "test_it_sets_limits_and_priorities_of_itself_only_and_shares_no_memory",
    ),
    "derived files": Guard(
        "clips and copies of what is hidden",
        "chalicelib/resources/temporary_files/service.py",
        "        made_of=made_of,\n",
        "        made_of=Outside(),\n",
        "tests/resources/clips/test_clips.py",
        "test_a_clip_that_a_request_cuts_itself_is_as_open_as_its_media",
    ),
    "copies of files": Guard(
        "copies of files that are hidden",
        "chalicelib/access/scope.py",
        'files = [known.on(Kind.FILE, number) for number in getattr(row, "source_files", ())]',
        "files = list[int]()",
        "tests/resources/permissions/test_derived.py",
        "test_a_copy_is_as_open_as_the_file_that_it_copies",
    ),
    "formulas in exports": Guard(
        "cells of exports that a spreadsheet would run",
        "chalicelib/formats/manifest.py",
        "return csv_cells.disarm(value)",
        "return value",
        "tests/formats/test_writers.py",
        "test_texts_that_a_spreadsheet_would_run_are_disarmed_in_exports_and_read_back",
    ),
    "schemes of bookmarks": Guard(
        "bookmarks that run as a script",
        "chalicelib/core/models/personal.py",
        '        pattern=r"^(?:[hH][tT][tT][pP][sS]?://[^\\x00-\\x20]|[^:/?#\\x00-\\x20\\\\]*(?:[/?#]|$(?!\\n)))",\n',
        "",
        "tests/resources/bookmarks/test_bookmarks.py",
        "test_a_bookmark_leads_to_http_or_to_a_path_of_the_service",
    ),
    "memory of processes": Guard(
        "children that read the credentials of their parent",
        "chalicelib/video/process/isolation.py",
        "                process.hide()\n",
        "",
        "tests/video/test_isolation.py",
        "test_a_process_with_credentials_is_closed_to_the_children_that_parse_files",
    ),
    "cached URLs": Guard(
        "cached URLs for another address of the store",
        "chalicelib/storage/objects/presigned.py",
        " and self.store == settings().s3_endpoint",
        "",
        "tests/storage/test_presigned.py",
        "test_a_url_of_another_address_of_the_store_is_signed_again",
    ),
    "URLs of former members": Guard(
        "cached URLs of an earlier membership",
        "chalicelib/resources/projects/membership_operations.py",
        "    presigned.forget(user.id, call.project)  # what an earlier membership left\n",
        "",
        "tests/storage/test_presigned.py",
        "test_a_new_membership_has_no_urls_of_an_earlier_one",
    ),
    "events of buckets": Guard(
        "events of a bucket for those who registered its name",
        "chalicelib/resources/bucket_sources/service.py",
        " or source.listed_store != store_of(bucket)",
        "",
        "tests/resources/bucket_sources/test_events_of_others.py",
        "test_who_only_registered_its_name_does_not",
    ),
    "keys of buckets": Guard(
        "S3 keys that no request can be signed with",
        "chalicelib/resources/buckets/service.py",
        "        if value is not None and not (isinstance(value, str) and _PRINTABLE.fullmatch(value)):",
        "        if False:",
        "tests/resources/buckets/test_organization_buckets.py",
        "test_keys_that_no_request_can_be_signed_with_are_refused",
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
