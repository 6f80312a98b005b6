"""What bulk writes cost on the local stack: statements, files and threads, which take its time."""

from __future__ import annotations

import boto3

from chalicelib.settings import settings
from infra.emulator.dynamodb import expressions, rows
from infra.emulator.dynamodb.metering import metering
from infra.emulator.sqlite import database
from infra.emulator.sqlite.database import Database
from infra.emulator.sqlite.sqlite_file import PAGE_SIZE

TABLE = "bulk-writes"


def statements(do):
    found = []
    connection = database.current()._connection
    connection.set_trace_callback(found.append)
    try:
        do()
    finally:
        connection.set_trace_callback(None)
    return found


def test_a_transaction_reads_its_rows_once_and_writes_many_in_a_statement(monkeypatch):
    monkeypatch.setattr(rows, "listeners", [])  # reports to them read each row
    client = boto3.client("dynamodb", region_name="us-east-1")
    client.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
    )

    def rewrite(before):
        put = {
            "TableName": TABLE,
            "ConditionExpression": "#n = :n" if before else "attribute_not_exists(#n)",
            "ExpressionAttributeNames": {"#n": "n"},
        }
        values = {"ExpressionAttributeValues": {":n": {"N": str(before)}}} if before else {}
        item = {"n": {"N": str(before + 1)}, "doc": {"B": b"x" * 900}}
        actions = [{"Put": {**put, **values, "Item": {"pk": {"S": f"r{k}"}, **item}}} for k in range(100)]
        client.transact_write_items(TransactItems=actions)

    try:
        rewrite(0)
        with metering():  # its rows are not read again for their sizes
            made = statements(lambda: rewrite(1))
        assert len([each for each in made if each.startswith(("SELECT", "WITH"))]) == 1
        assert len([each for each in made if each.startswith("INSERT")]) == 2
        assert len(made) == 5  # with BEGIN and COMMIT
        found = client.scan(TableName=TABLE)["Items"]
        assert sorted(each["pk"]["S"] for each in found) == sorted(f"r{k}" for k in range(100))
        assert {each["n"]["N"] for each in found} == {"2"}
    finally:
        client.delete_table(TableName=TABLE)


def test_handlers_of_events_see_the_calls_of_their_client():
    client = boto3.client("dynamodb", region_name="us-east-1")
    names = ("provide-client-params", "before-parameter-build", "after-call")
    seen = []

    def note(event_name, **_):
        seen.append(event_name)

    client.list_tables()
    table = settings().counters_table
    key = {"pk": {"S": "no such"}, "sk": {"S": "@"}}
    client.get_item(TableName=table, Key=key)
    for name in names:
        client.meta.events.register(f"{name}.dynamodb.GetItem", note)
    client.get_item(TableName=table, Key=key)
    assert seen == [f"{name}.dynamodb.GetItem" for name in names]
    for name in names:
        client.meta.events.unregister(f"{name}.dynamodb.GetItem", note)
    client.get_item(TableName=table, Key=key)
    assert len(seen) == len(names)


def test_a_condition_of_one_attribute_is_judged_without_the_rest_of_the_row():
    row = database.pack({"n": {"N": "2"}, "doc": {"B": b"x"}})
    same = expressions.condition("#n = :n", (("#n", "n"),))
    assert same.certainly_holds(row, {":n": {"N": "2"}})
    for other in ("3", "2.0"):  # moto knows that 2.0 is 2
        assert not same.certainly_holds(row, {":n": {"N": other}})
    assert not same.certainly_holds(None, {":n": {"N": "2"}})
    assert not same.certainly_holds(row, {})
    absent = expressions.condition("attribute_not_exists(#n)", (("#n", "n"),))
    assert absent.certainly_holds(None, {})
    assert absent.certainly_holds(database.pack({"doc": {"B": b"x"}}), {})
    assert not absent.certainly_holds(row, {})
    assert not expressions.condition("#n > :n", (("#n", "n"),)).certainly_holds(row, {":n": {"N": "1"}})


def test_rows_of_a_thousand_bytes_share_pages(tmp_path):
    store = Database(tmp_path)
    try:
        with store.transaction():
            for number in range(1000):
                row = b"%06d" % number + b"x" * 1100
                store.write("INSERT INTO rows VALUES (1, ?, x'', ?, 0)", b"%06d" % number, row)
        assert store.one("PRAGMA page_size") == (PAGE_SIZE,)
        assert store.one("PRAGMA page_count")[0] * PAGE_SIZE < 1000 * 1100 * 2
    finally:
        store.close()
