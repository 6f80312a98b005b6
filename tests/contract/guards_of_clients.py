"""Guards of the client and the command line against a service that means harm; see `guards.py`."""

from __future__ import annotations

from tests.contract.guard import Guard

GUARDS: dict[str, Guard] = {
    "names of files of a mirror": Guard(
        "ids of a service that lead out of the folder of its client",
        "infra/client/mirrors/mirror.py",
        '    if not isinstance(row["id"], int):',
        "    if False:",
        "tests/client/test_hostile_service.py",
        "test_a_mirror_writes_no_file_outside_of_its_folder",
    ),
    "pages of lists": Guard(
        "lists of a service that repeat their pages without end",
        "infra/client/projects.py",
        '        if rows == before or (not by_position and rows[-1]["id"] <= last):',
        "        if False:",
        "tests/client/test_hostile_service.py",
        "test_a_list_that_repeats_its_pages_ends",
    ),
    "texts on terminals": Guard(
        "texts of a service that command a terminal",
        "infra/client/cli/output.py",
        "sign if sign.isprintable() or sign in kept",
        "sign if sign or sign in kept",
        "tests/client/test_hostile_service.py",
        "test_texts_of_a_service_do_not_command_a_terminal",
    ),
    "answers to clients": Guard(
        "answers of a service that would fill the memory of its client",
        "infra/client/connections.py",
        "                self._left -= len(piece)\n",
        "",
        "tests/client/test_hostile_service.py",
        "test_an_answer_is_bounded_as_it_is_unpacked",
    ),
    "downloads of clients": Guard(
        "downloads that do not end where the export does",
        "infra/client/cli/datasets.py",
        '                        if file.tell() > export["size"]:\n',
        "                        if False:\n",
        "tests/client/test_hostile_service.py",
        "test_a_download_ends_where_the_export_should",
    ),
    "parts of paths": Guard(
        "parts of a path that lead a client or an agent to another operation",
        "infra/client/client.py",
        '            if str(value) in ("", ".", ".."):\n',
        "            if False:\n",
        "tests/client/test_hostile_service.py",
        "test_no_part_of_a_path_leads_to_another_operation",
    ),
    "services beside this machine": Guard(
        "services that lead their client to an address of its machine",
        "infra/client/connections.py",
        "if url.host != host and _is_here(url.host) and not _is_here(host):",
        "if False:",
        "tests/client/test_hostile_commands.py",
        "test_urls_to_this_machine_are_refused",
    ),
    "slow answers": Guard(
        "answers of a service that come so slowly that they never end",
        "infra/client/connections.py",
        "        if self._waited > GRACE and self._received < SLOWEST * self._waited:\n",
        "        if False:\n",
        "tests/client/test_hostile_commands.py",
        "test_an_answer_that_does_not_end_in_time_is_given_up",
    ),
    "full disks": Guard(
        "downloads that fill the disk of a client",
        "infra/client/failures.py",
        "    if shutil.disk_usage(folder).free < ROOM:\n",
        "    if False:\n",
        "tests/client/test_hostile_commands.py",
        "test_a_download_leaves_room_on_the_disk",
    ),
    "other bytes": Guard(
        "other bytes of a file than were asked for",
        "infra/client/client.py",
        "if total > LARGEST_OBJECT or came != min(size, max(total - start, 0)):",
        "if False:",
        "tests/client/test_hostile_commands.py",
        "test_of_a_part_no_other_bytes_are_taken",
    ),
}
