"""Peers of kda_prefill."""

import with_fla
import with_flash_kda
from delta_prefill import Loader, peers_of
from task import Peer, Task

LIBRARIES: dict[str, Loader] = {
    "fla": lambda task, _: with_fla.kda(task),
    "FlashKDA": lambda task, _: with_flash_kda.kda(task),
}


def peers(task: Task) -> list[Peer]:
    return peers_of(task, channels=True, libraries=LIBRARIES)
