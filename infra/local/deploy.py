"""The stateful stack on moto: each resource of the template that AWS gets, created by the API of its service.

moto's CloudFormation is not used: importing it takes 1.7 s, for it brings the models of forty services. That
CloudFormation accepts the template is held by `tests/infra/test_whole_stack.py`. Left out on purpose: policies that
refuse plain HTTP, for the local ports are nothing else; versions of objects, for nothing would ever expire them from
memory; alarms.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import boto3
from moto.core import DEFAULT_ACCOUNT_ID
from moto.kms.models import kms_backends
from moto.ses.models import ses_backends

from infra.templates import STATEFUL, defaults, load, of_type

STAGE = "local"
STACK = f"limn-{STAGE}-stateful"
SENDER = "limn@localhost"
"""Who the local stack's mail is from; the default of `chalicelib/settings.py`."""

_UNKNOWN_TO_MOTO = (
    "AWS::Backup::BackupPlan",
    "AWS::Backup::BackupSelection",
    "AWS::Backup::BackupVault",
    "AWS::CloudFront::Distribution",
    "AWS::CloudFront::Function",
    "AWS::CloudFront::OriginAccessControl",
    "AWS::IAM::Role",  # of the backup alone; moto knows it, and the local stack has no IAM
    "AWS::S3::BucketPolicy",
    "AWS::SES::EmailIdentity",
    "AWS::SQS::QueuePolicy",
)
_OF_THE_UNKNOWN = ("AnswersUrl",)
"""Outputs that name what moto leaves out; `infra/local/http/stored_answers.py` stands in."""


def deploy(region: str) -> dict[str, str]:
    """Create the stack in moto, which must be running in this process, or find it there.

    Names are the same each time, so that data kept from an earlier run fits: so is the key, with what it encrypts.

    Returns:
        The environment of every function: an output `RecordsTable` as `LIMN_RECORDS_TABLE`, and where mail is from.
    """
    template = supported(load(STATEFUL))
    given = {"Stage": STAGE, "DeletionProtection": "false", "EmailSender": SENDER}
    stack = _Stack(region, template, {**defaults(template), **given})
    if not stack.exists():
        stack.create()
    environment = {variable(name): stack.resolve(output["Value"]) for name, output in template["Outputs"].items()}
    return {**environment, "LIMN_EMAIL_SENDER": SENDER, "LIMN_STAGE": STAGE}


def variable(output: str) -> str:
    """The environment variable of an output: `RecordsTable` is `LIMN_RECORDS_TABLE`."""
    return "LIMN_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", output).upper()


def supported(template: dict[str, Any]) -> dict[str, Any]:
    """The template without what moto does not emulate, and without the outputs of that."""
    resources, outputs = template["Resources"].items(), template["Outputs"].items()
    return {
        **template,
        "Resources": {name: resource for name, resource in resources if resource["Type"] not in _UNKNOWN_TO_MOTO},
        "Outputs": {name: output for name, output in outputs if name not in _OF_THE_UNKNOWN},
    }


@dataclass(frozen=True)
class _Stack:
    """The stack in moto, and what it is made of."""

    region: str
    template: dict[str, Any]
    parameters: dict[str, Any]

    def exists(self) -> bool:
        """Whether it was created: its key is the last that is."""
        return self._key in kms_backends[DEFAULT_ACCOUNT_ID][self.region].keys

    def create(self) -> None:
        """Create every resource.

        Raises:
            NotImplementedError: the template has a resource of a type that nothing here creates.
        """
        makers: dict[str, Callable[[], None]] = {
            "AWS::DynamoDB::Table": self._create_tables,
            "AWS::S3::Bucket": self._create_buckets,
            "AWS::SQS::Queue": self._create_queues,
            "AWS::KMS::Key": self._create_key,
            "AWS::KMS::Alias": self._create_aliases,
        }
        unknown = {resource["Type"] for resource in self.template["Resources"].values()} - makers.keys()
        if unknown:
            raise NotImplementedError(f"The local stack has no {', '.join(sorted(unknown))}.")
        self._confirm_sender()
        for create in makers.values():
            create()

    def resolve(self, value: Any) -> Any:
        """A value of the template with references, attributes and parameters in place."""
        match value:
            case {"Ref": str(name)}:
                return self._parameter(name) if name not in self.template["Resources"] else self._reference(name)
            case {"Fn::GetAtt": [str(name), "Arn"]}:
                service = self.template["Resources"][name]["Type"].split("::")[1].lower()
                return f"arn:aws:{service}:{self.region}:{DEFAULT_ACCOUNT_ID}:{self._name(name)}"
            case {"Fn::Sub": str(text)}:
                return re.sub(r"\$\{([^}]+)\}", lambda found: str(self._parameter(found[1])), text)
            case dict():
                return {name: self.resolve(each) for name, each in value.items()}
            case list():
                return [self.resolve(each) for each in value]
        return value

    def _parameter(self, name: str) -> Any:
        known = {"AWS::Region": self.region, "AWS::AccountId": DEFAULT_ACCOUNT_ID, **self.parameters}
        kind = self.template["Parameters"].get(name, {}).get("Type")
        return known[name].split(",") if kind == "CommaDelimitedList" else known[name]

    def _reference(self, name: str) -> str:
        """What `Ref` of a resource is."""
        match self.template["Resources"][name]["Type"]:
            case "AWS::SQS::Queue":
                return f"https://sqs.{self.region}.amazonaws.com/{DEFAULT_ACCOUNT_ID}/{self._name(name)}"
            case "AWS::KMS::Key":
                return self._key
        return self._name(name)

    def _name(self, name: str) -> str:
        """The physical name of a table, a bucket or a queue."""
        given = self.template["Resources"][name]["Properties"]
        return str(self.resolve(given.get("TableName") or given.get("BucketName") or given["QueueName"]))

    @property
    def _key(self) -> str:
        """The id of the key, the same in each run."""
        return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{STACK}.{self.region}"))

    def _create_tables(self) -> None:
        tables = boto3.client("dynamodb", region_name=self.region)
        for name, table in of_type(self.template, "AWS::DynamoDB::Table").items():
            place = self._name(name)
            tables.create_table(
                TableName=place,
                BillingMode=table["BillingMode"],
                AttributeDefinitions=table["AttributeDefinitions"],
                KeySchema=table["KeySchema"],
                SSESpecification={"Enabled": table["SSESpecification"]["SSEEnabled"]},
                DeletionProtectionEnabled=self.resolve(table["DeletionProtectionEnabled"]) == "true",
            )
            tables.update_continuous_backups(
                TableName=place, PointInTimeRecoverySpecification=table["PointInTimeRecoverySpecification"]
            )
            if "TimeToLiveSpecification" in table:
                tables.update_time_to_live(TableName=place, TimeToLiveSpecification=table["TimeToLiveSpecification"])

    def _create_buckets(self) -> None:
        """Buckets with encryption, CORS and lifecycle, in the names of the API."""
        buckets = boto3.client("s3", region_name=self.region)
        elsewhere: Any = {"CreateBucketConfiguration": {"LocationConstraint": self.region}}
        for name, bucket in of_type(self.template, "AWS::S3::Bucket").items():
            place = self._name(name)
            buckets.create_bucket(Bucket=place, **({} if self.region == "us-east-1" else elsewhere))
            [encryption] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
            rules: Any = [{"ApplyServerSideEncryptionByDefault": encryption["ServerSideEncryptionByDefault"]}]
            buckets.put_bucket_encryption(Bucket=place, ServerSideEncryptionConfiguration={"Rules": rules})
            cors = [self._cors(rule) for rule in bucket["CorsConfiguration"]["CorsRules"]]
            buckets.put_bucket_cors(Bucket=place, CORSConfiguration={"CORSRules": cors})
            rules = [self._lifecycle(rule) for rule in bucket["LifecycleConfiguration"]["Rules"]]
            buckets.put_bucket_lifecycle_configuration(Bucket=place, LifecycleConfiguration={"Rules": rules})

    def _create_queues(self) -> None:
        """Queues, those first that take the dead letters of others."""
        queues = boto3.client("sqs", region_name=self.region)
        found = of_type(self.template, "AWS::SQS::Queue")
        for name in sorted(found, key=lambda name: "RedrivePolicy" in found[name]):
            given = {key: self.resolve(value) for key, value in found[name].items() if key != "QueueName"}
            attributes: Any = {
                key: value if isinstance(value, str) else json.dumps(value) for key, value in given.items()
            }
            queues.create_queue(QueueName=self._name(name), Attributes=attributes)

    def _create_key(self) -> None:
        """The key, with the material it always has here.

        moto makes up its id and material and keeps neither: what was sealed in an earlier run could not be opened.
        """
        [key] = of_type(self.template, "AWS::KMS::Key").values()
        made = boto3.client("kms", region_name=self.region).create_key(Description=self.resolve(key["Description"]))
        keys = kms_backends[DEFAULT_ACCOUNT_ID][self.region].keys
        kept = keys.pop(given := made["KeyMetadata"]["KeyId"])
        kept.arn = kept.arn.replace(given, self._key)
        kept.id = self._key
        kept.key_material = hashlib.sha256(self._key.encode()).digest()
        keys[self._key] = kept

    def _create_aliases(self) -> None:
        client = boto3.client("kms", region_name=self.region)
        for alias in of_type(self.template, "AWS::KMS::Alias").values():
            client.create_alias(**{name: self.resolve(value) for name, value in alias.items()})

    def _confirm_sender(self) -> None:
        """SES asks the owner of an address; here it is confirmed at once.

        Not by API: moto's SES v2 takes 0.4 s to answer its first call.
        """
        ses_backends[DEFAULT_ACCOUNT_ID][self.region].verify_email_identity(self.parameters["EmailSender"])

    def _cors(self, rule: dict[str, Any]) -> Any:
        return {
            "AllowedOrigins": self.resolve(rule["AllowedOrigins"]),
            "AllowedMethods": rule["AllowedMethods"],
            "AllowedHeaders": rule["AllowedHeaders"],
            "ExposeHeaders": rule["ExposedHeaders"],
            "MaxAgeSeconds": rule["MaxAge"],
        }

    def _lifecycle(self, rule: dict[str, Any]) -> Any:
        made: dict[str, Any] = {
            "ID": rule["Id"],
            "Status": rule["Status"],
            "Filter": {"Prefix": rule.get("Prefix", "")},
        }
        if "ExpirationInDays" in rule:
            made["Expiration"] = {"Days": int(self.resolve(rule["ExpirationInDays"]))}
        if "ExpiredObjectDeleteMarker" in rule:
            made["Expiration"] = {"ExpiredObjectDeleteMarker": True}
        if "NoncurrentVersionExpiration" in rule:
            days = int(self.resolve(rule["NoncurrentVersionExpiration"]["NoncurrentDays"]))
            made["NoncurrentVersionExpiration"] = {"NoncurrentDays": days}
        if "AbortIncompleteMultipartUpload" in rule:
            made["AbortIncompleteMultipartUpload"] = rule["AbortIncompleteMultipartUpload"]
        return made
