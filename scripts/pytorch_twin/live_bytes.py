"""Counts the bytes of the storages that tensors keep alive, as an allocator of 512-byte blocks would: what the trainer's records call
allocated. Memory that a kernel takes and gives back inside is not seen; a storage counts from the operation that returns it until the last
tensor of it is gone."""
import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

BLOCK_BYTES = 512


class LiveBytes(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.live_bytes = 0
        self.peak_bytes = 0  # since the last take_peak
        self._watched = {}  # address of a storage -> weak reference to it

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self._watch(leaf.untyped_storage())
        return result

    def _watch(self, storage):
        address = storage._cdata
        if address in self._watched:
            return
        size_bytes = -(-storage.nbytes() // BLOCK_BYTES) * BLOCK_BYTES

        def gone(_):
            del self._watched[address]
            self.live_bytes -= size_bytes

        self._watched[address] = weakref.ref(storage, gone)
        self.live_bytes += size_bytes
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)

    def take_peak(self):
        peak, self.peak_bytes = self.peak_bytes, self.live_bytes
        return peak
