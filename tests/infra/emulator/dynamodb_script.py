"""Random DynamoDB operations and what a client sees of their answers.

Run as a program it is stock moto: pickled lists of operations on standard input, pickled answers on standard output.
"""

import os
import pickle
import random
import sys

TABLES = {"words": ("S", "S"), "numbers": ("S", "N"), "flat": ("S", None)}
IGNORED = {"ResponseMetadata", "ConsumedCapacity", "ItemCollectionMetrics", "UnprocessedItems"}
RETURNS = ["NONE", "ALL_OLD"]


def make_tables(client):
    for table, (hash_type, range_type) in TABLES.items():
        schema = [{"AttributeName": "pk", "KeyType": "HASH"}]
        attributes = [{"AttributeName": "pk", "AttributeType": hash_type}]
        if range_type:
            schema.append({"AttributeName": "sk", "KeyType": "RANGE"})
            attributes.append({"AttributeName": "sk", "AttributeType": range_type})
        client.create_table(
            TableName=table, KeySchema=schema, AttributeDefinitions=attributes, BillingMode="PAY_PER_REQUEST"
        )


def answers(client, operations):
    return [answer(client, name, params) for name, params in operations]


def answer(client, name, params):
    from botocore.exceptions import ClientError, ParamValidationError

    try:
        response = getattr(client, name)(**params)
    except ClientError as error:
        found = error.response
        return (
            "error",
            found["Error"]["Code"],
            found["Error"]["Message"],
            found.get("CancellationReasons"),
            found.get("Item"),
        )
    except ParamValidationError as error:
        return ("invalid", str(error))
    except Exception as error:  # noqa: BLE001
        return ("raised", type(error).__name__)
    return ("ok", ordered({key: value for key, value in response.items() if key not in IGNORED}))


def ordered(value):
    """With the members of sets in order: a projection shuffles them."""
    if isinstance(value, dict):
        return {key: sorted(inner) if key in ("SS", "NS") else ordered(inner) for key, inner in value.items()}
    return [ordered(each) for each in value] if isinstance(value, list) else value


class Script:
    """Operations drawn from few keys, so that they meet."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def operations(self, count):
        kinds = [
            self.put, self.put, self.put, self.get, self.update, self.update, self.delete, self.query, self.query,
            self.scan, self.batch_get, self.batch_write, self.transact_write, self.transact_write, self.transact_get,
        ]  # fmt: skip
        return [self.random.choice(kinds)() for _ in range(count)]

    def table(self):
        return self.random.choice(list(TABLES))

    def key(self, table):
        key = {"pk": {"S": self.random.choice("ab") if TABLES[table][1] else f"k{self.random.randrange(8)}"}}
        kind = TABLES[table][1]
        if kind:
            key["sk"] = {kind: self.sort(kind)}
        if self.random.random() < 0.02:
            key = self.random.choice([{"pk": {"S": ""}}, {"pk": {"N": "1"}}, {**key, "other": {"S": "x"}}, {}])
        return key

    def sort(self, kind):
        if kind == "N":
            return self.random.choice(["-10", "-1.5", "0", "1", "1.0", "2", "10", "1e2", "0.001"])
        return self.random.choice(["a", "ab", "abc", "b", "ba", "z", "é", "\U0001f600", "a\U0010ffff"])

    def number(self):
        return self.random.choice(["0", "1", "-3", "2.50", "12345678901234567890", "0.1", "100"])

    def value(self, depth=0):
        kinds = ["S", "S", "N", "N", "B", "BOOL", "NULL"] + (["M", "L"] if depth < 2 else [])
        kind = self.random.choice(kinds) if self.random.random() < 0.97 else self.random.choice(["SS", "NS"])
        inner = {
            "S": lambda: self.random.choice(["", "x", "xy", "é", "long " * 20]),
            "N": self.number,
            "B": lambda: self.random.choice([b"\x00\x01", b"x", b"\xff" * 5]),
            "BOOL": lambda: self.random.random() < 0.5,
            "NULL": lambda: True,
            "SS": lambda: ["p", "q"],
            "NS": lambda: ["1", "2.5"],
            "M": lambda: {name: self.value(depth + 1) for name in self.random.sample("uvw", self.random.randrange(4))},
            "L": lambda: [self.value(depth + 1) for _ in range(self.random.randrange(3))],
        }[kind]()
        return {kind: inner}

    def attributes(self):
        return {name: self.value() for name in self.random.sample("defg", self.random.randrange(4))}

    def item(self, table):
        item = {**self.key(table), **self.attributes(), "n": {"N": self.number()}}
        if self.random.random() < 0.02:
            item["bad"] = self.random.choice([{"N": "ten"}, {"N": ""}, {"NS": []}, {"S": "\ud800"[:0]}, {"N": "1e200"}])
        return item

    def condition(self, names, values):  # noqa: PLR0911
        """A condition expression; adds the placeholders it uses."""
        which = self.random.randrange(12)
        name = self.random.choice("defgn")
        if which in (1, 3, 5, 7, 9):
            names["#c"] = name
            name = "#c"
        if which in (0, 1):
            return (
                self.random.choice(
                    [f"attribute_not_exists({name})", "attribute_not_exists(pk)", "attribute_exists(pk)"]
                )
                if which == 0
                else f"attribute_exists({name})"
            )
        values[":c"] = self.value(2)
        if which in (2, 3):
            return f"{name} = :c"
        if which in (4, 5):
            values[":c"] = {"N": self.number()}
            return f"n {self.random.choice(['<', '<=', '>', '>=', '<>'])} :c" + (
                f" OR {name} = :c" if which == 5 else ""
            )
        if which in (6, 7):
            values[":c"] = {"S": "x"}
            return f"begins_with({name}, :c) OR contains({name}, :c)"
        if which in (8, 9):
            values[":c"], values[":d"] = {"N": "0"}, {"N": "50"}
            return f"n BETWEEN :c AND :d AND NOT attribute_exists({name})"
        if which == 10:
            values[":d"] = self.value(2)
            return f"{name} IN (:c, :d)"
        return self.random.choice(
            [f"{name} == :c", f"{name} = :missing", "size = :c", f"attribute_type({name}, :c)", f"size({name}) > :c"]
        )

    def conditional(self, params, chance=0.5):
        names, values = params.get("ExpressionAttributeNames", {}), params.get("ExpressionAttributeValues", {})
        if self.random.random() < chance:
            params["ConditionExpression"] = self.condition(names, values)
            if self.random.random() < 0.3:
                params["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        if self.random.random() < 0.03:
            names["#unused"] = "d"
        if names:
            params["ExpressionAttributeNames"] = names
        if values:
            params["ExpressionAttributeValues"] = values
        return params

    def put(self):
        table = self.table()
        params = {"TableName": table, "Item": self.item(table), "ReturnValues": self.random.choice(RETURNS)}
        return "put_item", self.conditional(params)

    def delete(self):
        table = self.table()
        params = {"TableName": table, "Key": self.key(table), "ReturnValues": self.random.choice(RETURNS)}
        return "delete_item", self.conditional(params)

    def update_parts(self, table):
        names, values = {}, {}
        clauses = []
        if self.random.random() < 0.6:
            names["#s"], values[":s"] = self.random.choice("de"), self.value()
            sets = ["#s = :s"]
            if self.random.random() < 0.4:
                values[":one"] = {"N": "1"}
                sets.append(
                    self.random.choice(["f = if_not_exists(f, :one)", "f = :one", "n = if_not_exists(n, :one) + :one"])
                )
            clauses.append("SET " + ", ".join(sets))
        if self.random.random() < 0.3:
            clauses.append("REMOVE g")
        if not clauses or self.random.random() < 0.3:
            values[":add"] = {"N": self.number()}
            clauses.append("ADD tally :add")
        return {
            "TableName": table, "Key": self.key(table), "UpdateExpression": " ".join(clauses),
            **({"ExpressionAttributeNames": names} if names else {}),
            **({"ExpressionAttributeValues": values} if values else {}),
        }  # fmt: skip

    def update(self):
        params = self.update_parts(self.table())
        params["ReturnValues"] = self.random.choice(["NONE", "ALL_OLD", "ALL_NEW"])
        return "update_item", self.conditional(params, 0.4)

    def reading(self, params):
        names = params.setdefault("ExpressionAttributeNames", {})
        if self.random.random() < 0.3:
            names["#p"] = self.random.choice("def")
            params["ProjectionExpression"] = self.random.choice(["#p", "pk, #p", "n,#p, g", "#p, d.u"])
        if not names:
            del params["ExpressionAttributeNames"]
        if self.random.random() < 0.5:
            params["ConsistentRead"] = self.random.random() < 0.5
        return params

    def get(self):
        table = self.table()
        return "get_item", self.reading({"TableName": table, "Key": self.key(table)})

    def paged(self, params):
        if self.random.random() < 0.4:
            params["Limit"] = self.random.choice([1, 2, 3, 50])
        if self.random.random() < 0.3:
            names, values = params.get("ExpressionAttributeNames", {}), params.get("ExpressionAttributeValues", {})
            params["FilterExpression"] = self.condition(names, values)
            if names:
                params["ExpressionAttributeNames"] = names
            if values:
                params["ExpressionAttributeValues"] = values
        if self.random.random() < 0.1:
            params["Select"] = self.random.choice(["COUNT", "ALL_ATTRIBUTES"])
        return self.reading(params)

    def query(self):
        table = self.random.choice(["words", "numbers", "words", "numbers", "flat"])
        kind = TABLES[table][1]
        values = {":pk": {"S": self.random.choice(["a", "b", "nobody", "k1"])}}
        text = "pk = :pk"
        if kind and self.random.random() < 0.8:
            operator = self.random.choice(["=", "<", "<=", ">", ">=", "between", "begins"])
            values[":s"] = {kind: self.sort(kind)}
            if operator == "between":
                low, high = sorted([self.sort(kind), self.sort(kind)], key=float if kind == "N" else None)
                values[":s"], values[":t"] = {kind: low}, {kind: high}
                text += " AND sk BETWEEN :s AND :t"
            elif operator == "begins" and kind == "S":
                text += " AND begins_with(sk, :s)"
            else:
                text += f" AND sk {'=' if operator == 'begins' else operator} :s"
        params = {"TableName": table, "KeyConditionExpression": text, "ExpressionAttributeValues": values}
        if self.random.random() < 0.4:
            params["ScanIndexForward"] = self.random.random() < 0.5
        if kind and self.random.random() < 0.3:
            params["ExclusiveStartKey"] = {"pk": values[":pk"], "sk": {kind: self.sort(kind)}}
        return "query", self.paged(params)

    def scan(self):
        table = self.table()
        params = {"TableName": table}
        if self.random.random() < 0.3:
            params["ExclusiveStartKey"] = self.key(table)
        return "scan", self.paged(params)

    def keys(self, table, count):
        found = {}
        for _ in range(count):
            key = self.key(table)
            if len(key) == (2 if TABLES[table][1] else 1):
                kinds = tuple(
                    str(list(value.items())) if "N" not in value else float(value["N"]) for value in key.values()
                )
                found[kinds] = key
        return list(found.values()) or [
            {"pk": {"S": "a"}, **({"sk": {TABLES[table][1]: "1"}} if TABLES[table][1] else {})}
        ]

    def batch_get(self):
        tables = self.random.sample(list(TABLES), self.random.randrange(1, 3))
        return "batch_get_item", {
            "RequestItems": {table: self.reading({"Keys": self.keys(table, 3)}) for table in tables}
        }

    def batch_write(self):
        requests = {}
        for table in self.random.sample(list(TABLES), self.random.randrange(1, 3)):
            requests[table] = [
                {"PutRequest": {"Item": {**self.attributes(), **key}}}
                if self.random.random() < 0.7
                else {"DeleteRequest": {"Key": key}}
                for key in self.keys(table, 4)
            ]
        return "batch_write_item", {"RequestItems": requests}

    def transact_write(self):
        actions = []
        for _ in range(self.random.randrange(1, 5)):
            table = self.table()
            kind = self.random.choice(["Put", "Put", "Update", "Delete", "ConditionCheck"])
            if kind == "Put":
                params = self.conditional({"TableName": table, "Item": self.item(table)}, 0.4)
            elif kind == "Update":
                params = self.conditional(self.update_parts(table), 0.4)
            else:
                params = self.conditional(
                    {"TableName": table, "Key": self.key(table)}, 1.0 if kind == "ConditionCheck" else 0.4
                )
            actions.append({kind: params})
        return "transact_write_items", {"TransactItems": actions}

    def transact_get(self):
        actions = []
        for _ in range(self.random.randrange(1, 4)):
            table = self.table()
            actions.append({"Get": {"TableName": table, "Key": self.key(table)}})
        return "transact_get_items", {"TransactItems": actions}


def main():
    os.environ.update(AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="y", AWS_DEFAULT_REGION="us-east-1")
    import boto3
    from moto import mock_aws

    results = []
    for operations in pickle.load(sys.stdin.buffer):
        with mock_aws():
            client = boto3.client("dynamodb")
            make_tables(client)
            results.append(answers(client, operations))
    pickle.dump(results, sys.stdout.buffer)


if __name__ == "__main__":
    main()
