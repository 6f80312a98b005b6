"""What Lambda does with a zip: import the handler, call it with an event. For a Python with nothing but itself.

    python -I -S lambda_runtime.py folder functions.email.handler < event.json

Prints JSON: the seconds of the import and of the first answer, and the answer.
"""

from __future__ import annotations

import base64
import importlib
import json
import sys
import time
import uuid


class Context:
    """What a function is told of its invocation."""

    function_name = "limn-local-packaged"
    function_version = "$LATEST"
    memory_limit_in_mb = 3008
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:limn-local-packaged"
    log_group_name = "/aws/lambda/limn-local-packaged"
    log_stream_name = "stream"

    def __init__(self) -> None:
        self.aws_request_id = str(uuid.uuid4())
        self._end = time.monotonic() + 900

    def get_remaining_time_in_millis(self) -> int:
        return int((self._end - time.monotonic()) * 1000)


def main() -> None:
    folder, name = sys.argv[1:3]
    event = json.load(sys.stdin)
    sys.path.insert(0, folder)
    module, _, attribute = name.rpartition(".")
    began = time.perf_counter()
    handler = getattr(importlib.import_module(module), attribute)
    imported = time.perf_counter()
    answer = handler(event, Context())
    answered = time.perf_counter()
    again = handler(event, Context()) if "httpMethod" in event else answer
    warm = time.perf_counter()
    if isinstance(answer, dict) and answer.get("isBase64Encoded"):
        answer["body"] = base64.b64decode(answer["body"]).decode()
    told = {"import": imported - began, "answer": answered - imported, "warm": warm - answered, "result": answer}
    told["status"] = again.get("statusCode") if isinstance(again, dict) else None
    sys.stdout.write("\n" + json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
