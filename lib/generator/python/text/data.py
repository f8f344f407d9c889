class Data:
    """The random tensors of one case, the same ones for the same seed."""

    def __init__(self, kind, seed, device):
        self.kind, self.device = kind, device
        self.generator = torch.Generator(device).manual_seed(seed)

    def _laid(self, tensor, is_whole):
        """As it is, or the rows of a wider tensor, which do not lie side by side."""
        if self.kind != "strided" or is_whole or tensor.dim() < 2:
            return tensor
        wider = tensor.new_zeros((*tensor.shape[:-1], tensor.shape[-1] + 3))
        rows = wider[..., : tensor.shape[-1]]
        return rows.copy_(tensor)

    def normal(self, shape, dtype, is_widest=False, is_whole=False):
        drawn = torch.float64 if dtype == torch.float64 else torch.float32
        values = torch.randn(shape, generator=self.generator, device=self.device, dtype=drawn)
        values = (values * SCALES.get(self.kind, 1.0)).to(dtype)
        return self._laid(self._special(values, is_widest), is_whole)

    def _special(self, values, is_widest):
        """One of each, in different places of the tensor."""
        count = values.numel()
        if self.kind == "inf and nan" and is_widest and count > 2:
            flat = values.view(-1)
            for at, special in ((1, -0.0), (0, math.inf), (count // 2, -math.inf), (count - 1, math.nan)):
                flat[at] = special
        return values

    def uniform(self, shape, dtype, low, high, is_widest=False, is_whole=False):
        drawn = torch.float64 if dtype == torch.float64 else torch.float32
        values = torch.rand(shape, generator=self.generator, device=self.device, dtype=drawn)
        values = (values * (high - low) + low).to(dtype)
        return self._laid(self._special(values, is_widest), is_whole)

    def integers(self, shape, dtype, low, high, is_divisor=False, is_whole=False):
        """is_divisor: none is 0, as PyTorch leaves open what x / 0 is, or refuses it."""
        values = torch.randint(low, high, shape, generator=self.generator, device=self.device)
        if is_divisor:
            values.masked_fill_(values == 0, 3)
        return self._laid(values.to(dtype), is_whole)

    def indices(self, shape, dtype, low, high, distinct=0, is_whole=False):
        """Integers in [low, high), both ends among them; distinct: the dimension, from the end,
        along which none repeats. Beside special numbers sorted ones, beside small ones all equal."""
        if distinct:
            first = max(low, 0)
            lines = [*shape]
            lines[distinct], lines[-1] = lines[-1], lines[distinct]
            keys = torch.rand(
                (*lines[:-1], high - first), generator=self.generator, device=self.device
            )
            values = first + keys.argsort(-1)[..., : lines[-1]].transpose(distinct, -1)
            negative = torch.rand(shape, generator=self.generator, device=self.device) < 0.5
            values = torch.where(negative & (values - high >= low), values - high, values)
            return self._laid(values.to(dtype).contiguous(), is_whole)
        if math.prod(shape) == 0:
            return self._laid(torch.zeros(shape, dtype=dtype, device=self.device), is_whole)
        values = torch.randint(low, high, shape, generator=self.generator, device=self.device)
        if self.kind == "small":
            values.fill_(high - 1)
        if self.kind == "inf and nan" and values.dim():
            values = values.sort(-1).values
        flat = values.view(-1)
        flat[0], flat[-1] = (high - 1, low) if self.kind != "zeros" else (low, high - 1)
        return self._laid(values.to(dtype), is_whole)
