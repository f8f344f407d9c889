# SPDX-License-Identifier: Apache-2.0
"""The back end as upstream sees it: which launch options there are, and nothing of its stages."""

from dataclasses import dataclass

from triton.backends.compiler import BaseBackend, GPUTarget


@dataclass(frozen=True)
class CpuOptions:
    """All of them are accepted and only `debug` means something on a CPU."""
    num_warps: int = 4
    num_ctas: int = 1
    num_stages: int = 3
    warp_size: int = 1
    maxnreg: int = None
    cluster_dims: tuple = (1, 1, 1)
    enable_fp_fusion: bool = True
    enable_reflect_ftz: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    max_num_imprecise_acc_default: int = 0
    matrix_instr_nonkdim: int = 0
    kpack: int = 1
    waves_per_eu: int = 0
    ptx_options: str = None
    ir_override: str = None
    extern_libs: dict = None
    debug: bool = False
    sanitize_overflow: bool = True
    arch: str = None
    instrumentation_mode: str = ""
    backend_name: str = "cpu"

    def __post_init__(self):
        is_power = self.num_warps > 0 and self.num_warps & (self.num_warps - 1) == 0
        assert is_power, "num_warps must be a power of 2"

    def hash(self):
        return str(self)


class CpuBackend(BaseBackend):

    @staticmethod
    def supports_target(target: GPUTarget):
        return target.backend == "cpu"

    def hash(self):
        return "nereid"

    def parse_options(self, options):
        known = CpuOptions.__dataclass_fields__
        return CpuOptions(**{k: v for k, v in options.items() if k in known and v is not None})

    def add_stages(self, stages, options):
        raise NotImplementedError

    def load_dialects(self, context):
        raise NotImplementedError

    def get_module_map(self):
        return {}
