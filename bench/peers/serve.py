"""Times other libraries on one problem, for `einkorn bench --peers`.

Reads one JSON object a line from standard input and answers each with one on standard output; the
protocol is in ../README.md. Ends with its input. A peer that cannot run is reported with the
reason; nothing here raises past the loop.
"""

import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

from task import Peer, Skipped, Task

# Modules by op; each has `peers(task) -> list[Peer]`.
OPS = {
    "gdn_prefill": "gdn_prefill",
    "kda_prefill": "kda_prefill",
    "lightning_prefill": "lightning_prefill",
    "qk_norm": "qk_norm",
    "rms_norm": "rms_norm",
    "silu_mul": "silu_mul",
}

Sample = Callable[[], float]


def one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__


class Server:
    def __init__(self) -> None:
        self.samples: dict[str, Sample] = {}

    def setup(self, request: dict[str, Any]) -> dict[str, Any]:
        self.samples.clear()
        module = OPS.get(request["op"])
        if module is None:
            return {"peers": [{"name": "peers", "skipped": f"none known for {request['op']}"}]}
        try:
            torch = importlib.import_module("torch")
            if request["device"].startswith("cuda"):
                torch.cuda.set_device(request["device"])
        except Exception as error:  # a broken installation raises anything
            return {"peers": [{"name": "torch", "skipped": one_line(error)}]}
        task = Task.from_request(request)
        peers = importlib.import_module(module).peers(task)
        return {"peers": [self.start(task, peer) for peer in peers]}

    def start(self, task: Task, peer: Peer) -> dict[str, Any]:
        """Checks the peer's result and makes it ready to be timed."""
        timers = importlib.import_module("timers")
        answer: dict[str, Any] = {"name": peer.name}
        try:
            function, version = peer.load()
            answer["version"] = version
            timers.check_result(task, peer, function)
            self.samples[peer.name] = timers.make_sample(task, peer, function)
        except Skipped as reason:
            answer["skipped"] = str(reason)
        except Exception as error:  # whatever a foreign library raises is its reason
            answer["skipped"] = one_line(error)
        return answer

    def time(self, request: dict[str, Any]) -> dict[str, Any]:
        sample = self.samples.get(request["peer"])
        if sample is None:
            return {"error": f"peer {request['peer']} is not set up"}
        return {"us": sample()}

    def answer(self, line: str) -> dict[str, Any]:
        try:
            request = json.loads(line)
            commands = {"setup": self.setup, "time": self.time}
            command = commands.get(request["cmd"])
            if command is None:
                return {"error": f"cmd: expected one of {sorted(commands)}, got {request['cmd']!r}"}
            return command(request)
        except Exception as error:  # the asking side decides what an error means
            return {"error": one_line(error)}


def serve(source: TextIO, sink: TextIO) -> None:
    server = Server()
    for line in source:
        if line.strip():
            sink.write(json.dumps(server.answer(line)) + "\n")
            sink.flush()


def main() -> None:
    # Libraries print; what they print must not mix with the answers.
    with os.fdopen(os.dup(1), "w") as sink:
        os.dup2(2, 1)
        serve(sys.stdin, sink)


if __name__ == "__main__":
    main()
