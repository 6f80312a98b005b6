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


def answers(path: Path, inputs, outputs) -> Path:
    """A model that takes inputs (a name, a shape, and a type other than FLOAT) and answers always the same arrays."""
    nodes, constants, sums = [], [("zero", np.float32(0))], []
    for name, *_ in inputs:
        nodes.append(helper.make_node("Cast", [name], [f"{name} as float"], to=FLOAT))
        nodes.append(helper.make_node("ReduceSum", [f"{name} as float"], [f"sum of {name}"], keepdims=0))
        sums.append(f"sum of {name}")
    nodes += [helper.make_node("Sum", sums, ["sum"]), helper.make_node("Mul", ["sum", "zero"], ["nothing"])]
    for name, value in outputs.items():
        constants.append((f"{name} of all", np.float32(value)))
        nodes.append(helper.make_node("Add", [f"{name} of all", "nothing"], [f"{name} as float"]))
        nodes.append(
            helper.make_node("Cast", [f"{name} as float"], [name], to=helper.np_dtype_to_tensor_dtype(value.dtype))
        )
    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            helper.make_tensor_value_info(name, getattr(TensorProto, kind[0] if kind else "FLOAT"), shape)
            for name, shape, *kind in inputs
        ],
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            for name, value in outputs.items()
        ],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


def constant(path: Path, rows) -> Path:
    """A model that answers the same rows to each picture."""
    return answers(path, [("images", [1, 3, SIDE, SIDE])], {"output": np.float32(rows)})


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
