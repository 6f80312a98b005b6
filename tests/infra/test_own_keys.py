"""The key that signs URLs, and alarms of tables: what the templates say of them."""

from __future__ import annotations

from infra.stack import merging
from infra.templates import STATEFUL, load, of_type

STATE = load(STATEFUL)
WORK = merging.merged({"Resources": {}})
FUNCTION = "AWS::Serverless::Function"


def test_the_functions_that_sign_urls_read_the_key_for_it_and_no_other():
    signing = {"ApiRole", "DatasetRole", "MediaRole"}
    secret = {"Fn::If": ["SignsUrls", {"Ref": "SignerSecret"}, ""]}
    for function in of_type(WORK, FUNCTION).values():
        role = function["Role"]["Fn::GetAtt"][0]
        policies = of_type(WORK, "AWS::IAM::Role")[role]["Policies"]
        under = [each["Fn::If"] for each in policies if "Fn::If" in each]
        allowed = [policy["PolicyDocument"]["Statement"] for condition, policy, _ in under if condition == "SignsUrls"]
        variables = function.get("Environment", {}).get("Variables", {})
        if role in signing:
            assert variables["LIMN_URL_SIGNER"] == secret
            [[statement]] = allowed
            assert (statement["Action"], statement["Resource"]) == (
                ["secretsmanager:GetSecretValue"],
                {"Ref": "SignerSecret"},
            )
        else:
            assert "LIMN_URL_SIGNER" not in variables
            assert allowed == []


def test_the_key_of_urls_opens_objects_alone_and_has_no_name_that_is_taken():
    [user] = of_type(WORK, "AWS::IAM::User").values()
    allowed = [each for policy in user["Policies"] for each in policy["PolicyDocument"]["Statement"]]
    assert {action for each in allowed for action in each["Action"]} == {"s3:GetObject", "s3:PutObject"}
    assert "UserName" not in user
    [secret] = of_type(WORK, "AWS::SecretsManager::Secret").values()
    assert "Name" not in secret


def test_every_table_has_an_alarm_for_what_dynamodb_refuses():
    watched = {
        (stat["Metric"]["MetricName"], stat["Metric"]["Dimensions"][0]["Value"]["Fn::Sub"])
        for alarm in of_type(WORK, "AWS::CloudWatch::Alarm").values()
        for each in alarm.get("Metrics", ())
        if (stat := each.get("MetricStat"))
    }
    tables = {table["TableName"]["Fn::Sub"] for table in of_type(STATE, "AWS::DynamoDB::Table").values()}
    assert watched == {(f"{way}ThrottleEvents", table) for way in ("Read", "Write") for table in tables}
