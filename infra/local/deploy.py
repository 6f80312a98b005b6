"""The stateful stack on moto: from the template that AWS gets, with what moto leaves out applied by API.

Left out on purpose: policies that refuse plain HTTP, for the local ports are nothing else; versions of objects, for
nothing would ever expire them from memory; alarms.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
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
    "AWS::CloudFront::Distribution",
    "AWS::CloudFront::Function",
    "AWS::CloudFront::OriginAccessControl",
    "AWS::S3::BucketPolicy",
    "AWS::SES::EmailIdentity",
    "AWS::SQS::QueuePolicy",
)
_OF_THE_UNKNOWN = ("AnswersUrl",)
"""Outputs that name what moto leaves out; `infra/local/s3/stored_answers.py` stands in."""


def deploy(region: str) -> dict[str, str]:
    """Create the stack in moto, which must be running in this process, or find it there.

    Names are the same each time, so that data kept from an earlier run fits: so is the key, with what it encrypts.

    Returns:
        The environment of every function: an output `RecordsTable` as `LIMN_RECORDS_TABLE`, and where mail is from.
    """
    template = load(STATEFUL)
    given = {"Stage": STAGE, "DeletionProtection": "false", "EmailSender": SENDER}
    clouds = boto3.client("cloudformation", region_name=region)
    if not _exists(clouds):
        clouds.create_stack(
            StackName=STACK,
            TemplateBody=json.dumps(supported(template)),
            Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in given.items()],
        )
        resources = clouds.list_stack_resources(StackName=STACK)["StackResourceSummaries"]
        ids = {resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in resources}
        stack = _Stack(region, template, {**defaults(template), **given}, ids)
        stack.finish_tables()
        stack.finish_buckets()
        stack.confirm_sender()
    outputs = clouds.describe_stacks(StackName=STACK)["Stacks"][0]["Outputs"]
    environment = {variable(output["OutputKey"]): output["OutputValue"] for output in outputs}
    environment["LIMN_KEY_ID"] = _settle_key(region, environment["LIMN_KEY_ID"])
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


def _exists(clouds: Any) -> bool:
    stacks = clouds.list_stacks(StackStatusFilter=["CREATE_COMPLETE", "UPDATE_COMPLETE"])["StackSummaries"]
    return any(stack["StackName"] == STACK for stack in stacks)


@dataclass(frozen=True)
class _Stack:
    """The stack in moto, and what it was made of."""

    region: str
    template: dict[str, Any]
    parameters: dict[str, Any]
    ids: dict[str, str]
    """The names of the resources by their names in the template."""

    def finish_tables(self) -> None:
        """Expiry, recovery to a point in time, and the protection that moto misreads as on."""
        tables = boto3.client("dynamodb", region_name=self.region)
        for name, table in of_type(self.template, "AWS::DynamoDB::Table").items():
            place = self.ids[name]
            protected = self._value(table["DeletionProtectionEnabled"]) == "true"
            tables.update_table(TableName=place, DeletionProtectionEnabled=protected)
            tables.update_continuous_backups(
                TableName=place, PointInTimeRecoverySpecification=table["PointInTimeRecoverySpecification"]
            )
            if "TimeToLiveSpecification" in table:
                tables.update_time_to_live(TableName=place, TimeToLiveSpecification=table["TimeToLiveSpecification"])

    def finish_buckets(self) -> None:
        """CORS and lifecycle, from the names of CloudFormation into those of the API."""
        buckets = boto3.client("s3", region_name=self.region)
        for name, bucket in of_type(self.template, "AWS::S3::Bucket").items():
            place = self.ids[name]
            cors = [self._cors(rule) for rule in bucket["CorsConfiguration"]["CorsRules"]]
            buckets.put_bucket_cors(Bucket=place, CORSConfiguration={"CORSRules": cors})
            rules = [self._lifecycle(rule) for rule in bucket["LifecycleConfiguration"]["Rules"]]
            buckets.put_bucket_lifecycle_configuration(Bucket=place, LifecycleConfiguration={"Rules": rules})

    def confirm_sender(self) -> None:
        """SES asks the owner of an address; here it is confirmed at once.

        Not by API: moto's SES v2 takes 0.4 s to answer its first call.
        """
        ses_backends[DEFAULT_ACCOUNT_ID][self.region].verify_email_identity(self.parameters["EmailSender"])

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict) and "Ref" in value:
            return self.parameters[value["Ref"]]
        return value

    def _cors(self, rule: dict[str, Any]) -> Any:
        origins = self._value(rule["AllowedOrigins"])
        return {
            "AllowedOrigins": origins.split(",") if isinstance(origins, str) else origins,
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
            made["Expiration"] = {"Days": int(self._value(rule["ExpirationInDays"]))}
        if "ExpiredObjectDeleteMarker" in rule:
            made["Expiration"] = {"ExpiredObjectDeleteMarker": True}
        if "NoncurrentVersionExpiration" in rule:
            days = int(self._value(rule["NoncurrentVersionExpiration"]["NoncurrentDays"]))
            made["NoncurrentVersionExpiration"] = {"NoncurrentDays": days}
        if "AbortIncompleteMultipartUpload" in rule:
            made["AbortIncompleteMultipartUpload"] = rule["AbortIncompleteMultipartUpload"]
        return made


def _settle_key(region: str, given: str) -> str:
    """Give the stack's key the id and the material it always has here: moto makes up both, and keeps neither.

    Without that, what was sealed in an earlier run could not be opened again.
    """
    settled = str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{STACK}.{region}"))
    keys = kms_backends[DEFAULT_ACCOUNT_ID][region].keys
    if settled not in keys:
        key = keys.pop(given)
        key.arn = key.arn.replace(given, settled)
        key.id = settled
        key.key_material = hashlib.sha256(settled.encode()).digest()
        keys[settled] = key
    return settled
