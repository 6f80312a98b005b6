"""The codes of a column's vectors in memory, and the estimates of their distances from a center.

A code takes a byte a number where the vector takes four (`query/vector_codes.py`), and bounds every distance: the
distance of a vector differs from that of its code by at most the length of the rounding error (times that of the
center, for inner products). So the vectors that can be among the nearest are known without reading a vector, and only
theirs are read. `vectors.py` does that.

    codes.add(rows)                    ids and codes, as they are stored
    codes.drop(ids)                    vectors that changed since
    codes.estimate(nearest)            Estimates: a key for each vector, in the order of the list

Codes of one length and scale lie together, in blocks, so that simsimd compares a block at once. Sums of absolute
differences, which simsimd lacks, are those of pictures with a row of pixels for each code.
"""

from __future__ import annotations

import heapq
import math
import sys
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from chalicelib.query.tree import Nearest
from chalicelib.query.vector_codes import HEAD, rounded_to, scale, split

BLOCK = 16_384
"""Most codes of a block."""
_BESIDE = 40
"""Bytes of a code in memory beside its own."""
_ROUNDING = 1e-6
"""The relative error of 32 bit sums of products: exact distances are off that much."""
_UNSIGNED = bytes((each + 128) % 256 for each in range(256))
"""From signed bytes to unsigned ones in the same order."""


class Block:
    """Codes of one length and scale."""

    def __init__(self, step: int, width: int) -> None:
        self.scale = scale(step)
        self.width = width
        """Bytes of a code with its head."""
        self.numbers = array("q")
        """The ids."""
        self.squares, self.errors, self.lengths = array("d"), array("d"), array("d")
        """Squared lengths of the rounded vectors, lengths of the rounding errors and of the vectors."""
        self.inverses = array("d")
        """One divided by the lengths; 0 for the vectors of length 0."""
        self.zeros: list[int] = []
        """The rows of vectors of length 0."""
        self.largest_error = self.largest_length = self.largest_ratio = 0.0
        """The largest of these, and of an error divided by its vector's length."""
        self.codes = bytearray()

    def extend(self, numbers: list[int], codes: list[bytes]) -> None:
        """Add codes."""
        data = b"".join(codes)
        heads = [*HEAD.iter_unpack(b"".join([each[: HEAD.size] for each in codes]))]
        size = self.scale * self.scale
        self.numbers.extend(numbers)
        self.squares.extend([size * squares for _, squares, _, _ in heads])
        self.errors.extend([error for *_, error, _ in heads])
        lengths = [length for *_, length in heads]
        self.zeros += [row for row, length in enumerate(lengths, len(self.lengths)) if not length]
        self.lengths.extend(lengths)
        self.inverses.extend([1 / length if length else 0.0 for length in lengths])
        self.largest_error, self.largest_length = max(self.errors), max(self.lengths)
        ratios = (error / length for *_, error, length in heads if length)
        self.largest_ratio = max(self.largest_ratio, max(ratios, default=0.0))
        self.codes += data

    def products(self, center: bytes) -> Any:
        """The inner product of each code with a vector of bytes."""
        import simsimd  # noqa: PLC0415 only queries by distance need it

        # The head of a code is multiplied by zeros.
        one = memoryview(bytes(HEAD.size) + center).cast("b", shape=[1, self.width])
        rows = memoryview(self.codes).cast("b", shape=[len(self.numbers), self.width])
        found: Any = simsimd.cdist(one, rows, "inner")
        return memoryview(found).cast("B").cast("d")

    def differences(self, center: bytes) -> array[float]:
        """The sum of absolute differences of each code to a vector of bytes."""
        from PIL import Image, ImageChops  # noqa: PLC0415 only queries by this distance need it

        shape = (self.width, len(self.numbers))
        rows = Image.frombytes("L", shape, self.codes.translate(_UNSIGNED))
        line = Image.frombytes("L", (self.width, 1), (bytes(HEAD.size) + center).translate(_UNSIGNED))
        apart = ImageChops.difference(rows, line.resize(shape, Image.Resampling.NEAREST))
        apart = apart.crop((HEAD.size, 0, *shape))
        width = self.width - HEAD.size
        means = apart.convert("F").reduce((width, 1))
        return array("d", [each * width for each in memoryview(means.tobytes()).cast("f")])


class Codes:
    """The codes of a column, by the lengths of their vectors."""

    def __init__(self) -> None:
        self.blocks: dict[int, list[Block]] = {}
        """By length of the vectors."""
        self._open: dict[tuple[int, bytes], Block] = {}
        self._gone: set[int] = set()
        """The ids of dropped codes."""

    @property
    def memory(self) -> int:
        """The approximate memory of the codes in bytes."""
        blocks = [block for some in list(self.blocks.values()) for block in list(some)]
        return sum(block.codes.__alloc__() + _BESIDE * len(block.numbers) for block in blocks)

    def __len__(self) -> int:
        """The number of codes, including dropped ones."""
        return sum(len(block.numbers) for some in self.blocks.values() for block in some)

    def add(self, rows: Sequence[tuple[int, bytes]]) -> list[int]:
        """Add codes by ids; returns the ids whose vector has none."""
        groups: dict[tuple[int, bytes], tuple[list[int], list[bytes]]] = {}
        for number, code in rows:
            numbers, codes = groups.setdefault((len(code), code[:2]), ([], []))
            numbers.append(number)
            codes.append(code)
        without = []
        for (width, step), (numbers, codes) in groups.items():
            if width <= HEAD.size:
                without += numbers
                continue
            for start in range(0, len(numbers), BLOCK):
                self._block(width, step).extend(numbers[start : start + BLOCK], codes[start : start + BLOCK])
        return without

    def _block(self, width: int, step: bytes) -> Block:
        block = self._open.get((width, step))
        if block is None or len(block.numbers) >= BLOCK:
            block = self._open[width, step] = Block(int.from_bytes(step, "little", signed=True), width)
            self.blocks.setdefault(width - HEAD.size, []).append(block)
        return block

    def drop(self, numbers: Collection[int]) -> None:
        """Ignore the codes of ids from now on."""
        self._gone.update(numbers)

    def estimate(self, nearest: Nearest, more: Iterable[Codes] = ()) -> Estimates:
        """Estimates of the distances of all vectors of the center's length from it.

        Args:
            nearest: the center and the distance.
            more: further codes, each measured and then dropped before the next.
        """
        center = tuple(array("f", nearest.center))
        found = Estimates(nearest, center, self._gone)
        for block in self.blocks.get(len(center), []):
            found.measure(block)
        for codes in more:
            for block in codes.blocks.get(len(center), []):
                found.measure(block)
                block.codes = bytearray()
        return found


class Estimates:
    """Where the vectors of a column come in a list in the order of their distances from a center, within bounds.

    A rank is a distance, or its negative where the farthest come first. A key is a rank, or its square with its sign,
    which takes no root: keys have the order of ranks.
    """

    def __init__(self, nearest: Nearest, center: tuple[float, ...], gone: set[int]) -> None:
        self._metric = nearest.metric
        self._sign = -1.0 if nearest.descending else 1.0
        self._length = math.hypot(*center)
        self._blocks: list[Block] = []
        self._keys: list[array[float]] = []
        self._gone = gone
        self._center = center
        self._coarse, self._fine, self._rest = split(center)
        self._square = math.fsum(each * each for each in _sum(self._coarse, self._fine))
        self._rounded: dict[float, tuple[bytes, float]] = {}
        """By scale: the center as bytes, and the sum of what rounding took."""

    def __len__(self) -> int:
        """The number of vectors, including dropped ones."""
        return sum(map(len, self._keys))

    def measure(self, block: Block) -> None:
        """Add the vectors of a block."""
        if block.scale not in self._rounded:
            self._rounded[block.scale] = rounded_to(self._center, block.scale)
        self._blocks.append(block)
        self._keys.append(self._measure(block))

    def reach(self, most: int, lowest: float) -> float | None:
        """A rank that at least `most` vectors do not exceed, of ranks from `lowest` on; None if there are fewer."""
        wanted = most + 16
        while True:
            found = self._first(wanted, self._to_key(lowest))
            ranks = sorted(upper for _, lower, upper in self._rows(found) if lower >= lowest)
            if len(ranks) >= most:
                return ranks[most - 1]
            if len(found) < wanted:
                return None
            wanted *= 4

    def candidates(self, lowest: float, highest: float) -> Iterator[tuple[int, float, float]]:
        """The vectors whose rank can be between two: id, lowest and highest rank."""
        for place, (block, keys) in enumerate(zip(self._blocks, self._keys, strict=True)):
            margin = self._largest_margin(block)
            low, high = self._to_key(lowest - margin), self._to_key(highest + margin)
            if low == -math.inf:
                found = [row for row, key in enumerate(keys) if key <= high]
            else:
                found = [row for row, key in enumerate(keys) if low <= key <= high]
            for number, lower, upper in self._rows([(keys[row], place, row) for row in found]):
                if lower <= highest and upper >= lowest:
                    yield number, lower, upper

    def ranks(self, numbers: Collection[int]) -> Iterator[tuple[int, float, float]]:
        """The lowest and the highest rank of some vectors, each with its id."""
        wanted = set(numbers)
        for place, (block, keys) in enumerate(zip(self._blocks, self._keys, strict=True)):
            yield from self._rows(
                [(keys[row], place, row) for row, number in enumerate(block.numbers) if number in wanted]
            )

    def _first(self, most: int, bottom: float) -> list[tuple[float, int, int]]:
        """The first keys from one on, with the places of their vectors."""
        found: list[tuple[float, int, int]] = []
        top = sys.float_info.max
        for place, keys in enumerate(self._keys):
            found += [(key, place, row) for row, key in enumerate(keys) if bottom <= key <= top]
            if len(found) > most:
                found = heapq.nsmallest(most, found)
                top = found[-1][0]
        return found

    def _rows(self, found: list[tuple[float, int, int]]) -> Iterator[tuple[int, float, float]]:
        for key, place, row in found:
            block = self._blocks[place]
            number = block.numbers[row]
            if number in self._gone or key == math.inf:
                continue
            rank = math.copysign(math.sqrt(abs(key)), key) if self._metric == "l2norm" else key
            margin = self._margin(block, block.errors[row], block.lengths[row])
            yield number, rank - margin, rank + margin

    def _to_key(self, rank: float) -> float:
        return rank * abs(rank) if self._metric == "l2norm" else rank

    def _largest_margin(self, block: Block) -> float:
        if self._metric == "cosine":
            return self._margin(block, block.largest_ratio, 1.0)
        return self._margin(block, block.largest_error, block.largest_length)

    def _margin(self, block: Block, error: float, length: float) -> float:
        """The most by which a distance can differ from its estimate.

        Args:
            block: that of the code.
            error: the length of the code's rounding error.
            length: that of the vector.
        """
        match self._metric:
            case "l2norm":
                return error + self._rest + _ROUNDING * (length + self._length)
            case "l1norm":
                # A sum of absolute numbers is at most the length times the root of how many they are.
                root = math.sqrt(len(self._center))
                return root * (error + _ROUNDING * (length + self._length)) + self._rounded[block.scale][1]
            case "ip":
                return self._length * error + self._rest * (length + error) + _ROUNDING * length * self._length
        if not length or not self._length:
            return 0.0
        return error / length + self._rest / self._length * (1 + error / length) + _ROUNDING

    def _measure(self, block: Block) -> array[float]:
        """The keys of a block's vectors; infinite for a vector without a distance."""
        sign = self._sign
        if self._metric == "l1norm":
            found = block.differences(self._rounded[block.scale][0])
            return array("d", [sign * block.scale * each for each in found])
        if self._metric == "cosine":
            return self._angles(block)
        factor = -sign if self._metric == "ip" else -2 * sign
        keys = self._products(block, factor)
        if self._metric == "l2norm":
            keys = _weighted_sum(keys, block.squares, 1.0, sign)
            keys = _weighted_sum(keys, array("d", [sign * self._square]) * len(block.numbers), 1.0, 1.0)
        return array("d", keys.tobytes())

    def _products(self, block: Block, factor: float) -> Any:
        """The inner products of the codes of a block with the center, times a factor."""
        (first, coarse), (second, fine) = self._coarse, self._fine
        size = factor * block.scale
        return _weighted_sum(block.products(coarse), block.products(fine), size * first, size * second)

    def _angles(self, block: Block) -> array[float]:
        """One minus the cosines."""
        import simsimd  # noqa: PLC0415 only queries by distance need it

        if not self._length:
            return array("d", [math.inf]) * len(block.numbers)
        ones = array("d", [self._sign]) * len(block.numbers)
        cosines = self._products(block, -self._sign / self._length)
        found: Any = simsimd.fma(cosines, block.inverses, ones)
        keys = array("d", memoryview(found).cast("B").tobytes())
        for row in block.zeros:
            keys[row] = math.inf
        return keys


def _weighted_sum(first: Any, second: Any, alpha: float, beta: float) -> Any:
    """The sum of two vectors, each times a number, as a memoryview.

    Not by `out` of simsimd: each call with it drops a reference to None that it does not have, of which there is an end
    before Python 3.12.
    """
    import simsimd  # noqa: PLC0415 only queries by distance need it

    found: Any = simsimd.wsum(first, second, alpha=alpha, beta=beta)
    return memoryview(found).cast("B").cast("d")


def _sum(first: tuple[float, bytes], second: tuple[float, bytes]) -> list[float]:
    """The sum of two scaled vectors of bytes."""
    pairs = zip(memoryview(first[1]).cast("b"), memoryview(second[1]).cast("b"), strict=True)
    return [first[0] * one + second[0] * other for one, other in pairs]
