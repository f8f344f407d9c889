# SPDX-License-Identifier: Apache-2.0
# onnx_model.py KIND…: writes small ONNX models, KIND.onnx each, byte by byte in protobuf's form, so that
# the tests need no package and hold no binary file.
import struct
import sys


def number(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(key, value):
    """A number, or bytes with their length."""
    if isinstance(value, int):
        return number(key << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(key << 3 | 2) + number(len(value)) + value


def value(name, shape, kind=1):
    dims = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, dims)))


def node(op, inputs, outputs, name="", **attributes):
    text = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs)
    text += field(3, name) + field(4, op)
    for key, given in attributes.items():
        entry = field(1, key)
        if isinstance(given, float):
            entry += number(2 << 3 | 5) + struct.pack("<f", given) + field(20, 1)
        elif isinstance(given, int):
            entry += field(3, given) + field(20, 2)
        elif isinstance(given, bytes):  # a graph
            entry += field(6, given) + field(20, 5)
        else:
            entry += b"".join(field(8, i) for i in given) + field(20, 7)
        text += field(5, entry)
    return text


def tensor(name, dims, elements):
    return (b"".join(field(1, d) for d in dims) + field(2, 1) + field(8, name)
            + field(9, struct.pack(f"<{len(elements)}f", *elements)))


def model(nodes, inputs, outputs, tensors=(), opset=17):
    graph = b"".join(field(1, n) for n in nodes) + field(2, "graph")
    graph += b"".join(field(5, t) for t in tensors)
    graph += b"".join(field(11, i) for i in inputs) + b"".join(field(12, o) for o in outputs)
    return field(1, 8) + field(2, "nereid's tests") + field(7, graph) + field(8, field(2, opset))


def mlp(opset=17, last="Softmax"):
    nodes = [node("MatMul", ["x", "w"], ["product"], "project"),
             node("Add", ["product", "b"], ["/up/sum"], "bias"),
             node("Mul", ["/up/sum", "scale"], ["scaled"], "scaling"),
             node("Elu", ["scaled"], ["active"], "activation", alpha=2.0),
             node(last, ["active"], ["y"], "rows", axis=-1)]
    return model(nodes, [value("x", ["batch", 64]), value("w", [64, 128]), value("b", [128])],
                 [value("y", ["batch", 128])], [tensor("scale", [], [0.5])], opset)


kinds = {
    "mlp": lambda: mlp(),
    "opset": lambda: mlp(opset=99),
    "operator": lambda: mlp(last="Sofmax"),
    "cut": lambda: mlp()[:-200],
    "cycle": lambda: model([node("Add", ["x", "b"], ["a"], "first"), node("Relu", ["a"], ["b"], "second")],
                           [value("x", [4])], [value("b", [4])]),
    "if": lambda: model([node("If", ["x"], ["y"], "choice", then_branch=b"\n\0")], [value("x", [1], 9)],
                        [value("y", [1])]),
    "shapes": lambda: model([node("MatMul", ["x", "x"], ["y"], "square")], [value("x", [4, 5])],
                            [value("y", [4, 5])]),
    "pool": lambda: model([node("MaxPool", ["x"], ["y"], "pool", kernel_shape=[2, 2])],
                          [value("x", [1, 3, 8, 8])], [value("y", [1, 3, 7, 7])]),
    "attention": lambda: model([node("Attention", ["q", "k", "v"], ["y"], "heads", q_num_heads=4, kv_num_heads=2,
                                     is_causal=1)],
                               [value("q", ["batch", "rows", 32]), value("k", ["batch", "rows", 16]),
                                value("v", ["batch", "rows", 16])], [value("y", ["batch", "rows", 32])], opset=24),
    "masked": lambda: model([node("Attention", ["q", "k", "v", "mask"], ["y"], "heads")],
                            [value("q", ["batch", 4, "rows", 16]), value("k", ["batch", 2, "keys", 16]),
                             value("v", ["batch", 2, "keys", 16]), value("mask", ["rows", "keys"], 9)],
                            [value("y", ["batch", 4, "rows", 16])], opset=24),
    "scores": lambda: model([node("Transpose", ["k"], ["kt"], "turn", perm=[0, 1, 3, 2]),
                             node("MatMul", ["q", "kt"], ["s"], "scores"), node("Div", ["s", "four"], ["t"], "scale"),
                             node("Add", ["t", "mask"], ["u"], "masking"),
                             node("Softmax", ["u"], ["p"], "shares", axis=-1),
                             node("MatMul", ["p", "v"], ["y"], "values")],
                            [value("q", ["batch", 4, "rows", 16]), value("k", ["batch", 4, "rows", 16]),
                             value("v", ["batch", 4, "rows", 16]), value("mask", ["batch", 1, 1, "rows"])],
                            [value("y", ["batch", 4, "rows", 16])], [tensor("four", [], [4])]),
    "nonzero": lambda: model([node("NonZero", ["x"], ["y"], "places")],
                             [value("x", [4, 8])], [value("y", [2, 5], 7)]),
}
for kind in sys.argv[1:]:
    with open(f"{kind}.onnx", "wb") as file:
        file.write(kinds[kind]())
