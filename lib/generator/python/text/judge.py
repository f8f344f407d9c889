class Verdict:
    """What came of comparing a call's results with the reference."""

    def __init__(self):
        self.elements = self.wrong = self.open = 0
        self.max_diff = self.worst = self.sum_of_diffs = 0.0
        self.finite = 0  # elements, on both sides
        self.first = self.told = ""  # what is wrong, and what is not but should be known

    def refuse(self, text):
        self.wrong += 1
        self.first = self.first or text

    def add(self, number, result, wanted, error, offset):
        """`offset`: rows of the result that came before."""
        self.elements += result.numel()
        if result.numel() == 0:
            return
        actual = result.to(torch.float64)
        if result.dtype.is_floating_point:
            limits = torch.finfo(result.dtype)
            # Those of 8 bits come from conversions, which the reference has rounded.
            unit = limits.eps / 2 if result.element_size() > 1 else 0.0
            error = torch.zeros_like(wanted) if error is None else error.expand_as(wanted)
            # Twice the first-order bound, and the rounding to the result's type.
            bound = 2 * error
            bound = bound + unit * (wanted.abs() + bound + limits.tiny)
            bound = torch.where(wanted.isfinite(), bound, 0.0)
            away = (actual - wanted).abs()
            is_right = (actual == wanted) | (actual.isnan() & wanted.isnan())
            is_right |= actual.isfinite() & wanted.isfinite() & (away <= bound)
            may_overflow = wanted.isfinite() & (wanted.abs() + bound > limits.max)
            is_right |= may_overflow & actual.isinf() & (actual.sign() == wanted.sign())
        else:
            wanted = wanted.to(result.dtype)
            away = (actual - wanted.to(torch.float64)).abs()
            error = torch.zeros_like(away) if error is None else error.expand_as(away)
            bound = error
            is_right = (result == wanted) | ((bound > 0) & (away <= bound))
        is_open = error.isinf()
        self.open += int(is_open.sum())
        is_wrong = ~is_right & ~is_open
        known = torch.where(is_open, 0.0, away).nan_to_num(0.0, 0.0)
        self.max_diff = max(self.max_diff, float(known.max()))
        is_finite = actual.isfinite() & wanted.isfinite() & ~is_open
        self.finite += int(is_finite.sum())
        self.sum_of_diffs += float(torch.where(is_finite, known, 0.0).sum())
        share = (known / bound).nan_to_num(0.0, 0.0)
        self.worst = max(self.worst, float(share.max()))
        count = int(is_wrong.sum())
        if count and not self.first:
            place = is_wrong.nonzero()[0].tolist()
            at = tuple(place)
            if place:
                place[0] += offset
            self.first = (
                f"element {tuple(place)} of result {number} expects {wanted[at].item():.9g} ± "
                f"{bound[at].item():.3g}, but got {result[at].item():.9g}"
            )
        self.wrong += count

    def add_diffs(self, other):
        self.max_diff = max(self.max_diff, other.max_diff)
        self.sum_of_diffs += other.sum_of_diffs
        self.finite += other.finite

    def mean_diff(self):
        return self.sum_of_diffs / max(self.finite, 1)

    def diffs(self):
        return f"max_diff = {self.max_diff:.2e}, mean_diff = {self.mean_diff():.2e}"

    def text(self):
        left = f", {self.open} of {self.elements} cannot be verified" if self.open else ""
        left += f"; {self.told}" if self.told else ""
        if not self.wrong:
            return f"{self.diffs()}, {self.worst:.2f} of the bound{left}"
        errors = f"; {self.diffs()}" if self.finite else ""
        return f"{self.first} ({self.wrong} of {self.elements} differ{errors}{left})"


def _as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


def _parts(inputs, results):
    """A call as calls of some leading rows each, where rows do not meet: (rows before, inputs,
    results). Leading dimensions become one."""
    tensors = [each for each in (*inputs, *results) if isinstance(each, torch.Tensor)]
    sizes = [each.numel() for each in tensors]
    if None in CUT_RESULTS or max(sizes) <= ELEMENTS_AT_A_TIME or 0 in sizes:
        yield 0, inputs, results
        return

    def flat(tensor, kept):
        return tensor.reshape(-1, *tensor.shape[tensor.dim() - kept :])

    first = flat(results[0], CUT_RESULTS[0])
    step = max(1, ELEMENTS_AT_A_TIME * first.shape[0] // max(sizes))

    def cut(tensors, places, at):
        return tuple(
            each if kept is None else flat(each, kept)[at : at + step] for each, kept in zip(tensors, places)
        )

    for at in range(0, first.shape[0], step):
        yield at, cut(inputs, CUT_INPUTS, at), cut(results, CUT_RESULTS, at)


@contextlib.contextmanager
def _in_float64():
    former = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(former)


def _wide(inputs):
    return tuple(
        each.to(torch.float64) if isinstance(each, torch.Tensor) and each.is_floating_point() else each
        for each in inputs
    )


def _bounded(inputs, device, steps):
    """What the kernel's operations make in float64, each value with how far it may be off."""
    steps.device = device
    with _in_float64():
        return _steps(steps, *inputs)


def _have_elements(stepped):
    return any(value is None or value.numel() > 0 for value, _ in stepped)


def _reference(inputs, stepped, is_each_rounded):
    """By PyTorch, which refuses some calls where there is nothing to compute: only shapes are left then."""
    try:
        with _in_float64():
            return _as_tuple((_definition if is_each_rounded else _exact_definition)(*_again(inputs)))
    except Exception as problem:  # whatever PyTorch raises
        if _have_elements(stepped):
            raise RuntimeError(f"PyTorch's own in float64: {type(problem).__name__}: {problem}") from problem
        return tuple(value for value, _ in stepped)


def _is_alike(a, b):
    """Both finite, or the same infinity, or both NaN."""
    return (a.isfinite() & b.isfinite()) | (a == b) | (a.isnan() & b.isnan())


class _OtherDevice:
    """PyTorch's own on a CPU. Where it and the one on the device are not even alike, as one copies
    what the other multiplies by 0, neither is right or wrong."""

    place = "cpu"

    def __init__(self, inputs, stepped, is_each_rounded):
        self.call, self.wanted = (inputs, stepped, is_each_rounded), None

    def disagrees(self, number, want, result):
        """For each element that the result is unlike: whether both of PyTorch's are."""
        unlike = ~_is_alike(want, result.to(torch.float64))
        if want.device == torch.device(self.place) or not bool(unlike.any()):
            return None
        if self.wanted is None:
            inputs, stepped, is_each_rounded = self.call
            if not any(isinstance(each, torch.Tensor) for each in inputs):
                return None
            inputs = tuple(each.to(self.place) if isinstance(each, torch.Tensor) else each for each in inputs)
            self.wanted = _reference(inputs, stepped, is_each_rounded)
        other = self.wanted[number].to(want.device, torch.float64)
        return unlike & ~_is_alike(want, other)


def _without_zeros(inputs, stepped, is_each_rounded, number, want, result):
    """Of a linear function without negative weights: what is wanted where PyTorch has NaN because it
    multiplies infinities by 0, and the result has none. Where they meet a weight follows from ones
    in their places."""
    if not (IS_LINEAR and bool((want.isnan() & ~result.isnan()).any())):
        return want

    def made(change):
        changed = (
            change(each).to(torch.float64)
            if isinstance(each, torch.Tensor) and each.is_floating_point()
            else each
            for each in inputs
        )
        return _reference(tuple(changed), stepped, is_each_rounded)[number].to(torch.float64)

    sum_of_rest = made(lambda each: torch.where(each.isfinite(), each, 0.0))
    for special in (math.inf, -math.inf, math.nan):
        has_weight = made(torch.isnan if special != special else lambda each: each == special) > 0
        sum_of_rest = torch.where(has_weight, sum_of_rest + special, sum_of_rest)
    return torch.where(want.isnan() & ~result.isnan(), sum_of_rest, want)


def judge(inputs, results, dtype, is_each_rounded=False):
    """Results of a call against the definition in float64.

    is_each_rounded: by PyTorch's operations, which round to the type one after another. What they
    add up in a type of 16 bits may be less exact than the kernel's sums in float32 have to be: that
    is told.
    """
    verdict = _judged(inputs, results, dtype, Steps(dtype, is_each_rounded))
    if verdict.wrong and is_each_rounded:
        steps = Steps(dtype, True, are_sums_rounded=True)
        wider = _judged(inputs, results, dtype, steps) if steps.are_sums_rounded else verdict
        if not wider.wrong:
            wider.told = (
                f"less exact than the bound of sums in float32, {verdict.worst:.1f} times it: "
                f"{verdict.first} ({verdict.wrong} of {verdict.elements})"
            )
            return wider
    return verdict


def _judged(inputs, results, dtype, steps):
    verdict, results = Verdict(), _as_tuple(results)
    if len(results) != len(RESULT_TYPES):
        verdict.refuse(f"expects {len(RESULT_TYPES)} results, but got {len(results)}")
        return verdict
    for number, (result, own) in enumerate(zip(results, RESULT_TYPES)):
        if result.dtype != (own or dtype):
            verdict.refuse(f"result {number} expects type {own or dtype}, but got {result.dtype}")
            return verdict
    is_each_rounded = steps.is_each_rounded
    for before, part, found in _parts(inputs, results):
        wide = _wide(part)
        stepped = _bounded(wide, found[0].device, steps)
        wanted = _reference(wide, stepped, is_each_rounded)
        other = _OtherDevice(wide, stepped, is_each_rounded)
        tensors = [each for each in (*wide, *wanted) if isinstance(each, torch.Tensor)]
        longest = max((side for each in tensors for side in each.shape), default=1)
        room = max(2**-48, 2**-52 * longest) * max((_largest(each) for each in wide), default=1.0)
        for number, (result, want, (value, error)) in enumerate(zip(found, wanted, stepped)):
            if result.shape != want.shape:
                verdict.refuse(
                    f"result {number} expects shape {tuple(want.shape)}, but got {tuple(result.shape)}"
                )
                return verdict
            if result.dtype == torch.int64 and value is not None and value.dtype == torch.int64:
                want = want if is_each_rounded else value  # places of equal elements are stable here
            if result.dtype.is_floating_point:
                want = want.to(torch.float64)
                want = _without_zeros(wide, stepped, is_each_rounded, number, want, result)
                # What float64 itself leaves open, where PyTorch's formula cancels and the kernel's
                # does not; never more than its roundings on numbers of the inputs' size, weighed by
                # places along the longest dimension.
                error = _added(error, _distance(value, want).clamp(max=room).nan_to_num())
                if (is_open := other.disagrees(number, want, result)) is not None:
                    error = torch.where(is_open, math.inf, error.expand_as(want))
            verdict.add(number, result, want, error, before)
    return verdict


@contextlib.contextmanager
def _memory_of(value):
    """New tensors hold `value`, so that an element which is not written is seen."""
    empty, empty_like = torch.empty, torch.empty_like

    def filled(tensor):
        return tensor.fill_(value if tensor.dtype.is_floating_point else 77 if tensor.dtype != torch.bool else 1)

    torch.empty = lambda *given, **named: filled(empty(*given, **named))
    torch.empty_like = lambda *given, **named: filled(empty_like(*given, **named))
    try:
        yield
    finally:
        torch.empty, torch.empty_like = empty, empty_like


@contextlib.contextmanager
def _own_convolutions(is_wanted):
    """cuDNN's of 16 bits round partial sums, and spread NaN to elements that it does not belong to."""
    former = torch.backends.cudnn.enabled
    torch.backends.cudnn.enabled = former and not is_wanted
    try:
        yield
    finally:
        torch.backends.cudnn.enabled = former


def _is_same(a, b):
    return not isinstance(a, torch.Tensor) or bool(((a == b) | ((a != a) & (b != b))).all())


def _again(inputs):
    """The same, with the memory of those that a call writes copied, gaps between elements included."""

    def copied(tensor):
        memory = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        return memory.set_(
            tensor.untyped_storage().clone(), tensor.storage_offset(), tensor.shape, tensor.stride()
        )

    return tuple(copied(each) if place in WRITTEN.values() else each for place, each in enumerate(inputs))


def judged_call(function, inputs, dtype, kind="plain", is_each_rounded=False):
    inputs = _again(inputs)
    before = tuple(each.clone() if isinstance(each, torch.Tensor) else each for each in inputs)
    # Where NaN belongs, memory that held NaN would look right.
    try:
        with _memory_of(7.0 if kind == "inf and nan" else math.nan), _own_convolutions(is_each_rounded):
            results = function(*inputs)
    except AssertionError:
        raise
    except Exception as problem:  # whatever PyTorch raises
        steps = Steps(dtype, is_each_rounded)
        if not is_each_rounded or _have_elements(_bounded(_wide(before), DEVICE, steps)):
            raise
        verdict = Verdict()
        verdict.told = f"PyTorch refuses this call without elements: {problem}"
        return verdict
    verdict = judge(before, results, dtype, is_each_rounded)
    for place, (given, left) in enumerate(zip(before, inputs)):
        if place not in WRITTEN.values() and not _is_same(given, left):
            verdict.refuse("an input was changed")
    for result, place in WRITTEN.items():
        if _as_tuple(results)[result] is not inputs[place]:
            verdict.refuse(f"result {result} is not {ARGUMENTS[place]}, into which it is written")
    return verdict
