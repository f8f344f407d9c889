class Steps:
    """Float64 values, each with how far an implementation in the type may be off.

    A step adds its own rounding to what its operands may be off, which is found by computing it at
    the ends of their intervals. None: exact. Infinite: the type's range may be left, so that nothing
    can be said. An infinity or NaN is certain, its error 0, only where every right implementation
    has it.
    """

    def __init__(self, dtype, is_each_rounded, are_sums_rounded=False):
        computed = torch.finfo(torch.float64 if dtype == torch.float64 else torch.float32)
        self.unit, self.tiny, self.largest = computed.eps / 2, computed.tiny, computed.max
        # PyTorch's operations store what each of them computes in the operator's type.
        self.dtype = dtype
        self.stored = dtype if dtype.is_floating_point else torch.float32
        stored = torch.finfo(self.stored)
        self.is_each_rounded, self.is_floating = is_each_rounded, dtype.is_floating_point
        self.stored_unit, self.stored_tiny = stored.eps / 2, stored.tiny
        if is_each_rounded:
            self.largest = stored.max
        # On a GPU PyTorch scans, and adds at indices, in the operator's own type. Of few bits it
        # loses small terms for good, so that nothing averages out.
        self.are_sums_rounded = are_sums_rounded and self.stored_unit > self.unit
        self.unit_of_sums = self.stored_unit if self.are_sums_rounded else self.unit

    def tensor(self, given):
        return given.to(torch.float64), None

    def number(self, value, is_constant=False):
        """A launch gives a kernel its numbers as float32; constants have the type of its values.
        Some of PyTorch's operations round a number to the operator's type."""
        exact = torch.tensor(float(value), dtype=torch.float64, device=self.device)
        if is_constant and self.unit < 2**-50:
            return exact, None
        is_narrow = self.is_each_rounded and self.stored_unit > self.unit
        return self.launched((exact, None), self.stored if is_narrow else torch.float32)

    def made(self, exact, dtype):
        """A number everywhere, as the type has it."""
        error = (exact.to(dtype).to(torch.float64) - exact).abs().nan_to_num(0.0, math.inf)
        return exact, error if bool((error > 0).any()) else None

    def launched(self, computed, dtype=torch.float32):
        """A number that the launcher computes, as the kernel gets it."""
        exact, error = computed
        loss = (exact.to(dtype).to(torch.float64) - exact).abs().nan_to_num(0.0, math.inf)
        return exact, _added(error, loss) if bool(loss > 0) else error

    def step(self, name, *operands, is_exact=False, is_written_otherwise=False):
        """is_written_otherwise: PyTorch's own function has a formula that cancels, so that what it
        rounds has the size of its operands."""
        function, roundings, argument_roundings = STEPS[name]
        values = [value for value, _ in operands]
        value = function(*values).to(torch.float64)
        error = None
        for place, (at, off) in enumerate(operands):
            if argument_roundings and not is_exact:
                loss = at.abs().nan_to_num(posinf=0.0) * (argument_roundings * self.unit)
                off = loss if off is None else off + loss
            if off is not None:
                error = _added(error, self._inherited(function, values, place, off, value))
        lost, size = self._lost_step(name, function, operands, value, error), value.abs()
        if is_written_otherwise and self.is_each_rounded:
            for each in values:
                size = torch.maximum(size, each.abs())
        return self._rounded(value, error, 0 if is_exact else roundings, lost, size)

    def _lost_step(self, name, function, operands, value, inherited):
        """Where nothing can be said of the result."""
        lost = _lost(operands)
        values = [each for each, _ in operands]
        if lost is not None and name in ("add", "sub", "mul", "div"):
            for each, off in operands:  # a NaN that is none by chance
                lost = lost & ~(each.isnan() & ~_error((each, off)).isinf())
        divisor = {"div": 1, "reciprocal": 0}.get(name)
        if divisor is not None and operands[divisor][1] is not None:
            below, off = operands[divisor]  # of either sign
            lost = _either(lost, value.isfinite() & (off > 0) & ~(below.abs() > off))
        if bool(value.isfinite().all()):
            return lost
        is_open = torch.zeros_like(value) > 0 if inherited is None else ~value.isfinite() & (inherited > 0)
        are_finite = values[0].isfinite()
        for each in values[1:]:
            are_finite = are_finite & each.isfinite()
        if name in ("add", "sub", "mul", "div"):
            # Float64 leaves its range where a fused product and sum does not.
            is_quotient_by_0 = (values[1] == 0) if name == "div" else False
            is_open = is_open | (value.isinf() & are_finite & ~(are_finite & is_quotient_by_0))
        if name in ("exp", "exp2"):
            # Two factors may scale it, of which one is finite.
            is_open = is_open | (value.isinf() & are_finite & (function(values[0] / 2) <= self.largest))
        return _either(lost, is_open)

    def _inherited(self, function, values, place, off, value):
        most = None
        for end in (values[place] - off, values[place] + off):
            changed = function(*values[:place], end, *values[place + 1 :]).to(torch.float64)
            is_beyond = value.isinf() & (changed.abs() > self.largest)
            changed = torch.where(is_beyond, changed.sign() * math.inf, changed)
            away = _distance(changed, value)
            most = away if most is None else torch.maximum(most, away)
        return torch.where(off > 0, most, 0.0)

    def cast(self, x, dtype, is_own=False, keeps_all=False, from_whole=False):
        """Another type. The reference has the rounded number of each but float32 and the
        operator's own, which it computes in float64; what no integer of the type is, is open."""
        value, off = x
        if keeps_all:
            return x
        if dtype == torch.bool:
            near = (value != 0).to(torch.float64)
            return near, None if off is None else ((off > 0) & ~(value.abs() > off)).to(torch.float64)
        if is_own or dtype == torch.float32:
            limits = torch.finfo(dtype)
            loss = (value.abs() + _error(x) + limits.tiny) * (limits.eps / 2)
            lost = _error(x).isinf() | (value.isfinite() & (value.abs() + loss > limits.max))
            error = torch.where(value.isfinite(), _error(x) + loss, _error(x))
            return value, torch.where(lost, math.inf, error)
        if dtype.is_floating_point:
            near = lambda each: each.to(dtype).to(torch.float64)
            rounded = near(value)
            if off is None:
                return rounded, None
            error = torch.maximum(_distance(near(value - off), rounded), _distance(near(value + off), rounded))
            return rounded, torch.where(off > 0, error, 0.0)
        low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
        if from_whole:
            return torch.remainder(value - low, high - low + 1) + low, off
        below, above = torch.trunc(value - _error(x)), torch.trunc(value + _error(x))
        rounded = torch.trunc(value)
        is_inside = (below >= low) & (above <= high)
        error = torch.maximum(rounded - below, above - rounded)
        return rounded.nan_to_num(0.0, 0.0, 0.0), torch.where(is_inside, error, math.inf)

    def compare(self, name, a, b):
        """Truth values; open where what is compared may be off by more than the difference."""
        value = STEPS[name][0](a[0], b[0]).to(torch.float64)
        error = None if a is b else _added(a[1], b[1])  # with itself: whether it is NaN
        if error is None:
            return value, None
        return value, ((error > 0) & ~(_distance(a[0], b[0]) > error)).to(torch.float64)

    def where(self, condition, a, b):
        value = torch.where(condition[0] != 0, a[0], b[0])
        if condition[1] is None and a[1] is None and b[1] is None:
            return value, None
        of_a, of_b = _error(a), _error(b)
        error = torch.where(condition[0] != 0, of_a, of_b)
        if condition[1] is not None:
            either = _distance(a[0], b[0]) + torch.maximum(of_a, of_b)
            error = torch.where(condition[1] > 0, either, error)
        return value, error

    def total(self, x, dims, keepdim, is_exact=False):
        value = torch.sum(x[0], dims, keepdim)
        if is_exact and x[1] is None:
            return value, None
        error = torch.sum(_error(x), dims, keepdim)
        terms = x[0].numel() // max(value.numel(), 1)
        if is_exact or terms == 1:
            return value, error
        magnitudes = torch.sum(x[0].abs(), dims, keepdim)
        # In any order; 6 sqrt(n) holds with probability above 1 - 1e-7, n - 1 always.
        steps = terms - 1 if terms < 38 else 6 * math.sqrt(terms)
        lost = error.isinf() | (magnitudes.isfinite() & (magnitudes > self.largest))
        lost = self._lost_sum(value, lost, lambda each: torch.sum(each, dims, keepdim), x)
        return self._rounded(value, error + steps * self.unit * magnitudes, 1, lost)

    def _lost_sum(self, value, lost, over, x):
        """`lost` where the sum is finite. An infinity is certain where nothing may meet it that is
        not, or leads beyond the other end; NaN where a term is, or both infinities are terms."""
        if bool(value.isfinite().all()):
            return lost
        terms, off = x[0], _error(x)
        sure = ~off.isinf()
        has = lambda mask: over(mask.to(torch.float64)) > 0
        plus, minus = has((terms == math.inf) & sure), has((terms == -math.inf) & sure)
        numbers = terms.isfinite() & sure
        own, off = torch.where(numbers, terms, 0.0), torch.where(numbers, off, 0.0)
        above, below = over((own + off).clamp(min=0.0)), over((off - own).clamp(min=0.0))
        is_none = has(terms.isnan() & sure) | (plus & minus)
        return self._lost_special(value, lost, is_none, plus, minus, has(~sure), above, below)

    def _lost_special(self, value, lost, is_none, plus, minus, is_open, above, below):
        may_meet = torch.where(plus, below, above) > self.largest
        is_certain = is_none | ((plus | minus) & ~is_open & ~may_meet)
        return torch.where(value.isfinite(), lost, ~is_certain)

    def total_of_leading(self, x, kept, is_exact=False):
        """Over all dimensions but the last; there may be no others."""
        leading = tuple(range(x[0].dim() - kept))
        return self.total(x, leading, False, is_exact) if leading else x

    def extremum(self, function, x, dims, keepdim):
        value = function(x[0], dims, keepdim)
        return value, None if x[1] is None else torch.amax(x[1], dims, keepdim)

    def count(self, x, dims):
        """How many elements a reduction over `dims` combines."""
        sizes = [x[0].shape[dim] for dim in dims] if dims else x[0].shape
        return self.number(math.prod(sizes), True)

    def view(self, x, order):
        """Dimensions in another order; None is a new one of size 1. The first one may stand for
        any number of leading ones."""

        def turned(tensor):
            more = tensor.dim() - len([dim for dim in order if dim is not None])
            places = order
            if more:
                behind = [dim if dim is None else dim + more for dim in order[1:]]
                places = (*range(more + 1), *behind)
            tensor = tensor.permute([dim for dim in places if dim is not None])
            for place, dim in enumerate(places):
                tensor = tensor.unsqueeze(place) if dim is None else tensor
            return tensor

        return turned(x[0]), None if x[1] is None else turned(x[1])

    def moved(self, function, *operands):
        """Elements at other places; `function` is told whether it fills with a constant or with 0."""
        value = function(True, *(each[0] for each in operands))
        if all(each[1] is None for each in operands):
            return value, None
        return value, function(False, *(_error(each) for each in operands))

    def prod(self, x, dims, keepdim, is_exact=False):
        """In any order: a partial product may leave the range where the whole one stays in it."""

        def over(tensor):
            for dim in sorted(dims or range(-tensor.dim(), 0)):
                tensor = torch.prod(tensor, dim, True)
            return tensor if keepdim else torch.squeeze(tensor, dims) if dims else tensor.reshape(())

        value = over(x[0])
        if is_exact and x[1] is None:
            return value, None
        most = (x[0].abs() + _error(x)).nan_to_num(posinf=1.0)
        upper, above = over(most), over(most.clamp(min=1.0))
        below = over(torch.where(most > 0, most, 1.0).clamp(max=1.0))
        terms = x[0].numel() // max(value.numel(), 1)
        error = upper * math.expm1((terms - 1) * self.unit) + (upper - value.abs()).clamp(min=0.0)
        flushed = value.abs() + terms * self.tiny * self.unit * above
        error = error + torch.where(below < 2 * self.tiny, flushed, 0.0)
        error = error.expand_as(value).nan_to_num(0.0, math.inf)
        lost = (above > self.largest) | (value.isinf() & (below < 2 * self.tiny))
        return self._rounded(value, error, 1, lost)

    def scan(self, name, x, dim, is_exact=False):
        """Of each element, what those up to it make."""
        given, off = x
        if name.startswith(("cummax", "cummin")):
            value, place = (torch.cummax if name.startswith("cummax") else torch.cummin)(given, dim)
            if name.endswith("_indices"):
                return place, None if off is None else self._open(torch.cummax(off, dim).values)
            return value, None if off is None else torch.cummax(off, dim).values
        value = getattr(torch, name)(given, dim)
        if is_exact and off is None:
            return value, None
        if is_exact:
            error = torch.cumsum(off, dim)
            return value, error if name == "cumsum" else self._open(error)
        sizes = [1] * given.dim()
        sizes[dim] = given.shape[dim]
        terms = torch.arange(1, given.shape[dim] + 1, device=given.device, dtype=torch.float64)
        steps = self._roundings_of_sums(terms).reshape(sizes)
        error = _error(x)
        if name == "cumsum":
            magnitudes = torch.cumsum(given.abs(), dim)
            error = torch.cumsum(error, dim)
            lost = error.isinf() | (magnitudes.isfinite() & (magnitudes > self.largest))
            lost = self._lost_sum(value, lost, lambda each: torch.cumsum(each, dim), x)
            return self._rounded(value, error + steps * self.unit_of_sums * magnitudes, 1, lost)
        if name == "cumprod":
            most = (given.abs() + error).nan_to_num(posinf=1.0)
            upper, above = torch.cumprod(most, dim), torch.cumprod(most.clamp(min=1.0), dim)
            below = torch.cumprod(torch.where(most > 0, most, 1.0).clamp(max=1.0), dim)
            error = upper * torch.expm1(steps * self.unit_of_sums) + (upper - value.abs()).clamp(min=0.0)
            flushed = value.abs() + terms.reshape(sizes) * self.tiny * self.unit * above
            error = error + torch.where(below < 2 * self.tiny, flushed, 0.0)
            error = error.nan_to_num(0.0, math.inf)
            lost = (above > self.largest) | (~value.isfinite() & (below < 2 * self.tiny))
            return value, torch.where(lost, math.inf, self._rounded(value, error, 1, lost)[1])
        top = torch.cummax(given, dim).values
        away = (value - top).abs().nan_to_num(0.0, 0.0)
        error = torch.cummax(error, dim).values + 2 * (steps + 64) * self.unit_of_sums
        error = error + self.unit * (top.abs().nan_to_num(0.0, 0.0, 0.0) + 4 * away)
        return self._rounded(value, error, 2, error.isinf())

    def order(self, is_place, x, dim, first=0, count=None, descending=False, is_median=False, keepdim=True):
        """Places of the sorted line, stable; what was off before may have moved elements past each other."""
        value, place = torch.sort(x[0], stable=True, dim=dim, descending=descending)
        length = value.shape[dim]
        if is_median:
            nans = (value != value).sum(dim, True)
            at = torch.where(nans > 0, length - nans, (length - 1) // 2)
            value, place = torch.gather(value, dim, at), torch.gather(place, dim, at)
        elif count is not None:
            value, place = value.narrow(dim, first, count), place.narrow(dim, first, count)
        error = None if x[1] is None else torch.amax(x[1].expand_as(x[0]), dim, True).expand_as(value)
        chosen, error = (place, self._open(error)) if is_place else (value, error)
        if not keepdim:
            chosen, error = chosen.squeeze(dim), None if error is None else error.squeeze(dim)
        return chosen, error

    def searched(self, function, x, dim, keepdim=False):
        place = function(x[0], dim, keepdim)
        if x[1] is None:
            return place, None
        off = x[1].expand_as(x[0])
        return place, self._open(off.amax() if dim is None else torch.amax(off, dim, keepdim))

    @staticmethod
    def _open(error):
        """Of places: any, where something was off."""
        return None if error is None else torch.where(error > 0, math.inf, 0.0)

    def matmul(self, a, b, is_exact=False):
        return self._products(torch.matmul, a, b, None, a[0].shape[-1], is_exact)

    def conv2d(self, x, w, bias, is_exact=False, **named):
        def function(image, filters):
            return F.conv2d(image, filters, None, **named)

        added = None if bias[0].dim() == 0 else tuple(
            None if each is None else each.reshape(-1, 1, 1) for each in bias
        )
        return self._products(function, x, w, added, w[0][0].numel() + 1, is_exact)

    def _products(self, function, a, b, added, terms, is_exact):
        """Sums of products, which `function` is linear in, and of what is added."""
        value = function(a[0], b[0])
        value = value if added is None else value + added[0]
        if is_exact and a[1] is None and b[1] is None:
            return value, None
        error = torch.zeros_like(value)
        if a[1] is not None:
            error = error + function(a[1], b[0].abs() + _error(b))
        if b[1] is not None:
            error = error + function(a[0].abs(), b[1])
        magnitudes = function(a[0].abs(), b[0].abs())
        if added is not None:
            error, magnitudes = error + _error(added), magnitudes + added[0].abs()
        if is_exact:
            return value, error
        steps = 1 + (terms - 1 if terms < 38 else 6 * math.sqrt(terms))
        lost = error.isinf() | (magnitudes.isfinite() & (magnitudes > self.largest))
        lost = self._lost_products(value, lost, function, a, b, added)
        return self._rounded(value, error + steps * self.unit * magnitudes + terms * self.tiny, 1, lost)

    def _lost_products(self, value, lost, function, a, b, added):
        """As _lost_sum, of products. NaN is certain of an infinity by 0, too; where what it is
        multiplied with may be 0, it is open."""
        if bool(value.isfinite().all()):
            return lost
        left, right = _Factor(a), _Factor(b)
        meet = lambda one, other: function(one.to(torch.float64), other.to(torch.float64)) > 0
        is_none = meet(left.nan, right.all) | meet(left.all, right.nan)
        is_none = is_none | meet(left.infinite, right.zero) | meet(left.zero, right.infinite)
        plus, minus = (
            meet(left.plus, one) | meet(left.minus, other) | meet(left.above, two) | meet(left.below, three)
            for one, other, two, three in (
                (right.above | right.plus, right.below | right.minus, right.plus, right.minus),
                (right.below | right.minus, right.above | right.plus, right.minus, right.plus),
            )
        )
        is_open = meet(left.open, right.all) | meet(left.all, right.open)
        is_open = is_open | meet(left.infinite, right.near) | meet(left.near, right.infinite)
        rises, falls = left.own.clamp(min=0.0), (-left.own).clamp(min=0.0)
        others, off = right.own.clamp(min=0.0), (-right.own).clamp(min=0.0)
        error = function(left.own.abs(), right.off) + function(left.off, right.own.abs() + right.off)
        above = function(rises, others) + function(falls, off) + error
        below = function(rises, off) + function(falls, others) + error
        if added is not None:
            own, sure = added[0], ~_error(added).isinf()
            plus, minus = plus | ((own == math.inf) & sure), minus | ((own == -math.inf) & sure)
            is_none, is_open = is_none | (own.isnan() & sure), is_open | ~sure
            number = torch.where(own.isfinite(), own, 0.0)
            above, below = above + number.clamp(min=0.0), below + (-number).clamp(min=0.0)
        return self._lost_special(value, lost, is_none | (plus & minus), plus, minus, is_open, above, below)

    def indexed(self, name, x, *others, is_exact=False, empty_is_zero=False, **named):
        """What is read or written at indices from tensors."""
        is_read = name in ("gather", "index_select", "index", "embedding")
        if empty_is_zero and x[0].numel() == 0:  # a value that sizes do not choose
            sizes = (*others[0][0].shape, *(x[0].shape[1:] if name == "embedding" else ()))
            return torch.zeros(sizes, dtype=torch.float64, device=self.device), None
        given = others if is_read else others[:-1]
        indices = tuple(each[0].long() for each in given)
        if name == "scatter_add" and given[0][1] is not None:
            return self._met_about(x, others[-1], indices[0], given[0][1], named["dim"], is_exact)
        rank = x[0].dim()
        dim = 0 if name == "embedding" else named["dim"] % rank
        if name == "gather" or name.startswith("scatter"):
            grid = [
                torch.arange(size, device=self.device).view([-1 if at == own else 1 for at in range(rank)])
                for own, size in enumerate(indices[0].shape)
            ]
            place = [indices[0] if own == dim else each for own, each in enumerate(grid)]
        else:
            place = [None] * dim + list(indices)
        if is_read:
            read = lambda tensor: torch.ops.aten.index(tensor, place)
            value, error = read(x[0]), None if x[1] is None else read(x[1])
            behind = 0 if name == "gather" else rank - dim - len(indices)
            for at, (_, off) in enumerate(others, dim):
                if off is not None:
                    off = off.reshape(*off.shape, *([1] * behind))
                    error = _added(error, self._beside(x[0], place, at, off, value))
            return value, error
        return self._met(name, x, others[-1], place, is_exact, **named)

    def _beside(self, table, place, at, off, value):
        """How far what is read may be off where rounding moves an index; by one place at most."""
        error = torch.zeros_like(value)
        for step in (-1, 1):
            moved = list(place)
            moved[at] = (place[at] + step).clamp(0, table.shape[at] - 1)
            error = torch.maximum(error, _distance(torch.ops.aten.index(table, moved), value))
        return torch.where(off > 1, math.inf, torch.where(off > 0, error, 0.0))

    def _met_about(self, x, values, index, off, dim, is_exact):
        """Sums at indices that may be off by some: each value may meet in any of these places."""
        dim %= x[0].dim()
        place = (x, (index.to(torch.float64), None), values)
        value, error = self.indexed("scatter_add", *place, is_exact=is_exact, dim=dim)
        error = torch.zeros_like(value) if error is None else error
        most = torch.where(off > 0, values[0].abs() + _error(values), 0.0)
        for away in range(-4, 5):
            there = (index + away).clamp(0, x[0].shape[dim] - 1)
            error = torch.scatter_add(error, dim, there, torch.where(off >= abs(away), most, 0.0))
        return value, torch.full_like(error, math.inf) if (off > 4).any() else error

    def _met(self, name, x, values, place, is_exact, reduce="sum", include_self=True, **named):
        """Values that meet in an element are joined with it, in any order."""
        zeros = torch.zeros_like(x[0])

        def add(to, what):
            return torch.ops.aten.index_put(to, place, what.to(torch.float64), True)

        count = add(zeros, torch.ones_like(values[0]))
        is_met = count > 0
        if name == "scatter" or (name == "index_put" and not named["accumulate"]):
            value = torch.ops.aten.index_put(x[0], place, values[0].to(torch.float64), False)
            if x[1] is None and values[1] is None:
                return value, None
            return value, torch.ops.aten.index_put(_error(x), place, _error(values), False)
        own = torch.where(is_met, 0.0, x[0]) if not include_self else x[0]
        terms = count + (1 if include_self else 0)
        if reduce in ("amax", "amin", "prod"):
            index, dim = place[named["dim"]], named["dim"]
            joined = lambda of, by, how: torch.scatter_reduce(of, dim, index, by, how, include_self=include_self)
            value = joined(x[0], values[0], reduce)
            if reduce != "prod":
                exact = x[1] is None and values[1] is None
                return value, None if exact else joined(_error(x), _error(values), "amax")
            upper = joined(x[0].abs() + _error(x), values[0].abs() + _error(values), "prod")
            error = upper * (terms * self.unit_of_sums) + (upper - value.abs()).clamp(min=0.0)
            above = joined(x[0].abs().clamp(min=1.0), values[0].abs().clamp(min=1.0), "prod")
            flushed = above * terms * self.tiny * self.unit
            return self._rounded(value, torch.where(is_met, error + flushed, 0.0), 1, above > self.largest)
        value = add(own, values[0])
        error = add(torch.where(is_met & (not include_self), 0.0, _error(x)), _error(values))
        if is_exact:
            return value, error
        magnitudes = add(own.abs(), values[0].abs())
        steps = self._roundings_of_sums(terms)
        error = torch.where(is_met, error + steps * self.unit_of_sums * magnitudes, error)
        lost = error.isinf() | (magnitudes.isfinite() & (magnitudes > self.largest))
        if reduce == "mean":
            share = terms.clamp(min=1.0)
            value, error = value / share, error / share
        return self._rounded(value, error, 4, lost)

    def _roundings_of_sums(self, terms):
        """Of so many terms in any order: 6 sqrt(n) holds with probability above 1 - 1e-7, n - 1 always."""
        always = terms - 1
        return always if self.are_sums_rounded else torch.minimum(always, 6 * terms.sqrt())

    def squeezed(self, x, dims):
        return torch.squeeze(x[0], dims), None if x[1] is None else torch.squeeze(x[1], dims)

    def _rounded(self, value, error, roundings, lost, size=None):
        if error is None and not roundings:
            return value, None
        size = value.abs() if size is None else size
        error = torch.zeros_like(value) if error is None else error.expand_as(value)
        if roundings:
            error = error + roundings * self.unit * size
            # What is smaller than a normal number may become 0.
            is_flushed = (size < 2 * self.tiny) & ((size > 0) | (error > 0))
            error = error + torch.where(is_flushed, self.tiny, 0.0)
            if self.is_each_rounded:
                error = error + self.stored_unit * (size + error + self.stored_tiny)
        error = torch.where(value.isfinite(), error.nan_to_num(math.inf, math.inf), 0.0)
        lost = (value.isfinite() & (size > self.largest)) | (False if lost is None else lost)
        return value, torch.where(lost, math.inf, error)


def _windows(x, dim, first, places):
    """So many elements from each of the first ones on, those at the ends beyond them."""
    at = (first[:, None] + torch.arange(places, device=x.device)).clamp(0, x.shape[dim] - 1)
    return x.index_select(dim, at.flatten()).unflatten(dim, at.shape).movedim(dim, -1)


def _spread(x, dim, length, step, dilation, before):
    """Windows back to where they came from: place k of window o at o * step + k * dilation - before."""
    count, taps = x.shape[dim], x.shape[-1]
    places = torch.arange(length, device=x.device)[:, None] + before
    places = places - dilation * torch.arange(taps, device=x.device)
    windows = torch.div(places, step, rounding_mode="floor")
    is_there = (places % step == 0) & (windows >= 0) & (windows < count)
    taken = torch.take_along_dim(
        x.movedim(dim, -2), windows.clamp(0, count - 1).expand(*([1] * (x.dim() - 2)), length, taps), -2
    )
    return torch.where(is_there, taken, 0.0).movedim(-2, dim)


class _Factor:
    """What the elements of a factor are, each for itself; `own` and `off` of those that are numbers."""

    def __init__(self, x):
        given, off = x[0], _error(x)
        self.open, self.all = off.isinf(), torch.ones_like(given) > 0
        sure = ~self.open
        self.nan = given.isnan() & sure
        self.plus, self.minus = (given == math.inf) & sure, (given == -math.inf) & sure
        self.infinite = self.plus | self.minus
        numbers = given.isfinite() & sure
        self.zero = numbers & (given == 0) & (off == 0)
        self.near = numbers & (off > 0) & ~(given.abs() > off)
        self.above, self.below = numbers & (given > 0) & ~self.near, numbers & (given < 0) & ~self.near
        self.own, self.off = torch.where(numbers, given, 0.0), torch.where(numbers, off, 0.0)


def _either(lost, more):
    return more if lost is None else lost | more


def _added(a, b):
    return b if a is None else a if b is None else a + b


def _error(x):
    return torch.zeros_like(x[0]) if x[1] is None else x[1]


def _largest(given):
    """Of the finite numbers; 1 at least."""
    if not isinstance(given, torch.Tensor) or given.numel() == 0:
        return 1.0
    return max(1.0, float(given.to(torch.float64).abs().nan_to_num(0.0, 0.0).max()))


def _lost(operands):
    lost = None
    for _, off in operands:
        if off is not None:
            lost = off.isinf() if lost is None else lost | off.isinf()
    return lost


def _distance(a, b):
    """0 between equal infinities and between NaN; infinite from NaN to a number."""
    is_same = (a == b) | (a.isnan() & b.isnan())
    return torch.where(is_same, 0.0, (a - b).abs().nan_to_num(math.inf, math.inf))
