"""Answers like bench/peers/serve.py, by script: what each test asks for is in the peer's name."""

import json
import sys

setup = json.loads(sys.stdin.readline())
mode = sys.argv[1]
if mode == "echo":
    # The request comes back as a version, for the test to look at.
    echo = {"name": "echo", "version": json.dumps(setup)}
    absent = {"name": "none", "skipped": "no torch"}
    print(json.dumps({"peers": [echo, absent]}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        known = asked == {"cmd": "time", "peer": "echo"}
        print(json.dumps({"us": 12.5} if known else {"error": "unknown peer"}), flush=True)
elif mode == "nonsense":
    print("Welcome to a library that prints", flush=True)
elif mode == "dies":
    sys.exit("the driver fell over")
elif mode == "shapeless":
    print(json.dumps({"peers": [{"version": "1"}]}), flush=True)
