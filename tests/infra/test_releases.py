"""Releases of a stage: recorded, listed, returned to by pointing aliases, and forgotten."""

from __future__ import annotations

import io
import zipfile

import boto3
import pytest

from infra.operating.failures import Failed
from infra.operating.releases import KEPT, Releases, print_releases
from infra.stack.app_template import expanded, whole
from infra.stack.merging import ALIAS, HANDLERS, redeployed
from infra.templates import defaults, of_type

REGION = "ca-central-1"
NAMES = ("api", "email")


def code(text):
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr("app.py", f"# {text}")
    return body.getvalue()


class Functions:
    """Two functions with aliases, as a deployment leaves them."""

    def __init__(self, prefix):
        self.client = boto3.client("lambda", region_name=REGION)
        self.names = [f"{prefix}-{name}" for name in NAMES]
        document = '{"Version":"2012-10-17","Statement":[]}'
        iam = boto3.client("iam", region_name=REGION)
        role = iam.create_role(RoleName=prefix, AssumeRolePolicyDocument=document)["Role"]["Arn"]
        for name in self.names:
            self.client.create_function(
                FunctionName=name, Runtime="python3.13", Role=role, Handler="app.app", Code={"ZipFile": code(name)}
            )
            version = self.client.publish_version(FunctionName=name)["Version"]
            self.client.create_alias(FunctionName=name, Name=ALIAS, FunctionVersion=version)

    def publish(self, text, *names):
        for name in names or self.names:
            self.client.update_function_code(FunctionName=name, ZipFile=code(text))
            version = self.client.publish_version(FunctionName=name)["Version"]
            weights = {"AdditionalVersionWeights": {}}
            self.client.update_alias(FunctionName=name, Name=ALIAS, FunctionVersion=version, RoutingConfig=weights)

    def versions(self, name):
        return [each["Version"] for each in self.client.list_versions_by_function(FunctionName=name)["Versions"]]


@pytest.fixture
def functions(name):
    return Functions(name)


@pytest.fixture
def releases(name, monkeypatch):
    s3 = boto3.client("s3", region_name=REGION)
    s3.create_bucket(Bucket=f"{name}-kept", CreateBucketConfiguration={"LocationConstraint": REGION})
    made = Releases(boto3.Session(region_name=REGION), f"{name}-kept", "prod")
    clock = iter(range(100_000, 999_999))
    put = made._s3.put_object
    # a second apart, as deployments are
    monkeypatch.setattr(
        made._s3, "put_object", lambda **given: put(**given | {"Key": f"releases/prod/2026T{next(clock)}Z.json"})
    )
    return made


def test_a_rollback_points_every_alias_to_the_release_before(functions, releases):
    releases.record(functions.names)
    before = releases.current(functions.names)
    functions.publish("second")
    releases.record(functions.names)
    assert releases.current(functions.names) != before
    assert releases.roll_back(functions.names).functions == before == releases.current(functions.names)


def test_a_rollback_changes_only_functions_that_differ_and_goes_forward_by_name(functions, releases):
    releases.record(functions.names)
    functions.publish("second", functions.names[0])
    releases.record(functions.names)
    newest = releases.newest_first()[0]
    releases.roll_back(functions.names)
    assert releases.current(functions.names) == {functions.names[0]: "1", functions.names[1]: "1"}
    releases.roll_back(functions.names, newest.name)
    assert releases.current(functions.names) == {functions.names[0]: "2", functions.names[1]: "1"}


def test_the_same_release_is_recorded_once(functions, releases):
    releases.record(functions.names)
    releases.record(functions.names)
    assert len(releases.newest_first()) == 1


def test_there_is_nothing_before_the_first_release(functions, releases):
    releases.record(functions.names)
    with pytest.raises(Failed, match=r"no release before the present one\. Releases: 2026T"):
        releases.roll_back(functions.names)
    with pytest.raises(Failed, match="no release of-never"):
        releases.roll_back(functions.names, "of-never")


def test_a_version_that_is_gone_changes_nothing(functions, releases):
    releases.record(functions.names)
    functions.publish("second")
    releases.record(functions.names)
    functions.client.delete_function(FunctionName=functions.names[1], Qualifier="1")
    with pytest.raises(Failed, match=r"Version 1 of the function .* is gone\. Nothing was changed\."):
        releases.roll_back(functions.names)
    assert set(releases.current(functions.names).values()) == {"2"}


def test_an_interrupted_rollback_does_not_go_forward_again(functions, releases):
    for text in ("a", "b"):
        releases.record(functions.names)
        functions.publish(text)
    releases.record(functions.names)
    newest, before, _ = releases.newest_first()
    first = functions.names[0]
    functions.client.update_alias(FunctionName=first, Name=ALIAS, FunctionVersion=before.functions[first])
    with pytest.raises(Failed, match=f"of several releases. Name one with --to: {newest.name}, {before.name}"):
        releases.roll_back(functions.names)
    assert releases.roll_back(functions.names, before.name) == before
    assert releases.current(functions.names) == before.functions


def test_records_of_releases_whose_versions_are_gone_go_too(functions, releases, monkeypatch):
    monkeypatch.setattr("infra.operating.releases.KEPT", 2)
    for text in "abc":
        functions.publish(text)
        releases.record(functions.names)
    assert len(releases._keys()) == 2


def test_where_nothing_was_deployed_there_is_nothing_to_return_to(capsys):
    nothing = Releases(boto3.Session(region_name=REGION), "limn-deployments-of-nobody", "prod")
    print_releases(nothing.newest_first(), {})
    assert capsys.readouterr().out == "Nothing has been deployed as this stage in this account and region.\n"
    nothing.forget()


def test_versions_older_than_the_kept_releases_are_deleted(functions, releases, monkeypatch):
    # all are published before any is deleted: moto gives the numbers of deleted ones again
    with monkeypatch.context() as patch:
        patch.setattr(releases, "_prune", lambda *_: None)
        releases.record(functions.names)
        for number in range(KEPT + 1):
            functions.publish(f"release {number}", functions.names[0])
            releases.record(functions.names)
    releases.record(functions.names)
    assert functions.versions(functions.names[0]) == ["$LATEST", *map(str, range(3, KEPT + 3))]
    assert functions.versions(functions.names[1]) == ["$LATEST", "1"]


def test_a_destroyed_stage_has_no_releases(functions, releases):
    releases.record(functions.names)
    releases.forget()
    assert releases.newest_first() == []


def test_gateway_queues_and_schedules_call_the_alias_of_each_function():
    resources = expanded(whole(), {"Stage": "prod"})["Resources"]
    functions = {name for name, each in resources.items() if each["Type"] == "AWS::Lambda::Function"}
    assert all(resources[f"{name}Alias{ALIAS}"]["Properties"]["Name"] == ALIAS for name in functions)

    def callers(part, within):
        if isinstance(part, list):
            return [found for each in part for found in callers(each, within)]
        if not isinstance(part, dict):
            return []
        name = part.get("Ref") or (part.get("Fn::GetAtt") or [""])[0]
        sub = part.get("Fn::Sub", "")
        texts = [sub] if isinstance(sub, str) else sub[:1]
        named = [each for each in functions if any("${" + each in text and "Alias" not in text for text in texts)]
        found = [(within, name)] if name in functions else [(within, each) for each in named]
        return found + [each for inner in part.values() for each in callers(inner, within)]

    kinds = ("AWS::Events::Rule", "AWS::Lambda::Permission", "AWS::Lambda::EventSourceMapping")
    of_calls = (*kinds, "AWS::ApiGateway::RestApi")
    direct = [
        each
        for name, held in resources.items()
        if held["Type"] in of_calls
        for each in callers(held["Properties"], name)
    ]
    assert direct == []
    assert sum("/functions/${APIHandlerAliaslive}/" in str(each) for each in [resources["RestAPI"]]) == 1


def test_behind_the_gateway_a_canary_goes_first_and_alarms_end_it():
    resources = expanded(whole(), {"Stage": "prod", "Canary": "Linear10PercentEvery1Minute"})["Resources"]
    for name in HANDLERS.values():
        group = resources[f"{name}DeploymentGroup"]["Properties"]
        assert "Linear10PercentEvery1Minute" in str(group["DeploymentConfigName"])
        assert {each["Name"]["Ref"] for each in group["AlarmConfiguration"]["Alarms"]} <= resources.keys()
        assert "DEPLOYMENT_STOP_ON_ALARM" in group["AutoRollbackConfiguration"]["Events"]


def test_a_changed_parameter_is_a_new_version_of_every_function():
    values = defaults(whole()) | {"Stage": "prod"}
    before, after = (
        set(expanded(redeployed(whole(), values | {"ApiMemory": memory}), values)["Resources"])
        for memory in ("3008", "4096")
    )
    changed = {name.partition("Version")[0] for name in before ^ after if "Version" in name}
    assert changed == set(of_type(whole(), "AWS::Serverless::Function"))
