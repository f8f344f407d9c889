def shapes_text(inputs):
    """"Shape: (3, 17), bias shape: (17,)"; of a call without tensors "N = 65"."""
    tensors = [(name, each) for name, each in zip(ARGUMENTS, inputs) if isinstance(each, torch.Tensor)]
    if not tensors:
        return ", ".join(f"{name} = {each}" for name, each in zip(ARGUMENTS, inputs)) or "No arguments"
    text = [f"{name} shape: {tuple(each.shape)}" for name, each in tensors]
    return ", ".join([f"Shape: {tuple(tensors[0][1].shape)}", *text[1:]])


def in_full_precision():
    """PyTorch's products take less than the operator's type on GPUs, unless they are told."""
    torch.backends.cudnn.allow_tf32 = False
    products = torch.backends.cuda.matmul
    products.allow_tf32 = False
    products.allow_fp16_reduced_precision_reduction = False
    products.allow_bf16_reduced_precision_reduction = False


def run(kernel=kernel, baseline=baseline, device=DEVICE, seed=0, tell=print, is_verbose=False):
    """Every case, type and kind of data: a row for each. `kernel` and `baseline` may be others that
    are called alike."""
    in_full_precision()
    rows = []
    for number, (name, sizes) in enumerate(CASES):
        for dtype in TYPES:
            lines, wrong, told, all_kinds = [], "", "", Verdict()
            for place, kind in enumerate(KINDS):
                drawn = seed + 1000 * number + place
                for side, function in (("kernel", kernel), ("baseline", baseline)):
                    inputs = make_inputs(Data(kind, drawn, device), dtype, **sizes)
                    try:
                        verdict = judged_call(function, inputs, dtype, kind, side == "baseline")
                    except Exception as problem:  # whatever a wrong file raises
                        verdict = Verdict()
                        verdict.refuse(f"{type(problem).__name__}: {problem}")
                    if verdict.wrong:
                        wrong = wrong or f"{side}, {kind}: {verdict.text()}"
                    if verdict.told:
                        told = told or f"; {side}, {kind}: {verdict.told}"
                    if side == "kernel":
                        all_kinds.add_diffs(verdict)
                    lines.append(f"  {side}, {kind}: {verdict.text()}")
                    rows.append(
                        {
                            "case": name,
                            "dtype": str(dtype)[len("torch.") :],
                            "kind": kind,
                            "side": side,
                            "elements": verdict.elements,
                            "wrong": verdict.wrong,
                            "unverifiable": verdict.open,
                            "max_diff": verdict.max_diff,
                            "mean_diff": verdict.mean_diff(),
                            "share_of_bound": verdict.worst,
                            "first": verdict.first,
                            "told": verdict.told,
                        }
                    )
            tell(f"{shapes_text(inputs)}, {str(dtype)[len('torch.'):]}: {name}")
            for line in lines if is_verbose else ():
                tell(line)
            tell(f"✗ Test FAILED: {wrong}" if wrong else f"✓ Test passed: {all_kinds.diffs()}{told}")
    return rows


def missing_device():
    """Why nothing can be run here; None where it can."""
    if DEVICE == "cuda" and not torch.cuda.is_available():
        return "a GPU that PyTorch can use, but there is none here"
    return None


def main():
    parser = argparse.ArgumentParser(description=f"Checks {OPERATOR} against its definition.")
    parser.add_argument("--verbose", action="store_true", help="a line for each kind of data")
    parser.add_argument("--seed", type=int, default=0, help="of the data; default 0")
    parser.add_argument("--json", metavar="FILE", help="write every result")
    options = parser.parse_args()
    sys.stdout.reconfigure(errors="replace")
    if missing := missing_device():
        print(f"{OPERATOR}_accuracy.py needs {missing}", file=sys.stderr)
        return 2
    print(f"Testing {OPERATOR} Accuracy...")
    rows = run(seed=options.seed, is_verbose=options.verbose)
    failed = len([row for row in rows if row["wrong"]])
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"operator": OPERATOR, "seed": options.seed, "rows": rows}, file, indent=1)
    if failed:
        print(f"Accuracy test FAILED! {failed} of {len(rows)} checks are wrong")
        return 1
    told = len([row for row in rows if row["told"]])
    print(f"All accuracy tests passed! ({len(rows)} checks{f', {told} with a remark' if told else ''})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
