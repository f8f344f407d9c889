# SPDX-License-Identifier: Apache-2.0
# … | json_holds.py EXPRESSION: reads JSON and succeeds when the expression over it, named `it`, is true.
import json
import sys

it = json.load(sys.stdin)
if not eval(sys.argv[1], {"it": it}):
    sys.exit(f"does not hold: {sys.argv[1]}\n{json.dumps(it, indent=1)[:4000]}")
