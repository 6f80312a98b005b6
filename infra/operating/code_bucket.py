"""The bucket of an account and region that deployments send zips and templates to, and keep the records of releases in.

Files lie under the hash of their contents, so nothing is ever written over, and the bucket needs no versions.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

KEEP = "limn-deployments"
KEPT_DAYS = 180
"""Days after which an unchanged file is sent again; the bucket removes files after twice as many."""
SMALL = 4096
"""Bytes up to which a file stays: records of releases have about 1,000, and what a release is made of has more."""


class CodeBucket:
    """The bucket, by its name."""

    def __init__(self, session: Any, caller: dict[str, str], say: Callable[[str], object]) -> None:
        """Begin; nothing is made yet.

        Args:
            session: boto3's.
            caller: what STS says of the caller: `Account` and `Arn`.
            say: told what is sent.
        """
        self._s3, self._region, self._say = session.client("s3"), session.region_name, say
        self._partition = caller["Arn"].split(":")[1]
        self.name = f"{KEEP}-{caller['Account']}-{self._region}"

    def make(self) -> None:
        """Create the bucket if it is missing, and apply the settings of this release."""
        try:
            self._s3.head_bucket(Bucket=self.name)
        except self._s3.exceptions.ClientError:
            place = {} if self._region == "us-east-1" else {"LocationConstraint": self._region}
            more = {"CreateBucketConfiguration": place} if place else {}
            self._s3.create_bucket(Bucket=self.name, **more)
        closed = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
        self._s3.put_public_access_block(Bucket=self.name, PublicAccessBlockConfiguration=dict.fromkeys(closed, True))
        encryption: Any = {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]}
        self._s3.put_bucket_encryption(Bucket=self.name, ServerSideEncryptionConfiguration=encryption)
        self.refuse_plain_http()
        # what a stage uses is sent anew before it is so old (`send`); a rule by size cannot end uploads
        old: Any = {"ID": "forget-old-releases", "Status": "Enabled", "Filter": {"ObjectSizeGreaterThan": SMALL}}
        old["Expiration"] = {"Days": 2 * KEPT_DAYS}
        broken: Any = {"ID": "abort-incomplete-uploads", "Status": "Enabled", "Filter": {"Prefix": ""}}
        broken["AbortIncompleteMultipartUpload"] = {"DaysAfterInitiation": 7}
        self._s3.put_bucket_lifecycle_configuration(Bucket=self.name, LifecycleConfiguration={"Rules": [old, broken]})

    def refuse_plain_http(self) -> None:
        """Have S3 refuse every request that does not come over TLS."""
        arn = f"arn:{self._partition}:s3:::{self.name}"
        statement: Any = {"Sid": "OnlyOverTls", "Effect": "Deny", "Principal": "*", "Action": "s3:*"}
        statement |= {"Resource": [arn, f"{arn}/*"], "Condition": {"Bool": {"aws:SecureTransport": "false"}}}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        self._s3.put_bucket_policy(Bucket=self.name, Policy=policy)

    def send(self, path: Path) -> str:
        """Upload a file under the hash of its contents, unless it is there and young; its key."""
        key = f"{hashlib.sha256(path.read_bytes()).hexdigest()}{path.suffix}"
        try:
            there = self._s3.head_object(Bucket=self.name, Key=key)["LastModified"]
            is_young = time.time() - there.timestamp() < KEPT_DAYS * 86_400
        except self._s3.exceptions.ClientError:
            is_young = False
        if not is_young:
            self._say(f"sending {path.name}")
            self._s3.upload_file(str(path), self.name, key)
        return key
