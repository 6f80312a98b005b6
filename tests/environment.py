"""The environment of the service in tests: what `infra.local.deploy` makes, without making it."""

from __future__ import annotations

VARIABLES = {
    "LIMN_AUDIT_TABLE": "limn-local-audit",
    "LIMN_CLIP_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/limn-local-clip",
    "LIMN_COUNTERS_TABLE": "limn-local-counters",
    "LIMN_CREDENTIALS_TABLE": "limn-local-credentials",
    "LIMN_SOURCE_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/limn-local-source",
    "LIMN_DATASET_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/limn-local-dataset",
    "LIMN_EMAIL_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/limn-local-email",
    "LIMN_EMAIL_SENDER": "limn@localhost",
    "LIMN_ENTITIES_TABLE": "limn-local-entities",
    "LIMN_IDEMPOTENCY_TABLE": "limn-local-idempotency",
    "LIMN_KEY_ID": "a27598c1-7f09-5f4b-841b-e6fb4252689a",
    "LIMN_LOG_TABLE": "limn-local-log",
    "LIMN_MEDIA_BUCKET": "limn-local-media-123456789012-us-east-1",
    "LIMN_PURGE_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/limn-local-purge",
    "LIMN_RECORDS_TABLE": "limn-local-records",
    "LIMN_STAGE": "local",
    "LIMN_TRANSCODE_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/limn-local-transcode",
    "LIMN_UPLOAD_BUCKET": "limn-local-uploads-123456789012-us-east-1",
    "LIMN_VIEWS_BUCKET": "limn-local-views-123456789012-us-east-1",
    "LIMN_WEBHOOK_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/limn-local-webhook",
    "LIMN_ANSWERS_URL": "http://127.0.0.1:8000",
    "LIMN_PUBLIC_URL": "http://127.0.0.1:8000",
    "LIMN_S3_ENDPOINT": "http://127.0.0.1:8001",
    "LIMN_ANYONE_MAY_CREATE_ORGANIZATIONS": "true",
}
