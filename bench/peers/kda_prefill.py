"""Peers of kda_prefill."""

import with_fla
from delta_prefill import peers_of
from task import Peer, Task


def peers(task: Task) -> list[Peer]:
    return peers_of(task, channels=True, fla=with_fla.kda)
