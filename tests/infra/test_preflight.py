"""`infra.deploy check`, against moto and against accounts that it does not have."""

from __future__ import annotations

import re

import boto3
import pytest
from boto3.exceptions import S3UploadFailedError
from botocore.exceptions import ClientError, NoCredentialsError, NoRegionError
from botocore.stub import Stubber

from infra import deploy
from infra.operating import failures, preflight
from infra.operating.preflight import Preflight

REGION = "ca-central-1"
VAULT = "arn:aws:backup:eu-west-1:123456789012:backup-vault:elsewhere"


class Account:
    """A session of which some calls are answered by hand, as an account that moto is not would."""

    def __init__(self, **answers):
        self._real = boto3.Session(region_name=REGION)
        self.region_name = REGION
        self._answers = {
            "lambda": [("get_account_settings", limits(1000))],
            "sesv2": [("get_account", {"ProductionAccessEnabled": True}), ("get_email_identity", confirmed(yes=True))],
            **answers,
        }

    def client(self, service, **_):
        client = self._real.client(service)
        if service in self._answers:
            stub = Stubber(client)
            for call, answer in self._answers[service]:
                stub.add_response(call, answer) if isinstance(answer, dict) else stub.add_client_error(call, answer)
            stub.activate()
        return client


def limits(whole):
    return {"AccountLimit": {"ConcurrentExecutions": whole, "UnreservedConcurrentExecutions": whole}}


def confirmed(*, yes):
    return {"VerifiedForSendingStatus": yes}


def lines(account, name, **given):
    stage = name.replace("limn-", "s")[:16]
    return list(preflight.Preflight(stage, account, given).lines())


def about(found, word):
    return [(level, text) for level, text in found if text.startswith(word)]


def test_a_new_stage_in_a_good_account_is_not_stopped(name):
    found = lines(Account(), name, EmailSender="limn@example.org")
    assert not [text for level, text in found if level == preflight.STOP]
    assert about(found, "mail") == [("ok", "mail: limn@example.org is confirmed")]
    assert any("12 " not in text and "costs at idle" in text for _, text in found)
    [(_, made)] = about(found, "will be there")
    assert "7 DynamoDB::Table" in made
    assert not {"Backup", "Budgets", "EventBus", "WAFv2", "ApiGateway::DomainName"} & set(re.findall(r"[\w:]+", made))
    more = lines(Account(), name, EmailSender="limn@example.org", EventBus="true", BackupVault=VAULT)
    assert {"1 Events::EventBus", "1 Backup::BackupPlan"} <= set(
        about(more, "will be there")[0][1].split(": ", 1)[1].split(", ")
    )


def test_a_new_account_is_told_of_its_quotas(name):
    sandbox = [("get_account", {"ProductionAccessEnabled": False}), ("get_email_identity", "NotFoundException")]
    sandbox += [("get_email_identity", "NotFoundException")]
    account = Account(**{"lambda": [("get_account_settings", limits(10))]}, sesv2=sandbox)
    found = lines(account, name, EmailSender="limn@example.org", TranscodeMemory="4096")
    assert "runs 10 functions at once" in about(found, "concurrency")[0][1]
    assert about(found, "memory")[0][0] == "warn"
    assert ["sandbox" in text or "not confirmed" in text for _, text in about(found, "mail")] == [True, True]
    reserved = lines(Account(**{"lambda": [("get_account_settings", limits(100))]}), name, ReserveConcurrency="true")
    assert about(reserved, "concurrency")[0][0] == "stop"


@pytest.mark.slow
def test_what_an_earlier_stage_left_stops_a_new_one_and_what_a_failed_deployment_left_does_not(name, monkeypatch):
    stage = name.replace("limn-", "s")[:16]
    keys = {"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}], "BillingMode": "PAY_PER_REQUEST"}
    keys["KeySchema"] = [{"AttributeName": "id", "KeyType": "HASH"}]
    boto3.client("dynamodb", region_name=REGION).create_table(TableName=f"limn-{stage}-idempotency", **keys)
    (found,) = about(lines(Account(), name), "left of an earlier stage")
    assert found[0] == "stop"
    assert f"table limn-{stage}-idempotency" in found[1]
    monkeypatch.setattr(deploy.Deployment, "left_tables", lambda *_: [f"limn-{stage}-idempotency"])
    assert about(lines(Account(), name), "left of an earlier stage") == []


def upload_that_failed():
    """The error of boto3 itself, which is neither a ClientError nor of botocore."""
    failure = S3UploadFailedError("Failed to upload x")
    failure.__context__ = ClientError({"Error": {"Code": "403", "Message": "Forbidden"}}, "PutObject")
    return failure


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (NoCredentialsError(), "no AWS credentials"),
        (NoRegionError(), "No AWS region"),
        (ClientError({"Error": {"Code": "ExpiredToken"}}, "GetCallerIdentity"), "expired"),
        (ClientError({"Error": {"Code": "InvalidClientTokenId"}}, "GetCallerIdentity"), "does not know"),
        (ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "CreateStack"), "may not do this"),
        (upload_that_failed(), "may not do this"),
        (ClientError({"Error": {"Code": "Odd", "Message": "x"}}, "CreateStack"), "AWS refused"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_an_error_of_the_account_is_a_sentence(failure, words):
    assert words in failures.explain(failure)


@pytest.mark.parametrize("command", ["check", "up"])
def test_without_a_region_nothing_is_built_and_no_traceback_is_shown(monkeypatch, capsys, command):
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    assert deploy.main([command, "dev"]) == 1
    assert "No AWS region is set" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "up"])
def test_without_credentials_nothing_is_built_and_one_line_is_shown(monkeypatch, capsys, command):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_EC2_METADATA_DISABLED"):
        monkeypatch.setenv(name, "true")
    assert deploy.main(["--region", REGION, command, "dev"]) == 1
    said = capsys.readouterr()
    assert (said.out, said.err.splitlines()) == ("", [failures._NOBODY])


@pytest.mark.parametrize("command", ["check", "up"])
def test_a_parameter_that_cannot_be_stops_the_check(capsys, command):
    assert deploy.main(["--region", REGION, command, "dev", "LogDays"]) == 1
    assert "Name=value" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("failure", "words"),
    [(upload_that_failed(), "may not do this"), (KeyboardInterrupt(), "Stopped."), (failures.Failed("no"), "no")],
    ids=["upload", "stopped", "failed"],
)
def test_whatever_stops_a_command_is_a_sentence_and_an_exit_code(capsys, failure, words):
    def act():
        raise failure

    assert failures.run(act) == 1
    assert words in capsys.readouterr().err


def test_what_a_stage_reserves_already_is_not_counted_against_it(name, monkeypatch):
    monkeypatch.setattr(Preflight, "_reserved", lambda _: 143)
    account = Account(**{"lambda": [("get_account_settings", limits(100))]})
    [(level, _)] = about(lines(account, name, ReserveConcurrency="true"), "concurrency")
    assert level == "ok"


def test_what_parameters_name_must_be_there(name):
    given = {
        "AccessLogBucket": f"{name}-nobodys",
        "HostedZoneId": "Z1",
        "OperationsKey": "arn:aws:kms:ca-central-1:1:key/x",
    }
    given["WebAcl"] = "arn:aws:wafv2:ca-central-1:123456789012:regional/webacl/x/1"
    found = lines(Account(), name, **given)
    assert [(level, text.split(":")[0]) for level, text in found if "cannot be used" in text] == [
        ("stop", parameter) for parameter in ("AccessLogBucket", "OperationsKey", "HostedZoneId", "WebAcl")
    ]
