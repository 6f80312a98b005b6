"""The stateful template on moto: all that AWS would make of it that matters here."""

from __future__ import annotations

import boto3
import msgspec
import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.kms.models import kms_backends

from chalicelib.settings import Settings
from infra.local.deploy import SENDER, STAGE, _Stack, deploy, variable
from infra.templates import STATEFUL, load, of_type

REGION = "eu-west-1"
"""Not the region that the other tests share."""


@pytest.fixture(scope="module")
def environment():
    return deploy(REGION)


@pytest.fixture(scope="module")
def place(environment):
    """The configuration that the functions read."""
    given = {name.removeprefix("LIMN_").lower(): value for name, value in environment.items()}
    return msgspec.convert(given, Settings, strict=False)


def client(service):
    return boto3.client(service, region_name=REGION)


def test_every_function_finds_its_configuration(place):
    assert place.records_table == "limn-local-records"
    assert place.email_sender == SENDER
    assert place.stage == "local"


def test_deploying_again_finds_what_is_there(environment):
    assert deploy(REGION) == environment


@pytest.mark.parametrize(
    ("field", "keys", "ttl"),
    [
        ("records_table", {"pk": "S", "sk": "S"}, True),
        ("entities_table", {"pk": "S"}, False),
        ("log_table", {"project": "N", "seq": "N"}, True),
        ("counters_table", {"pk": "S", "sk": "S"}, True),
        ("idempotency_table", {"id": "S"}, True),
    ],
)
def test_tables_have_their_keys_expiry_and_recovery(place, field, keys, ttl):
    tables = client("dynamodb")
    name = getattr(place, field)
    table = tables.describe_table(TableName=name)["Table"]
    types = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
    assert {each["AttributeName"]: types[each["AttributeName"]] for each in table["KeySchema"]} == keys
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert not table["DeletionProtectionEnabled"]
    expiry = tables.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    assert expiry["TimeToLiveStatus"] == ("ENABLED" if ttl else "DISABLED")
    assert expiry.get("AttributeName") == ("expires" if ttl else None)
    recovery = tables.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    assert recovery["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"


@pytest.mark.parametrize("field", ["media_bucket", "upload_bucket"])
def test_browsers_may_upload_and_see_the_etag(place, field):
    [rule] = client("s3").get_bucket_cors(Bucket=getattr(place, field))["CORSRules"]
    assert {"GET", "HEAD", "PUT"} == set(rule["AllowedMethods"])
    assert "ETag" in rule["ExposeHeaders"]
    assert rule["AllowedOrigins"] == ["*"]


def rules(place, field):
    return client("s3").get_bucket_lifecycle_configuration(Bucket=getattr(place, field))["Rules"]


@pytest.mark.slow
@pytest.mark.parametrize("field", ["media_bucket", "upload_bucket", "views_bucket"])
def test_uploads_that_nobody_finishes_go_after_a_week(place, field):
    days = [
        rule["AbortIncompleteMultipartUpload"]["DaysAfterInitiation"]
        for rule in rules(place, field)
        if "AbortIncompleteMultipartUpload" in rule
    ]
    assert days == [7]


def test_temporaries_expire_and_nothing_else(place):
    expiring = {
        field: {
            rule["Filter"]["Prefix"]: rule["Expiration"]["Days"]
            for rule in rules(place, field)
            if "Days" in rule.get("Expiration", {})
        }
        for field in ("media_bucket", "upload_bucket", "views_bucket")
    }
    assert expiring == {
        "media_bucket": {"_temporary/": 3, "_exports/": 9},
        "upload_bucket": {"_uploads/": 30},
        "views_bucket": {"answers/": 1},
    }


@pytest.mark.parametrize(
    ("field", "visibility", "receives"),
    [("transcode_queue_url", 5400, 7), ("clip_queue_url", 5400, 7), ("email_queue_url", 360, 6)],
)
def test_queues_give_up_into_their_dead_letters(place, field, visibility, receives):
    queues = client("sqs")
    url = getattr(place, field)
    found = queues.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert int(found["VisibilityTimeout"]) == visibility
    redrive = msgspec.json.decode(found["RedrivePolicy"])
    assert redrive["maxReceiveCount"] == receives
    assert redrive["deadLetterTargetArn"] == found["QueueArn"] + "-dead"
    dead = queues.get_queue_attributes(QueueUrl=url + "-dead", AttributeNames=["All"])["Attributes"]
    assert int(dead["MessageRetentionPeriod"]) == 14 * 24 * 3600


def test_what_was_sealed_in_an_earlier_run_can_be_opened(place):
    keys = client("kms")
    sealed = keys.encrypt(KeyId=place.key_id, Plaintext=b"secret")["CiphertextBlob"]
    kept = kms_backends[DEFAULT_ACCOUNT_ID][REGION].keys
    kept.pop(place.key_id)  # as another run begins: without the stack's key
    _Stack(REGION, load(STATEFUL), {"Stage": STAGE})._create_key()
    assert keys.decrypt(CiphertextBlob=sealed)["Plaintext"] == b"secret"


def test_the_sender_is_confirmed(place):
    raw = f"From: {place.email_sender}\r\nTo: ada@example.org\r\nSubject: a\r\n\r\nb\r\n"
    sent = client("sesv2").send_email(FromEmailAddress=place.email_sender, Content={"Raw": {"Data": raw.encode()}})
    assert sent["MessageId"]


@pytest.mark.slow
def test_every_output_becomes_a_variable(environment):
    emulated = load(STATEFUL)["Outputs"].keys() - {"AnswersUrl"}  # the local stack serves large answers itself
    assert {variable(name) for name in emulated} <= set(environment)
    assert variable("RecordsTable") == "LIMN_RECORDS_TABLE"
    assert variable("TranscodeQueueUrl") == "LIMN_TRANSCODE_QUEUE_URL"
    assert variable("KeyId") == "LIMN_KEY_ID"


def test_a_backup_elsewhere_takes_every_table_and_the_media():
    """What can be made again is not copied: views and uploads, and answers to requests that were carried out."""
    [selection] = of_type(load(STATEFUL), "AWS::Backup::BackupSelection").values()
    copied = {each["Fn::GetAtt"][0] for each in selection["BackupSelection"]["Resources"]}
    tables = of_type(load(STATEFUL), "AWS::DynamoDB::Table").keys() - {"IdempotencyTable"}
    assert copied == tables | {"MediaBucket"}
    [plan] = of_type(load(STATEFUL), "AWS::Backup::BackupPlan").values()
    [rule] = plan["BackupPlan"]["BackupPlanRule"]
    assert rule["CopyActions"][0]["DestinationBackupVaultArn"] == {"Ref": "BackupVault"}
    backups = [each for each in load(STATEFUL)["Resources"].values() if each.get("Condition") == "HasBackup"]
    assert len(backups) == 4, "nothing of it is made unless a vault is named"
