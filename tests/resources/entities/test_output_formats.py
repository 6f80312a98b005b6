"""Lists as JSON, JSON lines and CSV, whole or in part, zipped, and through the object store."""

from __future__ import annotations

import csv
import gzip
import io
import json
from dataclasses import replace
from urllib.parse import urlsplit

import boto3
import pytest

from chalicelib.settings import override, settings
from tests.resources.annotations.boxes import Here, settle


@pytest.fixture
def here(api, project) -> Here:
    return settle(api, project)


@pytest.fixture
def small_answers():
    """Answers above 4,000 bytes go through the object store."""
    with override(largest_answer=4000):
        yield


def rows_of(said) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(said.body.decode())))


class TestCsv:
    def test_users_are_addresses_and_media_names(self, here):
        box = here.make(attributes={"text": "t", "count": 3})
        [row] = rows_of(here.api.get(here.many, format="csv"))
        assert (row["id"], row["media"], row["text"], row["count"], row["size"]) == (str(box), "a.mp4", "t", "3", "")
        assert "attributes" not in row
        address = here.api.user.email
        assert [row[name] for name in ("user", "created_by", "modified_by")] == [address] * 3

    def test_formulas_do_not_run(self, here):
        here.make(attributes={"text": '=HYPERLINK("http://example.org")'})
        assert rows_of(here.api.get(here.many, format="csv"))[0]["text"] == '\'=HYPERLINK("http://example.org")'

    def test_media_show_who_made_them(self, here):
        [row] = rows_of(here.api.get(f"Medias/{here.project}", format="csv"))
        assert (row["name"], row["created_by"]) == ("a.mp4", here.api.user.email)

    def test_states_of_several_media_list_their_names(self, here):
        other = here.api.made(f"Medias/{here.project}", {"type": here.media_type, "name": "b, c.mp4", "md5": ""})
        kind = here.api.made(
            f"StateTypes/{here.project}",
            {"name": "dive", "dtype": "state", "association": "Media", "media_types": [here.media_type]},
        )
        for media in ([here.media], [here.media, other]):
            here.api.made(f"States/{here.project}", {"type": kind, "media_ids": media})
        rows = rows_of(here.api.get(f"States/{here.project}", format="csv"))
        assert [row["media"] for row in rows] == ["a.mp4", '["a.mp4","b, c.mp4"]']

    def test_fields_are_the_columns(self, here):
        here.make(attributes={"text": "t"})
        said = here.api.get(here.many, format="csv", fields="frame,user,attributes.text")
        [row] = rows_of(said)
        assert (row["frame"], row["user"], row["text"]) == ("0", here.api.user.email, "t")
        assert set(row) == {"frame", "user", "text"}

    def test_an_empty_list_has_its_header(self, here):
        said = here.api.get(here.many, format="csv")
        [names] = csv.reader(io.StringIO(said.body.decode()))
        assert {"id", "frame", "text", "count"} <= set(names)
        assert said.headers["Content-Disposition"] == 'attachment; filename="localizations.csv"'
        said = here.api.get(here.many, format="csv", fields="frame,attributes.text", bom="true")
        assert said.body == b"\xef\xbb\xbfframe,text\r\n"


class TestLines:
    def test_one_line_each_in_the_order_of_the_list(self, here):
        here.api.made(here.many, [here.spec(frame=frame) for frame in range(7)])
        said = here.api.get(here.many, format="jsonl", sort_by="-$id")
        assert [json.loads(line) for line in said.body.splitlines()] == here.listed(sort_by="-$id")
        assert said.headers["Content-Type"] == "application/jsonl"
        body = {"object_search": {"attribute": "$frame", "operation": "lt", "value": 3}}
        assert len(here.api.put(here.many, body, format="jsonl").body.splitlines()) == 3

    def test_only_some_members(self, here):
        here.make(attributes={"text": "t"})
        said = here.api.get(here.many, format="jsonl", fields="frame,attributes.text")
        assert said.body == b'{"frame":0,"attributes":{"text":"t"}}\n'


class TestSize:
    @pytest.mark.parametrize("wanted", ["json", "jsonl", "csv"])
    def test_zipped_for_those_who_can_unzip(self, here, wanted):
        here.api.made(here.many, [here.spec(frame=frame) for frame in range(20)])
        plain = here.api.get(here.many, format=wanted)
        zipped = replace(here.api, headers={"Accept-Encoding": "gzip"}).get(here.many, format=wanted)
        assert zipped.headers["Content-Encoding"] == "gzip"
        assert "Content-Encoding" not in plain.headers
        assert gzip.decompress(zipped.body) == plain.body
        assert len(zipped.body) * 4 < len(plain.body)

    @pytest.mark.usefixtures("small_answers")
    @pytest.mark.parametrize("wanted", ["json", "jsonl", "csv"])
    def test_what_is_too_large_for_lambda_is_fetched_from_the_object_store(self, here, wanted):
        here.api.made(here.many, [here.spec(frame=frame) for frame in range(20)])
        said = here.api.get(here.many, format=wanted)
        assert (said.status, said.body) == (303, b"")
        key = urlsplit(said.headers["Location"]).path.partition("/answers/")[2]
        stored = boto3.client("s3").get_object(Bucket=settings().views_bucket, Key=f"answers/{key}")
        assert stored["ContentType"].startswith(
            {"json": "application/json", "csv": "text/"}.get(wanted, "application/")
        )
        assert len(stored["Body"].read().splitlines()) == {"json": 1, "jsonl": 20, "csv": 21}[wanted]
        assert here.api.get(here.many, format=wanted, stop=1).status == 200
