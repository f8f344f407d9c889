# SPDX-License-Identifier: Apache-2.0
"""What upstream's front end says about guessed signatures: drives upstream.py, one process for each of
several threads."""

import concurrent.futures
import json
import pathlib
import subprocess

SCRIPT = pathlib.Path(__file__).parent / "upstream.py"


def can_ask(python):
    """Whether that Python has upstream's package and torch."""
    code = "import importlib.util as u, sys; sys.exit(not (u.find_spec('triton') and u.find_spec('torch')))"
    try:
        return subprocess.run([python, "-c", code], capture_output=True).returncode == 0
    except OSError:
        return False


class Judge:
    def __init__(self, python, roots):
        self.process = subprocess.Popen(
            [python, str(SCRIPT), *map(str, roots)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.process.stdout.readline()

    def file(self, question):
        """{function: [(signature, answer)]} of one file."""
        found = {k["function"]: [] for k in question["kernels"]}
        left = list(question["kernels"])
        while left:
            self.process.stdin.write(json.dumps(dict(question, kernels=left)) + "\n")
            self.process.stdin.flush()
            while True:
                function, signature, answer = json.loads(self.process.stdout.readline())
                if not function:
                    break
                found[function].append((signature, answer))
            if answer["class"] == "done":
                return found
            left = self._after(left, found, answer)
        return found

    @staticmethod
    def _after(left, found, answer):
        """The questions that remain when a process ended at one of them."""
        for index, kernel in enumerate(left):
            asked = found[kernel["function"]]
            known = len(asked) == len(kernel["signatures"]) or any(
                a["class"] == "ok" or not s for s, a in asked)
            if not known:
                signature = kernel["signatures"][len(asked)]
                asked.append((signature, {"class": "unknown", "message": answer["class"]}))
                rest = dict(kernel, signatures=kernel["signatures"][len(asked):])
                if not rest["signatures"] or answer["class"] == "time-out":
                    return left[index + 1:]
                return [rest] + left[index + 1:]
        return []

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def ask(python, roots, questions, jobs):
    """The answers to all questions, in their order."""
    judges = [Judge(python, roots) for _ in range(jobs)]
    results = [None] * len(questions)

    def work(number):
        for index in range(number, len(questions), jobs):
            results[index] = judges[number].file(questions[index])

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(work, range(jobs)))
    for judge in judges:
        judge.close()
    return results
