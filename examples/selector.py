"""A selector of one's own: proposes the skills whose descriptions share the most words with the prompt."""

import json
import pathlib
import re
import sys

asked = json.load(sys.stdin)
task, exclude = asked["task"], asked["exclude"]
texts = {path.parent.name: path.read_text("utf-8") for path in pathlib.Path(asked["library"]).glob("*/SKILL.md")}
about = {name: (re.search(r"description: *(.+)", text) or ["", name])[1] for name, text in texts.items()}
words = set(re.findall(r"[a-z]{5,}", task["prompt"].lower()))
shared = {name: len(words & set(about[name].lower().split())) for name in texts if name not in exclude}
best = sorted((name for name in shared if shared[name] > 1), key=lambda name: (-shared[name], name))[:5]
ids = task["explicitIds"]
refused = [("unknown-id", name) for name in ids if name not in texts] + [
    ("excluded", name) for name in ids if name in exclude
]
if task["noWorkflow"]:
    answer = {"blocked": "opt-out-conflict", "id": ids[0]} if ids else {"selectedIds": [], "reason": "opt-out"}
elif ids:
    answer = {"blocked": refused[0][0], "id": refused[0][1]} if refused else {"selectedIds": ids, "reason": "explicit"}
else:
    answer = {"shortlist": [{"id": name, "description": about[name][:1000]} for name in best]}
print(json.dumps(answer))
