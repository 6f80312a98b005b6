"""Buckets, job clusters, hosted templates and groups: an organization's own, for its administrators."""

from __future__ import annotations

import boto3
import pytest

from chalicelib.core.models.integrations import BUCKET
from chalicelib.resources.buckets import service as buckets_service
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records

SECRET = "planted-secret-7f3a"
FLAT = {"name": "b", "access_key": "AK", "secret_key": SECRET, "endpoint_url": "https://s3.example.org", "region": "eu"}
CONFIG = {
    "endpoint_url": "https://s3.example.org",
    "region_name": "eu",
    "aws_access_key_id": "AK",
    "aws_secret_access_key": SECRET,
}


def everything_stored() -> str:
    client = boto3.client("dynamodb")
    return str(client.scan(TableName=settings().records_table)["Items"])


class TestBuckets:
    @pytest.mark.slow
    @pytest.mark.parametrize("spec", [FLAT, {"name": "b", "store_type": "MINIO", "config": CONFIG}])
    def test_both_generations_are_taken_and_no_secret_comes_back(self, api, organization, spec):
        number = api.made(f"Buckets/{organization}", spec)
        for said in (api.get(f"Bucket/{number}"), api.get(f"Buckets/{organization}")):
            assert SECRET not in said.body.decode()
        assert SECRET not in everything_stored()
        assert api.get(f"Bucket/{number}").json["endpoint_url"] == "https://s3.example.org"
        assert buckets_service.configuration(records.get(BUCKET, number))["aws_secret_access_key"] == SECRET

    def test_a_patch_keeps_what_it_does_not_name(self, api, organization):
        number = api.made(f"Buckets/{organization}", FLAT)
        assert api.patch(f"Bucket/{number}", {"access_key": "NEW"}).status == 200
        opened = buckets_service.configuration(records.get(BUCKET, number))
        assert (opened["aws_access_key_id"], opened["aws_secret_access_key"]) == ("NEW", SECRET)

    @pytest.mark.parametrize(
        "spec",
        [
            {"name": "b"},
            {**FLAT, "gcs_key_info": "{}"},
            {"name": "b", "gcs_key_info": "no json"},
            {"name": "b", "store_type": "GCP", "config": CONFIG},
            {"name": "b" * 64, **{key: FLAT[key] for key in FLAT if key != "name"}},
            {**FLAT, "live_sc": "DEEP_ARCHIVE"},
            {**FLAT, "archive_sc": "COLDLINE"},
            {**FLAT, "store_type": "FLOPPY"},
        ],
    )
    def test_a_configuration_that_cannot_work_is_refused(self, api, organization, spec):
        assert api.post(f"Buckets/{organization}", spec).status == 400
        assert api.get(f"Buckets/{organization}").json == []

    @pytest.mark.parametrize("junk", ["a b", "a\nb", "é", "\x00", "\u202e", " ", "x" * 2049])
    def test_keys_that_no_request_can_be_signed_with_are_refused(self, api, organization, junk):
        number = api.made(f"Buckets/{organization}", FLAT)
        for member in ("access_key", "secret_key"):
            assert api.post(f"Buckets/{organization}", {**FLAT, member: junk}).status == 400
            assert api.patch(f"Bucket/{number}", {member: junk}).status == 400

    def test_projects_that_name_a_deleted_one_have_none(self, api, organization, project):
        number = api.made(f"Buckets/{organization}", FLAT)
        for member in ("bucket", "upload_bucket", "backup_bucket"):
            assert api.patch(f"Project/{project}", {member: number}).status == 200
        assert api.delete(f"Bucket/{number}").status == 200
        shown = api.get(f"Project/{project}").json
        assert [shown[member] for member in ("bucket", "upload_bucket", "backup_bucket")] == [None] * 3

    def test_a_project_takes_no_bucket_of_another_organization(self, api, project):
        elsewhere = api.made("Organizations", {"name": f"elsewhere {project}"})
        number = api.made(f"Buckets/{elsewhere}", FLAT)
        assert api.patch(f"Project/{project}", {"bucket": number}).status == 403
        assert api.patch(f"Project/{project}", {"bucket": 10**9}).status == 404


class TestJobClusters:
    SPEC = {"name": "c", "host": "h", "port": 4000, "token": SECRET, "cert": "line\nline"}

    @pytest.mark.slow
    def test_its_administrator_gets_back_what_was_given(self, api, organization):
        number = api.made(f"JobClusters/{organization}", self.SPEC)
        assert api.get(f"JobClusters/{organization}").json == [
            {**self.SPEC, "id": number, "organization": organization, "effective_permission": 0}
        ]
        assert SECRET not in everything_stored()
        changed = {**self.SPEC, "name": "d", "token": "other"}
        assert api.patch(f"JobCluster/{number}", changed).message == f"Job Cluster {number} successfully updated!"
        assert api.get(f"JobCluster/{number}").json["token"] == "other"
        assert api.delete(f"JobCluster/{number}").message == "Job cluster deleted successfully!"
        assert api.get(f"JobCluster/{number}").status == 404

    def test_all_of_it_is_needed(self, api, organization):
        for name in self.SPEC:
            without = {key: value for key, value in self.SPEC.items() if key != name}
            assert api.post(f"JobClusters/{organization}", without).status == 400

    def test_a_name_is_taken_once(self, api, organization):
        api.made(f"JobClusters/{organization}", self.SPEC)
        assert api.post(f"JobClusters/{organization}", self.SPEC).status == 400


class TestHostedTemplates:
    def test_another_origin_is_refused(self, api, organization):
        said = api.post(f"HostedTemplates/{organization}", {"name": "t", "url": "https://evil.example/x.yaml"})
        assert said.status == 403
        assert "not from an allowed origin" in said.message


class TestGroups:
    def test_members_come_and_go_once(self, api, organization, colleague):
        other = colleague.user.id
        number = api.made(f"Groups/{organization}", {"name": "g", "initial_members": [other, other]})
        assert api.get(f"Group/{number}").json["members"] == [other]
        api.patch(f"Group/{number}", {"add_members": [other, api.user.id], "name": "h"})
        assert api.get(f"Group/{number}").json == {
            "id": number,
            "organization": organization,
            "name": "h",
            "members": [other, api.user.id],
        }
        assert [group["id"] for group in api.get(f"Groups/{organization}", user=other).json] == [number]
        api.patch(f"Group/{number}", {"remove_members": [other]})
        assert api.get(f"Groups/{organization}", user=other).json == []
        assert api.post(f"Groups/{organization}", {"name": "x", "initial_members": [10**9]}).status == 404

    def test_a_user_of_others_is_refused_as_one_that_does_not_exist(self, api, organization, stranger):
        group = api.made(f"Groups/{organization}", {"name": "g"})
        for number in (stranger.user.id, 10**9):
            said = [
                api.post(f"Groups/{organization}", {"name": "x", "initial_members": [api.user.id, number]}),
                api.patch(f"Group/{group}", {"add_members": [number]}),
            ]
            assert [each.status for each in said] == [404] * 2
            assert {each.message.replace(str(number), "N").partition(": ")[2] for each in said} == {
                "No User matches N."
            }
        assert api.get(f"Group/{group}").json["members"] == []
        assert [each["name"] for each in api.get(f"Groups/{organization}").json] == ["g"]
        api.made(f"Affiliations/{organization}", {"user": stranger.user.id, "permission": "Member"})
        assert api.patch(f"Group/{group}", {"add_members": [stranger.user.id]}).status == 200
