"""Peers of gdn_prefill."""

import with_fla
import with_flashinfer
from delta_prefill import Loader, peers_of
from task import Peer, Task

LIBRARIES: dict[str, Loader] = {
    "fla": lambda task, _: with_fla.gdn(task),
    "flashinfer": lambda task, _: with_flashinfer.gdn(task),
    "flashinfer kernel, gate and l2norm made beforehand": with_flashinfer.gdn_made,
}


def peers(task: Task) -> list[Peer]:
    return peers_of(task, channels=False, libraries=LIBRARIES)
