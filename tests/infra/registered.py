"""A project whose files lie in a bucket that its organization registered."""

from __future__ import annotations

import uuid

import boto3

from infra.emulator.s3.front import S3Front


class Registered:
    """The bucket and the project, for as long as a block lasts."""

    def __init__(self, api, organization, configure):
        self.name = name = f"roles-{uuid.uuid4()}"
        boto3.client("s3").create_bucket(Bucket=name)
        self._front = S3Front({"AK": "secret"})
        self._front.start()
        configure(store_origins=self._front.url)
        config = {"endpoint_url": self._front.url, "region_name": "us-east-1"}
        config |= {"aws_access_key_id": "AK", "aws_secret_access_key": "secret"}
        bucket = {"name": name, "store_type": "MINIO", "config": config}
        self.number = number = api.made(f"Buckets/{organization}", bucket)
        self.project = api.made("Projects", {"name": name, "organization": organization})
        assert api.patch(f"Project/{self.project}", {"bucket": number, "upload_bucket": number}).status == 200

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._front.stop()
