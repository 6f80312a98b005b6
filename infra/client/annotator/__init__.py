"""`limn annotator`: models of ONNX files, and classic methods of OpenCV, served by the conventions of annotators.

    pictures.py      JPEGs to arrays and back, masks to run lengths
    conventions.py   what Limn, Label Studio and CVAT ask, and what they are answered
    onnx_models.py   detectors, classifiers, embedders and interactors of ONNX files
    classic.py       GrabCut, tracking and motion, which need no weights
    server.py        HTTP
    command.py       the commands

Installed with `pip install '.[annotators]'`.
"""
