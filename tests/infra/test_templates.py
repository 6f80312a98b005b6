"""The templates as such: what cfn-lint finds, and what it does not know we promise."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from chalicelib.http.encoding import SAFE_IN_BROWSERS
from chalicelib.queues.sending import QUEUES
from chalicelib.settings import PREFIX, Settings, read
from functions import email as email_function
from functions import worker
from infra import package
from infra.local.deploy import variable
from infra.stack import merging
from infra.stack.app_template import expanded, whole
from infra.templates import ALARMS, ANALYTICS, BATCH, FUNCTIONS, STATEFUL, defaults, load, of_type
from tests import roles
from tests.environment import VARIABLES

STATE = load(STATEFUL)
RUNNING = load(BATCH)
WORK = merging.merged({"Resources": {}})
FUNCTION = "AWS::Serverless::Function"
QUEUE_FUNCTIONS = tuple(name.capitalize() for name in QUEUES)
SCHEDULED_FUNCTIONS = ("Compact", "Jobs", "Upkeep", "Webhook")
CHECKED = pytest.mark.nightly
"""`make check` runs cfn-lint over the same templates."""


def lint(path):
    from cfnlint.api import lint_file

    return [f"{match.rule.id} {match.message} at {match.path}" for match in lint_file(Path(path))]


@CHECKED
@pytest.mark.parametrize("path", [STATEFUL, BATCH, ANALYTICS], ids=lambda path: path.name)
def test_the_stacks_beside_are_clean(path):
    assert lint(path) == []


class TestBatch:
    """Where algorithms without a job cluster run: a stack that need not be there."""

    def test_its_outputs_are_what_the_functions_import_where_it_is_used(self):
        variables = WORK["Globals"]["Function"]["Environment"]["Variables"]
        policies = of_type(RUNNING, "AWS::IAM::ManagedPolicy")
        for name, output in RUNNING["Outputs"].items():
            exported = output["Export"]["Name"]
            assert exported == {"Fn::Sub": f"limn-${{Stage}}-{name}"}
            if name not in policies:
                assert variables[variable(name)] == {"Fn::If": ["RunsJobs", {"Fn::ImportValue": exported}, ""]}
        assert {variable(name) for name in RUNNING["Outputs"]} - {"LIMN_JOB_ACCESS", "LIMN_JOB_ENDING"} <= set(
            variables
        )
        assert load(FUNCTIONS)["Parameters"]["RunJobs"]["Default"] == "false"

    def test_who_starts_or_ends_jobs_has_its_policies_and_nobody_else(self):
        described = of_type(WORK, "AWS::IAM::Role")
        having = {name: role["ManagedPolicyArns"] for name, role in described.items() if "ManagedPolicyArns" in role}
        assert {name: roles.managed(described[name]) for name in having} == {
            "ApiRole": ["JobAccess", "JobEnding"],
            "JobsRole": ["JobAccess", "JobEnding"],
            "PurgeRole": ["JobEnding"],
        }
        for condition, _, otherwise in (each["Fn::If"] for each in having.values()):
            assert (condition, otherwise) == ("RunsJobs", {"Ref": "AWS::NoValue"})

    def test_only_what_reads_is_allowed_on_everything(self):
        allowed = [
            (action, statement["Resource"])
            for policy in of_type(RUNNING, "AWS::IAM::ManagedPolicy").values()
            for statement in policy["PolicyDocument"]["Statement"]
            for action in statement["Action"]
        ]
        # IAM knows no resources for these
        assert {action for action, resource in allowed if resource == "*"} == {
            "batch:DescribeJobs",
            "batch:DescribeJobDefinitions",
            "batch:ListJobs",
        }

    def test_its_events_call_the_function_and_name_the_queue(self):
        rule = of_type(WORK, "AWS::Events::Rule")["JobsEvents"]
        pattern = rule["EventPattern"]
        assert (pattern["source"], pattern["detail-type"]) == (["aws.batch"], ["Batch Job State Change"])
        assert pattern["detail"]["jobQueue"] == [{"Fn::ImportValue": {"Fn::Sub": "limn-${Stage}-JobQueue"}}]
        assert {"SUCCEEDED", "FAILED"} <= set(pattern["detail"]["status"])
        assert [target["Arn"] for target in rule["Targets"]] == [{"Ref": "JobsAliaslive"}]
        allowed = of_type(WORK, "AWS::Lambda::Permission")["JobsEventsPermission"]
        assert allowed["SourceArn"] == {"Fn::GetAtt": ["JobsEvents", "Arn"]}
        for name in ("JobsEvents", "JobsEventsPermission"):
            assert WORK["Resources"][name]["Condition"] == "RunsJobs"

    def test_only_its_jobs_with_files_reach_objects_and_only_those_of_jobs(self):
        roles = of_type(RUNNING, "AWS::IAM::Role")
        having = [name for name, role in roles.items() if "Policies" in role]
        assert having == ["JobFilesRole"]
        [policy] = roles["JobFilesRole"]["Policies"]
        [statement] = policy["PolicyDocument"]["Statement"]
        assert set(statement["Action"]) == {"s3:GetObject", "s3:PutObject"}
        assert statement["Resource"]["Fn::Sub"][0].endswith("/*/*/jobs/*")


@CHECKED
def test_the_stack_of_api_and_functions_is_clean_and_small_enough(tmp_path):
    package.write_template(tmp_path / "app.json", whole())
    assert lint(tmp_path / "app.json") == []
    assert (tmp_path / "app.json").stat().st_size < 1024 * 1024
    assert len(whole()["Resources"]) < 500


def test_ours_goes_before_what_chalice_made_up():
    handler = whole()["Resources"]["APIHandler"]["Properties"]
    assert handler["Role"] == {"Fn::GetAtt": ["ApiRole", "Arn"]}
    assert handler["Handler"] == "app.app"
    assert whole()["Resources"]["RestAPI"]["Properties"]["StageName"] == {"Ref": "Stage"}
    assert whole()["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]["paths"]


def test_what_the_gateway_refuses_itself_tells_browsers_what_every_answer_does():
    refusals = whole()["Resources"]["RestAPI"]["Properties"]["GatewayResponses"]
    assert {"DEFAULT_4XX", "DEFAULT_5XX"} < set(refusals)
    for refusal in refusals.values():
        headers = refusal["ResponseParameters"]["Headers"]
        assert {name: f"'{value}'" for name, value in SAFE_IN_BROWSERS.items()}.items() <= headers.items()


def test_outputs_are_exactly_what_the_settings_need():
    needed = {
        field.name
        for field in msgspec.structs.fields(Settings)
        if field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT
    }
    optional = {"answers_url"}  # the local stack serves large answers itself
    assert {variable(name).removeprefix(PREFIX).lower() for name in STATE["Outputs"]} == needed | optional


def test_every_output_is_exported_and_imported_as_its_variable():
    variables = WORK["Globals"]["Function"]["Environment"]["Variables"]
    for name, output in STATE["Outputs"].items():
        exported = output["Export"]["Name"]
        assert exported == {"Fn::Sub": f"limn-${{Stage}}-{name}"}
        if name.endswith("QueueUrl"):
            assert output["Value"] == {"Ref": name.removesuffix("Url")}
        else:
            assert variables[variable(name)] == {"Fn::ImportValue": exported}


def test_the_urls_of_the_queues_are_their_beginning_and_their_names():
    variables = WORK["Globals"]["Function"]["Environment"]["Variables"]
    assert variables["LIMN_QUEUES"] == {
        "Fn::Sub": "https://sqs.${AWS::Region}.${AWS::URLSuffix}/${AWS::AccountId}/limn-${Stage}-"
    }
    others = {name: value for name, value in VARIABLES.items() if not name.endswith("_QUEUE_URL")}
    beginning = "https://sqs.us-east-1.amazonaws.com/123456789012/limn-local-"
    found = read({**others, "LIMN_QUEUES": beginning})
    for name, queue in queues().items():
        word = name.removesuffix("Queue").lower()
        assert queue["QueueName"] == {"Fn::Sub": f"limn-${{Stage}}-{word}"}
        assert getattr(found, f"{word}_queue_url") == VARIABLES[f"LIMN_{word.upper()}_QUEUE_URL"] == beginning + word


def test_every_variable_is_one_that_the_settings_read():
    variables = WORK["Globals"]["Function"]["Environment"]["Variables"]
    known = {PREFIX + field.name.upper() for field in msgspec.structs.fields(Settings)} | {"LIMN_QUEUES"}
    assert {name for name in variables if name.startswith(PREFIX)} <= known


def queues():
    """Queues that work is put into, by their names in the template."""
    return {name: queue for name, queue in of_type(STATE, "AWS::SQS::Queue").items() if "RedrivePolicy" in queue}


def test_every_queue_has_a_function_dead_letters_and_alarms():
    assert set(queues()) == {f"{name}Queue" for name in QUEUE_FUNCTIONS}
    alarms = of_type(WORK, "AWS::CloudWatch::Alarm").values()
    watched = {
        (alarm["MetricName"], dimension["Value"]["Fn::Sub"])
        for alarm in alarms
        for dimension in alarm.get("Dimensions", ())
        if dimension["Name"] == "QueueName"
    }
    for name, queue in queues().items():
        dead = queue["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]
        letters = of_type(STATE, "AWS::SQS::Queue")[dead]
        assert letters["MessageRetentionPeriod"] == 14 * 24 * 3600
        assert ("ApproximateNumberOfMessagesVisible", letters["QueueName"]["Fn::Sub"]) in watched, name
        assert ("ApproximateAgeOfOldestMessage", queue["QueueName"]["Fn::Sub"]) in watched, name


@pytest.mark.parametrize("name", QUEUE_FUNCTIONS)
def test_a_message_stays_invisible_for_six_times_its_function(name):
    visibility = queues()[f"{name}Queue"]["VisibilityTimeout"]
    assert visibility >= 6 * of_type(WORK, FUNCTION)[name]["Timeout"]


@pytest.mark.parametrize("name", QUEUE_FUNCTIONS)
def test_a_function_takes_messages_of_its_own_queue_one_failure_at_a_time(name):
    mapping = of_type(WORK, "AWS::Lambda::EventSourceMapping")[f"{name}Messages"]
    assert mapping["FunctionName"] == {"Ref": f"{name}Aliaslive"}
    assert mapping["EventSourceArn"]["Fn::Sub"].endswith(queues()[f"{name}Queue"]["QueueName"]["Fn::Sub"])
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["ScalingConfig"]["MaximumConcurrency"]
    assert of_type(WORK, FUNCTION)[name]["Handler"] == f"functions.{name.lower()}.handler"


@pytest.mark.parametrize("name", SCHEDULED_FUNCTIONS)
def test_a_scheduled_function_is_called_by_its_rule_alone_and_watched(name):
    rule = of_type(WORK, "AWS::Events::Rule")[f"{name}Schedule"]
    assert rule["ScheduleExpression"].startswith("rate(")
    assert [target["Arn"] for target in rule["Targets"]] == [{"Ref": f"{name}Aliaslive"}]
    allowed = of_type(WORK, "AWS::Lambda::Permission")[f"{name}Permission"]
    assert allowed["SourceArn"] == {"Fn::GetAtt": [f"{name}Schedule", "Arn"]}
    alarm = of_type(WORK, "AWS::CloudWatch::Alarm")[f"{name}ErrorsAlarm"]
    assert alarm["Dimensions"] == [{"Name": "FunctionName", "Value": {"Ref": name}}]
    assert of_type(WORK, FUNCTION)[name]["Handler"] == f"functions.{name.lower()}.handler"


def test_the_local_stack_calls_the_same_functions():
    from infra.local import service

    assert {source.name for source in service._sources()} == set(QUEUES)
    assert {timer.name for timer in service._timers()} == {name.lower() for name in SCHEDULED_FUNCTIONS}


_IMPORTED_AS = {"pillow": "PIL", "swagger-ui-bundle": "swagger_ui_bundle"}
_STARTS = """
import importlib, sys
function, *without = sys.argv[1:]
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in without:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
importlib.import_module(f"functions.{function}")
"""


@pytest.mark.slow
@pytest.mark.parametrize("artifact", package.QUEUE_FUNCTIONS, ids=lambda artifact: artifact.name)
def test_a_function_starts_without_what_its_zip_leaves_out(artifact):
    without = [_IMPORTED_AS.get(name, name) for name in sorted(artifact.without) if name != "setuptools"]
    command = [sys.executable, "-c", _STARTS, artifact.name, *without]
    done = subprocess.run(command, cwd=package.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_function_has_both_ffmpeg_and_duckdb():
    """Together they would fill a zip: see decision 195."""
    for artifact in (*package.API_FUNCTIONS.values(), *package.QUEUE_FUNCTIONS):
        assert artifact.without & {"av", "duckdb"}, artifact.name


@pytest.mark.slow
@pytest.mark.parametrize("artifact", package.API_FUNCTIONS.values(), ids=lambda artifact: artifact.name)
def test_the_api_starts_without_what_its_zips_leave_out(artifact):
    own = {"setuptools", "chalice"}  # Chalice brings its part that runs
    without = [_IMPORTED_AS.get(name, name.replace("-", "_")) for name in sorted(artifact.without - own)]
    command = [sys.executable, "-c", _STARTS.replace('f"functions.{function}"', "function"), "app", *without]
    done = subprocess.run(command, cwd=package.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_worker_knows_how_often_messages_are_delivered():
    receives = {name: queue["RedrivePolicy"]["maxReceiveCount"] for name, queue in queues().items()}
    expected = {f"{name.title()}Queue": worker.RECEIVES + worker.BURIALS for name in QUEUES}
    assert receives == {**expected, "EmailQueue": email_function.RECEIVES + worker.BURIALS}


def statements():
    for name, role in of_type(WORK, "AWS::IAM::Role").items():
        for policy in role["Policies"]:
            for statement in policy.get("PolicyDocument", {}).get("Statement", []):
                yield name, statement


def test_no_role_allows_every_action_or_every_resource():
    for name, statement in statements():
        assert statement["Effect"] == "Allow"
        assert not [action for action in statement["Action"] if "*" in action], name
        resources = statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]
        assert "*" not in resources, name


def test_every_function_has_a_role_and_a_log_of_its_own():
    functions = of_type(WORK, FUNCTION)
    roles = [function["Role"]["Fn::GetAtt"][0] for function in functions.values()]
    logs = [function["LoggingConfig"]["LogGroup"]["Ref"] for function in functions.values()]
    assert len(set(roles)) == len(set(logs)) == len(functions)
    assert len(functions) == len({*QUEUE_FUNCTIONS, *SCHEDULED_FUNCTIONS}) + len(merging.HANDLERS)
    assert set(roles) == set(of_type(WORK, "AWS::IAM::Role"))
    for name in logs:
        assert of_type(WORK, "AWS::Logs::LogGroup")[name]["RetentionInDays"]


def test_every_role_may_write_traces_where_tracing_is_on():
    for name, role in of_type(WORK, "AWS::IAM::Role").items():
        under = [each["Fn::If"] for each in role["Policies"] if "Fn::If" in each]
        [policy] = [policy for condition, policy, _ in under if condition == "Traces"]
        [statement] = policy["PolicyDocument"]["Statement"]
        assert set(statement["Action"]) == {"xray:PutTelemetryRecords", "xray:PutTraceSegments"}, name


def test_a_log_group_has_no_name_that_a_second_deployment_would_find_taken():
    for name, properties in of_type(WORK, "AWS::Logs::LogGroup").items():
        assert "LogGroupName" not in properties, name
        assert WORK["Resources"][name]["DeletionPolicy"] == "RetainExceptOnCreate"


def test_no_function_needs_more_memory_than_a_new_account_has():
    values = defaults(WORK)
    for name, function in of_type(WORK, FUNCTION).items():
        memory = function["MemorySize"]
        assert int(values[memory["Ref"]] if isinstance(memory, dict) else memory) <= 3008, name


def test_every_setting_of_a_deployment_has_a_parameter_or_an_output():
    variables = [WORK["Globals"]["Function"]["Environment"]["Variables"]]
    variables += [
        each["Environment"]["Variables"] for each in of_type(WORK, FUNCTION).values() if "Environment" in each
    ]
    known = {name.removeprefix(PREFIX).lower() for each in variables for name in each}
    fields = {field.name for field in msgspec.structs.fields(Settings) if not field.name.endswith("_queue_url")}
    # of the local stack and of tests, or what no operator has a reason to change
    others = {"s3_endpoint", "aws_endpoint", "gcs_endpoint", "job_engine", "job_files_image", "job_shortest_timeout"}
    others |= {"compact_commits", "log_retention", "deleted_retention", "largest_answer", "pieces_at_once"}
    others.add("score_spread")
    assert fields - known == others


@pytest.mark.slow
def test_a_changed_origin_makes_a_new_deployment_of_the_stage():
    def deployments(origin):
        template = merging.redeployed(whole(), {"CorsOrigin": origin})
        return set(of_type(expanded(template), "AWS::ApiGateway::Deployment"))

    assert len(deployments("*")) == 1
    assert deployments("*") == deployments("*")
    assert not deployments("*") & deployments("https://app.example.org")


def test_every_name_in_a_role_is_one_that_the_stateful_stack_makes():
    made = {
        properties[key]["Fn::Sub"]
        for kind, key in (
            ("AWS::DynamoDB::Table", "TableName"),
            ("AWS::S3::Bucket", "BucketName"),
            ("AWS::SQS::Queue", "QueueName"),
        )
        for properties in of_type(STATE, kind).values()
    }
    named = re.findall(
        r"limn-\$\{Stage\}-[a-z]+(?:-\$\{AWS::AccountId\}-\$\{AWS::Region\})?", json.dumps([*statements()])
    )
    assert set(named) - {"limn-${Stage}-KeyId"} <= made | {"limn-${Stage}-"}
    assert len(set(named)) > 10


def test_what_users_own_survives_the_stack():
    for name, resource in STATE["Resources"].items():
        if resource["Type"] in ("AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::KMS::Key"):
            # a first deployment that fails leaves nothing
            assert resource["DeletionPolicy"] == "RetainExceptOnCreate", name
            assert resource["UpdateReplacePolicy"] == "Retain", name


def test_no_table_has_an_index():
    for table in of_type(STATE, "AWS::DynamoDB::Table").values():
        assert not {"GlobalSecondaryIndexes", "LocalSecondaryIndexes", "StreamSpecification"} & set(table)


def test_parameters_have_defaults_except_what_only_the_operator_knows():
    wanting = {
        name
        for template in (STATE, RUNNING, load(ANALYTICS), load(FUNCTIONS), load(ALARMS))
        for name, parameter in template["Parameters"].items()
        if "Default" not in parameter
    }
    assert wanting == {"Vpc", "Subnets"}  # what only the operator knows
