"""`python -m tests.bench.costs`: what operations use of DynamoDB, counted; the table of docs/costs.md.

Calls and units do not depend on the machine. Prices and amounts of use are inputs: see `infra.stack.prices` and
`Month`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from infra.emulator.dynamodb.metering import metering
from infra.stack.prices import PRICES, standing
from infra.templates import FUNCTIONS, defaults, load

API_GB = defaults(load(FUNCTIONS))["ApiMemory"] / 1024
PIECE_SECONDS, PIECE_GB = 60, 4
"""Of encoding a minute of video at four heights."""


@dataclass(frozen=True, kw_only=True)
class Use:
    """What one operation uses of DynamoDB."""

    name: str
    reads: float
    writes: float
    calls: float

    def dollars(self, milliseconds: float = 60, memory_gb: float = API_GB) -> float:
        """What it costs in all, with so long an invocation."""
        function = milliseconds / 1000 * memory_gb * PRICES["GB-second"] + PRICES["invocation"]
        data = self.reads * PRICES["read unit"] + self.writes * PRICES["write unit"]
        return function + data + PRICES["request to the API"]


@dataclass(frozen=True, kw_only=True)
class Month:
    """A month of a deployment, in what is paid for."""

    requests: float = 0
    request_ms: float = 60
    writes: float = 0
    reads: float = 0
    rows_gb: float = 0
    media_gb: float = 0
    video_hours: float = 0
    sent_gb: float = 0

    def bill(self) -> dict[str, float]:
        """Dollars by part."""
        price = PRICES
        # a video's hour is 60 pieces
        encoding = self.video_hours * 60 * (PIECE_SECONDS * PIECE_GB * price["GB-second"] + price["invocation"])
        api = self.requests * (price["request to the API"] + price["invocation"])
        api += self.requests * self.request_ms / 1000 * API_GB * price["GB-second"]
        rows = self.rows_gb * (price["GB-month in DynamoDB"] + price["GB-month of recovery"])
        return {
            "API": api,
            "DynamoDB": self.writes * price["write unit"] + self.reads * price["read unit"] + rows,
            "S3": self.media_gb * price["GB-month in S3"],
            "video": encoding,
            "traffic": self.sent_gb * price["GB sent out"],
            "standing": standing(),
        }


EXAMPLES = {
    "idle month": Month(),
    # 22 days of 6 hours, a box every 10 s and 4 requests for each; half of it looked at again
    "10 annotators": Month(
        requests=1.9e6, writes=475_000 * 4.2, reads=1.9e6 * 4, rows_gb=1.0, media_gb=500, video_hours=40, sent_gb=300
    ),
    # 2 GB an hour in, as much again in renditions; half of it watched once
    "1,000 hours of video": Month(
        requests=300_000, writes=400_000, reads=1.2e6, rows_gb=0.2, media_gb=4000, video_hours=1000, sent_gb=1000
    ),
}


def measure(world: Any) -> list[Use]:
    """Count what operations use, each in a project with little in it: units grow with what is asked for alone."""
    api, things = world.owner, world.things
    project, box = things["project"], {"media_id": things["media"], "type": things["localization_type"], "frame": 0}
    one = f"Localization/{things['localization']}"
    operations: dict[str, Callable[[], Any]] = {
        "CreateLocalizationList, 1": lambda: api.post(f"Localizations/{project}", [box]),
        "CreateLocalizationList, 500": lambda: api.post(f"Localizations/{project}", [box] * 500),
        "UpdateLocalization": lambda: api.patch(one, {"frame": 1}),
        "GetLocalization": lambda: api.get(one),
        "GetLocalizationList, 100": lambda: api.get(f"Localizations/{project}", stop=100),
        "GetLocalizationCount": lambda: api.get(f"LocalizationCount/{project}"),
        "CreateMediaList, 1": lambda: api.post(
            f"Medias/{project}", {"type": things["media_type"], "name": "a.mp4", "md5": ""}
        ),
        "GetMedia": lambda: api.get(f"Media/{things['media']}"),
        "GetUploadInfo": lambda: api.get(f"UploadInfo/{project}"),
        "CreateSection": lambda: api.post(f"Sections/{project}", {"name": f"s{next(_numbers)}"}),
    }
    found = []
    for name, ask in operations.items():
        ask()
        with metering() as meter:
            for _ in range(TIMES):
                said = ask()
                if said.status >= 400:
                    raise AssertionError((name, said.body[:300]))
        total = meter.total
        found.append(Use(name=name, reads=total.read / TIMES, writes=total.write / TIMES, calls=total.calls / TIMES))
    return found


TIMES = 5
_numbers = iter(range(10_000))


def operations_table(uses: list[Use]) -> list[str]:
    """The rows of what operations use and cost."""
    return [
        f"| {use.name} | {use.calls:.1f} | {use.reads:.1f} | {use.writes:.1f} | {use.dollars() * 1000:.4f} |"
        for use in uses
    ]


def months_table() -> list[str]:
    """The rows of what a month costs, its head first."""
    rows = [f"| | {' | '.join(Month().bill())} | total |"]
    for name, month in EXAMPLES.items():
        bill = month.bill()
        rows.append(f"| {name} | {' | '.join(f'{part:.2f}' for part in bill.values())} | {sum(bill.values()):.2f} |")
    return rows


def main() -> None:
    """Print the tables of docs/costs.md."""
    from tests.contract.world import build

    head, *rows = months_table()
    print("| operation | calls | read units | write units | $ per 1,000 |\n|---|---|---|---|---|")
    print("\n".join(operations_table(measure(build()))))
    print(f"\n{head}\n{'|---' * (head.count('|') - 1)}|")
    print("\n".join(rows))


if __name__ == "__main__":
    import tests.bench.offline
    import tests.service  # noqa: F401 starts AWS in this process

    main()
