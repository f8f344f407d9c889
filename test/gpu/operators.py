#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators by name on tensors of PyTorch: they run on the tensors' device and are held against PyTorch
in float64. Results that are made, given, and queued on a stream of PyTorch's; gradients; refusals."""

from torch_tensors import DEVICE, torch  # ends with 77 where there is no PyTorch
from called_operator import Operator
from interface import Stream, expect, expect_code, expect_equal, main


def expect_near(ours, exact, what):
    """`exact` is of float64; what a few roundings of a result and of its inputs may be."""
    unit = torch.finfo(ours.dtype).eps
    error = (ours.double() - exact).abs()
    allowed = 8 * unit * exact.abs().clamp_min(exact.abs().mean().item())
    expect_equal((tuple(ours.shape), ours.device.type), (tuple(exact.shape), "cuda"),
                 f"shape and device of {what}")
    expect(bool((error <= allowed).all()),
           f"{what}: {(error > allowed).sum().item()} of {error.numel()} differ, at most by "
           f"{(error / allowed).max().item():.3g} times what is allowed")


FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def check_results_are_made_on_the_device():
    softmax = Operator("softmax")
    for dtype in FLOATS:
        for rows, columns in ((1, 1), (37, 1000), (513, 4096), (3, 20000)):
            x = torch.randn(rows, columns, device="cuda").to(dtype)
            torch.cuda.synchronize()
            out, = softmax(x)
            expect_equal(out.dtype, dtype, "type")
            expect_near(out, torch.softmax(x.double(), -1), f"softmax of {rows} x {columns} {dtype}")


def check_numbers_may_be_left_out_or_given():
    norm = Operator("layer_norm")
    x, w, b = (torch.randn(*shape, device="cuda") for shape in ((64, 768), (768, ), (768, )))
    torch.cuda.synchronize()
    for eps in (None, 0.5):
        out, = norm(x, w, b, *([] if eps is None else [eps]))
        expect_near(out, torch.nn.functional.layer_norm(x.double(), (768, ), w.double(), b.double(),
                                                        eps or 1e-5), f"layer norm with eps {eps}")


def check_given_results_and_gaps_between_rows():
    softmax = Operator("softmax")
    whole = torch.randn(64, 1200, device="cuda")
    target = torch.full((64, 1200), 7.0, device="cuda")
    torch.cuda.synchronize()
    softmax(whole[:, :1000], into=[target[:, :1000]])
    expect_near(target[:, :1000], torch.softmax(whole[:, :1000].double(), -1), "rows with gaps")
    expect(bool((target[:, 1000:] == 7).all()), "what lies between the rows was written")


def check_other_strides_are_copied_first():
    x = torch.randn(300, 200, device="cuda")
    torch.cuda.synchronize()
    expect_near(Operator("softmax")(x.t())[0], torch.softmax(x.t().double(), -1), "columns of a matrix")


def check_a_stream_of_torch_keeps_the_order():
    softmax, stream = Operator("softmax"), torch.cuda.Stream()
    wrapped = Stream.of_another(DEVICE, stream.cuda_stream)
    kept = []
    with torch.cuda.stream(stream):
        for turn in range(20):
            x = torch.randn(4096, 1024, device="cuda").sin() + turn
            out = torch.full_like(x, float("nan"))
            softmax(x, into=[out], stream=wrapped)
            kept.append((out * 2, x))
    stream.synchronize()
    for out, x in kept:
        expect_near(out, 2 * torch.softmax(x.double(), -1), "on a stream")


def check_a_captured_graph_plays_the_operator_again():
    softmax, stream = Operator("softmax"), torch.cuda.Stream()
    wrapped = Stream.of_another(DEVICE, stream.cuda_stream)
    x = torch.randn(256, 512, device="cuda")
    out = torch.empty_like(x)
    torch.cuda.synchronize()
    softmax(x, into=[out], stream=wrapped)  # compiles
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        softmax(x, into=[out], stream=wrapped)
    for _ in range(3):
        x.normal_()
        graph.replay()
        torch.cuda.synchronize()
        expect_near(out, torch.softmax(x.double(), -1), "a graph")


def check_gradients_agree_with_those_of_torch():
    softmax = Operator("softmax")
    x = torch.randn(128, 777, device="cuda")
    grad = torch.randn(128, 777, device="cuda")
    torch.cuda.synchronize()
    out, = softmax(x)
    exact = x.double().requires_grad_()
    torch.softmax(exact, -1).backward(grad.double())
    ours, = softmax.backward("x")(grad, x, out)
    expect(bool(((ours.double() - exact.grad).abs() <= 1e-6).all()), "the gradient differs from PyTorch's")


ATTENTION = """
[operator]
name = "attention"
summary = "Shares of values by the likeness of queries and keys."
dtypes = ["float32", "float16"]
body = "out = torch.softmax(q @ k.mT * 0.125, dim=-1) @ v"
[inputs.q]
shape = ["B", "L", "D"]
[inputs.k]
shape = ["B", "S", "D"]
[inputs.v]
shape = ["B", "S", "D"]
[outputs.out]
shape = ["B", "L", "D"]
[performance]
cases = [{ B = 2, L = 64, S = 64, D = 64 }]
"""


def check_several_kernels_share_memory_of_the_call():
    attention, stream = Operator.of_text(ATTENTION), torch.cuda.Stream()
    wrapped = Stream.of_another(DEVICE, stream.cuda_stream)
    for dtype, allowed in ((torch.float32, 1e-5), (torch.float16, 4e-3)):
        with torch.cuda.stream(stream):
            q, k, v = (torch.randn(3, length, 64, device="cuda").to(dtype) for length in (100, 77, 77))
            out = torch.full_like(q, float("nan"))
            for _ in range(3):
                attention(q, k, v, into=[out], stream=wrapped)
        stream.synchronize()
        exact = torch.softmax(q.double() @ k.double().mT * 0.125, -1) @ v.double()
        error = (out.double() - exact).abs().max().item()
        expect(error <= allowed, f"attention in {dtype} is {error:.3g} off, {allowed} is allowed")


def check_products_agree_with_those_of_torch():
    linear = Operator("linear")
    for rows, inner, columns in ((1, 1, 1), (65, 130, 257), (512, 768, 384)):
        x, w, b = (torch.randn(*shape, device="cuda") for shape in ((rows, inner), (columns, inner), (columns, )))
        torch.cuda.synchronize()
        out, = linear(x, w, b)
        exact = torch.nn.functional.linear(x.double(), w.double(), b.double())
        room = 4e-7 * inner * (x.double().abs() @ w.double().abs().mT + b.double().abs())
        expect(bool(((out.double() - exact).abs() <= room).all()), f"linear of {rows} x {inner} x {columns} differs")


def check_tensors_of_the_host_and_the_device_do_not_mix():
    add = Operator("broadcast_add")
    x, bias = torch.randn(8, 16, device="cuda"), torch.randn(16)
    torch.cuda.synchronize()
    return expect_code("E0416", lambda: add(x, bias))


def check_a_type_that_is_not_listed_is_refused():
    x = torch.ones(8, 16, device="cuda", dtype=torch.int32)
    torch.cuda.synchronize()
    return expect_code("E0606", lambda: Operator("softmax")(x))


if __name__ == "__main__":
    main(globals())
