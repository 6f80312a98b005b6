"""Guards of accounts: signing in, resets of passwords, invitations."""

from __future__ import annotations

from tests.contract.guard import Guard

GUARDS: dict[str, Guard] = {
    "ended accounts": Guard(
        "tokens of accounts that were switched off",
        "chalicelib/resources/accounts/administration.py",
        "    changed = records.edit(USER, user.id, change, also=passwords.revoke_removed)\n",
        "    changed = records.edit(USER, user.id, change)\n",
        "tests/contract/test_permissions.py",
        "test_an_account_that_was_switched_off_opens_nothing",
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
    "lookups": Guard(
        "lookups of strangers without end",
        "chalicelib/resources/accounts/operations.py",
        "    rate_limits.check(rate_limits.LOOKUP, call.caller)\n",
        "",
        "tests/resources/accounts/test_rate_limits.py",
        "test_lookups_of_strangers_are_limited",
    ),
    "keys of roles": Guard(
        "rows of accounts and organizations that other functions than the API write",
        "infra/functions.yaml",
        '["user#*", "token#*", "claim#user|*", "organization#*", "affiliation#*", "invitation#*",',
        "[",
        "tests/infra/test_roles.py",
        "test_no_function_but_the_api_makes_accounts_and_tokens",
    ),
    "members of groups": Guard(
        "users of others in groups and row protections",
        "chalicelib/access/users.py",
        "            raise NotFound.of",
        "            NotFound.of",
        "tests/resources/permissions/test_row_protections.py",
        "test_a_subject_of_others_is_refused_as_one_that_does_not_exist",
    ),
}
