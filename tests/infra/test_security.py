"""The templates keep the rules of security tools by their names, or say beside the resource why not."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest

from infra import security
from infra.security import Finding, by_cfripper, by_checkov, complaints, explained, stripped
from infra.templates import ANALYTICS, BATCH, FUNCTIONS, STATEFUL, load, of_type

CHECKOV = Path(__file__).parents[2] / ".venv-checkov" / "bin" / "checkov"


@pytest.fixture(scope="module")
def stacks():
    return security.templates()


@pytest.mark.nightly  # `make check` runs it over the same templates
@pytest.mark.filterwarnings("ignore")  # of the tool's own making
@pytest.mark.parametrize("name", ["app", "batch", "stateful"])
def test_cfripper_finds_nothing_that_is_not_explained(stacks, name):
    found = by_cfripper(name, stacks[name])
    assert [*complaints(found, explained(name, stacks[name], "cfripper"))] == []


@pytest.mark.nightly
def test_checkov_finds_nothing_that_is_not_explained(stacks):
    if not CHECKOV.exists():
        pytest.skip("make rules installs checkov, in an environment of its own")
    why = {}
    for name, template in stacks.items():
        why |= explained(name, template, "checkov")
    assert [*complaints(by_checkov(str(CHECKOV), stacks), why)] == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_bucket_that_anybody_may_read_is_found(stacks):
    broken = copy.deepcopy(stacks["stateful"])
    statement = broken["Resources"]["MediaBucketPolicy"]["Properties"]["PolicyDocument"]["Statement"][0]
    del statement["Condition"]
    statement |= {"Effect": "Allow", "Action": "s3:GetObject"}
    found = by_cfripper("stateful", broken)
    assert "MediaBucketPolicy" in {each.resource for each in found}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_role_that_may_do_everything_is_found_where_its_condition_is_off_by_default(stacks):
    broken = copy.deepcopy(stacks["app"])
    role = broken["Resources"]["ClipRole"]
    broken["Resources"] = {"ClipRole": role}
    _, policy, _ = role["Properties"]["Policies"][-1]["Fn::If"]
    [statement] = policy["PolicyDocument"]["Statement"]
    statement["Action"] = ["*"]
    assert "ClipRole" in {each.resource for each in by_cfripper("app", broken)}


def test_what_is_found_and_not_explained_is_told_and_what_is_explained_and_not_found_too():
    one, two = Finding("app", "A", "R1"), Finding("app", "B", "R2")
    assert [*complaints({one}, {two: "why"})] == [
        "app: A: R1 is found and not explained",
        "app: B: R2 is explained and not found any more",
    ]
    assert [*complaints({one}, {one: "why"})] == []


def test_every_exception_names_a_rule_and_says_why(stacks):
    for name, template in stacks.items():
        for tool in security.TOOLS:
            for finding, comment in explained(name, template, tool).items():
                assert re.fullmatch(r"CKV2?_AWS_\d+|[A-Za-z0-9]+Rule", finding.rule), finding
                assert len(comment.split()) >= 6, finding
        assert not any("Metadata" in each for each in stripped(template)["Resources"].values())


def test_no_variable_of_a_function_is_a_secret(stacks):
    """That is why they need no key of their own."""
    for resource in stacks["app"]["Resources"].values():
        if resource["Type"] == "AWS::Lambda::Function":
            names = set(resource["Properties"]["Environment"]["Variables"])
            # LIMN_KEY_ID names the key and does not hold it
            assert not {name for name in names if re.search("SECRET|PASSWORD|TOKEN|ACCESS_KEY", name)}


@pytest.mark.parametrize(
    "template",
    [load(path) for path in (STATEFUL, BATCH, FUNCTIONS, ANALYTICS)],
    ids=["data", "batch", "work", "athena"],
)
def test_nothing_in_a_bucket_or_queue_is_public_or_goes_in_the_clear(template):
    buckets, queues = of_type(template, "AWS::S3::Bucket"), of_type(template, "AWS::SQS::Queue")
    for name, bucket in buckets.items():
        assert list(bucket["PublicAccessBlockConfiguration"].values()) == [True] * 4, name
        assert bucket["BucketEncryption"], name
        assert bucket["LifecycleConfiguration"]["Rules"][0]["Id"] == "abort-incomplete-uploads", name
    kinds = ("AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy")
    guarded = []
    for policy in [each for kind in kinds for each in of_type(template, kind).values()]:
        statement, *others = policy["PolicyDocument"]["Statement"]
        assert [each["Sid"] for each in others] in ([], ["ServeAnswers"], ["BucketsNotify", "TheRuleForwards"])
        assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        for each in policy.get("Queues", [policy.get("Bucket")]):
            guarded.append(each["Ref"])
            assert {"Fn::GetAtt": [each["Ref"], "Arn"]} in statement["Resource"]
            assert each["Ref"] in queues or {"Fn::Sub": f"${{{each['Ref']}.Arn}}/*"} in statement["Resource"]
    assert sorted(guarded) == sorted([*buckets, *queues])
