"""The S3 port: who may do what, and whether bytes come back as they went."""

import hashlib
import http.client
import io
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import boto3
import pytest
import requests
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.client import Config
from botocore.exceptions import ClientError
from moto.s3.utils import _VersionedKeyStore

from infra.emulator import aws as local_aws
from infra.emulator.s3.front import S3Front

PART = 5 * 1024 * 1024


@pytest.fixture(scope="module")
def front(aws):
    front = S3Front(local_aws.signing_keys())
    front.start()
    yield front
    front.stop()


@pytest.fixture
def s3(aws):
    """moto directly."""
    return boto3.client("s3")


@pytest.fixture
def outside(front):
    """A client through the port, as the outside world would use it."""
    return boto3.client(
        "s3", endpoint_url=front.url, config=Config(signature_version="s3v4", retries={"total_max_attempts": 1})
    )


@pytest.fixture
def bucket(s3, name):
    s3.create_bucket(Bucket=name)
    return name


@pytest.fixture
def presign(outside, bucket):
    def presign(operation, key="a folder/ü+ file.bin", expires=60, **params):
        return outside.generate_presigned_url(
            operation, Params={"Bucket": bucket, "Key": key, **params}, ExpiresIn=expires
        )

    return presign


def refused(response, status, code):
    assert response.status_code == status, response.text
    assert f"<Code>{code}</Code>" in response.text
    assert response.headers["Content-Type"] == "application/xml"
    return response.text


class TestPresigned:
    def test_objects_go_in_and_out(self, presign):
        content = bytes(range(256)) * 10_000
        put = requests.put(presign("put_object"), data=content)
        assert put.status_code == 200
        assert put.headers["ETag"] == f'"{hashlib.md5(content).hexdigest()}"'
        got = requests.get(presign("get_object"))
        assert got.content == content
        assert got.headers["ETag"] == put.headers["ETag"]
        assert got.headers["Content-Length"] == str(len(content))
        assert got.headers["Access-Control-Allow-Origin"] == "*"

    def test_content_type_and_encoding_are_kept(self, presign, s3, bucket):
        s3.put_object(
            Bucket=bucket,
            Key="k",
            Body=b"{}",
            ContentType="application/json",
            ContentEncoding="identity",
            Metadata={"a": "b"},
        )
        got = requests.get(presign("get_object", "k"))
        assert got.headers["Content-Type"] == "application/json"
        assert got.headers["Content-Encoding"] == "identity"
        assert got.headers["x-amz-meta-a"] == "b"
        requests.put(
            presign("put_object", "k"), data=b"x", headers={"Content-Type": "video/mp4", "Cache-Control": "no-store"}
        )
        head = s3.head_object(Bucket=bucket, Key="k")
        assert (head["ContentType"], head["CacheControl"]) == ("video/mp4", "no-store")
        shown = requests.get(
            presign("get_object", "k", ResponseContentType="text/plain", ResponseContentDisposition="attachment")
        )
        assert shown.headers["Content-Type"] == "text/plain"
        assert shown.headers["Content-Disposition"] == "attachment"

    def test_a_signed_content_type_must_be_sent(self, presign):
        url = presign("put_object", ContentType="image/png")
        refused(requests.put(url, data=b"x", headers={"Content-Type": "image/gif"}), 403, "SignatureDoesNotMatch")
        assert requests.put(url, data=b"x", headers={"Content-Type": "image/png"}).status_code == 200

    @pytest.mark.parametrize(
        ("wanted", "status", "content"),
        [
            ("bytes=0-3", 206, b"0123"), ("bytes=4-", 206, b"456789"), ("bytes=-3", 206, b"789"),
            ("bytes=8-100", 206, b"89"), ("bytes=-100", 206, b"0123456789"), ("bytes=5-2", 200, b"0123456789"),
            ("bytes=0-1,4-5", 200, b"0123456789"), ("chunks=1", 200, b"0123456789"), ("bytes=10-", 416, None),
            ("bytes=-0", 416, None),
        ],
    )  # fmt: skip
    def test_ranges(self, presign, s3, bucket, wanted, status, content):
        s3.put_object(Bucket=bucket, Key="k", Body=b"0123456789")
        got = requests.get(presign("get_object", "k"), headers={"Range": wanted})
        assert got.status_code == status
        if content is not None:
            assert got.content == content
            assert got.headers["Content-Length"] == str(len(content))
        if status == 206:
            first = b"0123456789".index(content)
            assert got.headers["Content-Range"] == f"bytes {first}-{first + len(content) - 1}/10"

    def test_head_tells_the_length_and_no_more(self, presign, s3, bucket):
        s3.put_object(Bucket=bucket, Key="k", Body=b"0123456789")
        session = requests.Session()
        for _ in range(2):
            head = session.head(presign("head_object", "k"))
            assert (head.status_code, head.headers["Content-Length"], head.content) == (200, "10", b"")
        assert session.head(presign("head_object", "missing")).status_code == 404

    def test_a_validator_spares_the_transfer(self, presign, s3, bucket):
        etag = s3.put_object(Bucket=bucket, Key="k", Body=b"0123456789")["ETag"]
        assert requests.get(presign("get_object", "k"), headers={"If-None-Match": etag}).status_code == 304
        assert requests.get(presign("get_object", "k"), headers={"If-None-Match": '"x"'}).content == b"0123456789"

    def test_an_empty_object(self, presign):
        assert requests.put(presign("put_object", "k"), data=b"").status_code == 200
        assert requests.get(presign("get_object", "k")).content == b""

    def test_missing_objects_and_buckets(self, presign, outside):
        refused(requests.get(presign("get_object", "missing")), 404, "NoSuchKey")
        url = outside.generate_presigned_url("put_object", Params={"Bucket": "no-such-bucket", "Key": "k"})
        refused(requests.put(url, data=b"x"), 404, "NoSuchBucket")

    def test_parts_become_an_object(self, presign, s3, bucket):
        upload = s3.create_multipart_upload(Bucket=bucket, Key="k", ContentType="video/mp4")["UploadId"]
        contents = [b"a" * PART, b"b" * PART, b"c"]
        etags = [
            requests.put(presign("upload_part", "k", UploadId=upload, PartNumber=number), data=content).headers["ETag"]
            for number, content in enumerate(contents, 1)
        ]
        parts = [{"PartNumber": number, "ETag": etag} for number, etag in enumerate(etags, 1)]
        s3.complete_multipart_upload(Bucket=bucket, Key="k", UploadId=upload, MultipartUpload={"Parts": parts})
        got = requests.get(presign("get_object", "k"))
        assert got.content == b"".join(contents)
        assert got.headers["Content-Type"] == "video/mp4"
        assert got.headers["ETag"].endswith('-3"')
        assert requests.get(presign("get_object", "k"), headers={"Range": f"bytes={PART - 1}-{PART}"}).content == b"ab"

    def test_parts_of_no_upload_are_refused(self, presign):
        refused(requests.put(presign("upload_part", UploadId="none", PartNumber=1), data=b"x"), 404, "NoSuchUpload")

    def test_a_replaced_object_is_read_to_its_end(self, presign, s3, bucket):
        s3.put_object(Bucket=bucket, Key="k", Body=b"a" * 30_000_000)
        with requests.get(presign("get_object", "k"), stream=True) as got:
            start = got.raw.read(1000)
            s3.put_object(Bucket=bucket, Key="k", Body=b"b")
            rest = got.raw.read()
        assert start + rest == b"a" * 30_000_000


def changed(url, **values):
    """A URL with other parameters; None removes one."""
    parts = urlsplit(url)
    query = {**dict(parse_qsl(parts.query)), **values}
    return urlunsplit(
        parts._replace(query=urlencode({name: value for name, value in query.items() if value is not None}))
    )


class TestRefusals:
    def test_of_strangers(self, front, s3, bucket):
        s3.put_object(Bucket=bucket, Key="k", Body=b"x")
        for method in ("GET", "PUT", "DELETE", "POST"):
            refused(requests.request(method, f"{front.url}/{bucket}/k", data=b"x"), 403, "AccessDenied")
        assert requests.head(f"{front.url}/{bucket}/k").status_code == 403
        refused(requests.get(f"{front.url}/{bucket}"), 403, "AccessDenied")
        refused(requests.get(front.url), 403, "AccessDenied")

    @pytest.mark.slow
    def test_of_expired_urls(self, presign):
        url = presign("get_object", expires=1)
        time.sleep(2.1)
        assert "Request has expired" in refused(requests.get(url), 403, "AccessDenied")

    def test_of_urls_whose_expiry_was_altered(self, presign):
        refused(requests.get(changed(presign("get_object"), **{"X-Amz-Expires": "600"})), 403, "SignatureDoesNotMatch")
        refused(
            requests.get(changed(presign("get_object"), **{"X-Amz-Signature": "\u00e9"})), 403, "SignatureDoesNotMatch"
        )
        refused(
            requests.get(changed(presign("get_object"), **{"X-Amz-Expires": "604801"})),
            400,
            "AuthorizationQueryParametersError",
        )

    def test_of_another_method(self, presign, s3, bucket):
        s3.put_object(Bucket=bucket, Key="k", Body=b"mine")
        refused(requests.put(presign("get_object", "k"), data=b"x"), 403, "SignatureDoesNotMatch")
        refused(requests.delete(presign("get_object", "k")), 403, "SignatureDoesNotMatch")
        refused(requests.get(presign("put_object", "k")), 403, "SignatureDoesNotMatch")
        assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"mine"

    def test_of_another_key(self, presign, s3, bucket):
        s3.put_object(Bucket=bucket, Key="other", Body=b"x")
        refused(requests.get(presign("get_object", "k").replace("/k?", "/other?")), 403, "SignatureDoesNotMatch")

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "name",
        [
            "X-Amz-Signature",
            "X-Amz-Credential",
            "X-Amz-Date",
            "X-Amz-Expires",
            "X-Amz-SignedHeaders",
            "X-Amz-Algorithm",
        ],
    )
    def test_of_urls_that_lack_something(self, presign, name):
        assert requests.get(changed(presign("get_object"), **{name: None})).status_code in (400, 403)

    @pytest.mark.parametrize(
        "header", ["Token abc", "AWS4-HMAC-SHA256 Credential=A/20260101/us-east-1/s3/aws4_request"]
    )
    def test_of_two_authorizations(self, presign, header):
        refused(requests.get(presign("get_object"), headers={"Authorization": header}), 400, "InvalidArgument")

    def test_of_an_authorization_that_is_not_of_aws(self, front, bucket):
        refused(requests.get(f"{front.url}/{bucket}/k", headers={"Authorization": "Token a"}), 400, "InvalidArgument")

    def test_of_a_method_that_is_not_signed(self, presign):
        refused(requests.delete(presign("get_object")), 403, "SignatureDoesNotMatch")

    def test_of_a_parameter_added(self, presign):
        refused(requests.get(presign("get_object") + "&response-content-type=text/html"), 403, "SignatureDoesNotMatch")

    def test_of_a_header_that_is_not_signed(self, presign):
        url = presign("put_object")
        refused(requests.put(url, data=b"x", headers={"x-amz-copy-source": "other/secret"}), 403, "AccessDenied")

    def test_of_unknown_signers(self, front, bucket):
        other = boto3.client(
            "s3",
            endpoint_url=front.url,
            aws_access_key_id="OTHER",
            aws_secret_access_key="other",
            config=Config(signature_version="s3v4"),
        )
        url = other.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "k"})
        refused(requests.get(url), 403, "InvalidAccessKeyId")
        with pytest.raises(ClientError, match="InvalidAccessKeyId"):
            other.list_objects_v2(Bucket=bucket)

    def test_of_a_body_without_a_length(self, presign):
        refused(requests.put(presign("put_object"), data=iter([b"a", b"b"])), 411, "MissingContentLength")

    def test_of_a_damaged_body(self, presign):
        refused(
            requests.put(presign("put_object"), data=b"x", headers={"Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA=="}),
            400,
            "BadDigest",
        )

    def test_leave_the_connection_usable(self, front, presign):
        session = requests.Session()
        refused(session.put(f"{front.url}/x/y", data=b"x" * 100_000), 403, "AccessDenied")
        assert session.put(presign("put_object"), data=b"x" * 100_000).status_code == 200


class TestClients:
    """boto3 with signatures in the header."""

    @pytest.mark.slow
    def test_everything_a_client_does(self, outside, bucket):
        outside.put_object(Bucket=bucket, Key="f/ü 1", Body=b"one", ContentType="text/plain", Metadata={"m": "v"})
        outside.upload_fileobj(io.BytesIO(b"x" * 20_000_000), bucket, "big")
        outside.copy_object(Bucket=bucket, Key="copy", CopySource={"Bucket": bucket, "Key": "f/ü 1"})
        listed = [entry["Key"] for entry in outside.list_objects_v2(Bucket=bucket)["Contents"]]
        assert listed == ["big", "copy", "f/ü 1"]
        got = outside.get_object(Bucket=bucket, Key="copy")
        assert (got["Body"].read(), got["ContentType"], got["Metadata"]) == (b"one", "text/plain", {"m": "v"})
        assert outside.head_object(Bucket=bucket, Key="big")["ContentLength"] == 20_000_000
        target = io.BytesIO()
        outside.download_fileobj(bucket, "big", target)
        assert target.getvalue() == b"x" * 20_000_000
        outside.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "copy"}]})
        outside.delete_object(Bucket=bucket, Key="f/ü 1")
        assert outside.list_objects_v2(Bucket=bucket)["KeyCount"] == 1

    def test_bodies_in_signed_chunks(self, front, bucket):
        config = Config(signature_version="s3v4", request_checksum_calculation="when_supported")
        client = boto3.client("s3", endpoint_url=front.url, config=config)
        content = bytes(range(256)) * 20_000
        client.put_object(Bucket=bucket, Key="k", Body=io.BytesIO(content))
        client.put_object(Bucket=bucket, Key="crc", Body=content, ChecksumAlgorithm="CRC32")
        for key in ("k", "crc"):
            got = client.get_object(Bucket=bucket, Key=key)
            assert got["Body"].read() == content
            assert "aws-chunked" not in got.get("ContentEncoding", "")

    def test_a_tampered_body(self, outside, bucket):
        def tamper(request, **_):
            request.body = b"another"

        outside.meta.events.register("before-send.s3.PutObject", tamper)
        with pytest.raises(ClientError):
            outside.put_object(Bucket=bucket, Key="k", Body=b"the one", ChecksumAlgorithm="SHA256")


def test_browsers_may_ask_first(front, bucket):
    asked = {
        "Origin": "http://page",
        "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "content-type",
    }
    answer = requests.options(f"{front.url}/{bucket}/k", headers=asked)
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "PUT" in answer.headers["Access-Control-Allow-Methods"]
    assert answer.headers["Access-Control-Allow-Headers"] == "content-type"
    assert answer.headers["Content-Length"] == "0"


def test_a_client_that_expects_to_be_asked_for_the_body_is(front, presign):
    url = urlsplit(presign("put_object", "k"))
    connection = http.client.HTTPConnection(front.host, front.port, timeout=5)
    connection.putrequest("PUT", f"{url.path}?{url.query}")
    connection.putheader("Content-Length", "5")
    connection.putheader("Expect", "100-continue")
    connection.endheaders()
    assert connection.sock.recv(100).startswith(b"HTTP/1.1 100")
    connection.send(b"hello")
    assert connection.getresponse().status == 200
    connection.close()


@pytest.mark.slow
def test_eight_threads_at_once(presign):
    urls = [(presign("put_object", f"k{index}"), presign("get_object", f"k{index}")) for index in range(8)]
    failures = []

    def work(index):
        session = requests.Session()
        for turn in range(10):
            content = bytes([index, turn]) * 300_000
            session.put(urls[index][0], data=content)
            if session.get(urls[index][1]).content != content:
                failures.append((index, turn))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert not failures


@pytest.mark.parametrize(("how", "left"), [("items", [("c", 3)]), ("values", [3])])
def test_what_is_deleted_while_somebody_lists_is_passed_over(aws, how, left):
    keys = _VersionedKeyStore()
    keys["a"], keys["b"], keys["c"] = 1, 2, 3
    listed = getattr(keys, how)()
    next(listed)
    del keys["b"]
    assert list(listed) == left


@pytest.mark.parametrize("number", ["²", "0", "10001", "1_0", "-1", ""])
def test_part_numbers_that_are_none_are_refused(front, s3, bucket, number):
    upload = s3.create_multipart_upload(Bucket=bucket, Key="k")["UploadId"]
    url = f"{front.url}/{bucket}/k?{urlencode({'partNumber': number, 'uploadId': upload})}"
    request = AWSRequest(method="PUT", url=url)
    keys = boto3.session.Session().get_credentials()
    S3SigV4QueryAuth(keys, "s3", "us-east-1", expires=60).add_auth(request)
    said = requests.put(request.url, data=b"x", timeout=60)
    assert (said.status_code, "InvalidArgument" in said.text) == (400, True), said.text
