"""`python -m infra.deploy check`: what would stop a deployment, asked of the account before anything is built.

Each check says `ok`, `warn` (it works, but not as one may expect) or `stop`, and what to do. What AWS tells nobody,
such as whether an account is verified for CloudFront, is said as a warning before a first deployment.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, NoRegionError

from infra import package
from infra.operating.failures import explain
from infra.stack import merging, prices
from infra.templates import STATEFUL, defaults, holds, load, named, of_type

OK, WARN, STOP = "ok", "warn", "stop"
NEW_ACCOUNT_MEMORY = 3008
"""MB of a function that AWS allows a new account. No API tells what an account has."""
SHORT = 100
"""Concurrent executions below which a deployment feels its account's quota; new accounts have 10 to 50."""
Line = tuple[str, str]


def main(stage: str, session: Any, given: dict[str, str]) -> int:
    """Print the result of each check; 1 where one of them stops a deployment."""
    lines = list(Preflight(stage, session, given).lines())
    for level, text in lines:
        print(f"{level:<5} {text}")
    return int(any(level == STOP for level, _ in lines))


class Preflight:
    """The checks of one stage and account."""

    def __init__(self, stage: str, session: Any, given: dict[str, str]) -> None:
        # the declarations of the API are read with the settings
        names = {name: value for name, value in package.placeholders().items() if name.startswith("LIMN_")}
        os.environ.update(names | dict(os.environ))
        self._stage, self._session, self._given = stage, session, given
        self._templates = [load(STATEFUL), merging.merged({"Resources": {}})]
        values = [defaults(template) for template in self._templates]
        self._values = {**values[0], **values[1], **given}

    def lines(self) -> Iterator[Line]:
        """The results, in the order in which they would stop a deployment."""
        yield self._parameters()
        yield self._identity()
        checks: tuple[Callable[[], Iterator[Line]], ...] = (
            self._stacks,
            self._names,
            self._quotas,
            self._mail,
            self._domain,
            self._switches,
            self._references,
        )
        for check in checks:
            try:
                yield from check()
            except (BotoCoreError, ClientError) as failure:
                yield WARN, f"{check.__name__.strip('_')}: not checked. {explain(failure)}"
        yield from self._made()

    def _client(self, service: str, region: str | None = None) -> Any:
        return self._session.client(service, **({"region_name": region} if region else {}))

    def _parameters(self) -> Line:
        from infra.operating.parameters import check

        check(self._templates, self._stage, self._given)
        return OK, f"parameters: {', '.join(sorted(self._given)) or 'the defaults'}"

    def _identity(self) -> Line:
        if not self._session.region_name:
            raise NoRegionError
        found = self._client("sts").get_caller_identity()
        self._account = found["Account"]
        return OK, f"account {self._account}, region {self._session.region_name}, as {found['Arn']}"

    def _stacks(self) -> Iterator[Line]:
        from infra.deploy import NEVER_MADE, Deployment

        self._deployment = deployment = Deployment(self._stage, self._session, lambda _: None)
        self._is_new, self._left = True, deployment.left_tables(deployment.kept)
        for stack in (deployment.kept, deployment.running):
            status = deployment.status(stack)
            self._is_new = self._is_new and (not status or status in NEVER_MADE)
            if not status:
                yield OK, f"stack {stack}: new"
            elif status in NEVER_MADE:
                yield WARN, f"stack {stack}: {status}; the next deployment deletes what is left and begins again"
            elif status.endswith("_IN_PROGRESS") or status == "UPDATE_ROLLBACK_FAILED":
                yield STOP, f"stack {stack}: {status}; wait, or end the rollback, then try again"
            else:
                yield OK, f"stack {stack}: {status}, will be updated"

    def _names(self) -> Iterator[Line]:
        """Names of buckets are the whole world's; what a deleted stack kept is still there."""
        if not self._is_new:
            return
        s3, tables = self._client("s3"), self._client("dynamodb")
        values = {"Stage": self._stage, "AWS::AccountId": self._account, "AWS::Region": self._session.region_name}
        taken = []
        asks: dict[str, Callable[[str], Any]] = {
            "BucketName": lambda name: s3.head_bucket(Bucket=name),
            "TableName": lambda name: tables.describe_table(TableName=name),
        }
        kept = [*self._kept("S3::Bucket"), *self._kept("DynamoDB::Table")]
        for key, properties in [(key, each) for key in asks for each in kept if key in each]:
            name, kind = named(properties[key], values), key.removesuffix("Name").lower()
            try:
                asks[key](name)
            except ClientError as failure:
                if failure.response["Error"]["Code"] == "403":
                    yield STOP, f"bucket {name} belongs to another account; take another name of the stage"
                elif failure.response["Error"]["Code"] not in ("404", "NoSuchBucket", "ResourceNotFoundException"):
                    raise
            else:
                # those that a failed first deployment left are deleted by the next one
                taken += [f"{kind} {name}"] if name not in self._left else []
        if taken:
            yield (
                STOP,
                (
                    f"left of an earlier stage {self._stage}: {', '.join(taken)}. Delete them, import them into a "
                    "stack, or take another name of the stage"
                ),
            )
        else:
            yield OK, "names of buckets and tables are free"

    def _kept(self, kind: str) -> list[dict[str, Any]]:
        return list(of_type(self._templates[0], f"AWS::{kind}").values())

    def _quotas(self) -> Iterator[Line]:
        found = self._client("lambda").get_account_settings()["AccountLimit"]
        whole = found["ConcurrentExecutions"]
        free = found["UnreservedConcurrentExecutions"] + self._reserved()
        wanted = sum(
            int(self._values[most["Ref"]] if isinstance(most, dict) else most)
            for each in of_type(self._templates[1], "AWS::Serverless::Function").values()
            for most in each.get("ReservedConcurrentExecutions", {}).get("Fn::If", [])[1:2]
        )
        if self._values["ReserveConcurrency"] == "true" and free - wanted < SHORT:
            yield (
                STOP,
                (
                    f"concurrency: {free} executions are free, and ReserveConcurrency=true takes {wanted} beside "
                    "the 100 that Lambda keeps. Ask AWS for more (quota L-B99A9384), or leave it false"
                ),
            )
        elif whole < SHORT:
            yield (
                WARN,
                (
                    f"concurrency: this account runs {whole} functions at once. Ask AWS for 1,000 (quota "
                    "L-B99A9384); until then give TranscodeConcurrency=2 ClipConcurrency=2 DatasetConcurrency=2 "
                    "SourceConcurrency=2 "
                    "WebhookConcurrency=2"
                ),
            )
        else:
            yield OK, f"concurrency: {whole} executions at once"
        large = {name: self._values[name] for name in self._values if name.endswith("Memory") and name != "ViewMemory"}
        above = [f"{name}={value}" for name, value in large.items() if int(value) > NEW_ACCOUNT_MEMORY]
        if above:
            yield (
                WARN,
                (
                    f"memory: {', '.join(above)}. A new account allows {NEW_ACCOUNT_MEMORY} MB, and "
                    "CloudFormation would say 'MemorySize value failed to satisfy constraint'. Ask AWS Support for "
                    "10,240 MB first"
                ),
            )
        else:
            yield OK, f"memory: no function has more than the {NEW_ACCOUNT_MEMORY} MB of a new account"

    def _reserved(self) -> int:
        """The executions that this stage reserves already."""
        functions, total = self._client("lambda"), 0
        for name in self._deployment.functions():
            total += functions.get_function_concurrency(FunctionName=name).get("ReservedConcurrentExecutions", 0)
        return total

    def _mail(self) -> Iterator[Line]:
        sender = self._values["EmailSender"]
        if not sender:
            yield WARN, "mail: off. Give EmailSender=… to send invitations, links for passwords and reports"
            return
        mails = self._client("sesv2")
        account = mails.get_account()
        if not account.get("ProductionAccessEnabled"):
            yield (
                WARN,
                "mail: SES is in its sandbox and sends to confirmed addresses only. Ask AWS for production access",
            )
        for identity in (sender, sender.partition("@")[2]):
            try:
                found = mails.get_email_identity(EmailIdentity=identity)
            except ClientError as failure:
                if failure.response["Error"]["Code"] != "NotFoundException":
                    raise
                continue
            if found.get("VerifiedForSendingStatus"):
                yield OK, f"mail: {identity} is confirmed"
                return
        yield WARN, f"mail: {sender} is not confirmed. After the deployment SES mails a link to it; open that"

    def _domain(self) -> Iterator[Line]:
        name, certificate = self._values["DomainName"], self._values["CertificateArn"]
        if not name:
            return
        if not certificate:
            yield STOP, "domain: DomainName needs CertificateArn, a certificate of ACM in this region"
            return
        found = self._client("acm").describe_certificate(CertificateArn=certificate)["Certificate"]
        names = found.get("SubjectAlternativeNames") or [found["DomainName"]]
        parent = f"*.{name.partition('.')[2]}"
        if found["Status"] != "ISSUED":
            yield STOP, f"domain: the certificate is {found['Status']}; ACM must have issued it"
        elif name not in names and parent not in names:
            yield STOP, f"domain: the certificate is for {', '.join(names)}, not for {name}"
        else:
            yield OK, f"domain: {name}, with its certificate"

    def _switches(self) -> Iterator[Line]:
        """What parameters need that is not part of these stacks."""
        if self._values["AccessLogs"] == "true":
            role = self._client("apigateway").get_account().get("cloudwatchRoleArn")
            yield (
                (OK, "access logs: API Gateway has a role for them")
                if role
                else (
                    STOP,
                    "AccessLogs=true: API Gateway has no role for CloudWatch in its account settings of this region",
                )
            )
        if self._values["RunJobs"] == "true":
            stacks = self._client("cloudformation").list_exports()["Exports"]
            if f"limn-{self._stage}-JobQueue" not in [each["Name"] for each in stacks]:
                yield STOP, f"RunJobs=true: deploy infra/batch.yaml first, as the stack limn-{self._stage}-batch"

    def _references(self) -> Iterator[Line]:
        """What parameters name in this account must be there."""
        asks: dict[str, Callable[[str], Any]] = {
            "AccessLogBucket": lambda name: self._client("s3").head_bucket(Bucket=name),
            "OperationsKey": lambda name: self._client("kms").describe_key(KeyId=name),
            "HostedZoneId": lambda name: self._client("route53").get_hosted_zone(Id=name),
            "WebAcl": lambda name: self._client("wafv2").get_web_acl(ARN=name),
        }
        for parameter, ask in asks.items():
            value = self._values[parameter]
            try:
                if value:
                    ask(value)
                    yield OK, f"{parameter}: {value} is there"
            except (BotoCoreError, ClientError) as failure:
                yield STOP, f"{parameter}: {value} cannot be used. {explain(failure)}"

    def _made(self) -> Iterator[Line]:
        if self._is_new:
            yield (
                WARN,
                (
                    "CloudFront: an account's first distribution may be refused with 'Your account must be verified "
                    "before you can add new CloudFront resources'. Then open a case of AWS Support, and deploy again"
                ),
            )
        kinds = Counter(
            each["Type"].split("::", 1)[1]
            for template in self._templates
            for each in template["Resources"].values()
            if holds(template, {"Condition": each["Condition"]} if "Condition" in each else True, self._values)
        )
        yield OK, "will be there: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        yield OK, f"costs at idle: ${prices.standing():.2f} a month ({prices.PRICES_OF}); docs/costs.md has the rest"
