"""Tiny ONNX files, each of the signature of a kind of model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
SIDE = 64


def save(path: Path, nodes, inputs, outputs, constants=()) -> Path:
    """A file of nodes; inputs and outputs are names with shapes, constants names with arrays."""
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs],
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


def constant(path: Path, rows) -> Path:
    """A model that answers the same to each picture: the sum of its pixels, times nothing, and rows."""
    rows = np.float32(rows)
    nodes = [
        helper.make_node("ReduceSum", ["images"], ["sum"], keepdims=0),
        helper.make_node("Mul", ["sum", "zero"], ["nothing"]),
        helper.make_node("Add", ["rows", "nothing"], ["output"]),
    ]
    return save(
        path, nodes, [("images", [1, 3, SIDE, SIDE])], [("output", rows.shape)],
        [("zero", np.float32(0)), ("rows", rows)],
    )  # fmt: skip


def yolo8(path: Path, rows) -> Path:
    """Rows of (x, y, width, height, score of each class), in pixels of the input, as columns."""
    return constant(path, np.float32([rows]).transpose(0, 2, 1))


def averages(path: Path, batch="n") -> Path:
    """The mean of each colour: an embedder, or a classifier of the most common colour."""
    node = helper.make_node("ReduceMean", ["images"], ["output"], axes=[2, 3], keepdims=0)
    return save(path, [node], [("images", [batch, 3, SIDE, SIDE])], [("output", [batch, 3])])


def interactor(folder: Path) -> Path:
    """An encoder and a decoder of the signature of Segment Anything: the mask is what is brighter than the middle."""
    node = helper.make_node("ReduceMean", ["image"], ["image_embeddings"], axes=[1], keepdims=1)
    shape = [1, 1, SIDE, SIDE]
    save(folder / "encoder.onnx", [node], [("image", [1, 3, SIDE, SIDE])], [("image_embeddings", shape)])
    nodes = [
        helper.make_node("Sub", ["image_embeddings", "middle"], ["plain"]),
        # the sum of positive labels turns the mask over where there are none
        helper.make_node("Relu", ["point_labels"], ["positive"]),
        helper.make_node("ReduceSum", ["positive"], ["count"], keepdims=0),
        helper.make_node("Sub", ["count", "half"], ["sign"]),
        helper.make_node("Mul", ["plain", "sign"], ["first"]),
        helper.make_node("ReduceSum", ["point_coords"], ["coordinates"], keepdims=0),
        helper.make_node("ReduceSum", ["mask_input"], ["before"], keepdims=0),
        helper.make_node("ReduceSum", ["has_mask_input"], ["has"], keepdims=0),
        helper.make_node("ReduceSum", ["orig_im_size"], ["size"], keepdims=0),
        helper.make_node("Sum", ["coordinates", "before", "has", "size"], ["unused"]),
        helper.make_node("Mul", ["unused", "zero"], ["nothing"]),
        helper.make_node("Add", ["first", "nothing"], ["one"]),
        helper.make_node("Neg", ["one"], ["other"]),
        helper.make_node("Concat", ["other", "one"], ["masks"], axis=1),
        helper.make_node("Add", ["quality", "nothing"], ["iou_predictions"]),
    ]
    prompts = [
        ("image_embeddings", shape), ("point_coords", [1, "n", 2]), ("point_labels", [1, "n"]),
        ("mask_input", [1, 1, 256, 256]), ("has_mask_input", [1]), ("orig_im_size", [2]),
    ]  # fmt: skip
    constants = [
        ("middle", np.float32(0.0)), ("half", np.float32(0.5)), ("zero", np.float32(0.0)),
        ("quality", np.float32([[0.2, 0.75]])),
    ]  # fmt: skip
    return save(
        folder / "decoder.onnx", nodes, prompts,
        [("masks", [1, 2, SIDE, SIDE]), ("iou_predictions", [1, 2])], constants,
    )  # fmt: skip
