# SPDX-License-Identifier: Apache-2.0
# options.py NEREID INPUTS KERNELS: every option of every command with what it is read for. An option
# that --help lists and that stands here for no kind of input fails the test, and so does one that
# a kind takes although it stands there as refused.
import re
import subprocess
import sys

nereid, inputs, kernels = sys.argv[1:]
definition, folder = f"{inputs}/tiny.toml", f"{kernels}/vector_add"
file = f"{kernels}/vector_add/vector_add.py"
launch = {"--signature": "*fp32, *fp32, *fp32, i32, 64", "--grid": "1"}
stages = {"--target", "--chip", "--dtype", "--fresh"}
rounds = {"--seed", "--rounds", "--conservative", "--require-target", "--import-path", "--start", "--blocking"}
backward = {"--out", "--backward", "--by"}
architecture = ["--target", "nvidia:sm_80"]
one_file = {"--signature", "--grid", "--arg", "--bytes", "--flops", "--reference"}
emitted = {"--signature", "--target", "--chip", "--import-path", "--output", "--depfile", "--no-cache",
           "--emit"}
library = {"--architecture", "--grid", "--grid-argument", "--choose", "--name", "--runtime"}
phases = {"--to", "--from", "--dump-to", "--verify-each", "--times", "--specialization",
          "--remarks"}
checks = {"--arg", "--resident", "--import-path", "--schedule", "--max-reports", "--target"}
modes = {"--mode", "--min-speedup"}
# Command, what it is given, and the options that it reads then.
kinds = [
    ("develop", [definition], stages | rounds | modes | backward | {"--seconds-per-case",
                                                                         "--language"}),
    ("develop", ["op"], stages | rounds | modes | {"--seconds-per-case"}),
    ("develop", ["--all"], stages | rounds | modes | {"--all", "--out", "--language",
                                                      "--seconds-per-case",
                                                      "--seconds-per-operator"}),
    ("generate", [definition], stages | backward | {"--start", "--language"}),
    ("generate", ["op"], stages | {"--start", "--check"}),
    ("verify", [definition], stages | backward | {"--seed", "--case", "--dump", "--import-path",
                                                 "--blocking"}),
    ("verify", ["op"], stages | {"--seed", "--case", "--dump", "--import-path", "--blocking"}),
    ("verify", [folder], {"--target", "--chip", "--seed", "--interpret", "--runner", "--case",
                          "--dump", "--in-process", "--import-path", "--blocking"}),
    ("optimize", ["op"], stages | rounds),
    ("optimize", [definition], stages | rounds | backward),
    ("bench", [definition], stages | modes | backward
     | {"--seed", "--seconds-per-case", "--import-path", "--against", "--blocking"}),
    ("bench", ["op"], stages | modes | {"--seed", "--seconds-per-case", "--import-path",
                                       "--against", "--blocking"}),
    ("bench", [folder], {"--target", "--chip", "--seconds-per-case", "--import-path", "--case",
                         "--in-process", "--against", "--blocking"}),
    ("bench", [file], {"--target", "--chip", "--seconds-per-case", "--import-path", "--against",
                       "--blocking"}
     | one_file | {"--sweep"}),
    ("bench", [file, "--sweep", "n=10"], {"--target", "--chip", "--seconds-per-case", "--import-path",
                                          "--against", "--blocking", "--report", "--sweep"}
     | one_file),
    ("bench", ["results.json"], {"--against"}),
    ("bench", [folder, "--ladder"], {"--ladder", "--report", "--target", "--chip", "--seconds-per-case",
                                     "--import-path", "--blocking"}),
    ("tune", [folder], {"--target", "--chip", "--seconds-per-case", "--import-path", "--case",
                        "--in-process", "--blocking", "--search"}),
    ("tune", [file], {"--target", "--chip", "--seconds-per-case", "--import-path", "--blocking",
                      "--search"}
     | one_file),
    ("profile", [folder, *architecture], {"--target", "--chip", "--seconds-per-case", "--import-path",
                                          "--case", "--in-process", "--blocking"}),
    ("calibrate", architecture, {"--target", "--out"}),
    ("profile", [file, *architecture], {"--target", "--chip", "--seconds-per-case", "--import-path",
                                        "--blocking"}
     | one_file),
    ("run", [folder, "--case", "small"], {"--arg", "--save", "--import-path", "--case", "--target",
                                          "--chip", "--runner", "--no-cache", "--interpret",
                                          "--blocking"}),
    ("run", [file], {"--signature", "--grid", "--arg", "--save", "--import-path", "--target",
                     "--chip", "--runner", "--no-cache", "--interpret", "--blocking"}),
    ("run", [file, "--interpret"], {"--signature", "--grid", "--arg", "--save", "--import-path",
                                    "--interpret"}),
    ("check", [folder], checks | {"--case"}),
    ("check", [folder, "--target", "cpu"], checks | {"--case", "--chip", "--runner"}),
    ("check", [file, "--signature", launch["--signature"]], checks | {"--signature", "--grid"}),
    ("check", [folder, "--schedule", "random"], checks | {"--case", "--seed"}),
    ("explain-layout", [file, *architecture], {"--signature", "--target", "--chip", "--import-path",
                                               "--line", "--rows", "--columns"}),
    ("explain-layout", ["--layout", "lanes 1", "--shape", "2"],
     {"--layout", "--shape", "--places", "--element-bytes", "--rows", "--columns"}),
    ("compile", [file, "--emit", "asm"], emitted | phases),
    ("compile", [file, "--emit", "object"], emitted | library),
    ("define", ["softmax"], {"--file", "--output", "--name", "--choose", "--candidates"}),
    ("analyze", ["model.onnx"], {"--chip", "--size", "--top", "--nodes"}),
    ("import", ["model.onnx"], {"--nodes", "--name", "--size", "--output"}),
    ("explain", [], set()),
    ("chips", [], {"--recalibrate"}),
    ("ops", [], {"--language", "--results"}),
    ("ops", ["--language"], {"--language"}),
    ("knobs", [], set()),
    ("doctor", [], set()),
]
# Options that say of which kind the input is.
choosing = {"develop": {"--all"}, "check": {"--signature"}, "run": {"--case", "--interpret"}, "compile": {"--emit"},
            "bench": {"--ladder"}}
# Options that read a further value than a word.
values = {"--rounds": "0", "--seed": "1", "--seconds-per-case": "0.001",
          "--seconds-per-operator": "1", "--mode": "default",
          "--min-speedup": "1", "--dtype": "float32",
          "--architecture": "x86-64", "--to": "tile", "--from": "tile", "--schedule": "in-order",
          "--resident": "0", "--max-reports": "1", "--emit": "object",
          "--line": "1", "--element-bytes": "4", **launch}


def options_of(command):
    text = subprocess.run([nereid, command, "--help"], capture_output=True, text=True).stdout
    options = {name for name in re.findall(r"--[a-z-]+", text.split("OPTIONS", 1)[-1].lower())
               if re.search(rf"^ +(-\w, ?)?{name}\b", text, re.M)}
    flags = {name for name in options if re.search(rf"{name} *( {{2,}}|$)", text, re.M)
             and not re.search(rf"{name} [A-Z]", text)}
    return options - {"--help"}, flags


for command in sorted({kind[0] for kind in kinds}):
    listed, flags = options_of(command)
    read = set().union(*(kind[2] for kind in kinds if kind[0] == command))
    assert listed == read, f"{command}: {sorted(listed ^ read)} is listed or read, not both"
    for _, given, used in (kind for kind in kinds if kind[0] == command):
        for option in sorted(listed - used - set(given) - choosing.get(command, set())):
            words = [option] if option in flags else [option, values.get(option, "word")]
            done = subprocess.run([nereid, command, *given, *words], capture_output=True, text=True,
                                  timeout=60)
            where = f"{command} {given} {words}: {done.returncode}\n{done.stderr}"
            assert done.returncode == 2 and "[E0013]" in done.stderr, where
