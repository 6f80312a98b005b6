"""The local DynamoDB against stock moto, under threads, and in what it does on purpose differently."""

import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import ClientError

from infra.emulator.dynamodb import backend as dynamodb
from infra.emulator.dynamodb.metering import item_size, metering
from tests.infra.emulator import dynamodb_script

SCRIPTS, LENGTH = 12, 150
A_RUN = 3
"""Scripts that one process of stock moto answers: as many as a commit tries; the night tries all."""


@pytest.fixture
def client(aws):
    client = boto3.client("dynamodb")
    dynamodb_script.make_tables(client)
    yield client
    for table in dynamodb_script.TABLES:
        client.delete_table(TableName=table)


def key(sort="1", partition="p"):
    return {"pk": {"S": partition}, "sk": {"N": sort}}


def put(client, **values):
    return client.put_item(TableName="numbers", **values)


def rows(client, partition="p"):
    return client.query(
        TableName="numbers", KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": partition}}
    )["Items"]


@cache
def stock_answers(first):
    """The answers of moto as it comes, from a process of its own."""
    scripts = [dynamodb_script.Script(seed).operations(LENGTH) for seed in range(first, first + A_RUN)]
    ran = subprocess.run(
        [sys.executable, Path(dynamodb_script.__file__)], input=pickle.dumps(scripts), capture_output=True, check=True
    )
    return list(zip(scripts, pickle.loads(ran.stdout), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [*range(A_RUN), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(A_RUN, SCRIPTS))]
)
def test_random_operations_are_answered_as_by_stock_moto(aws, client, seed):
    operations, expected = stock_answers(seed - seed % A_RUN)[seed % A_RUN]
    for operation, answer in zip(operations, expected, strict=True):
        assert dynamodb_script.answer(client, *operation) == answer, operation


def test_ordinary_calls_take_the_direct_way(client):
    before = dynamodb.fallbacks.total()
    put(client, Item={**key(), "n": {"N": "1"}}, ConditionExpression="attribute_not_exists(pk)")
    client.get_item(TableName="numbers", Key=key(), ConsistentRead=True)
    client.update_item(
        TableName="numbers", Key=key(), UpdateExpression="SET #n = #n + :n REMOVE g ADD t :n",
        ConditionExpression="n = :n", ExpressionAttributeNames={"#n": "n"},
        ExpressionAttributeValues={":n": {"N": "1"}},
    )  # fmt: skip
    client.transact_write_items(TransactItems=[{"Delete": {"TableName": "numbers", "Key": key()}}])
    client.scan(TableName="numbers")
    assert rows(client) == []
    assert dynamodb.fallbacks.total() == before


def test_pynamodb_takes_the_direct_way_too(client):
    from pynamodb.attributes import NumberAttribute, UnicodeAttribute
    from pynamodb.exceptions import PutError, TransactWriteError
    from pynamodb.models import Model
    from pynamodb.transactions import TransactWrite

    class Number(Model):
        class Meta:
            table_name = "numbers"
            region = "us-east-1"

        pk = UnicodeAttribute(hash_key=True)
        sk = NumberAttribute(range_key=True)
        n = NumberAttribute(default=0)

    before = dynamodb.fallbacks.total()
    Number("p", 1).save(condition=Number.pk.does_not_exist())
    with pytest.raises(PutError) as refused:
        Number("p", 1).save(condition=Number.pk.does_not_exist())
    assert refused.value.cause_response_code == "ConditionalCheckFailedException"
    Number("p", 1).update(actions=[Number.n.add(5)])
    write = TransactWrite(connection=Number._get_connection().connection)
    write.save(Number("p", 2))
    write.save(Number("p", 1), condition=Number.pk.does_not_exist())
    with pytest.raises(TransactWriteError) as cancelled:
        write._commit()
    assert [reason and reason.code for reason in cancelled.value.cancellation_reasons] == [
        None,
        "ConditionalCheckFailed",
    ]
    assert [(row.sk, row.n) for row in Number.query("p")] == [(1, 5)]
    assert dynamodb.fallbacks.total() == before


def test_the_resource_of_boto3_sees_python_values(client):
    table = boto3.resource("dynamodb").Table("numbers")
    table.put_item(Item={"pk": "p", "sk": 1, "list": [1, "two", None, True], "bytes": b"\x00"})
    item = table.get_item(Key={"pk": "p", "sk": 1})["Item"]
    assert item["list"] == [1, "two", None, True]
    assert bytes(item["bytes"]) == b"\x00"


def test_an_answer_belongs_to_its_caller(client):
    put(client, Item={**key(), "m": {"M": {"a": {"S": "x"}}}})
    client.get_item(TableName="numbers", Key=key())["Item"]["m"]["M"]["a"]["S"] = "changed"
    item = {**key("2"), "m": {"M": {"a": {"S": "x"}}}}
    put(client, Item=item)
    item["m"]["M"]["a"]["S"] = "changed"
    assert [row["m"]["M"]["a"]["S"] for row in rows(client)] == ["x", "x"]


@pytest.mark.slow
def test_large_results_come_in_pages(client):
    for index in range(12):
        put(client, Item={**key(str(index)), "s": {"S": "x" * 300_000}})
    pages = list(
        client.get_paginator("query").paginate(
            TableName="numbers", KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "p"}}
        )
    )
    assert [page["Count"] for page in pages] == [3, 3, 3, 3]
    scanned = [page["Count"] for page in client.get_paginator("scan").paginate(TableName="numbers")]
    assert sum(scanned) == 12


class TestLimits:
    def test_of_a_batch_write(self, client):
        requests = [{"PutRequest": {"Item": key(str(index))}} for index in range(26)]
        with pytest.raises(ClientError, match="Too many items"):
            client.batch_write_item(RequestItems={"numbers": requests})
        client.batch_write_item(RequestItems={"numbers": requests[:25]})
        assert len(rows(client)) == 25

    def test_of_a_batch_write_key_given_twice(self, client):
        twice = [{"PutRequest": {"Item": key()}}, {"DeleteRequest": {"Key": key("1.0")}}]
        with pytest.raises(ClientError, match="duplicates"):
            client.batch_write_item(RequestItems={"numbers": twice})

    def test_of_a_batch_get(self, client):
        keys = [key(str(index)) for index in range(101)]
        with pytest.raises(ClientError, match="100"):
            client.batch_get_item(RequestItems={"numbers": {"Keys": keys}})

    def test_of_an_answer_to_a_batch_get(self, client):
        for index in range(50):
            put(client, Item={**key(str(index)), "s": {"S": "x" * 380_000}})
        answer = client.batch_get_item(RequestItems={"numbers": {"Keys": [key(str(index)) for index in range(50)]}})
        left = answer["UnprocessedKeys"]["numbers"]["Keys"]
        assert len(answer["Responses"]["numbers"]) + len(left) == 50
        assert 5 <= len(left) <= 7

    def test_of_an_item(self, client):
        with pytest.raises(ClientError, match="maximum allowed size"):
            put(client, Item={**key(), "s": {"S": "x" * 410_000}})

    def test_of_a_number(self, client):
        with pytest.raises(ClientError, match="38"):
            put(client, Item={**key(), "n": {"N": "9" * 39}})
        put(client, Item={**key(), "n": {"N": "9" * 38}})

    def test_of_a_transaction(self, client):
        actions = [{"Put": {"TableName": "numbers", "Item": key(str(index))}} for index in range(101)]
        with pytest.raises(ClientError, match="100"):
            client.transact_write_items(TransactItems=actions)
        client.transact_write_items(TransactItems=actions[:100])
        reads = [{"Get": {"TableName": "numbers", "Key": key(str(index))}} for index in range(100)]
        assert len(client.transact_get_items(TransactItems=reads)["Responses"]) == 100


def test_a_transaction_sent_twice_happens_once(client):
    def add(amount, token="token"):
        values = {":n": {"N": amount}}
        update = {
            "TableName": "numbers",
            "Key": key(),
            "UpdateExpression": "ADD n :n",
            "ExpressionAttributeValues": values,
        }
        client.transact_write_items(TransactItems=[{"Update": update}], ClientRequestToken=token)

    add("1")
    add("1")
    assert rows(client)[0]["n"] == {"N": "1"}
    with pytest.raises(client.exceptions.IdempotentParameterMismatchException):
        add("2")
    add("1", token="another")
    assert rows(client)[0]["n"] == {"N": "2"}


def test_a_failing_update_changes_nothing(client):
    put(client, Item={**key(), "s": {"S": "text"}})
    for which in ("1", "2"):
        with pytest.raises(ClientError):
            client.update_item(
                TableName="numbers", Key=key(which), UpdateExpression="SET a = :n ADD s :n, m.deep :n",
                ExpressionAttributeValues={":n": {"N": "1"}},
            )  # fmt: skip
    assert rows(client) == [{**key(), "s": {"S": "text"}}]


def test_updated_values_are_returned(client):
    def add():
        return client.update_item(
            TableName="numbers", Key=key(), UpdateExpression="ADD n :n SET s = :n", ReturnValues="UPDATED_NEW",
            ExpressionAttributeValues={":n": {"N": "2"}},
        )["Attributes"]  # fmt: skip

    assert add() == {"n": {"N": "2"}, "s": {"N": "2"}}
    assert add() == {"n": {"N": "4"}, "s": {"N": "2"}}


class TestThreads:
    THREADS, ROUNDS = 8, 20

    def run(self, work):
        barrier = threading.Barrier(self.THREADS)

        def start(index):
            barrier.wait()
            return work(index)

        with ThreadPoolExecutor(self.THREADS) as pool:
            return list(pool.map(start, range(self.THREADS)))

    @pytest.mark.slow
    @pytest.mark.parametrize("expression", ["ADD n :one", "SET m.n = m.n + :one ADD n :one"], ids=["direct", "by moto"])
    def test_counters_lose_nothing(self, client, expression):
        put(client, Item={**key(), "m": {"M": {"n": {"N": "0"}}}})

        def count(_):
            for _ in range(self.ROUNDS):
                client.update_item(
                    TableName="numbers", Key=key(), UpdateExpression=expression,
                    ExpressionAttributeValues={":one": {"N": "1"}},
                )  # fmt: skip

        self.run(count)
        assert rows(client)[0]["n"] == {"N": str(self.THREADS * self.ROUNDS)}

    def test_conditional_puts_succeed_exactly_once(self, client):
        def claim(index):
            won = 0
            for number in range(self.ROUNDS):
                try:
                    put(
                        client,
                        Item={**key(str(number)), "by": {"N": str(index)}},
                        ConditionExpression="attribute_not_exists(pk)",
                    )
                    won += 1
                except client.exceptions.ConditionalCheckFailedException:
                    pass
            return won

        assert sum(self.run(claim)) == self.ROUNDS

    @pytest.mark.slow
    @pytest.mark.parametrize("attribute", ["n", "SS"], ids=["direct", "by moto"])
    def test_failing_transactions_take_back_nothing_of_others(self, client, attribute):
        put(client, Item=key("0", "taken"))
        extra = {"set": {"SS": ["x"]}} if attribute == "SS" else {}
        again = {"TableName": "numbers", "Item": key("0", "taken"), "ConditionExpression": "attribute_not_exists(pk)"}

        def work(index):
            for number in range(self.ROUNDS):
                put(client, Item={**key(str(number), f"own{index}"), **extra})
                with pytest.raises(client.exceptions.TransactionCanceledException):
                    client.transact_write_items(TransactItems=[
                        {"Put": {"TableName": "numbers", "Item": {**key(str(number), "never"), **extra}}},
                        {"Put": again},
                    ])  # fmt: skip

        self.run(work)
        assert rows(client, "never") == []
        assert [len(rows(client, f"own{index}")) for index in range(self.THREADS)] == [self.ROUNDS] * self.THREADS


class TestMeter:
    def test_counts_units_as_aws_bills_them(self, client):
        item = {**key(), "s": {"S": "x" * 5000}}
        with metering() as meter:
            put(client, Item=item)
            client.get_item(TableName="numbers", Key=key(), ConsistentRead=True)
            client.get_item(TableName="numbers", Key=key())
            client.transact_write_items(TransactItems=[{"Put": {"TableName": "numbers", "Item": item}}])
            rows(client, "nobody")
        put(client, Item=item)
        assert (meter["PutItem"].calls, meter["PutItem"].write) == (1, 5.0)
        assert (meter["GetItem"].calls, meter["GetItem"].read) == (2, 3.0)
        assert meter["TransactWriteItems"].write == 10.0
        assert meter["Query"].read == 0.5
        assert meter.total.calls == 5

    def test_an_item_is_as_large_as_aws_says(self):
        assert (
            item_size({"ab": {"S": "é"}, "n": {"N": "-1234.50"}, "b": {"BOOL": True}, "l": {"L": [{"S": "x"}]}})
            == 4 + 6 + 2 + 6
        )


@pytest.mark.slow
def test_it_stays_flat(client):
    """With 30,000 items, ten of them are read and written about as fast as with ten."""

    def timed():
        times = []
        for index in range(100):
            start = time.perf_counter()
            put(client, Item=key(str(index), "few"))
            client.get_item(TableName="numbers", Key=key(str(index), "few"))
            rows(client, "nobody")
            client.transact_write_items(
                TransactItems=[{"Put": {"TableName": "numbers", "Item": key(str(index), "few")}}]
            )
            times.append(time.perf_counter() - start)
        return sorted(times)[50]

    before = timed()
    for start in range(0, 30_000, 25):
        requests = [{"PutRequest": {"Item": key(str(index), f"p{index % 7}")}} for index in range(start, start + 25)]
        client.batch_write_item(RequestItems={"numbers": requests})
    assert timed() < 10 * before
