"""A local stack of the smallest kind, run as a process of its own: what it finds on disk, and what it leaves there.

Usage: state_program.py DIRECTORY ACTION[:ARGUMENT…]…, where ACTION is a function below. Prints JSON, a line for each.
"""

import json
import os
import sys
import time
from pathlib import Path

import boto3

from infra.emulator import aws

FOUND = {}
TABLES = {"words": True, "flat": False}


def resources():
    dynamodb, s3, sqs, ses = (boto3.client(name) for name in ("dynamodb", "s3", "sqs", "ses"))
    for table, sorted_ in TABLES.items():
        schema = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}][
            : 1 + sorted_
        ]
        kinds = [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "N"}][
            : 1 + sorted_
        ]
        dynamodb.create_table(
            TableName=table, KeySchema=schema, AttributeDefinitions=kinds, BillingMode="PAY_PER_REQUEST"
        )
    s3.create_bucket(Bucket="bucket")
    queue = sqs.create_queue(QueueName="queue")["QueueUrl"]
    ses.verify_email_identity(EmailAddress="a@example.org")
    return dynamodb, s3, sqs, ses, queue


def word(number, **more):
    return {"pk": {"S": f"p{number % 10}"}, "sk": {"N": str(number)}, **more}


def fill(dynamodb, s3, sqs, ses, queue):
    for number in range(30):
        dynamodb.put_item(TableName="words", Item=word(number, b={"B": b"\x00\xff"}, m={"M": {"x": {"NULL": True}}}))
    dynamodb.put_item(TableName="flat", Item={"pk": {"S": "one"}, "n": {"N": "1"}})
    dynamodb.delete_item(TableName="words", Key=word(3))
    dynamodb.update_item(
        TableName="words",
        Key=word(4),
        UpdateExpression="SET c = :c",
        ExpressionAttributeValues={":c": {"S": "changed"}},
    )
    s3.put_object(Bucket="bucket", Key="a/ü", Body=b"first", ContentType="text/plain", Metadata={"m": "v"})
    s3.put_object(Bucket="bucket", Key="a/ü", Body=b"second", ContentType="text/css", Metadata={"m": "w"})
    s3.put_object(Bucket="bucket", Key="big", Body=b"x" * 7_000_000)
    s3.put_object(Bucket="bucket", Key="gone", Body=b"x")
    s3.delete_object(Bucket="bucket", Key="gone")
    upload = s3.create_multipart_upload(Bucket="bucket", Key="parts", ContentType="video/mp4")["UploadId"]
    etag = s3.upload_part(Bucket="bucket", Key="parts", UploadId=upload, PartNumber=1, Body=b"y" * 6_000_000)["ETag"]
    attributes = {"s": {"DataType": "String", "StringValue": "x"}, "b": {"DataType": "Binary", "BinaryValue": b"\x00"}}
    sqs.send_message(QueueUrl=queue, MessageBody="done")
    done = sqs.receive_message(QueueUrl=queue)["Messages"][0]
    sqs.delete_message(QueueUrl=queue, ReceiptHandle=done["ReceiptHandle"])
    sent = sqs.send_message(QueueUrl=queue, MessageBody="waiting", MessageAttributes=attributes)["MessageId"]
    sqs.receive_message(QueueUrl=queue, VisibilityTimeout=900)
    ses.send_raw_email(
        Source="a@example.org", Destinations=["b@example.org"], RawMessage={"Data": b"Subject: hi\n\nthere"}
    )
    return {"upload": upload, "etag": etag, "sent": sent}


def fill_and_stop(*clients):
    return fill(*clients)


def fill_and_die(*clients):
    done = fill(*clients)
    sys.stdout.write(json.dumps(done))
    sys.stdout.flush()
    os._exit(9)


def look(dynamodb, s3, sqs, ses, queue):
    def items(table):
        pages = dynamodb.get_paginator("scan").paginate(TableName=table)
        return [repr(item) for page in pages for item in page["Items"]]

    from moto.ses.models import ses_backends

    from infra.emulator.aws import ACCOUNT

    objects = {}
    for entry in s3.list_objects_v2(Bucket="bucket").get("Contents", []):
        got = s3.get_object(Bucket="bucket", Key=entry["Key"])
        body = got["Body"].read()
        objects[entry["Key"]] = [len(body), body[:10].decode(), got["ContentType"], got["Metadata"], got["ETag"]]
    messages = sqs.receive_message(QueueUrl=queue, AttributeNames=["All"], MessageAttributeNames=["All"]).get(
        "Messages", []
    )
    return {
        "words": items("words"), "flat": items("flat"), "objects": objects,
        "messages": [
            [m["MessageId"], m["Body"], m["Attributes"]["ApproximateReceiveCount"], repr(m["MessageAttributes"])]
            for m in messages
        ],
        "mails": [vars(mail) for mail in ses_backends[ACCOUNT]["us-east-1"].sent_messages],
    }  # fmt: skip


def finish_upload(upload, etag, dynamodb, s3, *_):
    parts = [{"PartNumber": 1, "ETag": etag}]
    s3.complete_multipart_upload(Bucket="bucket", Key="parts", UploadId=upload, MultipartUpload={"Parts": parts})
    head = s3.head_object(Bucket="bucket", Key="parts")
    return [head["ContentLength"], head["ContentType"]]


def many(count, dynamodb, *_):
    document = {"S": "d" * 600}
    for start in range(0, int(count), 25):
        requests = [{"PutRequest": {"Item": word(number, doc=document)}} for number in range(start, start + 25)]
        dynamodb.batch_write_item(RequestItems={"words": requests})


def nothing(*_):
    return FOUND


def main():
    began = time.perf_counter()
    with aws.start(data=Path(sys.argv[1])):
        clients = resources()
        restored = aws.restore()
        FOUND.update({"seconds": time.perf_counter() - began, "rows": restored.rows, "objects": restored.objects})
        for action in sys.argv[2:]:
            name, *arguments = action.split(":")
            sys.stdout.write(json.dumps(globals()[name](*arguments, *clients)) + "\n")


if __name__ == "__main__":
    main()
