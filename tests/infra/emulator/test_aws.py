"""Starting, emptying and stopping AWS in a process of its own, because the tests' AWS must go on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
START = """
import os, time
import boto3
from infra.emulator import aws
os.environ["AWS_PROFILE"] = "mine"
running = aws.start()
dynamodb, s3, sqs = boto3.client("dynamodb"), boto3.client("s3"), boto3.client("sqs")
dynamodb.create_table(TableName="t", KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}], BillingMode="PAY_PER_REQUEST")
s3.create_bucket(Bucket="bucket")
queue = sqs.create_queue(QueueName="queue")["QueueUrl"]
def fill(count):
    for number in range(count):
        dynamodb.put_item(TableName="t", Item={"pk": {"S": str(number)}})
    s3.put_object(Bucket="bucket", Key="k", Body=b"x" * 10_000_000)
    s3.create_multipart_upload(Bucket="bucket", Key="m")
    sqs.send_message(QueueUrl=queue, MessageBody="x")
"""


PROGRAMS = {
    "clients need no configuration": """
boto3.client("dynamodb").list_tables()
boto3.client("s3").list_buckets()
boto3.client("sqs").list_queues()
boto3.client("kms").list_keys()
boto3.client("sesv2").list_email_identities()
""",
    "reset removes the data and keeps the resources": """
fill(5000)
running.reset()
assert dynamodb.scan(TableName="t")["Items"] == []
assert "Contents" not in s3.list_objects_v2(Bucket="bucket")
assert "Uploads" not in s3.list_multipart_uploads(Bucket="bucket")
assert "Messages" not in sqs.receive_message(QueueUrl=queue)
fill(5)
assert dynamodb.scan(TableName="t")["Count"] == 5
""",
    "stopping puts everything back": """
from botocore.client import BaseClient
from moto.dynamodb.models.table import Table
inner = aws.start()
inner.stop()
assert dynamodb.scan(TableName="t")["Count"] == 5
running.stop()
running.stop()
assert os.environ["AWS_PROFILE"] == "mine"
assert "AWS_ACCESS_KEY_ID" not in os.environ or os.environ["AWS_ACCESS_KEY_ID"] != aws.ACCESS_KEY
assert BaseClient._make_api_call.__module__ != "infra.emulator.dynamodb.backend"
assert Table.query.__module__ == "moto.dynamodb.models.table"
os.environ.pop("AWS_PROFILE")
with aws.start():
    dynamodb = boto3.client("dynamodb")
    assert dynamodb.list_tables()["TableNames"] == []
""",
    "each folder of data has a secret of its own that others cannot read": """
import tempfile
from pathlib import Path
secrets = []
first, second = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp())
for folder in (first, second, first):
    with aws.start(data=folder):
        secrets.append(os.environ["AWS_SECRET_ACCESS_KEY"])
        assert aws.signing_keys() == {aws.ACCESS_KEY: secrets[-1]}
        assert (folder / aws.SIGNING_KEY).stat().st_mode & 0o777 == 0o600
assert secrets[0] == secrets[2] != secrets[1]
assert len(secrets[0]) == 40
(first / aws.SIGNING_KEY).write_text(secrets[0][:7])
with aws.start(data=first):
    assert len(os.environ["AWS_SECRET_ACCESS_KEY"]) == 40 and os.environ["AWS_SECRET_ACCESS_KEY"] != secrets[0]
""",
}
"""Programs by what they assert, run one after the other in one process: it takes 2 s to start."""


@pytest.mark.slow
def test_aws_starts_empties_and_stops_in_a_process():
    program = START + "".join(f"print({name!r}, flush=True)\n{text}" for name, text in PROGRAMS.items())
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "LIMN_"))}
    command = [sys.executable, "-W", "error", "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=clean)
    assert (ran.returncode, ran.stderr) == (0, ""), f"not so: {(ran.stdout.splitlines() or ['it starts'])[-1]}"
    assert ran.stdout.splitlines() == [*PROGRAMS]
