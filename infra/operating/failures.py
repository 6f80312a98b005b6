"""What stops a command of the operator, as a sentence that says what to do."""

from __future__ import annotations

import sys
from collections.abc import Callable

from boto3.exceptions import Boto3Error
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
)

AWS_ERRORS = (BotoCoreError, ClientError, Boto3Error)
_NOBODY = "There are no AWS credentials here. Run `aws configure`, or set AWS_PROFILE, then try again."
_KINDS: dict[type[Exception], str] = {
    NoCredentialsError: _NOBODY,
    PartialCredentialsError: _NOBODY,
    NoRegionError: "No AWS region is set. Set AWS_DEFAULT_REGION, such as eu-west-1, or name one with --region.",
    ProfileNotFound: "{}. `aws configure list-profiles` shows those that there are.",
    EndpointConnectionError: "{} Check the network and the name of the region.",
}
_CODES = {
    ("ExpiredToken", "ExpiredTokenException", "RequestExpired"): (
        "The AWS credentials have expired. Sign in again (`aws sso login`, or new keys)."
    ),
    ("InvalidClientTokenId", "UnrecognizedClientException", "SignatureDoesNotMatch", "AuthFailure"): (
        "AWS does not know these credentials in this region. Check AWS_PROFILE, or run `aws configure` again; a region "
        "that is off for new accounts is enabled in Account → AWS Regions first."
    ),
    ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "403"): ("The credentials may not do this: {}"),
}


class Failed(Exception):
    """It was not done; the message says why."""


def explain(failure: BaseException) -> str:
    """Explain an error of AWS to the operator, in a sentence."""
    if isinstance(failure, Boto3Error) and isinstance(failure.__context__, ClientError):
        failure = failure.__context__
    if isinstance(failure, ClientError):
        code = failure.response["Error"]["Code"]
        said = next((said for codes, said in _CODES.items() if code in codes), "AWS refused: {}")
        return said.format(" ".join(str(failure).split()))
    return next((said for kind, said in _KINDS.items() if isinstance(failure, kind)), "AWS refused: {}").format(failure)


def run(act: Callable[[], int]) -> int:
    """Do what a command line says; the exit code, which is 1 where it or AWS says no, in a sentence on stderr."""
    try:
        return act()
    except Failed as failure:
        print(failure, file=sys.stderr)
    except AWS_ERRORS as failure:
        print(explain(failure), file=sys.stderr)
    except KeyboardInterrupt:
        print("Stopped. What AWS was asked to do goes on; run the same command again.", file=sys.stderr)
    return 1
